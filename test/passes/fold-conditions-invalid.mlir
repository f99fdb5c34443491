// RUN: wave-opt %s --split-input-file --wave-fold-conditions --verify-diagnostics

// A module in another form than the one the pass starts from.
// expected-error@+1 {{wave-fold-conditions needs a module in form lane, this one is in form staged}}
module attributes {wave.form = "staged", wave.target = "gfx942"} {
}
