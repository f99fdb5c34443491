// RUN: wave-opt %s --wave-bounds --verify-diagnostics
// A module in another form than the one the pass starts from.

// expected-error @below {{bounds}}
module attributes {wave.form = "gpu", wave.target = "gfx942"} {
}
