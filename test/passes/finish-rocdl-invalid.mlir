// RUN: wave-opt %s --split-input-file --verify-diagnostics --wave-finish-rocdl

module attributes {wave.form = "gpu", wave.target = "gfx942"} {
  gpu.module @m {
    llvm.func @__ocml_erf_f32(f32) -> f32
    llvm.func @k(%x: f32) {
      // expected-error@+1 {{needs the library function '__ocml_erf_f32', and no device library is linked}}
      %0 = llvm.call @__ocml_erf_f32(%x) : (f32) -> f32
      llvm.return
    }
  }
}

// -----

module attributes {wave.form = "gpu", wave.target = "gfx942"} {
  gpu.module @m {
    llvm.func @k(%x: f32) {
      // expected-error@+1 {{'arith.addf' on f32, f32, f32 has no lowering to machine code on this target}}
      %0 = arith.addf %x, %x : f32
      llvm.return
    }
  }
}
