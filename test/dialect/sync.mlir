// RUN: wave-opt %s | wave-opt | FileCheck %s
// RUN: wave-opt %s --mlir-print-op-generic | wave-opt | FileCheck %s
// Barriers, waits, scheduling, debugging: print and parse.

// CHECK-LABEL: wave.kernel @sync
wave.kernel @sync() {
  // CHECK: wave.shared_memory_barrier{{$}}
  wave.shared_memory_barrier
  // CHECK: wave.shared_memory_barrier wait_async
  wave.shared_memory_barrier wait_async
  // CHECK: wave.barrier_signal 0{{$}}
  wave.barrier_signal 0
  // CHECK: wave.barrier_signal 1 wait_async
  wave.barrier_signal 1 wait_async
  // CHECK: wave.barrier_wait 0
  wave.barrier_wait 0
  // CHECK: wave.workgroup_barrier
  wave.workgroup_barrier
  // CHECK: wave.wave_fence
  wave.wave_fence
  // CHECK: wave.memory_counter_wait load 4 store 3 ds 0 exp 1
  wave.memory_counter_wait load 4 store 3 ds 0 exp 1
  // CHECK: wave.memory_counter_wait ds 2
  wave.memory_counter_wait ds 2
  // CHECK: wave.set_wave_prio 1
  wave.set_wave_prio 1
  // CHECK: wave.scheduling_barrier{{$}}
  wave.scheduling_barrier
  // CHECK: wave.scheduling_barrier allow [mma, valu]
  wave.scheduling_barrier allow [mma, valu]
  // CHECK: wave.scheduling_group_barrier [mma, shared_read] size 4 group 0
  wave.scheduling_group_barrier [mma, shared_read] size 4 group 0
  %x = wave.register 1.0 : !wave.tile<[M], f32>
  // CHECK: wave.debug_log %{{.*}} "scores" : !wave.tile<[M], f32>
  wave.debug_log %x "scores" : !wave.tile<[M], f32>
}
