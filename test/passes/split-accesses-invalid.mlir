// RUN: wave-opt %s --split-input-file --wave-split-accesses --verify-diagnostics

// A module in another form than the one the pass starts from.
// expected-error@+1 {{wave-split-accesses needs a module in form lane, this one is in form gpu: it is past that form already: start from an earlier form}}
module attributes {wave.form = "gpu", wave.target = "gfx942"} {
}

// -----

// expected-error@+1 {{wave-split-accesses needs a module in form lane, this one is in form staged: run the pipeline 'staged-to-lane' first}}
module attributes {wave.form = "staged", wave.target = "gfx942"} {
}

// -----

// expected-error@+1 {{unknown target 'gfx941'}}
module attributes {wave.form = "lane", wave.target = "gfx941"} {
  wave.kernel @k() constraints [#wave.hardware<threads_per_wave = 64>] {
    wave.return
  }
}

// -----

// A division by the number of the element, which is 0 for the first.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M], f16, global>) symbols {M = 37}
      constraints [#wave.workgroup<M, 16, x>, #wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{an expression of this op divides by 0 at some of its points; say with select(…) what it is there}}
    %v = wave.read %a index [lane floordiv el] : !wave.memory<[M], f16, global> -> vector<2xf16>
    wave.return
  }
}
