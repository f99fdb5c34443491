// RUN: wave-opt %s --split-input-file --wave-count-waits | FileCheck %s

// In order: the copy to %l1 may be in flight while %l0 is read. Around the loop the copies of the next trip are issued
// before those of this one are waited for; the two branches of a conditional are one copy or none.
// CHECK-LABEL: @order(
// CHECK:         wave.shared_memory_barrier wait_async {wave.outstanding = 1 : i64}
// CHECK:         wave.shared_memory_barrier wait_async{{$}}
// CHECK:         wave.iterate
// CHECK:           wave.shared_memory_barrier wait_async {wave.outstanding = 2 : i64}
// CHECK:           wave.shared_memory_barrier wait_async {wave.outstanding = 2 : i64}
// CHECK:         wave.shared_memory_barrier wait_async{{$}}
// CHECK:         wave.conditional
// CHECK:         wave.shared_memory_barrier wait_async {wave.outstanding = 1 : i64}
// CHECK:         wave.memory_counter_wait load 0
// CHECK:         wave.shared_memory_barrier wait_async{{$}}
module attributes {wave.form = "lane", wave.target = "gfx950"} {
  wave.kernel @order(%a: !wave.memory<[M], f32, global>, %c: i1) symbols {M = 64, K = 64}
      constraints [#wave.tiling<K, 16>, #wave.hardware<threads_per_wave = 64, waves_per_block = [2, 1, 1]>] {
    %l0 = wave.allocate : !wave.memory<[64], f32, shared>
    %l1 = wave.allocate : !wave.memory<[64], f32, shared>
    wave.gather_to_shared %a [lane] to %l0 [0] elements 1 : !wave.memory<[M], f32, global>, !wave.memory<[64], f32, shared>
    wave.gather_to_shared %a [lane] to %l1 [0] elements 1 : !wave.memory<[M], f32, global>, !wave.memory<[64], f32, shared>
    wave.shared_memory_barrier wait_async
    %0 = wave.read %l0 index [lane] : !wave.memory<[64], f32, shared> -> vector<1xf32>
    wave.shared_memory_barrier wait_async
    %1 = wave.read %l1 index [lane] : !wave.memory<[64], f32, shared> -> vector<1xf32>
    wave.shared_memory_barrier
    wave.gather_to_shared %a [lane] to %l0 [0] elements 1 : !wave.memory<[M], f32, global>, !wave.memory<[64], f32, shared>
    wave.iterate K iv(%k) trips(4) {
      wave.gather_to_shared %a [lane] to %l1 [0] elements 1 : !wave.memory<[M], f32, global>, !wave.memory<[64], f32, shared>
      wave.gather_to_shared %a [lane] to %l1 [0] elements 1 : !wave.memory<[M], f32, global>, !wave.memory<[64], f32, shared>
      wave.shared_memory_barrier wait_async
      %2 = wave.read %l0 index [lane] : !wave.memory<[64], f32, shared> -> vector<1xf32>
      wave.shared_memory_barrier
      wave.gather_to_shared %a [lane] to %l0 [0] elements 1 : !wave.memory<[M], f32, global>, !wave.memory<[64], f32, shared>
      wave.gather_to_shared %a [lane] to %l0 [0] elements 1 : !wave.memory<[M], f32, global>, !wave.memory<[64], f32, shared>
      wave.shared_memory_barrier wait_async
      %3 = wave.read %l1 index [lane] : !wave.memory<[64], f32, shared> -> vector<1xf32>
      wave.shared_memory_barrier
      wave.yield
    }
    wave.shared_memory_barrier wait_async
    wave.gather_to_shared %a [lane] to %l0 [0] elements 1 : !wave.memory<[M], f32, global>, !wave.memory<[64], f32, shared>
    wave.gather_to_shared %a [lane] to %l1 [0] elements 1 : !wave.memory<[M], f32, global>, !wave.memory<[64], f32, shared>
    wave.conditional %c : i1 {
      wave.gather_to_shared %a [lane] to %l1 [0] elements 1 : !wave.memory<[M], f32, global>, !wave.memory<[64], f32, shared>
    }
    wave.shared_memory_barrier wait_async
    %4 = wave.read %l0 index [lane] : !wave.memory<[64], f32, shared> -> vector<1xf32>
    wave.memory_counter_wait load 0
    wave.shared_memory_barrier wait_async
    %5 = wave.read %l1 index [lane] : !wave.memory<[64], f32, shared> -> vector<1xf32>
    wave.return
  }
}
