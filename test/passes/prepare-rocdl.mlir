// RUN: wave-opt %s --wave-prepare-rocdl | FileCheck %s
// RUN: wave-opt %s --wave-prepare-rocdl=target=gfx1201 | FileCheck %s --check-prefix=WAVE32

// A memory becomes a pointer of static shape, cast back to the elements its shape in wave.args gives.
// CHECK-LABEL: gpu.func @k
// CHECK-SAME: %[[A:.*]]: memref<1xf16, #gpu.address_space<global>>, %[[M:.*]]: i32)
// CHECK-DAG: %[[MI:.*]] = arith.index_cast %[[M]] : i32 to index
// CHECK: memref.reinterpret_cast %[[A]] to offset: [0], sizes: [%{{.*}}], strides: [1]
// The wave's number is the thread's over the wave size.
// CHECK-NOT: gpu.subgroup_id
// CHECK: %[[SIZE:.*]] = arith.constant 64 : index
// CHECK: arith.divui %{{.*}}, %[[SIZE]]
// WAVE32: %[[SIZE:.*]] = arith.constant 32 : index
// WAVE32: arith.divui %{{.*}}, %[[SIZE]]
module attributes {wave.form = "gpu", wave.target = "gfx942"} {
  gpu.module @m {
    gpu.func @k(%a: memref<?xf16, #gpu.address_space<global>>, %M: i32) kernel attributes {
        known_block_size = array<i32: 128, 2, 1>, wave.grid = [#wave.expr<M>, #wave.expr<1>, #wave.expr<1>],
        wave.args = [{kind = "memory", name = "a", dtype = f16, access = "readwrite",
                      shape = [#wave.expr<M>, #wave.expr<M ceildiv 2>]},
                     {kind = "symbol", name = "M"}]} {
      %w = gpu.subgroup_id : index
      %x = memref.load %a[%w] : memref<?xf16, #gpu.address_space<global>>
      memref.store %x, %a[%w] : memref<?xf16, #gpu.address_space<global>>
      gpu.return
    }
  }
}
