// RUN: wave-opt %s | wave-opt | FileCheck %s
// RUN: wave-opt %s --mlir-print-op-generic | wave-opt | FileCheck %s
// Access to memory: print and parse.

// CHECK-DAG: #[[L:layout.*]] = #wave.layout<[M = 64, K = 32],
#lhs = #wave.layout<[M = 64, K = 32], reg = [4 : K * 1, 2 : K * 16, 2 : M * 16], lane = [16 : M * 1, 4 : K * 4],
                    wave.x = [2 : M * 32]>

// CHECK-LABEL: wave.kernel @tile
wave.kernel @tile(%a: !wave.memory<[R, N], f32, global>, %t: !wave.memory<[T], i32, global>,
                  %u: !wave.memory<[], f32, global>) {
  // CHECK: %[[TABLE:.*]] = wave.read %t nontemporal : !wave.memory<[T], i32, global> -> !wave.tile<[T], i32>
  %table = wave.read %t nontemporal : !wave.memory<[T], i32, global> -> !wave.tile<[T], i32>
  // CHECK: wave.read %t elements_per_thread 4 volatile : !wave.memory<[T], i32, global> -> !wave.tile<*, i32>
  %any = wave.read %t elements_per_thread 4 volatile : !wave.memory<[T], i32, global> -> !wave.tile<*, i32>
  // CHECK: wave.read %a mapping <[T = i, N = j] -> [d0, j], dynamic = {{\[\[}}T = i]]> dynamic(%[[TABLE]] : !wave.tile<[T], i32>) : !wave.memory<[R, N], f32, global> -> !wave.tile<[T, N], f32>
  %x = wave.read %a mapping <[T = i, N = j] -> [d0, j], dynamic = [[T = i]]> dynamic(%table : !wave.tile<[T], i32>)
      : !wave.memory<[R, N], f32, global> -> !wave.tile<[T, N], f32>
  // CHECK: wave.write %{{.*}}, %a mapping <[T = i, N = j] -> [i + 1, j]> nontemporal : !wave.tile<[T, N], f32>, !wave.memory<[R, N], f32, global>
  wave.write %x, %a mapping <[T = i, N = j] -> [i + 1, j]> nontemporal : !wave.tile<[T, N], f32>, !wave.memory<[R, N], f32, global>
  // CHECK: wave.atomic add %{{.*}}, %a elements_per_thread 1 : !wave.tile<[R, N], f32>, !wave.memory<[R, N], f32, global>
  %y = wave.read %a : !wave.memory<[R, N], f32, global> -> !wave.tile<[R, N], f32>
  wave.atomic add %y, %a elements_per_thread 1 : !wave.tile<[R, N], f32>, !wave.memory<[R, N], f32, global>
  // CHECK: wave.atomic xor %{{.*}}, %t : !wave.tile<[T], i32>, !wave.memory<[T], i32, global> -> !wave.tile<[T], i32>
  %old = wave.atomic xor %table, %t : !wave.tile<[T], i32>, !wave.memory<[T], i32, global> -> !wave.tile<[T], i32>
  // CHECK: wave.scatter_add %{{.*}} at %{{.*}} along T to %a : !wave.tile<[T, N], f32>, !wave.tile<[T, N], i32>, !wave.memory<[R, N], f32, global>
  %pos = wave.broadcast %table : !wave.tile<[T], i32> -> !wave.tile<[T, N], i32>
  wave.scatter_add %x at %pos along T to %a : !wave.tile<[T, N], f32>, !wave.tile<[T, N], i32>, !wave.memory<[R, N], f32, global>
  // CHECK: wave.read %u index [none] : !wave.memory<[], f32, global> -> f32
  %s = wave.read %u index [none] : !wave.memory<[], f32, global> -> f32
}

// CHECK-LABEL: wave.kernel @placed
wave.kernel @placed(%a: !wave.memory<[M, K], f16, global>) {
  %k = arith.constant 1 : index
  // CHECK: %[[LA:.*]] = wave.allocate : !wave.memory<[64, 32], f16, shared>
  %la = wave.allocate : !wave.memory<[64, 32], f16, shared>
  // CHECK: wave.allocate offset 4096 : !wave.memory<[64, 32], f16, shared, strides = [40, 1]>
  %lb = wave.allocate offset 4096 : !wave.memory<[64, 32], f16, shared, strides = [40, 1]>
  // CHECK: wave.allocate distributed [BLOCK_M, 32] : !wave.memory<[M, K], f16, register>
  %lc = wave.allocate distributed [BLOCK_M, 32] : !wave.memory<[M, K], f16, register>
  // CHECK: %[[MASK:.*]] = wave.mask [{{.*}}] : !wave.tile<[M, K], i1, #[[L]]>
  %m = wave.mask [wg.x * 64 + at.M lt M] : !wave.tile<[M, K], i1, #lhs>
  // CHECK: wave.read %a mask %[[MASK]] index [{{.*}}, {{.*}}] symbols(iv.K = %{{.*}}) {wave.provenance = "x"} : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16, #[[L]]>
  %x = wave.read %a mask %m index [wg.x * 64 + at.M, iv.K * 32 + at.K] symbols(iv.K = %k) {wave.provenance = "x"}
      : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16, #lhs>
  // CHECK: wave.write %{{.*}}, %[[LA]] mask %[[MASK]] index [at.M, at.K] volatile : !wave.tile<[M, K], f16, #[[L]]>, !wave.memory<[64, 32], f16, shared>
  wave.write %x, %la mask %m index [at.M, at.K] volatile : !wave.tile<[M, K], f16, #lhs>, !wave.memory<[64, 32], f16, shared>
  // CHECK: wave.relayout %{{.*}} : !wave.tile<[M, K], f16, #[[L]]> -> !wave.tile<[M, K], f16, #{{.*}}>
  %z = wave.relayout %x : !wave.tile<[M, K], f16, #lhs> -> !wave.tile<[M, K], f16, #wave.layout<[M = 64, K = 32],
      reg = [8 : K * 1], lane = [4 : K * 8, 16 : M * 1], wave.x = [2 : M * 16], wave.y = [2 : M * 32]>>
}

// CHECK-LABEL: wave.kernel @lane
wave.kernel @lane(%a: !wave.memory<[M, K], f16, global>, %h: !wave.memory<[M], i32, global>) {
  %k = arith.constant 1 : index
  %la = wave.allocate : !wave.memory<[64, 32], f16, shared>
  %m = wave.mask [lane lt 8 and el lt 3] : vector<8xi1>
  %one = wave.mask [lane lt 8] : i1
  // CHECK: wave.buffer_load %a base [{{.*}}] offset [lane * 8] valid [{{.*}}] mask %{{.*}} symbols(iv.K = %{{.*}}) volatile nontemporal : !wave.memory<[M, K], f16, global> -> vector<8xf16>
  %x = wave.buffer_load %a base [wg.x * 64 * K + iv.K * 32] offset [lane * 8] valid [M * K] mask %m symbols(iv.K = %k)
      volatile nontemporal : !wave.memory<[M, K], f16, global> -> vector<8xf16>
  // CHECK: wave.buffer_store %{{.*}}, %a base [wg.x * 64] offset [lane] mask %{{.*}} : vector<8xf16>, !wave.memory<[M, K], f16, global>
  wave.buffer_store %x, %a base [wg.x * 64] offset [lane] mask %m : vector<8xf16>, !wave.memory<[M, K], f16, global>
  // CHECK: wave.gather_to_shared %a [lane floordiv 4, iv.K * 32] to %{{.*}} [wave.x * 16, 0] elements 8 mask %{{.*}} symbols(iv.K = %{{.*}}) : !wave.memory<[M, K], f16, global>, !wave.memory<[64, 32], f16, shared>
  wave.gather_to_shared %a [lane floordiv 4, iv.K * 32] to %la [wave.x * 16, 0] elements 8 mask %one symbols(iv.K = %k)
      : !wave.memory<[M, K], f16, global>, !wave.memory<[64, 32], f16, shared>
  // CHECK: wave.bounds_check %a index [wg.x * 64 + lane, 0] : !wave.memory<[M, K], f16, global>
  wave.bounds_check %a index [wg.x * 64 + lane, 0] : !wave.memory<[M, K], f16, global>
  %v = wave.register 1 : vector<1xi32>
  %mv = wave.mask [lane lt M] : vector<1xi1>
  // CHECK: wave.atomic min %{{.*}}, %h mask %{{.*}} index [lane] : vector<1xi32>, !wave.memory<[M], i32, global>
  wave.atomic min %v, %h mask %mv index [lane] : vector<1xi32>, !wave.memory<[M], i32, global>
  // CHECK: wave.scatter_add %{{.*}} at %{{.*}} along M to %h mask %{{.*}} index [lane] : vector<1xi32>, vector<1xi32>, !wave.memory<[M], i32, global>
  wave.scatter_add %v at %v along M to %h mask %mv index [lane] : vector<1xi32>, vector<1xi32>, !wave.memory<[M], i32, global>
}
