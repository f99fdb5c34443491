// RUN: wave-opt %s --wave-buffer-ops --split-input-file | FileCheck %s

// Workgroup and loop are uniform: the base, of which the loop's part is a scalar offset. The rows' mask is left to the
// descriptor's range, the columns' mask stays.
// CHECK-LABEL: @gemm(
// CHECK-NOT:     wave.mask
// CHECK:         wave.buffer_load %a base [wg.x * 4096 + iv.K * 32] offset [lane * 64 + 8]
// CHECK-SAME:      symbols(iv.K = %{{.*}}) {wave.range_masked, wave.scalar_offset = #wave.expr<iv.K * 32>}
// CHECK-SAME:      vector<8xf16>
// CHECK-NOT:     wave.read %a
// CHECK:         %[[COLUMNS:.*]] = wave.mask [wg.y * 64 + lane mod 16 lt 70] : vector<1xi1>
// CHECK:         wave.buffer_store %{{.*}}, %c base [wg.x * 4480 + wg.y * 64] offset [{{.*}}] mask %[[COLUMNS]] {wave.range_masked}
// CHECK-NOT:     wave.write
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @gemm(%a: !wave.memory<[M, K], f16, global>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 100, K = 64, N = 70} dynamic []
      constraints [#wave.workgroup<M, 64, x>, #wave.workgroup<N, 64, y>, #wave.tiling<K, 32>,
                   #wave.hardware<threads_per_wave = 64>] {
    wave.iterate K iv(%k) trips(2) {
      %m = wave.mask [wg.x * 64 + lane lt 100] : vector<8xi1>
      %v = wave.read %a mask %m index [wg.x * 64 + lane, iv.K * 32 + 8] symbols(iv.K = %k)
             : !wave.memory<[M, K], f16, global> -> vector<8xf16>
      wave.yield
    }
    %z = arith.constant dense<0.0> : vector<1xf32>
    %m = wave.mask [(wg.x * 64 + lane floordiv 16 * 16 lt 100) and (wg.y * 64 + lane mod 16 lt 70)] : vector<1xi1>
    wave.write %z, %c mask %m index [wg.x * 64 + lane floordiv 16 * 16, wg.y * 64 + lane mod 16]
      : vector<1xf32>, !wave.memory<[M, N], f32, global>
    wave.return
  }
}

// -----

// Rows of a length known at run time may take the lanes of a tile beyond 2^31 bytes: a 64-bit address, unless the
// caller promises that they do not.
// CHECK-LABEL: @unknown(
// CHECK:         wave.read %a index
// CHECK-LABEL: @promised(
// CHECK:         wave.buffer_load %a base [wg.x * K * 64] offset [K * (lane floordiv 4) + lane mod 4 * 8]
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @unknown(%a: !wave.memory<[M, K], f16, global>) symbols {M = 128} dynamic [K]
      constraints [#wave.workgroup<M, 64, x>, #wave.hardware<threads_per_wave = 64>] {
    %v = wave.read %a index [wg.x * 64 + lane floordiv 4, lane mod 4 * 8] : !wave.memory<[M, K], f16, global> -> vector<8xf16>
    wave.return
  }
  wave.kernel @promised(%a: !wave.memory<[M, K], f16, global>) symbols {M = 128} dynamic [K]
      constraints [#wave.workgroup<M, 64, x>, #wave.assume<K lt 1000000>, #wave.hardware<threads_per_wave = 64>] {
    %v = wave.read %a index [wg.x * 64 + lane floordiv 4, lane mod 4 * 8] : !wave.memory<[M, K], f16, global> -> vector<8xf16>
    wave.return
  }
}

// -----

// A memory of 4 GiB: one tile's rows are near each other, so the base is 64 bits and the lanes' offsets fit. Where a
// page table says which row, they may be anywhere.
// CHECK-LABEL: @large(
// CHECK:         %[[P:.*]] = wave.buffer_load %table base [0] offset [lane]
// CHECK:         wave.buffer_load %a base [wg.x * 2097152] offset [
// CHECK:         wave.read %a index [d0, lane]
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @large(%a: !wave.memory<[M, K], f16, global>, %table: !wave.memory<[64], i32, global>)
      symbols {M = 65536, K = 32768} dynamic []
      constraints [#wave.workgroup<M, 64, x>, #wave.hardware<threads_per_wave = 64>] {
    %p = wave.read %table index [lane] : !wave.memory<[64], i32, global> -> vector<1xi32>
    %v = wave.read %a index [wg.x * 64 + lane floordiv 4, lane mod 4 * 8] : !wave.memory<[M, K], f16, global> -> vector<8xf16>
    %w = wave.read %a index [d0, lane] symbols(d0 = %p : vector<1xi32>) : !wave.memory<[M, K], f16, global> -> vector<1xf16>
    wave.return
  }
}

// -----

// A coordinate that may be negative is not parted: base and offset are never negative where a lane is not masked. One
// that counts down may be negative before its constant is added, which the instruction does. Flags stay. LDS, atomics, volatile reads
// and run-time strides stay as they are.
// CHECK-LABEL: @others(
// CHECK:         wave.buffer_load %a base [0] offset [wg.x * 64 + lane - 3] mask %{{.*}} nontemporal
// CHECK:         wave.read %a {{.*}} volatile
// CHECK:         wave.write %{{.*}} : vector<1xf32>, !wave.memory<[64], f32, shared>
// CHECK:         wave.atomic
// CHECK:         wave.read %a index
// CHECK:         wave.read %s index
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @others(%a: !wave.memory<[M], f32, global>, %s: !wave.memory<[M, 8], f32, global, strides = [?, 1]>)
      symbols {M = 1000} dynamic []
      constraints [#wave.workgroup<M, 64, x>, #wave.hardware<threads_per_wave = 64>] {
    %l = wave.allocate : !wave.memory<[64], f32, shared>
    %m = wave.mask [(wg.x * 64 + lane - 3 ge 0) and (wg.x * 64 + lane - 3 lt 1000)] : vector<1xi1>
    %v = wave.read %a mask %m index [wg.x * 64 + lane - 3] nontemporal : !wave.memory<[M], f32, global> -> vector<1xf32>
    %f = wave.read %a mask %m index [wg.x * 64 + lane - 3] volatile : !wave.memory<[M], f32, global> -> vector<1xf32>
    wave.write %v, %l index [lane] : vector<1xf32>, !wave.memory<[64], f32, shared>
    wave.atomic add %v, %a index [lane] : vector<1xf32>, !wave.memory<[M], f32, global>
    %d = wave.read %a index [63 - lane] : !wave.memory<[M], f32, global> -> vector<1xf32>
    %w = wave.read %s index [lane, 0] : !wave.memory<[M, 8], f32, global, strides = [?, 1]> -> vector<1xf32>
    wave.return
  }
}

// -----

// A loop along rows of more than 1 GiB. The hardware may add the scalar offset before its range check, so it and the
// lanes' offset have to fit the valid bytes of a descriptor together; else the loop's part is in the descriptor's base.
// CHECK-LABEL: @rows(
// CHECK:         wave.buffer_load %b base [wg.x * 629145600 + iv.K * 512] offset [lane * 8] symbols(iv.K = %{{.*}}) {wave.scalar_offset = #wave.expr<iv.K * 512>}
// CHECK:         wave.buffer_load %b base [iv.K * 512] offset [{{.*}}] symbols(iv.K = %{{[a-z0-9]*}}) :
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @rows(%b: !wave.memory<[M, K], f16, global>) symbols {M = 3, K = 629145600} dynamic []
      constraints [#wave.workgroup<M, 1, x>, #wave.tiling<K, 512>, #wave.hardware<threads_per_wave = 64>] {
    wave.iterate K iv(%k) trips(1228800) {
      %near = wave.read %b index [wg.x, iv.K * 512 + lane * 8] symbols(iv.K = %k)
                : !wave.memory<[M, K], f16, global> -> vector<8xf16>
      %far = wave.read %b index [lane floordiv 32, iv.K * 512 + lane mod 32 * 8] symbols(iv.K = %k)
               : !wave.memory<[M, K], f16, global> -> vector<8xf16>
      wave.yield
    }
    wave.return
  }
}
