// RUN: wave-opt %s --wave-infer-types --wave-bind-symbols --wave-check-constraints --wave-infer-layouts --wave-guard-domains --verify-forms | FileCheck %s
// Selects where an operand is not neutral outside its domain: x + 1, max, exp, masked attention; none where reads give 0.
// CHECK: #layout = #wave.layout<[M = 64, N = 64], reg = [4 : M * 1, 2 : N * 16, 2 : M * 16], lane = [16 : N * 1, 4 : M * 4], wave.x = [2 : M * 32], wave.y = [2 : N * 32]>
// CHECK: #layout1 = #wave.layout<[M = 64, K = 32], reg = [4 : K * 1, 2 : K * 16, 2 : M * 16], lane = [16 : M * 1, 4 : K * 4], wave.x = [2 : M * 32]>
// CHECK: #layout2 = #wave.layout<[N = 64, K = 32], reg = [4 : K * 1, 2 : K * 16, 2 : N * 16], lane = [16 : N * 1, 4 : K * 4], wave.y = [2 : N * 32]>
// CHECK: #layout3 = #wave.layout<[M = 64, K = 100], reg = [4 : K * 1, 7 : K * 16], lane = [16 : M * 1, 4 : K * 4], wave.x = [4 : M * 16]>
// CHECK: #layout4 = #wave.layout<[M = 64], lane = [16 : M * 1], wave.x = [4 : M * 16]>
// CHECK: #layout5 = #wave.layout<[M = 128, E = 72], reg = [4 : M * 1, 5 : E * 16, 2 : M * 16], lane = [16 : E * 1, 4 : M * 4], wave.x = [4 : M * 32]>
// CHECK: #layout6 = #wave.layout<[M = 128], reg = [4 : M * 1, 2 : M * 16], lane = [16 : _, 4 : M * 4], wave.x = [4 : M * 32]>
// CHECK: #layout7 = #wave.layout<[M = 128, D = 64], reg = [4 : D * 1, 4 : D * 16, 2 : M * 16], lane = [16 : M * 1, 4 : D * 4], wave.x = [4 : M * 32]>
// CHECK: #layout8 = #wave.layout<[M = 128, S = 64], reg = [4 : M * 1, 4 : S * 16, 2 : M * 16], lane = [16 : S * 1, 4 : M * 4], wave.x = [4 : M * 32]>
// CHECK: #layout9 = #wave.layout<[S = 64, D = 64], reg = [4 : D * 1, 4 : D * 16, 4 : S * 16], lane = [16 : S * 1, 4 : D * 4]>
// CHECK: #layout10 = #wave.layout<[E = 72, S = 64], reg = [4 : S * 1, 4 : S * 16, 5 : E * 16], lane = [16 : E * 1, 4 : S * 4]>
// CHECK: #layout11 = #wave.layout<[M = 128, S = 64], reg = [4 : S * 1, 4 : S * 16, 2 : M * 16], lane = [16 : M * 1, 4 : S * 4], wave.x = [4 : M * 32]>
// CHECK-LABEL: wave.kernel @guard(
// CHECK: [[V0:%[^ ,:)#]+]] = wave.register 0.000000e+00 : !wave.tile<[M, N], f32, #layout>
// CHECK: [[V1:%[^ ,:)#]+]] = wave.register 1.000000e+00 : !wave.tile<[M, K], f16, #layout1>
// CHECK: [[V2:%[^ ,:)#]+]] = wave.iterate K iv([[VIV:%[^ ,:)#]+]]) trips(4) iter_args([[VARG0:%[^ ,:)#]+]] = [[V0]] : !wave.tile<[M, N], f32, #layout>) {
// CHECK: [[V3:%[^ ,:)#]+]] = wave.read %a index [wg.x * 64 + at.M, iv.K * 32 + at.K] symbols(iv.K = [[VIV]]) : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16, #layout1>
// CHECK: [[V4:%[^ ,:)#]+]] = wave.add [[V3]], [[V1]] : !wave.tile<[M, K], f16, #layout1>
// CHECK: [[V5:%[^ ,:)#]+]] = wave.read %b index [wg.y * 64 + at.N, iv.K * 32 + at.K] symbols(iv.K = [[VIV]]) : !wave.memory<[N, K], f16, global> -> !wave.tile<[N, K], f16, #layout2>
// CHECK: [[V6:%[^ ,:)#]+]] = wave.mask [iv.K * 32 + at.K lt 100] symbols(iv.K = [[VIV]]) : !wave.tile<[M, K], i1, #layout1>
// CHECK: [[V7:%[^ ,:)#]+]] = wave.register 0.000000e+00 : !wave.tile<[M, K], f16, #layout1>
// CHECK: [[V8:%[^ ,:)#]+]] = wave.select [[V6]], [[V4]], [[V7]] {wave.guards = ["K"]} : !wave.tile<[M, K], i1, #layout1>, !wave.tile<[M, K], f16, #layout1>
// CHECK: [[V9:%[^ ,:)#]+]] = wave.mma [[V8]], [[V5]], [[VARG0]] kind f32_16x16x16_f16 : !wave.tile<[M, K], f16, #layout1>, !wave.tile<[N, K], f16, #layout2>, !wave.tile<[M, N], f32, #layout>
// CHECK: wave.yield [[V9]] : !wave.tile<[M, N], f32, #layout>
// CHECK: wave.write [[V2]], %c index [wg.x * 64 + at.M, wg.y * 64 + at.N] : !wave.tile<[M, N], f32, #layout>, !wave.memory<[M, N], f32, global>
// CHECK-LABEL: wave.kernel @rowmax(
// CHECK: [[V0:%[^ ,:)#]+]] = wave.read %a index [wg.x * 64 + at.M, at.K] : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16, #layout3>
// CHECK: [[V1:%[^ ,:)#]+]] = wave.mask [at.K lt 100] : !wave.tile<[M, K], i1, #layout3>
// CHECK: [[V2:%[^ ,:)#]+]] = wave.register 0xFC00 : !wave.tile<[M, K], f16, #layout3>
// CHECK: [[V3:%[^ ,:)#]+]] = wave.select [[V1]], [[V0]], [[V2]] {wave.guards = ["K"]} : !wave.tile<[M, K], i1, #layout3>, !wave.tile<[M, K], f16, #layout3>
// CHECK: [[V4:%[^ ,:)#]+]] = wave.reduce max [[V3]] along K : !wave.tile<[M, K], f16, #layout3> -> !wave.tile<[M], f16, #layout4>
// CHECK: [[V5:%[^ ,:)#]+]] = wave.broadcast [[V4]] : !wave.tile<[M], f16, #layout4> -> !wave.tile<[M, K], f16, #layout3>
// CHECK: [[V6:%[^ ,:)#]+]] = wave.sub [[V0]], [[V5]] : !wave.tile<[M, K], f16, #layout3>
// CHECK: [[V7:%[^ ,:)#]+]] = wave.exp [[V6]] : !wave.tile<[M, K], f16, #layout3>
// CHECK: [[V8:%[^ ,:)#]+]] = wave.mask [at.K lt 100] : !wave.tile<[M, K], i1, #layout3>
// CHECK: [[V9:%[^ ,:)#]+]] = wave.register 0.000000e+00 : !wave.tile<[M, K], f16, #layout3>
// CHECK: [[V10:%[^ ,:)#]+]] = wave.select [[V8]], [[V7]], [[V9]] {wave.guards = ["K"]} : !wave.tile<[M, K], i1, #layout3>, !wave.tile<[M, K], f16, #layout3>
// CHECK: [[V11:%[^ ,:)#]+]] = wave.reduce sum [[V10]] along K : !wave.tile<[M, K], f16, #layout3> -> !wave.tile<[M], f16, #layout4>
// CHECK: wave.write [[V11]], %c index [wg.x * 64 + at.M] : !wave.tile<[M], f16, #layout4>, !wave.memory<[M], f16, global>
// CHECK-LABEL: wave.kernel @attention(
// CHECK: [[V0:%[^ ,:)#]+]] = wave.register 0.000000e+00 : !wave.tile<[M, E], f32, #layout5>
// CHECK: [[V1:%[^ ,:)#]+]] = wave.register 0xFF800000 : !wave.tile<[M], f32, #layout6>
// CHECK: [[V2:%[^ ,:)#]+]] = wave.register 0.000000e+00 : !wave.tile<[M], f32, #layout6>
// CHECK: [[V3:%[^ ,:)#]+]] = wave.read %q index [wg.x * 128 + at.M, at.D] : !wave.memory<[M, D], f16, global> -> !wave.tile<[M, D], f16, #layout7>
// CHECK: [[V4:%[^ ,:)#]+]]:3 = wave.iterate S iv([[VIV:%[^ ,:)#]+]]) trips(S ceildiv 64) iter_args([[VARG0:%[^ ,:)#]+]] = [[V1]] : !wave.tile<[M], f32, #layout6>, [[VARG1:%[^ ,:)#]+]] = [[V2]] : !wave.tile<[M], f32, #layout6>, [[VARG2:%[^ ,:)#]+]] = [[V0]] : !wave.tile<[M, E], f32, #layout5>) {
// CHECK: [[V5:%[^ ,:)#]+]] = wave.register 0.000000e+00 : !wave.tile<[M, S], f32, #layout8>
// CHECK: [[V6:%[^ ,:)#]+]] = wave.read %k index [iv.S * 64 + at.S, at.D] symbols(iv.S = [[VIV]]) : !wave.memory<[S, D], f16, global> -> !wave.tile<[S, D], f16, #layout9>
// CHECK: [[V7:%[^ ,:)#]+]] = wave.mma [[V3]], [[V6]], [[V5]] kind f32_16x16x16_f16 : !wave.tile<[M, D], f16, #layout7>, !wave.tile<[S, D], f16, #layout9>, !wave.tile<[M, S], f32, #layout8>
// CHECK: [[V8:%[^ ,:)#]+]] = wave.mask [iv.S * 64 + at.S lt S] symbols(iv.S = [[VIV]]) : !wave.tile<[M, S], i1, #layout8>
// CHECK: [[V9:%[^ ,:)#]+]] = wave.register 0xFF800000 : !wave.tile<[M, S], f32, #layout8>
// CHECK: [[V10:%[^ ,:)#]+]] = wave.select [[V8]], [[V7]], [[V9]] {wave.guards = ["S"]} : !wave.tile<[M, S], i1, #layout8>, !wave.tile<[M, S], f32, #layout8>
// CHECK: [[V11:%[^ ,:)#]+]] = wave.reduce max [[V10]] along S acc [[VARG0]] : !wave.tile<[M, S], f32, #layout8> -> !wave.tile<[M], f32, #layout6>
// CHECK: [[V12:%[^ ,:)#]+]] = wave.broadcast [[V11]] : !wave.tile<[M], f32, #layout6> -> !wave.tile<[M, S], f32, #layout8>
// CHECK: [[V13:%[^ ,:)#]+]] = wave.sub [[V7]], [[V12]] : !wave.tile<[M, S], f32, #layout8>
// CHECK: [[V14:%[^ ,:)#]+]] = wave.exp2 [[V13]] : !wave.tile<[M, S], f32, #layout8>
// CHECK: [[V15:%[^ ,:)#]+]] = wave.mask [iv.S * 64 + at.S lt S] symbols(iv.S = [[VIV]]) : !wave.tile<[M, S], i1, #layout8>
// CHECK: [[V16:%[^ ,:)#]+]] = wave.register 0.000000e+00 : !wave.tile<[M, S], f32, #layout8>
// CHECK: [[V17:%[^ ,:)#]+]] = wave.select [[V15]], [[V14]], [[V16]] {wave.guards = ["S"]} : !wave.tile<[M, S], i1, #layout8>, !wave.tile<[M, S], f32, #layout8>
// CHECK: [[V18:%[^ ,:)#]+]] = wave.reduce sum [[V17]] along S acc [[VARG1]] : !wave.tile<[M, S], f32, #layout8> -> !wave.tile<[M], f32, #layout6>
// CHECK: [[V19:%[^ ,:)#]+]] = wave.cast [[V14]] : !wave.tile<[M, S], f32, #layout8> -> !wave.tile<[M, S], f16, #layout8>
// CHECK: [[V20:%[^ ,:)#]+]] = wave.read %v index [at.E, iv.S * 64 + at.S] symbols(iv.S = [[VIV]]) : !wave.memory<[E, S], f16, global> -> !wave.tile<[E, S], f16, #layout10>
// CHECK: [[V21:%[^ ,:)#]+]] = wave.broadcast [[V11]] : !wave.tile<[M], f32, #layout6> -> !wave.tile<[M, E], f32, #layout5>
// CHECK: [[V22:%[^ ,:)#]+]] = wave.mul [[VARG2]], [[V21]] : !wave.tile<[M, E], f32, #layout5>
// CHECK: [[V23:%[^ ,:)#]+]] = wave.relayout [[V19]] : !wave.tile<[M, S], f16, #layout8> -> !wave.tile<[M, S], f16, #layout11>
// CHECK: [[V24:%[^ ,:)#]+]] = wave.mask [iv.S * 64 + at.S lt S] symbols(iv.S = [[VIV]]) : !wave.tile<[M, S], i1, #layout11>
// CHECK: [[V25:%[^ ,:)#]+]] = wave.register 0.000000e+00 : !wave.tile<[M, S], f16, #layout11>
// CHECK: [[V26:%[^ ,:)#]+]] = wave.select [[V24]], [[V23]], [[V25]] {wave.guards = ["S"]} : !wave.tile<[M, S], i1, #layout11>, !wave.tile<[M, S], f16, #layout11>
// CHECK: [[V27:%[^ ,:)#]+]] = wave.mma [[V26]], [[V20]], [[V22]] kind f32_16x16x16_f16 : !wave.tile<[M, S], f16, #layout11>, !wave.tile<[E, S], f16, #layout10>, !wave.tile<[M, E], f32, #layout5>
// CHECK: wave.yield [[V11]], [[V18]], [[V27]] : !wave.tile<[M], f32, #layout6>, !wave.tile<[M], f32, #layout6>, !wave.tile<[M, E], f32, #layout5>
// CHECK: wave.write [[V4]]#2, %o index [wg.x * 128 + at.M, at.E] : !wave.tile<[M, E], f32, #layout5>, !wave.memory<[M, E], f32, global>

module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @guard(%a: !wave.memory<[M, K], f16, global>, %b: !wave.memory<[N, K], f16, global>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 500, N = 500, K = 100} dynamic []
      constraints [#wave.workgroup<M, 64, x>, #wave.workgroup<N, 64, y>, #wave.tiling<K, 32>, #wave.wave<M, 32>, #wave.wave<N, 32>, #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
    %zero = wave.register 0.0 : !wave.tile<[M, N], f32>
    %one = wave.register 1.0 : !wave.tile<[M, K], f16>
    %sum = wave.iterate K iter_args(%acc = %zero : !wave.tile<[M, N], f32>) {
      %x = wave.read %a : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16>
      %x1 = wave.add %x, %one : !wave.tile<[M, K], f16>
      %y = wave.read %b : !wave.memory<[N, K], f16, global> -> !wave.tile<[N, K], f16>
      %z = wave.mma %x1, %y, %acc : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
      wave.yield %z : !wave.tile<[M, N], f32>
    }
    wave.write %sum, %c : !wave.tile<[M, N], f32>, !wave.memory<[M, N], f32, global>
    wave.return
  }
  wave.kernel @rowmax(%a: !wave.memory<[M, K], f16, global>, %c: !wave.memory<[M], f16, global>)
      symbols {K = 100} dynamic [M]
      constraints [#wave.workgroup<M, 64, x>, #wave.wave<M, 16>, #wave.hardware<threads_per_wave = 64>] {
      %x = wave.read %a : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16>
      %m = wave.reduce max %x along K : !wave.tile<[M, K], f16> -> !wave.tile<[M], f16>
      %b = wave.broadcast %m : !wave.tile<[M], f16> -> !wave.tile<[M, K], f16>
      %d = wave.sub %x, %b : !wave.tile<[M, K], f16>
      %e = wave.exp %d : !wave.tile<[M, K], f16>
      %s = wave.reduce sum %e along K : !wave.tile<[M, K], f16> -> !wave.tile<[M], f16>
      wave.write %s, %c : !wave.tile<[M], f16>, !wave.memory<[M], f16, global>
    wave.return
  }
  wave.kernel @attention(%q: !wave.memory<[M, D], f16, global>, %k: !wave.memory<[S, D], f16, global>, %v: !wave.memory<[E, S], f16, global>, %o: !wave.memory<[M, E], f32, global>)
      symbols {D = 64, E = 72} dynamic [M, S]
      constraints [#wave.workgroup<M, 128, x>, #wave.workgroup<E, 72, y>, #wave.tiling<S, 64>, #wave.wave<M, 32>, #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
    %acc0 = wave.register 0.0 : !wave.tile<[M, E], f32>
    %m0 = wave.register 0xFF800000 : !wave.tile<[M], f32>
    %l0 = wave.register 0.0 : !wave.tile<[M], f32>
    %qt = wave.read %q : !wave.memory<[M, D], f16, global> -> !wave.tile<[M, D], f16>
    %r:3 = wave.iterate S iter_args(%m = %m0 : !wave.tile<[M], f32>, %l = %l0 : !wave.tile<[M], f32>, %acc = %acc0 : !wave.tile<[M, E], f32>) {
      %s0 = wave.register 0.0 : !wave.tile<[M, S], f32>
      %kt = wave.read %k : !wave.memory<[S, D], f16, global> -> !wave.tile<[S, D], f16>
      %s = wave.mma %qt, %kt, %s0 : !wave.tile<[M, D], f16>, !wave.tile<[S, D], f16>, !wave.tile<[M, S], f32>
      %mn = wave.reduce max %s along S acc %m : !wave.tile<[M, S], f32> -> !wave.tile<[M], f32>
      %mb = wave.broadcast %mn : !wave.tile<[M], f32> -> !wave.tile<[M, S], f32>
      %d = wave.sub %s, %mb : !wave.tile<[M, S], f32>
      %p = wave.exp2 %d : !wave.tile<[M, S], f32>
      %ln = wave.reduce sum %p along S acc %l : !wave.tile<[M, S], f32> -> !wave.tile<[M], f32>
      %pc = wave.cast %p : !wave.tile<[M, S], f32> -> !wave.tile<[M, S], f16>
      %vt = wave.read %v : !wave.memory<[E, S], f16, global> -> !wave.tile<[E, S], f16>
      %cor = wave.broadcast %mn : !wave.tile<[M], f32> -> !wave.tile<[M, E], f32>
      %a2 = wave.mul %acc, %cor : !wave.tile<[M, E], f32>
      %z = wave.mma %pc, %vt, %a2 : !wave.tile<[M, S], f16>, !wave.tile<[E, S], f16>, !wave.tile<[M, E], f32>
      wave.yield %mn, %ln, %z : !wave.tile<[M], f32>, !wave.tile<[M], f32>, !wave.tile<[M, E], f32>
    }
    wave.write %r#2, %o : !wave.tile<[M, E], f32>, !wave.memory<[M, E], f32, global>
    wave.return
  }
  // A part of what lanes hold: reductions get their identity outside, the write a mask; the slice itself is gone.
  // CHECK-LABEL: wave.kernel @part(
  // CHECK: [[X:%.*]] = wave.read %a
  // CHECK-NEXT: [[OUTSIDE:%.*]] = wave.mask [at.M mod 4 lt 2] : !wave.tile<[M], i1
  // CHECK-NEXT: [[LEAST:%.*]] = wave.register 0xFF800000
  // CHECK-NEXT: [[GUARDED:%.*]] = wave.select [[OUTSIDE]], [[X]], [[LEAST]]
  // CHECK-NEXT: wave.reduce max [[GUARDED]] along M
  // CHECK: [[STORED:%.*]] = wave.mask [at.M mod 4 lt 2] : !wave.tile<[M], i1
  // CHECK-NEXT: wave.write [[X]], %a mask [[STORED]] index [at.M]
  // CHECK-NEXT: wave.write
  wave.kernel @part(%a: !wave.memory<[M], f32, global>, %b: !wave.memory<[], f32, global>) symbols {M = 256}
      constraints [#wave.hardware<threads_per_wave = 64>] {
    %x = wave.read %a : !wave.memory<[M], f32, global> -> !wave.tile<[M], f32>
    %s = wave.extract_slice %x offsets [0] sizes [2] strides [1] : !wave.tile<[M], f32> -> !wave.tile<[M], f32>
    %m = wave.reduce max %s along M : !wave.tile<[M], f32> -> !wave.tile<[], f32>
    wave.write %s, %a : !wave.tile<[M], f32>, !wave.memory<[M], f32, global>
    wave.write %m, %b : !wave.tile<[], f32>, !wave.memory<[], f32, global>
    wave.return
  }
}
