// RUN: wave-opt %s --split-input-file --wave-lower-relayouts --verify-diagnostics

// A module in another form than the one the pass starts from.
// expected-error@+1 {{wave-lower-relayouts needs a module in form staged, this one is in form gpu: it is past that form already: start from an earlier form}}
module attributes {wave.form = "gpu", wave.target = "gfx942"} {
}

// -----

// expected-error@+1 {{wave-lower-relayouts needs a module in form staged, this one is in form placed: run the pipeline 'placed-to-staged' first}}
module attributes {wave.form = "placed", wave.target = "gfx942"} {
}

// -----

// expected-error@+1 {{unknown target 'gfx941'}}
module attributes {wave.form = "staged", wave.target = "gfx941"} {
  wave.kernel @k() constraints [#wave.hardware<threads_per_wave = 64>] {
    wave.return
  }
}

// -----

#before = #wave.layout<[M = 16, N = 16], reg = [4 : M * 1], lane = [16 : N * 1, 4 : M * 4]>
#after = #wave.layout<[M = 16, N = 16], reg = [4 : N * 1], lane = [16 : M * 1, 4 : N * 4]>

// The accumulator of one product as the operand of the next: a transpose among 16 lanes, two elements a word.
module attributes {wave.form = "staged", wave.target = "gfx942"} {
  wave.kernel @mma_operand(%a: !wave.memory<[M, N], f16, global>, %c: !wave.memory<[M, N], f16, global>)
      symbols {M = 16, N = 16}
      constraints [#wave.workgroup<M, 16, x>, #wave.workgroup<N, 16, y>, #wave.hardware<threads_per_wave = 64>] {
    %x = wave.read %a index [at.M, at.N] : !wave.memory<[M, N], f16, global> -> !wave.tile<[M, N], f16, #before>
    // expected-remark@+1 {{this relayout goes from lane to lane: 120 clocks (2 through the crossbar of LDS, 3 between lanes by vector moves, 7 selects and permutations of bytes; 2 elements a word); by way of LDS: 240 clocks (4 stores of 16 bits, 1 load of 64 bits); by renaming registers: impossible (elements change lanes)}}
    %y = wave.relayout %x : !wave.tile<[M, N], f16, #before> -> !wave.tile<[M, N], f16, #after>
    wave.write %y, %c index [at.M, at.N] : !wave.tile<[M, N], f16, #after>, !wave.memory<[M, N], f16, global>
    wave.return
  }
}

// -----

#before = #wave.layout<[M = 16, N = 8], reg = [2 : M * 8], lane = [8 : M * 1, 4 : N * 1, 2 : N * 4]>
#after = #wave.layout<[M = 16, N = 8], reg = [2 : N * 4], lane = [8 : M * 1, 4 : N * 1, 2 : M * 8]>

// Registers and rows of 32 lanes change places: one instruction on gfx950.
module attributes {wave.form = "staged", wave.target = "gfx950"} {
  wave.kernel @rows_swap(%a: !wave.memory<[M, N], f32, global>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 16, N = 8}
      constraints [#wave.workgroup<M, 16, x>, #wave.workgroup<N, 8, y>, #wave.hardware<threads_per_wave = 64>] {
    %x = wave.read %a index [at.M, at.N] : !wave.memory<[M, N], f32, global> -> !wave.tile<[M, N], f32, #before>
    // expected-remark@+1 {{this relayout goes from lane to lane: 8 clocks (1 by swapping rows); by way of LDS: 216 clocks (2 stores of 32 bits, 2 loads of 32 bits); by renaming registers: impossible (elements change lanes)}}
    %y = wave.relayout %x : !wave.tile<[M, N], f32, #before> -> !wave.tile<[M, N], f32, #after>
    wave.write %y, %c index [at.M, at.N] : !wave.tile<[M, N], f32, #after>, !wave.memory<[M, N], f32, global>
    wave.return
  }
}

// -----

#before = #wave.layout<[M = 64, N = 8], reg = [4 : N * 1, 2 : N * 4], lane = [64 : M * 1]>
#after = #wave.layout<[M = 64, N = 8], reg = [2 : N * 4, 4 : N * 1], lane = [64 : M * 1]>

// Registers of a lane in another order.
module attributes {wave.form = "staged", wave.target = "gfx942"} {
  wave.kernel @renamed(%a: !wave.memory<[M, N], f16, global>, %c: !wave.memory<[M, N], f16, global>)
      symbols {M = 64, N = 8}
      constraints [#wave.workgroup<M, 64, x>, #wave.workgroup<N, 8, y>, #wave.hardware<threads_per_wave = 64>] {
    %x = wave.read %a index [at.M, at.N] : !wave.memory<[M, N], f16, global> -> !wave.tile<[M, N], f16, #before>
    // expected-remark@+1 {{this relayout goes by renaming registers: 0 clocks (nothing moves); by way of LDS: 288 clocks (1 store of 128 bits, 8 loads of 16 bits)}}
    %y = wave.relayout %x : !wave.tile<[M, N], f16, #before> -> !wave.tile<[M, N], f16, #after>
    wave.write %y, %c index [at.M, at.N] : !wave.tile<[M, N], f16, #after>, !wave.memory<[M, N], f16, global>
    wave.return
  }
}

// -----

#before = #wave.layout<[M = 64, N = 8], reg = [4 : N * 1], lane = [64 : M * 1], wave.x = [2 : N * 4]>
#after = #wave.layout<[M = 64, N = 8], reg = [8 : N * 1], lane = [32 : M * 1, 2 : _], wave.x = [2 : M * 32]>

// Elements from other waves.
module attributes {wave.form = "staged", wave.target = "gfx942"} {
  wave.kernel @waves(%a: !wave.memory<[M, N], f16, global>, %c: !wave.memory<[M, N], f16, global>)
      symbols {M = 64, N = 8}
      constraints [#wave.workgroup<M, 64, x>, #wave.workgroup<N, 8, y>, #wave.wave<M, 32>, #wave.hardware<threads_per_wave = 64>] {
    %x = wave.read %a index [at.M, at.N] : !wave.memory<[M, N], f16, global> -> !wave.tile<[M, N], f16, #before>
    // expected-remark@+1 {{this relayout goes by way of LDS: 304 clocks (1 store of 64 bits, 1 load of 128 bits, 2 barriers); by renaming registers: impossible (elements change lanes); from lane to lane: impossible (elements come from other waves)}}
    %y = wave.relayout %x : !wave.tile<[M, N], f16, #before> -> !wave.tile<[M, N], f16, #after>
    wave.write %y, %c index [at.M, at.N] : !wave.tile<[M, N], f16, #after>, !wave.memory<[M, N], f16, global>
    wave.return
  }
}

// -----

#before = #wave.layout<[M = 64, N = 16], reg = [16 : N * 1], lane = [64 : M * 1]>
#after = #wave.layout<[M = 64, N = 16], reg = [16 : M * 1], lane = [4 : M * 16, 16 : N * 1]>

// Where each lane needs much from each other one, LDS is cheaper.
module attributes {wave.form = "staged", wave.target = "gfx942"} {
  wave.kernel @many(%a: !wave.memory<[M, N], f32, global>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 64, N = 16}
      constraints [#wave.workgroup<M, 64, x>, #wave.workgroup<N, 16, y>, #wave.hardware<threads_per_wave = 64>] {
    %x = wave.read %a index [at.M, at.N] : !wave.memory<[M, N], f32, global> -> !wave.tile<[M, N], f32, #before>
    // expected-remark@+1 {{this relayout goes by way of LDS: 448 clocks (4 stores of 128 bits, 16 loads of 32 bits); from lane to lane: 800 clocks (24 through the crossbar of LDS, 24 between lanes by vector moves, 96 selects and permutations of bytes); by renaming registers: impossible (elements change lanes)}}
    %y = wave.relayout %x : !wave.tile<[M, N], f32, #before> -> !wave.tile<[M, N], f32, #after>
    wave.write %y, %c index [at.M, at.N] : !wave.tile<[M, N], f32, #after>, !wave.memory<[M, N], f32, global>
    wave.return
  }
}
