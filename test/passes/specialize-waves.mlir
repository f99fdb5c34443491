// RUN: wave-opt %s --split-input-file --wave-specialize-waves=priority=2 | FileCheck %s

// Loop and barriers are in both branches; what only the other waves need is gone, with what the loop carried for them.
// CHECK-LABEL: @copy(
// CHECK:       %[[LDS:.*]] = wave.allocate
// CHECK:       wave.conditional [wave.z eq 0] attributes {wave.specialized} {
// CHECK-NEXT:    wave.set_wave_prio 2
// CHECK-NEXT:    wave.iterate K
// CHECK-NEXT:      wave.shared_memory_barrier
// CHECK-NEXT:      %[[X:.*]] = wave.read %[[LDS]]
// CHECK-NEXT:      arith.addf
// CHECK-NEXT:      wave.shared_memory_barrier
// CHECK-NEXT:      wave.yield
// CHECK:         wave.write {{.*}} %b
// CHECK:       } else {
// CHECK:         wave.iterate K
// CHECK-NEXT:      %[[G:.*]] = wave.read %a
// CHECK-NEXT:      wave.write %[[G]], %[[LDS]]
// CHECK-NEXT:      wave.shared_memory_barrier
// CHECK-NEXT:      wave.shared_memory_barrier
// CHECK-NEXT:      wave.yield
// CHECK-NOT:     wave.write {{.*}} %b
// CHECK-NOT:     wave.only
// CHECK:       wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @copy(%a: !wave.memory<[N, K], f32, global>, %b: !wave.memory<[N], f32, global>)
      symbols {N = 64, K = 8} dynamic []
      constraints [#wave.workgroup<N, 64, x>, #wave.tiling<K, 1>,
                   #wave.hardware<threads_per_wave = 64, vector_shapes = {N = 64, K = 1}, waves_per_block = [1, 1, 2]>] {
    %zero = arith.constant dense<0.0> : vector<1xf32>
    %lds = wave.allocate : !wave.memory<[64], f32, shared>
    %sum = wave.iterate K iv(%k) trips(8) iter_args(%acc = %zero : vector<1xf32>) {
      %g = wave.read %a index [lane, iv.K] symbols(iv.K = %k) {wave.only = #wave.expr<wave.z eq 1>} : !wave.memory<[N, K], f32, global> -> vector<1xf32>
      wave.write %g, %lds index [lane] {wave.only = #wave.expr<wave.z eq 1>} : vector<1xf32>, !wave.memory<[64], f32, shared>
      wave.shared_memory_barrier
      %x = wave.read %lds index [63 - lane] {wave.only = #wave.expr<wave.z eq 0>} : !wave.memory<[64], f32, shared> -> vector<1xf32>
      %y = arith.addf %acc, %x : vector<1xf32>
      wave.shared_memory_barrier
      wave.yield %y : vector<1xf32>
    }
    wave.write %sum, %b index [lane] {wave.only = #wave.expr<wave.z eq 0>} : vector<1xf32>, !wave.memory<[N], f32, global>
    wave.return
  }
}

// -----

// Whether the loop is run is decided alike in both branches; the waves that copy have zeros for the sum.
// CHECK-LABEL: @guarded(
// CHECK:       wave.conditional [wave.z eq 0] attributes {wave.specialized} {
// CHECK:         %[[R:.*]] = wave.conditional [2 le K]
// CHECK:         wave.write %[[R]], %b
// CHECK:       } else {
// CHECK:         wave.conditional [2 le K]
// CHECK:           wave.shared_memory_barrier
// CHECK-NOT:       arith.addf
// CHECK:         }
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @guarded(%a: !wave.memory<[N, K], f32, global>, %b: !wave.memory<[N], f32, global>)
      symbols {N = 64} dynamic [K]
      constraints [#wave.workgroup<N, 64, x>, #wave.tiling<K, 1>,
                   #wave.hardware<threads_per_wave = 64, vector_shapes = {N = 64, K = 1}, waves_per_block = [1, 1, 2]>] {
    %zero = arith.constant dense<0.0> : vector<1xf32>
    %lds = wave.allocate : !wave.memory<[64], f32, shared>
    %sum = wave.conditional [K ge 2] otherwise(%zero) -> (vector<1xf32>) {
      wave.write %zero, %lds index [lane] {wave.only = #wave.expr<wave.z eq 1>} : vector<1xf32>, !wave.memory<[64], f32, shared>
      wave.shared_memory_barrier
      %x = wave.read %lds index [63 - lane] {wave.only = #wave.expr<wave.z eq 0>} : !wave.memory<[64], f32, shared> -> vector<1xf32>
      %y = arith.addf %x, %x : vector<1xf32>
      wave.yield %y : vector<1xf32>
    }
    wave.write %sum, %b index [lane] {wave.only = #wave.expr<wave.z eq 0>} : vector<1xf32>, !wave.memory<[N], f32, global>
    wave.return
  }
}

// -----

// A kernel whose accesses are for all waves stays as it is.
// CHECK-LABEL: @all(
// CHECK-NOT:   wave.conditional
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @all(%a: !wave.memory<[N], f32, global>, %b: !wave.memory<[N], f32, global>) symbols {N = 64} dynamic []
      constraints [#wave.workgroup<N, 64, x>, #wave.hardware<threads_per_wave = 64, vector_shapes = {N = 64}>] {
    %x = wave.read %a index [lane] : !wave.memory<[N], f32, global> -> vector<1xf32>
    wave.write %x, %b index [lane] : vector<1xf32>, !wave.memory<[N], f32, global>
    wave.return
  }
}
