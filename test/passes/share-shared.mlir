// RUN: wave-opt %s --split-input-file --wave-share-shared --wave-place-barriers --wave-pack-shared | FileCheck %s
// RUN: wave-opt %s --split-input-file --wave-share-shared=share=always --wave-place-barriers --wave-pack-shared | FileCheck %s --check-prefix=ALWAYS
// RUN: wave-opt %s --split-input-file --wave-share-shared=share=never | FileCheck %s --check-prefix=NEVER
// RUN: wave-opt %s --split-input-file --wave-share-shared --wave-place-barriers --wave-pack-shared=report=true 2>&1 | FileCheck %s --check-prefix=REPORT

// NEVER-NOT: offset
// REPORT: remark: 24576 bytes of LDS at 0, in common with 1 other; all waves write 512 and read 512 bytes, read 1.0 times

// Two loops, each with a buffer of its own: the second takes the bytes of the first. The barrier that stands at the end of
// each loop's trips for its own buffer is also the one between the two.
// CHECK-LABEL: @loops(
// CHECK-COUNT-2: wave.allocate offset 0 : !wave.memory<[6144], f32, shared>
// CHECK-COUNT-4: wave.shared_memory_barrier
// CHECK-NOT:     wave.shared_memory_barrier
// CHECK:         wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @loops(%a: !wave.memory<[M], f32, global>) symbols {M = 128, K = 128}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant dense<0.0> : vector<1xf32>
    %l = wave.allocate : !wave.memory<[6144], f32, shared>
    %m = wave.allocate : !wave.memory<[6144], f32, shared>
    wave.iterate K iv(%k0) trips(4) {
      wave.write %z, %l index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[6144], f32, shared>
      %r0l = wave.read %l index [127 - wave.x * 64 - lane] : !wave.memory<[6144], f32, shared> -> vector<1xf32>
      wave.yield
    }
    wave.iterate K iv(%k1) trips(4) {
      wave.write %z, %m index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[6144], f32, shared>
      %r1m = wave.read %m index [127 - wave.x * 64 - lane] : !wave.memory<[6144], f32, shared> -> vector<1xf32>
      wave.yield
    }
    wave.return
  }
}

// -----

// Buffers of one loop keep bytes of their own as long as they fit: to share them would take barriers in each trip.
// CHECK-LABEL: @trip(
// CHECK:         wave.allocate offset 0 :
// CHECK:         wave.allocate offset 24576 :
// CHECK-COUNT-2: wave.shared_memory_barrier
// CHECK-NOT:     wave.shared_memory_barrier
// CHECK:         wave.return
// ALWAYS-LABEL: @trip(
// ALWAYS-COUNT-2: wave.allocate offset 0 :
// ALWAYS-COUNT-4: wave.shared_memory_barrier
// ALWAYS-NOT:     wave.shared_memory_barrier
// ALWAYS:         wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @trip(%a: !wave.memory<[M], f32, global>) symbols {M = 128, K = 128}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant dense<0.0> : vector<1xf32>
    %l = wave.allocate : !wave.memory<[6144], f32, shared>
    %m = wave.allocate : !wave.memory<[6144], f32, shared>
    wave.iterate K iv(%k0) trips(4) {
      wave.write %z, %l index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[6144], f32, shared>
      %r0l = wave.read %l index [127 - wave.x * 64 - lane] : !wave.memory<[6144], f32, shared> -> vector<1xf32>
      wave.write %z, %m index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[6144], f32, shared>
      %r0m = wave.read %m index [127 - wave.x * 64 - lane] : !wave.memory<[6144], f32, shared> -> vector<1xf32>
      wave.yield
    }
    wave.return
  }
}

// -----

// Where they do not fit, they share.
// CHECK-LABEL: @too_large(
// CHECK-COUNT-2: wave.allocate offset 0 : !wave.memory<[12288], f32, shared>
// CHECK-COUNT-4: wave.shared_memory_barrier
// CHECK-NOT:     wave.shared_memory_barrier
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @too_large(%a: !wave.memory<[M], f32, global>) symbols {M = 128, K = 128}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant dense<0.0> : vector<1xf32>
    %l = wave.allocate : !wave.memory<[12288], f32, shared>
    %m = wave.allocate : !wave.memory<[12288], f32, shared>
    wave.iterate K iv(%k0) trips(4) {
      wave.write %z, %l index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[12288], f32, shared>
      %r0l = wave.read %l index [127 - wave.x * 64 - lane] : !wave.memory<[12288], f32, shared> -> vector<1xf32>
      wave.write %z, %m index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[12288], f32, shared>
      %r0m = wave.read %m index [127 - wave.x * 64 - lane] : !wave.memory<[12288], f32, shared> -> vector<1xf32>
      wave.yield
    }
    wave.return
  }
}

// -----

// Nothing to gain: as many workgroups as are of use fit anyway.
// CHECK-LABEL: @small(
// CHECK:         wave.allocate offset 0 :
// CHECK:         wave.allocate offset 8192 :
// ALWAYS-LABEL: @small(
// ALWAYS-COUNT-2: wave.allocate offset 0 :
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @small(%a: !wave.memory<[M], f32, global>) symbols {M = 128, K = 128}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant dense<0.0> : vector<1xf32>
    %l = wave.allocate : !wave.memory<[2048], f32, shared>
    %m = wave.allocate : !wave.memory<[2048], f32, shared>
    wave.iterate K iv(%k0) trips(4) {
      wave.write %z, %l index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[2048], f32, shared>
      %r0l = wave.read %l index [127 - wave.x * 64 - lane] : !wave.memory<[2048], f32, shared> -> vector<1xf32>
      wave.yield
    }
    wave.iterate K iv(%k1) trips(4) {
      wave.write %z, %m index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[2048], f32, shared>
      %r1m = wave.read %m index [127 - wave.x * 64 - lane] : !wave.memory<[2048], f32, shared> -> vector<1xf32>
      wave.yield
    }
    wave.return
  }
}

// -----

// What the first loop wrote is read in the second: apart, whatever is asked for.
// ALWAYS-LABEL: @both_needed(
// ALWAYS:         wave.allocate offset 0 :
// ALWAYS:         wave.allocate offset 24576 :
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @both_needed(%a: !wave.memory<[M], f32, global>) symbols {M = 128, K = 128}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant dense<0.0> : vector<1xf32>
    %l = wave.allocate : !wave.memory<[6144], f32, shared>
    %m = wave.allocate : !wave.memory<[6144], f32, shared>
    wave.iterate K iv(%k0) trips(4) {
      wave.write %z, %l index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[6144], f32, shared>
      %r0l = wave.read %l index [127 - wave.x * 64 - lane] : !wave.memory<[6144], f32, shared> -> vector<1xf32>
      wave.yield
    }
    wave.iterate K iv(%k1) trips(4) {
      wave.write %z, %m index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[6144], f32, shared>
      %r1m = wave.read %m index [127 - wave.x * 64 - lane] : !wave.memory<[6144], f32, shared> -> vector<1xf32>
      wave.write %z, %l index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[6144], f32, shared>
      %r1l = wave.read %l index [127 - wave.x * 64 - lane] : !wave.memory<[6144], f32, shared> -> vector<1xf32>
      wave.yield
    }
    wave.return
  }
}
