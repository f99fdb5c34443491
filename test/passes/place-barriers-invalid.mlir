// RUN: wave-opt %s --verify-diagnostics --wave-place-barriers

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
