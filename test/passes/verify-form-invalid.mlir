// RUN: wave-opt %s --split-input-file --verify-diagnostics --wave-verify-form='form=gpu target=gfx942'

// expected-error@+1 {{the module must be in form gpu, and this one has no wave.form}}
module {
}

// -----

// expected-error@+1 {{the module must be in form gpu, and this one's wave.form is tile}}
module attributes {wave.form = "tile"} {
}

// -----

// expected-error@+1 {{wave.form "til"; the forms are tile, typed, placed, staged, lane, scheduled, gpu, rocdl}}
module attributes {wave.form = "til"} {
}

// -----

// expected-error@+1 {{the pipeline lowers to gfx942, and this one has no wave.target}}
module attributes {wave.form = "gpu"} {
}
