// RUN: wave-opt %s --split-input-file --verify-diagnostics --wave-expand

#rows = #wave.layout<[M = 64, K = 4], reg = [4 : K * 1], lane = [64 : M * 1]>
#columns = #wave.layout<[M = 64, K = 4], reg = [4 : M * 1], lane = [16 : M * 4, 4 : K * 1]>
module attributes {wave.form = "staged", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M, K], f16, global>) symbols {M = 64, K = 4}
      constraints [#wave.workgroup<M, 64, x>, #wave.workgroup<K, 4, y>, #wave.hardware<threads_per_wave = 64>] {
    %x = wave.read %a index [at.M, at.K] : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16, #rows>
    // expected-error@+1 {{this relayout moves elements between lanes; run wave-lower-relayouts first}}
    %y = wave.relayout %x : !wave.tile<[M, K], f16, #rows> -> !wave.tile<[M, K], f16, #columns>
    wave.return
  }
}

// -----

// An op that has no expansion.
#row = #wave.layout<[M = 64], lane = [64 : M * 1]>
module attributes {wave.form = "staged", wave.target = "gfx942"} {
  wave.kernel @k() symbols {M = 64} constraints [#wave.workgroup<M, 64, x>, #wave.hardware<threads_per_wave = 64>] {
    %x = wave.register 1.0 : !wave.tile<[M], f32, #row>
    // expected-error@+1 {{wave.extract_slice of tiles has no expansion to lanes in this version}}
    %s = wave.extract_slice %x offsets [0] sizes [1] strides [1] : !wave.tile<[M], f32, #row> -> !wave.tile<[M], f32, #row>
    wave.return
  }
}

// -----

// An element that a lane does not hold.
#row = #wave.layout<[M = 64], lane = [64 : M * 1]>
module attributes {wave.form = "staged", wave.target = "gfx942"} {
  wave.kernel @k() symbols {M = 64} constraints [#wave.workgroup<M, 64, x>, #wave.hardware<threads_per_wave = 64>] {
    %x = wave.register 1.0 : !wave.tile<[M], f32, #row>
    // expected-error@+1 {{position 3 along M: a lane holds 1 elements along it; give a number from 0 to 0 that is known at compile time}}
    %s = wave.extract %x [3] : !wave.tile<[M], f32, #row> -> !wave.tile<[], f32, #wave.layout<[]>>
    wave.return
  }
}

// -----

// An access without an index.
#row = #wave.layout<[M = 64], lane = [64 : M * 1]>
module attributes {wave.form = "staged", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M], f32, global>) symbols {M = 64}
      constraints [#wave.workgroup<M, 64, x>, #wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{the access has no index; run wave-infer-layouts before wave-expand}}
    %x = wave.read %a : !wave.memory<[M], f32, global> -> !wave.tile<[M], f32, #row>
    wave.return
  }
}

// -----

// An operand that has only half of the accumulator's rows.
#acc = #wave.layout<[M = 32, N = 16], reg = [4 : M * 1, 2 : M * 16], lane = [16 : N * 1, 4 : M * 4]>
#lhs = #wave.layout<[M = 16, K = 16], reg = [4 : K * 1], lane = [16 : M * 1, 4 : K * 4]>
#rhs = #wave.layout<[N = 16, K = 16], reg = [4 : K * 1], lane = [16 : N * 1, 4 : K * 4]>
module attributes {wave.form = "staged", wave.target = "gfx942"} {
  wave.kernel @k() symbols {M = 32, N = 16, K = 16}
      constraints [#wave.workgroup<M, 32, x>, #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
    %x = wave.register 1.0 : !wave.tile<[M, K], f16, #lhs>
    %y = wave.register 1.0 : !wave.tile<[N, K], f16, #rhs>
    %c = wave.register 0.0 : !wave.tile<[M, N], f32, #acc>
    // expected-error@+1 {{the layout of the lhs does not cover what the accumulator needs; run wave-infer-layouts, which makes the three agree}}
    %z = wave.mma %x, %y, %c : !wave.tile<[M, K], f16, #lhs>, !wave.tile<[N, K], f16, #rhs>, !wave.tile<[M, N], f32, #acc>
    wave.return
  }
}

// -----

// A reduction over a dim of which each wave has a part.
#parts = #wave.layout<[M = 128], lane = [64 : M * 1], wave.x = [2 : M * 64]>
#one = #wave.layout<[]>
module attributes {wave.form = "staged", wave.target = "gfx942"} {
  wave.kernel @k() symbols {M = 128}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.hardware<threads_per_wave = 64>] {
    %x = wave.register 1.0 : !wave.tile<[M], f32, #parts>
    // expected-error@+1 {{dim M is divided among waves, and each would reduce its part only; add 'block' (block=True)}}
    %s = wave.reduce sum %x along M : !wave.tile<[M], f32, #parts> -> !wave.tile<[], f32, #one>
    wave.return
  }
}

// -----

#three = #wave.layout<[M = 3], lane = [3 : M * 1]>
module attributes {wave.form = "staged", wave.target = "gfx942"} {
  wave.kernel @k() symbols {M = 3} constraints [#wave.hardware<threads_per_wave = 64>] {
    %x = wave.register 1.0 : !wave.tile<[M], f32, #three>
    // expected-error@+1 {{a cumsum over 3 lanes 1 apart: lanes exchange in steps of powers of two}}
    %s = wave.cumsum %x along M : !wave.tile<[M], f32, #three>
    wave.return
  }
}

// -----

#three = #wave.layout<[M = 3], lane = [3 : M * 1]>
#one = #wave.layout<[T = 1], reg = [1 : T * 1]>
module attributes {wave.form = "staged", wave.target = "gfx942"} {
  wave.kernel @k() symbols {M = 3, T = 1} constraints [#wave.hardware<threads_per_wave = 64>] {
    %x = wave.register 1.0 : !wave.tile<[M], f32, #three>
    // expected-error@+1 {{a topk over 3 lanes 1 apart: lanes exchange in steps of powers of two}}
    %v, %i = wave.topk %x k 1 along M : !wave.tile<[M], f32, #three> -> !wave.tile<[T], f32, #one>, !wave.tile<[T], i32, #one>
    wave.return
  }
}

// -----

#four = #wave.layout<[M = 4], reg = [4 : M * 1]>
module attributes {wave.form = "staged", wave.target = "gfx942"} {
  wave.kernel @k() symbols {M = 4} constraints [#wave.hardware<threads_per_wave = 64>] {
    %x = wave.register 1 : !wave.tile<[M], i32, #four>
    // expected-error@+1 {{symbol T stands for 4 elements a lane, and the result is one value; set it from a tile that has one}}
    %i = wave.apply_expr [T + 1] symbols(T = %x : !wave.tile<[M], i32, #four>) : index
    wave.return
  }
}

// -----

#rows = #wave.layout<[M = 64, K = 4], reg = [4 : K * 1], lane = [64 : M * 1]>
#flat = #wave.layout<[P = 256], reg = [4 : P * 64], lane = [64 : P * 1]>
module attributes {wave.form = "staged", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M, K], f16, global>) symbols {M = 64, K = 4, P = 256}
      constraints [#wave.workgroup<M, 64, x>, #wave.workgroup<K, 4, y>, #wave.hardware<threads_per_wave = 64>] {
    %x = wave.read %a index [at.M, at.K] : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16, #rows>
    // expected-error@+1 {{this reshape moves elements between lanes; run wave-lower-relayouts first}}
    %y = wave.reshape %x : !wave.tile<[M, K], f16, #rows> -> !wave.tile<[P], f16, #flat>
    wave.return
  }
}
