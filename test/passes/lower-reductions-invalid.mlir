// RUN: wave-opt %s --wave-lower-reductions --verify-diagnostics --split-input-file

module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%x: !wave.memory<[64], f32, global>) symbols {K = 3}
      constraints [#wave.hardware<threads_per_wave = 64>] {
    %a = wave.read %x index [lane] : !wave.memory<[64], f32, global> -> vector<1xf32>
    // expected-error@+1 {{a reduction over 3 lanes 1 apart: lanes exchange in steps of powers of two}}
    %s = wave.reduce sum %a along K {wave.clusters = [array<i64: 3, 1>]} : vector<1xf32> -> vector<1xf32>
    wave.return
  }
}

// -----

// A module in another form than the one the pass starts from.
// expected-error @below {{lower-reductions}}
module attributes {wave.form = "gpu", wave.target = "gfx942"} {
}
