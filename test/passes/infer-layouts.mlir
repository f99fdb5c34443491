// RUN: wave-opt %s --wave-infer-types --wave-bind-symbols --wave-check-constraints --wave-infer-layouts --verify-forms | FileCheck %s
// Chained MMAs, one tensor in two MMA roles, clipped tiles, operands in the order [K, N], folded and reordered grids.
// CHECK: #layout = #wave.layout<[M = 64, N = 32], reg = [4 : M * 1, 8 : M * 8], lane = [32 : N * 1, 2 : M * 4]>
// CHECK: #layout1 = #wave.layout<[P = 48, M = 64], reg = [4 : P * 1, 4 : P * 8, 2 : M * 32, 2 : P * 32], lane = [32 : M * 1, 2 : P * 4]>
// CHECK: #layout2 = #wave.layout<[M = 64, K = 32], reg = [4 : K * 1, 4 : K * 8, 2 : M * 32], lane = [32 : M * 1, 2 : K * 4]>
// CHECK: #layout3 = #wave.layout<[N = 32, K = 32], reg = [4 : K * 1, 4 : K * 8], lane = [32 : N * 1, 2 : K * 4]>
// CHECK: #layout4 = #wave.layout<[P = 48, N = 32], reg = [4 : N * 1, 4 : N * 8, 2 : P * 32], lane = [32 : P * 1, 2 : N * 4]>
// CHECK: #layout5 = #wave.layout<[M = 64, N = 32], reg = [4 : N * 1, 4 : N * 8, 2 : M * 32], lane = [32 : M * 1, 2 : N * 4]>
// CHECK: #layout6 = #wave.layout<[M = 64, N = 32], reg = [4 : M * 1, 2 : N * 16, 4 : M * 16], lane = [16 : N * 1, 4 : M * 4]>
// CHECK: #layout7 = #wave.layout<[K = 64, N = 32], reg = [4 : K * 1, 2 : N * 16, 4 : K * 16], lane = [16 : N * 1, 4 : K * 4]>
// CHECK: #layout8 = #wave.layout<[M = 64, K = 64], reg = [4 : K * 1, 4 : K * 16, 4 : M * 16], lane = [16 : M * 1, 4 : K * 4]>
// CHECK: #layout9 = #wave.layout<[N = 32, K = 64], reg = [4 : K * 1, 4 : K * 16, 2 : N * 16], lane = [16 : N * 1, 4 : K * 4]>
// CHECK: #layout10 = #wave.layout<[M = 64, K = 64], reg = [4 : M * 1, 4 : M * 16, 4 : K * 16], lane = [16 : K * 1, 4 : M * 4]>
// CHECK: #layout11 = #wave.layout<[M = 64, N = 32], reg = [4 : M * 1, 4 : M * 16, 2 : N * 16], lane = [16 : N * 1, 4 : M * 4]>
// CHECK: #layout12 = #wave.layout<[M = 8, N = 224], reg = [4 : M * 1, 4 : N * 16], lane = [16 : N * 1, 4 : M * 4], wave.y = [4 : N * 56], clip = [N = 56]>
// CHECK: #layout13 = #wave.layout<[M = 8, K = 24], reg = [4 : K * 1, 2 : K * 16], lane = [16 : M * 1, 4 : K * 4]>
// CHECK: #layout14 = #wave.layout<[K = 24, N = 224], reg = [4 : K * 1, 2 : K * 16, 4 : N * 16], lane = [16 : N * 1, 4 : K * 4], wave.y = [4 : N * 56], clip = [N = 56]>
// CHECK: #layout15 = #wave.layout<[C = 16], lane = [16 : C * 1]>
// CHECK: #layout16 = #wave.layout<[A = 1, B = 1, C = 16, D = 16], reg = [4 : D * 1], lane = [4 : D * 4, 16 : C * 1]>
// CHECK: #layout17 = #wave.layout<[B = 1, A = 1, D = 16, C = 16], reg = [4 : D * 1], lane = [4 : D * 4, 16 : C * 1]>
// CHECK-LABEL: wave.kernel @chain(
// CHECK: [[V0:%[^ ,:)#]+]] = wave.register 0.000000e+00 : !wave.tile<[M, N], f32, #layout>
// CHECK: [[V1:%[^ ,:)#]+]] = wave.register 0.000000e+00 : !wave.tile<[P, M], f32, #layout1>
// CHECK: [[V2:%[^ ,:)#]+]] = wave.read %a index [at.M, at.K] : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16, #layout2>
// CHECK: [[V3:%[^ ,:)#]+]] = wave.read %b index [at.N, at.K] : !wave.memory<[N, K], f16, global> -> !wave.tile<[N, K], f16, #layout3>
// CHECK: [[V4:%[^ ,:)#]+]] = wave.read %d index [at.P, at.N] : !wave.memory<[P, N], f16, global> -> !wave.tile<[P, N], f16, #layout4>
// CHECK: [[V5:%[^ ,:)#]+]] = wave.mma [[V2]], [[V3]], [[V0]] kind f32_32x32x8_f16 : !wave.tile<[M, K], f16, #layout2>, !wave.tile<[N, K], f16, #layout3>, !wave.tile<[M, N], f32, #layout>
// CHECK: [[V6:%[^ ,:)#]+]] = wave.cast [[V5]] : !wave.tile<[M, N], f32, #layout> -> !wave.tile<[M, N], f16, #layout>
// CHECK: [[V7:%[^ ,:)#]+]] = wave.relayout [[V6]] : !wave.tile<[M, N], f16, #layout> -> !wave.tile<[M, N], f16, #layout5>
// CHECK: [[V8:%[^ ,:)#]+]] = wave.mma [[V4]], [[V7]], [[V1]] kind f32_32x32x8_f16 : !wave.tile<[P, N], f16, #layout4>, !wave.tile<[M, N], f16, #layout5>, !wave.tile<[P, M], f32, #layout1>
// CHECK: wave.write [[V8]], %c index [at.P, at.M] : !wave.tile<[P, M], f32, #layout1>, !wave.memory<[P, M], f32, global>
// CHECK-LABEL: wave.kernel @roles(
// CHECK: [[V0:%[^ ,:)#]+]] = wave.register 0.000000e+00 : !wave.tile<[M, N], f32, #layout6>
// CHECK: [[V1:%[^ ,:)#]+]] = wave.register 0.000000e+00 : !wave.tile<[K, N], f32, #layout7>
// CHECK: [[V2:%[^ ,:)#]+]] = wave.read %a index [at.M, at.K] : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16, #layout8>
// CHECK: [[V3:%[^ ,:)#]+]] = wave.read %b index [at.N, at.K] : !wave.memory<[N, K], f16, global> -> !wave.tile<[N, K], f16, #layout9>
// CHECK: [[V4:%[^ ,:)#]+]] = wave.mma [[V2]], [[V3]], [[V0]] kind f32_16x16x16_f16 : !wave.tile<[M, K], f16, #layout8>, !wave.tile<[N, K], f16, #layout9>, !wave.tile<[M, N], f32, #layout6>
// CHECK: [[V5:%[^ ,:)#]+]] = wave.cast [[V4]] : !wave.tile<[M, N], f32, #layout6> -> !wave.tile<[M, N], f16, #layout6>
// CHECK: [[V6:%[^ ,:)#]+]] = wave.relayout [[V2]] : !wave.tile<[M, K], f16, #layout8> -> !wave.tile<[M, K], f16, #layout10>
// CHECK: [[V7:%[^ ,:)#]+]] = wave.relayout [[V5]] : !wave.tile<[M, N], f16, #layout6> -> !wave.tile<[M, N], f16, #layout11>
// CHECK: [[V8:%[^ ,:)#]+]] = wave.mma [[V6]], [[V7]], [[V1]] kind f32_16x16x16_f16 : !wave.tile<[M, K], f16, #layout10>, !wave.tile<[M, N], f16, #layout11>, !wave.tile<[K, N], f32, #layout7>
// CHECK: wave.write [[V4]], %c index [at.M, at.N] : !wave.tile<[M, N], f32, #layout6>, !wave.memory<[M, N], f32, global>
// CHECK: wave.write [[V8]], %e index [at.K, at.N] : !wave.tile<[K, N], f32, #layout7>, !wave.memory<[K, N], f32, global>
// CHECK-LABEL: wave.kernel @clip(
// CHECK: [[V0:%[^ ,:)#]+]] = wave.register 0.000000e+00 : !wave.tile<[M, N], f32, #layout12>
// CHECK: [[V1:%[^ ,:)#]+]] = wave.iterate K iv([[VIV:%[^ ,:)#]+]]) trips(5) iter_args([[VARG0:%[^ ,:)#]+]] = [[V0]] : !wave.tile<[M, N], f32, #layout12>) {
// CHECK: [[V2:%[^ ,:)#]+]] = wave.read %a index [wg.x * 8 + at.M, iv.K * 24 + at.K] symbols(iv.K = [[VIV]]) : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16, #layout13>
// CHECK: [[V3:%[^ ,:)#]+]] = wave.read %b index [iv.K * 24 + at.K, wg.y * 224 + at.N] symbols(iv.K = [[VIV]]) : !wave.memory<[K, N], f16, global> -> !wave.tile<[K, N], f16, #layout14>
// CHECK: [[V4:%[^ ,:)#]+]] = wave.mma [[V2]], [[V3]], [[VARG0]] kind f32_16x16x16_f16 symbols(iv.K = [[VIV]]) : !wave.tile<[M, K], f16, #layout13>, !wave.tile<[K, N], f16, #layout14>, !wave.tile<[M, N], f32, #layout12>
// CHECK: wave.yield [[V4]] : !wave.tile<[M, N], f32, #layout12>
// CHECK: wave.write [[V1]], %c index [wg.x * 8 + at.M, wg.y * 224 + at.N] : !wave.tile<[M, N], f32, #layout12>, !wave.memory<[M, N], f32, global>
// CHECK-LABEL: wave.kernel @folded(
// CHECK: [[V0:%[^ ,:)#]+]] = wave.apply_expr [wg.z mod 4 * 16 + at.C] : !wave.tile<[C], i32, #layout15>
// CHECK: [[V1:%[^ ,:)#]+]] = wave.read %a index [-wg.x + 2, wg.y, wg.z mod 4 * 16 + at.C, wg.z floordiv 4 * 16 + at.D] : !wave.memory<[A, B, C, D], f32, global> -> !wave.tile<[A, B, C, D], f32, #layout16>
// CHECK: [[V2:%[^ ,:)#]+]] = wave.permute [[V1]] : !wave.tile<[A, B, C, D], f32, #layout16> -> !wave.tile<[B, A, D, C], f32, #layout17>
// CHECK: wave.write [[V2]], %c index [wg.y, -wg.x + 2, wg.z floordiv 4 * 16 + at.D, wg.z mod 4 * 16 + at.C] : !wave.tile<[B, A, D, C], f32, #layout17>, !wave.memory<[B, A, D, C], f32, global>
// CHECK: wave.write [[V1]], %c index [wg.y, -wg.x + 2, wg.z floordiv 4 * 16 + at.D + 1, wg.z mod 4 * 16 + at.C] : !wave.tile<[A, B, C, D], f32, #layout16>, !wave.memory<[B, A, D, C], f32, global>

module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @chain(%a: !wave.memory<[M, K], f16, global>, %b: !wave.memory<[N, K], f16, global>, %d: !wave.memory<[P, N], f16, global>, %c: !wave.memory<[P, M], f32, global>)
      symbols {M = 64, N = 32, K = 32, P = 48} dynamic []
      constraints [#wave.hardware<threads_per_wave = 64, mma = f32_32x32x8_f16>] {
    %z0 = wave.register 0.0 : !wave.tile<[M, N], f32>
    %z1 = wave.register 0.0 : !wave.tile<[P, M], f32>
    %x = wave.read %a : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16>
    %y = wave.read %b : !wave.memory<[N, K], f16, global> -> !wave.tile<[N, K], f16>
    %w = wave.read %d : !wave.memory<[P, N], f16, global> -> !wave.tile<[P, N], f16>
    %s = wave.mma %x, %y, %z0 : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
    %sc = wave.cast %s : !wave.tile<[M, N], f32> -> !wave.tile<[M, N], f16>
    %t = wave.mma %w, %sc, %z1 : !wave.tile<[P, N], f16>, !wave.tile<[M, N], f16>, !wave.tile<[P, M], f32>
    wave.write %t, %c : !wave.tile<[P, M], f32>, !wave.memory<[P, M], f32, global>
    wave.return
  }
  wave.kernel @roles(%a: !wave.memory<[M, K], f16, global>, %b: !wave.memory<[N, K], f16, global>, %c: !wave.memory<[M, N], f32, global>, %e: !wave.memory<[K, N], f32, global>)
      symbols {M = 64, N = 32, K = 64} dynamic []
      constraints [#wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
    %z0 = wave.register 0.0 : !wave.tile<[M, N], f32>
    %z1 = wave.register 0.0 : !wave.tile<[K, N], f32>
    %x = wave.read %a : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16>
    %y = wave.read %b : !wave.memory<[N, K], f16, global> -> !wave.tile<[N, K], f16>
    %s = wave.mma %x, %y, %z0 : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
    %sc = wave.cast %s : !wave.tile<[M, N], f32> -> !wave.tile<[M, N], f16>
    %t = wave.mma %x, %sc, %z1 : !wave.tile<[M, K], f16>, !wave.tile<[M, N], f16>, !wave.tile<[K, N], f32>
    wave.write %s, %c : !wave.tile<[M, N], f32>, !wave.memory<[M, N], f32, global>
    wave.write %t, %e : !wave.tile<[K, N], f32>, !wave.memory<[K, N], f32, global>
    wave.return
  }
  wave.kernel @clip(%a: !wave.memory<[M, K], f16, global>, %b: !wave.memory<[K, N], f16, global>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 100, N = 300, K = 100} dynamic []
      constraints [#wave.workgroup<M, 8, x>, #wave.workgroup<N, 224, y>, #wave.tiling<K, 24>, #wave.wave<N, 56>, #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
    %zero = wave.register 0.0 : !wave.tile<[M, N], f32>
    %sum = wave.iterate K iter_args(%acc = %zero : !wave.tile<[M, N], f32>) {
      %x = wave.read %a : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16>
      %y = wave.read %b : !wave.memory<[K, N], f16, global> -> !wave.tile<[K, N], f16>
      %z = wave.mma %x, %y, %acc : !wave.tile<[M, K], f16>, !wave.tile<[K, N], f16>, !wave.tile<[M, N], f32>
      wave.yield %z : !wave.tile<[M, N], f32>
    }
    wave.write %sum, %c : !wave.tile<[M, N], f32>, !wave.memory<[M, N], f32, global>
    wave.return
  }
  wave.kernel @folded(%a: !wave.memory<[A, B, C, D], f32, global>, %c: !wave.memory<[B, A, D, C], f32, global>)
      symbols {A = 3, B = 5, C = 64, D = 48} dynamic []
      constraints [#wave.workgroup<A, 1, x>, #wave.workgroup<B, 1, y>, #wave.workgroup<C, 16, z>, #wave.workgroup<D, 16, 3>, #wave.hardware<threads_per_wave = 64, vector_shapes = {A = 0, B = 0, C = 16, D = 16}>, #wave.reordering<2 - wg.x, x>] {
    %i = wave.self_index C : !wave.tile<[C], i32>
    %x = wave.read %a : !wave.memory<[A, B, C, D], f32, global> -> !wave.tile<[A, B, C, D], f32>
    %p = wave.permute %x : !wave.tile<[A, B, C, D], f32> -> !wave.tile<[B, A, D, C], f32>
    wave.write %p, %c : !wave.tile<[B, A, D, C], f32>, !wave.memory<[B, A, D, C], f32, global>
    wave.write %x, %c mapping <[A = i, B = j, C = k, D = l] -> [j, i, l + 1, k]> : !wave.tile<[A, B, C, D], f32>, !wave.memory<[B, A, D, C], f32, global>
    wave.return
  }
}
