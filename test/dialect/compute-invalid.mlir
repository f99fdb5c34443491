// RUN: wave-opt %s --split-input-file --verify-diagnostics
// Errors of matrix products, reductions, ops on shape and on elements.

wave.kernel @k() {
  // expected-error @+1 {{expected an integer for elements of 'i32'}}
  %x = wave.register 1.5 : !wave.tile<[M], i32>
}
// -----
wave.kernel @k() {
  // expected-error @+1 {{the number does not fit 'i8'}}
  %x = wave.register 300 : !wave.tile<[M], i8>
}
// -----
wave.kernel @k() {
  // expected-error @+1 {{expected the 16 bits of a number of 'f16'}}
  %x = wave.register 0xFF800000 : !wave.tile<[M], f16>
}
// -----
wave.kernel @k() {
  // expected-error @+1 {{expected a type with elements, not 'tuple<>'}}
  %x = wave.register 1 : tuple<>
}
// -----
wave.kernel @k() {
  // expected-error @+1 {{has neither literal nor scalar; give one}}
  %x = "wave.register"() : () -> f32
}
// -----
wave.kernel @k(%s: f32) {
  // expected-error @+1 {{has a literal and a scalar; give one}}
  %x = "wave.register"(%s) <{value = 1.0 : f32}> : (f32) -> f32
}
// -----
wave.kernel @k() {
  // expected-error @+1 {{has a number of type 'f16' for elements of 'f32'}}
  %x = "wave.register"() <{value = 1.0 : f16}> : () -> !wave.tile<[M], f32>
}
// -----
wave.kernel @k() {
  %a = wave.register 1.0 : vector<4xf16>
  %b = wave.register 1.0 : vector<4xbf16>
  %c = wave.register 1.0 : vector<4xf32>
  // expected-error @+1 {{multiplies elements of 'f16' and 'bf16'; insert wave.cast}}
  %z = wave.mma %a, %b, %c : vector<4xf16>, vector<4xbf16>, vector<4xf32>
}
// -----
wave.kernel @k() {
  %a = wave.register 1.0 : vector<4xf16>
  %c = wave.register 1 : vector<4xi32>
  // expected-error @+1 {{multiplies elements of 'f16' but accumulates in 'i32'; integers accumulate in integers, floats in floats}}
  %z = wave.mma %a, %a, %c : vector<4xf16>, vector<4xf16>, vector<4xi32>
}
// -----
wave.kernel @k() {
  %a = wave.register 1.0 : !wave.tile<[M, K], f16>
  %b = wave.register 1.0 : vector<4xf16>
  %c = wave.register 1.0 : vector<4xf32>
  // expected-error @+1 {{mixes tiles and vectors; operands are all tiles or all vectors}}
  %z = wave.mma %a, %b, %c : !wave.tile<[M, K], f16>, vector<4xf16>, vector<4xf32>
}
// -----
wave.kernel @k() {
  %a = wave.register 1.0 : !wave.tile<[M, L, K], f16>
  %b = wave.register 1.0 : !wave.tile<[N, K], f16>
  %c = wave.register 1.0 : !wave.tile<[M, N], f32>
  // expected-error @+1 {{has dim L in lhs only; it is in the other operand too (then it is contracted) or in the accumulator [M, N]}}
  %z = wave.mma %a, %b, %c : !wave.tile<[M, L, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
}
// -----
wave.kernel @k() {
  %a = wave.register 1.0 : !wave.tile<[M, K], f16>
  %b = wave.register 1.0 : !wave.tile<[N, K], f16>
  %c = wave.register 1.0 : !wave.tile<[M, N, B], f32>
  // expected-error @+1 {{has dim B in the accumulator but in neither operand}}
  %z = wave.mma %a, %b, %c : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N, B], f32>
}
// -----
wave.kernel @k() {
  %a = wave.register 1.0 : !wave.tile<[M], f16>
  %b = wave.register 1.0 : !wave.tile<[N], f16>
  %c = wave.register 1.0 : !wave.tile<[M, N], f32>
  // expected-error @+1 {{contracts no dim: lhs [M] and rhs [N] share none that the accumulator [M, N] has not}}
  %z = wave.mma %a, %b, %c : !wave.tile<[M], f16>, !wave.tile<[N], f16>, !wave.tile<[M, N], f32>
}
// -----
wave.kernel @k() {
  %a = wave.register 1.0 : vector<32xf4E2M1FN>
  %s = wave.register 1.0 : vector<1xf32>
  %c = wave.register 1.0 : vector<4xf32>
  // expected-error @+1 {{has scales of lhs of type 'f32'; scales are f8E8M0FNU (or its bits, i8)}}
  %z = wave.scaled_mma %a scale %s, %a scale %s, %c : vector<32xf4E2M1FN>, vector<1xf32>, vector<32xf4E2M1FN>, vector<1xf32>, vector<4xf32>
}
// -----
wave.kernel @k() {
  %a = wave.register 1.0 : vector<32xf16>
  %s = wave.register 1 : vector<1xi8>
  %c = wave.register 1.0 : vector<4xf32>
  // expected-error @+1 {{has lhs of 'f16'; operands are f8, f6 or f4}}
  %z = wave.scaled_mma %a scale %s, %a scale %s, %c : vector<32xf16>, vector<1xi8>, vector<32xf16>, vector<1xi8>, vector<4xf32>
}
// -----
wave.kernel @k() {
  %a = wave.register 1.0 : vector<32xf4E2M1FN>
  %s = wave.register 1 : vector<1xi8>
  %c = wave.register 1 : vector<4xi32>
  // expected-error @+1 {{accumulates in 'i32'; it accumulates in floats}}
  %z = wave.scaled_mma %a scale %s, %a scale %s, %c : vector<32xf4E2M1FN>, vector<1xi8>, vector<32xf4E2M1FN>, vector<1xi8>, vector<4xi32>
}
// -----
wave.kernel @k() {
  // expected-error @+1 {{has no source}}
  %r = "wave.reduce"() <{kind = #wave<reduce_kind sum>, dim = "M", operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> f32
}
// -----
wave.kernel @k() {
  %x = wave.register 1.0 : vector<4xf32>
  %y = wave.register 1.0 : vector<2xf32>
  // expected-error @+1 {{has sources of different types}}
  %r = wave.reduce sum %x, %y along M : vector<4xf32>, vector<2xf32> -> vector<1xf32>
}
// -----
wave.kernel @k() {
  %x = wave.register 1.0 : !wave.tile<[M], f16>
  // expected-error @+1 {{reduces elements of 'f16' to 'f32'; insert wave.cast}}
  %r = wave.reduce sum %x along M : !wave.tile<[M], f16> -> !wave.tile<[], f32>
}
// -----
wave.kernel @k() {
  %x = wave.register 1.0 : !wave.tile<[M], f32>
  // expected-error @+1 {{is along 'wg.x', which is no symbol}}
  %r = wave.reduce sum %x along wg.x : !wave.tile<[M], f32> -> !wave.tile<[], f32>
}
// -----
wave.kernel @k() {
  %x = wave.register 1.0 : !wave.tile<[M], f32>
  // expected-error @+1 {{is along N, which is no dim of '!wave.tile<[M], f32>'}}
  %r = wave.reduce sum %x along N : !wave.tile<[M], f32> -> !wave.tile<[], f32>
}
// -----
wave.kernel @k() {
  %x = wave.register 1.0 : !wave.tile<[M], f32>
  // expected-error @+1 {{has several tiles as sources; several are for vectors of lane form}}
  %r = wave.reduce sum %x, %x along M : !wave.tile<[M], f32>, !wave.tile<[M], f32> -> !wave.tile<[], f32>
}
// -----
wave.kernel @k() {
  %x = wave.register 1.0 : !wave.tile<[M, N], f32>
  // expected-error @+1 {{has a result with dims [N]; [M, N] without N is [M]}}
  %r = wave.reduce sum %x along N : !wave.tile<[M, N], f32> -> !wave.tile<[N], f32>
}
// -----
wave.kernel @k() {
  %x = wave.register 1.0 : !wave.tile<[M, N], f32>
  // expected-error @+1 {{is along K, which is no dim of '!wave.tile<[M, N], f32>'}}
  %r = wave.cumsum %x along K : !wave.tile<[M, N], f32>
}
// -----
wave.kernel @k() {
  %x = wave.register 1.0 : !wave.tile<[M, N], f32>
  // expected-error @+1 {{selects 0 elements; k is positive}}
  %v, %i = wave.topk %x k 0 along N : !wave.tile<[M, N], f32> -> !wave.tile<[M, T], f32>, !wave.tile<[M, T], i32>
}
// -----
wave.kernel @k() {
  %x = wave.register 1.0 : !wave.tile<[M, N], f32>
  // expected-error @+1 {{selects elements of 'f32' as 'f16'}}
  %v, %i = wave.topk %x k 2 along N : !wave.tile<[M, N], f32> -> !wave.tile<[M, T], f16>, !wave.tile<[M, T], i32>
}
// -----
wave.kernel @k() {
  %x = wave.register 1.0 : !wave.tile<[M, N], f32>
  // expected-error @+1 {{has values of type '!wave.tile<[M, T], f32>' but positions of type '!wave.tile<[M], i32>'; they have one shape}}
  %v, %i = wave.topk %x k 2 along N : !wave.tile<[M, N], f32> -> !wave.tile<[M, T], f32>, !wave.tile<[M], i32>
}
// -----
wave.kernel @k() {
  %x = wave.register 1.0 : !wave.tile<[M], f32>
  // expected-error @+1 {{is from '!wave.tile<[M], f32>' to '!wave.tile<[M], f32>'; both are tiles with a layout}}
  %y = wave.relayout %x : !wave.tile<[M], f32> -> !wave.tile<[M], f32>
}
// -----
#m = #wave.layout<[M = 4], reg = [4 : M * 1]>
#n = #wave.layout<[N = 4], reg = [4 : N * 1]>
wave.kernel @k() {
  %x = wave.register 1.0 : !wave.tile<[M], f32, #m>
  // expected-error @+1 {{changes the dims; a relayout keeps them}}
  %y = wave.relayout %x : !wave.tile<[M], f32, #m> -> !wave.tile<[N], f32, #n>
}
// -----
#m = #wave.layout<[M = 4], reg = [4 : M * 1]>
wave.kernel @k() {
  %x = wave.register 1.0 : !wave.tile<[M], f32, #m>
  // expected-error @+1 {{turns elements of 'f32' into 'f16'; use wave.cast for that}}
  %y = wave.relayout %x : !wave.tile<[M], f32, #m> -> !wave.tile<[M], f16, #m>
}
// -----
wave.kernel @k() {
  %x = wave.register 1.0 : vector<4xf32>
  // expected-error @+1 {{is from 'vector<4xf32>' to 'vector<4xf32>'; both are tiles}}
  %y = wave.permute %x : vector<4xf32> -> vector<4xf32>
}
// -----
wave.kernel @k() {
  %x = wave.register 1.0 : !wave.tile<[M, N], f32>
  // expected-error @+1 {{is from '!wave.tile<[M, N], f32>' to '!wave.tile<[M, K], f32>', which has other dims; only their order changes}}
  %y = wave.permute %x : !wave.tile<[M, N], f32> -> !wave.tile<[M, K], f32>
}
// -----
wave.kernel @k() {
  %x = wave.register 1.0 : !wave.tile<[M, N], f32>
  // expected-error @+1 {{loses dim N from '!wave.tile<[M, N], f32>' to '!wave.tile<[M], f32>'; a broadcast only adds dims}}
  %y = wave.broadcast %x : !wave.tile<[M, N], f32> -> !wave.tile<[M], f32>
}
// -----
wave.kernel @k() {
  %x = wave.register 1.0 : vector<3xf32>
  // expected-error @+1 {{repeats 3 elements in 4, which is no multiple}}
  %y = wave.broadcast %x : vector<3xf32> -> vector<4xf32>
}
// -----
wave.kernel @k() {
  %x = wave.register 1.0 : vector<3xf32>
  // expected-error @+1 {{is from 'vector<3xf32>' to the scalar 'f32'}}
  %y = wave.broadcast %x : vector<3xf32> -> f32
}
// -----
wave.kernel @k() {
  %x = wave.register 1.0 : vector<3xf32>
  // expected-error @+1 {{is from 3 elements to 4; a reshape keeps their number}}
  %y = wave.reshape %x : vector<3xf32> -> vector<4xf32>
}
// -----
wave.kernel @k() {
  %x = wave.register 1.0 : !wave.tile<[M], f32>
  // expected-error @+1 {{is from '!wave.tile<[M], f32>' to '!wave.tile<[N], f16>'; a cast keeps the shape}}
  %y = wave.cast %x : !wave.tile<[M], f32> -> !wave.tile<[N], f16>
}
// -----
wave.kernel @k() {
  %x = wave.register 1.0 : !wave.tile<[M], f32>
  // expected-error @+1 {{saturates to 'i8'; only casts to floats saturate}}
  %y = wave.cast %x saturate : !wave.tile<[M], f32> -> !wave.tile<[M], i8>
}
// -----
wave.kernel @k() {
  %x = wave.register 1 : !wave.tile<[M], index>
  // expected-error @+1 {{is of '!wave.tile<[M], index>'; index has no fixed number of bits}}
  %y = wave.bitcast %x : !wave.tile<[M], index> -> !wave.tile<[M], i64>
}
// -----
wave.kernel @k() {
  %x = wave.register 1.0 : vector<4xf32>
  // expected-error @+1 {{is from 'vector<4xf32>' to 'vector<4xf16>', which has another number of bits}}
  %y = wave.bitcast %x : vector<4xf32> -> vector<4xf16>
}
// -----
wave.kernel @k() {
  %x = wave.register 1.0 : vector<4xf32>
  // expected-error @+1 {{is from 'vector<4xf32>' to '!wave.tile<[M], i32>'; a bitcast is between tiles or between vectors}}
  %y = wave.bitcast %x : vector<4xf32> -> !wave.tile<[M], i32>
}
// -----
wave.kernel @k() {
  %x = wave.register 1.0 : !wave.tile<[M], f32>
  // expected-error @+1 {{has a result of type '!wave.tile<[M], f32>'; one element has no dims}}
  %y = wave.extract %x [0] : !wave.tile<[M], f32> -> !wave.tile<[M], f32>
}
// -----
wave.kernel @k() {
  %x = wave.register 1.0 : !wave.tile<[M], f32>
  // expected-error @+1 {{has 2 positions for a value of 1 dims}}
  %y = wave.extract %x [0, 1] : !wave.tile<[M], f32> -> !wave.tile<[], f32>
}
// -----
wave.kernel @k() {
  %x = wave.register 1.0 : !wave.tile<[M], f32>
  // expected-error @+1 {{has 2 sizes for a value of 1 dims}}
  %y = wave.extract_slice %x offsets [0] sizes [1, 1] strides [1] : !wave.tile<[M], f32> -> !wave.tile<[M], f32>
}
// -----
wave.kernel @k() {
  %x = wave.register 1.0 : f32
  // expected-error @+1 {{has groups of 0 lanes; give a positive width}}
  %y = wave.shuffle xor %x offset 0 width 0 : f32
}
// -----
wave.kernel @k() {
  %x = wave.register 1.0 : f32
  // expected-error @+1 {{has offset 16; it is at least 0 and below the width, 16}}
  %y = wave.shuffle up %x offset 16 width 16 : f32
}
// -----
wave.kernel @k() {
  %x = wave.register 1.0 : !wave.tile<[M], f32>
  %c = wave.register 1 : !wave.tile<[N], i1>
  // expected-error @+1 {{has a condition of type '!wave.tile<[N], i1>' for values of type '!wave.tile<[M], f32>'; it has their shape or one element}}
  %y = wave.select %c, %x, %x : !wave.tile<[N], i1>, !wave.tile<[M], f32>
}
// -----
#m = #wave.layout<[M = 4], reg = [4 : M * 1]>
wave.kernel @k() {
  %x = wave.register 1.0 : !wave.tile<[M], f32, #m>
  %c = wave.register 1 : !wave.tile<[M], i1>
  // expected-error @+1 {{has a condition with another layout than its values; insert wave.relayout}}
  %y = wave.select %c, %x, %x : !wave.tile<[M], i1>, !wave.tile<[M], f32, #m>
}
// -----
wave.kernel @k() {
  %x = wave.register 1.0 : !wave.tile<[M], f32>
  // expected-error @+1 {{operand #0 must be tile, vector or scalar of integers or index}}
  %y = wave.and %x, %x : !wave.tile<[M], f32>
}
// -----
wave.kernel @k() {
  %x = wave.register 1 : !wave.tile<[M], i32>
  // expected-error @+1 {{operand #0 must be tile, vector or scalar of floats}}
  %y = wave.exp2 %x : !wave.tile<[M], i32>
}
