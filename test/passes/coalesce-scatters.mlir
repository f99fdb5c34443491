// RUN: wave-opt %s --split-input-file --wave-coalesce 2>/dev/null | FileCheck %s
// RUN: wave-opt %s --split-input-file --wave-coalesce --verify-diagnostics -o /dev/null

#own = #wave.layout<[M = 16, N = 64], reg = [16 : M * 1], lane = [64 : N * 1]>
#row = #wave.layout<[M = 16], reg = [16 : M * 1]>

// Rows at positions from a table: a lane has one element of each row; after an exchange it has 8 of two, and 16 narrow
// stores are two of 16 bytes. The positions come in that layout too.
// CHECK-LABEL: @rows(
// CHECK:         %[[T:.*]] = wave.read %t {{.*}} -> !wave.tile<[M], i32, #[[AT:.*]]>
// CHECK:         %[[V:.*]] = wave.relayout %{{.*}} : !wave.tile<[M, N], f16, #{{.*}}> -> !wave.tile<[M, N], f16, #[[WIDE:.*]]>
// CHECK:         wave.write %[[V]], %c index [d0, at.N] symbols(d0 = %[[T]] : !wave.tile<[M], i32, #[[AT]]>) : !wave.tile<[M, N], f16, #[[WIDE]]>
module attributes {wave.form = "staged", wave.target = "gfx942"} {
  wave.kernel @rows(%a: !wave.memory<[M, N], f16, global>, %t: !wave.memory<[M], i32, global>,
                    %c: !wave.memory<[R, N], f16, global>)
      symbols {M = 16, N = 64, R = 40} constraints [#wave.workgroup<M, 16, x>, #wave.workgroup<N, 64, y>, #wave.hardware<threads_per_wave = 64>] {
    %x = wave.read %a index [at.M, at.N] : !wave.memory<[M, N], f16, global> -> !wave.tile<[M, N], f16, #own>
    %p = wave.read %t index [at.M] : !wave.memory<[M], i32, global> -> !wave.tile<[M], i32, #row>
    // expected-remark@+1 {{this scatter goes in wide stores after an exchange: 512 clocks straight (stores of 16 bits), 448 after an exchange (stores of 128 bits; by way of LDS: 384 clocks (16 stores of 16 bits, 2 loads of 128 bits))}}
    wave.write %x, %c index [d0, at.N] symbols(d0 = %p : !wave.tile<[M], i32, #row>) : !wave.tile<[M, N], f16, #own>, !wave.memory<[R, N], f16, global>
    wave.return
  }
}

// -----

#own = #wave.layout<[M = 16, N = 64], reg = [16 : M * 1], lane = [64 : N * 1]>
#row = #wave.layout<[M = 16], reg = [16 : M * 1]>

// Rows of odd length: no wider store is possible.
// CHECK-LABEL: @odd_rows(
// CHECK-NOT:     wave.relayout
module attributes {wave.form = "staged", wave.target = "gfx942"} {
  wave.kernel @odd_rows(%a: !wave.memory<[M, N], f16, global>, %t: !wave.memory<[M], i32, global>,
                        %c: !wave.memory<[R, N], f16, global>)
      symbols {M = 16, N = 61, R = 40} constraints [#wave.workgroup<M, 16, x>, #wave.workgroup<N, 64, y>, #wave.hardware<threads_per_wave = 64>] {
    %x = wave.read %a index [at.M, at.N] : !wave.memory<[M, N], f16, global> -> !wave.tile<[M, N], f16, #own>
    %p = wave.read %t index [at.M] : !wave.memory<[M], i32, global> -> !wave.tile<[M], i32, #row>
    // expected-remark@+1 {{this scatter goes straight to global memory: 512 clocks straight (stores of 16 bits)}}
    wave.write %x, %c index [d0, at.N] symbols(d0 = %p : !wave.tile<[M], i32, #row>) : !wave.tile<[M, N], f16, #own>, !wave.memory<[R, N], f16, global>
    wave.return
  }
}

// -----

#own = #wave.layout<[M = 16, N = 64], reg = [16 : M * 1], lane = [64 : N * 1]>

// Elements at positions of their own: no scatter of rows.
// CHECK-LABEL: @elements(
// CHECK-NOT:     wave.relayout
module attributes {wave.form = "staged", wave.target = "gfx942"} {
  wave.kernel @elements(%a: !wave.memory<[M, N], f16, global>, %t: !wave.memory<[M, N], i32, global>,
                        %c: !wave.memory<[M, R], f16, global>)
      symbols {M = 16, N = 64, R = 128} constraints [#wave.workgroup<M, 16, x>, #wave.workgroup<N, 64, y>, #wave.hardware<threads_per_wave = 64>] {
    %x = wave.read %a index [at.M, at.N] : !wave.memory<[M, N], f16, global> -> !wave.tile<[M, N], f16, #own>
    %p = wave.read %t index [at.M, at.N] : !wave.memory<[M, N], i32, global> -> !wave.tile<[M, N], i32, #own>
    wave.write %x, %c index [at.M, d0] symbols(d0 = %p : !wave.tile<[M, N], i32, #own>) : !wave.tile<[M, N], f16, #own>, !wave.memory<[M, R], f16, global>
    wave.return
  }
}
