// RUN: wave-opt %s --split-input-file --verify-diagnostics --wave-infer-layouts
// Errors that earlier passes find first in what a user writes: these modules are in typed form already.

// An MMA without a kind.
module attributes {wave.form = "typed", wave.target = "gfx942"} {
  wave.kernel @k() symbols {M = 16, N = 16, K = 16} constraints [#wave.hardware<threads_per_wave = 64>] {
    %x = wave.register 1.0 : !wave.tile<[M, K], f16>
    %y = wave.register 1.0 : !wave.tile<[N, K], f16>
    %c = wave.register 0.0 : !wave.tile<[M, N], f32>
    // expected-error@+1 {{this MMA has no kind; run wave-infer-types}}
    %z = wave.mma %x, %y, %c : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
    wave.return
  }
}

// -----

// A scaled MMA of a kind without scales.
module attributes {wave.form = "typed", wave.target = "gfx950"} {
  wave.kernel @k() symbols {M = 16, N = 16, K = 32, S = 1} constraints [#wave.hardware<threads_per_wave = 64>] {
    %x = wave.register 1.0 : !wave.tile<[M, K], f8E4M3FN>
    %s = wave.register 1 : !wave.tile<[M, S], i8>
    %y = wave.register 1.0 : !wave.tile<[N, K], f8E4M3FN>
    %t = wave.register 1 : !wave.tile<[N, S], i8>
    %c = wave.register 0.0 : !wave.tile<[M, N], f32>
    // expected-error@+1 {{kind f32_16x16x32_f8e4m3fn takes no scales; give a scaled kind or use wave.mma}}
    %z = wave.scaled_mma %x scale %s, %y scale %t, %c kind f32_16x16x32_f8e4m3fn : !wave.tile<[M, K], f8E4M3FN>, !wave.tile<[M, S], i8>, !wave.tile<[N, K], f8E4M3FN>, !wave.tile<[N, S], i8>, !wave.tile<[M, N], f32>
    wave.return
  }
}

// -----

// Elements of another width, of which no lane holds whole groups (4 of 6 bits in 3 of 8).
module attributes {wave.form = "typed", wave.target = "gfx950"} {
  wave.kernel @k() symbols {M = 24, N = 32} constraints [#wave.hardware<threads_per_wave = 64>] {
    %x = wave.register 1 : !wave.tile<[M], i8>
    // expected-error@+1 {{this bitcast from i8 to f6E2M3FN needs lanes that hold whole groups of elements along M; ask for it with elements_per_thread or vector_shapes}}
    %y = wave.bitcast %x : !wave.tile<[M], i8> -> !wave.tile<[N], f6E2M3FN>
    wave.return
  }
}
