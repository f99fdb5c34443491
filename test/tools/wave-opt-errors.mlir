// Errors: one clear message, exit code 1, no output file.
// RUN: not wave-opt %s --wave-verify-form=form=typed -o %t.out 2>&1 | FileCheck %s --check-prefix=FAILS
// RUN: not test -e %t.out
// RUN: not wave-opt %s --pass-pipeline='builtin.module(wave-verify-form{frm=tile})' 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: not wave-opt %s --wave-verify-form='form' 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: not wave-opt %s --pass-pipeline='builtin.module(wave-verify-frm)' 2>&1 | FileCheck %s --check-prefix=PASS
// RUN: not wave-opt %s --wave-verify-frm 2>&1 | FileCheck %s --check-prefix=FLAG
// RUN: not wave-opt %s --pipeline=tile-to-lane --pipeline=lane-to-gpu 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not wave-opt %t.missing 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: not wave-opt %s --pass-pipeline='builtin.module(cse,wave-verify-form{form=typed})' --mlir-pass-pipeline-crash-reproducer=%t.repro.mlir 2>&1 | FileCheck %s --check-prefix=CRASH
// RUN: not wave-opt --run-reproducer %t.repro.mlir 2>&1 | FileCheck %s --check-prefix=AGAIN

// TWICE: error: --pipeline is given twice; name one that leads all the way
// FAILS: wave-opt-errors.mlir:[[#@LINE+9]]:1: error: the module must be in form typed, and this one's wave.form is tile
// FAILS-NOT: Traceback
// OPTION: error: wave-verify-form has no option 'frm'; did you mean 'form'?
// VALUE: error: wave-verify-form: option 'form' needs a value: text
// PASS: 'wave-verify-frm' does not refer to a registered pass
// FLAG: Unknown command line argument '--wave-verify-frm'
// FILE: cannot open input file
// CRASH: reproducer generated at
// AGAIN: repro.mlir:1:1: error: the module must be in form typed
module attributes {wave.form = "tile"} {
}
