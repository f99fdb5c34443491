// RUN: wave-opt %s --split-input-file --verify-diagnostics --wave-place-barriers | FileCheck %s

// Two groups of waves a barrier apart. Between write and read, and from the read to the next trip's write, there are two
// barriers: nothing is added to the loop. What stands before the loop needs one, as in any kernel.
// CHECK-LABEL: @apart(
// CHECK:       wave.write
// CHECK-NEXT:  wave.shared_memory_barrier
// CHECK-NEXT:  wave.conditional [2 le wave.x] attributes {wave.stagger}
// CHECK-NEXT:    wave.shared_memory_barrier
// CHECK:       wave.iterate
// CHECK-COUNT-4: wave.shared_memory_barrier
// CHECK-NOT:   barrier
// CHECK:       wave.yield
// CHECK:       wave.conditional [wave.x lt 2] attributes {wave.stagger}
// CHECK-NEXT:    wave.shared_memory_barrier
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @apart(%a: !wave.memory<[256], f32, global>) symbols {M = 256, K = 256}
      constraints [#wave.workgroup<M, 256, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %l = wave.allocate : !wave.memory<[256], f32, shared>
    %zero = arith.constant dense<0.0> : vector<1xf32>
    wave.write %zero, %l index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[256], f32, shared>
    wave.conditional [wave.x ge 2] attributes {wave.stagger} {
      wave.shared_memory_barrier
      wave.yield
    }
    %sum = wave.iterate K iv(%k) trips(8) iter_args(%acc = %zero : vector<1xf32>) {
      wave.shared_memory_barrier
      %v = wave.read %l index [255 - wave.x * 64 - lane] : !wave.memory<[256], f32, shared> -> vector<1xf32>
      wave.shared_memory_barrier
      wave.shared_memory_barrier
      wave.write %acc, %l index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[256], f32, shared>
      wave.shared_memory_barrier
      wave.yield %v : vector<1xf32>
    }
    wave.conditional [wave.x lt 2] attributes {wave.stagger} {
      wave.shared_memory_barrier
      wave.yield
    }
    wave.write %sum, %a index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[256], f32, global>
    wave.return
  }
}

// -----

// With one barrier between, the group ahead reads while the other one still writes.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @one(%a: !wave.memory<[256], f32, global>) symbols {M = 256, K = 256}
      constraints [#wave.workgroup<M, 256, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %l = wave.allocate : !wave.memory<[256], f32, shared>
    %zero = arith.constant dense<0.0> : vector<1xf32>
    wave.conditional [wave.x ge 2] attributes {wave.stagger} {
      wave.shared_memory_barrier
      wave.yield
    }
    wave.iterate K iv(%k) trips(8) {
      // expected-note@+1 {{the other access}}
      wave.write %zero, %l index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[256], f32, shared>
      wave.shared_memory_barrier
      // expected-error@+1 {{two groups of waves run this loop a barrier apart, and the group ahead may come here while the other one is still at the access that this one meets: it takes two barriers between, and there is one; move one of the accesses behind one more barrier, give the buffer copies, or do not stagger the waves}}
      %v = wave.read %l index [255 - wave.x * 64 - lane] : !wave.memory<[256], f32, shared> -> vector<1xf32>
      wave.shared_memory_barrier
      wave.shared_memory_barrier
      wave.yield
    }
    wave.conditional [wave.x lt 2] attributes {wave.stagger} {
      wave.shared_memory_barrier
      wave.yield
    }
    wave.return
  }
}

// -----

// Barriers for LDS order no global memory.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @outside(%a: !wave.memory<[256], f32, global>) symbols {M = 256, K = 256}
      constraints [#wave.workgroup<M, 256, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %zero = arith.constant dense<0.0> : vector<1xf32>
    wave.conditional [wave.x ge 2] attributes {wave.stagger} {
      wave.shared_memory_barrier
      wave.yield
    }
    wave.iterate K iv(%k) trips(8) {
      // expected-note@+1 {{the other access}}
      wave.write %zero, %a index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[256], f32, global>
      wave.shared_memory_barrier
      wave.shared_memory_barrier
      // expected-error@+1 {{two groups of waves run this loop a barrier apart, and its barriers do not order accesses to the global memory that is written here and accessed again; do not stagger the waves}}
      %v = wave.read %a index [255 - wave.x * 64 - lane] : !wave.memory<[256], f32, global> -> vector<1xf32>
      wave.shared_memory_barrier
      wave.shared_memory_barrier
      wave.yield
    }
    wave.conditional [wave.x lt 2] attributes {wave.stagger} {
      wave.shared_memory_barrier
      wave.yield
    }
    wave.return
  }
}

// -----

module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @never_together(%a: !wave.memory<[256], f32, global>) symbols {M = 256}
      constraints [#wave.workgroup<M, 256, x>, #wave.wave<M, 64>, #wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{some of the waves execute a barrier more than the others, who would wait for ever: let the others execute one alone too, behind it in the same block}}
    wave.conditional [wave.x ge 2] attributes {wave.stagger} {
      wave.shared_memory_barrier
      wave.yield
    }
    wave.return
  }
}

// -----

module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @not_the_others(%a: !wave.memory<[256], f32, global>) symbols {M = 256}
      constraints [#wave.workgroup<M, 256, x>, #wave.wave<M, 64>, #wave.hardware<threads_per_wave = 64>] {
    // expected-note@+1 {{the barrier before}}
    wave.conditional [wave.x ge 2] attributes {wave.stagger} {
      wave.shared_memory_barrier
      wave.yield
    }
    // expected-error@+1 {{this barrier is not for just those waves that did not execute the one before; the groups would not be together again}}
    wave.conditional [wave.x lt 1] attributes {wave.stagger} {
      wave.shared_memory_barrier
      wave.yield
    }
    wave.return
  }
}

// -----

module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @no_wave(%a: !wave.memory<[256], f32, global>) symbols {M = 256}
      constraints [#wave.workgroup<M, 256, x>, #wave.wave<M, 64>, #wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{none of the 4 waves execute this barrier of some; let its condition hold for a part of the waves}}
    wave.conditional [wave.x ge 4] attributes {wave.stagger} {
      wave.shared_memory_barrier
      wave.yield
    }
    wave.return
  }
}

// -----

module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @by_group(%a: !wave.memory<[256], f32, global>) symbols {M = 256}
      constraints [#wave.workgroup<M, 256, x>, #wave.wave<M, 64>, #wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{which waves execute this barrier is not known; let its condition be over wave ids alone}}
    wave.conditional [wg.x ge 4] attributes {wave.stagger} {
      wave.shared_memory_barrier
      wave.yield
    }
    wave.return
  }
}

// -----

module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @other_body(%a: !wave.memory<[256], f32, global>) symbols {M = 256}
      constraints [#wave.workgroup<M, 256, x>, #wave.wave<M, 64>, #wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{a conditional with wave.stagger has one wave.shared_memory_barrier without attributes, and no else}}
    wave.conditional [wave.x ge 2] attributes {wave.stagger} {
      wave.workgroup_barrier
      wave.yield
    }
    wave.return
  }
}

// -----

module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @further_apart(%a: !wave.memory<[256], f32, global>) symbols {M = 256, K = 256}
      constraints [#wave.workgroup<M, 256, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    wave.conditional [wave.x ge 2] attributes {wave.stagger} {
      wave.shared_memory_barrier
      wave.yield
    }
    wave.iterate K iv(%k) trips(8) {
      // expected-error@+1 {{the waves are a barrier apart already; this barrier of some has to go behind the next one}}
      wave.conditional [wave.x ge 2] attributes {wave.stagger} {
        wave.shared_memory_barrier
        wave.yield
      }
      wave.yield
    }
    wave.conditional [wave.x lt 2] attributes {wave.stagger} {
      wave.shared_memory_barrier
      wave.yield
    }
    wave.return
  }
}

// -----

module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @no_order(%a: !wave.memory<[256], f32, global>) symbols {M = 256}
      constraints [#wave.workgroup<M, 256, x>, #wave.wave<M, 64>, #wave.hardware<threads_per_wave = 64>] {
    wave.conditional [wave.x ge 2] attributes {wave.stagger} {
      wave.shared_memory_barrier
      wave.yield
    }
    // expected-error@+1 {{wave.workgroup_barrier between waves that are a barrier apart does not say what LDS accesses it orders; use wave.shared_memory_barrier}}
    wave.workgroup_barrier
    wave.conditional [wave.x lt 2] attributes {wave.stagger} {
      wave.shared_memory_barrier
      wave.yield
    }
    wave.return
  }
}

// -----

module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @every_wave(%a: !wave.memory<[256], f32, global>) symbols {M = 256}
      constraints [#wave.workgroup<M, 256, x>, #wave.wave<M, 64>, #wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{all of the 4 waves execute this barrier of some; let its condition hold for a part of the waves}}
    wave.conditional [wave.x ge 0] attributes {wave.stagger} {
      wave.shared_memory_barrier
      wave.yield
    }
    wave.return
  }
}

// -----

// What was stored in the loop is read behind it: the barrier for that stands behind, where all waves are together.
// CHECK-LABEL: @behind(
// CHECK:       wave.iterate
// CHECK-NOT:   everywhere
// CHECK:       wave.conditional [wave.x lt 2] attributes {wave.stagger}
// CHECK:       wave.shared_memory_barrier {wave.everywhere}
// CHECK-NEXT:  wave.read
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @behind(%a: !wave.memory<[2048], f32, global>) symbols {M = 256, K = 256}
      constraints [#wave.workgroup<M, 256, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %zero = arith.constant dense<0.0> : vector<1xf32>
    wave.conditional [wave.x ge 2] attributes {wave.stagger} {
      wave.shared_memory_barrier
      wave.yield
    }
    wave.iterate K iv(%k) trips(8) {
      wave.write %zero, %a index [iv.K * 256 + wave.x * 64 + lane] symbols(iv.K = %k) : vector<1xf32>, !wave.memory<[2048], f32, global>
      wave.shared_memory_barrier
      wave.shared_memory_barrier
      wave.yield
    }
    wave.conditional [wave.x lt 2] attributes {wave.stagger} {
      wave.shared_memory_barrier
      wave.yield
    }
    %v = wave.read %a index [255 - wave.x * 64 - lane] : !wave.memory<[2048], f32, global> -> vector<1xf32>
    wave.return
  }
}
