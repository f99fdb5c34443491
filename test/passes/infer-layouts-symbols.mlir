// RUN: wave-opt %s --wave-infer-types --wave-bind-symbols --wave-check-constraints --wave-infer-layouts --verify-forms | FileCheck %s
// Gathers through a table, run-time sizes, positions of loops.
// CHECK: #layout = #wave.layout<[M = 64], lane = [64 : M * 1]>
// CHECK: #layout1 = #wave.layout<[M = 64], reg = [8 : M * 8], lane = [8 : _, 8 : M * 1]>
// CHECK: #layout2 = #wave.layout<[M = 64, D = 64], reg = [8 : D * 1, 8 : M * 8], lane = [8 : D * 8, 8 : M * 1]>
// CHECK: #layout3 = #wave.layout<[B = 1]>
// CHECK: #layout4 = #wave.layout<[K = 128], reg = [2 : K * 1], lane = [64 : K * 2]>
// CHECK-LABEL: wave.kernel @symbols(
// CHECK: [[V0:%[^ ,:)#]+]] = wave.read %t index [wg.x * 64 + at.M] : !wave.memory<[M], i32, global> -> !wave.tile<[M], i32, #layout>
// CHECK: [[V1:%[^ ,:)#]+]] = wave.relayout [[V0]] : !wave.tile<[M], i32, #layout> -> !wave.tile<[M], i32, #layout1>
// CHECK: [[V2:%[^ ,:)#]+]] = wave.mask [wg.x * 64 + at.M lt M] : !wave.tile<[M, D], i1, #layout2>
// CHECK: [[V3:%[^ ,:)#]+]] = wave.read %a mask [[V2]] index [d0, at.D] symbols(d0 = [[V1]] : !wave.tile<[M], i32, #layout1>) : !wave.memory<[R, D], f16, global> -> !wave.tile<[M, D], f16, #layout2>
// CHECK: wave.write [[V3]], %c index [wg.x * 64 + at.M, at.D] : !wave.tile<[M, D], f16, #layout2>, !wave.memory<[M, D], f16, global>
// CHECK: [[V4:%[^ ,:)#]+]] = wave.read %lens index [wg.y] : !wave.memory<[B], i32, global> -> !wave.tile<[B], i32, #layout3>
// CHECK: [[V5:%[^ ,:)#]+]] = wave.scalar [K + K floordiv 32] symbols(K = [[V4]] : !wave.tile<[B], i32, #layout3>) : i32
// CHECK: wave.iterate K iv([[VIV:%[^ ,:)#]+]]) trips(K ceildiv 128) symbols(K = [[V4]] : !wave.tile<[B], i32, #layout3>) {
// CHECK: [[V6:%[^ ,:)#]+]] = wave.scalar [K floordiv 32 * 2 + 64] symbols(K = [[V4]] : !wave.tile<[B], i32, #layout3>) : i32
// CHECK: wave.conditional [6 le K] symbols(K = [[V4]] : !wave.tile<[B], i32, #layout3>) {
// CHECK: [[V8:%[^ ,:)#]+]] = wave.scalar [3] : i32
// CHECK: [[V9:%[^ ,:)#]+]] = wave.scalar [K] symbols(K = [[V8]] : i32) : i32
// CHECK: [[V7:%[^ ,:)#]+]] = wave.scalar [K] symbols(K = [[V4]] : !wave.tile<[B], i32, #layout3>) : i32
// CHECK-LABEL: wave.kernel @loops(
// CHECK: wave.iterate K iv([[VIV:%[^ ,:)#]+]]) trips(4) {
// CHECK: [[V1:%[^ ,:)#]+]] = wave.apply_expr [iv.K * 2] symbols(iv.K = [[VIV]]) : index
// CHECK: [[V2:%[^ ,:)#]+]] = wave.read %a index [iv.K * 128 + at.K + 5] symbols(iv.K = [[V1]]) : !wave.memory<[K], f32, global> -> !wave.tile<[K], f32, #layout4>
// CHECK: wave.write [[V2]], %c index [iv.K * 128 + at.K + 5] symbols(iv.K = [[V1]]) : !wave.tile<[K], f32, #layout4>, !wave.memory<[K], f32, global>
// CHECK: [[V0:%[^ ,:)#]+]] = wave.scalar [0] : index
// CHECK: wave.iterate B iv([[VIV]]) start([[V0]] : index) condition(B lt LEN) {
// CHECK: [[V1]] = wave.scalar [B * 2] symbols(B = [[VIV]]) : i32
// CHECK: [[V2]] = wave.scalar [B + 3] symbols(B = [[VIV]]) : i32
// CHECK: [[V3:%[^ ,:)#]+]] = wave.scalar [B * 2] symbols(B = [[V2]] : i32) : i32
// CHECK: [[V4:%[^ ,:)#]+]] = wave.apply_expr [B] symbols(B = [[V2]] : i32) : index
// CHECK: wave.yield [[V4]] : index
// CHECK: wave.iterate B iv([[VIV]]) start([[V0]] : index) condition(B lt LEN) {
// CHECK: [[V1]] = wave.apply_expr [B + 2] symbols(B = [[VIV]]) : index
// CHECK: wave.yield [[V1]] : index

module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @symbols(%a: !wave.memory<[R, D], f16, global>, %t: !wave.memory<[M], i32, global>, %lens: !wave.memory<[B], i32, global>, %c: !wave.memory<[M, D], f16, global>)
      symbols {D = 64, K = 1024, KS = K floordiv 32} dynamic [R, M, B]
      constraints [#wave.workgroup<M, 64, x>, #wave.workgroup<B, 1, y>, #wave.tiling<K, 128>, #wave.hardware<threads_per_wave = 64>] {
    %idx = wave.read %t : !wave.memory<[M], i32, global> -> !wave.tile<[M], i32>
    %x = wave.read %a mapping <[M = i, D = j] -> [d0, j], dynamic = [[M = i]]> dynamic(%idx : !wave.tile<[M], i32>) : !wave.memory<[R, D], f16, global> -> !wave.tile<[M, D], f16>
    wave.write %x, %c : !wave.tile<[M, D], f16>, !wave.memory<[M, D], f16, global>
    %len = wave.read %lens : !wave.memory<[B], i32, global> -> !wave.tile<[B], i32>
    wave.set_symbol K = %len : !wave.tile<[B], i32>
    %s = wave.scalar [KS + K] : i32
    wave.iterate K {
      %s2 = wave.scalar [KS * 2 + D] : i32
      wave.conditional [K gt 5] {
        %three = wave.scalar [3] : i32
        wave.set_symbol K = %three : i32
        %s3 = wave.scalar [K] : i32
        wave.yield
      }
      %s4 = wave.scalar [K] : i32
      wave.yield
    }
    wave.return
  }
  wave.kernel @loops(%a: !wave.memory<[K], f32, global>, %c: !wave.memory<[K], f32, global>)
      symbols {K = 1000} dynamic [LEN]
      constraints [#wave.tiling<K, 128, start = 5>, #wave.hardware<threads_per_wave = 64>] {
    wave.iterate K step(2) {
      %x = wave.read %a : !wave.memory<[K], f32, global> -> !wave.tile<[K], f32>
      wave.write %x, %c : !wave.tile<[K], f32>, !wave.memory<[K], f32, global>
      wave.yield
    }
    %i = wave.scalar [0] : index
    wave.iterate B start(%i : index) condition(B lt LEN) {
      %x = wave.scalar [B * 2] : i32
      %n = wave.scalar [B + 3] : i32
      wave.set_symbol B = %n : i32
      %y = wave.scalar [B * 2] : i32
      wave.yield
    }
    wave.iterate B start(%i : index) step(2) condition(B lt LEN) {
      wave.yield
    }
    wave.return
  }
}
