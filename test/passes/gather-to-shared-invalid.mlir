// RUN: wave-opt %s --split-input-file --wave-gather-to-shared --verify-diagnostics

// A module in another form than the one the pass starts from.
// expected-error@+1 {{wave-gather-to-shared needs a module in form lane, this one is in form staged}}
module attributes {wave.form = "staged", wave.target = "gfx950"} {
}

// -----

// A target without such copies.
module attributes {wave.form = "lane", wave.target = "gfx1201"} {
  wave.kernel @k(%a: !wave.memory<[M], f32, global>) symbols {M = 32} constraints [#wave.hardware<threads_per_wave = 32>] {
    %l = wave.allocate : !wave.memory<[32], f32, shared>
    %v = wave.read %a index [lane] : !wave.memory<[M], f32, global> -> vector<1xf32>
    // expected-remark@+1 {{gfx1201 has no copies to LDS without registers}}
    wave.write %v, %l index [lane] : vector<1xf32>, !wave.memory<[32], f32, shared>
    wave.return
  }
}

// -----

// What keeps a load and a store from being one copy.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M, K], f16, global>, %b: !wave.memory<[M, K], f32, global>,
                 %n: !wave.memory<[R, K], f32, global, strides = [_, 1]>, %bit: i1)
      symbols {M = 64, K = 32} dynamic [R] constraints [#wave.hardware<threads_per_wave = 64>] {
    %l = wave.allocate : !wave.memory<[64, 32], f16, shared>
    %0 = wave.read %a index [lane floordiv 4, lane mod 4 * 8] : !wave.memory<[M, K], f16, global> -> vector<8xf16>
    // expected-remark@+1 {{this copy to LDS passes through registers: a lane copies 128 bits}}
    wave.write %0, %l index [lane floordiv 4, lane mod 4 * 8] : vector<8xf16>, !wave.memory<[64, 32], f16, shared>
    %q = wave.allocate : !wave.memory<[64, 32], f32, shared>
    %1 = wave.read %b index [lane, 0] : !wave.memory<[M, K], f32, global> -> vector<1xf32>
    // expected-remark@+1 {{this copy to LDS passes through registers: the lanes of a wave do not follow one another in LDS}}
    wave.write %1, %q index [lane, 0] : vector<1xf32>, !wave.memory<[64, 32], f32, shared>
    %p = wave.allocate : !wave.memory<[64, 32], f32, shared>
    %m = wave.mask [lane lt 8] : vector<1xi1>
    %2 = wave.read %b index [lane floordiv 32, lane mod 32] : !wave.memory<[M, K], f32, global> -> vector<1xf32>
    // expected-remark@+1 {{passes through registers: some lanes do not write}}
    wave.write %2, %p mask %m index [lane floordiv 32, lane mod 32] : vector<1xf32>, !wave.memory<[64, 32], f32, shared>
    %r = wave.allocate : !wave.memory<[64, 32], f32, shared>
    %3 = wave.read %b index [lane floordiv 32, lane mod 32] volatile : !wave.memory<[M, K], f32, global> -> vector<1xf32>
    // expected-remark@+1 {{passes through registers: it is volatile}}
    wave.write %3, %r index [lane floordiv 32, lane mod 32] : vector<1xf32>, !wave.memory<[64, 32], f32, shared>
    %s = wave.allocate : !wave.memory<[64, 32], f32, shared>
    %4 = wave.read %b index [lane floordiv 32, lane mod 32] : !wave.memory<[M, K], f32, global> -> vector<1xf32>
    wave.write %4, %b index [lane floordiv 32, lane mod 32] : vector<1xf32>, !wave.memory<[M, K], f32, global>
    %5 = wave.read %b index [lane floordiv 32, lane mod 32] : !wave.memory<[M, K], f32, global> -> vector<1xf32>
    wave.write %4, %b index [lane floordiv 32, lane mod 32] : vector<1xf32>, !wave.memory<[M, K], f32, global>
    // expected-remark@+1 {{passes through registers: other operations stand between the load and the store}}
    wave.write %5, %s index [lane floordiv 32, lane mod 32] : vector<1xf32>, !wave.memory<[64, 32], f32, shared>
    %t = wave.allocate : !wave.memory<[64, 32], f32, shared>
    %6 = wave.read %n index [lane floordiv 32, lane mod 32] : !wave.memory<[R, K], f32, global, strides = [_, 1]> -> vector<1xf32>
    // expected-remark@+1 {{passes through registers: its source has no buffer address}}
    wave.write %6, %t index [lane floordiv 32, lane mod 32] : vector<1xf32>, !wave.memory<[64, 32], f32, shared>
    %u = wave.allocate : !wave.memory<[64, 32], f32, shared>
    %w = vector.broadcast %bit : i1 to vector<1xi1>
    %7 = wave.read %b mask %w index [lane floordiv 32, lane mod 32] : !wave.memory<[M, K], f32, global> -> vector<1xf32>
    // expected-remark@+1 {{passes through registers: its mask is a value}}
    wave.write %7, %u index [lane floordiv 32, lane mod 32] : vector<1xf32>, !wave.memory<[64, 32], f32, shared>
    %k = wave.mask [lane lt 8] : i1
    wave.conditional %k : i1 {
      %v = wave.allocate : !wave.memory<[64, 32], f32, shared>
      %8 = wave.read %b index [lane floordiv 32, lane mod 32] : !wave.memory<[M, K], f32, global> -> vector<1xf32>
      // expected-remark@+1 {{passes through registers: not all lanes of a wave need come to it}}
      wave.write %8, %v index [lane floordiv 32, lane mod 32] : vector<1xf32>, !wave.memory<[64, 32], f32, shared>
    }
    wave.return
  }
}
