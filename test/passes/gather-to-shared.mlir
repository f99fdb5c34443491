// RUN: wave-opt %s --split-input-file --wave-gather-to-shared | FileCheck %s
// RUN: wave-opt %s --split-input-file --wave-gather-to-shared=all=false | FileCheck %s --check-prefix=MARKED
// RUN: wave-opt %s --split-input-file --wave-gather-to-shared --wave-swizzle-shared | FileCheck %s --check-prefix=SWIZZLE

// 16 bytes a lane on gfx950: the target is that of the first lane, a mask is one bit a lane. The rows that lie beyond the
// memory are left to its range, the columns are not.
// With exchanged chunks the target stays, and lanes read each other's sources, masks included.
// CHECK-LABEL: @wide(
// CHECK:         %[[L:.*]] = wave.allocate
// CHECK:         %[[M:.*]] = wave.mask [lane mod 8 lt 7] : i1
// CHECK-NOT:     wave.read %a
// CHECK:         wave.gather_to_shared %a [wg.x * 64 + wave.x * 8 + lane floordiv 8, lane mod 8 * 8] to %[[L]] [wave.x * 8, 0] elements 8 mask %[[M]] {
// CHECK-SAME:      wave.base = #wave.expr<wg.x * 6400>, wave.offset = #wave.expr<wave.x * 800 + lane floordiv 8 * 100 + lane mod 8 * 8>
// CHECK-SAME:      wave.range_masked
// CHECK-NOT:     wave.write
// SWIZZLE-LABEL: @wide(
// SWIZZLE-NOT:   wave.mask [lane mod 8 lt 7]
// SWIZZLE:       %[[M:.*]] = wave.mask [lane floordiv 8 xor lane mod 8 lt 7] : i1
// SWIZZLE:       wave.gather_to_shared %a [wg.x * 64 + wave.x * 8 + lane floordiv 8, (lane floordiv 8 xor lane mod 8) * 8] to %{{.*}} [wave.x * 8, 0] elements 8 mask %[[M]]
// SWIZZLE:       wave.read %{{.*}} index [lane mod 16, (lane floordiv 16 xor lane mod 8) * 8]
module attributes {wave.form = "lane", wave.target = "gfx950"} {
  wave.kernel @wide(%a: !wave.memory<[M, K], f16, global>) symbols {M = 99, K = 100}
      constraints [#wave.workgroup<M, 64, x>, #wave.hardware<threads_per_wave = 64, waves_per_block = [2, 1, 1]>] {
    %l = wave.allocate : !wave.memory<[16, 64], f16, shared>
    %m = wave.mask [wg.x * 64 + wave.x * 8 + lane floordiv 8 lt 99 and lane mod 8 * 8 lt 56] : vector<8xi1>
    %v = wave.read %a mask %m index [wg.x * 64 + wave.x * 8 + lane floordiv 8, lane mod 8 * 8] : !wave.memory<[M, K], f16, global> -> vector<8xf16>
    wave.write %v, %l index [wave.x * 8 + lane floordiv 8, lane mod 8 * 8] : vector<8xf16>, !wave.memory<[16, 64], f16, shared>
    %x = wave.read %l index [lane mod 16, lane floordiv 16 * 8] : !wave.memory<[16, 64], f16, shared> -> vector<8xf16>
    wave.return
  }
}

// -----

// 4 bytes a lane on gfx942: four lanes share a chunk and move together.
// CHECK-LABEL: @narrow(
// CHECK:         wave.gather_to_shared %a [lane floordiv 32, lane mod 32 * 2] to %{{.*}} [0, 0] elements 2
// CHECK:         wave.gather_to_shared %a [lane floordiv 32 + 2, lane mod 32 * 2] to %{{.*}} [2, 0] elements 2
// Only what is marked.
// MARKED-NOT:    wave.gather_to_shared
// MARKED-LABEL: @narrow(
// MARKED-COUNT-1: wave.gather_to_shared
// MARKED-NOT:    wave.gather_to_shared
// SWIZZLE-LABEL: @narrow(
// SWIZZLE:       wave.gather_to_shared %a [lane floordiv 32, (lane floordiv 32 * 4 xor lane mod 32) * 2] to %{{.*}} [0, 0] elements 2
// SWIZZLE:       wave.gather_to_shared %a [lane floordiv 32 + 2, (lane floordiv 32 * 4 + 8 xor lane mod 32) * 2] to %{{.*}} [2, 0] elements 2
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @narrow(%a: !wave.memory<[M, K], f16, global>) symbols {M = 16, K = 64}
      constraints [#wave.hardware<threads_per_wave = 64>] {
    %l = wave.allocate : !wave.memory<[16, 64], f16, shared>
    %v = wave.read %a index [lane floordiv 32, lane mod 32 * 2] : !wave.memory<[M, K], f16, global> -> vector<2xf16>
    %w = wave.read %a index [lane floordiv 32 + 2, lane mod 32 * 2] : !wave.memory<[M, K], f16, global> -> vector<2xf16>
    wave.write %v, %l index [lane floordiv 32, lane mod 32 * 2] : vector<2xf16>, !wave.memory<[16, 64], f16, shared>
    wave.write %w, %l index [lane floordiv 32 + 2, lane mod 32 * 2] {wave.direct} : vector<2xf16>, !wave.memory<[16, 64], f16, shared>
    %x = wave.read %l index [lane mod 16, lane floordiv 16 * 8] : !wave.memory<[16, 64], f16, shared> -> vector<8xf16>
    wave.return
  }
}
