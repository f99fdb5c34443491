// RUN: wave-opt %s --split-input-file --wave-apply-schedule --verify-diagnostics

// A module in another form than the one the pass starts from.
// expected-error@+1 {{wave-apply-schedule needs a module in form lane, this one is in form staged}}
module attributes {wave.form = "staged", wave.target = "gfx942"} {
}

// -----

module attributes {wave.form = "lane", wave.target = "gfx942"} {
  // expected-error@+1 {{wave.manual: not the text of a schedule by hand: KeyError('loop')}}
  wave.kernel @text(%a: !wave.memory<[M], f32, global>) symbols {M = 64} dynamic []
      constraints [#wave.hardware<threads_per_wave = 64>] attributes {wave.manual = "[{}]"} {
    wave.return
  }
}

// -----

module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @place(%a: !wave.memory<[M], f32, global>) symbols {M = 512} dynamic []
      constraints [#wave.hardware<threads_per_wave = 64>]
      attributes {wave.manual = "[{\22loop\22: \22k\22, \22at\22: [\22k.py\22, 1, 1], \22stages\22: [], \22order\22: [], \22before\22: [], \22starts\22: [], \22ends\22: [], \22beside\22: [], \22unroll\22: 1}]"} {
    wave.iterate K iv(%k) trips(8) {
      // expected-error@+1 {{this op has no place in the schedule; put it into a cluster}}
      %x = wave.buffer_load %a base [iv.K * 64] offset [lane] symbols(iv.K = %k) : !wave.memory<[M], f32, global> -> vector<1xf32>
    } loc("wave.tag:k"("k.py":6:1))
    wave.return
  }
}
