// RUN: wave-opt %s --wave-coalesce --verify-diagnostics
// A module in another form than the one the pass starts from.

// expected-error @below {{coalesce}}
module attributes {wave.form = "gpu", wave.target = "gfx942"} {
}
