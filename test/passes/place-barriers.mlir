// RUN: wave-opt %s --split-input-file --wave-place-barriers | FileCheck %s

// A loop that fills LDS and reads it needs two barriers a trip: write before read, and read before the next trip's write.
// CHECK-LABEL: @loop(
// CHECK-NOT:   barrier
// CHECK:       wave.iterate
// CHECK-COUNT-2: wave.shared_memory_barrier
// CHECK-NOT:   barrier
// CHECK:       wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @loop(%a: !wave.memory<[256], f32, global>) symbols {M = 128, K = 256}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %l = wave.allocate : !wave.memory<[128], f32, shared>
    %zero = arith.constant dense<0.0> : vector<1xf32>
    %sum = wave.iterate K iv(%k) trips(8) iter_args(%acc = %zero : vector<1xf32>) {
      wave.write %acc, %l index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[128], f32, shared>
      %v = wave.read %l index [127 - wave.x * 64 - lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
      wave.yield %v : vector<1xf32>
    }
    wave.write %sum, %a index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[256], f32, global>
    wave.return
  }
}

// -----

// The user's barrier counts.
// CHECK-LABEL: @given(
// CHECK:       wave.write
// CHECK-NEXT:  wave.shared_memory_barrier
// CHECK-NEXT:  wave.read
// CHECK-NOT:   barrier
// CHECK:       wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @given(%a: !wave.memory<[256], f32, global>) symbols {M = 128}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.hardware<threads_per_wave = 64>] {
    %l = wave.allocate : !wave.memory<[128], f32, shared>
    %zero = arith.constant dense<0.0> : vector<1xf32>
    wave.write %zero, %l index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[128], f32, shared>
    wave.shared_memory_barrier
    %v = wave.read %l index [127 - wave.x * 64 - lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
    wave.write %v, %a index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[256], f32, global>
    wave.return
  }
}

// -----

// One wave: a fence, no barrier.
// CHECK-LABEL: @one_wave(
// CHECK-NOT:   barrier
// CHECK:       wave.write
// CHECK-NEXT:  wave.wave_fence
// CHECK-NEXT:  wave.read
// CHECK-NOT:   barrier
// CHECK:       wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @one_wave(%a: !wave.memory<[256], f32, global>) symbols {M = 64}
      constraints [#wave.workgroup<M, 64, x>, #wave.hardware<threads_per_wave = 64>] {
    %l = wave.allocate : !wave.memory<[64], f32, shared>
    %zero = arith.constant dense<0.0> : vector<1xf32>
    wave.write %zero, %l index [lane] : vector<1xf32>, !wave.memory<[64], f32, shared>
    %v = wave.read %l index [63 - lane] : !wave.memory<[64], f32, shared> -> vector<1xf32>
    wave.write %v, %a index [lane] : vector<1xf32>, !wave.memory<[256], f32, global>
    wave.return
  }
}

// -----

// A conditional that not every wave may enter has no barrier: it stands before the conditional.
// CHECK-LABEL: @conditional(
// CHECK:       wave.write
// CHECK-NEXT:  wave.shared_memory_barrier
// CHECK-NEXT:  wave.conditional
// CHECK-NOT:   barrier
// CHECK:       wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @conditional(%a: !wave.memory<[256], f32, global>) symbols {M = 128}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.hardware<threads_per_wave = 64>] {
    %l = wave.allocate : !wave.memory<[128], f32, shared>
    %zero = arith.constant dense<0.0> : vector<1xf32>
    wave.write %zero, %l index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[128], f32, shared>
    wave.conditional [wave.x eq 0] {
      %v = wave.read %l index [127 - lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
      wave.write %v, %a index [lane] : vector<1xf32>, !wave.memory<[256], f32, global>
      wave.yield
    }
    wave.return
  }
}

// -----

// In a conditional that all waves enter alike a barrier may stand: what %n holds is the same for every lane.
// CHECK-LABEL: @uniform_conditional(
// CHECK:       wave.conditional
// CHECK-NEXT:    wave.write
// CHECK-NEXT:    wave.shared_memory_barrier
// CHECK-NEXT:    wave.read
// CHECK:       wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @uniform_conditional(%n: !wave.memory<[4], i32, global>, %a: !wave.memory<[256], f32, global>) symbols {M = 128}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.hardware<threads_per_wave = 64>] {
    %l = wave.allocate : !wave.memory<[128], f32, shared>
    %zero = arith.constant dense<0.0> : vector<1xf32>
    %length = wave.read %n index [wg.x] : !wave.memory<[4], i32, global> -> vector<1xi32>
    wave.conditional [T gt 0] symbols(T = %length : vector<1xi32>) {
      wave.write %zero, %l index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[128], f32, shared>
      %v = wave.read %l index [127 - wave.x * 64 - lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
      wave.write %v, %a index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[256], f32, global>
      wave.yield
    }
    wave.return
  }
}
