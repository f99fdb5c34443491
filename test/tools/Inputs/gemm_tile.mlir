module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @gemm(%a: !wave.memory<[M, K], f16, shared>, %b: !wave.memory<[N, K], f16, shared>,
                    %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 64, N = 64, BLOCK_M = 64, BLOCK_N = 64, BLOCK_K = 32, K = 64} dynamic []
      constraints [#wave.workgroup<M, BLOCK_M, x>, #wave.workgroup<N, BLOCK_N, y>, #wave.tiling<K, BLOCK_K>,
                   #wave.wave<M, BLOCK_M floordiv 2>, #wave.wave<N, BLOCK_N floordiv 2>,
                   #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
    %zero = wave.register 0.0 : !wave.tile<[M, N], f32>
    %sum = wave.iterate K iter_args(%acc = %zero : !wave.tile<[M, N], f32>) {
      %x = wave.read %a : !wave.memory<[M, K], f16, shared> -> !wave.tile<[M, K], f16>
      %y = wave.read %b : !wave.memory<[N, K], f16, shared> -> !wave.tile<[N, K], f16>
      %z = wave.mma %x, %y, %acc : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
      wave.yield %z : !wave.tile<[M, N], f32>
    }
    wave.write %sum, %c : !wave.tile<[M, N], f32>, !wave.memory<[M, N], f32, global>
    wave.return
  }
}
