// RUN: wave-opt %s --wave-to-gpu | FileCheck %s

// A steady loop counts in 32 bits. The trips it was unrolled for share a scalar offset: what they differ in is an
// immediate, behind the lane's offset, as long as that has room; the last load is a page further.
// CHECK-LABEL: gpu.func @k(
// CHECK:         scf.for %[[T:.*]] = %{{.*}} to %{{.*}} step %{{.*}} : i32
// CHECK:           %[[I:.*]] = arith.index_castui %[[T]] : i32 to index
// CHECK:           %[[S:.*]] = arith.index_cast %{{.*}} : index to i32
// CHECK:           rocdl.raw.ptr.buffer.load %[[R:.*]], %[[O:.*]], %[[S]], %{{.*}} : vector<4xi32>
// CHECK:           %[[C:.*]] = arith.constant 64 : i32
// CHECK:           %[[P:.*]] = arith.addi %[[O]], %[[C]] : i32
// CHECK:           rocdl.raw.ptr.buffer.load %[[R]], %[[P]], %[[S]], %{{.*}} : vector<4xi32>
// CHECK:           %[[U:.*]] = arith.index_cast %{{.*}} : index to i32
// CHECK:           rocdl.raw.ptr.buffer.load %[[R]], %[[O]], %[[U]], %{{.*}} : vector<4xi32>
module attributes {wave.form = "scheduled", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M, K], f16, global>, %c: !wave.memory<[M, K], f16, global>)
      symbols {M = 64, K = 8192} dynamic []
      constraints [#wave.workgroup<M, 64, x>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    wave.iterate K iv(%k) trips(64) attributes {wave.steady = 2 : i64} {
      %u = wave.buffer_load %a base [iv.K * 64] offset [lane * 8192] symbols(iv.K = %k)
             {wave.scalar_offset = #wave.expr<iv.K * 64>} : !wave.memory<[M, K], f16, global> -> vector<8xf16>
      %v = wave.buffer_load %a base [iv.K * 64 + 32] offset [lane * 8192] symbols(iv.K = %k)
             {wave.scalar_offset = #wave.expr<iv.K * 64 + 32>} : !wave.memory<[M, K], f16, global> -> vector<8xf16>
      %w = wave.buffer_load %a base [iv.K * 64 + 2048] offset [lane * 8192] symbols(iv.K = %k)
             {wave.scalar_offset = #wave.expr<iv.K * 64 + 2048>} : !wave.memory<[M, K], f16, global> -> vector<8xf16>
      %x = arith.addf %u, %v : vector<8xf16>
      %y = arith.addf %x, %w : vector<8xf16>
      wave.buffer_store %y, %c base [iv.K * 64] offset [lane * 8192] symbols(iv.K = %k)
        : vector<8xf16>, !wave.memory<[M, K], f16, global>
      wave.yield
    }
    wave.return
  }
}
