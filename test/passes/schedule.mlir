// RUN: wave-opt %s --split-input-file --wave-schedule=strategy=modulo | FileCheck %s
// RUN: wave-opt %s --split-input-file --wave-schedule=strategy=list | FileCheck %s --check-prefix=LIST
// RUN: wave-opt %s --split-input-file --wave-schedule="strategy=modulo copies=1" | FileCheck %s --check-prefix=ONE
// RUN: wave-opt %s --split-input-file --wave-schedule=strategy=four-stage | FileCheck %s --check-prefix=FOUR
// RUN: wave-opt %s --split-input-file --wave-schedule=strategy=attention | FileCheck %s --check-prefix=AHEAD
// RUN: wave-opt %s --split-input-file --wave-schedule | FileCheck %s --check-prefix=NONE

// A product through LDS with two waves: three trips at once, and as many clocks a trip as the MMAs take. What the trip
// after next needs is loaded, the next tile is written and read, and the MMAs work on this one.
// NONE-NOT:      wave.pipeline
// CHECK-LABEL: @gemm(
// CHECK:         wave.allocate {wave.copies = 2 : i64}
// CHECK:         wave.allocate {wave.copies = 2 : i64}
// CHECK:         wave.iterate {{.*}} attributes {wave.pipeline = {interval = {{[0-9]+}} : i64, stages = {{[2-9][0-9]*}} : i64, strategy = "modulo", unroll = 2 : i64}} {
// CHECK:           wave.buffer_load {{.*}}wave.slot = {order = {{[0-9]+}} : i64, stage = 0 : i64}
// CHECK:           wave.mma {{.*}}wave.slot = {order = {{[0-9]+}} : i64, stage = {{[1-9][0-9]*}} : i64}
// CHECK:           wave.yield %{{[0-9]+}} : vector<4xf32>
// ONE-LABEL:   @gemm(
// ONE-NOT:       wave.copies
// ONE:           strategy = "modulo", unroll = 1 : i64
// FOUR-LABEL:  @gemm(
// FOUR-COUNT-2:  wave.buffer_load {{.*}}stage = 0 : i64}
// FOUR-COUNT-2:  wave.write {{.*}}stage = 1 : i64}
// FOUR-COUNT-2:  wave.read {{.*}}stage = 2 : i64}
// FOUR:          wave.mma {{.*}}stage = 3 : i64}
// AHEAD-LABEL: @gemm(
// AHEAD:         stages = 2 : i64, strategy = "attention"
// LIST-LABEL:  @gemm(
// LIST-NOT:      wave.copies
// LIST:          stages = 1 : i64, strategy = "list", unroll = 1 : i64
// LIST-COUNT-2:  wave.buffer_load {{.*}}stage = 0 : i64
// LIST-COUNT-2:  wave.write {{.*}}stage = 0 : i64
// LIST-COUNT-2:  wave.read {{.*}}stage = 0 : i64
// LIST:          wave.mma {{.*}}wave.slot = {order = 6 : i64, stage = 0 : i64}
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @gemm(%a: !wave.memory<[M, K], f16, global>, %b: !wave.memory<[N, K], f16, global>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 64, N = 64, K = 512} dynamic []
      constraints [#wave.workgroup<M, 32, x>, #wave.workgroup<N, 16, y>, #wave.tiling<K, 32>, #wave.wave<M, 16>,
                   #wave.hardware<threads_per_wave = 64, mma = f32_16x16x32_k8_f16>] {
    %la = wave.allocate : !wave.memory<[32, 32], f16, shared>
    %lb = wave.allocate : !wave.memory<[32, 32], f16, shared>
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %sum = wave.iterate K iv(%k) trips(16) iter_args(%acc = %zero : vector<4xf32>) {
      %ga = wave.buffer_load %a base [wg.x * 16384 + iv.K * 32] offset [wave.x * 8192 + lane floordiv 4 * 512 + lane mod 4 * 8] symbols(iv.K = %k) : !wave.memory<[M, K], f16, global> -> vector<8xf16>
      %gb = wave.buffer_load %b base [wg.y * 8192 + iv.K * 32] offset [wave.x * 8192 + lane floordiv 4 * 512 + lane mod 4 * 8] symbols(iv.K = %k) : !wave.memory<[N, K], f16, global> -> vector<8xf16>
      wave.write %ga, %la index [wave.x * 16 + lane floordiv 4, lane mod 4 * 8] : vector<8xf16>, !wave.memory<[32, 32], f16, shared>
      wave.write %gb, %lb index [wave.x * 16 + lane floordiv 4, lane mod 4 * 8] : vector<8xf16>, !wave.memory<[32, 32], f16, shared>
      %x = wave.read %la index [wave.x * 16 + lane mod 16, lane floordiv 16 * 8] : !wave.memory<[32, 32], f16, shared> -> vector<8xf16>
      %y = wave.read %lb index [lane mod 16, lane floordiv 16 * 8] : !wave.memory<[32, 32], f16, shared> -> vector<8xf16>
      %z = wave.mma %x, %y, %acc kind f32_16x16x32_k8_f16 : vector<8xf16>, vector<8xf16>, vector<4xf32>
      wave.yield %z : vector<4xf32>
    }
    wave.buffer_store %sum, %c base [wg.x * 2048 + wg.y * 16] offset [wave.x * 1024 + lane floordiv 16 * 256 + lane mod 16] : vector<4xf32>, !wave.memory<[M, N], f32, global>
    wave.return
  }
}

// -----

// One wave, one buffer that the loop reads before it writes: a trip's data is for the next one, so there is one copy. A
// user's barrier keeps the accesses on their sides. A scalar that is carried on has a place; constants, masks and slices
// have none.
// CHECK-LABEL: @carried(
// CHECK:         wave.allocate :
// CHECK:           arith.constant 1.0
// CHECK:           wave.read {{.*}}wave.slot = {order = [[READ:[0-9]+]] : i64, stage = 0 : i64}
// CHECK:           wave.shared_memory_barrier {wave.slot
// CHECK:           vector.extract_strided_slice {{.*}}sizes = [2], strides = [1]}
// CHECK:           arith.addf {{.*}}wave.slot
// CHECK:           wave.write {{.*}}wave.slot
// CHECK:           arith.addf {{.*}}wave.slot{{.*}} : f32
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @carried(%a: !wave.memory<[M], f32, global>) symbols {M = 64} dynamic []
      constraints [#wave.hardware<threads_per_wave = 64>] {
    %l = wave.allocate : !wave.memory<[256], f32, shared>
    %zero = arith.constant 0.0 : f32
    %sum = wave.iterate K iv(%k) trips(16) iter_args(%acc = %zero : f32) {
      %one = arith.constant 1.0 : f32
      %x = wave.read %l index [lane * 4] : !wave.memory<[256], f32, shared> -> vector<4xf32>
      wave.shared_memory_barrier
      %s = vector.extract_strided_slice %x {offsets = [0], sizes = [2], strides = [1]} : vector<4xf32> to vector<2xf32>
      %y = arith.addf %s, %s : vector<2xf32>
      wave.write %y, %l index [lane * 4] : vector<2xf32>, !wave.memory<[256], f32, shared>
      %z = arith.addf %acc, %one : f32
      wave.yield %z : f32
    }
    wave.return
  }
}

// -----

// The loop that runs what another one left is not scheduled.
// CHECK-LABEL: @rest(
// CHECK-NOT:     wave.slot
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @rest(%a: !wave.memory<[M], f32, global>) symbols {M = 64} dynamic []
      constraints [#wave.hardware<threads_per_wave = 64>] {
    %zero = arith.constant dense<0.0> : vector<1xf32>
    %sum = wave.iterate K iv(%k) trips(16) iter_args(%acc = %zero : vector<1xf32>) attributes {wave.rest} {
      %y = arith.addf %acc, %acc : vector<1xf32>
      wave.yield %y : vector<1xf32>
    }
    wave.return
  }
}

// -----

// A loop of one trip has nothing to overlap with.
// CHECK-LABEL: @once(
// CHECK-NOT:   wave.pipeline
// CHECK-NOT:   wave.slot
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @once(%a: !wave.memory<[M, K], f32, global>, %b: !wave.memory<[M], f32, global>)
      symbols {M = 64, K = 1} dynamic []
      constraints [#wave.workgroup<M, 64, x>, #wave.tiling<K, 1>, #wave.hardware<threads_per_wave = 64, vector_shapes = {M = 64, K = 1}>] {
    %zero = arith.constant dense<0.0> : vector<1xf32>
    %sum = wave.iterate K iv(%k) trips(1) iter_args(%acc = %zero : vector<1xf32>) {
      %x = wave.read %a index [lane, iv.K] symbols(iv.K = %k) : !wave.memory<[M, K], f32, global> -> vector<1xf32>
      %y = arith.addf %acc, %x : vector<1xf32>
      wave.yield %y : vector<1xf32>
    }
    wave.write %sum, %b index [lane] : vector<1xf32>, !wave.memory<[M], f32, global>
    wave.return
  }
}
