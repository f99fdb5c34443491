// RUN: wave-opt %s --split-input-file --wave-place-waits --verify-diagnostics

// A module in another form than the one the pass starts from.
// expected-error@+1 {{wave-place-waits needs a module in form lane, this one is in form staged}}
module attributes {wave.form = "staged", wave.target = "gfx942"} {
}

// -----

// expected-error@+1 {{unknown target 'gfx941'}}
module attributes {wave.form = "lane", wave.target = "gfx941"} {
  wave.kernel @k() constraints [#wave.hardware<threads_per_wave = 64>] {
    wave.return
  }
}
