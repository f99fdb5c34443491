// RUN: wave-opt %s --split-input-file --verify-diagnostics
// Errors of kernels, loops, conditionals and symbols.

// expected-error @+1 {{binds 'lane', which is no symbol}}
wave.kernel @k() symbols {lane = 3} {}
// -----
// expected-error @+1 {{binds M to 3 : i64, which is no expression}}
"wave.kernel"() <{sym_name = "k", arg_names = [], symbols = {M = 3}, dynamic = [], constraints = []}> ({ wave.return }) : () -> ()
// -----
// expected-error @+1 {{binds M to an expression with 'wg.x'; the value of a symbol depends on other symbols only}}
wave.kernel @k() symbols {M = wg.x + 1} {}
// -----
// expected-error @+1 {{has 'wg.x' as a dynamic symbol, which is no symbol}}
wave.kernel @k() dynamic [wg.x] {}
// -----
// expected-error @+1 {{has symbol M both bound and dynamic; drop one}}
wave.kernel @k() symbols {M = 3} dynamic [M] {}
// -----
// expected-error @+1 {{lists dynamic symbol M twice}}
wave.kernel @k() dynamic [M, M] {}
// -----
// expected-error @+1 {{has 3 : i64 as a constraint; constraints are workgroup, tiling}}
wave.kernel @k() constraints [3] {}
// -----
// expected-error @+1 {{has 0 arguments but 1 names}}
"wave.kernel"() <{sym_name = "k", arg_names = ["a"], symbols = {}, dynamic = [], constraints = []}> ({ wave.return }) : () -> ()
// -----
// expected-error @+1 {{has no name for argument 0}}
"wave.kernel"() <{sym_name = "k", arg_names = [""], symbols = {}, dynamic = [], constraints = []}> ({ ^bb0(%a: f32): wave.return }) : () -> ()
// -----
// expected-error @+1 {{has two arguments called a}}
"wave.kernel"() <{sym_name = "k", arg_names = ["a", "a"], symbols = {}, dynamic = [], constraints = []}> ({ ^bb0(%a: f32, %b: f32): wave.return }) : () -> ()
// -----
// expected-error @+1 {{has argument a of type 'vector<4xf32>'; arguments are memories and scalars}}
wave.kernel @k(%a: vector<4xf32>) {}
// -----
// expected-error @+1 {{has argument a in register space; use global or shared}}
wave.kernel @k(%a: !wave.memory<[M], f32, register>) {}
// -----
// expected-error @+1 {{'M' is given twice}}
wave.kernel @k() symbols {M = 1, M = 2} {}
// -----
// expected-error @+1 {{expects parent op 'wave.kernel'}}
wave.return
// -----
wave.kernel @k() {
  // expected-error @+1 {{walks 'lane', which is no symbol}}
  wave.iterate lane {}
}
// -----
wave.kernel @k(%n: i32) {
  // expected-error @+1 {{has a start without a condition; a while loop has both, a loop over tiles neither}}
  wave.iterate K start(%n : i32) {}
}
// -----
wave.kernel @k() {
  // expected-error @+1 {{has a condition without a start; a while loop has both}}
  wave.iterate K condition(K lt 3) {}
}
// -----
wave.kernel @k(%n: i32) {
  // expected-error @+1 {{has a trip count and a condition; a while loop has no trip count}}
  wave.iterate K start(%n : i32) trips(3) condition(K lt 3) {}
}
// -----
wave.kernel @k() {
  // expected-error @+1 {{has an induction variable but no trip count; give 'trips(…)'}}
  wave.iterate K iv(%k) {}
}
// -----
wave.kernel @k() {
  // expected-error @+1 {{has a trip count but no induction variable; give 'iv(…)'}}
  wave.iterate K trips(3) {}
}
// -----
wave.kernel @k(%n: i32) {
  // expected-error @+1 {{has a condition that is no predicate}}
  wave.iterate K start(%n : i32) condition(K + 1) {}
}
// -----
wave.kernel @k() {
  // expected-error @+1 {{has step 0; a step is positive}}
  wave.iterate K step(0) {}
}
// -----
wave.kernel @k() {
  // expected-error @+1 {{has 'lane' in its trip count, which must be the same for all lanes of a wave}}
  wave.iterate K iv(%k) trips(lane) {}
}
// -----
wave.kernel @k(%x: f32) {
  // expected-error @+1 {{has results of other types than its initial values}}
  %r = "wave.iterate"(%x) <{axis = "K", operandSegmentSizes = array<i32: 0, 1, 0>}> ({ ^bb0(%y: f32): "wave.yield"(%y) : (f32) -> () }) : (f32) -> i32
}
// -----
wave.kernel @k(%x: f32) {
  // expected-error @+1 {{has 0 region arguments for 1 initial values}}
  %r = "wave.iterate"(%x) <{axis = "K", operandSegmentSizes = array<i32: 0, 1, 0>}> ({ "wave.yield"(%x) : (f32) -> () }) : (f32) -> f32
}
// -----
wave.kernel @k(%x: f32) {
  // expected-error @+1 {{has an induction variable of type 'i32', not index}}
  "wave.iterate"() <{axis = "K", has_iv, trips = #wave.expr<3>, operandSegmentSizes = array<i32: 0, 0, 0>}> ({ ^bb0(%k: i32): wave.yield }) : () -> ()
}
// -----
wave.kernel @k(%x: f32) {
  // expected-error @+1 {{carries value 0 of type 'i32' but starts with 'f32'}}
  %r = "wave.iterate"(%x) <{axis = "K", operandSegmentSizes = array<i32: 0, 1, 0>}> ({ ^bb0(%y: i32): "wave.yield"(%x) : (f32) -> () }) : (f32) -> f32
}
// -----
wave.kernel @k(%x: f32) {
  %r = wave.iterate K iter_args(%y = %x : f32) {
    // expected-error @+1 {{gives 0 values, the loop wants 1}}
    wave.yield
  }
}
// -----
wave.kernel @k(%n: i32) {
  wave.iterate K iv(%k) start(%n : i32) condition(K lt 3) {
    // expected-error @+1 {{gives 0 values, the loop wants 1 (the next value of its axis first)}}
    wave.yield
  }
}
// -----
wave.kernel @k(%x: f32, %n: i32) {
  %r = wave.iterate K iter_args(%y = %x : f32) {
    // expected-error @+1 {{gives 'i32' as value 0, the loop carries 'f32'}}
    wave.yield %n : i32
  }
}
// -----
wave.kernel @k() {
  // expected-error @+1 {{has no condition; give an expression in brackets or a value}}
  "wave.conditional"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> ({ wave.yield }, {}) : () -> ()
}
// -----
wave.kernel @k(%c: i1) {
  // expected-error @+1 {{has two conditions; give an expression in brackets or a value}}
  "wave.conditional"(%c) <{condition = #wave.expr<M eq 1>, operandSegmentSizes = array<i32: 1, 0, 0>}> ({ wave.yield }, {}) : (i1) -> ()
}
// -----
wave.kernel @k() {
  // expected-error @+1 {{has 'at.M' in its condition, which must be the same for all lanes of a wave}}
  wave.conditional [at.M eq 1] {}
}
// -----
wave.kernel @k() {
  %c = wave.register 1 : vector<2xi1>
  // expected-error @+1 {{has a condition of 2 elements; a condition has one}}
  wave.conditional %c : vector<2xi1> {}
}
// -----
wave.kernel @k(%x: f32) {
  // expected-error @+1 {{has both an else region and values after 'otherwise'; keep one}}
  %r = wave.conditional [M eq 1] otherwise(%x) -> f32 { wave.yield %x : f32 } else { wave.yield %x : f32 }
}
// -----
wave.kernel @k(%x: f32) {
  // expected-error @+1 {{has results of other types than the values after 'otherwise'}}
  %r = "wave.conditional"(%x) <{condition = #wave.expr<M eq 1>, operandSegmentSizes = array<i32: 0, 0, 1>}> ({ wave.yield %x : f32 }, {}) : (f32) -> i32
}
// -----
wave.kernel @k(%x: f32) {
  // expected-error @+1 {{has results but neither an else region nor values after 'otherwise'}}
  %r = wave.conditional [M eq 1] -> f32 { wave.yield %x : f32 }
}
// -----
wave.kernel @k(%x: f32) {
  // expected-error @+1 {{has a region with arguments}}
  "wave.conditional"() <{condition = #wave.expr<M eq 1>, operandSegmentSizes = array<i32: 0, 0, 0>}> ({ ^bb0(%y: f32): wave.yield }, {}) : () -> ()
}
// -----
wave.kernel @k(%x: f32, %n: i32) {
  %r = wave.conditional [M eq 1] otherwise(%x) -> f32 {
    // expected-error @+1 {{gives ('i32'), the conditional has results ('f32')}}
    wave.yield %n : i32
  }
}
// -----
wave.kernel @k(%n: i32) {
  // expected-error @+1 {{sets 'wg.x', which is no symbol}}
  wave.set_symbol wg.x = %n : i32
}
// -----
wave.kernel @k() {
  %n = wave.register 1 : vector<2xi32>
  // expected-error @+1 {{sets a symbol to 2 elements; a lane has one}}
  wave.set_symbol T = %n : vector<2xi32>
}
// -----
wave.kernel @k() {
  // expected-error @+1 {{has elements of type 'f32'; index arithmetic gives index or integers}}
  %r = wave.apply_expr [M] : f32
}
// -----
wave.kernel @k() {
  // expected-error @+1 {{has elements of type 'i1'; index arithmetic gives index or integers, i1 for a predicate only}}
  %r = wave.apply_expr [M] : i1
}
// -----
wave.kernel @k(%n: i32) {
  // expected-error @+1 {{gives two values for symbol T}}
  %r = wave.apply_expr [T] symbols(T = %n : i32, T = %n : i32) : index
}
// -----
wave.kernel @k(%n: i32) {
  // expected-error @+1 {{gives a value for 'lane', which is neither a user's symbol nor iv.DIM}}
  %r = wave.apply_expr [T] symbols(lane = %n : i32) : index
}
// -----
wave.kernel @k(%n: i32) {
  // expected-error @+1 {{has 1 values for 0 symbols; give one for each}}
  %r = "wave.apply_expr"(%n) <{expr = #wave.expr<T>}> : (i32) -> index
}
// -----
wave.kernel @k(%n: i32) {
  // expected-error @+1 {{gives a value for 'iv.', which is neither a user's symbol nor iv.DIM}}
  %r = wave.apply_expr [T] symbols(iv. = %n : i32) : index
}
// -----
wave.kernel @k() {
  // expected-error @+1 {{has a result of type '!wave.tile<[M], f32>'; a scalar is a tile without dims or an element}}
  %r = wave.scalar [M] : !wave.tile<[M], f32>
}
// -----
wave.kernel @k() {
  // expected-error @+1 {{has a result of type '!wave.tile<[M], f32>'; a mask has elements of i1}}
  %r = wave.mask [at.M lt M] : !wave.tile<[M], f32>
}
// -----
wave.kernel @k() {
  // expected-error @+1 {{has an expression that is no predicate}}
  %r = wave.mask [at.M] : !wave.tile<[M], i1>
}
// -----
wave.kernel @k() {
  // expected-error @+1 {{is along 'at.M', which is no symbol}}
  %r = wave.self_index at.M : !wave.tile<[M], i32>
}
// -----
wave.kernel @k() {
  // expected-error @+1 {{is along N, which is no dim of '!wave.tile<[M], i32>'}}
  %r = wave.self_index N : !wave.tile<[M], i32>
}
// -----
wave.kernel @k() {
  // expected-error @+1 {{has elements_per_thread 0; it is positive}}
  %r = wave.self_index M elements_per_thread 0 : !wave.tile<[M], i32>
}
// -----
func.func @f() {
  // expected-error @+1 {{expects parent op to be one of 'wave.iterate, wave.conditional'}}
  wave.yield
}
