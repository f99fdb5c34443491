// RUN: wave-opt %s --split-input-file --verify-diagnostics --wave-expand-math

module attributes {wave.form = "gpu", wave.target = "gfx942"} {
  gpu.module @m {
    gpu.func @k(%x: f128) {
      // expected-error@+1 {{'math.tanh' on f128 has no expansion; cast to f32 or f64 before it}}
      %0 = math.tanh %x : f128
      gpu.return
    }
  }
}

// -----

module attributes {wave.form = "gpu", wave.target = "gfx942"} {
  gpu.module @m {
    gpu.func @k(%x: vector<[4]xf32>) {
      // expected-error@+1 {{'math.sin' on vector<[4]xf32>: the target has no scalable vectors; use one of fixed length}}
      %0 = math.sin %x : vector<[4]xf32>
      gpu.return
    }
  }
}

// -----

module attributes {wave.form = "gpu", wave.target = "gfx942"} {
  func.func @host(%x: f32) {
    // expected-error@+1 {{'math.cosh' is not in a gpu.func; only kernels become machine code}}
    %0 = math.cosh %x : f32
    func.return
  }
}
