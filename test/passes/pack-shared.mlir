// RUN: wave-opt %s --split-input-file --wave-pack-shared | FileCheck %s

// One after the other, each at a multiple of 16 bytes: 35 f16 take 70.
// CHECK: wave.allocate offset 0 : !wave.memory<[5, 7], f16, shared>
// CHECK: wave.allocate offset 80 : !wave.memory<[1], f32, shared>
// CHECK: wave.allocate offset 96 : !wave.memory<[64], f16, shared>
// CHECK-NOT: wave.allocate :
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M], f16, global>) symbols {M = 64}
      constraints [#wave.workgroup<M, 64, x>, #wave.hardware<threads_per_wave = 64>] {
    %0 = wave.allocate : !wave.memory<[5, 7], f16, shared>
    %1 = wave.allocate : !wave.memory<[1], f32, shared>
    %2 = wave.allocate : !wave.memory<[64], f16, shared>
    wave.return
  }
}

// -----

// Places that are there stay; the others follow them.
// CHECK-LABEL: @kept(
// CHECK-NEXT: wave.allocate offset 32 : !wave.memory<[64], f16, shared>
// CHECK-NEXT: wave.allocate offset 160 : !wave.memory<[5, 7], f16, shared>
// CHECK-NEXT: wave.allocate offset 64 : !wave.memory<[32], f16, shared>
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @kept(%a: !wave.memory<[M], f16, global>) symbols {M = 64}
      constraints [#wave.workgroup<M, 64, x>, #wave.hardware<threads_per_wave = 64>] {
    %0 = wave.allocate offset 32 : !wave.memory<[64], f16, shared>
    %1 = wave.allocate : !wave.memory<[5, 7], f16, shared>
    %2 = wave.allocate offset 64 : !wave.memory<[32], f16, shared>
    wave.return
  }
}
