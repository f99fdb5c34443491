// RUN: wave-opt %s --wave-infer-types | FileCheck %s
// Shapes flow forward and backward; kinds come from the target.
// CHECK-LABEL: wave.kernel @gemm(
// CHECK: [[V0:%[^ ,:)#]+]] = wave.register 0.000000e+00 : !wave.tile<[M, N], f32>
// CHECK: [[V1:%[^ ,:)#]+]] = wave.iterate K iter_args([[VARG0:%[^ ,:)#]+]] = [[V0]] : !wave.tile<[M, N], f32>) {
// CHECK: [[V7:%[^ ,:)#]+]] = wave.read %a : !wave.memory<[M, K], f16, shared> -> !wave.tile<[M, K], f16>
// CHECK: [[V8:%[^ ,:)#]+]] = wave.read %b : !wave.memory<[N, K], f16, shared> -> !wave.tile<[N, K], f16>
// CHECK: [[V9:%[^ ,:)#]+]] = wave.mma [[V7]], [[V8]], [[VARG0]] kind f32_16x16x32_f16 : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
// CHECK: wave.yield [[V9]] : !wave.tile<[M, N], f32>
// CHECK: [[V2:%[^ ,:)#]+]] = wave.reduce max [[V1]] along N : !wave.tile<[M, N], f32> -> !wave.tile<[M], f32>
// CHECK: [[V3:%[^ ,:)#]+]] = wave.broadcast [[V2]] : !wave.tile<[M], f32> -> !wave.tile<[M, N], f32>
// CHECK: [[V4:%[^ ,:)#]+]] = wave.sub [[V1]], [[V3]] : !wave.tile<[M, N], f32>
// CHECK: [[V5:%[^ ,:)#]+]] = wave.self_index N : !wave.tile<[N], i32>
// CHECK: [[V6:%[^ ,:)#]+]] = wave.conditional [5 le M] otherwise([[V1]]) -> !wave.tile<[M, N], f32> {
// CHECK: wave.yield [[V4]] : !wave.tile<[M, N], f32>
// CHECK: wave.write [[V6]], %c : !wave.tile<[M, N], f32>, !wave.memory<[M, N], f32, global>
// CHECK-LABEL: wave.kernel @backward(
// CHECK: [[V0:%[^ ,:)#]+]] = wave.register 1.000000e+00 : !wave.tile<[N, M], f32>
// CHECK: [[V1:%[^ ,:)#]+]] = wave.cast [[V0]] : !wave.tile<[N, M], f32> -> !wave.tile<[N, M], f16>
// CHECK: wave.write [[V1]], %c mapping <[N = j, M = i] -> [i, j]> : !wave.tile<[N, M], f16>, !wave.memory<[M, N], f16, global>

module attributes {wave.form = "tile", wave.target = "gfx950"} {
  wave.kernel @gemm(%a: !wave.memory<[M, K], f16, shared>, %b: !wave.memory<[N, K], f16, shared>,
                    %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 512, N = 512, K = 256}
      constraints [#wave.workgroup<M, 64, x>, #wave.workgroup<N, 64, y>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {
    %zero = wave.register 0.0 : !wave.tile<*, f32>
    %sum = wave.iterate K iter_args(%acc = %zero : !wave.tile<*, f32>) {
      %x = wave.read %a : !wave.memory<[M, K], f16, shared> -> !wave.tile<*, f16>
      %y = wave.read %b : !wave.memory<[N, K], f16, shared> -> !wave.tile<*, f16>
      %z = wave.mma %x, %y, %acc : !wave.tile<*, f16>, !wave.tile<*, f16>, !wave.tile<*, f32>
      wave.yield %z : !wave.tile<*, f32>
    }
    %m = wave.reduce max %sum along N : !wave.tile<*, f32> -> !wave.tile<*, f32>
    %b2 = wave.broadcast %m : !wave.tile<*, f32> -> !wave.tile<*, f32>
    %d = wave.sub %sum, %b2 : !wave.tile<*, f32>
    %i = wave.self_index N : !wave.tile<*, i32>
    %r = wave.conditional [M gt 4] otherwise(%sum) -> (!wave.tile<*, f32>) {
      wave.yield %d : !wave.tile<*, f32>
    }
    wave.write %r, %c : !wave.tile<*, f32>, !wave.memory<[M, N], f32, global>
    wave.return
  }
  // Backward: from the memory that is written to, through a cast and a mapping.
  wave.kernel @backward(%c: !wave.memory<[M, N], f16, global>) symbols {M = 64, N = 64}
      constraints [#wave.hardware<threads_per_wave = 64>] {
    %one = wave.register 1.0 : !wave.tile<*, f32>
    %h = wave.cast %one : !wave.tile<*, f32> -> !wave.tile<*, f16>
    wave.write %h, %c mapping <[N = j, M = i] -> [i, j]> : !wave.tile<*, f16>, !wave.memory<[M, N], f16, global>
    wave.return
  }
}
