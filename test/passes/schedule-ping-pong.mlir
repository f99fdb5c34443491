// RUN: wave-opt %s --split-input-file --verify-diagnostics --pipeline="tile-to-scheduled{schedule=ping-pong verify=true}" | FileCheck %s

// A trip of memory, then of MMAs at a higher priority, for each of the two tiles that the loop has: half of the waves are
// a barrier behind the others.
// CHECK-LABEL: @eight(
// CHECK:       wave.conditional [4 le {{.*}}wave.x{{.*}}] attributes {wave.stagger} {
// CHECK-NEXT:    wave.shared_memory_barrier
// CHECK:       wave.iterate
// CHECK-NOT:     barrier{{$}}
// CHECK:         wave.read
// CHECK:         wave.shared_memory_barrier
// CHECK:         wave.set_wave_prio 1
// CHECK-COUNT-16: wave.mma
// CHECK:         wave.set_wave_prio 0
// CHECK:         wave.shared_memory_barrier
// CHECK-COUNT-16: wave.mma
// CHECK:         wave.yield
// CHECK:       wave.conditional {{.*}} attributes {wave.stagger} {
// CHECK-NEXT:    wave.shared_memory_barrier
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @eight(%a: !wave.memory<[M, K], f16, shared>, %b: !wave.memory<[N, K], f16, shared>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 128, N = 128, K = 256, BM = 128, BN = 128, BK = 32} dynamic []
      constraints [#wave.workgroup<M, BM, x>, #wave.workgroup<N, BN, y>, #wave.tiling<K, BK>, #wave.wave<M, BM floordiv 2>,
                   #wave.wave<N, BN floordiv 4>, #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
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
  wave.kernel @four(%a: !wave.memory<[M, K], f16, shared>, %b: !wave.memory<[N, K], f16, shared>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 128, N = 128, K = 256, BM = 128, BN = 128, BK = 32} dynamic []
      constraints [#wave.workgroup<M, BM, x>, #wave.workgroup<N, BN, y>, #wave.tiling<K, BK>, #wave.wave<M, BM floordiv 2>,
                   #wave.wave<N, BN floordiv 2>, #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
    %zero = wave.register 0.0 : !wave.tile<[M, N], f32>
    // expected-warning@+1 {{this loop is not scheduled: ping-pong is for two groups of waves on each of 4 SIMDs, so for 8 waves a workgroup or a multiple of it, and there are 4; it runs as it is written}}
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
  wave.kernel @own_barrier(%a: !wave.memory<[M, K], f16, shared>, %b: !wave.memory<[N, K], f16, shared>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 128, N = 128, K = 256, BM = 128, BN = 128, BK = 32} dynamic []
      constraints [#wave.workgroup<M, BM, x>, #wave.workgroup<N, BN, y>, #wave.tiling<K, BK>, #wave.wave<M, BM floordiv 2>,
                   #wave.wave<N, BN floordiv 4>, #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
    %zero = wave.register 0.0 : !wave.tile<[M, N], f32>
    // expected-warning@+1 {{'barrier.0' is synchronisation of your own, and ping-pong places all of it; take it out, or schedule by hand; it runs as it is written}}
    %sum = wave.iterate K iter_args(%acc = %zero : !wave.tile<[M, N], f32>) {
      %x = wave.read %a : !wave.memory<[M, K], f16, shared> -> !wave.tile<[M, K], f16>
      %y = wave.read %b : !wave.memory<[N, K], f16, shared> -> !wave.tile<[N, K], f16>
      // expected-note@+1 {{one of these ops}}
      wave.shared_memory_barrier
      %z = wave.mma %x, %y, %acc : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
      wave.yield %z : !wave.tile<[M, N], f32>
    }
    wave.write %sum, %c : !wave.tile<[M, N], f32>, !wave.memory<[M, N], f32, global>
    wave.return
  }
}

// -----

// Four MMAs a trip are the least.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @short(%a: !wave.memory<[M, K], f16, shared>, %b: !wave.memory<[N, K], f16, shared>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 128, N = 128, K = 256, BM = 32, BN = 64, BK = 16} dynamic []
      constraints [#wave.workgroup<M, BM, x>, #wave.workgroup<N, BN, y>, #wave.tiling<K, BK>, #wave.wave<M, BM floordiv 2>,
                   #wave.wave<N, BN floordiv 4>, #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
    %zero = wave.register 0.0 : !wave.tile<[M, N], f32>
    // expected-warning@+1 {{ping-pong is for loops whose products have at least 4 matrix operations each; use larger tiles, or another strategy; it runs as it is written}}
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
