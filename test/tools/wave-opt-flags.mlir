// mlir-opt's flags with passes written in Python.
// RUN: wave-opt %s --wave-declare-form=form=typed | FileCheck %s
// RUN: wave-opt --pass-pipeline='builtin.module(wave-declare-form{form=typed})' < %s | FileCheck %s
// RUN: wave-opt %s --pass-pipeline='builtin.module(wave-declare-form{form=typed},wave-verify-form)' --dump-pass-pipeline 2>&1 >/dev/null | FileCheck %s --check-prefix=DUMP
// RUN: wave-opt %s --wave-declare-form=form=typed --cse --mlir-print-ir-after-all 2>&1 >/dev/null | FileCheck %s --check-prefix=AFTER
// RUN: wave-opt %s --wave-declare-form=form=typed --cse --mlir-print-ir-before=wave-declare-form 2>&1 >/dev/null | FileCheck %s --check-prefix=BEFORE
// RUN: wave-opt %s --wave-declare-form=form=typed --mlir-timing 2>&1 >/dev/null | FileCheck %s --check-prefix=TIMING
// RUN: wave-opt --help | FileCheck %s --check-prefix=HELP
// RUN: wave-opt --version | FileCheck %s --check-prefix=VERSION

// CHECK: module attributes {wave.form = "typed"}
// DUMP: wave-declare-form{form=typed}
// DUMP-NEXT: wave-verify-form
// AFTER: IR Dump After wave-declare-form
// AFTER: IR Dump After CSE
// BEFORE: IR Dump Before wave-declare-form
// BEFORE-NOT: IR Dump
// TIMING: Execution time report
// TIMING: wave-declare-form
// HELP: --wave-declare-form {{.*}}Set the module's `wave.form`
// HELP-NEXT: --form=<value> {{.*}}form that the module is in (text; default '')
// HELP: wave-opt options:
// HELP: --pipeline=<NAME{options}>
// VERSION: LLVM version 22.1
module attributes {wave.form = "tile"} {
}
