// RUN: wave-opt %s --split-input-file --verify-diagnostics --wave-expand-casts

// expected-error@+1 {{no target: set wave.target on the module, or give one of}}
module attributes {wave.form = "gpu"} {
  gpu.module @m {
    gpu.func @k(%x: f32) {
      %0 = arith.fptosi %x : f32 to i8
      gpu.return
    }
  }
}

// -----

// expected-error@+1 {{unknown target 'gfx9'}}
module attributes {wave.form = "gpu", wave.target = "gfx9"} {
  gpu.module @m {
  }
}
