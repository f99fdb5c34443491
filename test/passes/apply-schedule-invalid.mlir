// RUN: wave-opt %s --split-input-file --wave-apply-schedule --verify-diagnostics

// A module in another form than the one the pass starts from.
// expected-error@+1 {{wave-apply-schedule needs a module in form lane, this one is in form staged}}
module attributes {wave.form = "staged", wave.target = "gfx942"} {
}

// -----

module attributes {wave.form = "lane", wave.target = "gfx942"} {
  // expected-error@+1 {{wave.manual cannot be read: not the text of a schedule by hand: there is no 'stages'}}
  wave.kernel @text(%a: !wave.memory<[M], f32, global>) symbols {M = 64} dynamic []
      constraints [#wave.hardware<threads_per_wave = 64>] attributes {wave.manual = "[{}]"} {
    wave.return
  }
}

// -----

module attributes {wave.form = "lane", wave.target = "gfx942"} {
  // expected-error@+1 {{wave.manual is 3 : i64; write the text of a schedule, a string}}
  wave.kernel @number(%a: !wave.memory<[M], f32, global>) symbols {M = 64} dynamic []
      constraints [#wave.hardware<threads_per_wave = 64>] attributes {wave.manual = 3 : i64} {
    wave.return
  }
}

// -----

module attributes {wave.form = "lane", wave.target = "gfx942"} {
  // expected-error@+1 {{wave.manual cannot be read: unroll 'x' is no whole number from 1 to 2147483648}}
  wave.kernel @unroll(%a: !wave.memory<[M], f32, global>) symbols {M = 64} dynamic []
      constraints [#wave.hardware<threads_per_wave = 64>] attributes {wave.manual = "[{\22loop\22: \22k\22, \22at\22: [\22f\22, 1, 1], \22stages\22: [], \22order\22: null, \22before\22: [], \22starts\22: [], \22ends\22: [], \22beside\22: [], \22unroll\22: \22x\22}]"} {
    wave.return
  }
}
