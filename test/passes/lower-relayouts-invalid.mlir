// RUN: wave-opt %s --split-input-file --wave-lower-relayouts --verify-diagnostics

// A module in another form than the one the pass starts from.
// expected-error@+1 {{wave-lower-relayouts needs a module in form staged, this one is in form gpu: it is past that form already: start from an earlier form}}
module attributes {wave.form = "gpu", wave.target = "gfx942"} {
}

// -----

// expected-error@+1 {{wave-lower-relayouts needs a module in form staged, this one is in form placed: run the pipeline 'placed-to-staged' first}}
module attributes {wave.form = "placed", wave.target = "gfx942"} {
}

// -----

// expected-error@+1 {{unknown target 'gfx941'}}
module attributes {wave.form = "staged", wave.target = "gfx941"} {
  wave.kernel @k() constraints [#wave.hardware<threads_per_wave = 64>] {
    wave.return
  }
}
