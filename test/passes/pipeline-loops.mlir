// RUN: wave-opt %s --wave-pipeline-loops --split-input-file | FileCheck %s

// Two stages: the prologue loads tile 0, the steady loop adds tile t - 1 and loads tile t, the epilogue adds tile 7. The
// loaded value is carried; the counter's tile is one further; scheduling barriers hold the order of ops with
// a slot.
// CHECK-LABEL: @two(
// CHECK:         %[[P:.*]] = wave.read %{{.*}} index [lane] :
// CHECK-NOT:     wave.slot
// CHECK:         %[[L:.*]]:2 = wave.iterate K iv(%[[K:.*]]) trips(7) iter_args(%[[U:.*]] = %[[P]] : f32, %[[V:.*]] = %{{.*}} : f32) attributes {wave.steady = 1 : i64} {
// CHECK-NEXT:      %[[Y:.*]] = arith.addf %[[U]], %[[V]]
// CHECK-NEXT:      wave.scheduling_barrier
// CHECK-NEXT:      %[[X:.*]] = wave.read %{{.*}} index [iv.K * 64 + lane + 64] symbols(iv.K = %[[K]])
// CHECK-NEXT:      wave.scheduling_barrier
// CHECK-NEXT:      wave.yield %[[X]], %[[Y]]
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[R:.*]] = arith.addf %[[L]]#0, %[[L]]#1
// CHECK-NEXT:    wave.scheduling_barrier
// CHECK-NEXT:    wave.write %[[R]], %{{.*}}
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @two(%a: !wave.memory<[512], f32, global>, %c: !wave.memory<[64], f32, global>) symbols {K = 512, BK = 64}
      dynamic [] constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 2 : i64, unroll = 1 : i64}} {
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 0 : i64, order = 1 : i64}}
             : !wave.memory<[512], f32, global> -> f32
      %y = arith.addf %x, %s {wave.slot = {stage = 1 : i64, order = 0 : i64}} : f32
      wave.yield %y : f32
    }
    wave.write %r, %c index [lane] : f32, !wave.memory<[64], f32, global>
    wave.return
  }
}

// -----

// Two copies of the buffer: the loop is unrolled by two, tiles 1, 3 … are in the second. Of 8 tiles 7 are left to the
// steady loop, which takes 6; the last goes to the loop as it was, from trip 7 on.
// CHECK-LABEL: @copies(
// CHECK:         %[[A:.*]] = wave.allocate : !wave.memory<[64], f32, shared>
// CHECK-NEXT:    %[[B:.*]] = wave.allocate : !wave.memory<[64], f32, shared>
// CHECK:         wave.write %{{.*}}, %[[A]]
// CHECK:         wave.iterate K iv(%{{.*}}) trips(3) {{.*}} attributes {wave.steady = 2 : i64}
// CHECK:           wave.read %{{.*}} index [iv.K * 128 + lane + 64]
// CHECK:           wave.write %{{.*}}, %[[B]]
// CHECK:           wave.read %[[A]]
// CHECK:           wave.read %{{.*}} index [iv.K * 128 + lane + 128]
// CHECK:           wave.write %{{.*}}, %[[A]]
// CHECK:           wave.read %[[B]]
// CHECK:         }
// CHECK-NEXT:    wave.read %[[A]]
// CHECK-NEXT:    wave.scheduling_barrier
// CHECK-NEXT:    arith.addf
// CHECK-NEXT:    wave.iterate K iv(%[[K:.*]]) trips(1)
// CHECK-NEXT:      %[[N:.*]] = wave.apply_expr [iv.K + 7] symbols(iv.K = %[[K]])
// CHECK-NEXT:      wave.read %{{.*}} index [iv.K * 64 + lane] symbols(iv.K = %[[N]])
// CHECK-NOT:     wave.pipeline
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @copies(%a: !wave.memory<[512], f32, global>, %c: !wave.memory<[64], f32, global>)
      symbols {K = 512, BK = 64} dynamic []
      constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    %l = wave.allocate {wave.copies = 2 : i64} : !wave.memory<[64], f32, shared>
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 2 : i64, unroll = 1 : i64}} {
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 0 : i64, order = 0 : i64}}
             : !wave.memory<[512], f32, global> -> f32
      wave.write %x, %l index [lane] {wave.slot = {stage = 0 : i64, order = 1 : i64}}
             : f32, !wave.memory<[64], f32, shared>
      %v = wave.read %l index [63 - lane] {wave.slot = {stage = 1 : i64, order = 2 : i64}}
             : !wave.memory<[64], f32, shared> -> f32
      %y = arith.addf %v, %s : f32
      wave.yield %y : f32
    }
    wave.write %r, %c index [lane] : f32, !wave.memory<[64], f32, global>
    wave.return
  }
}

// -----

// A trip count known at run time: the parts are in a conditional that all waves enter or none, and the loop takes the
// tiles that are left, all where there are too few. The epilogue's tile is a value. A mask is made again for its user.
// CHECK-LABEL: @dynamic(
// CHECK:         %[[P:.*]] = wave.conditional [1 le max(K ceildiv 64 - 1, 0)] otherwise(%{{.*}}) -> f32 attributes {wave.uniform} {
// CHECK:           wave.mask [lane lt 50]
// CHECK-NEXT:      wave.read {{.*}} mask %{{.*}} index [lane]
// CHECK:           wave.iterate K iv(%{{.*}}) trips(max(K ceildiv 64 - 1, 0))
// CHECK:             wave.mask [lane lt 50]
// CHECK-NEXT:        wave.read {{.*}} mask %{{.*}} index [iv.K * 64 + lane + 64]
// CHECK:           %[[T:.*]] = wave.apply_expr [max(K ceildiv 64 - 1, 0)] : index
// CHECK-NEXT:      wave.read {{.*}} index [iv.K * 64 + lane] symbols(iv.K = %[[T]])
// CHECK:           wave.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    wave.iterate K iv(%{{.*}}) trips(K ceildiv 64 - select({{.*}})) iter_args(%{{.*}} = %[[P]] : f32)
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @dynamic(%a: !wave.memory<[K], f32, global>, %c: !wave.memory<[64], f32, global>) symbols {BK = 64}
      dynamic [K] constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    %r = wave.iterate K iv(%k) trips(K ceildiv BK) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 2 : i64, unroll = 1 : i64}} {
      %m = wave.mask [lane lt 50] : vector<1xi1>
      %x = wave.read %a mask %m index [iv.K * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 0 : i64, order = 1 : i64}}
             : !wave.memory<[K], f32, global> -> vector<1xf32>
      %u = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 1 : i64, order = 2 : i64}}
             : !wave.memory<[K], f32, global> -> f32
      %t = vector.extract %x[0] : f32 from vector<1xf32>
      %w = arith.mulf %t, %u : f32
      %y = arith.addf %w, %s {wave.slot = {stage = 1 : i64, order = 3 : i64}} : f32
      wave.yield %y : f32
    }
    wave.write %r, %c index [lane] : f32, !wave.memory<[64], f32, global>
    wave.return
  }
}

// -----

// Fewer trips than the stages take stay in the loop as it was.
// CHECK-LABEL: @few(
// CHECK-NOT:     wave.steady
// CHECK:         wave.iterate K iv(%{{.*}}) trips(1)
// CHECK-NEXT:      wave.read %{{.*}} index [iv.K * 64 + lane] symbols(iv.K = %{{.*}}) :
// CHECK-NOT:     wave.pipeline
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @few(%a: !wave.memory<[64], f32, global>, %c: !wave.memory<[64], f32, global>) symbols {K = 64, BK = 64}
      dynamic [] constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    %r = wave.iterate K iv(%k) trips(1) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 2 : i64, unroll = 1 : i64}} {
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 0 : i64, order = 1 : i64}}
             : !wave.memory<[64], f32, global> -> f32
      %y = arith.addf %x, %s {wave.slot = {stage = 1 : i64, order = 0 : i64}} : f32
      wave.yield %y : f32
    }
    wave.write %r, %c index [lane] : f32, !wave.memory<[64], f32, global>
    wave.return
  }
}

// -----

// An op with a body has one place; what it uses inside of the tile's values and number is that of its tile. The value
// goes through two stages, so two are carried.
// CHECK-LABEL: @region(
// CHECK:         wave.iterate K iv(%[[K:.*]]) trips(6) iter_args(%[[X:.*]] = %{{.*}} : f32, %[[Y:.*]] = %{{.*}} : f32)
// CHECK-NEXT:      %[[Z:.*]] = wave.read %{{.*}} index [iv.K * 64 + lane + 128] symbols(iv.K = %[[K]])
// CHECK-NEXT:      wave.scheduling_barrier
// CHECK-NEXT:      %[[T:.*]] = wave.apply_expr [iv.K] symbols(iv.K = %[[K]]) : index
// CHECK-NEXT:      wave.conditional [iv.K lt 3] symbols(iv.K = %[[K]]) {
// CHECK-NEXT:        %[[N:.*]] = arith.negf %[[X]]
// CHECK-NEXT:        wave.write %[[N]], %{{.*}} index [iv.K * 64 + lane] symbols(iv.K = %[[T]])
// CHECK:           wave.yield %[[Y]], %[[Z]]
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @region(%a: !wave.memory<[512], f32, global>) symbols {K = 512, BK = 64} dynamic []
      constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %c = wave.allocate : !wave.memory<[512], f32, shared>
    wave.iterate K iv(%k) trips(8) attributes {wave.pipeline = {stages = 3 : i64, unroll = 1 : i64}} {
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 0 : i64, order = 1 : i64}}
             : !wave.memory<[512], f32, global> -> f32
      wave.conditional [iv.K lt 3] symbols(iv.K = %k) attributes {wave.slot = {stage = 2 : i64, order = 2 : i64}} {
        %y = arith.negf %x : f32
        wave.write %y, %c index [iv.K * 64 + lane] symbols(iv.K = %k) : f32, !wave.memory<[512], f32, shared>
      }
      wave.yield
    }
    wave.return
  }
}

// -----

// Waves from 4 on run the steady loop a barrier behind the others. What stands in the steady loop alone is in no other
// part, and there every barrier orders LDS.
// CHECK-LABEL: @staggered(
// CHECK:         wave.read %{{.*}} index [wave.x * 64 + lane] :
// CHECK-NOT:     prio
// CHECK:         wave.conditional [4 le wave.x] attributes {wave.stagger} {
// CHECK-NEXT:      wave.shared_memory_barrier
// CHECK-NEXT:    }
// CHECK-NEXT:    wave.iterate K
// CHECK:           wave.set_wave_prio 1
// CHECK-NOT:       workgroup_barrier
// CHECK:           wave.shared_memory_barrier
// CHECK:           wave.yield
// CHECK:         wave.conditional [wave.x lt 4] attributes {wave.stagger} {
// CHECK-NEXT:      wave.shared_memory_barrier
// CHECK-NEXT:    }
// CHECK-NEXT:    arith.addf
// CHECK-NOT:     prio
// CHECK:         wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @staggered(%a: !wave.memory<[4096], f32, global>, %c: !wave.memory<[512], f32, global>)
      symbols {M = 512, K = 512, BK = 64} dynamic []
      constraints [#wave.workgroup<M, 512, x>, #wave.wave<M, 64>, #wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 2 : i64, unroll = 1 : i64, stagger = #wave.expr<wave.x ge 4>}} {
      %x = wave.read %a index [iv.K * 512 + wave.x * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 0 : i64, order = 1 : i64}}
             : !wave.memory<[4096], f32, global> -> f32
      wave.set_wave_prio 1 {wave.slot = {stage = 0 : i64, order = 2 : i64}, wave.steady_alone}
      wave.workgroup_barrier {wave.slot = {stage = 1 : i64, order = 3 : i64}, wave.steady_alone}
      %y = arith.addf %x, %s {wave.slot = {stage = 1 : i64, order = 0 : i64}} : f32
      wave.yield %y : f32
    }
    wave.write %r, %c index [wave.x * 64 + lane] : f32, !wave.memory<[512], f32, global>
    wave.return
  }
}
