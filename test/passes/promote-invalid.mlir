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
    // expected-note@+1 {{32768 bytes: !wave.memory<[256, 64], f16, shared>}}
    %y = wave.read %a index [at.M, at.K + 64] : !wave.memory<[M, K], f16, shared> -> !wave.tile<[M, K], f16, #half>
    wave.return
  }
}
