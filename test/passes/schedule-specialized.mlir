// RUN: wave-opt %s --split-input-file --verify-diagnostics --pipeline="tile-to-scheduled{schedule=specialized verify=true}" | FileCheck %s

// The waves that compute have LDS reads, MMAs and stores, at a higher priority; the others loads and LDS writes, with the
// same barriers: one for each of the two tiles of a trip.
// CHECK-LABEL: @four(
// CHECK:       waves_per_block = [2, 2, 2], service_waves = 4
// CHECK:       wave.conditional [wave.z eq 0] attributes {wave.specialized} {
// CHECK-NEXT:    wave.set_wave_prio 1
// CHECK-NOT:     wave.buffer_load
// CHECK-NOT:     wave.write
// CHECK:         wave.iterate
// CHECK:           wave.shared_memory_barrier
// CHECK:           wave.mma
// CHECK:           wave.shared_memory_barrier
// CHECK:           wave.yield
// CHECK:         wave.buffer_store
// CHECK-NOT:     wave.buffer_load
// CHECK:       } else {
// CHECK-NOT:     wave.mma
// CHECK:         wave.iterate
// CHECK:           wave.write
// CHECK:           wave.buffer_load
// CHECK:           wave.shared_memory_barrier
// CHECK:           wave.shared_memory_barrier
// CHECK:           wave.yield
// CHECK-NOT:     wave.read
// CHECK-NOT:     wave.buffer_store
// CHECK:       wave.return
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @four(%a: !wave.memory<[M, K], f16, shared>, %b: !wave.memory<[N, K], f16, shared>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 256, N = 256, K = 256, BM = 128, BN = 128, BK = 32} dynamic []
      constraints [#wave.workgroup<M, BM, x>, #wave.workgroup<N, BN, y>, #wave.tiling<K, BK>, #wave.wave<M, BM floordiv 2>,
                   #wave.wave<N, BN floordiv 2>, #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
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

// 16 waves have 128 registers each.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @large(%a: !wave.memory<[M, K], f16, shared>, %b: !wave.memory<[N, K], f16, shared>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 256, N = 256, K = 256, BM = 256, BN = 256, BK = 32} dynamic []
      constraints [#wave.workgroup<M, BM, x>, #wave.workgroup<N, BN, y>, #wave.tiling<K, BK>, #wave.wave<M, BM floordiv 2>,
                   #wave.wave<N, BN floordiv 4>, #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
    %zero = wave.register 0.0 : !wave.tile<[M, N], f32>
    // expected-warning@+1 {{with as many waves more, that only copy, a lane has 128 registers, and the waves that compute need}}
    %sum = wave.iterate K iter_args(%acc = %zero : !wave.tile<[M, N], f32>) {
      %x = wave.read %a : !wave.memory<[M, K], f16, shared> -> !wave.tile<[M, K], f16>
      %y = wave.read %b : !wave.memory<[N, K], f16, shared> -> !wave.tile<[N, K], f16>
      // expected-note@+1 {{one of these ops}}
      %z = wave.mma %x, %y, %acc : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
      wave.yield %z : !wave.tile<[M, N], f32>
    }
    wave.write %sum, %c : !wave.tile<[M, N], f32>, !wave.memory<[M, N], f32, global>
    wave.return
  }
}

// -----

module attributes {wave.form = "tile", wave.target = "gfx942"} {
  // expected-warning@+1 {{no waves of this kernel only copy to LDS: as many waves more as its 16 make 2048 threads, and a workgroup has 1024 at the most; all compute}}
  wave.kernel @too_many(%a: !wave.memory<[M, K], f16, shared>, %b: !wave.memory<[N, K], f16, shared>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 256, N = 256, K = 256, BM = 128, BN = 256, BK = 32} dynamic []
      constraints [#wave.workgroup<M, BM, x>, #wave.workgroup<N, BN, y>, #wave.tiling<K, BK>, #wave.wave<M, BM floordiv 2>,
                   #wave.wave<N, BN floordiv 8>, #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
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

module attributes {wave.form = "tile", wave.target = "gfx942"} {
  // expected-warning@+1 {{no waves of this kernel only copy to LDS: no loop copies tiles from global memory to LDS, for which there would be waves; all compute}}
  wave.kernel @no_lds(%a: !wave.memory<[M, K], f16, global>, %b: !wave.memory<[N, K], f16, global>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 256, N = 256, K = 256, BM = 128, BN = 128, BK = 32} dynamic []
      constraints [#wave.workgroup<M, BM, x>, #wave.workgroup<N, BN, y>, #wave.tiling<K, BK>, #wave.wave<M, BM floordiv 2>,
                   #wave.wave<N, BN floordiv 2>, #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
    %zero = wave.register 0.0 : !wave.tile<[M, N], f32>
    %sum = wave.iterate K iter_args(%acc = %zero : !wave.tile<[M, N], f32>) {
      %x = wave.read %a : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16>
      %y = wave.read %b : !wave.memory<[N, K], f16, global> -> !wave.tile<[N, K], f16>
      %z = wave.mma %x, %y, %acc : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
      wave.yield %z : !wave.tile<[M, N], f32>
    }
    wave.write %sum, %c : !wave.tile<[M, N], f32>, !wave.memory<[M, N], f32, global>
    wave.return
  }
}

// -----

module attributes {wave.form = "tile", wave.target = "gfx942"} {
  // expected-warning@+1 {{'wave.shared_memory_barrier' is synchronisation of your own, and waves that serve need all of it placed for them; all compute}}
  wave.kernel @own_barrier(%a: !wave.memory<[M, K], f16, shared>, %b: !wave.memory<[N, K], f16, shared>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 256, N = 256, K = 256, BM = 128, BN = 128, BK = 32} dynamic []
      constraints [#wave.workgroup<M, BM, x>, #wave.workgroup<N, BN, y>, #wave.tiling<K, BK>, #wave.wave<M, BM floordiv 2>,
                   #wave.wave<N, BN floordiv 2>, #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
    %zero = wave.register 0.0 : !wave.tile<[M, N], f32>
    %sum = wave.iterate K iter_args(%acc = %zero : !wave.tile<[M, N], f32>) {
      %x = wave.read %a : !wave.memory<[M, K], f16, shared> -> !wave.tile<[M, K], f16>
      %y = wave.read %b : !wave.memory<[N, K], f16, shared> -> !wave.tile<[N, K], f16>
      // expected-note@+1 {{this op is in the way}}
      wave.shared_memory_barrier
      %z = wave.mma %x, %y, %acc : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
      wave.yield %z : !wave.tile<[M, N], f32>
    }
    wave.write %sum, %c : !wave.tile<[M, N], f32>, !wave.memory<[M, N], f32, global>
    wave.return
  }
}
