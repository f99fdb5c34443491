// RUN: wave-opt %s --split-input-file --wave-place-barriers | FileCheck %s

// A loop that fills LDS and reads it needs two barriers a trip: write before read, and read before the next trip's write.
// CHECK-LABEL: @loop(
// CHECK-NOT:   barrier
// CHECK:       wave.iterate
// CHECK-COUNT-2: wave.shared_memory_barrier
// CHECK-NOT:   barrier
// CHECK:       wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @loop(%a: !wave.memory<[256], f32, global>) symbols {M = 128, K = 256}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %l = wave.allocate : !wave.memory<[128], f32, shared>
    %zero = arith.constant dense<0.0> : vector<1xf32>
    %sum = wave.iterate K iv(%k) trips(8) iter_args(%acc = %zero : vector<1xf32>) {
      wave.write %acc, %l index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[128], f32, shared>
      %v = wave.read %l index [127 - wave.x * 64 - lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
      wave.yield %v : vector<1xf32>
    }
    wave.write %sum, %a index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[256], f32, global>
    wave.return
  }
}

// -----

// The user's barrier counts.
// CHECK-LABEL: @given(
// CHECK:       wave.write
// CHECK-NEXT:  wave.shared_memory_barrier
// CHECK-NEXT:  wave.read
// CHECK-NOT:   barrier
// CHECK:       wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @given(%a: !wave.memory<[256], f32, global>) symbols {M = 128}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.hardware<threads_per_wave = 64>] {
    %l = wave.allocate : !wave.memory<[128], f32, shared>
    %zero = arith.constant dense<0.0> : vector<1xf32>
    wave.write %zero, %l index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[128], f32, shared>
    wave.shared_memory_barrier
    %v = wave.read %l index [127 - wave.x * 64 - lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
    wave.write %v, %a index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[256], f32, global>
    wave.return
  }
}

// -----

// One wave: a fence, no barrier.
// CHECK-LABEL: @one_wave(
// CHECK-NOT:   barrier
// CHECK:       wave.write
// CHECK-NEXT:  wave.wave_fence
// CHECK-NEXT:  wave.read
// CHECK-NOT:   barrier
// CHECK:       wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @one_wave(%a: !wave.memory<[256], f32, global>) symbols {M = 64}
      constraints [#wave.workgroup<M, 64, x>, #wave.hardware<threads_per_wave = 64>] {
    %l = wave.allocate : !wave.memory<[64], f32, shared>
    %zero = arith.constant dense<0.0> : vector<1xf32>
    wave.write %zero, %l index [lane] : vector<1xf32>, !wave.memory<[64], f32, shared>
    %v = wave.read %l index [63 - lane] : !wave.memory<[64], f32, shared> -> vector<1xf32>
    wave.write %v, %a index [lane] : vector<1xf32>, !wave.memory<[256], f32, global>
    wave.return
  }
}

// -----

// A conditional that not every wave may enter has no barrier: it stands before the conditional.
// CHECK-LABEL: @conditional(
// CHECK:       wave.write
// CHECK-NEXT:  wave.shared_memory_barrier
// CHECK-NEXT:  wave.conditional
// CHECK-NOT:   barrier
// CHECK:       wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @conditional(%a: !wave.memory<[256], f32, global>) symbols {M = 128}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.hardware<threads_per_wave = 64>] {
    %l = wave.allocate : !wave.memory<[128], f32, shared>
    %zero = arith.constant dense<0.0> : vector<1xf32>
    wave.write %zero, %l index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[128], f32, shared>
    wave.conditional [wave.x eq 0] {
      %v = wave.read %l index [127 - lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
      wave.write %v, %a index [lane] : vector<1xf32>, !wave.memory<[256], f32, global>
      wave.yield
    }
    wave.return
  }
}

// -----

// In a conditional that all waves enter alike a barrier may stand: what %n holds is the same for every lane.
// CHECK-LABEL: @uniform_conditional(
// CHECK:       wave.conditional
// CHECK-NEXT:    wave.write
// CHECK-NEXT:    wave.shared_memory_barrier
// CHECK-NEXT:    wave.read
// CHECK:       wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @uniform_conditional(%n: !wave.memory<[4], i32, global>, %a: !wave.memory<[256], f32, global>) symbols {M = 128}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.hardware<threads_per_wave = 64>] {
    %l = wave.allocate : !wave.memory<[128], f32, shared>
    %zero = arith.constant dense<0.0> : vector<1xf32>
    %length = wave.read %n index [wg.x] : !wave.memory<[4], i32, global> -> vector<1xi32>
    wave.conditional [T gt 0] symbols(T = %length : vector<1xi32>) {
      wave.write %zero, %l index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[128], f32, shared>
      %v = wave.read %l index [127 - wave.x * 64 - lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
      wave.write %v, %a index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[256], f32, global>
      wave.yield
    }
    wave.return
  }
}

// -----

// Each wave reads what it wrote: a fence for its lanes, no barrier.
// CHECK-LABEL: @own_rows(
// CHECK-NOT:   barrier
// CHECK:       wave.write
// CHECK-NEXT:  wave.wave_fence
// CHECK-NEXT:  wave.read
// CHECK-NOT:   barrier
// CHECK:       wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @own_rows(%a: !wave.memory<[256], f32, global>) symbols {M = 128, K = 256}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %zero = arith.constant dense<0.0> : vector<1xf32>
    %l = wave.allocate : !wave.memory<[128], f32, shared>
    wave.write %zero, %l index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[128], f32, shared>
    %v0 = wave.read %l index [wave.x * 64 + 63 - lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
    wave.return
  }
}

// -----

// Each lane reads what it wrote: nothing.
// CHECK-LABEL: @own_element(
// CHECK-NOT:   barrier
// CHECK-NOT:   fence
// CHECK:       wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @own_element(%a: !wave.memory<[256], f32, global>) symbols {M = 128, K = 256}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %zero = arith.constant dense<0.0> : vector<1xf32>
    %l = wave.allocate : !wave.memory<[128], f32, shared>
    wave.iterate K iv(%k) trips(8) {
      wave.write %zero, %l index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[128], f32, shared>
      %v0 = wave.read %l index [wave.x * 64 + lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
      wave.yield
    }
    wave.return
  }
}

// -----

// Two parts of a buffer, one written while the other is read.
// CHECK-LABEL: @disjoint_parts(
// CHECK-NOT:   barrier
// CHECK-NOT:   fence
// CHECK:       wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @disjoint_parts(%a: !wave.memory<[256], f32, global>) symbols {M = 128, K = 256}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %zero = arith.constant dense<0.0> : vector<1xf32>
    %l = wave.allocate : !wave.memory<[128], f32, shared>
    wave.write %zero, %l index [wave.x * 32 + lane mod 32] : vector<1xf32>, !wave.memory<[128], f32, shared>
    %v0 = wave.read %l index [wave.x * 32 + lane mod 32 + 64] : !wave.memory<[128], f32, shared> -> vector<1xf32>
    wave.return
  }
}

// -----

// Lanes that a mask leaves out touch nothing.
// CHECK-LABEL: @masked(
// CHECK-NOT:   barrier
// CHECK:       wave.write
// CHECK-NEXT:  wave.read
// CHECK-NEXT:  wave.shared_memory_barrier
// CHECK-NEXT:  wave.write
// CHECK-NEXT:  wave.shared_memory_barrier
// CHECK-NEXT:  wave.read
// CHECK:       wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @masked(%a: !wave.memory<[256], f32, global>) symbols {M = 128, K = 256}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %zero = arith.constant dense<0.0> : vector<1xf32>
    %l = wave.allocate : !wave.memory<[128], f32, shared>
    %m = wave.mask [wave.x eq 0 and lane lt 32] : vector<1xi1>
    %n = wave.mask [wave.x eq 0] : vector<1xi1>
    wave.write %zero, %l mask %m index [lane] : vector<1xf32>, !wave.memory<[128], f32, shared>
    %v0 = wave.read %l index [wave.x * 32 + 32 + lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
    wave.shared_memory_barrier
    wave.write %zero, %l mask %n index [lane + 32] : vector<1xf32>, !wave.memory<[128], f32, shared>
    %v1 = wave.read %l index [wave.x * 32 + 32 + lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
    wave.return
  }
}

// -----

// A loop of one trip has no next one.
// CHECK-LABEL: @one_trip(
// CHECK:       wave.iterate
// CHECK-NEXT:    wave.write
// CHECK-NEXT:    wave.shared_memory_barrier
// CHECK-NEXT:    wave.read
// CHECK-NOT:   barrier
// CHECK:       wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @one_trip(%a: !wave.memory<[256], f32, global>) symbols {M = 128, K = 256}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %zero = arith.constant dense<0.0> : vector<1xf32>
    %l = wave.allocate : !wave.memory<[128], f32, shared>
    wave.iterate K iv(%k) trips(1) {
      wave.write %zero, %l index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[128], f32, shared>
      %v0 = wave.read %l index [127 - wave.x * 64 - lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
      wave.yield
    }
    wave.return
  }
}

// -----

// Halves that take turns: one barrier a trip, between the write and the read of the next trip or this one.
// CHECK-LABEL: @two_halves(
// CHECK:       wave.iterate
// CHECK-COUNT-1: wave.shared_memory_barrier
// CHECK-NOT:   barrier
// CHECK:       wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @two_halves(%a: !wave.memory<[256], f32, global>) symbols {M = 128, K = 256}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %zero = arith.constant dense<0.0> : vector<1xf32>
    %l = wave.allocate : !wave.memory<[256], f32, shared>
    wave.iterate K iv(%k) trips(8) {
      wave.write %zero, %l index [(iv.K) mod 2 * 128 + wave.x * 64 + lane] symbols(iv.K = %k) : vector<1xf32>, !wave.memory<[256], f32, shared>
      %v0 = wave.read %l index [(iv.K) mod 2 * 128 + 127 - wave.x * 64 - lane] symbols(iv.K = %k) : !wave.memory<[256], f32, shared> -> vector<1xf32>
      wave.yield
    }
    wave.return
  }
}

// -----

// The same with an offset that is carried round.
// CHECK-LABEL: @carried_halves(
// CHECK:       wave.iterate
// CHECK-COUNT-1: wave.shared_memory_barrier
// CHECK-NOT:   barrier
// CHECK:       wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @carried_halves(%a: !wave.memory<[256], f32, global>) symbols {M = 128, K = 256}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %zero = arith.constant dense<0.0> : vector<1xf32>
    %l = wave.allocate : !wave.memory<[256], f32, shared>
    %start = arith.constant 0 : index
    %last = wave.iterate K iv(%k) trips(8) iter_args(%at = %start : index) {
      wave.write %zero, %l index [AT + wave.x * 64 + lane] symbols(AT = %at) : vector<1xf32>, !wave.memory<[256], f32, shared>
      %v0 = wave.read %l index [AT + 127 - wave.x * 64 - lane] symbols(AT = %at) : !wave.memory<[256], f32, shared> -> vector<1xf32>
      %next = wave.apply_expr [128 - AT] symbols(AT = %at) : index
      wave.yield %next : index
    }
    wave.return
  }
}

// -----

// Written one trip ahead: one barrier a trip.
// CHECK-LABEL: @ahead(
// CHECK:       wave.iterate
// CHECK-COUNT-1: wave.shared_memory_barrier
// CHECK-NOT:   barrier
// CHECK:       wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @ahead(%a: !wave.memory<[256], f32, global>) symbols {M = 128, K = 256}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %zero = arith.constant dense<0.0> : vector<1xf32>
    %l = wave.allocate : !wave.memory<[256], f32, shared>
    wave.iterate K iv(%k) trips(8) {
      %v0 = wave.read %l index [(iv.K) mod 2 * 128 + 127 - wave.x * 64 - lane] symbols(iv.K = %k) : !wave.memory<[256], f32, shared> -> vector<1xf32>
      wave.write %zero, %l index [(iv.K + 1) mod 2 * 128 + wave.x * 64 + lane] symbols(iv.K = %k) : vector<1xf32>, !wave.memory<[256], f32, shared>
      wave.yield
    }
    wave.return
  }
}

// -----

// The inner loop takes turns, but begins with the same half in each outer trip.
// CHECK-LABEL: @outer_trips(
// CHECK:       wave.iterate M
// CHECK-COUNT-2: wave.shared_memory_barrier
// CHECK-NOT:   barrier
// CHECK:       wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @outer_trips(%a: !wave.memory<[256], f32, global>) symbols {M = 128, K = 256}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %zero = arith.constant dense<0.0> : vector<1xf32>
    %l = wave.allocate : !wave.memory<[256], f32, shared>
    wave.iterate M iv(%o) trips(4) {
      wave.iterate K iv(%k) trips(3) {
        wave.write %zero, %l index [(iv.K) mod 2 * 128 + wave.x * 64 + lane] symbols(iv.K = %k) : vector<1xf32>, !wave.memory<[256], f32, shared>
        %v0 = wave.read %l index [(iv.K) mod 2 * 128 + 127 - wave.x * 64 - lane] symbols(iv.K = %k) : !wave.memory<[256], f32, shared> -> vector<1xf32>
        wave.yield
      }
      wave.yield
    }
    wave.return
  }
}

// -----

// Two buffers with some bytes in common: a barrier between their uses, one for the way round.
// CHECK-LABEL: @shared_bytes(
// CHECK:       wave.iterate
// CHECK-COUNT-2: wave.shared_memory_barrier
// CHECK-NOT:   barrier
// CHECK:       wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @shared_bytes(%a: !wave.memory<[256], f32, global>) symbols {M = 128, K = 256}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %zero = arith.constant dense<0.0> : vector<1xf32>
    %l = wave.allocate offset 0 : !wave.memory<[128], f32, shared>
    %m = wave.allocate offset 384 : !wave.memory<[128], f32, shared>
    wave.iterate K iv(%k) trips(8) {
      wave.write %zero, %l index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[128], f32, shared>
      wave.write %zero, %m index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[128], f32, shared>
      wave.yield
    }
    wave.return
  }
}

// -----

// The first ends where the second begins.
// CHECK-LABEL: @no_shared_bytes(
// CHECK-NOT:   barrier
// CHECK:       wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @no_shared_bytes(%a: !wave.memory<[256], f32, global>) symbols {M = 128, K = 256}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %zero = arith.constant dense<0.0> : vector<1xf32>
    %l = wave.allocate offset 0 : !wave.memory<[128], f32, shared>
    %m = wave.allocate offset 512 : !wave.memory<[128], f32, shared>
    wave.iterate K iv(%k) trips(8) {
      wave.write %zero, %l index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[128], f32, shared>
      wave.write %zero, %m index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[128], f32, shared>
      wave.yield
    }
    wave.return
  }
}

// -----

// A barrier in one branch does not serve what the other one wrote.
// CHECK-LABEL: @branches(
// CHECK:       wave.conditional
// CHECK-NEXT:    wave.write
// CHECK:       } else {
// CHECK-NEXT:    wave.write
// CHECK-NEXT:    wave.shared_memory_barrier
// CHECK-NEXT:    wave.read
// CHECK:       }
// CHECK-NEXT:  wave.shared_memory_barrier
// CHECK-NEXT:  wave.read
// CHECK:       wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @branches(%a: !wave.memory<[256], f32, global>) symbols {M = 128, K = 256}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %zero = arith.constant dense<0.0> : vector<1xf32>
    %l = wave.allocate : !wave.memory<[128], f32, shared>
    %m = wave.allocate : !wave.memory<[128], f32, shared>
    wave.conditional [wg.x eq 0] {
      wave.write %zero, %l index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[128], f32, shared>
      wave.yield
    } else {
      wave.write %zero, %m index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[128], f32, shared>
      %v0 = wave.read %m index [127 - wave.x * 64 - lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
      wave.yield
    }
    %v1 = wave.read %l index [127 - wave.x * 64 - lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
    wave.return
  }
}

// -----

// What only one of two branches does in a trip needs nothing between.
// CHECK-LABEL: @either_branch(
// CHECK-NOT:   barrier
// CHECK:       wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @either_branch(%a: !wave.memory<[256], f32, global>) symbols {M = 128, K = 256}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %zero = arith.constant dense<0.0> : vector<1xf32>
    %l = wave.allocate : !wave.memory<[128], f32, shared>
    wave.conditional [wg.x eq 0] {
      wave.write %zero, %l index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[128], f32, shared>
      wave.yield
    } else {
      %v0 = wave.read %l index [127 - wave.x * 64 - lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
      wave.yield
    }
    wave.return
  }
}

// -----

// A barrier in a loop that surely runs serves what is around it.
// CHECK-LABEL: @sure_loop(
// CHECK:       wave.write
// CHECK-NEXT:  wave.iterate
// CHECK-COUNT-2: wave.shared_memory_barrier
// CHECK-NOT:   barrier
// CHECK:       wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @sure_loop(%a: !wave.memory<[256], f32, global>) symbols {M = 128, K = 256}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %zero = arith.constant dense<0.0> : vector<1xf32>
    %l = wave.allocate : !wave.memory<[128], f32, shared>
    %m = wave.allocate : !wave.memory<[128], f32, shared>
    wave.write %zero, %m index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[128], f32, shared>
    wave.iterate K iv(%k) trips(4) {
      wave.write %zero, %l index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[128], f32, shared>
      %v0 = wave.read %l index [127 - wave.x * 64 - lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
      wave.yield
    }
    %v1 = wave.read %m index [127 - wave.x * 64 - lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
    wave.return
  }
}

// -----

// In one that may run no trip it does not.
// CHECK-LABEL: @maybe_no_trip(
// CHECK:       wave.write
// CHECK:       wave.iterate
// CHECK-COUNT-2: wave.shared_memory_barrier
// CHECK:       }
// CHECK-NEXT:  wave.shared_memory_barrier
// CHECK-NEXT:  wave.read
// CHECK:       wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @maybe_no_trip(%a: !wave.memory<[256], f32, global>) symbols {M = 1024, K = 256}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %zero = arith.constant dense<0.0> : vector<1xf32>
    %l = wave.allocate : !wave.memory<[128], f32, shared>
    %m = wave.allocate : !wave.memory<[128], f32, shared>
    wave.write %zero, %m index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[128], f32, shared>
    wave.iterate K iv(%k) trips(wg.x) {
      wave.write %zero, %l index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[128], f32, shared>
      %v0 = wave.read %l index [127 - wave.x * 64 - lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
      wave.yield
    }
    %v1 = wave.read %m index [127 - wave.x * 64 - lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
    wave.return
  }
}

// -----

// Atomics do not race with each other.
// CHECK-LABEL: @atomics(
// CHECK:       wave.atomic
// CHECK-NEXT:  wave.atomic
// CHECK-NEXT:  wave.shared_memory_barrier
// CHECK-NEXT:  wave.read
// CHECK:       wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @atomics(%a: !wave.memory<[256], f32, global>) symbols {M = 128, K = 256}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %zero = arith.constant dense<0.0> : vector<1xf32>
    %l = wave.allocate : !wave.memory<[128], f32, shared>
    wave.atomic add %zero, %l index [lane] : vector<1xf32>, !wave.memory<[128], f32, shared>
    wave.atomic add %zero, %l index [lane] : vector<1xf32>, !wave.memory<[128], f32, shared>
    %v0 = wave.read %l index [lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
    wave.return
  }
}

// -----

// A split barrier counts where its signal comes after the write.
// CHECK-LABEL: @split_barrier(
// CHECK:       wave.write
// CHECK-NEXT:  wave.barrier_signal 0
// CHECK-NEXT:  wave.barrier_wait 0
// CHECK-NEXT:  wave.read
// CHECK-NEXT:  wave.barrier_signal 1
// CHECK-NEXT:  wave.write
// CHECK-NEXT:  wave.barrier_wait 1
// CHECK-NEXT:  wave.shared_memory_barrier
// CHECK-NEXT:  wave.read
// CHECK:       wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @split_barrier(%a: !wave.memory<[256], f32, global>) symbols {M = 128, K = 256}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %zero = arith.constant dense<0.0> : vector<1xf32>
    %l = wave.allocate : !wave.memory<[128], f32, shared>
    %m = wave.allocate : !wave.memory<[128], f32, shared>
    wave.write %zero, %l index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[128], f32, shared>
    wave.barrier_signal 0
    wave.barrier_wait 0
    %v0 = wave.read %l index [127 - wave.x * 64 - lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
    wave.barrier_signal 1
    wave.write %zero, %m index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[128], f32, shared>
    wave.barrier_wait 1
    %v1 = wave.read %m index [127 - wave.x * 64 - lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
    wave.return
  }
}

// -----

// A barrier behind a direct copy waits for it; the one that keeps the next copy from being too early does not.
// CHECK-LABEL: @direct_copy(
// CHECK:       wave.iterate
// CHECK-NEXT:    wave.shared_memory_barrier{{$}}
// CHECK-NEXT:    wave.gather_to_shared
// CHECK-NEXT:    wave.shared_memory_barrier wait_async
// CHECK-NEXT:    wave.read
// CHECK-NEXT:  }
// CHECK:       wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @direct_copy(%a: !wave.memory<[256], f32, global>) symbols {M = 128, K = 256}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %zero = arith.constant dense<0.0> : vector<1xf32>
    %l = wave.allocate : !wave.memory<[128], f32, shared>
    wave.iterate K iv(%k) trips(8) {
      wave.gather_to_shared %a [wave.x * 64 + lane] to %l [wave.x * 64] elements 1 : !wave.memory<[256], f32, global>, !wave.memory<[128], f32, shared>
      %v0 = wave.read %l index [127 - wave.x * 64 - lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
      wave.yield
    }
    wave.return
  }
}

// -----

// The user's barrier learns to wait; a wait that is there already is enough.
// CHECK-LABEL: @given_before_a_copy(
// CHECK:       wave.gather_to_shared
// CHECK-NEXT:  wave.shared_memory_barrier wait_async
// CHECK-NEXT:  wave.read
// CHECK-NEXT:  wave.shared_memory_barrier{{$}}
// CHECK-NEXT:  wave.gather_to_shared
// CHECK-NEXT:  wave.memory_counter_wait load 0
// CHECK-NEXT:  wave.shared_memory_barrier{{$}}
// CHECK-NEXT:  wave.read
// CHECK:       wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @given_before_a_copy(%a: !wave.memory<[256], f32, global>) symbols {M = 128, K = 256}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %zero = arith.constant dense<0.0> : vector<1xf32>
    %l = wave.allocate : !wave.memory<[128], f32, shared>
    wave.gather_to_shared %a [wave.x * 64 + lane] to %l [wave.x * 64] elements 1 : !wave.memory<[256], f32, global>, !wave.memory<[128], f32, shared>
    wave.shared_memory_barrier
    %v0 = wave.read %l index [127 - wave.x * 64 - lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
    wave.shared_memory_barrier
    wave.gather_to_shared %a [wave.x * 64 + lane] to %l [wave.x * 64] elements 1 : !wave.memory<[256], f32, global>, !wave.memory<[128], f32, shared>
    wave.memory_counter_wait load 0
    wave.shared_memory_barrier
    %v1 = wave.read %l index [127 - wave.x * 64 - lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
    wave.return
  }
}

// -----

// A wave that reads its own copy waits for it, without a barrier.
// CHECK-LABEL: @own_copy(
// CHECK:       wave.gather_to_shared
// CHECK-NEXT:  wave.memory_counter_wait load 0
// CHECK-NEXT:  wave.wave_fence
// CHECK-NEXT:  wave.read
// CHECK-NOT:   barrier
// CHECK:       wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @own_copy(%a: !wave.memory<[256], f32, global>) symbols {M = 128, K = 256}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %zero = arith.constant dense<0.0> : vector<1xf32>
    %l = wave.allocate : !wave.memory<[128], f32, shared>
    wave.gather_to_shared %a [wave.x * 64 + lane] to %l [wave.x * 64] elements 1 : !wave.memory<[256], f32, global>, !wave.memory<[128], f32, shared>
    %v0 = wave.read %l index [wave.x * 64 + lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
    wave.return
  }
}

// -----

// A wait of the user's gets the fence it lacks; one before it is none. By count it serves the copy that is surely
// complete, here the first one, and the last one is waited for by itself.
// CHECK-LABEL: @own_copy_given_wait(
// CHECK:       wave.gather_to_shared
// CHECK-NEXT:  wave.wave_fence
// CHECK-NEXT:  wave.memory_counter_wait load 0
// CHECK-NEXT:  wave.wave_fence
// CHECK-NEXT:  wave.read
// CHECK-NEXT:  wave.gather_to_shared
// CHECK-NEXT:  wave.gather_to_shared
// CHECK-NEXT:  wave.memory_counter_wait load 1
// CHECK-NEXT:  wave.wave_fence
// CHECK-NEXT:  wave.read
// CHECK-NEXT:  wave.memory_counter_wait load 0
// CHECK-NEXT:  wave.wave_fence
// CHECK-NEXT:  wave.read
// CHECK-NOT:   barrier
// CHECK:       wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @own_copy_given_wait(%a: !wave.memory<[256], f32, global>) symbols {M = 128, K = 256}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %l = wave.allocate : !wave.memory<[128], f32, shared>
    %r = wave.allocate : !wave.memory<[128], f32, shared>
    %s = wave.allocate : !wave.memory<[128], f32, shared>
    wave.gather_to_shared %a [wave.x * 64 + lane] to %l [wave.x * 64] elements 1 : !wave.memory<[256], f32, global>, !wave.memory<[128], f32, shared>
    wave.wave_fence
    wave.memory_counter_wait load 0
    %v0 = wave.read %l index [wave.x * 64 + 63 - lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
    wave.gather_to_shared %a [wave.x * 64 + lane] to %r [wave.x * 64] elements 1 : !wave.memory<[256], f32, global>, !wave.memory<[128], f32, shared>
    wave.gather_to_shared %a [wave.x * 64 + lane] to %s [wave.x * 64] elements 1 : !wave.memory<[256], f32, global>, !wave.memory<[128], f32, shared>
    wave.memory_counter_wait load 1
    %v1 = wave.read %r index [wave.x * 64 + 63 - lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
    %v2 = wave.read %s index [wave.x * 64 + 63 - lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
    wave.return
  }
}

// -----

// By count, with a barrier behind it that need not wait for the copy that nobody reads.
// CHECK-LABEL: @given_count_before_a_barrier(
// CHECK:       wave.memory_counter_wait load 1
// CHECK-NEXT:  wave.shared_memory_barrier{{$}}
// CHECK-NEXT:  wave.read
// CHECK:       wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @given_count_before_a_barrier(%a: !wave.memory<[256], f32, global>) symbols {M = 128, K = 256}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %r = wave.allocate : !wave.memory<[128], f32, shared>
    %s = wave.allocate : !wave.memory<[128], f32, shared>
    wave.gather_to_shared %a [wave.x * 64 + lane] to %r [wave.x * 64] elements 1 : !wave.memory<[256], f32, global>, !wave.memory<[128], f32, shared>
    wave.gather_to_shared %a [wave.x * 64 + lane] to %s [wave.x * 64] elements 1 : !wave.memory<[256], f32, global>, !wave.memory<[128], f32, shared>
    wave.memory_counter_wait load 1
    wave.shared_memory_barrier
    %v1 = wave.read %r index [127 - wave.x * 64 - lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
    wave.return
  }
}

// -----

// What another wave wrote to global memory is read behind a barrier that orders it; the next barrier is for LDS alone.
// CHECK-LABEL: @global_memory(
// CHECK:       wave.write
// CHECK-NEXT:  wave.shared_memory_barrier {wave.everywhere}
// CHECK-NEXT:  wave.read
// CHECK-NEXT:  wave.write
// CHECK-NEXT:  wave.shared_memory_barrier{{$}}
// CHECK-NEXT:  wave.read
// CHECK-NOT:   barrier
// CHECK:       wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @global_memory(%a: !wave.memory<[256], f32, global>) symbols {M = 128, K = 256}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %zero = arith.constant dense<0.0> : vector<1xf32>
    %l = wave.allocate : !wave.memory<[128], f32, shared>
    wave.write %zero, %a index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[256], f32, global>
    %v0 = wave.read %a index [127 - wave.x * 64 - lane] : !wave.memory<[256], f32, global> -> vector<1xf32>
    wave.write %zero, %l index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[128], f32, shared>
    %v1 = wave.read %l index [127 - wave.x * 64 - lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
    wave.return
  }
}

// -----

// Each lane reads what it wrote itself; each wave what its lanes wrote.
// CHECK-LABEL: @own_global_memory(
// CHECK:       wave.write
// CHECK-NEXT:  wave.read
// CHECK-NEXT:  wave.write
// CHECK-NEXT:  wave.wave_fence
// CHECK-NEXT:  wave.read
// CHECK-NOT:   barrier
// CHECK:       wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @own_global_memory(%a: !wave.memory<[256], f32, global>) symbols {M = 128, K = 256}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %zero = arith.constant dense<0.0> : vector<1xf32>
    wave.write %zero, %a index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[256], f32, global>
    %v0 = wave.read %a index [wave.x * 64 + lane] : !wave.memory<[256], f32, global> -> vector<1xf32>
    wave.write %zero, %a index [128 + wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[256], f32, global>
    %v1 = wave.read %a index [128 + wave.x * 64 + 63 - lane] : !wave.memory<[256], f32, global> -> vector<1xf32>
    wave.return
  }
}

// -----

// Each trip writes a tile of its own.
// CHECK-LABEL: @global_tiles(
// CHECK-NOT:   barrier
// CHECK:       wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @global_tiles(%a: !wave.memory<[256], f32, global>) symbols {M = 128, K = 256}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %zero = arith.constant dense<0.0> : vector<1xf32>
    wave.iterate K iv(%k) trips(2) {
      wave.write %zero, %a index [iv.K * 128 + wave.x * 64 + lane] symbols(iv.K = %k) : vector<1xf32>, !wave.memory<[256], f32, global>
      wave.yield
    }
    wave.return
  }
}

// -----

// The user's barrier learns to order global memory.
// CHECK-LABEL: @given_everywhere(
// CHECK:       wave.write
// CHECK-NEXT:  wave.shared_memory_barrier {wave.everywhere}
// CHECK-NEXT:  wave.read
// CHECK-NOT:   barrier
// CHECK:       wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @given_everywhere(%a: !wave.memory<[256], f32, global>) symbols {M = 128, K = 256}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %zero = arith.constant dense<0.0> : vector<1xf32>
    wave.write %zero, %a index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[256], f32, global>
    wave.shared_memory_barrier
    %v0 = wave.read %a index [127 - wave.x * 64 - lane] : !wave.memory<[256], f32, global> -> vector<1xf32>
    wave.return
  }
}

// -----

// Lanes without the mask read somewhere in the buffer too. In a conditional that one wave enters they are that wave's
// lanes: no barrier. Otherwise the buffer is another wave's as well, though the rows of the mask are not.
// CHECK-LABEL: @masked_in_one_wave(
// CHECK-NOT:   wave.shared_memory_barrier
// CHECK:       wave.wave_fence
// CHECK-NOT:   wave.shared_memory_barrier
// CHECK:       wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @masked_in_one_wave(%a: !wave.memory<[128], f32, global>, %c: !wave.memory<[128], f32, global>) symbols {M = 128}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.hardware<threads_per_wave = 64>] {
    %l = wave.allocate : !wave.memory<[64], f32, shared>
    wave.conditional [wave.x lt 1] {
      %x = wave.read %a index [lane] : !wave.memory<[128], f32, global> -> vector<1xf32>
      wave.write %x, %l index [lane] : vector<1xf32>, !wave.memory<[64], f32, shared>
      %m = wave.mask [lane lt 32] : vector<1xi1>
      %y = wave.read %l mask %m index [63 - lane] : !wave.memory<[64], f32, shared> -> vector<1xf32>
      wave.write %y, %c index [lane] : vector<1xf32>, !wave.memory<[128], f32, global>
      wave.yield
    }
    wave.return
  }
}

// -----

// CHECK-LABEL: @masked_rows(
// CHECK:       wave.write
// CHECK:       wave.shared_memory_barrier
// CHECK-NEXT:  wave.read
// CHECK-NOT:   barrier
// CHECK:       wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @masked_rows(%a: !wave.memory<[128], f32, global>, %c: !wave.memory<[128], f32, global>) symbols {M = 128}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.hardware<threads_per_wave = 64>] {
    %l = wave.allocate : !wave.memory<[128], f32, shared>
    %x = wave.read %a index [wave.x * 64 + lane] : !wave.memory<[128], f32, global> -> vector<1xf32>
    wave.write %x, %l index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[128], f32, shared>
    %m = wave.mask [lane lt 32] : vector<1xi1>
    %y = wave.read %l mask %m index [wave.x * 64 + 63 - lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
    wave.write %y, %c index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[128], f32, global>
    wave.return
  }
}
