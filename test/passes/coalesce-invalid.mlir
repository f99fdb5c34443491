// RUN: not wave-opt %s --wave-coalesce 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not wave-opt %s --pass-pipeline='builtin.module(wave-declare-form{form=staged},wave-coalesce{max-bits=-8})' 2>&1 | FileCheck %s --check-prefix=BITS

// FORM: coalesce-invalid.mlir:[[#@LINE+2]]:1: error: wave-coalesce needs a module in form staged, this one is in form gpu: it is past that form already
// BITS: coalesce-invalid.mlir:[[#@LINE+1]]:1: error: max-bits is -8; give the bits of one load, or 0
module attributes {wave.form = "gpu", wave.target = "gfx942"} {
}
