// RUN: wave-opt %s --split-input-file --verify-diagnostics --wave-guard-domains

// Layouts come first.
// expected-error@+1 {{wave-guard-domains needs a module in form placed, this one is in form typed: run the pipeline 'typed-to-placed' first}}
module attributes {wave.form = "typed", wave.target = "gfx942"} {
}
