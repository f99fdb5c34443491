// RUN: wave-opt %s --wave-prepare-rocdl=target=gfx942 | FileCheck %s
// CHECK: gpu.func @k(%[[A:.*]]: memref<1xf32, #gpu.address_space<global>>)
// CHECK-NOT: gpu.subgroup_id
// CHECK: memref.reinterpret_cast %[[A]]
module attributes {wave.form = "gpu", wave.target = "gfx942", gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%a: memref<?xf32, #gpu.address_space<global>>) kernel attributes {
        known_block_size = array<i32: 128, 1, 1>, wave.grid = [#wave.expr<1>, #wave.expr<1>, #wave.expr<1>],
        wave.symbols = {}, wave.args = [{kind = "memory", name = "a", dtype = f32, shape = [#wave.expr<64>],
                                         access = "readwrite"}]} {
      %0 = gpu.subgroup_id : index
      %1 = memref.load %a[%0] : memref<?xf32, #gpu.address_space<global>>
      memref.store %1, %a[%0] : memref<?xf32, #gpu.address_space<global>>
      gpu.return
    }
  }
}
