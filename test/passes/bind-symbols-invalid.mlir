// RUN: wave-opt %s --split-input-file --verify-diagnostics --wave-bind-symbols

// Used before it is set.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M, K], f16, global>, %b: !wave.memory<[N, K], f16, global>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 512, N = 512, K = 256} dynamic []
      constraints [#wave.workgroup<M, 64, x>,
                   #wave.workgroup<N, 64, y>,
                   #wave.tiling<K, 32>,
                   #wave.wave<M, 32>,
                   #wave.wave<N, 32>,
                   #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
    %n = wave.scalar [M] : i32
    // expected-error@+1 {{symbol T has no value here; put wave.set_symbol T = … before this op, in its region or one around it}}
    %x = wave.scalar [T * 2] : i32
    wave.set_symbol T = %n : i32
    wave.return
  }
}

// -----

// Set in a region that has ended.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M, K], f16, global>, %b: !wave.memory<[N, K], f16, global>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 512, N = 512, K = 256} dynamic []
      constraints [#wave.workgroup<M, 64, x>,
                   #wave.workgroup<N, 64, y>,
                   #wave.tiling<K, 32>,
                   #wave.wave<M, 32>,
                   #wave.wave<N, 32>,
                   #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
    wave.conditional [M gt 4] {
      %n = wave.scalar [M] : i32
      wave.set_symbol T = %n : i32
      wave.yield
    }
    // expected-error@+1 {{symbol T has no value here}}
    %x = wave.scalar [T * 2] : i32
    wave.return
  }
}

// -----

// Nothing says how the loop steps.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M, K], f16, global>, %b: !wave.memory<[N, K], f16, global>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 512, N = 512, K = 256} dynamic []
      constraints [#wave.workgroup<M, 64, x>,
                   #wave.workgroup<N, 64, y>,
                   #wave.tiling<K, 32>,
                   #wave.wave<M, 32>,
                   #wave.wave<N, 32>,
                   #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
    // expected-error@+1 {{this loop walks dim N, but no tiling constraint says in which steps; add #wave.tiling<N, tile> to the kernel's constraints}}
    wave.iterate N {
      wave.yield
    }
    wave.return
  }
}

// -----

// A while loop that never moves.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M, K], f16, global>, %b: !wave.memory<[N, K], f16, global>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 512, N = 512, K = 256} dynamic []
      constraints [#wave.workgroup<M, 64, x>,
                   #wave.workgroup<N, 64, y>,
                   #wave.tiling<K, 32>,
                   #wave.wave<M, 32>,
                   #wave.wave<N, 32>,
                   #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
    %i = wave.scalar [0] : index
    // expected-error@+1 {{this loop never changes B and would not end; set its next value in the body: wave.set_symbol B = …, or give a step}}
    wave.iterate B start(%i : index) condition(B lt 10) {
      wave.yield
    }
    wave.return
  }
}
