// RUN: wave-opt %s --split-input-file --verify-diagnostics --wave-pipeline-loops="eliminate-epilogue=true" | FileCheck %s

// The loads of the steady loop stop at the last tile; behind the loop there is nothing but its results.
// CHECK-LABEL: @known(
// CHECK:         %[[P:.*]] = wave.read %{{.*}} index [lane] :
// CHECK:         %[[L:.*]]:2 = wave.iterate K iv(%[[K:.*]]) trips(8) iter_args({{.*}}%[[P]]{{.*}}) attributes {wave.steady = 1 : i64} {
// CHECK:           wave.read %{{.*}} index [min(iv.K + 1, 7) * 64 + lane] symbols(iv.K = %[[K]])
// CHECK:           wave.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    wave.write %[[L]]#{{[01]}},
// CHECK-NEXT:    wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @known(%a: !wave.memory<[512], f32, global>, %c: !wave.memory<[512], f32, global>, %n: !wave.memory<[512], i32, global>)
      symbols {K = 512, BK = 64} dynamic [] constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 2 : i64, unroll = 1 : i64}} {
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 0 : i64, order = 1 : i64}} : !wave.memory<[512], f32, global> -> f32
      %y = arith.addf %x, %s {wave.slot = {stage = 1 : i64, order = 9 : i64}} : f32
      wave.yield %y : f32
    }
    wave.write %r, %c index [lane] : f32, !wave.memory<[512], f32, global>
    wave.return
  }
}

// -----

// Trips known at run time: the last tile is an expression, of the loop's own length where it has one.
// CHECK-LABEL: @at_run_time(
// CHECK:         wave.conditional [{{.*}}T ceildiv 64{{.*}}] symbols(T = %[[T:.*]]) otherwise
// CHECK:           wave.read %{{.*}} index [min(T ceildiv 64 - 1, 0) * 64 + lane] symbols(T = %[[T]]
// CHECK:           wave.iterate K iv(%[[K:.*]]) trips({{.*}}T ceildiv 64{{.*}}) {{.*}} attributes {wave.steady = 1 : i64} {
// CHECK:             wave.read %{{.*}} index [min(iv.K + 1, T ceildiv 64 - 1) * 64 + lane] symbols(
// CHECK:         wave.write
// CHECK-NEXT:    wave.return
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @at_run_time(%a: !wave.memory<[512], f32, global>, %c: !wave.memory<[512], f32, global>, %n: !wave.memory<[512], i32, global>)
      symbols {K = 512, BK = 64} dynamic [] constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    %t0 = wave.read %n index [0] : !wave.memory<[512], i32, global> -> i32
    %t = arith.index_cast %t0 : i32 to index
    %r = wave.iterate K iv(%k) trips(T ceildiv 64) symbols(T = %t : index) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 2 : i64, unroll = 1 : i64}} {
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 0 : i64, order = 1 : i64}} : !wave.memory<[512], f32, global> -> f32
      %y = arith.addf %x, %s {wave.slot = {stage = 1 : i64, order = 9 : i64}} : f32
      wave.yield %y : f32
    }
    wave.write %r, %c index [lane] : f32, !wave.memory<[512], f32, global>
    wave.return
  }
}

// -----

// CHECK-LABEL: @outside_write(
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @outside_write(%a: !wave.memory<[512], f32, global>, %c: !wave.memory<[512], f32, global>, %n: !wave.memory<[512], i32, global>)
      symbols {K = 512, BK = 64} dynamic [] constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    // expected-warning@+1 {{this loop keeps its epilogue, as this op would do what others can see}}
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 2 : i64, unroll = 1 : i64}} {
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 0 : i64, order = 1 : i64}} : !wave.memory<[512], f32, global> -> f32
      // expected-note@+1 {{it would also write for tiles behind the last one}}
      wave.write %z, %c index [lane] {wave.slot = {stage = 0 : i64, order = 2 : i64}} : f32, !wave.memory<[512], f32, global>
      %y = arith.addf %x, %s {wave.slot = {stage = 1 : i64, order = 9 : i64}} : f32
      wave.yield %y : f32
    }
    wave.write %r, %c index [lane] : f32, !wave.memory<[512], f32, global>
    wave.return
  }
}

// -----

// CHECK-LABEL: @volatile(
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @volatile(%a: !wave.memory<[512], f32, global>, %c: !wave.memory<[512], f32, global>, %n: !wave.memory<[512], i32, global>)
      symbols {K = 512, BK = 64} dynamic [] constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    // expected-warning@+1 {{this loop keeps its epilogue, as this op would do what others can see}}
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 2 : i64, unroll = 1 : i64}} {
      // expected-note@+1 {{it is volatile, and would also load for tiles behind the last one}}
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) {is_volatile, wave.slot = {stage = 0 : i64, order = 1 : i64}} : !wave.memory<[512], f32, global> -> f32
      %y = arith.addf %x, %s {wave.slot = {stage = 1 : i64, order = 9 : i64}} : f32
      wave.yield %y : f32
    }
    wave.write %r, %c index [lane] : f32, !wave.memory<[512], f32, global>
    wave.return
  }
}

// -----

// CHECK-LABEL: @place(
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @place(%a: !wave.memory<[512], f32, global>, %c: !wave.memory<[512], f32, global>, %n: !wave.memory<[512], i32, global>)
      symbols {K = 512, BK = 64} dynamic [] constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    // expected-warning@+1 {{this loop keeps its epilogue, as this op would do what others can see}}
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 2 : i64, unroll = 1 : i64}} {
      %n2 = arith.addi %k, %k : index
      // expected-note@+1 {{its place is made from the number of the trip by other ops, and would be behind the memory's end}}
      %x = wave.read %a index [X + lane] symbols(X = %n2 : index) {wave.slot = {stage = 0 : i64, order = 1 : i64}} : !wave.memory<[512], f32, global> -> f32
      %y = arith.addf %x, %s {wave.slot = {stage = 1 : i64, order = 9 : i64}} : f32
      wave.yield %y : f32
    }
    wave.write %r, %c index [lane] : f32, !wave.memory<[512], f32, global>
    wave.return
  }
}

// -----

// CHECK-LABEL: @own_body(
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @own_body(%a: !wave.memory<[512], f32, global>, %c: !wave.memory<[512], f32, global>, %n: !wave.memory<[512], i32, global>)
      symbols {K = 512, BK = 64} dynamic [] constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    // expected-warning@+1 {{this loop keeps its epilogue, as this op would do what others can see}}
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 2 : i64, unroll = 1 : i64}} {
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 0 : i64, order = 1 : i64}} : !wave.memory<[512], f32, global> -> f32
      wave.conditional [iv.K lt 3] symbols(iv.K = %k) attributes {wave.slot = {stage = 0 : i64, order = 2 : i64}} {
      // expected-note@+1 {{it is in a body of its own, and would run for tiles behind the last one}}
        wave.write %z, %c index [lane] : f32, !wave.memory<[512], f32, global>
        wave.yield
      }
      %y = arith.addf %x, %s {wave.slot = {stage = 1 : i64, order = 9 : i64}} : f32
      wave.yield %y : f32
    }
    wave.write %r, %c index [lane] : f32, !wave.memory<[512], f32, global>
    wave.return
  }
}

// -----

// CHECK-LABEL: @lds_outside(
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @lds_outside(%a: !wave.memory<[512], f32, global>, %c: !wave.memory<[512], f32, global>, %n: !wave.memory<[512], i32, global>)
      symbols {K = 512, BK = 64} dynamic [] constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    %l = wave.allocate : !wave.memory<[64], f32, shared>
    // expected-warning@+1 {{this loop keeps its epilogue, as this op would do what others can see}}
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 2 : i64, unroll = 1 : i64}} {
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 0 : i64, order = 1 : i64}} : !wave.memory<[512], f32, global> -> f32
      // expected-note@+1 {{it would write the buffer for tiles behind the last one, and the buffer is used outside of loops}}
      wave.write %x, %l index [lane] {wave.slot = {stage = 0 : i64, order = 2 : i64}} : f32, !wave.memory<[64], f32, shared>
      %y = arith.addf %x, %s {wave.slot = {stage = 1 : i64, order = 9 : i64}} : f32
      wave.yield %y : f32
    }
    wave.write %r, %c index [lane] : f32, !wave.memory<[512], f32, global>
    %v = wave.read %l index [lane] : !wave.memory<[64], f32, shared> -> f32
    wave.write %v, %c index [lane] : f32, !wave.memory<[512], f32, global>
    wave.return
  }
}

// -----

// CHECK-LABEL: @lds_order(
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @lds_order(%a: !wave.memory<[512], f32, global>, %c: !wave.memory<[512], f32, global>, %n: !wave.memory<[512], i32, global>)
      symbols {K = 512, BK = 64} dynamic [] constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    %l = wave.allocate : !wave.memory<[64], f32, shared>
    // expected-warning@+1 {{this loop keeps its epilogue, as this op would do what others can see}}
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 2 : i64, unroll = 1 : i64}} {
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 0 : i64, order = 1 : i64}} : !wave.memory<[512], f32, global> -> f32
      %v = wave.read %l index [63 - lane] {wave.slot = {stage = 0 : i64, order = 2 : i64}} : !wave.memory<[64], f32, shared> -> f32
      // expected-note@+1 {{it would write the buffer for tiles behind the last one, and a tile reads there what another wrote}}
      wave.write %x, %l index [lane] {wave.slot = {stage = 0 : i64, order = 3 : i64}} : f32, !wave.memory<[64], f32, shared>
      %y = arith.addf %x, %s {wave.slot = {stage = 1 : i64, order = 9 : i64}} : f32
      wave.yield %y : f32
    }
    wave.write %r, %c index [lane] : f32, !wave.memory<[512], f32, global>
    wave.return
  }
}

// -----

// CHECK-LABEL: @lds_place(
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @lds_place(%a: !wave.memory<[512], f32, global>, %c: !wave.memory<[512], f32, global>, %n: !wave.memory<[512], i32, global>)
      symbols {K = 512, BK = 64} dynamic [] constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    %l = wave.allocate : !wave.memory<[64], f32, shared>
    // expected-warning@+1 {{this loop keeps its epilogue, as this op would do what others can see}}
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 2 : i64, unroll = 1 : i64}} {
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 0 : i64, order = 1 : i64}} : !wave.memory<[512], f32, global> -> f32
      // expected-note@+1 {{its place in LDS, or its mask, depends on the number of the trip}}
      wave.write %x, %l index [iv.K mod 2 * 32 + lane mod 32] symbols(iv.K = %k) {wave.slot = {stage = 0 : i64, order = 2 : i64}} : f32, !wave.memory<[64], f32, shared>
      %y = arith.addf %x, %s {wave.slot = {stage = 1 : i64, order = 9 : i64}} : f32
      wave.yield %y : f32
    }
    wave.write %r, %c index [lane] : f32, !wave.memory<[512], f32, global>
    wave.return
  }
}

// -----

// CHECK-LABEL: @lds_read_place(
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @lds_read_place(%a: !wave.memory<[512], f32, global>, %c: !wave.memory<[512], f32, global>, %n: !wave.memory<[512], i32, global>)
      symbols {K = 512, BK = 64} dynamic [] constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    %l = wave.allocate : !wave.memory<[64], f32, shared>
    // expected-warning@+1 {{this loop keeps its epilogue, as this op would do what others can see}}
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 2 : i64, unroll = 1 : i64}} {
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 0 : i64, order = 1 : i64}} : !wave.memory<[512], f32, global> -> f32
      wave.write %x, %l index [lane] {wave.slot = {stage = 0 : i64, order = 2 : i64}} : f32, !wave.memory<[64], f32, shared>
      // expected-note@+1 {{its place in LDS depends on the number of the trip}}
      %v = wave.read %l index [iv.K mod 2 * 32 + lane mod 32] symbols(iv.K = %k) {wave.slot = {stage = 0 : i64, order = 3 : i64}} : !wave.memory<[64], f32, shared> -> f32
      %y = arith.addf %x, %s {wave.slot = {stage = 1 : i64, order = 9 : i64}} : f32
      wave.yield %y : f32
    }
    wave.write %r, %c index [lane] : f32, !wave.memory<[512], f32, global>
    wave.return
  }
}
