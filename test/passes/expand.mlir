// RUN: wave-opt %s --split-input-file --wave-expand | FileCheck %s

#acc = #wave.layout<[M = 32, N = 16], reg = [4 : M * 1, 2 : M * 16], lane = [16 : N * 1, 4 : M * 4]>
#lhs = #wave.layout<[M = 32, K = 32], reg = [4 : K * 1, 2 : K * 16, 2 : M * 16], lane = [16 : M * 1, 4 : K * 4]>
#rhs = #wave.layout<[N = 16, K = 32], reg = [4 : K * 1, 2 : K * 16], lane = [16 : N * 1, 4 : K * 4]>

// M = 32, N = 16, K = 32 with 16x16x16: two accumulators, four reads of A, two of B, four MMAs in two chains of two
// (the second takes the result of the first), two writes. A value stands once for each copy of its own dims.
// CHECK-LABEL: @gemm(
// CHECK-NOT:   !wave.tile
// CHECK:       wave.iterate K iv(%{{.*}}) trips(8) iter_args(%[[ACC0:.*]] = %{{.*}} : vector<4xf32>, %[[ACC1:.*]] = %{{.*}} : vector<4xf32>)
// CHECK-NEXT:    %[[A0:.*]] = wave.read %a index [{{.*}}] symbols(iv.K = %{{.*}}) {{.*}} -> vector<4xf16>
// CHECK-NEXT:    %[[A1:.*]] = wave.read %a
// CHECK-NEXT:    %[[A2:.*]] = wave.read %a
// CHECK-NEXT:    %[[A3:.*]] = wave.read %a
// CHECK-NEXT:    %[[B0:.*]] = wave.read %b
// CHECK-NEXT:    %[[B1:.*]] = wave.read %b
// CHECK-NEXT:    %[[P0:.*]] = wave.mma %[[A0]], %[[B0]], %[[ACC0]] kind f32_16x16x16_f16 : vector<4xf16>, vector<4xf16>, vector<4xf32>
// CHECK-NEXT:    %[[Z0:.*]] = wave.mma %[[A1]], %[[B1]], %[[P0]] kind
// CHECK-NEXT:    %[[P1:.*]] = wave.mma %[[A2]], %[[B0]], %[[ACC1]] kind
// CHECK-NEXT:    %[[Z1:.*]] = wave.mma %[[A3]], %[[B1]], %[[P1]] kind
// CHECK-NEXT:    wave.yield %[[Z0]], %[[Z1]] : vector<4xf32>, vector<4xf32>
// CHECK-COUNT-2: wave.write %{{.*}}, %c index [{{.*}}lane{{.*}}el{{.*}}] {{.*}} : vector<4xf32>
// CHECK-NEXT:  wave.return
module attributes {wave.form = "staged", wave.target = "gfx942"} {
  wave.kernel @gemm(%a: !wave.memory<[M, K], f16, global>, %b: !wave.memory<[N, K], f16, global>,
                    %c: !wave.memory<[M, N], f32, global>) symbols {M = 512, N = 512, K = 256}
      constraints [#wave.workgroup<M, 32, x>, #wave.workgroup<N, 16, y>, #wave.tiling<K, 32>,
                   #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
    %zero = wave.register 0.0 : !wave.tile<[M, N], f32, #acc>
    %sum = wave.iterate K iv(%k) trips(8) iter_args(%acc = %zero : !wave.tile<[M, N], f32, #acc>) {
      %x = wave.read %a index [wg.x * 32 + at.M, iv.K * 32 + at.K] symbols(iv.K = %k)
             : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16, #lhs>
      %y = wave.read %b index [wg.y * 16 + at.N, iv.K * 32 + at.K] symbols(iv.K = %k)
             : !wave.memory<[N, K], f16, global> -> !wave.tile<[N, K], f16, #rhs>
      %z = wave.mma %x, %y, %acc : !wave.tile<[M, K], f16, #lhs>, !wave.tile<[N, K], f16, #rhs>, !wave.tile<[M, N], f32, #acc>
      wave.yield %z : !wave.tile<[M, N], f32, #acc>
    }
    wave.write %sum, %c index [wg.x * 32 + at.M, wg.y * 16 + at.N]
      : !wave.tile<[M, N], f32, #acc>, !wave.memory<[M, N], f32, global>
    wave.return
  }
}

// -----

#rows = #wave.layout<[M = 64, K = 4], reg = [4 : K * 1], lane = [64 : M * 1]>
#swap = #wave.layout<[M = 64, K = 4], reg = [2 : K * 2, 2 : K * 1], lane = [64 : M * 1]>

// A relayout inside a lane renames registers: destination registers 0 1 2 3 hold K = 0 2 1 3.
// CHECK-LABEL: @registers(
// CHECK:       %[[X:.*]] = wave.read %a
// CHECK:       %[[S0:.*]] = vector.extract_strided_slice %[[X]] {offsets = [0]
// CHECK:       %[[S1:.*]] = vector.extract_strided_slice %[[X]] {offsets = [1]
// CHECK:       %[[S2:.*]] = vector.extract_strided_slice %[[X]] {offsets = [2]
// CHECK:       %[[S3:.*]] = vector.extract_strided_slice %[[X]] {offsets = [3]
// CHECK:       %[[E0:.*]] = vector.extract %[[S0]][0]
// CHECK:       %[[E2:.*]] = vector.extract %[[S2]][0]
// CHECK:       %[[Y0:.*]] = vector.from_elements %[[E0]], %[[E2]] : vector<2xf16>
// CHECK:       %[[E1:.*]] = vector.extract %[[S1]][0]
// CHECK:       %[[E3:.*]] = vector.extract %[[S3]][0]
// CHECK:       %[[Y1:.*]] = vector.from_elements %[[E1]], %[[E3]] : vector<2xf16>
// CHECK:       wave.write %[[Y0]], %c index [lane, el * 2] {
// CHECK:       wave.write %[[Y1]], %c index [lane, el * 2 + 1] {
module attributes {wave.form = "staged", wave.target = "gfx942"} {
  wave.kernel @registers(%a: !wave.memory<[M, K], f16, global>, %c: !wave.memory<[M, K], f16, global>)
      symbols {M = 64, K = 4}
      constraints [#wave.workgroup<M, 64, x>, #wave.workgroup<K, 4, y>, #wave.hardware<threads_per_wave = 64>] {
    %x = wave.read %a index [at.M, at.K] : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16, #rows>
    %y = wave.relayout %x : !wave.tile<[M, K], f16, #rows> -> !wave.tile<[M, K], f16, #swap>
    wave.write %y, %c index [at.M, at.K] : !wave.tile<[M, K], f16, #swap>, !wave.memory<[M, K], f16, global>
    wave.return
  }
}

// -----

#tail = #wave.layout<[M = 56], reg = [], lane = [64 : M * 1], clip = [M = 56]>
#twice = #wave.layout<[M = 32], reg = [], lane = [32 : M * 1]>

// An element that does not exist is masked; of several lanes with the same element one writes.
// CHECK-LABEL: @masks(
// CHECK:       %[[IN:.*]] = wave.mask [lane lt 56] : vector<1xi1>
// CHECK:       wave.read %a mask %[[IN]]
// CHECK:       %[[OWNER:.*]] = wave.mask [lane lt 32] : vector<1xi1>
// CHECK:       wave.write %{{.*}}, %c mask %[[OWNER]]
module attributes {wave.form = "staged", wave.target = "gfx942"} {
  wave.kernel @masks(%a: !wave.memory<[M], f32, global>, %c: !wave.memory<[N], f32, global>)
      symbols {M = 56, N = 32}
      constraints [#wave.workgroup<M, 56, x>, #wave.workgroup<N, 32, y>, #wave.hardware<threads_per_wave = 64>] {
    %x = wave.read %a index [at.M] : !wave.memory<[M], f32, global> -> !wave.tile<[M], f32, #tail>
    wave.write %x, %a index [at.M] : !wave.tile<[M], f32, #tail>, !wave.memory<[M], f32, global>
    %y = wave.register 1.0 : !wave.tile<[M], f32, #twice>
    wave.write %y, %c index [at.M] : !wave.tile<[M], f32, #twice>, !wave.memory<[N], f32, global>
    wave.return
  }
}

// -----

#one = #wave.layout<[M = 1]>
#row = #wave.layout<[M = 64], lane = [64 : M * 1]>

// A scalar of a tile with one element a lane takes that element. Divisors of 0 become 1; known ones stay.
// CHECK-LABEL: @scalars(
// CHECK:       %[[X:.*]] = wave.read %a index [wg.x]
// CHECK:       wave.apply_expr [T + 1] symbols(T = %[[X]] : vector<1xi32>) : index
// CHECK:       wave.scalar [T] symbols(T = %[[X]] : vector<1xi32>) : f32
// CHECK:       %[[Y:.*]] = wave.read %b
// CHECK:       %[[NONE:.*]] = arith.cmpi eq, %[[Y]], %{{.*}} : vector<1xi32>
// CHECK:       %[[D:.*]] = arith.select %[[NONE]], %{{.*}}, %[[Y]]
// CHECK:       %[[Q:.*]] = arith.floordivsi %[[Y]], %[[D]]
// CHECK-NOT:   arith.select
// CHECK:       arith.remsi %[[Q]], %{{.*}} : vector<1xi32>
module attributes {wave.form = "staged", wave.target = "gfx942"} {
  wave.kernel @scalars(%a: !wave.memory<[M], i32, global>, %b: !wave.memory<[M], i32, global>)
      symbols {M = 64} constraints [#wave.workgroup<M, 1, x>, #wave.hardware<threads_per_wave = 64>] {
    %x = wave.read %a index [wg.x] : !wave.memory<[M], i32, global> -> !wave.tile<[M], i32, #one>
    %i = wave.apply_expr [T + 1] symbols(T = %x : !wave.tile<[M], i32, #one>) : index
    %f = wave.scalar [T] symbols(T = %x : !wave.tile<[M], i32, #one>) : f32
    %y = wave.read %b index [at.M] : !wave.memory<[M], i32, global> -> !wave.tile<[M], i32, #row>
    %z = wave.div %y, %y : !wave.tile<[M], i32, #row>
    %k = wave.register 3 : !wave.tile<[M], i32, #row>
    %r = wave.rem %z, %k : !wave.tile<[M], i32, #row>
    wave.write %r, %b index [at.M] : !wave.tile<[M], i32, #row>, !wave.memory<[M], i32, global>
    wave.return
  }
}

// -----

#acc = #wave.layout<[M = 16, N = 16], reg = [4 : M * 1], lane = [16 : N * 1, 4 : M * 4]>
#lhs = #wave.layout<[M = 16, N = 16], reg = [4 : N * 1], lane = [16 : M * 1, 4 : N * 4]>

// A relayout for which lanes exchange: of four elements of 16 bits as two words, each word at a time.
// CHECK-LABEL: @exchange(
// CHECK:         %[[READ:.*]] = wave.read
// CHECK:         %[[S0:.*]] = wave.shuffle xor %{{.*}} offset 1 width 64 : vector<1xi32>
// CHECK:         arith.ori
// CHECK:         wave.shuffle xor %{{.*}} offset 1 width 64 : vector<1xi32>
// CHECK:         arith.ori
// CHECK:         wave.shuffle xor %{{.*}} offset 2 width 64 : vector<1xi32>
// CHECK-NOT:     wave.shuffle
// CHECK-COUNT-2: gpu.shuffle idx %{{.*}} : i32
// CHECK-NOT:     .shuffle
// CHECK:         wave.write
module attributes {wave.form = "staged", wave.target = "gfx942"} {
  wave.kernel @exchange(%a: !wave.memory<[M, N], f16, global>, %c: !wave.memory<[M, N], f16, global>)
      symbols {M = 16, N = 16}
      constraints [#wave.workgroup<M, 16, x>, #wave.workgroup<N, 16, y>, #wave.hardware<threads_per_wave = 64>] {
    %x = wave.read %a index [at.M, at.N] : !wave.memory<[M, N], f16, global> -> !wave.tile<[M, N], f16, #acc>
    %y = wave.relayout %x {wave.way = "lanes"} : !wave.tile<[M, N], f16, #acc> -> !wave.tile<[M, N], f16, #lhs>
    wave.write %y, %c index [at.M, at.N] : !wave.tile<[M, N], f16, #lhs>, !wave.memory<[M, N], f16, global>
    wave.return
  }
}

// -----

#before = #wave.layout<[M = 16, N = 8], reg = [2 : M * 8], lane = [8 : M * 1, 4 : N * 1, 2 : N * 4]>
#after = #wave.layout<[M = 16, N = 8], reg = [2 : N * 4], lane = [8 : M * 1, 4 : N * 1, 2 : M * 8]>

// Registers and rows of 32 lanes change places in one instruction where the target has it.
// CHECK-LABEL: @rows_swap(
// CHECK-COUNT-1: rocdl.permlane32.swap
// CHECK-NOT:     swap
// CHECK-NOT:     shuffle
// CHECK:         wave.return
module attributes {wave.form = "staged", wave.target = "gfx950"} {
  wave.kernel @rows_swap(%a: !wave.memory<[M, N], f32, global>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 16, N = 8}
      constraints [#wave.workgroup<M, 16, x>, #wave.workgroup<N, 8, y>, #wave.hardware<threads_per_wave = 64>] {
    %x = wave.read %a index [at.M, at.N] : !wave.memory<[M, N], f32, global> -> !wave.tile<[M, N], f32, #before>
    %y = wave.relayout %x {wave.way = "lanes"} : !wave.tile<[M, N], f32, #before> -> !wave.tile<[M, N], f32, #after>
    wave.write %y, %c index [at.M, at.N] : !wave.tile<[M, N], f32, #after>, !wave.memory<[M, N], f32, global>
    wave.return
  }
}

// -----

#three = #wave.layout<[M = 192], reg = [3 : M * 64], lane = [64 : M * 1]>

// Comparisons of many elements do not wait for their selects.
// CHECK-LABEL: @compares(
// CHECK: arith.cmpf
// CHECK-NEXT: arith.select
// CHECK-NEXT: arith.cmpf
// CHECK-NEXT: arith.select
module attributes {wave.form = "staged", wave.target = "gfx942"} {
  wave.kernel @compares(%a: !wave.memory<[M], f32, global>) symbols {M = 192}
      constraints [#wave.workgroup<M, 192, x>, #wave.hardware<threads_per_wave = 64>] {
    %x = wave.read %a index [at.M] : !wave.memory<[M], f32, global> -> !wave.tile<[M], f32, #three>
    %y = wave.register 1.0 : !wave.tile<[M], f32, #three>
    %c = wave.compare gt %x, %y : !wave.tile<[M], f32, #three>
    %z = wave.select %c, %x, %y : !wave.tile<[M], i1, #three>, !wave.tile<[M], f32, #three>
    wave.write %z, %a index [at.M] : !wave.tile<[M], f32, #three>, !wave.memory<[M], f32, global>
    wave.return
  }
}
