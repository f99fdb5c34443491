// RUN: wave-opt %s --split-input-file --wave-peel-loops | FileCheck %s
// RUN: wave-opt %s --split-input-file --wave-peel-loops --wave-bounds --wave-split-accesses --wave-buffer-ops | FileCheck %s --check-prefix=WIDE

// Rows of run-time length: whole, aligned tiles first, without masks and 16 bytes at a time.
// CHECK-LABEL: @rows(
// CHECK:         %[[F:.*]] = wave.iterate K iv(%{{.*}}) trips(select(K mod 8 eq 0 and K lt {{[0-9]+}}, K floordiv 32, 0))
// CHECK-SAME:      attributes {wave.divisible = {K = 8 : i64}, wave.full = {K = 32 : i64}, wave.limits = {K = {{[0-9]+}} : i64}}
// CHECK:           wave.read %a index [lane floordiv 4, iv.K * 32 + lane mod 4 * 8 + el] symbols(iv.K = %iv)
// CHECK:         wave.iterate K iv(%[[N:.*]]) trips(K ceildiv 32 - select({{.*}}, K floordiv 32, 0)) iter_args(%{{.*}} = %[[F]] : vector<8xf16>)
// CHECK-SAME:      attributes {wave.rest}
// CHECK:           %[[K:.*]] = wave.apply_expr [iv.K + select({{.*}}, K floordiv 32, 0)] symbols(iv.K = %[[N]]) : index
// CHECK:           wave.read %a index [lane floordiv 4, iv.K * 32 + lane mod 4 * 8 + el] symbols(iv.K = %[[K]])
// WIDE-LABEL:  @rows(
// WIDE:          wave.full
// WIDE-NOT:      mask
// WIDE:          wave.buffer_load %a base {{.*}} -> vector<8xf16>
// WIDE-NOT:      wave.buffer_load
// WIDE:          wave.rest
// WIDE:          mask
// WIDE:          -> vector<1xf16>
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @rows(%a: !wave.memory<[M, K], f16, global>, %c: !wave.memory<[M, 32], f16, global>) symbols {M = 16} dynamic [K]
      constraints [#wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %zero = arith.constant dense<0.0> : vector<8xf16>
    %r = wave.iterate K iv(%k) trips(K ceildiv 32) iter_args(%s = %zero : vector<8xf16>) {
      %x = wave.read %a index [lane floordiv 4, iv.K * 32 + lane mod 4 * 8 + el] symbols(iv.K = %k) : !wave.memory<[M, K], f16, global> -> vector<8xf16>
      %t = arith.addf %s, %x : vector<8xf16>
      wave.yield %t : vector<8xf16>
    }
    wave.write %r, %c index [lane floordiv 4, lane mod 4 * 8 + el] : vector<8xf16>, !wave.memory<[M, 32], f16, global>
    wave.return
  }
}

// -----

// Trips are known; rows are not.
// CHECK-LABEL: @columns(
// CHECK:         wave.iterate K iv(%{{.*}}) trips(select(N mod 4 eq 0 and N lt {{[0-9]+}}, 2, 0)) attributes {wave.divisible = {N = 4 : i64}, wave.limits
// CHECK:         wave.iterate K iv(%{{.*}}) trips(-select({{.*}}, 2, 0) + 2) attributes {wave.rest}
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @columns(%a: !wave.memory<[K, N], f32, global>, %c: !wave.memory<[K, N], f32, global>) symbols {K = 64} dynamic [N]
      constraints [#wave.tiling<K, 32>, #wave.workgroup<N, 8, x>, #wave.hardware<threads_per_wave = 64>] {
    wave.iterate K iv(%k) trips(2) {
      %x = wave.read %a index [iv.K * 32 + lane floordiv 2, wg.x * 8 + lane mod 2 * 4 + el] symbols(iv.K = %k) : !wave.memory<[K, N], f32, global> -> vector<4xf32>
      wave.write %x, %c index [iv.K * 32 + lane floordiv 2, wg.x * 8 + lane mod 2 * 4 + el] symbols(iv.K = %k) : vector<4xf32>, !wave.memory<[K, N], f32, global>
      wave.yield
    }
    wave.return
  }
}

// -----

// A length that the kernel sets, and sizes that are known: nothing to gain.
// CHECK-LABEL: @others(
// CHECK-COUNT-2: wave.iterate
// CHECK-NOT:     wave.iterate
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @others(%a: !wave.memory<[M, N], f32, global>, %n: i32) symbols {M = 100, N = 64} dynamic [K]
      constraints [#wave.tiling<K, 32>, #wave.tiling<M, 32>, #wave.hardware<threads_per_wave = 64>] {
    wave.iterate M iv(%m) trips(4) {
      %x = wave.read %a index [iv.M * 32 + lane floordiv 2, lane mod 2 * 4 + el] symbols(iv.M = %m) : !wave.memory<[M, N], f32, global> -> vector<4xf32>
      wave.write %x, %a index [iv.M * 32 + lane floordiv 2, lane mod 2 * 4 + el] symbols(iv.M = %m) : vector<4xf32>, !wave.memory<[M, N], f32, global>
      wave.yield
    }
    wave.iterate K iv(%k) trips(K ceildiv 32) symbols(K = %n : i32) {
      %x = wave.read %a index [iv.K, lane mod 2 * 4 + el] symbols(iv.K = %k) : !wave.memory<[M, N], f32, global> -> vector<4xf32>
      wave.write %x, %a index [iv.K, lane mod 2 * 4 + el] symbols(iv.K = %k) : vector<4xf32>, !wave.memory<[M, N], f32, global>
      wave.yield
    }
    wave.return
  }
}
