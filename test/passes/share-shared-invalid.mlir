// RUN: wave-opt %s --split-input-file --verify-diagnostics --wave-share-shared

// expected-error@+1 {{wave-share-shared needs a module in form lane, this one is in form gpu}}
module attributes {wave.form = "gpu", wave.target = "gfx942"} {
}

// -----

// expected-error@+1 {{unknown target 'gfx941'}}
module attributes {wave.form = "lane", wave.target = "gfx941"} {
  wave.kernel @k() constraints [#wave.hardware<threads_per_wave = 64>] {
    wave.return
  }
}

// -----

module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M], f16, global>) dynamic [M] constraints [#wave.workgroup<M, 64, x>, #wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{is not known at compile time; LDS needs static extents}}
    %0 = wave.allocate : !wave.memory<[M, 128], f16, shared>
    wave.return
  }
}

// -----

// What is gained is said.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  // expected-remark@+1 {{LDS buffers share bytes: 24576 bytes in all (at least 24576 are needed at a time), 49152 apart; workgroups that fit the LDS of a compute unit: 2, apart 1}}
  wave.kernel @loops(%a: !wave.memory<[M], f32, global>) symbols {M = 128, K = 128}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant dense<0.0> : vector<1xf32>
    %l = wave.allocate : !wave.memory<[6144], f32, shared>
    %m = wave.allocate : !wave.memory<[6144], f32, shared>
    wave.iterate K iv(%k0) trips(4) {
      wave.write %z, %l index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[6144], f32, shared>
      %r0l = wave.read %l index [127 - wave.x * 64 - lane] : !wave.memory<[6144], f32, shared> -> vector<1xf32>
      wave.yield
    }
    wave.iterate K iv(%k1) trips(4) {
      wave.write %z, %m index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[6144], f32, shared>
      %r1m = wave.read %m index [127 - wave.x * 64 - lane] : !wave.memory<[6144], f32, shared> -> vector<1xf32>
      wave.yield
    }
    wave.return
  }
}
