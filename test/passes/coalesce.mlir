// RUN: wave-opt %s --split-input-file --wave-coalesce | FileCheck %s
// RUN: wave-opt %s --split-input-file --wave-coalesce=max-bits=64 | FileCheck %s --check-prefix=NARROW
// RUN: wave-opt %s --split-input-file --wave-coalesce=direct | FileCheck %s --check-prefix=DIRECT

#lhs = #wave.layout<[M = 64, K = 32], reg = [4 : K * 1, 2 : K * 16, 2 : M * 16],
                    lane = [16 : M * 1, 4 : K * 4], wave.x = [2 : M * 32]>

// Consecutive lanes take consecutive vectors of 16 bytes along the contiguous dim; all 256 threads take part. The read
// from LDS, and a read from global memory that is used otherwise, keep their layouts.
// CHECK-DAG: #[[WIDE:.*]] = #wave.layout<[M = 64, K = 32], reg = [8 : K * 1], lane = [4 : K * 8, 16 : M * 1], wave.x = [2 : M * 16], wave.y = [2 : M * 32]>
// CHECK-DAG: #[[LHS:.*]] = #wave.layout<[M = 64, K = 32], reg = [4 : K * 1,
// CHECK:     %[[G:.*]] = wave.read %a {{.*}} -> !wave.tile<[M, K], f16, #[[WIDE]]>
// CHECK:     wave.write %[[G]], %{{.*}} index [at.M, at.K] : !wave.tile<[M, K], f16, #[[WIDE]]>
// CHECK:     wave.read %{{.*}} : !wave.memory<[64, 32], f16, shared> -> !wave.tile<[M, K], f16, #[[LHS]]>
// CHECK:     wave.read %a {{.*}} -> !wave.tile<[M, K], f16, #[[LHS]]>
// For direct copies of gfx942: 4 bytes a lane, lanes behind one another, four of a wave's blocks too.
// DIRECT:    #wave.layout<[M = 64, K = 32], reg = [2 : K * 1, 4 : M * 4], lane = [16 : K * 2, 4 : M * 1], wave.x = [2 : M * 16], wave.y = [2 : M * 32]>
// NARROW:    #wave.layout<[M = 64, K = 32], reg = [4 : K * 1, 2 : M * 32], lane = [8 : K * 4, 8 : M * 1]
module attributes {wave.form = "staged", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M, K], f16, global>, %c: !wave.memory<[M, K], f16, global>)
      symbols {M = 512, N = 512, K = 32}
      constraints [#wave.workgroup<M, 64, x>, #wave.workgroup<N, 64, y>, #wave.wave<M, 32>, #wave.wave<N, 32>,
                   #wave.hardware<threads_per_wave = 64>] {
    %la = wave.allocate : !wave.memory<[64, 32], f16, shared>
    %g = wave.read %a index [wg.x * 64 + at.M, at.K] : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16, #lhs>
    wave.write %g, %la index [at.M, at.K] : !wave.tile<[M, K], f16, #lhs>, !wave.memory<[64, 32], f16, shared>
    %x = wave.read %la index [at.M, at.K] : !wave.memory<[64, 32], f16, shared> -> !wave.tile<[M, K], f16, #lhs>
    %y = wave.read %a index [at.M, at.K] : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16, #lhs>
    %s = wave.add %x, %y : !wave.tile<[M, K], f16, #lhs>
    wave.write %s, %c index [wg.x * 64 + at.M, at.K] : !wave.tile<[M, K], f16, #lhs>, !wave.memory<[M, K], f16, global>
    wave.return
  }
}

// -----

// The mask of a copy goes with it.
// CHECK-DAG: #[[MOVED:.*]] = #wave.layout<[M = 64, K = 32], reg = [8 : K * 1], lane = [4 : K * 8, 16 : M * 1], wave.x = [2 : M * 16], wave.y = [2 : M * 32]>
// CHECK-LABEL: @masked(
// CHECK:     %[[G:.*]] = wave.read %a index
// CHECK:     %[[M:.*]] = wave.mask [at.K lt 20] : !wave.tile<[M, K], i1, #[[MOVED]]>
// CHECK:     wave.write %[[G]], %{{.*}} mask %[[M]] index [at.M, at.K] : !wave.tile<[M, K], f16, #[[MOVED]]>
// NARROW-LABEL: @masked(
#lhs = #wave.layout<[M = 64, K = 32], reg = [4 : K * 1, 2 : K * 16, 2 : M * 16], lane = [16 : M * 1, 4 : K * 4], wave.x = [2 : M * 32]>
module attributes {wave.form = "staged", wave.target = "gfx942"} {
  wave.kernel @masked(%a: !wave.memory<[M, K], f16, global>)
      symbols {M = 512, N = 512, K = 32}
      constraints [#wave.workgroup<M, 64, x>, #wave.workgroup<N, 64, y>, #wave.wave<M, 32>, #wave.wave<N, 32>,
                   #wave.hardware<threads_per_wave = 64>] {
    %la = wave.allocate : !wave.memory<[64, 32], f16, shared>
    %g = wave.read %a index [wg.x * 64 + at.M, at.K] : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16, #lhs>
    %m = wave.mask [at.K lt 20] : !wave.tile<[M, K], i1, #lhs>
    wave.write %g, %la mask %m index [at.M, at.K] : !wave.tile<[M, K], f16, #lhs>, !wave.memory<[64, 32], f16, shared>
    wave.return
  }
}

// -----

#rows = #wave.layout<[T = 32, N = 64], reg = [4 : T * 1, 2 : T * 16, 4 : N * 16], lane = [16 : N * 1, 4 : T * 4]>
#places = #wave.layout<[T = 32], reg = [4 : T * 1, 2 : T * 16], lane = [16 : _, 4 : T * 4]>

// A copy of gathered rows: the read of the table and the sum on it are repeated in the layout of the copy.
// CHECK-DAG:   #[[COPY:.*]] = #wave.layout<[T = 32, N = 64], reg = [8 : N * 1, 4 : T * 8], lane = [8 : N * 8, 8 : T * 1]>
// CHECK-DAG:   #[[PLACES:.*]] = #wave.layout<[T = 32], reg = [4 : T * 8], lane = [8 : _, 8 : T * 1]>
// CHECK-LABEL: @gather(
// CHECK:         %[[T:.*]] = wave.read %t {{.*}} -> !wave.tile<[T], i32, #[[PLACES]]>
// CHECK:         %[[D:.*]] = wave.apply_expr [d0 + 1] symbols(d0 = %[[T]] {{.*}} : !wave.tile<[T], i32, #[[PLACES]]>
// CHECK-NOT:     wave.read %t
// CHECK:         wave.read %a index [d0, at.N] symbols(d0 = %[[D]] {{.*}} -> !wave.tile<[T, N], f16, #[[COPY]]>
module attributes {wave.form = "staged", wave.target = "gfx942"} {
  wave.kernel @gather(%a: !wave.memory<[R, N], f16, global>, %t: !wave.memory<[T], i32, global>)
      symbols {R = 99, T = 32, N = 64} constraints [#wave.workgroup<T, 32, x>, #wave.hardware<threads_per_wave = 64>] {
    %l = wave.allocate : !wave.memory<[32, 64], f16, shared>
    %p = wave.read %t index [at.T] : !wave.memory<[T], i32, global> -> !wave.tile<[T], i32, #places>
    %d = wave.apply_expr [d0 + 1] symbols(d0 = %p : !wave.tile<[T], i32, #places>) : !wave.tile<[T], i32, #places>
    %x = wave.read %a index [d0, at.N] symbols(d0 = %d : !wave.tile<[T], i32, #places>)
           : !wave.memory<[R, N], f16, global> -> !wave.tile<[T, N], f16, #rows>
    wave.write %x, %l index [at.T, at.N] : !wave.tile<[T, N], f16, #rows>, !wave.memory<[32, 64], f16, shared>
    wave.return
  }
}

// -----

#mma = #wave.layout<[K = 32, N = 64], reg = [8 : K * 1, 4 : N * 16], lane = [16 : N * 1, 4 : K * 8]>

// The buffer has K last, memory has N: lanes load rows of 8, rename registers, and store columns.
// CHECK-DAG:   #[[ROWS:.*]] = #wave.layout<[K = 32, N = 64], reg = [8 : N * 1, 4 : K * 1], lane = [8 : N * 8, 8 : K * 4]>
// CHECK-DAG:   #[[COLUMNS:.*]] = #wave.layout<[K = 32, N = 64], reg = [4 : K * 1, 8 : N * 1], lane = [8 : N * 8, 8 : K * 4]>
// CHECK-LABEL: @transpose(
// CHECK:         %[[X:.*]] = wave.read %a {{.*}} -> !wave.tile<[K, N], f16, #[[ROWS]]>
// CHECK:         %[[Y:.*]] = wave.relayout %[[X]] : {{.*}} -> !wave.tile<[K, N], f16, #[[COLUMNS]]>
// CHECK:         wave.write %[[Y]], %{{.*}} index [at.N, at.K]
module attributes {wave.form = "staged", wave.target = "gfx942"} {
  wave.kernel @transpose(%a: !wave.memory<[K, N], f16, global>)
      symbols {K = 32, N = 64} constraints [#wave.hardware<threads_per_wave = 64>] {
    %l = wave.allocate : !wave.memory<[64, 32], f16, shared>
    %x = wave.read %a index [at.K, at.N] : !wave.memory<[K, N], f16, global> -> !wave.tile<[K, N], f16, #mma>
    wave.write %x, %l index [at.N, at.K] : !wave.tile<[K, N], f16, #mma>, !wave.memory<[64, 32], f16, shared>
    wave.return
  }
}
