// RUN: wave-opt %s --split-input-file --wave-split-barriers | FileCheck %s

// The signal goes up past what is no access to LDS; a barrier right behind the last access stays whole.
// CHECK-LABEL: @work_between(
// CHECK:         wave.write %{{.*}}, %{{.*}} : vector<1xf32>, !wave.memory<[64], f32, shared>
// CHECK-NEXT:    wave.barrier_signal 0
// CHECK-NEXT:    arith.mulf
// CHECK-NEXT:    wave.write %{{.*}}, %c
// CHECK-NEXT:    wave.barrier_wait 0
// CHECK-NEXT:    wave.read %{{.*}} : !wave.memory<[64], f32, shared>
// CHECK-NEXT:    wave.shared_memory_barrier
// CHECK-NEXT:    wave.write
module attributes {wave.form = "lane", wave.target = "gfx1201"} {
  wave.kernel @work_between(%a: !wave.memory<[256], f32, global>, %c: !wave.memory<[256], f32, global>) symbols {M = 64}
      constraints [#wave.workgroup<M, 64, x>, #wave.wave<M, 32>, #wave.hardware<threads_per_wave = 32>] {
    %l = wave.allocate : !wave.memory<[64], f32, shared>
    %x = wave.read %a index [wave.x * 32 + lane] : !wave.memory<[256], f32, global> -> vector<1xf32>
    wave.write %x, %l index [wave.x * 32 + lane] : vector<1xf32>, !wave.memory<[64], f32, shared>
    %z = arith.mulf %x, %x : vector<1xf32>
    wave.write %z, %c index [wave.x * 32 + lane] : vector<1xf32>, !wave.memory<[256], f32, global>
    wave.shared_memory_barrier
    %y = wave.read %l index [63 - wave.x * 32 - lane] : !wave.memory<[64], f32, shared> -> vector<1xf32>
    wave.shared_memory_barrier
    wave.write %y, %l index [wave.x * 32 + lane] : vector<1xf32>, !wave.memory<[64], f32, shared>
    wave.return
  }
}

// -----

// Past nothing that keeps an order, no region and no barrier; another number than the user's. Barriers that order global
// memory stay whole.
// CHECK-LABEL: @kept_order(
// CHECK:         wave.barrier_signal 3
// CHECK-NEXT:    wave.barrier_wait 3
// CHECK-NEXT:    wave.barrier_signal 4
// CHECK-NEXT:    arith.mulf
// CHECK-NEXT:    wave.barrier_wait 4
// CHECK-NEXT:    arith.addf
// CHECK-NEXT:    wave.scheduling_barrier
// CHECK-NEXT:    wave.shared_memory_barrier
// CHECK-NEXT:    arith.subf
// CHECK-NEXT:    wave.shared_memory_barrier {wave.everywhere}
// CHECK-NEXT:    wave.conditional
// CHECK:         }
// CHECK-NEXT:    wave.shared_memory_barrier
module attributes {wave.form = "lane", wave.target = "gfx1201"} {
  wave.kernel @kept_order(%a: !wave.memory<[256], f32, global>) symbols {M = 64}
      constraints [#wave.workgroup<M, 64, x>, #wave.wave<M, 32>, #wave.hardware<threads_per_wave = 32>] {
    %x = wave.read %a index [wave.x * 32 + lane] : !wave.memory<[256], f32, global> -> vector<1xf32>
    wave.barrier_signal 3
    wave.barrier_wait 3
    %z = arith.mulf %x, %x : vector<1xf32>
    wave.shared_memory_barrier
    %s = arith.addf %x, %z : vector<1xf32>
    wave.scheduling_barrier
    wave.shared_memory_barrier
    %d = arith.subf %x, %s : vector<1xf32>
    wave.shared_memory_barrier {wave.everywhere}
    wave.conditional [wg.x lt 2] {
      wave.write %d, %a index [wave.x * 32 + lane] : vector<1xf32>, !wave.memory<[256], f32, global>
      wave.yield
    }
    wave.shared_memory_barrier
    wave.return
  }
}

// -----

// A target without split barriers.
// CHECK-LABEL: @whole(
// CHECK-NOT:     wave.barrier_signal
// CHECK:         wave.shared_memory_barrier
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @whole(%a: !wave.memory<[256], f32, global>) symbols {M = 128}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.hardware<threads_per_wave = 64>] {
    %x = wave.read %a index [wave.x * 64 + lane] : !wave.memory<[256], f32, global> -> vector<1xf32>
    %z = arith.mulf %x, %x : vector<1xf32>
    wave.shared_memory_barrier
    wave.return
  }
}
