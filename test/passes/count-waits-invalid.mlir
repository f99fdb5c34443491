// RUN: wave-opt %s --split-input-file --wave-count-waits --verify-diagnostics

// A module in another form than the one the pass starts from.
// expected-error@+1 {{wave-count-waits needs a module in form lane, this one is in form staged}}
module attributes {wave.form = "staged", wave.target = "gfx950"} {
}
