// RUN: wave-opt %s --split-input-file --wave-promote | FileCheck %s

#lhs = #wave.layout<[M = 64, K = 32], reg = [4 : K * 1, 2 : K * 16, 2 : M * 16],
                    lane = [16 : M * 1, 4 : K * 4], wave.x = [2 : M * 32]>
#rhs = #wave.layout<[N = 64, K = 32], reg = [4 : K * 1, 2 : K * 16, 2 : N * 16],
                    lane = [16 : N * 1, 4 : K * 4], wave.y = [2 : N * 32]>
#acc = #wave.layout<[M = 64, N = 64], reg = [4 : M * 1, 2 : N * 16, 2 : M * 16],
                    lane = [16 : N * 1, 4 : M * 4], wave.x = [2 : M * 32], wave.y = [2 : N * 32]>

// The arguments move to global space; all global reads of a block come first, then all writes to LDS, then the reads
// from it. Buffers stand at the kernel's start.
// CHECK-LABEL: @gemm(
// CHECK-SAME:  %a: !wave.memory<[M, K], f16, global>, %b: !wave.memory<[N, K], f16, global>
// CHECK-COUNT-2: wave.allocate : !wave.memory<[64, 32], f16, shared>
// CHECK:       wave.iterate
// CHECK-NEXT:    %[[GA:.*]] = wave.read %a index [{{.*}}at.M{{.*}}, {{.*}}at.K{{.*}}] symbols(iv.K = %{{.*}}) : !wave.memory<[M, K], f16, global>
// CHECK-NEXT:    %[[GB:.*]] = wave.read %b index [{{.*}}at.N{{.*}}, {{.*}}at.K{{.*}}] symbols(iv.K = %{{.*}}) : !wave.memory<[N, K], f16, global>
// CHECK-NEXT:    wave.write %[[GA]], %[[LA:.*]] index [at.M, at.K] :
// CHECK-NEXT:    wave.write %[[GB]], %[[LB:.*]] index [at.N, at.K] :
// CHECK-NEXT:    %[[X:.*]] = wave.read %[[LA]] index [at.M, at.K] : !wave.memory<[64, 32], f16, shared>
// CHECK-NEXT:    %[[Y:.*]] = wave.read %[[LB]] index [at.N, at.K] : !wave.memory<[64, 32], f16, shared>
// CHECK-NEXT:    wave.mma %[[X]], %[[Y]],
module attributes {wave.form = "placed", wave.target = "gfx942"} {
  wave.kernel @gemm(%a: !wave.memory<[M, K], f16, shared>, %b: !wave.memory<[N, K], f16, shared>,
                    %c: !wave.memory<[M, N], f32, global>) symbols {M = 512, N = 512, K = 256}
      constraints [#wave.workgroup<M, 64, x>, #wave.workgroup<N, 64, y>, #wave.tiling<K, 32>, #wave.wave<M, 32>,
                   #wave.wave<N, 32>, #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
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

#rows = #wave.layout<[M = 64, K = 32], reg = [4 : K * 1, 8 : K * 4], lane = [64 : M * 1]>

// Two reads of one position share a copy. A write ends a group: what comes after it is not read before it.
// CHECK-LABEL: @groups(
// CHECK:       wave.read %a index [at.M, at.K] : !wave.memory<[M, K], f16, global>
// CHECK-NOT:   !wave.memory<[M, K], f16, global>
// CHECK:       wave.write %{{.*}}, %[[BUFFER:.*]] index [at.M, at.K] : {{.*}}, !wave.memory<[64, 32], f16, shared>
// CHECK-NEXT:  wave.read %[[BUFFER]]
// CHECK-NEXT:  wave.read %[[BUFFER]]
// CHECK:       wave.write %{{.*}}, %c
// CHECK-NEXT:  wave.read %a index [at.M + 64, at.K] : !wave.memory<[M, K], f16, global>
module attributes {wave.form = "placed", wave.target = "gfx942"} {
  wave.kernel @groups(%a: !wave.memory<[M, K], f16, shared>, %c: !wave.memory<[M, K], f16, global>)
      symbols {M = 128, K = 32}
      constraints [#wave.workgroup<M, 64, x>, #wave.workgroup<K, 32, y>, #wave.hardware<threads_per_wave = 64>] {
    %x = wave.read %a index [at.M, at.K] : !wave.memory<[M, K], f16, shared> -> !wave.tile<[M, K], f16, #rows>
    %y = wave.read %a index [at.M, at.K] : !wave.memory<[M, K], f16, shared> -> !wave.tile<[M, K], f16, #rows>
    %s = wave.add %x, %y : !wave.tile<[M, K], f16, #rows>
    wave.write %s, %c index [at.M, at.K] : !wave.tile<[M, K], f16, #rows>, !wave.memory<[M, K], f16, global>
    %z = wave.read %a index [at.M + 64, at.K] : !wave.memory<[M, K], f16, shared> -> !wave.tile<[M, K], f16, #rows>
    wave.write %z, %c index [at.M + 64, at.K] : !wave.tile<[M, K], f16, #rows>, !wave.memory<[M, K], f16, global>
    wave.return
  }
}

// -----

#rhs = #wave.layout<[K = 32, N = 64], reg = [8 : K * 1, 4 : N * 16], lane = [16 : N * 1, 4 : K * 8]>

// The reader's registers run along K, memory has N last: the buffer has K last.
// CHECK-LABEL: @transposed(
// CHECK:         wave.write %{{.*}}, %[[L:.*]] index [at.N, at.K] : {{.*}}, !wave.memory<[64, 32], f16, shared>
// CHECK:         wave.read %[[L]] index [at.N, at.K]
module attributes {wave.form = "placed", wave.target = "gfx942"} {
  wave.kernel @transposed(%a: !wave.memory<[K, N], f16, shared>)
      symbols {K = 32, N = 64} constraints [#wave.hardware<threads_per_wave = 64>] {
    %x = wave.read %a index [at.K, at.N] : !wave.memory<[K, N], f16, shared> -> !wave.tile<[K, N], f16, #rhs>
    wave.return
  }
}
