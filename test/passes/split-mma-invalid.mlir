// RUN: wave-opt %s --split-input-file --wave-split-mma --verify-diagnostics

// A module in another form than the one the pass starts from.
// expected-error@+1 {{wave-split-mma needs a module in form lane, this one is in form staged}}
module attributes {wave.form = "staged", wave.target = "gfx942"} {
}

// -----

// A kind of another target.
module attributes {wave.form = "lane", wave.target = "gfx1201"} {
  wave.kernel @k() symbols {K = 64, BK = 32} dynamic []
      constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 32>] {
    %x = arith.constant dense<0.0> : vector<4xf32>
    %y = arith.constant dense<2.0> : vector<8xf16>
    %r = wave.iterate K iv(%k) trips(2) iter_args(%acc = %x : vector<4xf32>) {
      // expected-error@+1 {{gfx1201 has no MMA kind 'f32_16x16x32_k8_f16'}}
      %z = wave.mma %y, %y, %acc kind f32_16x16x32_k8_f16 : vector<8xf16>, vector<8xf16>, vector<4xf32>
      wave.yield %z : vector<4xf32>
    }
    wave.return
  }
}
