// RUN: wave-opt %s --canonicalize --allow-unregistered-dialect | FileCheck %s

#a = #wave.layout<[M = 64], lane = [64 : M * 1]>
#b = #wave.layout<[M = 64], reg = [4 : M * 1], lane = [16 : M * 4]>

// CHECK-LABEL: wave.kernel @relayouts
wave.kernel @relayouts() {
  %x = "t.def"() : () -> !wave.tile<[M], f32, #a>
  %same = wave.relayout %x : !wave.tile<[M], f32, #a> -> !wave.tile<[M], f32, #a>
  %there = wave.relayout %x : !wave.tile<[M], f32, #a> -> !wave.tile<[M], f32, #b>
  %back = wave.relayout %there : !wave.tile<[M], f32, #b> -> !wave.tile<[M], f32, #a>
  // CHECK: %[[X:.*]] = "t.def"
  // CHECK-NOT: wave.relayout
  // CHECK: "t.use"(%[[X]], %[[X]])
  "t.use"(%same, %back) : (!wave.tile<[M], f32, #a>, !wave.tile<[M], f32, #a>) -> ()
}

// CHECK-LABEL: wave.kernel @shapes
wave.kernel @shapes() {
  %x = "t.def"() : () -> !wave.tile<[M, N], f32>
  %u = "t.def"() : () -> !wave.tile<*, f32>
  %t = wave.permute %x : !wave.tile<[M, N], f32> -> !wave.tile<[N, M], f32>
  %0 = wave.permute %t : !wave.tile<[N, M], f32> -> !wave.tile<[M, N], f32>
  %1 = wave.broadcast %x : !wave.tile<[M, N], f32> -> !wave.tile<[M, N], f32>
  %2 = wave.reshape %x : !wave.tile<[M, N], f32> -> !wave.tile<[M, N], f32>
  %3 = wave.cast %x : !wave.tile<[M, N], f32> -> !wave.tile<[M, N], f32>
  %i = wave.bitcast %x : !wave.tile<[M, N], f32> -> !wave.tile<[M, N], i32>
  %4 = wave.bitcast %i : !wave.tile<[M, N], i32> -> !wave.tile<[M, N], f32>
  // CHECK: %[[X:.*]] = "t.def"
  // CHECK: "t.use"(%[[X]], %[[X]], %[[X]], %[[X]], %[[X]])
  "t.use"(%0, %1, %2, %3, %4) : (!wave.tile<[M, N], f32>, !wave.tile<[M, N], f32>, !wave.tile<[M, N], f32>, !wave.tile<[M, N], f32>, !wave.tile<[M, N], f32>) -> ()
  // What has no shape yet may still change it.
  // CHECK: wave.broadcast
  %5 = wave.broadcast %u : !wave.tile<*, f32> -> !wave.tile<*, f32>
  // A rounding cast is not undone by the way back.
  // CHECK: wave.cast
  // CHECK: wave.cast
  %h = wave.cast %x : !wave.tile<[M, N], f32> -> !wave.tile<[M, N], f16>
  %6 = wave.cast %h : !wave.tile<[M, N], f16> -> !wave.tile<[M, N], f32>
  "t.use"(%5, %6) : (!wave.tile<*, f32>, !wave.tile<[M, N], f32>) -> ()
}

// CHECK-LABEL: wave.kernel @elements
wave.kernel @elements() {
  %x = "t.def"() : () -> !wave.tile<[M], f32>
  %i = "t.def"() : () -> !wave.tile<[M], i32>
  %y = "t.def"() : () -> !wave.tile<[M], f32>
  %zero = wave.register 0.0 : !wave.tile<[M], f32>
  %nzero = wave.register -0.0 : !wave.tile<[M], f32>
  %one = wave.register 1.0 : !wave.tile<[M], f32>
  %izero = wave.register 0 : !wave.tile<[M], i32>
  %ione = wave.register 1 : !wave.tile<[M], i32>
  %true = wave.register 1 : !wave.tile<[M], i1>
  %all = wave.mask [1 eq 1] : !wave.tile<[M], i1>
  %none = wave.mask [1 eq 2] : !wave.tile<[M], i1>
  %0 = wave.add %x, %nzero : !wave.tile<[M], f32>
  %1 = wave.sub %0, %zero : !wave.tile<[M], f32>
  %2 = wave.mul %one, %1 : !wave.tile<[M], f32>
  %3 = wave.div %2, %one : !wave.tile<[M], f32>
  %4 = wave.neg %3 : !wave.tile<[M], f32>
  %5 = wave.neg %4 : !wave.tile<[M], f32>
  %6 = wave.select %true, %5, %y : !wave.tile<[M], i1>, !wave.tile<[M], f32>
  %7 = wave.select %all, %6, %y : !wave.tile<[M], i1>, !wave.tile<[M], f32>
  %8 = wave.select %none, %y, %7 : !wave.tile<[M], i1>, !wave.tile<[M], f32>
  %c = "t.def"() : () -> !wave.tile<[M], i1>
  %9 = wave.select %c, %8, %8 : !wave.tile<[M], i1>, !wave.tile<[M], f32>
  // CHECK: %[[X:.*]] = "t.def"() : () -> !wave.tile<[M], f32>
  // CHECK: %[[I:.*]] = "t.def"() : () -> !wave.tile<[M], i32>
  // CHECK: "t.use"(%[[X]])
  "t.use"(%9) : (!wave.tile<[M], f32>) -> ()
  %j = wave.add %i, %izero : !wave.tile<[M], i32>
  %k = wave.mul %j, %ione : !wave.tile<[M], i32>
  %l = wave.and %k, %k : !wave.tile<[M], i32>
  %m = wave.or %l, %l : !wave.tile<[M], i32>
  // CHECK: "t.use"(%[[I]])
  "t.use"(%m) : (!wave.tile<[M], i32>) -> ()
  // x + 0.0 turns -0.0 into 0.0: it stays.
  // CHECK: wave.add
  %n = wave.add %x, %zero : !wave.tile<[M], f32>
  // CHECK: wave.abs
  // CHECK-NOT: wave.abs
  %p = wave.abs %n : !wave.tile<[M], f32>
  %q = wave.abs %p : !wave.tile<[M], f32>
  "t.use"(%q) : (!wave.tile<[M], f32>) -> ()
}

// CHECK-LABEL: wave.kernel @masks
wave.kernel @masks(%a: !wave.memory<[M], f32, global>) {
  %all = wave.mask [1 eq 1] : vector<4xi1>
  %some = wave.mask [lane lt 3] : vector<4xi1>
  // CHECK: wave.read %a index [lane] : !wave.memory
  %x = wave.read %a mask %all index [lane] : !wave.memory<[M], f32, global> -> vector<4xf32>
  // CHECK: wave.write %{{.*}}, %a index [lane] : vector
  wave.write %x, %a mask %all index [lane] : vector<4xf32>, !wave.memory<[M], f32, global>
  // CHECK: wave.write %{{.*}}, %a mask %{{.*}} index [lane] : vector
  wave.write %x, %a mask %some index [lane] : vector<4xf32>, !wave.memory<[M], f32, global>
}
