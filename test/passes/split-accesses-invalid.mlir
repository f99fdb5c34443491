// RUN: wave-opt %s --wave-split-accesses --verify-diagnostics
// A module in another form than the one the pass starts from.

// expected-error @below {{split-accesses}}
module attributes {wave.form = "gpu", wave.target = "gfx942"} {
}
