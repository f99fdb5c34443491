// RUN: wave-opt %s --wave-prepare-rocdl | FileCheck %s

// An update of LDS without an instruction is a loop of compare-and-swap, whose first value is no ordinary load.
// CHECK-LABEL: gpu.func @k
// CHECK:       %[[FIRST:.*]] = llvm.cmpxchg %[[P:.*]], %[[ZERO:.*]], %[[ZERO]] syncscope("workgroup")
// CHECK:       scf.while
// CHECK:         arith.addf
// CHECK:         llvm.cmpxchg %[[P]]
// CHECK-NOT:   memref.atomic_rmw addf %{{.*}} : (f16
// One that has an instruction stays.
// CHECK:       memref.atomic_rmw addf %{{.*}} : (f32
module attributes {wave.form = "gpu", wave.target = "gfx942"} {
  gpu.module @m {
    gpu.func @k(%v: f16, %w: f32) workgroup(%lds: memref<512xi8, #gpu.address_space<workgroup>>) kernel attributes {
        known_block_size = array<i32: 64, 1, 1>, wave.grid = [#wave.expr<1>, #wave.expr<1>, #wave.expr<1>],
        wave.args = [{kind = "scalar", name = "v", dtype = f16}, {kind = "scalar", name = "w", dtype = f32}]} {
      %c0 = arith.constant 0 : index
      %c256 = arith.constant 256 : index
      %i = gpu.thread_id x
      %a = memref.view %lds[%c0][] : memref<512xi8, #gpu.address_space<workgroup>> to memref<64xf16, #gpu.address_space<workgroup>>
      %b = memref.view %lds[%c256][] : memref<512xi8, #gpu.address_space<workgroup>> to memref<64xf32, #gpu.address_space<workgroup>>
      %0 = memref.atomic_rmw addf %v, %a[%i] : (f16, memref<64xf16, #gpu.address_space<workgroup>>) -> f16
      %1 = memref.atomic_rmw addf %w, %b[%i] : (f32, memref<64xf32, #gpu.address_space<workgroup>>) -> f32
      gpu.return
    }
  }
}
