// RUN: wave-opt %s --split-input-file --wave-hoist-invariants --verify-diagnostics

// A module in another form than the one the pass starts from.
// expected-error@+1 {{wave-hoist-invariants needs a module in form lane, this one is in form staged}}
module attributes {wave.form = "staged", wave.target = "gfx942"} {
}

// -----

// A kernel of which it is not known how many registers a lane has.
module attributes {wave.form = "lane"} {
  // expected-error@+1 {{the module names no target; give it wave.target = "gfx90a" or another of}}
  wave.kernel @k() symbols {K = 64, BK = 32} dynamic [] constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    wave.return
  }
}
