// RUN: wave-opt %s --wave-split-accesses --split-input-file | FileCheck %s

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

// -----

// A dynamic value that is a vector has an element for each of the access's: none of them stands for another.
// CHECK-LABEL: @gather(
// CHECK:         %[[I:.*]] = wave.read %idx index [lane * 4]
// CHECK:         %[[D0:.*]] = vector.extract_strided_slice %[[I]] {offsets = [0], sizes = [1]
// CHECK:         wave.read %x index [d0] symbols(d0 = %[[D0]] : vector<1xi32>) : {{.*}} -> vector<1xf32>
// CHECK:         %[[D3:.*]] = vector.extract_strided_slice %[[I]] {offsets = [3], sizes = [1]
// CHECK:         wave.read %x index [d0] symbols(d0 = %[[D3]] : vector<1xi32>) : {{.*}} -> vector<1xf32>
// Atomics go one element at a time.
// CHECK-COUNT-4: wave.atomic add %{{.*}}, %x index [lane * 4{{.*}}] : vector<1xf32>
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @gather(%idx: !wave.memory<[M], i32, global>, %x: !wave.memory<[M], f32, global>) symbols {M = 256}
      constraints [#wave.workgroup<M, 256, x>, #wave.hardware<threads_per_wave = 64>] {
    %i = wave.read %idx index [lane * 4 + el] : !wave.memory<[M], i32, global> -> vector<4xi32>
    %v = wave.read %x index [d0] symbols(d0 = %i : vector<4xi32>) : !wave.memory<[M], f32, global> -> vector<4xf32>
    wave.atomic add %v, %x index [lane * 4 + el] : vector<4xf32>, !wave.memory<[M], f32, global>
    wave.return
  }
}

// -----

// Elements that come from one element of another vector have the same value, so that a run stays whole; the table's
// element is loaded once.
// CHECK-LABEL: @pages(
// CHECK:         %[[T:.*]] = wave.read %idx index [lane]
// CHECK-NOT:     wave.read %idx
// CHECK:         wave.mask [d0 lt 8] symbols(d0 = %{{.*}} : vector<1xi32>) : vector<4xi1>
// CHECK:         wave.read %x mask %{{.*}} index [d0 * 16, lane mod 16 * 4] symbols(d0 = %{{.*}} : vector<1xi32>) : {{.*}} -> vector<4xf32>
// CHECK-NOT:     wave.read %x
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @pages(%idx: !wave.memory<[M], i32, global>, %x: !wave.memory<[M, N], f32, global>)
      symbols {M = 256, N = 64} constraints [#wave.workgroup<M, 256, x>, #wave.hardware<threads_per_wave = 64>] {
    %i = wave.read %idx index [lane + el floordiv 4] : !wave.memory<[M], i32, global> -> vector<4xi32>
    %two = arith.constant dense<2> : vector<4xi32>
    %j = arith.muli %i, %two : vector<4xi32>
    %m = wave.mask [d0 lt 8] symbols(d0 = %j : vector<4xi32>) : vector<4xi1>
    %v = wave.read %x mask %m index [d0 * 16, lane mod 16 * 4 + el] symbols(d0 = %j : vector<4xi32>)
           : !wave.memory<[M, N], f32, global> -> vector<4xf32>
    wave.return
  }
}

// -----

// The same for stores: elements whose positions come from one value, four at a time, make a run; those of two do not.
// CHECK-LABEL: @scatter_in_groups(
// CHECK:         wave.write %{{.*}}, %x index [d0 * 16, lane mod 4 * 4] symbols(d0 = %{{.*}} : vector<1xi32>) : vector<4xf32>
// CHECK:         wave.write %{{.*}}, %x index [d0 * 16, lane mod 4 * 4 + 4] symbols(d0 = %{{.*}} : vector<1xi32>) : vector<4xf32>
// CHECK-NOT:     wave.write
// CHECK:         wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @scatter_in_groups(%p: !wave.memory<[64], i32, global>, %x: !wave.memory<[M, 64], f32, global>)
      symbols {M = 64} constraints [#wave.hardware<threads_per_wave = 64>] {
    %i = wave.read %p index [lane] : !wave.memory<[64], i32, global> -> vector<1xi32>
    %k = wave.read %p index [63 - lane] : !wave.memory<[64], i32, global> -> vector<1xi32>
    %j = vector.shuffle %i, %k [0, 0, 0, 0, 1, 1, 1, 1] : vector<1xi32>, vector<1xi32>
    %v = arith.constant dense<1.0> : vector<8xf32>
    wave.write %v, %x index [d0 * 16, lane mod 4 * 4 + el] symbols(d0 = %j : vector<8xi32>) : vector<8xf32>, !wave.memory<[M, 64], f32, global>
    wave.return
  }
}
