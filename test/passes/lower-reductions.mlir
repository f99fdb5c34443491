// RUN: wave-opt %s --wave-lower-reductions --split-input-file | FileCheck %s

// Two registers of a lane first, then the 16 lanes of a cluster in four steps, then the accumulator, once.
// CHECK-LABEL: @lanes(
// CHECK:         %[[A:.*]] = wave.read %x index [lane, 0]
// CHECK:         %[[B:.*]] = wave.read %x index [lane, 1]
// CHECK:         %[[R:.*]] = arith.addf %[[A]], %[[B]]
// CHECK:         %[[S1:.*]] = wave.shuffle xor %[[R]] offset 1 width 64
// CHECK:         %[[R1:.*]] = arith.addf %[[R]], %[[S1]]
// CHECK:         %[[S2:.*]] = wave.shuffle xor %[[R1]] offset 2 width 64
// CHECK:         %[[R2:.*]] = arith.addf %[[R1]], %[[S2]]
// CHECK:         wave.shuffle xor %[[R2]] offset 4 width 64
// CHECK:         %[[S4:.*]] = wave.shuffle xor %{{.*}} offset 8 width 64
// CHECK:         %[[R4:.*]] = arith.addf %{{.*}}, %[[S4]]
// CHECK-NOT:     shuffle
// CHECK:         arith.addf %{{.*}}, %[[R4]]
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @lanes(%x: !wave.memory<[64, 2], f32, global>) symbols {K = 2}
      constraints [#wave.hardware<threads_per_wave = 64>] {
    %a = wave.read %x index [lane, 0] : !wave.memory<[64, 2], f32, global> -> vector<1xf32>
    %b = wave.read %x index [lane, 1] : !wave.memory<[64, 2], f32, global> -> vector<1xf32>
    %old = arith.constant dense<1.0> : vector<1xf32>
    %s = wave.reduce sum %a, %b along K acc %old {wave.clusters = [array<i64: 16, 1>]}
           : vector<1xf32>, vector<1xf32> -> vector<1xf32>
    wave.write %s, %x index [lane, 0] : vector<1xf32>, !wave.memory<[64, 2], f32, global>
    wave.return
  }
}

// -----

// Waves exchange through LDS: each writes its own, and reads those of both.
// CHECK-LABEL: @waves(
// CHECK:         %[[L:.*]] = wave.allocate : !wave.memory<[2, 64], f32, shared>
// CHECK:         wave.write %{{.*}}, %[[L]] index [wave.x, lane]
// CHECK:         %[[P:.*]] = wave.read %[[L]] index [{{.*}}, lane]
// CHECK:         %[[Q:.*]] = wave.read %[[L]] index [{{.*}}, lane]
// CHECK:         arith.maximumf %[[P]], %[[Q]]
// CHECK-NOT:     wave.reduce
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @waves(%x: !wave.memory<[128], f32, global>) symbols {K = 128, B = 128}
      constraints [#wave.workgroup<K, B, x>, #wave.wave<K, 64>, #wave.hardware<threads_per_wave = 64>] {
    %a = wave.read %x index [wave.x * 64 + lane] : !wave.memory<[128], f32, global> -> vector<1xf32>
    %s = wave.reduce max %a along K block {wave.waves = [array<i64: 0, 2, 1>]} : vector<1xf32> -> vector<1xf32>
    wave.write %s, %x index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[128], f32, global>
    wave.return
  }
}

// -----

// Each element of a lane's vector has its own place in LDS.
// CHECK-LABEL: @wide(
// CHECK:         %[[L:.*]] = wave.allocate : !wave.memory<[2, 256], f32, shared>
// CHECK:         wave.write %{{.*}}, %[[L]] index [wave.x, lane * 4 + el]
// CHECK:         wave.read %[[L]] index [0, lane * 4 + el]
// CHECK:         wave.read %[[L]] index [1, lane * 4 + el]
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @wide(%x: !wave.memory<[512], f32, global>) symbols {K = 512, B = 512}
      constraints [#wave.workgroup<K, B, x>, #wave.wave<K, 256>, #wave.hardware<threads_per_wave = 64>] {
    %a = wave.read %x index [wave.x * 256 + lane * 4 + el] : !wave.memory<[512], f32, global> -> vector<4xf32>
    %s = wave.reduce max %a along K block {wave.waves = [array<i64: 0, 2, 1>]} : vector<4xf32> -> vector<4xf32>
    wave.write %s, %x index [wave.x * 256 + lane * 4 + el] : vector<4xf32>, !wave.memory<[512], f32, global>
    wave.return
  }
}
