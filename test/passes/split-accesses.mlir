// RUN: wave-opt %s --wave-split-accesses | FileCheck %s

// Rows of 17 f16: a dword at an odd element is not aligned, so elements go one by one. Rows of 100: aligned to 8 bytes,
// eight elements go as two fours of LDS and as one access of global memory, which needs a dword only. A mask that
// changes inside an access cuts it.
// CHECK-LABEL: @k(
// CHECK-COUNT-4: wave.read %odd index [lane, {{[0-3]}}] : {{.*}} -> vector<1xf16>
// CHECK-NOT:   wave.read %odd
// CHECK:       vector.from_elements
// CHECK:       wave.read %even index [lane, 0] : {{.*}} -> vector<8xf16>
// CHECK-NOT:   wave.read %even
// CHECK:       wave.write %{{.*}}, %{{.*}} index [lane, 0] : vector<4xf16>, !wave.memory<[64, 100], f16, shared>
// CHECK:       wave.write %{{.*}}, %{{.*}} index [lane, 4] : vector<4xf16>, !wave.memory<[64, 100], f16, shared>
// CHECK-NOT:   shared
// CHECK:       wave.write %{{.*}}, %even mask %{{.*}} index [lane, 0] : vector<2xf16>
// CHECK:       wave.write %{{.*}}, %even mask %{{.*}} index [lane, 2] : vector<2xf16>
// CHECK-NOT:   {{[^a-z]}}el{{[^a-z]}}
// CHECK:       wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%odd: !wave.memory<[M, 17], f16, global>, %even: !wave.memory<[M, 100], f16, global>) symbols {M = 64}
      dynamic [T]
      constraints [#wave.workgroup<M, 64, x>, #wave.hardware<threads_per_wave = 64>] {
    %l = wave.allocate : !wave.memory<[64, 100], f16, shared>
    %v = wave.read %odd index [lane, el] : !wave.memory<[M, 17], f16, global> -> vector<4xf16>
    %w = wave.read %even index [lane, el] : !wave.memory<[M, 100], f16, global> -> vector<8xf16>
    wave.write %w, %l index [lane, el] : vector<8xf16>, !wave.memory<[64, 100], f16, shared>
    %m = wave.mask [el lt T * 2] : vector<4xi1>
    wave.write %v, %even mask %m index [lane, el] : vector<4xf16>, !wave.memory<[M, 100], f16, global>
    wave.return
  }
}
