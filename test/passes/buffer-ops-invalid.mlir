// RUN: wave-opt %s --split-input-file --wave-buffer-ops --verify-diagnostics

// A module in another form than the one the pass starts from.
// expected-error@+1 {{wave-buffer-ops needs a module in form lane, this one is in form gpu}}
module attributes {wave.form = "gpu", wave.target = "gfx942"} {
}

// -----

module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M], f32, global>) symbols {M = 1000} dynamic []
      constraints [#wave.workgroup<M, 256, x>, #wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{the index still depends on the element; run wave-split-accesses before wave-buffer-ops}}
    %v = wave.read %a index [wg.x * 256 + lane * 4 + el] : !wave.memory<[M], f32, global> -> vector<4xf32>
    wave.return
  }
}
