// RUN: wave-opt %s --wave-apply-schedule | FileCheck %s
// RUN: wave-opt %s --wave-apply-schedule --wave-pipeline-loops | FileCheck %s --check-prefix=LOOPS

// Loads in stage 0, sums in stage 1, the sums first; a priority is added after the loads, a barrier before the steady
// loop. What the two tagged ops became is found by their locations; the text of the schedule is gone.
// CHECK-LABEL: @sums(
// CHECK-NOT:     wave.manual
// CHECK:         wave.workgroup_barrier {wave.first}
// CHECK:         wave.iterate {{.*}} attributes {wave.pipeline = {interval = {{[0-9]+}} : i64, stages = 2 : i64, strategy = "manual", unroll = 1 : i64}} {
// CHECK:           wave.buffer_load {{.*}}wave.slot = {order = 1 : i64, stage = 0 : i64}
// CHECK:           wave.set_wave_prio 2 {wave.slot = {order = 2 : i64, stage = 0 : i64}}
// CHECK:           arith.addf {{.*}}wave.slot = {order = 0 : i64, stage = 1 : i64}
// LOOPS-LABEL: @sums(
// LOOPS:         wave.buffer_load
// LOOPS:         wave.set_wave_prio 2
// LOOPS:         wave.workgroup_barrier
// LOOPS-NOT:     wave.first
// LOOPS:         wave.iterate K iv({{.*}}) trips(7)
// LOOPS:           arith.addf
// LOOPS:           wave.buffer_load
// LOOPS:           wave.set_wave_prio 2
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @sums(%a: !wave.memory<[M], f32, global>, %b: !wave.memory<[M], f32, global>) symbols {M = 512} dynamic []
      constraints [#wave.hardware<threads_per_wave = 64>]
      attributes {wave.manual = "[{\22loop\22: \22k\22, \22at\22: [\22k.py\22, 1, 1], \22stages\22: [[[{\22nodes\22: [[\22tag\22, \22x\22]], \22at\22: [\22k.py\22, 2, 1]}]], [[{\22nodes\22: [[\22tag\22, \22sum\22]], \22at\22: [\22k.py\22, 3, 1]}]]], \22order\22: [{\22nodes\22: [[\22tag\22, \22sum\22]], \22at\22: [\22k.py\22, 3, 1]}, {\22nodes\22: [[\22tag\22, \22x\22], [\22type\22, \22Read\22], [\22space\22, \22global\22, true]], \22at\22: [\22k.py\22, 2, 1]}, {\22insert\22: \22SetWavePrio\22, \22arguments\22: [[\22priority\22, 2]], \22at\22: [\22k.py\22, 4, 1]}], \22before\22: [{\22insert\22: \22WorkgroupBarrier\22, \22arguments\22: [], \22at\22: [\22k.py\22, 5, 1]}], \22starts\22: [], \22ends\22: [], \22beside\22: [], \22unroll\22: 1}]"} {
    %zero = arith.constant dense<0.0> : vector<1xf32>
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %zero : vector<1xf32>) {
      %x = wave.buffer_load %a base [iv.K * 64] offset [lane] symbols(iv.K = %k) : !wave.memory<[M], f32, global> -> vector<1xf32> loc("wave.tag:x"("k.py":7:1))
      %y = arith.addf %s, %x : vector<1xf32> loc("wave.tag:sum"("k.py":8:1))
      wave.yield %y : vector<1xf32>
    } loc("wave.tag:k"("k.py":6:1))
    wave.buffer_store %r, %b base [0] offset [lane] : vector<1xf32>, !wave.memory<[M], f32, global>
    wave.return
  }
}
