// RUN: wave-opt %s --split-input-file --verify-diagnostics --wave-pack-shared

module attributes {wave.form = "lane", wave.target = "gfx942"} {
  // expected-error@+1 {{kernel 'k' needs 98304 bytes of LDS and gfx942 has 65536 a workgroup; use smaller tiles or keep an operand out of shared space}}
  wave.kernel @k(%a: !wave.memory<[M], f16, global>) symbols {M = 64}
      constraints [#wave.workgroup<M, 64, x>, #wave.hardware<threads_per_wave = 64>] {
    // expected-note@+1 {{65536 bytes: !wave.memory<[256, 128], f16, shared>}}
    %0 = wave.allocate : !wave.memory<[256, 128], f16, shared>
    // expected-note@+1 {{32768 bytes: !wave.memory<[128, 128], f16, shared>}}
    %1 = wave.allocate : !wave.memory<[128, 128], f16, shared>
    wave.return
  }
}

// -----

module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M], f16, global>) dynamic [M] constraints [#wave.workgroup<M, 64, x>, #wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{is not known at compile time; LDS needs static extents: give the tile sizes as static symbols}}
    %0 = wave.allocate : !wave.memory<[M, 128], f16, shared>
    wave.return
  }
}
