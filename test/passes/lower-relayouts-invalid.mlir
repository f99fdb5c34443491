// RUN: wave-opt %s --wave-lower-relayouts --verify-diagnostics
// A module in another form than the one the pass starts from.

// expected-error @below {{lower-relayouts}}
module attributes {wave.form = "gpu", wave.target = "gfx942"} {
}
