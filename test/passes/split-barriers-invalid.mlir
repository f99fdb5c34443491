// RUN: wave-opt %s --split-input-file --verify-diagnostics --wave-split-barriers

// expected-error@+1 {{wave-split-barriers needs a module in form lane, this one is in form gpu}}
module attributes {wave.form = "gpu", wave.target = "gfx1201"} {
}

// -----

// expected-error@+1 {{unknown target 'gfx1299'}}
module attributes {wave.form = "lane", wave.target = "gfx1299"} {
  wave.kernel @k() constraints [#wave.hardware<threads_per_wave = 32>] {
    wave.return
  }
}
