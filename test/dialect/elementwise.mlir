// RUN: wave-opt %s | wave-opt | FileCheck %s
// RUN: wave-opt %s --mlir-print-op-generic | wave-opt | FileCheck %s
// Maths on elements: print and parse.

// CHECK-LABEL: wave.kernel @elementwise
wave.kernel @elementwise() {
  %x = wave.register 1.5 : !wave.tile<[M, N], f32>
  %i = wave.register 3 : vector<4xi32>
  // CHECK: wave.neg %{{.*}} : !wave.tile<[M, N], f32>
  %u0 = wave.neg %x : !wave.tile<[M, N], f32>
  // CHECK: wave.abs %{{.*}} : !wave.tile<[M, N], f32>
  %u1 = wave.abs %x : !wave.tile<[M, N], f32>
  // CHECK: wave.exp %{{.*}} : !wave.tile<[M, N], f32>
  %u2 = wave.exp %x : !wave.tile<[M, N], f32>
  // CHECK: wave.exp2 %{{.*}} : !wave.tile<[M, N], f32>
  %u3 = wave.exp2 %x : !wave.tile<[M, N], f32>
  // CHECK: wave.log %{{.*}} : !wave.tile<[M, N], f32>
  %u4 = wave.log %x : !wave.tile<[M, N], f32>
  // CHECK: wave.log2 %{{.*}} : !wave.tile<[M, N], f32>
  %u5 = wave.log2 %x : !wave.tile<[M, N], f32>
  // CHECK: wave.log10 %{{.*}} : !wave.tile<[M, N], f32>
  %u6 = wave.log10 %x : !wave.tile<[M, N], f32>
  // CHECK: wave.sqrt %{{.*}} : !wave.tile<[M, N], f32>
  %u7 = wave.sqrt %x : !wave.tile<[M, N], f32>
  // CHECK: wave.rsqrt %{{.*}} : !wave.tile<[M, N], f32>
  %u8 = wave.rsqrt %x : !wave.tile<[M, N], f32>
  // CHECK: wave.cbrt %{{.*}} : !wave.tile<[M, N], f32>
  %u9 = wave.cbrt %x : !wave.tile<[M, N], f32>
  // CHECK: wave.reciprocal %{{.*}} : !wave.tile<[M, N], f32>
  %u10 = wave.reciprocal %x : !wave.tile<[M, N], f32>
  // CHECK: wave.sin %{{.*}} : !wave.tile<[M, N], f32>
  %u11 = wave.sin %x : !wave.tile<[M, N], f32>
  // CHECK: wave.cos %{{.*}} : !wave.tile<[M, N], f32>
  %u12 = wave.cos %x : !wave.tile<[M, N], f32>
  // CHECK: wave.tan %{{.*}} : !wave.tile<[M, N], f32>
  %u13 = wave.tan %x : !wave.tile<[M, N], f32>
  // CHECK: wave.sinh %{{.*}} : !wave.tile<[M, N], f32>
  %u14 = wave.sinh %x : !wave.tile<[M, N], f32>
  // CHECK: wave.cosh %{{.*}} : !wave.tile<[M, N], f32>
  %u15 = wave.cosh %x : !wave.tile<[M, N], f32>
  // CHECK: wave.tanh %{{.*}} : !wave.tile<[M, N], f32>
  %u16 = wave.tanh %x : !wave.tile<[M, N], f32>
  // CHECK: wave.tanh_approx %{{.*}} : !wave.tile<[M, N], f32>
  %u17 = wave.tanh_approx %x : !wave.tile<[M, N], f32>
  // CHECK: wave.softsign %{{.*}} : !wave.tile<[M, N], f32>
  %u18 = wave.softsign %x : !wave.tile<[M, N], f32>
  // CHECK: wave.round %{{.*}} : !wave.tile<[M, N], f32>
  %u19 = wave.round %x : !wave.tile<[M, N], f32>
  // CHECK: wave.roundeven %{{.*}} : !wave.tile<[M, N], f32>
  %u20 = wave.roundeven %x : !wave.tile<[M, N], f32>
  // CHECK: wave.floor %{{.*}} : !wave.tile<[M, N], f32>
  %u21 = wave.floor %x : !wave.tile<[M, N], f32>
  // CHECK: wave.ceil %{{.*}} : !wave.tile<[M, N], f32>
  %u22 = wave.ceil %x : !wave.tile<[M, N], f32>
  // CHECK: wave.trunc %{{.*}} : !wave.tile<[M, N], f32>
  %u23 = wave.trunc %x : !wave.tile<[M, N], f32>
  // CHECK: wave.add %{{.*}}, %{{.*}} : !wave.tile<[M, N], f32>
  %u24 = wave.add %x, %x : !wave.tile<[M, N], f32>
  // CHECK: wave.sub %{{.*}}, %{{.*}} : !wave.tile<[M, N], f32>
  %u25 = wave.sub %x, %x : !wave.tile<[M, N], f32>
  // CHECK: wave.mul %{{.*}}, %{{.*}} : !wave.tile<[M, N], f32>
  %u26 = wave.mul %x, %x : !wave.tile<[M, N], f32>
  // CHECK: wave.div %{{.*}}, %{{.*}} : !wave.tile<[M, N], f32>
  %u27 = wave.div %x, %x : !wave.tile<[M, N], f32>
  // CHECK: wave.mod %{{.*}}, %{{.*}} : !wave.tile<[M, N], f32>
  %u28 = wave.mod %x, %x : !wave.tile<[M, N], f32>
  // CHECK: wave.rem %{{.*}}, %{{.*}} : !wave.tile<[M, N], f32>
  %u29 = wave.rem %x, %x : !wave.tile<[M, N], f32>
  // CHECK: wave.minimum %{{.*}}, %{{.*}} : !wave.tile<[M, N], f32>
  %u30 = wave.minimum %x, %x : !wave.tile<[M, N], f32>
  // CHECK: wave.maximum %{{.*}}, %{{.*}} : !wave.tile<[M, N], f32>
  %u31 = wave.maximum %x, %x : !wave.tile<[M, N], f32>
  // CHECK: wave.pow %{{.*}}, %{{.*}} : !wave.tile<[M, N], f32>
  %u32 = wave.pow %x, %x : !wave.tile<[M, N], f32>
  // CHECK: wave.atan2 %{{.*}}, %{{.*}} : !wave.tile<[M, N], f32>
  %u33 = wave.atan2 %x, %x : !wave.tile<[M, N], f32>
  // CHECK: wave.not %{{.*}} : vector<4xi32>
  %u34 = wave.not %i : vector<4xi32>
  // CHECK: wave.and %{{.*}}, %{{.*}} : vector<4xi32>
  %u35 = wave.and %i, %i : vector<4xi32>
  // CHECK: wave.or %{{.*}}, %{{.*}} : vector<4xi32>
  %u36 = wave.or %i, %i : vector<4xi32>
  // CHECK: wave.xor %{{.*}}, %{{.*}} : vector<4xi32>
  %u37 = wave.xor %i, %i : vector<4xi32>
  // CHECK: wave.shl %{{.*}}, %{{.*}} : vector<4xi32>
  %u38 = wave.shl %i, %i : vector<4xi32>
  // CHECK: wave.shr %{{.*}}, %{{.*}} : vector<4xi32>
  %u39 = wave.shr %i, %i : vector<4xi32>
  // CHECK: wave.compare eq %{{.*}}, %{{.*}} : !wave.tile<[M, N], f32>
  %ceq = wave.compare eq %x, %x : !wave.tile<[M, N], f32>
  // CHECK: wave.compare ne %{{.*}}, %{{.*}} : !wave.tile<[M, N], f32>
  %cne = wave.compare ne %x, %x : !wave.tile<[M, N], f32>
  // CHECK: wave.compare lt %{{.*}}, %{{.*}} : !wave.tile<[M, N], f32>
  %clt = wave.compare lt %x, %x : !wave.tile<[M, N], f32>
  // CHECK: wave.compare le %{{.*}}, %{{.*}} : !wave.tile<[M, N], f32>
  %cle = wave.compare le %x, %x : !wave.tile<[M, N], f32>
  // CHECK: wave.compare gt %{{.*}}, %{{.*}} : !wave.tile<[M, N], f32>
  %cgt = wave.compare gt %x, %x : !wave.tile<[M, N], f32>
  // CHECK: wave.compare ge %{{.*}}, %{{.*}} : !wave.tile<[M, N], f32>
  %cge = wave.compare ge %x, %x : !wave.tile<[M, N], f32>
  // CHECK: wave.select %{{.*}}, %{{.*}}, %{{.*}} : !wave.tile<[M, N], i1>, !wave.tile<[M, N], f32>
  %s = wave.select %ceq, %x, %x : !wave.tile<[M, N], i1>, !wave.tile<[M, N], f32>
  %one = wave.apply_expr [M lt 3] : i1
  // CHECK: wave.select %{{.*}}, %{{.*}}, %{{.*}} : i1, vector<4xi32>
  %t = wave.select %one, %i, %i : i1, vector<4xi32>
  // CHECK: wave.add %{{.*}}, %{{.*}} : f32
  %f = arith.constant 1.0 : f32
  %g = wave.add %f, %f : f32
}
