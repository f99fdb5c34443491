// RUN: wave-opt %s --split-input-file --verify-diagnostics --wave-place-barriers

module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[256], f32, global>) symbols {M = 128}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.hardware<threads_per_wave = 64>] {
    %l = wave.allocate : !wave.memory<[128], f32, shared>
    %zero = arith.constant dense<0.0> : vector<1xf32>
    wave.conditional [wave.x eq 0] {
      // expected-note@+1 {{the other access}}
      wave.write %zero, %l index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[128], f32, shared>
      // expected-error@+1 {{this access needs a barrier after another one, and both are in a conditional that not every wave may enter; move one of them out of it}}
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
