// RUN: wave-opt %s --split-input-file --wave-transpose-reads | FileCheck %s

// Lanes, 16 at a time, along a row, elements down the rows: two reads of 4 rows each. The lane reads 4 elements of row
// lane floordiv 4 of the 16 lanes' block.
// CHECK-LABEL: @k(
// CHECK:         wave.read %{{.*}} index [lane floordiv 16 * 8 + lane floordiv 4 mod 4, lane mod 4 * 4 + el] {wave.transposed_read} : {{.*}} -> vector<4xf16>
// CHECK:         wave.read %{{.*}} index [lane floordiv 16 * 8 + lane floordiv 4 mod 4 + 4, lane mod 4 * 4 + el] {wave.transposed_read}
// 8 bits: 8 rows at once, 2 lanes a row.
// CHECK:         wave.read %{{.*}} index [lane floordiv 2, lane mod 2 * 8 + el] {wave.transposed_read} : {{.*}} -> vector<8xi8>
// Along the row, not down; rows that do not start at 8 bytes; lanes two apart; masked; 32 bits: these stay.
// CHECK-NOT:     wave.transposed_read
// CHECK-COUNT-5: wave.read
// CHECK:         wave.return
module attributes {wave.form = "lane", wave.target = "gfx950"} {
  wave.kernel @k() constraints [#wave.hardware<threads_per_wave = 64>] {
    %a = wave.allocate : !wave.memory<[32, 64], f16, shared>
    %b = wave.allocate : !wave.memory<[32, 64], i8, shared>
    %c = wave.allocate : !wave.memory<[32, 66], f16, shared>
    %d = wave.allocate : !wave.memory<[32, 64], f32, shared>
    %0 = wave.read %a index [lane floordiv 16 * 8 + el, lane mod 16] : !wave.memory<[32, 64], f16, shared> -> vector<8xf16>
    %1 = wave.read %b index [lane floordiv 16 * 8 + el, lane mod 16] : !wave.memory<[32, 64], i8, shared> -> vector<8xi8>
    %2 = wave.read %a index [lane mod 32, lane floordiv 32 * 4 + el] : !wave.memory<[32, 64], f16, shared> -> vector<4xf16>
    %3 = wave.read %c index [lane floordiv 16 * 8 + el, lane mod 16] : !wave.memory<[32, 66], f16, shared> -> vector<4xf16>
    %4 = wave.read %a index [lane floordiv 16 * 8 + el, lane mod 16 * 2] : !wave.memory<[32, 64], f16, shared> -> vector<4xf16>
    %m = wave.mask [lane lt 8] : vector<4xi1>
    %5 = wave.read %a mask %m index [lane floordiv 16 * 8 + el, lane mod 16] : !wave.memory<[32, 64], f16, shared> -> vector<4xf16>
    %6 = wave.read %d index [lane floordiv 16 * 8 + el, lane mod 16] : !wave.memory<[32, 64], f32, shared> -> vector<4xf32>
    wave.return
  }
}

// -----

// A target without such reads, and a conditional that lanes enter differently.
// CHECK-NOT:     wave.transposed_read
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @none() constraints [#wave.hardware<threads_per_wave = 64>] {
    %a = wave.allocate : !wave.memory<[32, 64], f16, shared>
    %0 = wave.read %a index [lane floordiv 16 * 8 + el, lane mod 16] : !wave.memory<[32, 64], f16, shared> -> vector<8xf16>
    wave.return
  }
}

// -----

module attributes {wave.form = "lane", wave.target = "gfx950"} {
  wave.kernel @lanes() constraints [#wave.hardware<threads_per_wave = 64>] {
    %a = wave.allocate : !wave.memory<[32, 64], f16, shared>
    %k = wave.mask [lane lt 8] : i1
    wave.conditional %k : i1 {
      %0 = wave.read %a index [lane floordiv 16 * 8 + el, lane mod 16] : !wave.memory<[32, 64], f16, shared> -> vector<8xf16>
    }
    wave.return
  }
}
