// RUN: wave-opt %s --wave-declare-form=form=rocdl | FileCheck %s
// CHECK: module attributes {wave.form = "rocdl", wave.target = "gfx942"}
module attributes {wave.form = "gpu", wave.target = "gfx942"} {
}
