// RUN: wave-opt %s --split-input-file --verify-diagnostics --wave-check-constraints

// A set_symbol: wave-bind-symbols was not run.
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
    // expected-error@+1 {{a set_symbol is left; wave-bind-symbols makes its value an operand of the ops that use it}}
    wave.set_symbol T = %n : i32
    wave.return
  }
}
