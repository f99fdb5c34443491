// RUN: wave-opt %s --split-input-file --verify-diagnostics --wave-place-barriers

module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[256], f32, global>) symbols {M = 256}
      constraints [#wave.workgroup<M, 256, x>, #wave.wave<M, 64>, #wave.hardware<threads_per_wave = 64>] {
    %l = wave.allocate : !wave.memory<[128], f32, shared>
    %zero = arith.constant dense<0.0> : vector<1xf32>
    wave.conditional [wave.x lt 2] {
      // expected-note@+1 {{the other access}}
      wave.write %zero, %l index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[128], f32, shared>
      // expected-error@+1 {{this access needs a barrier after another one, and both are in a conditional that not every wave may enter, or in a loop that waves leave at different times; move one of them out of it}}
      %v = wave.read %l index [127 - wave.x * 64 - lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
      wave.yield
    }
    wave.return
  }
}

// -----

// The lanes may disagree on what they read.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @lanes_disagree(%n: !wave.memory<[128], i32, global>) symbols {M = 128}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.hardware<threads_per_wave = 64>] {
    %l = wave.allocate : !wave.memory<[128], f32, shared>
    %zero = arith.constant dense<0.0> : vector<1xf32>
    %length = wave.read %n index [wave.x * 64 + lane] : !wave.memory<[128], i32, global> -> vector<1xi32>
    wave.conditional [T gt 0] symbols(T = %length : vector<1xi32>) {
      // expected-note@+1 {{the other access}}
      wave.write %zero, %l index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[128], f32, shared>
      // expected-error@+1 {{this access needs a barrier after another one}}
      %v = wave.read %l index [127 - wave.x * 64 - lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
      wave.yield
    }
    wave.return
  }
}

// -----

module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @barrier_of_some_waves(%n: !wave.memory<[128], i32, global>) symbols {M = 128}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.hardware<threads_per_wave = 64>] {
    // expected-note@+1 {{its condition depends on the lane or wave}}
    wave.conditional [wave.x eq 0] {
      // expected-error@+1 {{this barrier is in a conditional that waves may enter differently, and a wave that stays out would leave the others waiting; move it out, or decide by a value that all lanes of the workgroup share}}
      wave.workgroup_barrier
      wave.yield
    }
    wave.return
  }
}

// -----

// The condition comes from data at the lane's own place, through arithmetic.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @barrier_by_data(%n: !wave.memory<[128], i32, global>) symbols {M = 128}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.hardware<threads_per_wave = 64>] {
    %one = arith.constant dense<1> : vector<1xi32>
    %own = wave.read %n index [wave.x * 64 + lane] : !wave.memory<[128], i32, global> -> vector<1xi32>
    %length = arith.addi %own, %one : vector<1xi32>
    // expected-note@+1 {{its condition depends on the lane or wave}}
    wave.conditional [T gt 0] symbols(T = %length : vector<1xi32>) {
      // expected-error@+1 {{this barrier is in a conditional}}
      wave.shared_memory_barrier
      wave.yield
    }
    wave.return
  }
}

// -----

// Barriers that are allowed: all waves agree, or may agree after an exchange, which only a run can tell.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @barriers_that_all_reach(%n: !wave.memory<[128], i32, global>) symbols {M = 128}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.hardware<threads_per_wave = 64>] {
    %shared = wave.read %n index [wg.x] : !wave.memory<[128], i32, global> -> vector<1xi32>
    wave.conditional [T gt 0] symbols(T = %shared : vector<1xi32>) {
      wave.workgroup_barrier
      wave.yield
    }
    %l = wave.allocate : !wave.memory<[128], i32, shared>
    %own = wave.read %n index [wave.x * 64 + lane] : !wave.memory<[128], i32, global> -> vector<1xi32>
    wave.write %own, %l index [wave.x * 64 + lane] : vector<1xi32>, !wave.memory<[128], i32, shared>
    wave.shared_memory_barrier
    %exchanged = wave.read %l index [127 - wave.x * 64 - lane] : !wave.memory<[128], i32, shared> -> vector<1xi32>
    wave.conditional [T gt 0] symbols(T = %exchanged : vector<1xi32>) {
      wave.workgroup_barrier
      wave.yield
    }
    wave.return
  }
}

// -----

// Waves make different numbers of trips.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @loop_by_wave(%n: !wave.memory<[128], i32, global>) symbols {M = 128, K = 256}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    // expected-note@+1 {{its number of trips depends on the lane or wave}}
    wave.iterate K iv(%k) trips(wave.x + 1) {
      // expected-error@+1 {{this barrier is in a loop that waves may leave at different times, and a wave that stays out would leave the others waiting}}
      wave.shared_memory_barrier
      wave.yield
    }
    wave.return
  }
}

// -----

module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @placed_in_a_loop_by_wave(%n: !wave.memory<[128], i32, global>) symbols {M = 128, K = 256}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %l = wave.allocate : !wave.memory<[128], i32, shared>
    %own = wave.read %n index [wave.x * 64] : !wave.memory<[128], i32, global> -> vector<1xi32>
    wave.iterate K iv(%k) trips(T) symbols(T = %own : vector<1xi32>) {
      // expected-note@+1 {{the other access}}
      wave.write %own, %l index [wave.x * 64 + lane] : vector<1xi32>, !wave.memory<[128], i32, shared>
      // expected-error@+1 {{this access needs a barrier after another one}}
      %v = wave.read %l index [127 - wave.x * 64 - lane] : !wave.memory<[128], i32, shared> -> vector<1xi32>
      wave.yield
    }
    wave.return
  }
}

// -----

// No barrier can order global memory here: a warning.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @global_in_a_part(%a: !wave.memory<[256], f32, global>) symbols {M = 256}
      constraints [#wave.workgroup<M, 256, x>, #wave.wave<M, 64>, #wave.hardware<threads_per_wave = 64>] {
    %zero = arith.constant dense<0.0> : vector<1xf32>
    wave.conditional [wave.x lt 2] {
      // expected-note@+1 {{the other access}}
      wave.write %zero, %a index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[256], f32, global>
      // expected-warning@+1 {{another wave may access the same global memory as this one, one of them writing, and no barrier can stand between: not every wave may come there}}
      %v = wave.read %a index [127 - wave.x * 64 - lane] : !wave.memory<[256], f32, global> -> vector<1xf32>
      wave.yield
    }
    wave.return
  }
}
