// RUN: wave-opt %s --split-input-file --verify-diagnostics --wave-verify-form=form=typed
// expected-error@+1 {{the module must be in form typed, and this one has no wave.form}}
module {
}
// -----
module attributes {wave.form = "typed"} {
}
// -----
// expected-error@+1 {{this one's wave.form is tile}}
module attributes {wave.form = "tile"} {
}
