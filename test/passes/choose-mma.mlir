// RUN: wave-opt %s --wave-choose-mma --split-input-file | FileCheck %s

// Operands read for the MMA, K contiguous: K is widened. A result that only goes to a write with contiguous columns,
// through the loop and elementwise ops: transposed; two columns in two instructions make 16 bytes of f16.
// CHECK-LABEL: @gemm(
// CHECK:         wave.mma {{.*}} kind f32_16x16x32_k8_f16{{.*}} {wave.columns = 2 : i64, wave.transposed}
module attributes {wave.form = "typed", wave.target = "gfx942"} {
  wave.kernel @gemm(%a: !wave.memory<[M, K], f16, shared>, %b: !wave.memory<[N, K], f16, shared>,
                    %c: !wave.memory<[M, N], f16, global>)
      symbols {M = 64, N = 64, K = 64} dynamic []
      constraints [#wave.workgroup<M, 32, x>, #wave.workgroup<N, 32, y>, #wave.tiling<K, 32>,
                   #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
    %zero = wave.register 0.0 : !wave.tile<[M, N], f32>
    %sum = wave.iterate K iv(%k) trips(2) iter_args(%acc = %zero : !wave.tile<[M, N], f32>) {
      %x = wave.read %a symbols(iv.K = %k) : !wave.memory<[M, K], f16, shared> -> !wave.tile<[M, K], f16>
      %y = wave.read %b symbols(iv.K = %k) : !wave.memory<[N, K], f16, shared> -> !wave.tile<[N, K], f16>
      %z = wave.mma %x, %y, %acc kind f32_16x16x16_f16 symbols(iv.K = %k) : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
      wave.yield %z : !wave.tile<[M, N], f32>
    }
    %half = wave.cast %sum : !wave.tile<[M, N], f32> -> !wave.tile<[M, N], f16>
    wave.write %half, %c : !wave.tile<[M, N], f16>, !wave.memory<[M, N], f16, global>
    wave.return
  }
}

// -----

// One operand is computed: no widening, also not of the MMA that shares the other. Rows are contiguous in the result,
// and a result that is an operand as well stays.
// CHECK-LABEL: @others(
// CHECK:         wave.mma %{{.*}}, %{{.*}}, %{{.*}} kind f32_16x16x16_f16 : !wave.tile<[M, K], f16>
// CHECK:         wave.mma %{{.*}}, %{{.*}}, %{{.*}} kind f32_16x16x16_f16 : !wave.tile<[M, K], f16>
// CHECK:         wave.mma %{{.*}}, %{{.*}}, %{{.*}} kind f32_16x16x16_f16 {wave.transposed} : !wave.tile<[M, N], f16>
module attributes {wave.form = "typed", wave.target = "gfx942"} {
  wave.kernel @others(%a: !wave.memory<[M, K], f16, shared>, %b: !wave.memory<[N, K], f16, shared>,
                      %c: !wave.memory<[N, M], f32, global>, %d: !wave.memory<[M, K], f32, global>, %e: !wave.memory<[K, N], f16, shared>)
      symbols {M = 32, N = 32, K = 32} dynamic []
      constraints [#wave.workgroup<M, 32, x>, #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
    %zero = wave.register 0.0 : !wave.tile<[M, N], f32>
    %zk = wave.register 0.0 : !wave.tile<[M, K], f32>
    %x = wave.read %a : !wave.memory<[M, K], f16, shared> -> !wave.tile<[M, K], f16>
    %y = wave.read %b : !wave.memory<[N, K], f16, shared> -> !wave.tile<[N, K], f16>
    %yy = wave.add %y, %y : !wave.tile<[N, K], f16>
    %p = wave.mma %x, %y, %zero kind f32_16x16x16_f16 : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
    wave.write %p, %c : !wave.tile<[M, N], f32>, !wave.memory<[N, M], f32, global>
    %q = wave.mma %x, %yy, %zero kind f32_16x16x16_f16 : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
    %r = wave.cast %q : !wave.tile<[M, N], f32> -> !wave.tile<[M, N], f16>
    %w = wave.read %e : !wave.memory<[K, N], f16, shared> -> !wave.tile<[K, N], f16>
    %s = wave.mma %r, %w, %zk kind f32_16x16x16_f16 : !wave.tile<[M, N], f16>, !wave.tile<[K, N], f16>, !wave.tile<[M, K], f32>
    wave.write %s, %d : !wave.tile<[M, K], f32>, !wave.memory<[M, K], f32, global>
    wave.return
  }
}
