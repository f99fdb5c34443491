// RUN: wave-opt %s --split-input-file --wave-hoist-invariants | FileCheck %s

// Reads of global memory at the same places in every trip, with their masks, and what is computed from them; but nothing
// that would take more registers.
// CHECK-LABEL: wave.kernel @reads(
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @reads(%a: !wave.memory<[512], f16, global>, %b: !wave.memory<[512], f16, global>)
      symbols {K = 512, BK = 64} dynamic [] constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant dense<0.0> : vector<1xf16>
    // CHECK:      %[[M:.*]] = wave.mask [lane lt 60]
    // CHECK-NEXT: %[[Q:.*]] = wave.read %a mask %[[M]] index [lane]
    // CHECK-NEXT: %[[D:.*]] = arith.addf %[[Q]], %[[Q]]
    // CHECK-NEXT: wave.iterate
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : vector<1xf16>) {
      // CHECK-NEXT: %[[X:.*]] = wave.read %a index [iv.K * 64 + lane]
      // CHECK-NEXT: vector.broadcast %[[D]]
      // CHECK-NEXT: arith.mulf %[[X]], %[[D]]
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) : !wave.memory<[512], f16, global> -> vector<1xf16>
      %m = wave.mask [lane lt 60] : vector<1xi1>
      %q = wave.read %a mask %m index [lane] : !wave.memory<[512], f16, global> -> vector<1xf16>
      %d = arith.addf %q, %q : vector<1xf16>
      %wide = vector.broadcast %d : vector<1xf16> to vector<8x1xf16>
      %p = arith.mulf %x, %d : vector<1xf16>
      %t = arith.addf %s, %p : vector<1xf16>
      wave.yield %t : vector<1xf16>
    }
    wave.write %r, %b index [lane] : vector<1xf16>, !wave.memory<[512], f16, global>
    wave.return
  }
}

// -----

// Out of one loop, and out of two.
// CHECK-LABEL: wave.kernel @nested(
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @nested(%a: !wave.memory<[512], f16, global>, %b: !wave.memory<[512], f16, global>)
      symbols {K = 512, BK = 64} dynamic [] constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    // CHECK:      wave.read %a index [lane]
    // CHECK-NEXT: wave.iterate
    wave.iterate K iv(%k) trips(8) {
      // CHECK-NEXT: wave.read %a index [iv.K * 64 + lane]
      // CHECK-NEXT: wave.iterate
      wave.iterate K iv(%j) trips(8) {
        // CHECK-NEXT: {{^ *}}}
        %q = wave.read %a index [lane] : !wave.memory<[512], f16, global> -> vector<1xf16>
        %p = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) : !wave.memory<[512], f16, global> -> vector<1xf16>
        wave.yield
      }
      wave.yield
    }
    wave.return
  }
}

// -----

// Not from a loop that writes global memory or has a volatile access, nor from a conditional.
// CHECK-LABEL: wave.kernel @written(
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @written(%a: !wave.memory<[512], f16, global>, %b: !wave.memory<[512], f16, global>)
      symbols {K = 512, BK = 64} dynamic [] constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    // CHECK:      wave.iterate
    // CHECK-NEXT: wave.read %a
    wave.iterate K iv(%k) trips(8) {
      %q = wave.read %a index [lane] : !wave.memory<[512], f16, global> -> vector<1xf16>
      wave.write %q, %b index [lane] : vector<1xf16>, !wave.memory<[512], f16, global>
      wave.yield
    }
    // CHECK:      wave.iterate
    // CHECK-NEXT: wave.read %a
    wave.iterate K iv(%k) trips(8) {
      %q = wave.read %a index [lane] volatile : !wave.memory<[512], f16, global> -> vector<1xf16>
      wave.yield
    }
    // CHECK:      wave.iterate
    // CHECK-NEXT: wave.conditional
    // CHECK-NEXT: wave.read %a
    wave.iterate K iv(%k) trips(8) {
      wave.conditional [iv.K lt 4] symbols(iv.K = %k) {
        %q = wave.read %a index [lane] : !wave.memory<[512], f16, global> -> vector<1xf16>
      }
      wave.yield
    }
    wave.return
  }
}

// -----

// Where there may be no trip, only what has to do with none of the sizes that decide on it, or of which the loop promises
// something.
// CHECK-LABEL: wave.kernel @maybe_no_trip(
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @maybe_no_trip(%a: !wave.memory<[512], f16, global>, %b: !wave.memory<[512], f16, global>, %c: !wave.memory<[K], f16, global>)
      symbols {BK = 64} dynamic [K, M] constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    // CHECK:      wave.read %a index [lane]
    // CHECK-NEXT: wave.iterate
    // CHECK-NEXT: wave.read %c
    // CHECK-NEXT: wave.read %a index [K - 1]
    wave.iterate K iv(%k) trips(K ceildiv 64) {
      %q = wave.read %a index [lane] : !wave.memory<[512], f16, global> -> vector<1xf16>
      %p = wave.read %c index [0] : !wave.memory<[K], f16, global> -> vector<1xf16>
      %o = wave.read %a index [K - 1] : !wave.memory<[512], f16, global> -> vector<1xf16>
      wave.yield
    }
    // CHECK:      wave.buffer_load %a
    // CHECK-NEXT: wave.iterate
    // CHECK-NEXT: wave.buffer_load %c
    wave.iterate K iv(%k) trips(select(M mod 8 eq 0, 8, 0)) attributes {wave.divisible = {K = 8 : i64}} {
      %q = wave.buffer_load %a base [0] offset [lane * 2] : !wave.memory<[512], f16, global> -> vector<1xf16>
      %p = wave.buffer_load %c base [0] offset [lane * 16] : !wave.memory<[K], f16, global> -> vector<8xf16>
      wave.yield
    }
    wave.return
  }
}

// -----

// A copy to LDS, and what is read there at the same place in every trip.
// CHECK-LABEL: wave.kernel @lds(
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @lds(%a: !wave.memory<[512], f16, global>, %b: !wave.memory<[512], f16, global>)
      symbols {K = 512, BK = 64} dynamic [] constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    // CHECK:      %[[L:.*]] = wave.allocate
    %l = wave.allocate : !wave.memory<[64], f16, shared>
    // CHECK-NEXT: %[[V:.*]] = wave.read %a
    // CHECK-NEXT: wave.write %[[V]], %[[L]]
    // CHECK-NEXT: wave.read %[[L]]
    // CHECK-NEXT: wave.iterate
    // CHECK-NEXT: wave.read %[[L]] index [iv.K]
    wave.iterate K iv(%k) trips(8) {
      %q = wave.read %a index [lane] : !wave.memory<[512], f16, global> -> vector<1xf16>
      wave.write %q, %l index [lane] : vector<1xf16>, !wave.memory<[64], f16, shared>
      %p = wave.read %l index [63 - lane] : !wave.memory<[64], f16, shared> -> vector<1xf16>
      %o = wave.read %l index [iv.K] symbols(iv.K = %k) : !wave.memory<[64], f16, shared> -> vector<1xf16>
      wave.yield
    }
    wave.return
  }
}

// -----

// A value that is written in parts.
// CHECK-LABEL: wave.kernel @parts(
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @parts(%a: !wave.memory<[512], f16, global>, %b: !wave.memory<[512], f16, global>)
      symbols {K = 512, BK = 64} dynamic [] constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %l = wave.allocate : !wave.memory<[128], f16, shared>
    // CHECK:      %[[V:.*]] = wave.read %a
    // CHECK-NEXT: %[[X:.*]] = vector.extract_strided_slice %[[V]] {offsets = [0]
    // CHECK-NEXT: wave.write %[[X]]
    // CHECK-NEXT: %[[Y:.*]] = vector.extract_strided_slice %[[V]] {offsets = [1]
    // CHECK-NEXT: wave.write %[[Y]]
    // CHECK-NEXT: wave.read
    // CHECK-NEXT: wave.iterate
    wave.iterate K iv(%k) trips(8) {
      %q = wave.read %a index [lane * 2] : !wave.memory<[512], f16, global> -> vector<2xf16>
      %x = vector.extract_strided_slice %q {offsets = [0], sizes = [1], strides = [1]} : vector<2xf16> to vector<1xf16>
      wave.write %x, %l index [lane] : vector<1xf16>, !wave.memory<[128], f16, shared>
      %y = vector.extract_strided_slice %q {offsets = [1], sizes = [1], strides = [1]} : vector<2xf16> to vector<1xf16>
      wave.write %y, %l index [lane + 64] : vector<1xf16>, !wave.memory<[128], f16, shared>
      %p = wave.read %l index [lane * 2] : !wave.memory<[128], f16, shared> -> vector<2xf16>
      wave.yield
    }
    wave.return
  }
}

// -----

// A direct copy.
// CHECK-LABEL: wave.kernel @direct(
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @direct(%a: !wave.memory<[512], f16, global>, %b: !wave.memory<[512], f16, global>)
      symbols {K = 512, BK = 64} dynamic [] constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    // CHECK:      wave.gather_to_shared
    // CHECK-NEXT: wave.read
    // CHECK-NEXT: wave.iterate
    %l = wave.allocate : !wave.memory<[64], f16, shared>
    wave.iterate K iv(%k) trips(8) {
      wave.gather_to_shared %a [lane * 2] to %l [0] elements 2 : !wave.memory<[512], f16, global>, !wave.memory<[64], f16, shared>
      %p = wave.read %l index [lane] : !wave.memory<[64], f16, shared> -> vector<1xf16>
      wave.yield
    }
    wave.return
  }
}

// -----

// A buffer that a trip reads before it writes it stays; one that is read after the loop, which has a trip, does not.
// CHECK-LABEL: wave.kernel @lds_stays(
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @lds_stays(%a: !wave.memory<[512], f16, global>, %b: !wave.memory<[512], f16, global>)
      symbols {K = 512, BK = 64} dynamic [] constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %l = wave.allocate : !wave.memory<[64], f16, shared>
    // CHECK:      wave.iterate
    // CHECK-NEXT: wave.read %{{.*}} index [lane] : !wave.memory<[64]
    wave.iterate K iv(%k) trips(8) {
      %p = wave.read %l index [lane] : !wave.memory<[64], f16, shared> -> vector<1xf16>
      %q = arith.addf %p, %p : vector<1xf16>
      wave.write %q, %l index [lane] : vector<1xf16>, !wave.memory<[64], f16, shared>
      wave.yield
    }
    %m = wave.allocate : !wave.memory<[64], f16, shared>
    // CHECK:      wave.allocate
    // CHECK-NEXT: wave.read %a
    // CHECK-NEXT: wave.write
    // CHECK-NEXT: wave.iterate
    wave.iterate K iv(%k) trips(8) {
      %p = wave.read %a index [lane] : !wave.memory<[512], f16, global> -> vector<1xf16>
      wave.write %p, %m index [lane] : vector<1xf16>, !wave.memory<[64], f16, shared>
      wave.yield
    }
    %o = wave.read %m index [lane] : !wave.memory<[64], f16, shared> -> vector<1xf16>
    wave.return
  }
}

// -----

// Two loops that may have no trip, as wave-peel-loops makes them, and fill one buffer: each does so in front. Where the
// second one fills less, and so would see what the first one has left, the first copy stays; so does a copy that a reader between the
// loops would see.
// CHECK-LABEL: wave.kernel @two_loops(
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @two_loops(%a: !wave.memory<[512], f16, global>, %b: !wave.memory<[512], f16, global>)
      dynamic [K] constraints [#wave.tiling<K, 64>, #wave.hardware<threads_per_wave = 64>] {
    // CHECK:      %[[L:.*]] = wave.allocate
    // CHECK-NEXT: %[[V:.*]] = wave.read %a
    // CHECK-NEXT: wave.write %[[V]], %[[L]]
    // CHECK-NEXT: wave.read %[[L]]
    // CHECK-NEXT: wave.iterate
    %l = wave.allocate : !wave.memory<[64], f16, shared>
    wave.iterate K iv(%k) trips(K floordiv 64) {
      %q = wave.read %a index [lane] : !wave.memory<[512], f16, global> -> vector<1xf16>
      wave.write %q, %l index [lane] : vector<1xf16>, !wave.memory<[64], f16, shared>
      %p = wave.read %l index [63 - lane] : !wave.memory<[64], f16, shared> -> vector<1xf16>
      wave.yield
    }
    // CHECK:      %[[W:.*]] = wave.read %a
    // CHECK-NEXT: wave.write %[[W]], %[[L]]
    // CHECK-NEXT: wave.read %[[L]]
    // CHECK-NEXT: wave.iterate
    wave.iterate K iv(%k) trips(K ceildiv 64 - K floordiv 64) {
      %q = wave.read %a index [lane] : !wave.memory<[512], f16, global> -> vector<1xf16>
      wave.write %q, %l index [lane] : vector<1xf16>, !wave.memory<[64], f16, shared>
      %p = wave.read %l index [63 - lane] : !wave.memory<[64], f16, shared> -> vector<1xf16>
      wave.yield
    }
    // CHECK:      wave.allocate
    // CHECK-NEXT: wave.iterate
    // CHECK-NEXT: wave.read %a
    // CHECK-NEXT: wave.write
    %m = wave.allocate : !wave.memory<[64], f16, shared>
    wave.iterate K iv(%k) trips(K floordiv 64) {
      %q = wave.read %a index [lane] : !wave.memory<[512], f16, global> -> vector<1xf16>
      wave.write %q, %m index [lane] : vector<1xf16>, !wave.memory<[64], f16, shared>
      wave.yield
    }
    // CHECK:      wave.read %a
    // CHECK-NEXT: wave.write
    // CHECK-NEXT: wave.read
    // CHECK-NEXT: wave.iterate
    wave.iterate K iv(%k) trips(K ceildiv 64 - K floordiv 64) {
      %q = wave.read %a index [lane floordiv 2] : !wave.memory<[512], f16, global> -> vector<1xf16>
      wave.write %q, %m index [lane floordiv 2] : vector<1xf16>, !wave.memory<[64], f16, shared>
      %p = wave.read %m index [63 - lane] : !wave.memory<[64], f16, shared> -> vector<1xf16>
      wave.yield
    }
    // CHECK:      wave.allocate
    // CHECK-NEXT: wave.read %a
    // CHECK-NEXT: wave.write
    // CHECK-NEXT: wave.iterate
    // CHECK-NEXT: wave.read %a
    // CHECK-NEXT: wave.write
    %n = wave.allocate : !wave.memory<[64], f16, shared>
    %x = wave.read %a index [lane] : !wave.memory<[512], f16, global> -> vector<1xf16>
    wave.write %x, %n index [lane] : vector<1xf16>, !wave.memory<[64], f16, shared>
    wave.iterate K iv(%k) trips(K floordiv 64) {
      %q = wave.read %a index [lane + 64] : !wave.memory<[512], f16, global> -> vector<1xf16>
      wave.write %q, %n index [lane] : vector<1xf16>, !wave.memory<[64], f16, shared>
      wave.yield
    }
    %y = wave.read %n index [63 - lane] : !wave.memory<[64], f16, shared> -> vector<1xf16>
    wave.return
  }
}

// -----

// As many as take 64 registers of a lane.
// CHECK-LABEL: wave.kernel @registers(
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @registers(%a: !wave.memory<[512], f16, global>, %b: !wave.memory<[512], f16, global>, %c: !wave.memory<[512], f32, global>)
      symbols {K = 512, BK = 64} dynamic [] constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    // CHECK-COUNT-8: wave.read
    // CHECK-NEXT: wave.iterate
    // CHECK-NEXT: wave.read
    // CHECK-NEXT: {{^ *}}}
    wave.iterate K iv(%k) trips(8) {
      %q0 = wave.read %c index [lane * 8 + 0] : !wave.memory<[512], f32, global> -> vector<8xf32>
      %q1 = wave.read %c index [lane * 8 + 1] : !wave.memory<[512], f32, global> -> vector<8xf32>
      %q2 = wave.read %c index [lane * 8 + 2] : !wave.memory<[512], f32, global> -> vector<8xf32>
      %q3 = wave.read %c index [lane * 8 + 3] : !wave.memory<[512], f32, global> -> vector<8xf32>
      %q4 = wave.read %c index [lane * 8 + 4] : !wave.memory<[512], f32, global> -> vector<8xf32>
      %q5 = wave.read %c index [lane * 8 + 5] : !wave.memory<[512], f32, global> -> vector<8xf32>
      %q6 = wave.read %c index [lane * 8 + 6] : !wave.memory<[512], f32, global> -> vector<8xf32>
      %q7 = wave.read %c index [lane * 8 + 7] : !wave.memory<[512], f32, global> -> vector<8xf32>
      %q8 = wave.read %c index [lane * 8 + 8] : !wave.memory<[512], f32, global> -> vector<8xf32>
      wave.yield
    }
    wave.return
  }
}

// -----

// A loop that ends by a condition may wait for what others write.
// CHECK-LABEL: wave.kernel @waiting(
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @waiting(%a: !wave.memory<[512], f16, global>, %b: !wave.memory<[512], f16, global>)
      symbols {K = 512, BK = 64} dynamic [] constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %i = arith.constant 0 : index
    %ten = arith.constant 10 : index
    // CHECK:      wave.iterate
    // CHECK-NEXT: wave.read
    wave.iterate K iv(%k) start(%i : index) condition(K lt 10) {
      %q = wave.read %a index [lane] : !wave.memory<[512], f16, global> -> vector<1xf16>
      wave.yield %ten : index
    }
    wave.return
  }
}
