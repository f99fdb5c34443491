// RUN: wave-opt %s --wave-infer-types --wave-bind-symbols --wave-check-constraints --wave-infer-layouts --verify-forms | FileCheck %s
// Loads of the GEMM have the layouts its MMA wants: no relayout.
// CHECK: #layout = #wave.layout<[M = 64, N = 64], reg = [4 : M * 1, 2 : N * 16, 2 : M * 16], lane = [16 : N * 1, 4 : M * 4], wave.x = [2 : M * 32], wave.y = [2 : N * 32]>
// CHECK: #layout1 = #wave.layout<[M = 64, K = 32], reg = [4 : K * 1, 2 : K * 16, 2 : M * 16], lane = [16 : M * 1, 4 : K * 4], wave.x = [2 : M * 32]>
// CHECK: #layout2 = #wave.layout<[N = 64, K = 32], reg = [4 : K * 1, 2 : K * 16, 2 : N * 16], lane = [16 : N * 1, 4 : K * 4], wave.y = [2 : N * 32]>
// CHECK-LABEL: wave.kernel @gemm(
// CHECK: [[V0:%[^ ,:)#]+]] = wave.register 0.000000e+00 : !wave.tile<[M, N], f32, #layout>
// CHECK: [[V1:%[^ ,:)#]+]] = wave.iterate K iv([[VIV:%[^ ,:)#]+]]) trips(8) iter_args([[VARG0:%[^ ,:)#]+]] = [[V0]] : !wave.tile<[M, N], f32, #layout>) {
// CHECK: [[V2:%[^ ,:)#]+]] = wave.read %a index [wg.x * 64 + at.M, iv.K * 32 + at.K] symbols(iv.K = [[VIV]]) : !wave.memory<[M, K], f16, shared> -> !wave.tile<[M, K], f16, #layout1>
// CHECK: [[V3:%[^ ,:)#]+]] = wave.read %b index [wg.y * 64 + at.N, iv.K * 32 + at.K] symbols(iv.K = [[VIV]]) : !wave.memory<[N, K], f16, shared> -> !wave.tile<[N, K], f16, #layout2>
// CHECK: [[V4:%[^ ,:)#]+]] = wave.mma [[V2]], [[V3]], [[VARG0]] kind f32_16x16x16_f16 symbols(iv.K = [[VIV]]) : !wave.tile<[M, K], f16, #layout1>, !wave.tile<[N, K], f16, #layout2>, !wave.tile<[M, N], f32, #layout>
// CHECK: wave.yield [[V4]] : !wave.tile<[M, N], f32, #layout>
// CHECK: wave.write [[V1]], %c index [wg.x * 64 + at.M, wg.y * 64 + at.N] : !wave.tile<[M, N], f32, #layout>, !wave.memory<[M, N], f32, global>
// CHECK-NOT: wave.relayout

module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @gemm(%a: !wave.memory<[M, K], f16, shared>, %b: !wave.memory<[N, K], f16, shared>,
                    %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 512, N = 512, K = 256, BLOCK_M = 64, BLOCK_N = 64, BLOCK_K = 32} dynamic []
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
