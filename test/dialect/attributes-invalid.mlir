// RUN: wave-opt %s --split-input-file --verify-diagnostics
// Errors of the dialect's attributes on other ops.

// expected-error @+1 {{has wave.form "llvm"; the forms are tile, typed, placed, staged, lane, scheduled, gpu, rocdl}}
module attributes {wave.form = "llvm"} {}
// -----
// expected-error @+1 {{has wave.target 3 : i64; it is the name of a target, a string}}
module attributes {wave.target = 3} {}
// -----
// expected-error @+1 {{has wave.grid [4]; it is an array of three #wave.expr}}
module attributes {wave.grid = [4]} {}
// -----
// expected-error @+1 {{has wave.symbols 4 : i64; it is a dictionary of integers}}
module attributes {wave.symbols = 4} {}
// -----
// expected-error @+1 {{has "x" for M in wave.symbols; values are integers}}
module attributes {wave.symbols = {M = "x"}} {}
// -----
// expected-error @+1 {{has wave.args 1 : i64; it is an array of dictionaries}}
module attributes {wave.args = 1} {}
// -----
// expected-error @+1 {{has entry 0 of wave.args without a kind: memory, scalar, symbol or stride}}
module attributes {wave.args = [{name = "a"}]} {}
// -----
// expected-error @+1 {{has entry 0 of wave.args of kind 'image'; kinds are memory, scalar, symbol and stride}}
module attributes {wave.args = [{kind = "image"}]} {}
// -----
// expected-error @+1 {{has entry 0 of wave.args (a memory) without 'name', a string}}
module attributes {wave.args = [{kind = "memory"}]} {}
// -----
// expected-error @+1 {{has entry 0 of wave.args (a memory) without 'dtype', an element type}}
module attributes {wave.args = [{kind = "memory", name = "a"}]} {}
// -----
// expected-error @+1 {{has entry 0 of wave.args (a memory) without 'shape', an array of #wave.expr}}
module attributes {wave.args = [{kind = "memory", name = "a", dtype = f16, shape = [3]}]} {}
// -----
// expected-error @+1 {{has entry 0 of wave.args (a memory) without 'access', read, write or readwrite}}
module attributes {wave.args = [{kind = "memory", name = "a", dtype = f16, shape = [#wave.expr<M>], access = "all"}]} {}
// -----
// expected-error @+1 {{has entry 1 of wave.args (a scalar) without 'dtype', an element type}}
module attributes {wave.args = [{kind = "symbol", name = "M"}, {kind = "scalar", name = "a", dtype = vector<4xf32>}]} {}
// -----
// expected-error @+1 {{has entry 0 of wave.args (a symbol) without 'name', a string}}
module attributes {wave.args = [{kind = "symbol"}]} {}
// -----
// expected-error @+1 {{has entry 0 of wave.args (a stride) without 'dim', an integer}}
module attributes {wave.args = [{kind = "stride", memory = "a"}]} {}
