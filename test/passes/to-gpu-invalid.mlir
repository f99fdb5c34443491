// RUN: wave-opt %s --split-input-file --verify-diagnostics --wave-to-gpu

module attributes {wave.form = "scheduled", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M], f32, global>) symbols {M = 64}
      constraints [#wave.workgroup<M, 64, x>, #wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{the buffer has no place in LDS yet; run wave-pack-shared before wave-to-gpu}}
    %l = wave.allocate : !wave.memory<[64], f32, shared>
    wave.return
  }
}

// -----

module attributes {wave.form = "scheduled", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M], f32, global>) symbols {M = 64}
      constraints [#wave.workgroup<M, 64, x>, #wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{the index still depends on the element; run wave-split-accesses before wave-to-gpu}}
    %v = wave.read %a index [lane + el] : !wave.memory<[M], f32, global> -> vector<2xf32>
    wave.return
  }
}

// -----

// An op that an earlier pass lowers.
module attributes {wave.form = "scheduled", wave.target = "gfx942"} {
  wave.kernel @k(%x: f32) symbols {M = 64} constraints [#wave.workgroup<M, 64, x>, #wave.hardware<threads_per_wave = 64>] {
    %v = vector.broadcast %x : f32 to vector<4xf32>
    // expected-error@+1 {{wave.cumsum cannot be lowered to gpu form from here; it is an op of an earlier form}}
    %s = wave.cumsum %v along M : vector<4xf32>
    wave.return
  }
}

// -----

// A tile.
module attributes {wave.form = "scheduled", wave.target = "gfx942"} {
  wave.kernel @k(%x: f32) symbols {M = 64} constraints [#wave.workgroup<M, 64, x>, #wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{builtin.unrealized_conversion_cast still has a tile; run wave-expand before wave-to-gpu}}
    %t = builtin.unrealized_conversion_cast %x : f32 to !wave.tile<[M], f32>
    wave.return
  }
}

// -----

// A buffer of no bytes is no buffer.
module attributes {wave.form = "scheduled", wave.target = "gfx942"} {
  wave.kernel @k() symbols {M = 64} constraints [#wave.workgroup<M, 64, x>, #wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{the kernel has no LDS although it allocates some; run wave-pack-shared before wave-to-gpu}}
    %l = wave.allocate offset 0 : !wave.memory<[0], f32, shared>
    wave.return
  }
}

// -----

// An MMA without a kind.
module attributes {wave.form = "scheduled", wave.target = "gfx942"} {
  wave.kernel @k(%x: f16, %c: f32) symbols {M = 64} constraints [#wave.workgroup<M, 64, x>, #wave.hardware<threads_per_wave = 64>] {
    %a = vector.broadcast %x : f16 to vector<4xf16>
    %acc = vector.broadcast %c : f32 to vector<4xf32>
    // expected-error@+1 {{the MMA names no kind; run wave-expand, which chooses it}}
    %z = wave.mma %a, %a, %acc : vector<4xf16>, vector<4xf16>, vector<4xf32>
    wave.return
  }
}

// -----

// A kind of another target.
module attributes {wave.form = "scheduled", wave.target = "gfx942"} {
  wave.kernel @k(%x: f16, %c: f32) symbols {M = 64} constraints [#wave.workgroup<M, 64, x>, #wave.hardware<threads_per_wave = 64>] {
    %a = vector.broadcast %x : f16 to vector<8xf16>
    %acc = vector.broadcast %c : f32 to vector<4xf32>
    // expected-error@+1 {{gfx942 has no MMA kind 'f32_16x16x32_f16' (gfx950 has it)}}
    %z = wave.mma %a, %a, %acc kind f32_16x16x32_f16 : vector<8xf16>, vector<8xf16>, vector<4xf32>
    wave.return
  }
}

// -----

// A loop that does not say how often it runs.
module attributes {wave.form = "scheduled", wave.target = "gfx942"} {
  wave.kernel @k() symbols {K = 64} constraints [#wave.tiling<K, 16>, #wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{the loop has no trip count; run wave-bind-symbols before wave-to-gpu}}
    wave.iterate K {
      wave.yield
    }
    wave.return
  }
}

// -----

// A mask with a bit for each element.
module attributes {wave.form = "scheduled", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M], f32, global>) symbols {M = 256} constraints [#wave.workgroup<M, 256, x>, #wave.hardware<threads_per_wave = 64>] {
    %m = arith.constant dense<[true, false, true, false]> : vector<4xi1>
    // expected-error@+1 {{the elements of this access have masks of their own; run wave-split-accesses first}}
    %v = wave.read %a mask %m index [lane * 4] : !wave.memory<[M], f32, global> -> vector<4xf32>
    wave.return
  }
}

// -----

// A predicate for each element.
module attributes {wave.form = "scheduled", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M], f32, global>) symbols {M = 256} constraints [#wave.workgroup<M, 256, x>, #wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{the predicate differs from element to element; run wave-split-accesses before}}
    %m = wave.mask [lane * 4 + el lt 99] : vector<4xi1>
    %v = wave.read %a mask %m index [lane * 4] : !wave.memory<[M], f32, global> -> vector<4xf32>
    wave.return
  }
}

// -----

// A position for each element.
module attributes {wave.form = "scheduled", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M], f32, global>, %t: !wave.memory<[M], i32, global>) symbols {M = 128} constraints [#wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{a symbol's value is a vector<2xi32>, one for each element; run wave-split-accesses first}}
    %i = wave.read %t index [lane * 2] : !wave.memory<[M], i32, global> -> vector<2xi32>
    %v = wave.read %a index [T] symbols(T = %i : vector<2xi32>) : !wave.memory<[M], f32, global> -> vector<2xf32>
    wave.return
  }
}

// -----

// A symbol that means nothing where it stands.
module attributes {wave.form = "scheduled", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M], f32, global>) symbols {M = 64}
      constraints [#wave.workgroup<M, 64, x>, #wave.tiling<K, 4>, #wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{symbol iv.K has no value here; it is the trip of a loop over K, and this op is in none}}
    %v = wave.read %a index [lane + iv.K] : !wave.memory<[M], f32, global> -> vector<1xf32>
    wave.return
  }
}

// -----

module attributes {wave.form = "scheduled", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[1024], f32, global>) symbols {M = 64}
      constraints [#wave.workgroup<M, 64, x>, #wave.wave<M, 64>, #wave.hardware<threads_per_wave = 64>] {
    %l = wave.allocate offset 0 : !wave.memory<[1024], f32, shared>
    // expected-error@+1 {{a lane copies 64 bits, and gfx942 has direct copies to LDS of 32 bits; copy through registers}}
    wave.gather_to_shared %a [lane] to %l [0] elements 2 {wave.base = #wave.expr<0>, wave.offset = #wave.expr<lane>} : !wave.memory<[1024], f32, global>, !wave.memory<[1024], f32, shared>
    wave.return
  }
}

// -----

module attributes {wave.form = "scheduled", wave.target = "gfx1201"} {
  wave.kernel @k(%a: !wave.memory<[1024], f32, global>) symbols {M = 32}
      constraints [#wave.workgroup<M, 32, x>, #wave.wave<M, 32>, #wave.hardware<threads_per_wave = 32>] {
    %l = wave.allocate offset 0 : !wave.memory<[1024], f32, shared>
    // expected-error@+1 {{a lane copies 32 bits, and gfx1201 has direct copies to LDS of no bits; copy through registers}}
    wave.gather_to_shared %a [lane] to %l [0] elements 1 {wave.base = #wave.expr<0>, wave.offset = #wave.expr<lane>} : !wave.memory<[1024], f32, global>, !wave.memory<[1024], f32, shared>
    wave.return
  }
}

// -----

module attributes {wave.form = "scheduled", wave.target = "gfx950"} {
  wave.kernel @k(%a: !wave.memory<[1024], f32, global>) symbols {M = 64}
      constraints [#wave.workgroup<M, 64, x>, #wave.wave<M, 64>, #wave.hardware<threads_per_wave = 64>] {
    %l = wave.allocate offset 0 : !wave.memory<[1024], f32, shared>
    // expected-error@+1 {{the copy has no buffer address; run wave-gather-to-shared before wave-to-gpu}}
    wave.gather_to_shared %a [lane] to %l [0] elements 1 : !wave.memory<[1024], f32, global>, !wave.memory<[1024], f32, shared>
    wave.return
  }
}
