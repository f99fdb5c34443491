// RUN: wave-opt %s --split-input-file --verify-diagnostics --wave-to-gpu

module attributes {wave.form = "scheduled", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M], f32, global>) symbols {M = 64}
      constraints [#wave.workgroup<M, 64, x>, #wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{the buffer has no place in LDS yet; run wave-pack-shared before wave-to-gpu}}
    %l = wave.allocate : !wave.memory<[64], f32, shared>
    wave.return
  }
}

// -----

module attributes {wave.form = "scheduled", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M], f32, global>) symbols {M = 64}
      constraints [#wave.workgroup<M, 64, x>, #wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{the index still depends on the element; run wave-split-accesses before wave-to-gpu}}
    %v = wave.read %a index [lane + el] : !wave.memory<[M], f32, global> -> vector<2xf32>
    wave.return
  }
}
