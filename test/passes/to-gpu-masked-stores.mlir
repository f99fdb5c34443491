// RUN: wave-opt %s --split-input-file --wave-to-gpu | FileCheck %s

// Stores with one condition, with nothing but arithmetic between them: one branch.
// CHECK-LABEL: gpu.func @one_condition(
// CHECK:         scf.if
// CHECK-NEXT:      vector.store {{.*$}}
// CHECK-NEXT:      vector.store {{.*$}}
// CHECK-NEXT:    {{^ *[}]$}}
// CHECK-NOT:     scf.if
// CHECK-NOT:     wave.masked_store
module attributes {wave.form = "scheduled", wave.target = "gfx942"} {
  wave.kernel @one_condition(%c: !wave.memory<[256], f32, global>) symbols {}
      constraints [#wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant dense<0.0> : vector<1xf32>
    %m = wave.mask [lane lt 17] : vector<1xi1>
    wave.write %z, %c mask %m index [lane] : vector<1xf32>, !wave.memory<[256], f32, global>
    %y = arith.addf %z, %z : vector<1xf32>
    wave.write %y, %c mask %m index [lane + 64] : vector<1xf32>, !wave.memory<[256], f32, global>
    wave.return
  }
}

// -----

// At an edge: one branch where all conditions hold, one for each where they do not.
// CHECK-LABEL: gpu.func @edge(
// CHECK:         %[[ALL:.*]] = arith.andi
// CHECK-NEXT:    scf.if %[[ALL]] {
// CHECK-NEXT:      vector.store {{.*$}}
// CHECK-NEXT:      vector.store {{.*$}}
// CHECK-NEXT:    } else {
// CHECK-NEXT:      scf.if
// CHECK-NEXT:        vector.store {{.*$}}
// CHECK-NEXT:      {{^ *[}]$}}
// CHECK-NEXT:      scf.if
// CHECK-NEXT:        vector.store {{.*$}}
// CHECK-NEXT:      {{^ *[}]$}}
// CHECK-NEXT:    {{^ *[}]$}}
// CHECK-NOT:     scf.if
module attributes {wave.form = "scheduled", wave.target = "gfx942"} {
  wave.kernel @edge(%c: !wave.memory<[M], f32, global>) symbols {} dynamic [M]
      constraints [#wave.workgroup<M, 128, x>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant dense<0.0> : vector<1xf32>
    %m = wave.mask [wg.x * 128 + lane lt M] : vector<1xi1>
    %n = wave.mask [wg.x * 128 + lane + 64 lt M] : vector<1xi1>
    wave.write %z, %c mask %m index [wg.x * 128 + lane] : vector<1xf32>, !wave.memory<[M], f32, global>
    wave.write %z, %c mask %n index [wg.x * 128 + lane + 64] : vector<1xf32>, !wave.memory<[M], f32, global>
    wave.return
  }
}

// -----

// Conditions that part the lanes of each wave: all of them together would seldom hold.
// CHECK-LABEL: gpu.func @lanes(
// CHECK:         scf.if
// CHECK-NEXT:      vector.store {{.*$}}
// CHECK-NEXT:    {{^ *[}]$}}
// CHECK:         scf.if
// CHECK-NEXT:      vector.store {{.*$}}
// CHECK-NEXT:    {{^ *[}]$}}
// CHECK-NOT:     scf.if
module attributes {wave.form = "scheduled", wave.target = "gfx942"} {
  wave.kernel @lanes(%c: !wave.memory<[256], f32, global>) symbols {}
      constraints [#wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant dense<0.0> : vector<1xf32>
    %m = wave.mask [lane lt 17] : vector<1xi1>
    %n = wave.mask [lane ge 40] : vector<1xi1>
    wave.write %z, %c mask %m index [lane] : vector<1xf32>, !wave.memory<[256], f32, global>
    wave.write %z, %c mask %n index [lane + 64] : vector<1xf32>, !wave.memory<[256], f32, global>
    wave.return
  }
}

// -----

// A load between them may read what the first stores.
// CHECK-LABEL: gpu.func @load_between(
// CHECK:         scf.if
// CHECK-NEXT:      vector.store {{.*$}}
// CHECK-NEXT:    {{^ *[}]$}}
// CHECK:         vector.load
// CHECK:         scf.if
// CHECK-NEXT:      vector.store {{.*$}}
// CHECK-NEXT:    {{^ *[}]$}}
module attributes {wave.form = "scheduled", wave.target = "gfx942"} {
  wave.kernel @load_between(%c: !wave.memory<[256], f32, global>) symbols {}
      constraints [#wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant dense<0.0> : vector<1xf32>
    %m = wave.mask [lane lt 17] : vector<1xi1>
    wave.write %z, %c mask %m index [lane] : vector<1xf32>, !wave.memory<[256], f32, global>
    %y = wave.read %c index [lane] : !wave.memory<[256], f32, global> -> vector<1xf32>
    wave.write %y, %c mask %m index [lane + 64] : vector<1xf32>, !wave.memory<[256], f32, global>
    wave.return
  }
}
