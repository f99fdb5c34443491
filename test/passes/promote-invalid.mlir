// RUN: wave-opt %s --split-input-file --wave-promote --verify-diagnostics

// A module in another form than the one the pass starts from.
// expected-error@+1 {{wave-promote needs a module in form placed, this one is in form gpu: it is past that form already: start from an earlier form}}
module attributes {wave.form = "gpu", wave.target = "gfx942"} {
}

// -----

// expected-error@+1 {{wave-promote needs a module in form placed, this one is in form typed: run the pipeline 'typed-to-placed' first}}
module attributes {wave.form = "typed", wave.target = "gfx942"} {
}

// -----

// The tiles of one workgroup do not fit LDS; each buffer is named, with the read that it is for.
#rows = #wave.layout<[M = 256, K = 128], reg = [2 : K * 64, 256 : M * 1], lane = [64 : K * 1]>
#half = #wave.layout<[M = 256, K = 64], reg = [256 : M * 1], lane = [64 : K * 1]>
module attributes {wave.form = "placed", wave.target = "gfx942"} {
  // expected-error@+1 {{kernel 'k' needs 98304 bytes of LDS and gfx942 has 65536 a workgroup; use smaller tiles or keep an operand out of shared space}}
  wave.kernel @k(%a: !wave.memory<[M, K], f16, shared>) symbols {M = 256, K = 128}
      constraints [#wave.workgroup<M, 256, x>, #wave.hardware<threads_per_wave = 64>] {
    // expected-note@+1 {{65536 bytes: !wave.memory<[256, 128], f16, shared>}}
    %x = wave.read %a index [at.M, at.K] : !wave.memory<[M, K], f16, shared> -> !wave.tile<[M, K], f16, #rows>
    // expected-note@+1 {{32768 bytes: !wave.memory<[64, 256], f16, shared>}}
    %y = wave.read %a index [at.M, at.K + 64] : !wave.memory<[M, K], f16, shared> -> !wave.tile<[M, K], f16, #half>
    wave.return
  }
}

// -----

// Gathers: of rows by way of LDS, where that takes no longer; of elements never.
#wide = #wave.layout<[T = 64, N = 64], reg = [8 : N * 1, 8 : T * 8], lane = [8 : N * 8, 8 : T * 1]>
#mma = #wave.layout<[T = 64, N = 64], reg = [4 : T * 1, 4 : T * 16, 4 : N * 16], lane = [16 : N * 1, 4 : T * 4]>
#places = #wave.layout<[T = 64], reg = [8 : T * 8], lane = [8 : _, 8 : T * 1]>
#rows = #wave.layout<[T = 64], reg = [4 : T * 1, 4 : T * 16], lane = [16 : _, 4 : T * 4]>
module attributes {wave.form = "placed", wave.target = "gfx942"} {
  wave.kernel @gathers(%a: !wave.memory<[R, N], f16, shared>, %t: !wave.memory<[T], i32, global>)
      symbols {R = 99, T = 64, N = 64} constraints [#wave.workgroup<T, 64, x>, #wave.hardware<threads_per_wave = 64>] {
    %p = wave.read %t index [at.T] : !wave.memory<[T], i32, global> -> !wave.tile<[T], i32, #places>
    // expected-remark@+1 {{this gather goes straight from global memory: 256 clocks straight (loads of 128 bits), 384 by way of LDS (loads of 128 bits)}}
    %x = wave.read %a index [d0, at.N] symbols(d0 = %p : !wave.tile<[T], i32, #places>)
           : !wave.memory<[R, N], f16, shared> -> !wave.tile<[T, N], f16, #wide>
    %q = wave.read %t index [at.T] : !wave.memory<[T], i32, global> -> !wave.tile<[T], i32, #rows>
    // expected-remark@+1 {{this gather goes by way of LDS: 2048 clocks straight (loads of 16 bits), 448 by way of LDS (loads of 128 bits)}}
    %y = wave.read %a index [d0, at.N] symbols(d0 = %q : !wave.tile<[T], i32, #rows>)
           : !wave.memory<[R, N], f16, shared> -> !wave.tile<[T, N], f16, #mma>
    %z = wave.read %a index [at.N, d0] symbols(d0 = %q : !wave.tile<[T], i32, #rows>)
           : !wave.memory<[R, N], f16, shared> -> !wave.tile<[T, N], f16, #mma>
    wave.return
  }
}
