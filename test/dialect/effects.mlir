// RUN: wave-opt %s --split-input-file --cse --canonicalize | FileCheck %s
// What generic passes may remove or merge, and what not.

module attributes {wave.form = "tile"} {
  // CHECK-LABEL: wave.kernel @tile
  wave.kernel @tile(%a: !wave.memory<[T], f32, global>, %n: i32, %m: i32) {
    // T is redefined between the two: they are two sizes.
    // CHECK: wave.set_symbol T
    wave.set_symbol T = %n : i32
    // CHECK: wave.apply_expr [T + 1]
    %0 = wave.apply_expr [T + 1] : index
    %1 = wave.apply_expr [T + 1] : index
    wave.debug_log %0 "first" : index
    wave.debug_log %1 "first again" : index
    %x = wave.register 1.0 : !wave.tile<[T], f32>
    // CHECK: wave.reduce
    %s = wave.reduce sum %x along T : !wave.tile<[T], f32> -> !wave.tile<[], f32>
    wave.debug_log %s "sum" : !wave.tile<[], f32>
    // CHECK: wave.set_symbol T
    wave.set_symbol T = %m : i32
    // CHECK: wave.apply_expr [T + 1]
    %2 = wave.apply_expr [T + 1] : index
    wave.debug_log %2 "second" : index
    // CHECK: wave.reduce
    %r = wave.reduce sum %x along T : !wave.tile<[T], f32> -> !wave.tile<[], f32>
    wave.debug_log %r "sum" : !wave.tile<[], f32>
    // Unused: gone.
    // CHECK-NOT: wave.apply_expr
    %3 = wave.apply_expr [T + 3] : index
  }
}

// -----

module attributes {wave.form = "lane"} {
  // CHECK-LABEL: wave.kernel @lane
  wave.kernel @lane(%a: !wave.memory<[M], f32, global>) {
    %n = wave.scalar [M] : index
    // From typed form on a symbol has one meaning: one of these is enough, across anything.
    // CHECK-COUNT-1: wave.apply_expr [T + 1]
    %0 = wave.apply_expr [T + 1] symbols(T = %n) : index
    wave.debug_log %0 "a" : index
    %1 = wave.apply_expr [T + 1] symbols(T = %n) : index
    // CHECK-NOT: wave.apply_expr
    wave.debug_log %1 "b" : index
    // CHECK: wave.allocate
    %l = wave.allocate : !wave.memory<[64], f32, shared>
    // Two reads of the same place with nothing between are one.
    // CHECK: wave.read %{{.*}} index [lane] :
    // CHECK-NOT: wave.read
    %x = wave.read %l index [lane] : !wave.memory<[64], f32, shared> -> vector<1xf32>
    %y = wave.read %l index [lane] : !wave.memory<[64], f32, shared> -> vector<1xf32>
    wave.write %x, %a index [lane] : vector<1xf32>, !wave.memory<[M], f32, global>
    wave.write %y, %a index [lane + 64] : vector<1xf32>, !wave.memory<[M], f32, global>
    // A barrier or fence between them keeps both.
    // CHECK: wave.shared_memory_barrier
    wave.shared_memory_barrier
    // CHECK: %[[A:.*]] = wave.read
    %z = wave.read %l index [lane] : !wave.memory<[64], f32, shared> -> vector<1xf32>
    // CHECK: wave.wave_fence
    wave.wave_fence
    // CHECK: %[[B:.*]] = wave.read
    %w = wave.read %l index [lane] : !wave.memory<[64], f32, shared> -> vector<1xf32>
    // CHECK: wave.add %[[A]], %[[B]]
    %s = wave.add %z, %w : vector<1xf32>
    wave.write %s, %a index [lane] : vector<1xf32>, !wave.memory<[M], f32, global>
    // An unused read goes, a volatile one stays.
    // CHECK-NOT: wave.read
    // CHECK: wave.read %a index [lane] volatile
    // CHECK-NOT: wave.read
    %u = wave.read %a index [lane + 1] : !wave.memory<[M], f32, global> -> vector<1xf32>
    %v = wave.read %a index [lane] volatile : !wave.memory<[M], f32, global> -> vector<1xf32>
    // These all stay.
    // CHECK: wave.atomic
    // CHECK: wave.barrier_signal
    // CHECK: wave.barrier_wait
    // CHECK: wave.workgroup_barrier
    // CHECK: wave.memory_counter_wait
    // CHECK: wave.set_wave_prio
    // CHECK: wave.scheduling_barrier
    // CHECK: wave.scheduling_group_barrier
    // CHECK: wave.bounds_check
    // CHECK: wave.gather_to_shared
    wave.atomic add %s, %a index [lane] : vector<1xf32>, !wave.memory<[M], f32, global>
    wave.barrier_signal 0
    wave.barrier_wait 0
    wave.workgroup_barrier
    wave.memory_counter_wait ds 0
    wave.set_wave_prio 1
    wave.scheduling_barrier
    wave.scheduling_group_barrier [mma] size 1 group 0
    wave.bounds_check %a index [lane] : !wave.memory<[M], f32, global>
    wave.gather_to_shared %a [lane] to %l [0] elements 1 : !wave.memory<[M], f32, global>, !wave.memory<[64], f32, shared>
    // A loop and a conditional without effects go with their bodies.
    // CHECK-NOT: wave.iterate
    // CHECK-NOT: wave.conditional
    %r = wave.iterate K iv(%k) trips(4) iter_args(%c = %s : vector<1xf32>) {
      %d = wave.add %c, %c : vector<1xf32>
      wave.yield %d : vector<1xf32>
    }
    wave.conditional [M gt 0] {
      %d = wave.add %s, %s : vector<1xf32>
    }
    // CHECK: wave.return
  }
}
