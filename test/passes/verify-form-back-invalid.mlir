// RUN: wave-opt %s --split-input-file --verify-diagnostics --wave-verify-form

module attributes {wave.form = "staged", wave.target = "gfx942"} {
  // expected-error@+1 {{argument 0 is in shared space; wave-promote moves it}}
  wave.kernel @k(%a: !wave.memory<[M], f32, shared>) symbols {M = 128}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.hardware<threads_per_wave = 64>] {
    wave.return
  }
}

// -----

module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M], f32, global>) symbols {M = 128}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{is a coordinate of a tile; wave-expand replaces it}}
    %v = wave.read %a index [at.M] : !wave.memory<[M], f32, global> -> vector<1xf32>
    wave.return
  }
}

// -----

module attributes {wave.form = "scheduled", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M], f32, global>) symbols {M = 128}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{this buffer has no offset; wave-pack-shared gives it one}}
    %l = wave.allocate : !wave.memory<[128], f32, shared>
    wave.return
  }
}

// -----

module attributes {wave.form = "scheduled", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M], f32, global>) symbols {M = 128}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant dense<0.0> : vector<1xf32>
    %l = wave.allocate offset 0 : !wave.memory<[128], f32, shared>
    %m = wave.allocate offset 496 : !wave.memory<[128], f32, shared>
    wave.write %z, %l index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[128], f32, shared>
    wave.shared_memory_barrier
    // expected-note@+1 {{the other buffer is written here}}
    wave.write %z, %m index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[128], f32, shared>
    wave.shared_memory_barrier
    // expected-error@+1 {{this access needs what another LDS buffer with common bytes has overwritten; give the buffers places apart (wave-share-shared does)}}
    %x = wave.read %l index [wave.x * 64 + lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
    wave.return
  }
}

// -----

// The barrier serves the trip, and nothing the next one.
module attributes {wave.form = "scheduled", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M], f32, global>) symbols {M = 128, K = 256}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %l = wave.allocate offset 0 : !wave.memory<[128], f32, shared>
    %zero = arith.constant dense<0.0> : vector<1xf32>
    wave.iterate K iv(%k) trips(8) {
      // expected-error@+1 {{no barrier separates this access to LDS from an earlier one; run wave-place-barriers}}
      wave.write %zero, %l index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[128], f32, shared>
      wave.shared_memory_barrier
      // expected-note@+1 {{the earlier access}}
      %v = wave.read %l index [lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
      wave.yield
    }
    wave.return
  }
}

// -----

module attributes {wave.form = "gpu", wave.target = "gfx942"} {
  // expected-error@+1 {{wave.kernel is left in gpu form; wave-to-gpu lowers it}}
  wave.kernel @k(%a: !wave.memory<[M], f32, global>) symbols {M = 128} {
    wave.return
  }
}

// -----

// Lane form: a tile is left.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k() symbols {M = 64} constraints [#wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{a value of type !wave.tile<[M], f32, #wave.layout<[M = 64], lane = [64 : M * 1]>> is left; wave-expand makes vectors of it}}
    %x = wave.register 0.0 : !wave.tile<[M], f32, #wave.layout<[M = 64], lane = [64 : M * 1]>>
    wave.return
  }
}

// -----

// Lane form: a loop carries a tile.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%x: f32) symbols {M = 64, K = 64} constraints [#wave.tiling<K, 16>, #wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{this loop has no induction variable; wave-bind-symbols gives it iv(…) and trips(…)}}
    wave.iterate K {
      wave.yield
    }
    wave.return
  }
}

// -----

// Lane form: a symbol without a value.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M], f32, global>) symbols {M = 128} constraints [#wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{symbol T in T + lane is neither static nor dynamic nor an operand of this op}}
    %v = wave.read %a index [lane + T] : !wave.memory<[M], f32, global> -> vector<1xf32>
    wave.return
  }
}

// -----

// Scheduled form: an index over the elements of the vector.
module attributes {wave.form = "scheduled", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M], f32, global>) symbols {M = 128} constraints [#wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{the index has el in lane + el * 2; wave-split-accesses removes it}}
    %v = wave.read %a index [lane + el * 2] : !wave.memory<[M], f32, global> -> vector<2xf32>
    wave.return
  }
}

// -----

// Scheduled form: a place that wide accesses cannot use.
module attributes {wave.form = "scheduled", wave.target = "gfx942"} {
  wave.kernel @k() symbols {M = 128} constraints [#wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{offset 24 is no multiple of 16 bytes}}
    %l = wave.allocate offset 24 : !wave.memory<[128], f32, shared>
    wave.return
  }
}

// -----

// Scheduled form: a gather whose elements have positions of their own.
module attributes {wave.form = "scheduled", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M], f32, global>, %t: !wave.memory<[M], i32, global>) symbols {M = 128} constraints [#wave.hardware<threads_per_wave = 64>] {
    %i = wave.read %t index [lane * 2] : !wave.memory<[M], i32, global> -> vector<2xi32>
    // expected-error@+1 {{symbol T has a value for each element; wave-split-accesses parts them}}
    %v = wave.read %a index [T] symbols(T = %i : vector<2xi32>) : !wave.memory<[M], f32, global> -> vector<2xf32>
    wave.return
  }
}

// -----

module attributes {wave.form = "scheduled", wave.target = "gfx942"} {
  wave.kernel @no_fence(%a: !wave.memory<[M], f32, global>) symbols {M = 128}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.hardware<threads_per_wave = 64>] {
    %l = wave.allocate offset 0 : !wave.memory<[128], f32, shared>
    %zero = arith.constant dense<0.0> : vector<1xf32>
    // expected-note@+1 {{the earlier access}}
    wave.write %zero, %l index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[128], f32, shared>
    // expected-error@+1 {{no fence keeps the order of this access to LDS and an earlier one of another lane; run wave-place-barriers}}
    %v = wave.read %l index [wave.x * 64 + 63 - lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
    wave.return
  }
}

// -----

// The barrier does not wait for the copy.
module attributes {wave.form = "scheduled", wave.target = "gfx942"} {
  wave.kernel @copying(%a: !wave.memory<[M], f32, global>) symbols {M = 128}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.hardware<threads_per_wave = 64>] {
    %l = wave.allocate offset 0 : !wave.memory<[128], f32, shared>
    // expected-note@+1 {{the earlier access}}
    wave.gather_to_shared %a [wave.x * 64 + lane] to %l [wave.x * 64] elements 1 : !wave.memory<[M], f32, global>, !wave.memory<[128], f32, shared>
    wave.shared_memory_barrier
    // expected-error@+1 {{the direct copy to LDS that this access meets may still be in flight; wait for it (wave.shared_memory_barrier wait_async), or run wave-place-barriers}}
    %v = wave.read %l index [127 - wave.x * 64 - lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
    wave.return
  }
}

// -----

// The fence stands before the wait and does not keep the read behind it.
module attributes {wave.form = "scheduled", wave.target = "gfx942"} {
  wave.kernel @fenced_early(%a: !wave.memory<[M], f32, global>) symbols {M = 128}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.hardware<threads_per_wave = 64>] {
    %l = wave.allocate offset 0 : !wave.memory<[128], f32, shared>
    // expected-note@+1 {{the earlier access}}
    wave.gather_to_shared %a [wave.x * 64 + lane] to %l [wave.x * 64] elements 1 : !wave.memory<[M], f32, global>, !wave.memory<[128], f32, shared>
    wave.wave_fence
    wave.memory_counter_wait load 0
    // expected-error@+1 {{no fence keeps the order of this access to LDS and an earlier one of another lane}}
    %v = wave.read %l index [wave.x * 64 + 63 - lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
    wave.return
  }
}

// -----

// Waited for, but after the barrier, by each wave for its own copies.
module attributes {wave.form = "scheduled", wave.target = "gfx942"} {
  wave.kernel @waited_late(%a: !wave.memory<[M], f32, global>) symbols {M = 128}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.hardware<threads_per_wave = 64>] {
    %l = wave.allocate offset 0 : !wave.memory<[128], f32, shared>
    // expected-note@+1 {{the earlier access}}
    wave.gather_to_shared %a [wave.x * 64 + lane] to %l [wave.x * 64] elements 1 : !wave.memory<[M], f32, global>, !wave.memory<[128], f32, shared>
    wave.shared_memory_barrier
    wave.memory_counter_wait load 0
    // expected-error@+1 {{no barrier separates this access to LDS from an earlier one; run wave-place-barriers}}
    %v = wave.read %l index [127 - wave.x * 64 - lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
    wave.return
  }
}

// -----

// The signal comes before the write.
module attributes {wave.form = "scheduled", wave.target = "gfx942"} {
  wave.kernel @signalled_early(%a: !wave.memory<[M], f32, global>) symbols {M = 128}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.hardware<threads_per_wave = 64>] {
    %l = wave.allocate offset 0 : !wave.memory<[128], f32, shared>
    %zero = arith.constant dense<0.0> : vector<1xf32>
    wave.barrier_signal 0
    // expected-note@+1 {{the earlier access}}
    wave.write %zero, %l index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[128], f32, shared>
    wave.barrier_wait 0
    // expected-error@+1 {{no barrier separates this access to LDS from an earlier one; run wave-place-barriers}}
    %v = wave.read %l index [127 - wave.x * 64 - lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
    wave.return
  }
}

// -----

// Halves that take turns, but every outer trip begins with the same one.
module attributes {wave.form = "scheduled", wave.target = "gfx942"} {
  wave.kernel @outer_trip(%a: !wave.memory<[M], f32, global>) symbols {M = 128, K = 96}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %l = wave.allocate offset 0 : !wave.memory<[256], f32, shared>
    %zero = arith.constant dense<0.0> : vector<1xf32>
    wave.iterate M iv(%o) trips(4) {
      wave.iterate K iv(%k) trips(3) {
        wave.wave_fence
        // expected-error@+1 {{no barrier separates this access to LDS from an earlier one; run wave-place-barriers}}
        wave.write %zero, %l index [iv.K mod 2 * 128 + wave.x * 64 + lane] symbols(iv.K = %k) : vector<1xf32>, !wave.memory<[256], f32, shared>
        wave.shared_memory_barrier
        // expected-note@+1 {{the earlier access}}
        %v = wave.read %l index [iv.K mod 2 * 128 + 127 - wave.x * 64 - lane] symbols(iv.K = %k) : !wave.memory<[256], f32, shared> -> vector<1xf32>
        wave.yield
      }
      wave.yield
    }
    wave.return
  }
}

// -----

// The last copy may stay in flight: it is the one that is read.
module attributes {wave.form = "scheduled", wave.target = "gfx942"} {
  wave.kernel @outstanding(%a: !wave.memory<[M], f32, global>) symbols {M = 128}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.hardware<threads_per_wave = 64>] {
    %l = wave.allocate offset 0 : !wave.memory<[128], f32, shared>
    %m = wave.allocate offset 512 : !wave.memory<[128], f32, shared>
    wave.gather_to_shared %a [wave.x * 64 + lane] to %l [wave.x * 64] elements 1 : !wave.memory<[M], f32, global>, !wave.memory<[128], f32, shared>
    // expected-note@+1 {{the earlier access}}
    wave.gather_to_shared %a [wave.x * 64 + lane] to %m [wave.x * 64] elements 1 : !wave.memory<[M], f32, global>, !wave.memory<[128], f32, shared>
    wave.shared_memory_barrier wait_async {wave.outstanding = 1 : i64}
    %v = wave.read %l index [127 - wave.x * 64 - lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
    // expected-error@+1 {{the direct copy to LDS that this access meets may still be in flight}}
    %w = wave.read %m index [127 - wave.x * 64 - lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
    wave.return
  }
}

// -----

// A barrier for LDS alone does not order global memory.
module attributes {wave.form = "scheduled", wave.target = "gfx942"} {
  wave.kernel @global_memory(%a: !wave.memory<[M], f32, global>) symbols {M = 128}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.hardware<threads_per_wave = 64>] {
    %zero = arith.constant dense<0.0> : vector<1xf32>
    // expected-note@+1 {{the earlier access}}
    wave.write %zero, %a index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[M], f32, global>
    wave.shared_memory_barrier
    // expected-error@+1 {{no barrier orders this access to global memory after an earlier one; run wave-place-barriers}}
    %v = wave.read %a index [127 - wave.x * 64 - lane] : !wave.memory<[M], f32, global> -> vector<1xf32>
    wave.return
  }
}

// -----

// Accesses of global memory that no barrier can separate are both marked; one mark hides nothing.
module attributes {wave.form = "scheduled", wave.target = "gfx942"} {
  wave.kernel @k(%c: !wave.memory<[128], f32, global>) symbols {M = 128}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant dense<0.0> : vector<1xf32>
    // expected-note@+1 {{the earlier access}}
    wave.write %z, %c index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[128], f32, global>
    // expected-error@+1 {{run wave-place-barriers}}
    %x = wave.read %c index [127 - wave.x * 64 - lane] {wave.unordered} : !wave.memory<[128], f32, global> -> vector<1xf32>
    wave.return
  }
}

// -----

// The other buffer is written in an earlier trip.
module attributes {wave.form = "scheduled", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M], f32, global>) symbols {M = 128, K = 256}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant dense<0.0> : vector<1xf32>
    %l = wave.allocate offset 0 : !wave.memory<[128], f32, shared>
    %m = wave.allocate offset 0 : !wave.memory<[128], f32, shared>
    wave.write %z, %l index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[128], f32, shared>
    wave.iterate K iv(%k) trips(8) {
      wave.shared_memory_barrier
      // expected-error@+1 {{this access needs what another LDS buffer with common bytes has overwritten}}
      %x = wave.read %l index [wave.x * 64 + lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
      wave.shared_memory_barrier
      // expected-note@+1 {{the other buffer is written here}}
      wave.write %z, %m index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[128], f32, shared>
      wave.yield
    }
    wave.return
  }
}
