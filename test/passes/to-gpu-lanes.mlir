// RUN: wave-opt %s --wave-to-gpu --split-input-file | FileCheck %s

// CHECK-LABEL: gpu.func @k(
// CHECK:         gpu.shuffle xor
// CHECK:         scf.while
// CHECK:           arith.cmpi slt
// CHECK:           scf.condition
// CHECK:         scf.if
// CHECK:           memref.atomic_rmw addf
// CHECK:         memref.atomic_rmw mins
module attributes {wave.form = "scheduled", wave.target = "gfx942"} {
  wave.kernel @k(%x: !wave.memory<[64], f32, global>, %h: !wave.memory<[64], i32, global>, %n: i32) symbols {}
      constraints [#wave.hardware<threads_per_wave = 64>] {
    %a = wave.read %x index [lane] : !wave.memory<[64], f32, global> -> vector<1xf32>
    %b = wave.shuffle xor %a offset 16 width 64 : vector<1xf32>
    %two = arith.constant 2 : index
    %s = wave.iterate B iv(%i) start(%two : index) condition(B lt END) symbols(END = %n : i32)
           iter_args(%v = %b : vector<1xf32>) {
      %next = wave.apply_expr [iv.B + 3] symbols(iv.B = %i : index) : index
      wave.yield %next, %v : index, vector<1xf32>
    }
    %m = wave.mask [lane lt 17] : vector<1xi1>
    wave.atomic add %s, %x mask %m index [lane] : vector<1xf32>, !wave.memory<[64], f32, global>
    %k = wave.read %h index [lane] : !wave.memory<[64], i32, global> -> vector<1xi32>
    wave.atomic min %k, %h index [lane] : vector<1xi32>, !wave.memory<[64], i32, global>
    wave.return
  }
}

// -----

// Four elements of 16 bits travel in two exchanges, as bits.
// CHECK-LABEL: gpu.func @packed(
// CHECK:         vector.bitcast %{{.*}} : vector<4xf16> to vector<2xi32>
// CHECK-COUNT-2: gpu.shuffle xor {{.*}} : i32
// CHECK-NOT:     gpu.shuffle
// CHECK:         vector.bitcast %{{.*}} : vector<2xi32> to vector<4xf16>
module attributes {wave.form = "scheduled", wave.target = "gfx942"} {
  wave.kernel @packed(%x: !wave.memory<[256], f16, global>) symbols {} constraints [#wave.hardware<threads_per_wave = 64>] {
    %a = wave.read %x index [lane * 4] : !wave.memory<[256], f16, global> -> vector<4xf16>
    %b = wave.shuffle xor %a offset 16 width 64 : vector<4xf16>
    wave.write %b, %x index [lane * 4] : vector<4xf16>, !wave.memory<[256], f16, global>
    wave.return
  }
}

// -----

// With a partner that DPP can name a vector move: of four lanes, a half row, a row. Others through the crossbar of LDS.
// CHECK-LABEL: gpu.func @dpp(
// CHECK-NOT:     gpu.shuffle
// CHECK:         rocdl.update.dpp {{.*}} with 177, 15, 15, true : f32
// CHECK:         rocdl.update.dpp {{.*}} with 27, 15, 15, true : f32
// CHECK:         rocdl.update.dpp {{.*}} with 321, 15, 15, true : f32
// CHECK:         rocdl.update.dpp {{.*}} with 296, 15, 15, true : f32
// CHECK:         rocdl.update.dpp {{.*}} with 320, 15, 15, true : f32
// CHECK-NOT:     dpp
// CHECK:         gpu.shuffle xor
module attributes {wave.form = "scheduled", wave.target = "gfx942"} {
  wave.kernel @dpp(%x: !wave.memory<[64], f32, global>) symbols {} constraints [#wave.hardware<threads_per_wave = 64>] {
    %a = wave.read %x index [lane] : !wave.memory<[64], f32, global> -> vector<1xf32>
    %b0 = wave.shuffle xor %a offset 1 width 64 : vector<1xf32>
    %b1 = wave.shuffle xor %b0 offset 3 width 64 : vector<1xf32>
    %b2 = wave.shuffle xor %b1 offset 7 width 64 : vector<1xf32>
    %b3 = wave.shuffle xor %b2 offset 8 width 64 : vector<1xf32>
    %b4 = wave.shuffle xor %b3 offset 15 width 64 : vector<1xf32>
    %b5 = wave.shuffle xor %b4 offset 5 width 64 : vector<1xf32>
    wave.write %b5, %x index [lane] : vector<1xf32>, !wave.memory<[64], f32, global>
    wave.return
  }
}

// -----

// With the neighbouring row a swap of rows, where the target has it.
// CHECK-LABEL: gpu.func @swaps(
// CHECK-NOT:     gpu.shuffle
// CHECK:         rocdl.permlane32.swap
// CHECK:         arith.select
// CHECK:         rocdl.permlane16.swap
// CHECK:         arith.select
// CHECK-NOT:     gpu.shuffle
// CHECK:         gpu.return
module attributes {wave.form = "scheduled", wave.target = "gfx950"} {
  wave.kernel @swaps(%x: !wave.memory<[64], f32, global>) symbols {} constraints [#wave.hardware<threads_per_wave = 64>] {
    %a = wave.read %x index [lane] : !wave.memory<[64], f32, global> -> vector<1xf32>
    %b0 = wave.shuffle xor %a offset 32 width 64 : vector<1xf32>
    %b1 = wave.shuffle xor %b0 offset 16 width 64 : vector<1xf32>
    wave.write %b1, %x index [lane] : vector<1xf32>, !wave.memory<[64], f32, global>
    wave.return
  }
}
