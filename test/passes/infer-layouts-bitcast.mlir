// RUN: wave-opt %s --split-input-file --wave-infer-types --wave-bind-symbols --wave-check-constraints --wave-infer-layouts | FileCheck %s
// RUN: wave-opt %s --split-input-file "--pipeline=tile-to-lane{buffer-ops=false}" | FileCheck %s --check-prefix=LANE

// Words are read as the MMA's fragment says: a lane has the 8 elements of i8 it needs as two words.
// CHECK-DAG:   #[[WORDS:.*]] = #wave.layout<[M = 16, K_floordiv_4 = 8], reg = [2 : K_floordiv_4 * 1], lane = [16 : M * 1, 4 : K_floordiv_4 * 2]>
// CHECK-DAG:   #[[BYTES:.*]] = #wave.layout<[M = 16, K = 32], reg = [8 : K * 1], lane = [16 : M * 1, 4 : K * 8]>
// CHECK-LABEL: @narrower(
// CHECK:         wave.read %a index [wg.x * 16 + at.M, {{.*}}at.K_floordiv_4] {{.*}} #[[WORDS]]>
// CHECK:         wave.bitcast %{{.*}} #[[WORDS]]> -> {{.*}} #[[BYTES]]>
// LANE-LABEL:  @narrower(
// LANE:          %[[W:.*]] = wave.{{read|buffer_load}} %a {{.*}} -> vector<2xi32>
// LANE:          vector.bitcast %[[W]] : vector<2xi32> to vector<8xi8>
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @narrower(%a: !wave.memory<[M, K floordiv 4], i32, global>, %b: !wave.memory<[N, K], i8, global>,
                        %c: !wave.memory<[M, N], i32, global>)
      symbols {M = 64, N = 16, K = 64, K_floordiv_4 = K floordiv 4, BM = 16, BK = 32}
      constraints [#wave.workgroup<M, BM, x>, #wave.tiling<K, BK>,
                   #wave.hardware<threads_per_wave = 64, mma = i32_16x16x32_i8>] {
    %zero = wave.register 0 : !wave.tile<[M, N], i32>
    %sum = wave.iterate K iter_args(%acc = %zero : !wave.tile<[M, N], i32>) {
      %w = wave.read %a : !wave.memory<[M, K floordiv 4], i32, global> -> !wave.tile<[M, K_floordiv_4], i32>
      %x = wave.bitcast %w : !wave.tile<[M, K_floordiv_4], i32> -> !wave.tile<[M, K], i8>
      %y = wave.read %b : !wave.memory<[N, K], i8, global> -> !wave.tile<[N, K], i8>
      %z = wave.mma %x, %y, %acc : !wave.tile<[M, K], i8>, !wave.tile<[N, K], i8>, !wave.tile<[M, N], i32>
      wave.yield %z : !wave.tile<[M, N], i32>
    }
    wave.write %sum, %c : !wave.tile<[M, N], i32>, !wave.memory<[M, N], i32, global>
    wave.return
  }
}

// -----

// To wider elements: a lane must have all parts of one.
// CHECK-DAG:   #[[NARROW:.*]] = #wave.layout<[M = 64, N = 64], reg = [16 : N * 1, 4 : M * 16], lane = [4 : N * 16, 16 : M * 1]>
// CHECK-DAG:   #[[WIDE:.*]] = #wave.layout<[M = 64, H = 32], reg = [8 : H * 1, 4 : M * 16], lane = [4 : H * 8, 16 : M * 1]>
// CHECK-LABEL: @wider(
// CHECK:         wave.bitcast %{{.*}} : !wave.tile<[M, N], i8, #[[NARROW]]> -> !wave.tile<[M, H], i16, #[[WIDE]]>
// LANE-LABEL:  @wider(
// LANE:          vector.bitcast %{{.*}} : vector<16xi8> to vector<8xi16>
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @wider(%a: !wave.memory<[M, N], i8, global>, %c: !wave.memory<[M, H], i16, global>)
      symbols {M = 64, N = 64, H = N floordiv 2} constraints [#wave.hardware<threads_per_wave = 64>] {
    %x = wave.read %a : !wave.memory<[M, N], i8, global> -> !wave.tile<[M, N], i8>
    %y = wave.bitcast %x : !wave.tile<[M, N], i8> -> !wave.tile<[M, H], i16>
    wave.write %y, %c : !wave.tile<[M, H], i16>, !wave.memory<[M, H], i16, global>
    wave.return
  }
}
