// RUN: wave-opt %s --split-input-file --wave-choose-mma --verify-diagnostics

// A module in another form than the one the pass starts from.
// expected-error@+1 {{wave-choose-mma needs a module in form typed, this one is in form lane}}
module attributes {wave.form = "lane", wave.target = "gfx942"} {
}

// -----

module attributes {wave.form = "typed", wave.target = "gfx942"} {
  wave.kernel @k() symbols {M = 16, N = 16, K = 16} dynamic [] constraints [#wave.hardware<threads_per_wave = 64>] {
    %a = wave.register 0.0 : !wave.tile<[M, K], f16>
    %b = wave.register 0.0 : !wave.tile<[N, K], f16>
    %c = wave.register 0.0 : !wave.tile<[M, N], f32>
    // expected-error@+1 {{gfx942 has no MMA kind 'f32_9x9x9_f16'}}
    %z = wave.mma %a, %b, %c kind f32_9x9x9_f16 : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
    wave.return
  }
}
