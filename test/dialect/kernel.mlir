// RUN: wave-opt %s | wave-opt | FileCheck %s
// RUN: wave-opt %s --mlir-print-op-generic | wave-opt | FileCheck %s
// Kernels, constraints, regions and symbols: print and parse.

// CHECK-LABEL: wave.kernel @constraints(%x: !wave.memory<[M, K floordiv 32], f8E4M3FNUZ, global, strides = [?, 1]>, %s: f32, %n: i32)
// CHECK-SAME: symbols {BLOCK = 64, K_SCALE = K floordiv 32} dynamic [M, K]
// CHECK-SAME: #wave.workgroup<M, BLOCK, x, fn = wg.x * 2, iters = M ceildiv BLOCK, secondary>
// CHECK-SAME: #wave.workgroup<N, 1, 3>
// CHECK-SAME: #wave.tiling<K, BLOCK, iters = 4, start = 2>, #wave.tiling<T>, #wave.tiling<U, iters = 3>
// CHECK-SAME: #wave.wave<M, BLOCK floordiv 2, y>
// CHECK-SAME: #wave.hardware<threads_per_wave = 32, mma = f32_16x16x16_f16, vector_shapes = {B = 0, M = 16}, waves_per_block = [2, 2, 1], max_bits_per_load = 64, service_waves = 1>
// CHECK-SAME: #wave.reordering<{{.*}}, y>
// CHECK-SAME: #wave.grid<[304, M ceildiv 64, 1]>
// CHECK-SAME: #wave.device<M, M floordiv 2, 0>
// CHECK-SAME: #wave.assume<K mod 64 eq 0>
// CHECK-SAME: attributes {note = "kept"}
wave.kernel @constraints(%x: !wave.memory<[M, K floordiv 32], f8E4M3FNUZ, global, strides = [?, 1]>, %s: f32, %n: i32)
    symbols {K_SCALE = K floordiv 32, BLOCK = 64} dynamic [M, K]
    constraints [#wave.workgroup<M, BLOCK, x, secondary, iters = M ceildiv BLOCK, fn = wg.x * 2>, #wave.workgroup<N, 1, 3>,
                 #wave.tiling<K, BLOCK, start = 2, iters = 4>, #wave.tiling<T>, #wave.tiling<U, iters = 3>,
                 #wave.wave<M, BLOCK floordiv 2, y>, #wave.wave<N, 8>,
                 #wave.hardware<threads_per_wave = 32, mma = f32_16x16x16_f16, vector_shapes = {M = 16, B = 0},
                                waves_per_block = [2, 2, 1], max_bits_per_load = 64, service_waves = 1>,
                 #wave.reordering<wg.x + wg.y * 4, y>, #wave.grid<[304, M ceildiv 64, 1]>,
                 #wave.device<M, M floordiv 2, 0>, #wave.assume<K mod 64 eq 0>]
    attributes {note = "kept"} {
  wave.return
}

// The terminators may be left out.
// CHECK-LABEL: wave.kernel @empty()
// CHECK-NEXT: wave.return
wave.kernel @empty() {
}

// CHECK-LABEL: wave.kernel @loops
wave.kernel @loops(%a: !wave.memory<[M], f32, global>) {
  // CHECK: %[[N:.*]] = wave.scalar [M * 2] : i32
  %n = wave.scalar [M * 2] : i32
  // CHECK: wave.set_symbol T = %[[N]] : i32
  wave.set_symbol T = %n : i32
  // CHECK: wave.iterate K {
  // CHECK-NEXT: }
  wave.iterate K {
  }
  // CHECK: wave.iterate K step(2) {
  wave.iterate K step(2) {
    wave.yield
  }
  // CHECK: wave.iterate B start(%[[N]] : i32) condition(B lt T) {
  wave.iterate B start(%n : i32) condition(B lt T) {
    wave.set_symbol B = %n : i32
  }
  %zero = wave.register 0.0 : !wave.tile<[M], f32>
  %first = arith.constant 0 : index
  // CHECK: %{{.*}}:2 = wave.iterate B iv(%[[B:.*]]) start(%{{.*}} : index) condition(B lt T) symbols(T = %[[N]] : i32) iter_args(%[[X:.*]] = %{{.*}} : !wave.tile<[M], f32>, %[[Y:.*]] = %{{.*}} : !wave.tile<[M], f32>) {
  // CHECK:   %[[NEXT:.*]] = wave.apply_expr [B + 4] symbols(B = %[[B]]) : index
  // CHECK:   wave.yield %[[NEXT]], %[[Y]], %[[X]] : index, !wave.tile<[M], f32>, !wave.tile<[M], f32>
  %r:2 = wave.iterate B iv(%b) start(%first : index) condition(B lt T) symbols(T = %n : i32)
      iter_args(%x = %zero : !wave.tile<[M], f32>, %y = %zero : !wave.tile<[M], f32>) {
    %next = wave.apply_expr [B + 4] symbols(B = %b) : index
    wave.yield %next, %y, %x : index, !wave.tile<[M], f32>, !wave.tile<[M], f32>
  }
  // CHECK: wave.iterate K iv(%{{.*}}) trips(4) step(2) attributes {wave.tag = "inner"} {
  wave.iterate K iv(%k) trips(4) step(2) attributes {wave.tag = "inner"} {
  }
  // CHECK: wave.conditional [{{.*}}] symbols(T = %[[N]] : i32) {
  // CHECK-NEXT: wave.write
  // CHECK-NEXT: }
  wave.conditional [T gt 0] symbols(T = %n : i32) {
    wave.write %r#0, %a : !wave.tile<[M], f32>, !wave.memory<[M], f32, global>
  }
  %c = wave.register 1 : !wave.tile<[], i1>
  // CHECK: %[[C:.*]] = wave.register 1 : !wave.tile<[], i1>
  // CHECK: wave.conditional %[[C]] : !wave.tile<[], i1> otherwise(%{{.*}}, %{{.*}}) -> (!wave.tile<[M], f32>, i32) {
  %s:2 = wave.conditional %c : !wave.tile<[], i1> otherwise(%zero, %n) -> (!wave.tile<[M], f32>, i32) {
    wave.yield %r#1, %n : !wave.tile<[M], f32>, i32
  }
  // CHECK: wave.conditional [M mod 2 eq 0] -> i32 {
  // CHECK: } else {
  // CHECK-NEXT: wave.yield
  %t = wave.conditional [M mod 2 eq 0] -> i32 {
    wave.yield %n : i32
  } else {
    wave.yield %s#1 : i32
  }
  // CHECK: wave.conditional [M eq 1] {
  // CHECK-NEXT: } else {
  // CHECK-NEXT: }
  wave.conditional [M eq 1] {
  } else {
  }
}

// CHECK-LABEL: wave.kernel @symbols
wave.kernel @symbols(%a: !wave.memory<[M], i32, global>) {
  %x = wave.read %a : !wave.memory<[M], i32, global> -> !wave.tile<[M], i32>
  // CHECK: wave.apply_expr [{{.*}}] symbols(d0 = %{{.*}} : !wave.tile<[M], i32>, d1 = %{{.*}} : !wave.tile<[M], i32>) : !wave.tile<[M], index>
  %p = wave.apply_expr [d0 * 16 + d1 mod M] symbols(d0 = %x : !wave.tile<[M], i32>, d1 = %x : !wave.tile<[M], i32>) : !wave.tile<[M], index>
  // CHECK: wave.apply_expr [M lt 4] : i1
  %q = wave.apply_expr [M lt 4] : i1
  // CHECK: wave.scalar [M] : !wave.tile<[], f32>
  %s = wave.scalar [M] : !wave.tile<[], f32>
  // CHECK: wave.mask [{{.*}} and {{.*}}] : !wave.tile<[M], i1>
  %m = wave.mask [at.M lt M and wg.x eq 0] : !wave.tile<[M], i1>
  // CHECK: wave.self_index M : !wave.tile<[M], i32>
  %i = wave.self_index M : !wave.tile<[M], i32>
  // CHECK: wave.self_index M elements_per_thread 4 symbols(iv.M = %{{.*}}) : !wave.tile<[M], index>
  %k = arith.constant 3 : index
  %j = wave.self_index M elements_per_thread 4 symbols(iv.M = %k) : !wave.tile<[M], index>
}
