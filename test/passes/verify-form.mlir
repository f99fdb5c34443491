// RUN: wave-opt %s --wave-verify-form='form=gpu target=gfx942' | FileCheck %s
// RUN: wave-opt %s --wave-verify-form | FileCheck %s
// RUN: wave-opt %s --verify-forms --wave-declare-form=form=gpu | FileCheck %s
// CHECK: module attributes {gpu.container_module, wave.form = "gpu", wave.target = "gfx942"}
module attributes {wave.form = "gpu", wave.target = "gfx942", gpu.container_module} {
}
