// RUN: wave-opt %s --wave-swizzle-shared --split-input-file | FileCheck %s

// Rows of 128 bytes, all of whose chunks are in the same banks: chunk c of row r goes to c xor r mod 8, in the write
// and in the reads, and no access has a conflict. Contiguous accesses are left alone, and so is a buffer of rows that
// no read crosses.
// CHECK-LABEL: @k(
// CHECK:         %[[A:.*]] = wave.allocate {wave.lds_conflicts = 1 : i64} : !wave.memory<[64, 64], f16, shared>
// CHECK:         %[[B:.*]] = wave.allocate {wave.lds_conflicts = 1 : i64} : !wave.memory<[8, 64], f16, shared>
// CHECK:         wave.write %{{.*}}, %[[A]] index [lane floordiv 8 + 8, (lane floordiv 8 xor lane mod 8) * 8]
// CHECK:         wave.read %[[A]] index [lane mod 16 + 16, (lane floordiv 16 xor lane mod 8) * 8]
// CHECK:         wave.write %{{.*}}, %[[B]] index [lane floordiv 8, lane mod 8 * 8]
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k() symbols {} dynamic [] constraints [#wave.hardware<threads_per_wave = 64>] {
    %a = wave.allocate : !wave.memory<[64, 64], f16, shared>
    %b = wave.allocate : !wave.memory<[8, 64], f16, shared>
    %z = arith.constant dense<0.0> : vector<8xf16>
    wave.write %z, %a index [lane floordiv 8 + 8, lane mod 8 * 8] : vector<8xf16>, !wave.memory<[64, 64], f16, shared>
    %x = wave.read %a index [lane mod 16 + 16, lane floordiv 16 * 8] : !wave.memory<[64, 64], f16, shared> -> vector<8xf16>
    wave.write %z, %b index [lane floordiv 8, lane mod 8 * 8] : vector<8xf16>, !wave.memory<[8, 64], f16, shared>
    wave.return
  }
}

// -----

// Rows of 64 bytes: four chunks. Rows of 7 chunks are padded by 3 (by one they would be as bad as they are); of 12 chunks, which XOR of eight rows does not
// keep inside, groups of four change places.
// CHECK-LABEL: @rows(
// CHECK:         wave.allocate {wave.lds_conflicts = 1 : i64} : !wave.memory<[64, 32], f16, shared>
// CHECK:         wave.read %{{.*}} index [lane mod 16, (lane floordiv 16 xor lane mod 4) * 8]
// CHECK:         wave.allocate {wave.lds_conflicts = 1 : i64} : !wave.memory<[64, 56], f16, shared, strides = [80, 1]>
// CHECK:         wave.read %{{.*}} index [lane mod 16, lane floordiv 16 * 8] : !wave.memory<[64, 56], f16, shared, strides = [80, 1]>
// CHECK:         wave.read %{{.*}} index [lane mod 16, (lane floordiv 16 xor {{.*}}) * 8] : !wave.memory<[64, 96]
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @rows() symbols {} dynamic [] constraints [#wave.hardware<threads_per_wave = 64>] {
    %a = wave.allocate : !wave.memory<[64, 32], f16, shared>
    %x = wave.read %a index [lane mod 16, lane floordiv 16 * 8] : !wave.memory<[64, 32], f16, shared> -> vector<8xf16>
    %b = wave.allocate : !wave.memory<[64, 56], f16, shared>
    %c = wave.allocate : !wave.memory<[64, 96], f16, shared>
    %y = wave.read %b index [lane mod 16, lane floordiv 16 * 8] : !wave.memory<[64, 56], f16, shared> -> vector<8xf16>
    %z = wave.read %c index [lane mod 16, lane floordiv 16 * 8] : !wave.memory<[64, 96], f16, shared> -> vector<8xf16>
    wave.return
  }
}

// -----

// An access that may lie across two chunks, an atomic, one dim: these buffers keep their places.
// CHECK-LABEL: @kept(
// CHECK-NOT:     xor
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @kept() symbols {} dynamic [] constraints [#wave.hardware<threads_per_wave = 64>] {
    %a = wave.allocate : !wave.memory<[64, 64], f16, shared>
    %b = wave.allocate : !wave.memory<[64, 64], f32, shared>
    %c = wave.allocate : !wave.memory<[4096], f16, shared>
    %x = wave.read %a index [lane, lane mod 16 * 2 + 6] : !wave.memory<[64, 64], f16, shared> -> vector<4xf16>
    %o = arith.constant dense<1.0> : vector<1xf32>
    wave.atomic add %o, %b index [lane, 0] : vector<1xf32>, !wave.memory<[64, 64], f32, shared>
    %y = wave.read %c index [lane * 64] : !wave.memory<[4096], f16, shared> -> vector<8xf16>
    wave.return
  }
}

// -----

// Rows of 64 bytes, of which a read takes every other one: two rows count as one, of eight chunks, which go to both rows.
// CHECK-LABEL: @folded(
// CHECK:         wave.allocate {wave.lds_conflicts = 1 : i64}
// CHECK:         wave.read %{{.*}} index [lane mod 16 * 2 + lane floordiv 4 mod 2, (lane floordiv 16 xor lane mod 4) * 8]
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @folded() symbols {} dynamic [] constraints [#wave.hardware<threads_per_wave = 64>] {
    %a = wave.allocate : !wave.memory<[64, 32], f16, shared>
    %x = wave.read %a index [lane mod 16 * 2, lane floordiv 16 * 8] : !wave.memory<[64, 32], f16, shared> -> vector<8xf16>
    wave.return
  }
}
