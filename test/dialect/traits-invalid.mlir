// RUN: wave-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect
// Errors of the traits and type constraints that ODS declares, most of them out of reach of the custom syntax.

wave.kernel @k() {
  %a = wave.register 1.0 : vector<4xf16>
  %c = wave.register 1.0 : vector<4xf32>
  // expected-error @+1 {{failed to verify that all of {acc, result} have same type}}
  %z = "wave.mma"(%a, %a, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (vector<4xf16>, vector<4xf16>, vector<4xf32>) -> vector<8xf32>
}
// -----
wave.kernel @k() {
  %a = wave.register 1.0 : vector<32xf4E2M1FN>
  %s = wave.register 1 : vector<1xi8>
  %c = wave.register 1.0 : vector<4xf32>
  // expected-error @+1 {{failed to verify that all of {acc, result} have same type}}
  %z = "wave.scaled_mma"(%a, %s, %a, %s, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0>}> : (vector<32xf4E2M1FN>, vector<1xi8>, vector<32xf4E2M1FN>, vector<1xi8>, vector<4xf32>) -> vector<8xf32>
}
// -----
wave.kernel @k() {
  %x = wave.register 1.0 : !wave.tile<[M, N], f32>
  %a = wave.register 1.0 : !wave.tile<[M, N], f32>
  // expected-error @+1 {{failed to verify that the accumulator has the result's type}}
  %r = "wave.reduce"(%x, %a) <{kind = #wave<reduce_kind sum>, dim = "N", operandSegmentSizes = array<i32: 1, 1, 0>}> : (!wave.tile<[M, N], f32>, !wave.tile<[M, N], f32>) -> !wave.tile<[M], f32>
}
// -----
wave.kernel @k() {
  %x = wave.register 1.0 : !wave.tile<[M], f32>
  // expected-error @+1 {{failed to verify that all of {source, result} have same type}}
  %r = "wave.cumsum"(%x) <{dim = "M"}> : (!wave.tile<[M], f32>) -> !wave.tile<[M], f16>
}
// -----
wave.kernel @k() {
  %x = wave.register 1.0 : !wave.tile<[M], f32>
  // expected-error @+1 {{failed to verify that the result has i1 elements and the operands' shape and layout}}
  %r = "wave.compare"(%x, %x) <{predicate = #wave<predicate lt>}> : (!wave.tile<[M], f32>, !wave.tile<[M], f32>) -> !wave.tile<[N], i1>
}
// -----
wave.kernel @k() {
  %x = wave.register 1.0 : !wave.tile<[M], f32>
  %y = wave.register 1.0 : !wave.tile<[N], f32>
  // expected-error @+1 {{failed to verify that all of {lhs, rhs} have same type}}
  %r = "wave.compare"(%x, %y) <{predicate = #wave<predicate lt>}> : (!wave.tile<[M], f32>, !wave.tile<[N], f32>) -> !wave.tile<[M], i1>
}
// -----
wave.kernel @k() {
  %c = wave.register 1 : !wave.tile<[M], i1>
  %x = wave.register 1.0 : !wave.tile<[M], f32>
  // expected-error @+1 {{failed to verify that all of {if_true, if_false, result} have same type}}
  %r = "wave.select"(%c, %x, %x) : (!wave.tile<[M], i1>, !wave.tile<[M], f32>, !wave.tile<[M], f32>) -> !wave.tile<[M], f16>
}
// -----
wave.kernel @k() {
  %x = wave.register 1.0 : !wave.tile<[M], f32>
  // expected-error @+1 {{requires the same type for all operands and results}}
  %r = "wave.exp"(%x) : (!wave.tile<[M], f32>) -> !wave.tile<[M], f16>
}
// -----
wave.kernel @k() {
  %x = wave.register 1.0 : !wave.tile<[M], f32>
  %y = wave.register 1.0 : !wave.tile<[N], f32>
  // expected-error @+1 {{requires the same type for all operands and results}}
  %r = "wave.add"(%x, %y) : (!wave.tile<[M], f32>, !wave.tile<[N], f32>) -> !wave.tile<[M], f32>
}
// -----
wave.kernel @k() {
  %x = wave.register 1.0 : f32
  // expected-error @+1 {{requires the same type for all operands and results}}
  %r = "wave.shuffle"(%x) <{mode = #wave<shuffle_mode xor>, offset = 1 : i64, width = 64 : i64}> : (f32) -> f16
}
// -----
wave.kernel @k() {
  %c = wave.register 1 : !wave.tile<[M], i32>
  %x = wave.register 1.0 : !wave.tile<[M], f32>
  // expected-error @+1 {{operand #0 must be tile, vector or scalar of i1, but got '!wave.tile<[M], i32>'}}
  %r = "wave.select"(%c, %x, %x) : (!wave.tile<[M], i32>, !wave.tile<[M], f32>, !wave.tile<[M], f32>) -> !wave.tile<[M], f32>
}
// -----
wave.kernel @k() {
  %x = "test.tuple"() : () -> tuple<>
  // expected-error @+1 {{operand #0 must be tile, vector or scalar, but got 'tuple<>'}}
  %r = "wave.abs"(%x) : (tuple<>) -> tuple<>
}
// -----
// expected-error @+1 {{expects region #0 to have 0 or 1 blocks}}
"wave.kernel"() <{sym_name = "k", arg_names = [], symbols = {}, dynamic = [], constraints = []}> ({
  "cf.br"()[^bb1] : () -> ()
^bb1:
  wave.return
}) : () -> ()
// -----
wave.kernel @k() {
  // expected-error @+2 {{expects regions to end with 'wave.yield', found 'test.end'}}
  // expected-note @+1 {{in custom textual format, the absence of terminator implies 'wave.yield'}}
  "wave.conditional"() <{condition = #wave.expr<wg.x eq 0>, operandSegmentSizes = array<i32: 0, 0, 0>}> ({
    "test.end"() : () -> ()
  }, {}) : () -> ()
}
