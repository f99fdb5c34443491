// RUN: wave-opt %s --split-input-file --verify-diagnostics --wave-infer-types

// Nothing decides the shape.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M, K], f16, global>, %b: !wave.memory<[N, K], f16, global>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 512, N = 512, K = 256} dynamic []
      constraints [#wave.workgroup<M, 64, x>,
                   #wave.workgroup<N, 64, y>,
                   #wave.tiling<K, 32>,
                   #wave.wave<M, 32>,
                   #wave.wave<N, 32>,
                   #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
    // expected-error@+1 {{nothing decides the dims of this value of type !wave.tile<*, f32>; write them, for example !wave.tile<[M, N], f32>}}
    %x = wave.register 0.0 : !wave.tile<*, f32>
    wave.return
  }
}

// -----

// Two shapes meet.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M, K], f16, global>, %b: !wave.memory<[M], f16, global>)
      symbols {M = 512, N = 512, K = 256} dynamic []
      constraints [#wave.workgroup<M, 64, x>,
                   #wave.workgroup<N, 64, y>,
                   #wave.tiling<K, 32>,
                   #wave.wave<M, 32>,
                   #wave.wave<N, 32>,
                   #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
    %x = wave.read %b : !wave.memory<[M], f16, global> -> !wave.tile<*, f16>
    %y = wave.read %a : !wave.memory<[M, K], f16, global> -> !wave.tile<*, f16>
    // expected-error@+1 {{a value here has dims [M, K] where [M] are needed; insert wave.broadcast for dims it lacks}}
    %z = wave.add %x, %y : !wave.tile<*, f16>
    wave.write %z, %b : !wave.tile<*, f16>, !wave.memory<[M], f16, global>
    wave.return
  }
}

// -----

// A memory whose shape is no list of symbols.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M, K floordiv 32], f16, global>)
      symbols {M = 512, N = 512, K = 256} dynamic []
      constraints [#wave.workgroup<M, 64, x>,
                   #wave.workgroup<N, 64, y>,
                   #wave.tiling<K, 32>,
                   #wave.wave<M, 32>,
                   #wave.wave<N, 32>,
                   #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
    // expected-error@+1 {{the dims of this tile cannot be taken from}}
    %y = wave.read %a : !wave.memory<[M, K floordiv 32], f16, global> -> !wave.tile<*, f16>
    wave.return
  }
}

// -----

// A symbol of an argument's shape.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  // expected-error@+1 {{symbol K in a tiling constraint has no value; bind it in the kernel's 'symbols {K = …}' or list it in 'dynamic [K]'}}
  wave.kernel @k(%a: !wave.memory<[M, K], f16, global>, %b: !wave.memory<[N, K], f16, global>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 512, N = 512} dynamic []
      constraints [#wave.workgroup<M, 64, x>,
                   #wave.workgroup<N, 64, y>,
                   #wave.tiling<K, 32>,
                   #wave.wave<M, 32>,
                   #wave.wave<N, 32>,
                   #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
    wave.return
  }
}

// -----

// A symbol of an expression.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M, K], f16, global>, %b: !wave.memory<[N, K], f16, global>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 512, N = 512, K = 256} dynamic []
      constraints [#wave.workgroup<M, 64, x>,
                   #wave.workgroup<N, 64, y>,
                   #wave.tiling<K, 32>,
                   #wave.wave<M, 32>,
                   #wave.wave<N, 32>,
                   #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
    // expected-error@+1 {{symbol P in its expr has no value}}
    %x = wave.scalar [P * 2] : i32
    wave.return
  }
}

// -----

// A symbol of a mapping.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M, K], f16, global>, %b: !wave.memory<[N, K], f16, global>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 512, N = 512, K = 256} dynamic []
      constraints [#wave.workgroup<M, 64, x>,
                   #wave.workgroup<N, 64, y>,
                   #wave.tiling<K, 32>,
                   #wave.wave<M, 32>,
                   #wave.wave<N, 32>,
                   #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
    // expected-error@+1 {{symbol Q in its mapping has no value}}
    %x = wave.read %a mapping <[M = i, K = j] -> [i + Q, j]> : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16>
    wave.return
  }
}

// -----

// No kind for the operands' type.
module attributes {wave.form = "tile", wave.target = "gfx1201"} {
  wave.kernel @k(%a: !wave.memory<[M, K], f64, global>, %b: !wave.memory<[N, K], f64, global>, %c: !wave.memory<[M, N], f64, global>)
      symbols {M = 512, N = 512, K = 256} dynamic []
      constraints [#wave.workgroup<M, 64, x>,
                   #wave.workgroup<N, 64, y>,
                   #wave.tiling<K, 32>,
                   #wave.wave<M, 32>,
                   #wave.wave<N, 32>,
                   #wave.hardware<threads_per_wave = 32>] {
    %zero = wave.register 0.0 : !wave.tile<[M, N], f64>
    %sum = wave.iterate K iter_args(%acc = %zero : !wave.tile<[M, N], f64>) {
      %x = wave.read %a : !wave.memory<[M, K], f64, global> -> !wave.tile<[M, K], f64>
      %y = wave.read %b : !wave.memory<[N, K], f64, global> -> !wave.tile<[N, K], f64>
      // expected-error@+1 {{gfx1201 has no MMA for operands of f64; it has them for}}
      %z = wave.mma %x, %y, %acc : !wave.tile<[M, K], f64>, !wave.tile<[N, K], f64>, !wave.tile<[M, N], f64>
      wave.yield %z : !wave.tile<[M, N], f64>
    }
    wave.write %sum, %c : !wave.tile<[M, N], f64>, !wave.memory<[M, N], f64, global>
    wave.return
  }
}

// -----

// An unknown target.
// expected-error@+1 {{unknown target 'gfx943'; known: gfx90a, gfx942, gfx950, gfx1201; did you mean}}
module attributes {wave.form = "tile", wave.target = "gfx943"} {
  wave.kernel @k(%a: !wave.memory<[M, K], f16, global>, %b: !wave.memory<[N, K], f16, global>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 512, N = 512, K = 256} dynamic []
      constraints [#wave.workgroup<M, 64, x>,
                   #wave.workgroup<N, 64, y>,
                   #wave.tiling<K, 32>,
                   #wave.wave<M, 32>,
                   #wave.wave<N, 32>,
                   #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
    %zero = wave.register 0.0 : !wave.tile<[M, N], f32>
    %sum = wave.iterate K iter_args(%acc = %zero : !wave.tile<[M, N], f32>) {
      %x = wave.read %a : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16>
      %y = wave.read %b : !wave.memory<[N, K], f16, global> -> !wave.tile<[N, K], f16>
      %z = wave.mma %x, %y, %acc : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
      wave.yield %z : !wave.tile<[M, N], f32>
    }
    wave.write %sum, %c : !wave.tile<[M, N], f32>, !wave.memory<[M, N], f32, global>
    wave.return
  }
}

// -----

// A tile with a dim that memory has not.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M], f16, global>)
      symbols {M = 64, K = 32} constraints [#wave.hardware<threads_per_wave = 64>] {
    %x = wave.register 0.0 : !wave.tile<[M, K], f16>
    // expected-error@+1 {{dim K of the tile is no dim of !wave.memory<[M], f16, global>; broadcast after the read, reduce before the write, or give a mapping}}
    wave.write %x, %a : !wave.tile<[M, K], f16>, !wave.memory<[M], f16, global>
    wave.return
  }
}

// -----

// A memory dim that the tile has not.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M, K], f16, global>)
      symbols {M = 64, K = 32} constraints [#wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{memory dim K of !wave.memory<[M, K], f16, global> is no dim of the tile [M]; give a mapping that says where in memory each point of the tile is}}
    %x = wave.read %a : !wave.memory<[M, K], f16, global> -> !wave.tile<[M], f16>
    wave.return
  }
}

// -----

// Expressions that divide by 0: of a constraint, a symbol, a shape, a mapping.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  // expected-error@+1 {{BM floordiv Z divides by 0 where BM = 16, Z = 0; give them other values, or say with select(…) what it is then}}
  wave.kernel @k(%a: !wave.memory<[M], f16, global>) symbols {M = 37, Z = 0, BM = 16}
      constraints [#wave.workgroup<M, BM floordiv Z, x>, #wave.hardware<threads_per_wave = 64>] {
    wave.return
  }
}

// -----

module attributes {wave.form = "tile", wave.target = "gfx942"} {
  // expected-error@+1 {{16 floordiv Z divides by 0 where Z = 0}}
  wave.kernel @k(%a: !wave.memory<[M], f16, global>) symbols {M = 37, Z = 0, BM = 16 floordiv Z}
      constraints [#wave.workgroup<M, BM, x>, #wave.hardware<threads_per_wave = 64>] {
    wave.return
  }
}

// -----

module attributes {wave.form = "tile", wave.target = "gfx942"} {
  // expected-error@+1 {{M ceildiv Z divides by 0 where M = 37, Z = 0}}
  wave.kernel @k(%a: !wave.memory<[M ceildiv Z], f16, global>) symbols {M = 37, Z = 0}
      constraints [#wave.workgroup<M, 16, x>, #wave.hardware<threads_per_wave = 64>] {
    wave.return
  }
}

// -----

// Elements that are no whole bytes.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  // expected-error@+1 {{a memory cannot have elements of i4: they have 8, 16, 32 or 64 bits (an i1 takes a byte); keep smaller ones packed in i8, and take wave.bitcast to tiles of i4 after the read}}
  wave.kernel @k(%a: !wave.memory<[M], i4, global>) symbols {M = 64}
      constraints [#wave.workgroup<M, 16, x>, #wave.hardware<threads_per_wave = 64>] {
    wave.return
  }
}

// -----

module attributes {wave.form = "tile", wave.target = "gfx950"} {
  wave.kernel @k() symbols {M = 64} constraints [#wave.workgroup<M, 16, x>, #wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{a memory cannot have elements of f6E3M2FN: they}}
    %l = wave.allocate : !wave.memory<[64], f6E3M2FN, shared>
    wave.return
  }
}

// -----

module attributes {wave.form = "tile", wave.target = "gfx942"} {
  // expected-error@+1 {{a memory cannot have elements of i24: they}}
  wave.kernel @k(%a: !wave.memory<[M], i24, global>) symbols {M = 64}
      constraints [#wave.workgroup<M, 16, x>, #wave.hardware<threads_per_wave = 64>] {
    wave.return
  }
}
