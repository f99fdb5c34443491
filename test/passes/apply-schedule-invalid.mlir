// RUN: wave-opt %s --split-input-file --wave-apply-schedule --verify-diagnostics

// A module in another form than the one the pass starts from.
// expected-error@+1 {{wave-apply-schedule needs a module in form lane, this one is in form staged}}
module attributes {wave.form = "staged", wave.target = "gfx942"} {
}

// -----

module attributes {wave.form = "lane", wave.target = "gfx942"} {
  // expected-error@+1 {{wave.manual cannot be read: not the text of a schedule by hand: KeyError('stages')}}
  wave.kernel @text(%a: !wave.memory<[M], f32, global>) symbols {M = 64} dynamic []
      constraints [#wave.hardware<threads_per_wave = 64>] attributes {wave.manual = "[{}]"} {
    wave.return
  }
}
