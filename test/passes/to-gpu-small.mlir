// RUN: wave-opt %s --wave-to-gpu | FileCheck %s

// A memory of fewer elements than a masked load reads has no place that a masked lane could read: a branch. Where no
// element is ever inside, nothing is read.
// CHECK:       gpu.func @small
// CHECK:       %[[V:.*]] = scf.if %{{.*}} -> (vector<4xf32>) {
// CHECK-NEXT:    vector.load
// CHECK:       } else {
// CHECK-NOT:   vector.load
// CHECK:       gpu.return
module attributes {wave.form = "scheduled", wave.target = "gfx942"} {
  wave.kernel @small(%a: !wave.memory<[N], f32, global>, %c: !wave.memory<[256], f32, global>) dynamic [N]
      constraints [#wave.workgroup<N, 256, x>, #wave.hardware<threads_per_wave = 64>] {
    %m = wave.mask [lane lt N] : vector<4xi1>
    %x = wave.read %a mask %m index [lane * 4] : !wave.memory<[N], f32, global> -> vector<4xf32>
    wave.write %x, %c index [lane * 4] : vector<4xf32>, !wave.memory<[256], f32, global>
    %never = wave.mask [0] : vector<4xi1>
    %y = wave.read %a mask %never index [lane * 4] : !wave.memory<[N], f32, global> -> vector<4xf32>
    wave.write %y, %c mask %never index [lane * 4] : vector<4xf32>, !wave.memory<[256], f32, global>
    wave.return
  }
}
