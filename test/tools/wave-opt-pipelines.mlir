// Named pipelines: list, print, feed back.
// RUN: wave-opt --list-pipelines | FileCheck %s --check-prefix=LIST
// RUN: wave-opt --pipeline='gpu-to-rocdl{target=gfx950}' --print-pipeline > %t.txt
// RUN: FileCheck %s --check-prefix=PRINT < %t.txt
// RUN: %python %S/Inputs/feed_back.py %t.txt %s > %t.fed
// RUN: wave-opt --pipeline='gpu-to-rocdl{target=gfx950}' %s > %t.named
// RUN: diff %t.fed %t.named
// RUN: FileCheck %s < %t.named
// RUN: not wave-opt --pipeline=gpu-to-rocd %s 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not wave-opt --pipeline='gpu-to-rocdl{targt=gfx942}' %s 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: not wave-opt --pipeline='gpu-to-rocdl{verify=perhaps}' %s 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: not wave-opt --pipeline='default{target=gfx943}' %s 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not wave-opt --pipeline=gpu-to-rocdl %s -o %t.none 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not test -e %t.none
// RUN: not wave-opt --print-pipeline 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not wave-opt --pipeline=default --pass-pipeline=cse %s 2>&1 | FileCheck %s --check-prefix=BOTH

// LIST: gpu-to-rocdl {{.*}}from gpu form to rocdl form
// LIST: default {{.*}}the same as tile-to-rocdl
// LIST: target: chip
// PRINT: builtin.module(wave-verify-form{form=gpu target=gfx950},wave-expand-math,wave-expand-casts{target=gfx950},wave-prepare-rocdl{target=gfx950},gpu.module({{.*}}convert-gpu-to-rocdl{chipset=gfx950
// CHIP: error: pipeline 'default': unknown target 'gfx943'; known: gfx90a, gfx942, gfx950, gfx1201; did you mean gfx942?
// UNKNOWN: wave-opt: error: there is no pipeline 'gpu-to-rocd'; did you mean 'gpu-to-rocdl'?
// OPTION: wave-opt: error: pipeline 'gpu-to-rocdl' has no option 'targt'; did you mean 'target'?
// VALUE: wave-opt: error: pipeline 'gpu-to-rocdl': bad value 'perhaps' of option 'verify': it takes true or false
// TARGET: wave-opt-pipelines.mlir:[[#@LINE+6]]:1: error: the pipeline lowers to gfx942, and this one's wave.target is gfx950: give the pipeline target=gfx950
// NONE: wave-opt: error: --print-pipeline needs --pipeline
// BOTH: wave-opt: error: --pipeline and --pass-pipeline exclude each other

// CHECK: wave.form = "rocdl"
// CHECK: llvm.func @k{{.*}}rocdl.kernel
module attributes {wave.form = "gpu", wave.target = "gfx950", gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%a: memref<?xf32, #gpu.address_space<global>>) kernel attributes {
        known_block_size = array<i32: 64, 1, 1>, wave.grid = [#wave.expr<1>, #wave.expr<1>, #wave.expr<1>],
        wave.symbols = {}, wave.args = [{kind = "memory", name = "a", dtype = f32, shape = [#wave.expr<64>],
                                         access = "readwrite"}]} {
      %0 = gpu.thread_id x
      %1 = memref.load %a[%0] : memref<?xf32, #gpu.address_space<global>>
      %2 = arith.addf %1, %1 : f32
      memref.store %2, %a[%0] : memref<?xf32, #gpu.address_space<global>>
      gpu.return
    }
  }
}
