// RUN: wave-opt %s --split-input-file --wave-to-gpu | FileCheck %s

// A signal and its wait are the hardware's: LDS accesses are done before the signal.
// CHECK-LABEL: gpu.func @pair(
// CHECK:         llvm.fence syncscope("wavefront") release
// CHECK-NEXT:    amdgpu.memory_counter_wait ds(0)
// CHECK-NEXT:    rocdl.s.barrier.signal id = -1
// CHECK-NEXT:    arith.mulf
// CHECK-NEXT:    rocdl.s.barrier.wait id = -1
// CHECK-NEXT:    llvm.fence syncscope("wavefront") acquire
// CHECK-NOT:     barrier
module attributes {wave.form = "scheduled", wave.target = "gfx1201"} {
  wave.kernel @pair(%x: f32) symbols {M = 64}
      constraints [#wave.workgroup<M, 64, x>, #wave.wave<M, 32>, #wave.hardware<threads_per_wave = 32>] {
    wave.barrier_signal 0
    %y = arith.mulf %x, %x : f32
    wave.barrier_wait 0
    wave.return
  }
}

// -----

// Two at a time are more than the hardware has, and so is a whole barrier between: whole ones at the waits.
// CHECK-LABEL: gpu.func @two_at_a_time(
// CHECK-NOT:     s.barrier
// CHECK-COUNT-4: amdgpu.lds_barrier
// CHECK-NOT:     barrier
module attributes {wave.form = "scheduled", wave.target = "gfx1201"} {
  wave.kernel @two_at_a_time() symbols {M = 64}
      constraints [#wave.workgroup<M, 64, x>, #wave.wave<M, 32>, #wave.hardware<threads_per_wave = 32>] {
    wave.barrier_signal 0
    wave.barrier_signal 1
    wave.barrier_wait 0
    wave.barrier_wait 1
    wave.barrier_signal 2
    wave.shared_memory_barrier
    wave.barrier_wait 2
    wave.return
  }
}

// -----

// Signalled at the end of a trip and waited for at the start of the next.
// CHECK-LABEL: gpu.func @around(
// CHECK-NOT:     s.barrier
// CHECK-COUNT-2: amdgpu.lds_barrier
// CHECK-NOT:     barrier
module attributes {wave.form = "scheduled", wave.target = "gfx1201"} {
  wave.kernel @around() symbols {M = 64, K = 64}
      constraints [#wave.workgroup<M, 64, x>, #wave.wave<M, 32>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 32>] {
    wave.barrier_signal 0
    wave.iterate K iv(%k) trips(2) {
      wave.barrier_wait 0
      wave.barrier_signal 0
      wave.yield
    }
    wave.barrier_wait 0
    wave.return
  }
}
