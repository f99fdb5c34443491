// RUN: wave-opt %s --split-input-file | wave-opt --split-input-file | FileCheck %s
// RUN: wave-opt %s --split-input-file --mlir-print-op-generic | wave-opt --split-input-file | FileCheck %s
// The GEMM of docs/design.md in each form of the dialect.

// CHECK: wave.kernel @gemm(%a: !wave.memory<[M, K], f16, shared>, %b: !wave.memory<[N, K], f16, shared>, %c: !wave.memory<[M, N], f32, global>)
// CHECK-SAME: symbols {BLOCK_K = 32, BLOCK_M = 64, BLOCK_N = 64, K = 256, M = 512, N = 512}
// CHECK-SAME: constraints [#wave.workgroup<M, BLOCK_M, x>, #wave.workgroup<N, BLOCK_N, y>, #wave.tiling<K, BLOCK_K>, #wave.wave<M, BLOCK_M floordiv 2>, #wave.wave<N, BLOCK_N floordiv 2>, #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>]
// CHECK: %[[ZERO:.*]] = wave.register 0.000000e+00 : !wave.tile<[M, N], f32>
// CHECK: %[[SUM:.*]] = wave.iterate K iter_args(%[[ACC:.*]] = %[[ZERO]] : !wave.tile<[M, N], f32>) {
// CHECK:   %[[X:.*]] = wave.read %a : !wave.memory<[M, K], f16, shared> -> !wave.tile<[M, K], f16>
// CHECK:   %[[Y:.*]] = wave.read %b : !wave.memory<[N, K], f16, shared> -> !wave.tile<[N, K], f16>
// CHECK:   %[[Z:.*]] = wave.mma %[[X]], %[[Y]], %[[ACC]] : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
// CHECK:   wave.yield %[[Z]] : !wave.tile<[M, N], f32>
// CHECK: wave.write %[[SUM]], %c : !wave.tile<[M, N], f32>, !wave.memory<[M, N], f32, global>
// CHECK: wave.return
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @gemm(%a: !wave.memory<[M, K], f16, shared>, %b: !wave.memory<[N, K], f16, shared>,
                    %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 512, N = 512, K = 256, BLOCK_M = 64, BLOCK_N = 64, BLOCK_K = 32} dynamic []
      constraints [#wave.workgroup<M, BLOCK_M, x>, #wave.workgroup<N, BLOCK_N, y>, #wave.tiling<K, BLOCK_K>,
                   #wave.wave<M, BLOCK_M floordiv 2>, #wave.wave<N, BLOCK_N floordiv 2>,
                   #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
    %zero = wave.register 0.0 : !wave.tile<[M, N], f32>
    %sum = wave.iterate K iter_args(%acc = %zero : !wave.tile<[M, N], f32>) {
      %x = wave.read %a : !wave.memory<[M, K], f16, shared> -> !wave.tile<[M, K], f16>
      %y = wave.read %b : !wave.memory<[N, K], f16, shared> -> !wave.tile<[N, K], f16>
      %z = wave.mma %x, %y, %acc : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
      wave.yield %z : !wave.tile<[M, N], f32>
    }
    wave.write %sum, %c : !wave.tile<[M, N], f32>, !wave.memory<[M, N], f32, global>
    wave.return
  }
}

// -----

// CHECK: wave.form = "typed"
// CHECK: wave.iterate K iv(%[[K:.*]]) trips(K ceildiv BLOCK_K) iter_args(
// CHECK:   wave.read %a symbols(iv.K = %[[K]]) : !wave.memory<[M, K], f16, shared> -> !wave.tile<[M, K], f16>
module attributes {wave.form = "typed", wave.target = "gfx942"} {
  wave.kernel @gemm(%a: !wave.memory<[M, K], f16, shared>, %b: !wave.memory<[N, K], f16, shared>,
                    %c: !wave.memory<[M, N], f32, global>) symbols {M = 512, N = 512, K = 256, BLOCK_K = 32} {
    %zero = wave.register 0.0 : !wave.tile<[M, N], f32>
    %sum = wave.iterate K iv(%k) trips(K ceildiv BLOCK_K) iter_args(%acc = %zero : !wave.tile<[M, N], f32>) {
      %x = wave.read %a symbols(iv.K = %k) : !wave.memory<[M, K], f16, shared> -> !wave.tile<[M, K], f16>
      %y = wave.read %b symbols(iv.K = %k) : !wave.memory<[N, K], f16, shared> -> !wave.tile<[N, K], f16>
      %z = wave.mma %x, %y, %acc : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
      wave.yield %z : !wave.tile<[M, N], f32>
    }
    wave.write %sum, %c : !wave.tile<[M, N], f32>, !wave.memory<[M, N], f32, global>
    wave.return
  }
}

// -----

// CHECK-DAG: #[[ACC:.*]] = #wave.layout<[M = 64, N = 64], reg = [4 : M * 1, 2 : N * 16, 2 : M * 16], lane = [16 : N * 1, 4 : M * 4], wave.x = [2 : M * 32], wave.y = [2 : N * 32]>
// CHECK-DAG: #[[LHS:.*]] = #wave.layout<[M = 64, K = 32], reg = [4 : K * 1, 2 : K * 16, 2 : M * 16], lane = [16 : M * 1, 4 : K * 4], wave.x = [2 : M * 32]>
// CHECK: wave.form = "placed"
// CHECK: wave.read %a index [wg.x * 64 + at.M, iv.K * 32 + at.K] symbols(iv.K = %{{.*}}) : !wave.memory<[M, K], f16, shared> -> !wave.tile<[M, K], f16, #[[LHS]]>
// CHECK: wave.mma %{{.*}}, %{{.*}}, %{{.*}} : !wave.tile<[M, K], f16, #[[LHS]]>, !wave.tile<[N, K], f16, #{{.*}}>, !wave.tile<[M, N], f32, #[[ACC]]>
#acc = #wave.layout<[M = 64, N = 64], reg = [4 : M * 1, 2 : N * 16, 2 : M * 16],
                    lane = [16 : N * 1, 4 : M * 4], wave.x = [2 : M * 32], wave.y = [2 : N * 32]>
#lhs = #wave.layout<[M = 64, K = 32], reg = [4 : K * 1, 2 : K * 16, 2 : M * 16],
                    lane = [16 : M * 1, 4 : K * 4], wave.x = [2 : M * 32]>
#rhs = #wave.layout<[N = 64, K = 32], reg = [4 : K * 1, 2 : K * 16, 2 : N * 16],
                    lane = [16 : N * 1, 4 : K * 4], wave.y = [2 : N * 32]>
module attributes {wave.form = "placed", wave.target = "gfx942"} {
  wave.kernel @gemm(%a: !wave.memory<[M, K], f16, shared>, %b: !wave.memory<[N, K], f16, shared>,
                    %c: !wave.memory<[M, N], f32, global>) symbols {M = 512, N = 512, K = 256} {
    %zero = wave.register 0.0 : !wave.tile<[M, N], f32, #acc>
    %sum = wave.iterate K iv(%k) trips(8) iter_args(%acc = %zero : !wave.tile<[M, N], f32, #acc>) {
      %x = wave.read %a index [wg.x * 64 + at.M, iv.K * 32 + at.K] symbols(iv.K = %k)
             : !wave.memory<[M, K], f16, shared> -> !wave.tile<[M, K], f16, #lhs>
      %y = wave.read %b index [wg.y * 64 + at.N, iv.K * 32 + at.K] symbols(iv.K = %k)
             : !wave.memory<[N, K], f16, shared> -> !wave.tile<[N, K], f16, #rhs>
      %z = wave.mma %x, %y, %acc : !wave.tile<[M, K], f16, #lhs>, !wave.tile<[N, K], f16, #rhs>, !wave.tile<[M, N], f32, #acc>
      wave.yield %z : !wave.tile<[M, N], f32, #acc>
    }
    wave.write %sum, %c index [wg.x * 64 + at.M, wg.y * 64 + at.N]
      : !wave.tile<[M, N], f32, #acc>, !wave.memory<[M, N], f32, global>
    wave.return
  }
}

// -----

// CHECK: wave.form = "lane"
// CHECK: wave.allocate : !wave.memory<[64, 32], f16, shared>
// CHECK: wave.read %a index [wg.x * 64 + wave.x * 16 + lane floordiv 4, {{.*}}iv.K * 32{{.*}}] symbols(iv.K = %{{.*}}) : !wave.memory<[M, K], f16, global> -> vector<8xf16>
// CHECK: wave.mma %{{.*}}, %{{.*}}, %{{.*}} kind f32_16x16x16_f16 : vector<4xf16>, vector<4xf16>, vector<4xf32>
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @gemm(%a: !wave.memory<[M, K], f16, global>, %b: !wave.memory<[N, K], f16, global>,
                    %c: !wave.memory<[M, N], f32, global>) symbols {M = 512, N = 512, K = 256} {
    %la = wave.allocate : !wave.memory<[64, 32], f16, shared>
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %sum = wave.iterate K iv(%k) trips(8) iter_args(%acc = %zero : vector<4xf32>) {
      %0 = wave.read %a index [wg.x * 64 + wave.x * 16 + lane floordiv 4, iv.K * 32 + lane mod 4 * 8] symbols(iv.K = %k)
             : !wave.memory<[M, K], f16, global> -> vector<8xf16>
      wave.write %0, %la index [wave.x * 16 + lane floordiv 4, lane mod 4 * 8] : vector<8xf16>, !wave.memory<[64, 32], f16, shared>
      wave.shared_memory_barrier
      %x = wave.read %la index [lane mod 16, lane floordiv 16 * 4] : !wave.memory<[64, 32], f16, shared> -> vector<4xf16>
      %z = wave.mma %x, %x, %acc kind f32_16x16x16_f16 : vector<4xf16>, vector<4xf16>, vector<4xf32>
      wave.shared_memory_barrier
      wave.yield %z : vector<4xf32>
    }
    wave.write %sum, %c index [wg.x * 64 + lane floordiv 16 * 4 + el, lane mod 16] : vector<4xf32>, !wave.memory<[M, N], f32, global>
    wave.return
  }
}
