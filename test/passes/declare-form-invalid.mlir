// RUN: wave-opt %s --split-input-file --verify-diagnostics --wave-declare-form=form=rocd

// expected-error@+1 {{wave-declare-form: there is no form 'rocd'; did you mean 'rocdl'?}}
module attributes {wave.form = "gpu"} {
}
