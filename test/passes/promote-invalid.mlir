// RUN: wave-opt %s --wave-promote --verify-diagnostics
// A module in another form than the one the pass starts from.

// expected-error @below {{promote}}
module attributes {wave.form = "gpu", wave.target = "gfx942"} {
}
