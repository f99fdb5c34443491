// RUN: wave-opt %s --wave-bounds | FileCheck %s

// What is proven for every workgroup, wave, lane, trip and element has no mask; the rest has the conditions that are
// not proven, and keeps the mask it has.
// CHECK-LABEL: @k(
// CHECK-NOT:   wave.mask
// CHECK:       %[[V:.*]] = wave.read %a index [wg.x * 64 + lane, el] :
// CHECK-NEXT:  %[[END:.*]] = wave.mask [wg.x * 64 + lane {{.*}}lt {{.*}}] : vector<4xi1>
// CHECK-NEXT:  wave.write %[[V]], %b mask %[[END]] index [wg.x * 64 + lane, el] :
// CHECK-NEXT:  %[[START:.*]] = wave.mask [1 le wg.x * 64 + lane] : vector<4xi1>
// CHECK-NEXT:  wave.read %a mask %[[START]] index [wg.x * 64 + lane - 1, el]
// CHECK-NEXT:  %[[GIVEN:.*]] = wave.mask [lane lt 7] : vector<4xi1>
// CHECK:       %[[JOINED:.*]] = wave.mask [{{.*}}lane lt 7{{.*}}] : vector<4xi1>
// CHECK-NEXT:  wave.write %[[V]], %b mask %[[JOINED]]
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M, 4], f16, global>, %b: !wave.memory<[L, 4], f16, global>)
      symbols {M = 128, L = 100}
      constraints [#wave.workgroup<M, 64, x>, #wave.hardware<threads_per_wave = 64>] {
    %v = wave.read %a index [wg.x * 64 + lane, el] : !wave.memory<[M, 4], f16, global> -> vector<4xf16>
    wave.write %v, %b index [wg.x * 64 + lane, el] : vector<4xf16>, !wave.memory<[L, 4], f16, global>
    %w = wave.read %a index [wg.x * 64 + lane - 1, el] : !wave.memory<[M, 4], f16, global> -> vector<4xf16>
    %m = wave.mask [lane lt 7] : vector<4xi1>
    wave.write %v, %b mask %m index [wg.x * 64 + lane, el] : vector<4xf16>, !wave.memory<[L, 4], f16, global>
    wave.return
  }
}
