// RUN: wave-opt %s --split-input-file --verify-diagnostics --wave-verify-form

// Tile form: no layout yet.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @k() symbols {M = 64} constraints [#wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{has a layout; layouts come with placed form}}
    %x = wave.register 0.0 : !wave.tile<[M], f32, #wave.layout<[M = 64], lane = [64 : M * 1]>>
    wave.return
  }
}

// -----

// Tile form: no index yet.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M], f32, global>) symbols {M = 64}
      constraints [#wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{this access has an index; indices come with placed form}}
    %x = wave.read %a index [at.M] : !wave.memory<[M], f32, global> -> !wave.tile<[M], f32>
    wave.return
  }
}

// -----

// Tile form: vectors come with lane form.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @k() symbols {M = 64} constraints [#wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{vectors come with lane form, here values are tiles}}
    %x = wave.register 0.0 : vector<4xf32>
    wave.return
  }
}

// -----

// Typed form: a shape that is not known.
module attributes {wave.form = "typed", wave.target = "gfx942"} {
  wave.kernel @k() symbols {M = 64} constraints [#wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{a value of type !wave.tile<*, f32> is left; wave-infer-types finds the shapes}}
    %x = wave.register 0.0 : !wave.tile<*, f32>
    wave.return
  }
}

// -----

// Typed form: a loop without a counter.
module attributes {wave.form = "typed", wave.target = "gfx942"} {
  wave.kernel @k() symbols {K = 64} constraints [#wave.tiling<K, 16>, #wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{this loop has no induction variable; wave-bind-symbols gives it iv(…) and trips(…)}}
    wave.iterate K {
      wave.yield
    }
    wave.return
  }
}

// -----

// Typed form: a symbol that no operand has a value for.
module attributes {wave.form = "typed", wave.target = "gfx942"} {
  wave.kernel @k() symbols {K = 64} constraints [#wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{symbol T in T * 2 is neither static nor dynamic nor an operand of this op}}
    %x = wave.scalar [T * 2] : i32
    wave.return
  }
}

// -----

// Typed form: a position that no operand has a value for.
module attributes {wave.form = "typed", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[K], f32, global>) symbols {K = 64}
      constraints [#wave.tiling<K, 16>, #wave.hardware<threads_per_wave = 64>] {
    wave.iterate K iv(%k) trips(K ceildiv 16) {
      // expected-error@+1 {{dim K is walked by a loop around this op, which has no operand for its position: symbols(iv.K = …)}}
      %x = wave.read %a : !wave.memory<[K], f32, global> -> !wave.tile<[K], f32>
      wave.yield
    }
    wave.return
  }
}

// -----

// Placed form: a tile without a layout.
module attributes {wave.form = "placed", wave.target = "gfx942"} {
  wave.kernel @k() symbols {M = 64} constraints [#wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{has no layout; wave-infer-layouts gives one}}
    %x = wave.register 0.0 : !wave.tile<[M], f32>
    wave.return
  }
}

// -----

// Placed form: a layout of another tile.
module attributes {wave.form = "placed", wave.target = "gfx942"} {
  wave.kernel @k() symbols {M = 64} constraints [#wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{the layout has 32 elements of M, the workgroup's tile has 64}}
    %x = wave.register 0.0 : !wave.tile<[M], f32, #wave.layout<[M = 32], lane = [32 : M * 1]>>
    wave.return
  }
}

// -----

// Placed form: an index over lanes.
module attributes {wave.form = "placed", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M], f32, global>) symbols {M = 64}
      constraints [#wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{the index uses lane, which comes with lane form; positions are at.DIM here}}
    %x = wave.read %a index [lane] : !wave.memory<[M], f32, global> -> !wave.tile<[M], f32, #wave.layout<[M = 64], lane = [64 : M * 1]>>
    wave.return
  }
}

// -----

// Placed form: a coordinate of a dim that the value has not.
module attributes {wave.form = "placed", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M], f32, global>) symbols {M = 64, K = 64}
      constraints [#wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{the index uses at.K, but the value has no dim K}}
    %x = wave.read %a index [at.K] : !wave.memory<[M], f32, global> -> !wave.tile<[M], f32, #wave.layout<[M = 64], lane = [64 : M * 1]>>
    wave.return
  }
}

// -----

// Placed form: an MMA operand where the instruction does not want it.
#acc = #wave.layout<[M = 16, N = 16], reg = [4 : M * 1], lane = [16 : N * 1, 4 : M * 4]>
#lhs = #wave.layout<[M = 16, K = 16], reg = [4 : K * 4], lane = [16 : M * 1, 4 : K * 1]>
#rhs = #wave.layout<[N = 16, K = 16], reg = [4 : K * 1], lane = [16 : N * 1, 4 : K * 4]>
module attributes {wave.form = "placed", wave.target = "gfx942"} {
  wave.kernel @k() symbols {M = 16, N = 16, K = 16} constraints [#wave.hardware<threads_per_wave = 64>] {
    %x = wave.register 0.0 : !wave.tile<[M, K], f16, #lhs>
    %y = wave.register 0.0 : !wave.tile<[N, K], f16, #rhs>
    %c = wave.register 0.0 : !wave.tile<[M, N], f32, #acc>
    // expected-error@+1 {{lhs has layout #wave.layout<[M = 16, K = 16], reg = [4 : K * 4], lane = [16 : M * 1, 4 : K * 1]>, its kind needs}}
    %z = wave.mma %x, %y, %c kind f32_16x16x16_f16 : !wave.tile<[M, K], f16, #lhs>, !wave.tile<[N, K], f16, #rhs>, !wave.tile<[M, N], f32, #acc>
    wave.return
  }
}

// -----

// Tile form: an op of a later form.
#row = #wave.layout<[M = 64], lane = [64 : M * 1]>
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @k(%x: !wave.memory<[M], f32, global>) symbols {M = 64} constraints [#wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{wave.wave_fence in tile or typed form; it belongs to scheduled form}}
    wave.wave_fence
    wave.return
  }
}

// -----

// Typed form: a symbol is set.
module attributes {wave.form = "typed", wave.target = "gfx942"} {
  wave.kernel @k(%n: i32) symbols {M = 64} constraints [#wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{a set_symbol is left; wave-bind-symbols makes its value an operand of the ops that use it}}
    wave.set_symbol T = %n : i32
    wave.return
  }
}

// -----

// Typed form: a trip counter without a value.
module attributes {wave.form = "typed", wave.target = "gfx942"} {
  wave.kernel @k() symbols {K = 64} constraints [#wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{this op uses iv.K in iv.K * 2 but names no value for it: symbols(iv.K = …)}}
    %x = wave.scalar [iv.K * 2] : i32
    wave.return
  }
}

// -----

// Placed form: no index.
module attributes {wave.form = "placed", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M], f32, global>) symbols {M = 64} constraints [#wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{this access has no index; wave-infer-layouts gives one}}
    %x = wave.read %a : !wave.memory<[M], f32, global> -> !wave.tile<[M], f32, #wave.layout<[M = 64], lane = [64 : M * 1]>>
    wave.return
  }
}

// -----

// Staged form: a tile without a layout.
module attributes {wave.form = "staged", wave.target = "gfx942"} {
  wave.kernel @k() symbols {M = 64} constraints [#wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{a value of type !wave.tile<[M], f32> has no layout; wave-infer-layouts gives one}}
    %x = wave.register 0.0 : !wave.tile<[M], f32>
    wave.return
  }
}

// -----

// Staged form: an access without an index.
module attributes {wave.form = "staged", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M], f32, global>) symbols {M = 64} constraints [#wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{this access has no index; wave-infer-layouts gives one}}
    %x = wave.read %a : !wave.memory<[M], f32, global> -> !wave.tile<[M], f32, #wave.layout<[M = 64], lane = [64 : M * 1]>>
    wave.return
  }
}

// -----

// Staged form: a symbol without a value.
module attributes {wave.form = "staged", wave.target = "gfx942"} {
  wave.kernel @k() symbols {K = 64} constraints [#wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{symbol T in T + 1 is neither static nor dynamic nor an operand of this op}}
    %x = wave.scalar [T + 1] : i32
    wave.return
  }
}
