// RUN: wave-opt %s --split-input-file --wave-specialize-waves --verify-diagnostics
// RUN: not wave-opt %s --wave-specialize-waves=priority=-1 2>&1 | FileCheck %s

// CHECK: priority

// A module in another form than the one the pass starts from.
// expected-error@+1 {{wave-specialize-waves needs a module in form lane, this one is in form staged}}
module attributes {wave.form = "staged", wave.target = "gfx950"} {
}
