// RUN: wave-opt %s --wave-to-gpu | FileCheck %s

// The descriptor of %a stands before the loop, with the real number of bytes; the loop adds a scalar offset. The two
// loads share the register with the masked offset: the second adds its constant after that, for the immediate. What
// the descriptor's range masks may be out of range without a mask.
// CHECK-LABEL: gpu.func @k(
// CHECK:         %[[STEP:.*]] = arith.constant -128000 : index
// CHECK:         %[[LESS:.*]] = arith.muli %block_id_x, %[[STEP]] : index
// CHECK:         %[[ALL:.*]] = arith.constant 200000 : index
// CHECK:         %[[VALID:.*]] = arith.addi %[[LESS]], %[[ALL]] : index
// CHECK:         llvm.getelementptr
// CHECK:         %[[FLAGS:.*]] = arith.constant 159744 : i32
// CHECK:         %[[BYTES:.*]] = arith.index_cast %[[VALID]] : index to i64
// CHECK:         %[[R:.*]] = rocdl.make.buffer.rsrc %{{.*}}, %{{.*}}, %[[BYTES]], %[[FLAGS]] : <1> to <8>
// CHECK:         scf.for
// CHECK-NOT:       make.buffer.rsrc %{{.*}}
// CHECK:           %[[MASKED:.*]] = arith.constant -2147483648 : i32
// CHECK:           %[[O:.*]] = arith.select %{{.*}}, %{{.*}}, %[[MASKED]] : i32
// CHECK:           rocdl.raw.ptr.buffer.load %[[R]], %[[O]], %[[S:.*]], %{{.*}} {wave.out_of_range = "masked"} : vector<4xi32>
// CHECK:           vector.bitcast %{{.*}} : vector<4xi32> to vector<8xf16>
// CHECK:           %[[P:.*]] = arith.addi %[[O]], %{{.*}} : i32
// CHECK:           rocdl.raw.ptr.buffer.load %[[R]], %[[P]], %[[S]], %{{.*}} : i16
// CHECK-NOT:       scf.if
// Bits of the cache policy: non-temporal 2, volatile 2^31.
// CHECK:         %[[POLICY:.*]] = arith.constant -2147483646 : i32
// CHECK:         rocdl.raw.ptr.buffer.store %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[POLICY]] : vector<2xi32>
module attributes {wave.form = "scheduled", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M, K], f16, global>, %c: !wave.memory<[M, 2], f32, global>)
      symbols {M = 100, K = 1000} dynamic []
      constraints [#wave.workgroup<M, 64, x>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    wave.iterate K iv(%k) trips(32) {
      %m = wave.mask [iv.K * 32 + lane mod 4 * 8 lt 1000] symbols(iv.K = %k) : vector<8xi1>
      %v = wave.buffer_load %a base [wg.x * 64000 + iv.K * 32] offset [lane floordiv 4 * 1000 + lane mod 4 * 8] mask %m
             symbols(iv.K = %k) {wave.scalar_offset = #wave.expr<iv.K * 32>}
             : !wave.memory<[M, K], f16, global> -> vector<8xf16>
      %n = wave.mask [iv.K * 32 + lane mod 4 * 8 lt 1000] symbols(iv.K = %k) : vector<1xi1>
      %w = wave.buffer_load %a base [wg.x * 64000 + iv.K * 32] offset [lane floordiv 4 * 1000 + lane mod 4 * 8 + 4] mask %n
             symbols(iv.K = %k) {wave.range_masked, wave.scalar_offset = #wave.expr<iv.K * 32>}
             : !wave.memory<[M, K], f16, global> -> vector<1xf16>
      wave.yield
    }
    %z = arith.constant dense<0.0> : vector<2xf32>
    wave.buffer_store %z, %c base [wg.x * 128] offset [lane * 2] volatile nontemporal {wave.range_masked}
      : vector<2xf32>, !wave.memory<[M, 2], f32, global>
    wave.return
  }
}
