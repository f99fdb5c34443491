// RUN: wave-opt %s --split-input-file --wave-coalesce 2>/dev/null | FileCheck %s
// RUN: wave-opt %s --split-input-file --wave-coalesce --verify-diagnostics -o /dev/null

#own = #wave.layout<[M = 16, N = 64], reg = [4 : N * 1, 4 : M * 4], lane = [16 : N * 4, 4 : M * 1]>

// A transposed tile: a lane has no two elements that are neighbours in memory; after an exchange it has 8.
// CHECK-LABEL: @transposed(
// CHECK:         %[[V:.*]] = wave.relayout %{{.*}} : !wave.tile<[M, N], f16, #{{.*}}> -> !wave.tile<[M, N], f16, #[[WIDE:.*]]>
// CHECK:         wave.write %[[V]], %c index [at.N, at.M] : !wave.tile<[M, N], f16, #[[WIDE]]>
module attributes {wave.form = "staged", wave.target = "gfx942"} {
  wave.kernel @transposed(%a: !wave.memory<[M, N], f16, global>, %c: !wave.memory<[N, M], f16, global>)
      symbols {M = 16, N = 64} constraints [#wave.workgroup<M, 16, x>, #wave.workgroup<N, 64, y>, #wave.hardware<threads_per_wave = 64>] {
    %x = wave.read %a index [at.M, at.N] : !wave.memory<[M, N], f16, global> -> !wave.tile<[M, N], f16, #own>
    // expected-remark@+1 {{this write goes in wide stores after an exchange: 512 clocks straight (stores of 16 bits), 448 after an exchange (stores of 128 bits; by way of LDS: 384 clocks (4 stores of 64 bits, 16 loads of 16 bits))}}
    wave.write %x, %c index [at.N, at.M] : !wave.tile<[M, N], f16, #own>, !wave.memory<[N, M], f16, global>
    wave.return
  }
}

// -----

#own = #wave.layout<[M = 16, N = 64], reg = [4 : N * 1, 4 : M * 4], lane = [16 : N * 4, 4 : M * 1]>

// Rows of 15: no store is wider than an element.
// CHECK-LABEL: @odd_rows(
// CHECK-NOT:     wave.relayout
module attributes {wave.form = "staged", wave.target = "gfx942"} {
  wave.kernel @odd_rows(%a: !wave.memory<[M, N], f16, global>, %c: !wave.memory<[N, M], f16, global>)
      symbols {M = 15, N = 64} constraints [#wave.workgroup<M, 16, x>, #wave.workgroup<N, 64, y>, #wave.hardware<threads_per_wave = 64>] {
    %x = wave.read %a index [at.M, at.N] : !wave.memory<[M, N], f16, global> -> !wave.tile<[M, N], f16, #own>
    wave.write %x, %c index [at.N, at.M] : !wave.tile<[M, N], f16, #own>, !wave.memory<[N, M], f16, global>
    wave.return
  }
}

// -----

#own = #wave.layout<[M = 16, N = 64], reg = [4 : N * 1, 4 : M * 4], lane = [16 : N * 4, 4 : M * 1]>

// Waves may disagree on a value: an exchange through LDS would wait for those that do not come.
// CHECK-LABEL: @branch(
// CHECK-NOT:     wave.relayout
module attributes {wave.form = "staged", wave.target = "gfx942"} {
  wave.kernel @branch(%a: !wave.memory<[M, N], f16, global>, %c: !wave.memory<[N, M], f16, global>, %n: i32)
      symbols {M = 16, N = 64} constraints [#wave.workgroup<M, 16, x>, #wave.workgroup<N, 64, y>, #wave.hardware<threads_per_wave = 64>] {
    %x = wave.read %a index [at.M, at.N] : !wave.memory<[M, N], f16, global> -> !wave.tile<[M, N], f16, #own>
    wave.conditional [T gt 0] symbols(T = %n : i32) {
      wave.write %x, %c index [at.N, at.M] : !wave.tile<[M, N], f16, #own>, !wave.memory<[N, M], f16, global>
    }
    wave.return
  }
}
