// RUN: wave-opt %s --split-input-file --verify-diagnostics --wave-infer-types --wave-bind-symbols --wave-check-constraints --wave-infer-layouts

// Both dims of a tile are divided among the same waves.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  // expected-error@+1 {{a tile has dims M and N, both divided among the waves along x; let waves along another block dim divide one of them: #wave.wave<N, tile, axis>}}
  wave.kernel @k(%a: !wave.memory<[M, N], f32, global>) symbols {M = 64, N = 64}
      constraints [#wave.workgroup<M, 64, x>, #wave.workgroup<N, 64, y>, #wave.wave<M, 32>, #wave.wave<N, 32, x>,
                   #wave.hardware<threads_per_wave = 64>] {
    %x = wave.read %a : !wave.memory<[M, N], f32, global> -> !wave.tile<[M, N], f32>
    wave.return
  }
}

// -----

// A gather at a position that another lane holds.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[R], f32, global>, %t: !wave.memory<[M], i32, global>) symbols {M = 64} dynamic [R]
      constraints [#wave.workgroup<M, 64, x>, #wave.hardware<threads_per_wave = 64>] {
    %i = wave.read %t : !wave.memory<[M], i32, global> -> !wave.tile<[M], i32>
    // expected-error@+1 {{dynamic value d0 is taken at M = i floordiv 2; a lane has only its own elements, so the position along M must be the iterator of M}}
    %x = wave.read %a mapping <[M = i] -> [d0], dynamic = [[M = i floordiv 2]]> dynamic(%i : !wave.tile<[M], i32>) : !wave.memory<[R], f32, global> -> !wave.tile<[M], f32>
    wave.return
  }
}

// -----

// A symbol with many elements where one is meant.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @k(%t: !wave.memory<[M], i32, global>) symbols {M = 64}
      constraints [#wave.workgroup<M, 64, x>, #wave.hardware<threads_per_wave = 64>] {
    %i = wave.read %t : !wave.memory<[M], i32, global> -> !wave.tile<[M], i32>
    wave.set_symbol T = %i : !wave.tile<[M], i32>
    // expected-error@+1 {{a symbol's value here is a tile [M] with 64 elements along M, a dim this op's value has not; extract one element, or broadcast the op's value}}
    %s = wave.scalar [T] : i32
    wave.return
  }
}

// -----

// A reshape has no layout rule.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @k(%t: !wave.memory<[M, N], i32, global>) symbols {M = 64, N = 4, MN = 128}
      constraints [#wave.hardware<threads_per_wave = 64>] {
    %i = wave.read %t : !wave.memory<[M, N], i32, global> -> !wave.tile<[M, N], i32>
    // expected-error@+1 {{this reshape is of a tile [M, N] of 256 elements to one [MN] of 128; choose tile sizes with equal products}}
    %r = wave.reshape %i : !wave.tile<[M, N], i32> -> !wave.tile<[MN], i32>
    wave.return
  }
}

// -----

// A buffer smaller than the tile that is written to it.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @k(%t: !wave.memory<[M], i32, global>) symbols {M = 256, B = 64}
      constraints [#wave.workgroup<M, B, x>, #wave.hardware<threads_per_wave = 64>] {
    // expected-note@+1 {{the buffer is allocated here}}
    %l = wave.allocate distributed [B floordiv 2] : !wave.memory<[M], i32, shared>
    %i = wave.read %t : !wave.memory<[M], i32, global> -> !wave.tile<[M], i32>
    // expected-error@+1 {{the tile has 64 elements along M and the buffer 32; allocate at least as many in its distributed shape}}
    wave.write %i, %l : !wave.tile<[M], i32>, !wave.memory<[M], i32, shared>
    wave.return
  }
}

// -----

// A buffer whose size is not known.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @k(%t: !wave.memory<[M], i32, global>) symbols {B = 64} dynamic [M]
      constraints [#wave.workgroup<M, B, x>, #wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{the shape of a buffer is M, which is known at run time only (M); bind it in 'symbols {…}'}}
    %l = wave.allocate distributed [M] : !wave.memory<[M], i32, shared>
    %i = wave.read %t : !wave.memory<[M], i32, global> -> !wave.tile<[M], i32>
    wave.write %i, %l : !wave.tile<[M], i32>, !wave.memory<[M], i32, shared>
    wave.return
  }
}

// -----

// Other bits than there are.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @k(%t: !wave.memory<[M, N], i32, global>) symbols {M = 64, N = 4}
      constraints [#wave.hardware<threads_per_wave = 64>] {
    %i = wave.read %t : !wave.memory<[M, N], i32, global> -> !wave.tile<[M, N], i32>
    // expected-error@+1 {{the tile has 4 elements of 32 bits along N, and 4 of 8 bits along N, which are not the same bits; the sizes of the two dims must have the ratio of 8 to 32}}
    %r = wave.bitcast %i : !wave.tile<[M, N], i32> -> !wave.tile<[M, N], i8>
    wave.return
  }
}

// -----

module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @k(%t: !wave.memory<[M, N], i32, global>) symbols {M = 64, N = 4, P = 256, Q = 4}
      constraints [#wave.hardware<threads_per_wave = 64>] {
    %i = wave.read %t : !wave.memory<[M, N], i32, global> -> !wave.tile<[M, N], i32>
    // expected-error@+1 {{this bitcast changes the width of elements and is from [M, N] to [P, Q]; only the last dim may be another one}}
    %r = wave.bitcast %i : !wave.tile<[M, N], i32> -> !wave.tile<[P, Q], i8>
    wave.return
  }
}

// -----

// Waves cut words.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  // expected-error@+1 {{dim P = N floordiv 4 needs wave tiles of N that 4 divides; they have 2}}
  wave.kernel @k(%t: !wave.memory<[M, P], i32, global>) symbols {M = 64, N = 8, P = N floordiv 4}
      constraints [#wave.workgroup<N, N, x>, #wave.wave<N, 2>, #wave.hardware<threads_per_wave = 64>] {
    %i = wave.read %t : !wave.memory<[M, P], i32, global> -> !wave.tile<[M, P], i32>
    wave.return
  }
}

// -----

// A division by 0 in a mapping.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @k(%t: !wave.memory<[M], i32, global>) symbols {B = 64, M = 100, Z = 0} dynamic []
      constraints [#wave.workgroup<M, B, x>, #wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{i mod Z divides by 0 where Z = 0; give them other values, or say with select(…) what it is then}}
    %i = wave.read %t mapping <[M = i] -> [i mod Z]> : !wave.memory<[M], i32, global> -> !wave.tile<[M], i32>
    wave.return
  }
}
