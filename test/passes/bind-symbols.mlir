// RUN: wave-opt %s --wave-infer-types --wave-bind-symbols | FileCheck %s
// Set symbols with scopes, derived symbols, loops with steps and while loops: values become operands.
// CHECK-LABEL: wave.kernel @symbols(
// CHECK: [[V0:%[^ ,:)#]+]] = wave.read %t : !wave.memory<[M], i32, global> -> !wave.tile<[M], i32>
// CHECK: [[V1:%[^ ,:)#]+]] = wave.read %a mapping <[M = i, D = j] -> [d0, j], dynamic = {{\[\[}}M = i]]> dynamic([[V0]] : !wave.tile<[M], i32>) : !wave.memory<[R, D], f16, global> -> !wave.tile<[M, D], f16>
// CHECK: wave.write [[V1]], %c : !wave.tile<[M, D], f16>, !wave.memory<[M, D], f16, global>
// CHECK: [[V2:%[^ ,:)#]+]] = wave.read %lens : !wave.memory<[B], i32, global> -> !wave.tile<[B], i32>
// CHECK: [[V3:%[^ ,:)#]+]] = wave.scalar [K + K floordiv 32] symbols(K = [[V2]] : !wave.tile<[B], i32>) : i32
// CHECK: wave.iterate K iv([[VIV:%[^ ,:)#]+]]) trips(K ceildiv 128) symbols(K = [[V2]] : !wave.tile<[B], i32>) {
// CHECK: [[V4:%[^ ,:)#]+]] = wave.scalar [D + K floordiv 32 * 2] symbols(K = [[V2]] : !wave.tile<[B], i32>) : i32
// CHECK: wave.conditional [6 le K] symbols(K = [[V2]] : !wave.tile<[B], i32>) {
// CHECK: [[V6:%[^ ,:)#]+]] = wave.scalar [3] : i32
// CHECK: [[V7:%[^ ,:)#]+]] = wave.scalar [K] symbols(K = [[V6]] : i32) : i32
// CHECK: [[V5:%[^ ,:)#]+]] = wave.scalar [K] symbols(K = [[V2]] : !wave.tile<[B], i32>) : i32
// CHECK-LABEL: wave.kernel @loops(
// CHECK: wave.iterate K iv([[VIV:%[^ ,:)#]+]]) trips(K ceildiv 256) {
// CHECK: [[V1:%[^ ,:)#]+]] = wave.apply_expr [iv.K * 2] symbols(iv.K = [[VIV]]) : index
// CHECK: [[V2:%[^ ,:)#]+]] = wave.read %a symbols(iv.K = [[V1]]) : !wave.memory<[K], f32, global> -> !wave.tile<[K], f32>
// CHECK: wave.write [[V2]], %c symbols(iv.K = [[V1]]) : !wave.tile<[K], f32>, !wave.memory<[K], f32, global>
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
