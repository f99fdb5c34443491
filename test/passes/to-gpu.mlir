// RUN: wave-opt %s --wave-to-gpu | FileCheck %s

// The attributes of the ABI; a masked load reads at offset 0, a masked store stands under scf.if; nothing of wave is left.
// CHECK:     module attributes {gpu.container_module, wave.form = "gpu"
// CHECK:     gpu.func @k(%[[A:.*]]: memref<?xf32, #gpu.address_space<global>>, %[[C:.*]]: memref<?xf32, #gpu.address_space<global>>, %[[N:.*]]: i32) workgroup(%{{.*}}: memref<256xi8, #gpu.address_space<workgroup>>) kernel
// CHECK-SAME: known_block_size = array<i32: 64, 1, 1>
// CHECK-SAME: wave.args = [{access = "read", dtype = f32, kind = "memory", name = "a", shape = [#wave.expr<N>]}, {access = "write", dtype = f32, kind = "memory", name = "c", shape = [#wave.expr<N>]}, {kind = "symbol", name = "N"}]
// CHECK-SAME: wave.grid = [#wave.expr<N ceildiv 64>, #wave.expr<1>, #wave.expr<1>]
// CHECK-NOT: wave.read
// CHECK:     %[[IN:.*]] = arith.cmpi
// CHECK:     %[[AT:.*]] = arith.select %[[IN]], %{{.*}}, %{{.*}} : index
// CHECK:     %[[RAW:.*]] = vector.load %[[A]][%[[AT]]]
// CHECK:     arith.select %[[IN]], %[[RAW]], %{{.*}} : vector<1xf32>
// CHECK:     amdgpu.lds_barrier
// CHECK:     scf.if %{{.*}} {
// CHECK-NEXT:  vector.store %{{.*}}, %[[C]]
// CHECK:     gpu.return
module attributes {wave.form = "scheduled", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[N], f32, global>, %c: !wave.memory<[N], f32, global>) dynamic [N]
      constraints [#wave.workgroup<N, 64, x>, #wave.hardware<threads_per_wave = 64>] {
    %l = wave.allocate offset 0 : !wave.memory<[64], f32, shared>
    %m = wave.mask [wg.x * 64 + lane lt N] : vector<1xi1>
    %x = wave.read %a mask %m index [wg.x * 64 + lane] : !wave.memory<[N], f32, global> -> vector<1xf32>
    wave.write %x, %l index [lane] : vector<1xf32>, !wave.memory<[64], f32, shared>
    wave.shared_memory_barrier
    %y = wave.read %l index [lane] : !wave.memory<[64], f32, shared> -> vector<1xf32>
    wave.write %y, %c mask %m index [wg.x * 64 + lane] : vector<1xf32>, !wave.memory<[N], f32, global>
    wave.return
  }
}
