// RUN: wave-opt %s | wave-opt | FileCheck %s
// RUN: wave-opt %s --mlir-print-op-generic | wave-opt | FileCheck %s
// Matrix products, reductions, ops on shape: print and parse.

// CHECK-LABEL: wave.kernel @fill
wave.kernel @fill(%s: f32) {
  // CHECK: wave.register 0.000000e+00 : !wave.tile<[M, N], f32>
  %0 = wave.register 0.0 : !wave.tile<[M, N], f32>
  // CHECK: wave.register -2.500000e+00 : !wave.tile<[M], f16>
  %1 = wave.register -2.5 : !wave.tile<[M], f16>
  // CHECK: wave.register 0xFF800000 : !wave.tile<[M], f32>
  %2 = wave.register 0xFF800000 : !wave.tile<[M], f32>
  // CHECK: wave.register 3.000000e+00 : vector<4xbf16>
  %3 = wave.register 3 : vector<4xbf16>
  // CHECK: wave.register -7 : !wave.tile<[M], i8>
  %4 = wave.register -7 : !wave.tile<[M], i8>
  // CHECK: wave.register 1 : i1
  %5 = wave.register 1 : i1
  // CHECK: wave.register 9 : !wave.tile<[M], index>
  %6 = wave.register 9 : !wave.tile<[M], index>
  // CHECK: wave.register %s : !wave.tile<[M], f32>
  %7 = wave.register %s : !wave.tile<[M], f32>
  // CHECK: wave.register 2.000000e+00 {wave.tag = "acc"} : !wave.tile<*, f32>
  %8 = wave.register 2.0 {wave.tag = "acc"} : !wave.tile<*, f32>
}

// CHECK-LABEL: wave.kernel @products
wave.kernel @products(%a: !wave.memory<[B, M, K], f4E2M1FN, global>, %sa: !wave.memory<[B, M, KS], f8E8M0FNU, global>,
                      %b: !wave.memory<[B, N, K], f4E2M1FN, global>, %sb: !wave.memory<[B, N, KS], f8E8M0FNU, global>) {
  %n = arith.constant 7 : index
  %acc = wave.register 0.0 : !wave.tile<[B, M, N], f32>
  %x = wave.register 1.0 : !wave.tile<[B, M, K], f16>
  %y = wave.register 1.0 : !wave.tile<[B, N, K], f16>
  // CHECK: wave.mma %{{.*}}, %{{.*}}, %{{.*}} kind f32_32x32x8_f16 symbols(K = %{{.*}}) : !wave.tile<[B, M, K], f16>, !wave.tile<[B, N, K], f16>, !wave.tile<[B, M, N], f32>
  %z = wave.mma %x, %y, %acc kind f32_32x32x8_f16 symbols(K = %n)
      : !wave.tile<[B, M, K], f16>, !wave.tile<[B, N, K], f16>, !wave.tile<[B, M, N], f32>
  %p = wave.read %a : !wave.memory<[B, M, K], f4E2M1FN, global> -> !wave.tile<[B, M, K], f4E2M1FN>
  %ps = wave.read %sa : !wave.memory<[B, M, KS], f8E8M0FNU, global> -> !wave.tile<[B, M, KS], f8E8M0FNU>
  %q = wave.read %b : !wave.memory<[B, N, K], f4E2M1FN, global> -> !wave.tile<[B, N, K], f4E2M1FN>
  %qs = wave.read %sb : !wave.memory<[B, N, KS], f8E8M0FNU, global> -> !wave.tile<[B, N, KS], f8E8M0FNU>
  // CHECK: wave.scaled_mma %{{.*}} scale %{{.*}}, %{{.*}} scale %{{.*}}, %{{.*}} kind f32_16x16x128_f8f6f4 : !wave.tile<[B, M, K], f4E2M1FN>, !wave.tile<[B, M, KS], f8E8M0FNU>, !wave.tile<[B, N, K], f4E2M1FN>, !wave.tile<[B, N, KS], f8E8M0FNU>, !wave.tile<[B, M, N], f32>
  %w = wave.scaled_mma %p scale %ps, %q scale %qs, %z kind f32_16x16x128_f8f6f4
      : !wave.tile<[B, M, K], f4E2M1FN>, !wave.tile<[B, M, KS], f8E8M0FNU>, !wave.tile<[B, N, K], f4E2M1FN>,
        !wave.tile<[B, N, KS], f8E8M0FNU>, !wave.tile<[B, M, N], f32>
  %v = wave.register 0.0 : vector<32xf4E2M1FN>
  %vs = wave.register 1.0 : vector<1xf8E8M0FNU>
  %vc = wave.register 0.0 : vector<4xf32>
  // CHECK: wave.scaled_mma {{.*}} : vector<32xf4E2M1FN>, vector<1xf8E8M0FNU>, vector<32xf4E2M1FN>, vector<1xf8E8M0FNU>, vector<4xf32>
  %u = wave.scaled_mma %v scale %vs, %v scale %vs, %vc
      : vector<32xf4E2M1FN>, vector<1xf8E8M0FNU>, vector<32xf4E2M1FN>, vector<1xf8E8M0FNU>, vector<4xf32>
}

// CHECK-LABEL: wave.kernel @reductions
wave.kernel @reductions() {
  %n = arith.constant 7 : index
  %x = wave.register 1.0 : !wave.tile<[M, N], f32>
  // CHECK: %[[MAX:.*]] = wave.reduce max %{{.*}} along N : !wave.tile<[M, N], f32> -> !wave.tile<[M], f32>
  %m = wave.reduce max %x along N : !wave.tile<[M, N], f32> -> !wave.tile<[M], f32>
  // CHECK: wave.reduce sum %{{.*}} along N acc %[[MAX]] block symbols(N = %{{.*}}) : !wave.tile<[M, N], f32> -> !wave.tile<[M], f32>
  %s = wave.reduce sum %x along N acc %m block symbols(N = %n) : !wave.tile<[M, N], f32> -> !wave.tile<[M], f32>
  %v = wave.register 1.0 : vector<4xf32>
  // CHECK: wave.reduce min %{{.*}}, %{{.*}} along N : vector<4xf32>, vector<4xf32> -> vector<1xf32>
  %r = wave.reduce min %v, %v along N : vector<4xf32>, vector<4xf32> -> vector<1xf32>
  // CHECK: wave.cumsum %{{.*}} along N : !wave.tile<[M, N], f32>
  %c = wave.cumsum %x along N : !wave.tile<[M, N], f32>
  // CHECK: wave.topk %{{.*}} k 4 along N : !wave.tile<[M, N], f32> -> !wave.tile<[M, TOP], f32>, !wave.tile<[M, TOP], i32>
  %t, %i = wave.topk %x k 4 along N : !wave.tile<[M, N], f32> -> !wave.tile<[M, TOP], f32>, !wave.tile<[M, TOP], i32>
}

// CHECK-LABEL: wave.kernel @shapes
wave.kernel @shapes() {
  %x = wave.register 1.0 : !wave.tile<[M, N], f32>
  // CHECK: wave.permute %{{.*}} : !wave.tile<[M, N], f32> -> !wave.tile<[N, M], f32>
  %t = wave.permute %x : !wave.tile<[M, N], f32> -> !wave.tile<[N, M], f32>
  // CHECK: wave.broadcast %{{.*}} : !wave.tile<[M, N], f32> -> !wave.tile<[B, M, N], f32>
  %b = wave.broadcast %x : !wave.tile<[M, N], f32> -> !wave.tile<[B, M, N], f32>
  // CHECK: wave.reshape %{{.*}} : !wave.tile<[M, N], f32> -> !wave.tile<[MN], f32>
  %r = wave.reshape %x : !wave.tile<[M, N], f32> -> !wave.tile<[MN], f32>
  // CHECK: wave.cast %{{.*}} : !wave.tile<[M, N], f32> -> !wave.tile<[M, N], f16>
  %c = wave.cast %x : !wave.tile<[M, N], f32> -> !wave.tile<[M, N], f16>
  // CHECK: wave.cast %{{.*}} saturate : !wave.tile<[M, N], f32> -> !wave.tile<[M, N], f8E4M3FN>
  %d = wave.cast %x saturate : !wave.tile<[M, N], f32> -> !wave.tile<[M, N], f8E4M3FN>
  // CHECK: wave.bitcast %{{.*}} : !wave.tile<[M, N], f32> -> !wave.tile<[M, N], i32>
  %i = wave.bitcast %x : !wave.tile<[M, N], f32> -> !wave.tile<[M, N], i32>
  // CHECK: wave.extract %{{.*}} [0, 1] : !wave.tile<[M, N], f32> -> !wave.tile<[], f32>
  %e = wave.extract %x [0, 1] : !wave.tile<[M, N], f32> -> !wave.tile<[], f32>
  // CHECK: wave.extract_slice %{{.*}} offsets [0, 4] sizes [1, 4] strides [1, 2] : !wave.tile<[M, N], f32> -> !wave.tile<[M, N], f32>
  %s = wave.extract_slice %x offsets [0, 4] sizes [1, 4] strides [1, 2] : !wave.tile<[M, N], f32> -> !wave.tile<[M, N], f32>
  %v = wave.register 1.0 : vector<1xf32>
  // CHECK: wave.shuffle xor %{{.*}} offset 16 width 64 : vector<1xf32>
  %f = wave.shuffle xor %v offset 16 width 64 : vector<1xf32>
  // CHECK: wave.shuffle up %{{.*}} offset 1 width 16 : vector<1xf32>
  %g = wave.shuffle up %v offset 1 width 16 : vector<1xf32>
}
