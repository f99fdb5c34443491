// RUN: wave-opt %s --split-input-file --wave-infer-types --wave-bind-symbols --wave-check-constraints --wave-infer-layouts | FileCheck %s

// A buffer of one tile: positions in it are those in the tile. One that has all of a dim keeps the position along it.
// CHECK-LABEL: @tiles(
// CHECK:         %[[L:.*]] = wave.allocate : !wave.memory<[32, 40], f16, shared>
// CHECK:         %[[W:.*]] = wave.allocate : !wave.memory<[32, 96], f16, shared>
// CHECK:         wave.write %{{.*}}, %[[L]] index [at.M, at.K] :
// CHECK:         wave.write %{{.*}}, %[[W]] index [at.M, iv.K * 32 + at.K] symbols
// CHECK:         wave.read %[[L]] index [at.M, at.K] :
// CHECK:         wave.read %[[W]] index [at.M + 1, iv.K * 32 + at.K] symbols
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @tiles(%a: !wave.memory<[M, K], f16, global>, %c: !wave.memory<[M, K], f16, global>)
      symbols {M = 64, K = 96, BM = 32, BK = 32}
      constraints [#wave.workgroup<M, BM, x>, #wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %l = wave.allocate distributed [BM, BK + 8] : !wave.memory<[M, K], f16, shared>
    %w = wave.allocate distributed [BM, 96] : !wave.memory<[M, K], f16, shared>
    wave.iterate K {
      %x = wave.read %a : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16>
      wave.write %x, %l : !wave.tile<[M, K], f16>, !wave.memory<[M, K], f16, shared>
      wave.write %x, %w : !wave.tile<[M, K], f16>, !wave.memory<[M, K], f16, shared>
      wave.shared_memory_barrier
      %y = wave.read %l : !wave.memory<[M, K], f16, shared> -> !wave.tile<[M, K], f16>
      %z = wave.read %w mapping <[M = i, K = j] -> [i + 1, j]> : !wave.memory<[M, K], f16, shared> -> !wave.tile<[M, K], f16>
      %s = wave.add %y, %z : !wave.tile<[M, K], f16>
      wave.write %s, %c : !wave.tile<[M, K], f16>, !wave.memory<[M, K], f16, global>
      wave.yield
    }
    wave.return
  }
}
