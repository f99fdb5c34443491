// RUN: wave-opt %s --split-input-file --verify-diagnostics
// Errors of memory access.

wave.kernel @k(%a: !wave.memory<[M], f16, global>) {
  // expected-error @+1 {{moves elements of type 'f32' but the memory has 'f16'; insert wave.cast}}
  %x = wave.read %a : !wave.memory<[M], f16, global> -> !wave.tile<[M], f32>
}
// -----
wave.kernel @k(%a: !wave.memory<[M, N], f16, global>) {
  // expected-error @+1 {{has 1 coordinates in its index of a memory of 2 dims; give one for each dim}}
  %x = wave.read %a index [lane] : !wave.memory<[M, N], f16, global> -> vector<4xf16>
}
// -----
wave.kernel @k(%a: !wave.memory<[M], f16, global>) {
  // expected-error @+1 {{has elements_per_thread -1; it is positive}}
  %x = wave.read %a elements_per_thread -1 : !wave.memory<[M], f16, global> -> !wave.tile<[M], f16>
}
// -----
wave.kernel @k(%a: !wave.memory<[M], f16, global>, %n: i32) {
  // expected-error @+1 {{has 1 dynamic values, its mapping has positions for 0}}
  %x = wave.read %a dynamic(%n : i32) : !wave.memory<[M], f16, global> -> !wave.tile<[M], f16>
}
// -----
wave.kernel @k(%a: !wave.memory<[M], f16, global>) {
  // expected-error @+1 {{has 0 dynamic values, its mapping has positions for 1}}
  %x = wave.read %a mapping <[M = i] -> [d0], dynamic = [[M = i]]> : !wave.memory<[M], f16, global> -> !wave.tile<[M], f16>
}
// -----
wave.kernel @k(%a: !wave.memory<[M], f16, global>) {
  // expected-error @+1 {{has both an index and a mapping; an index has all of a mapping in it}}
  %x = wave.read %a index [at.M] mapping <[M = i] -> [i]> : !wave.memory<[M], f16, global> -> !wave.tile<[M], f16>
}
// -----
wave.kernel @k(%a: !wave.memory<[M], f16, global>) {
  // expected-error @+1 {{has a mapping to 2 coordinates of a memory of 1 dims; give one for each dim}}
  %x = wave.read %a mapping <[M = i] -> [i, i]> : !wave.memory<[M], f16, global> -> !wave.tile<[M], f16>
}
// -----
wave.kernel @k(%a: !wave.memory<[M], f16, global>) {
  // expected-error @+1 {{has a mapping but its value is no tile}}
  %x = wave.read %a mapping <[M = i] -> [i]> : !wave.memory<[M], f16, global> -> vector<4xf16>
}
// -----
wave.kernel @k(%a: !wave.memory<[M, N], f16, global>) {
  // expected-error @+1 {{has no iterator in its mapping for dim N of '!wave.tile<[M, N], f16>'}}
  %x = wave.read %a mapping <[M = i] -> [i, 0]> : !wave.memory<[M, N], f16, global> -> !wave.tile<[M, N], f16>
}
// -----
wave.kernel @k(%a: !wave.memory<[M], f16, global>) {
  // expected-error @+1 {{has an iterator for N, which is no dim of '!wave.tile<[M], f16>'}}
  %x = wave.read %a mapping <[M = i, N = j] -> [i]> : !wave.memory<[M], f16, global> -> !wave.tile<[M], f16>
}
// -----
wave.kernel @k(%a: !wave.memory<[M], f16, global>) {
  %t = wave.register 1 : !wave.tile<[T], i32>
  // expected-error @+1 {{has no position for dim T of dynamic value d0}}
  %x = wave.read %a mapping <[M = i] -> [d0], dynamic = [[M = i]]> dynamic(%t : !wave.tile<[T], i32>)
      : !wave.memory<[M], f16, global> -> !wave.tile<[M], f16>
}
// -----
wave.kernel @k(%a: !wave.memory<[M], f16, global>) {
  %m = wave.mask [lane lt 3] : vector<4xi1>
  // expected-error @+1 {{the mask has i1 elements and the shape and layout of the value}}
  %x = "wave.read"(%a, %m) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (!wave.memory<[M], f16, global>, vector<4xi1>) -> vector<8xf16>
}
// -----
wave.kernel @k(%a: !wave.memory<[M], f16, global>) {
  %x = wave.register 1.0 : !wave.tile<[M], f32>
  // expected-error @+1 {{moves elements of type 'f32' but the memory has 'f16'; insert wave.cast}}
  wave.write %x, %a : !wave.tile<[M], f32>, !wave.memory<[M], f16, global>
}
// -----
wave.kernel @k(%a: !wave.memory<[M], f32, global>) {
  %x = wave.register 1.0 : !wave.tile<[M], f32>
  // expected-error @+1 {{does 'and' on 'f32'; bitwise updates want integers}}
  wave.atomic and %x, %a : !wave.tile<[M], f32>, !wave.memory<[M], f32, global>
}
// -----
wave.kernel @k(%a: !wave.memory<[M], f32, global>) {
  %x = wave.register 1.0 : !wave.tile<[M], f32>
  // expected-error @+1 {{has a result of type 'f32', its value is of '!wave.tile<[M], f32>'}}
  %y = wave.atomic add %x, %a : !wave.tile<[M], f32>, !wave.memory<[M], f32, global> -> f32
}
// -----
wave.kernel @k(%a: !wave.memory<[M], f32, global>) {
  %x = wave.register 1.0 : !wave.tile<[M], f32>
  %p = wave.register 1 : !wave.tile<[N], i32>
  // expected-error @+1 {{has values of type '!wave.tile<[M], f32>' but positions of type '!wave.tile<[N], i32>'; give a position for each value}}
  wave.scatter_add %x at %p along M to %a : !wave.tile<[M], f32>, !wave.tile<[N], i32>, !wave.memory<[M], f32, global>
}
// -----
wave.kernel @k(%a: !wave.memory<[M], f32, global>) {
  %x = wave.register 1.0 : !wave.tile<[M], f32>
  %p = wave.register 1 : !wave.tile<[M], i32>
  // expected-error @+1 {{is along N, which is no dim of '!wave.tile<[M], f32>'}}
  wave.scatter_add %x at %p along N to %a : !wave.tile<[M], f32>, !wave.tile<[M], i32>, !wave.memory<[M], f32, global>
}
// -----
wave.kernel @k(%a: !wave.memory<[M], f32, global>) {
  // expected-error @+1 {{has 2 coordinates in its index of a memory of 1 dims; give one for each dim}}
  wave.bounds_check %a index [lane, 0] : !wave.memory<[M], f32, global>
}
// -----
wave.kernel @k() {
  // expected-error @+1 {{allocates in global space; a workgroup has shared and register memory of its own}}
  %a = wave.allocate : !wave.memory<[M], f32, global>
}
// -----
wave.kernel @k() {
  // expected-error @+1 {{has byte offset -4; it cannot be negative}}
  %a = wave.allocate offset -4 : !wave.memory<[M], f32, shared>
}
// -----
wave.kernel @k() {
  // expected-error @+1 {{has a distributed shape of 2 dims for a memory of 1}}
  %a = wave.allocate distributed [4, 4] : !wave.memory<[M], f32, shared>
}
// -----
wave.kernel @k(%a: !wave.memory<[M], f32, shared>) {
  // expected-error @+1 {{is of a memory in shared space; descriptors are for global memory}}
  %x = wave.buffer_load %a base [0] offset [lane] : !wave.memory<[M], f32, shared> -> vector<1xf32>
}
// -----
wave.kernel @k(%a: !wave.memory<[M], f32, global>) {
  // expected-error @+1 {{has 'lane' in its base, which must be the same for all lanes of a wave}}
  %x = wave.buffer_load %a base [lane] offset [lane] : !wave.memory<[M], f32, global> -> vector<1xf32>
}
// -----
wave.kernel @k(%a: !wave.memory<[M], f32, global>) {
  %x = wave.register 1 : vector<1xi32>
  // expected-error @+1 {{moves elements of type 'i32' but the memory has 'f32'; insert wave.cast}}
  wave.buffer_store %x, %a base [0] offset [lane] : vector<1xi32>, !wave.memory<[M], f32, global>
}
// -----
wave.kernel @k(%a: !wave.memory<[M], f32, global>, %b: !wave.memory<[M], f32, global>) {
  // expected-error @+1 {{copies to global space; the target is shared}}
  wave.gather_to_shared %a [lane] to %b [0] elements 4 : !wave.memory<[M], f32, global>, !wave.memory<[M], f32, global>
}
// -----
wave.kernel @k(%b: !wave.memory<[M], f32, shared>) {
  %a = wave.allocate : !wave.memory<[4], f32, register>
  // expected-error @+1 {{copies from register space; the source is global}}
  wave.gather_to_shared %a [lane] to %b [0] elements 4 : !wave.memory<[4], f32, register>, !wave.memory<[M], f32, shared>
}
// -----
wave.kernel @k(%a: !wave.memory<[M], f16, global>, %b: !wave.memory<[M], f32, shared>) {
  // expected-error @+1 {{copies elements of 'f16' to a memory of 'f32'}}
  wave.gather_to_shared %a [lane] to %b [0] elements 4 : !wave.memory<[M], f16, global>, !wave.memory<[M], f32, shared>
}
// -----
wave.kernel @k(%a: !wave.memory<[M], f32, global>, %b: !wave.memory<[M], f32, shared>) {
  // expected-error @+1 {{copies 0 elements a lane; it is a positive number}}
  wave.gather_to_shared %a [lane] to %b [0] elements 0 : !wave.memory<[M], f32, global>, !wave.memory<[M], f32, shared>
}
// -----
wave.kernel @k(%a: !wave.memory<[M], f32, global>, %b: !wave.memory<[M], f32, shared>) {
  // expected-error @+1 {{has 2 coordinates in its source index of a memory of 1 dims}}
  wave.gather_to_shared %a [lane, 0] to %b [0] elements 4 : !wave.memory<[M], f32, global>, !wave.memory<[M], f32, shared>
}
// -----
wave.kernel @k(%a: !wave.memory<[M], f32, global>, %b: !wave.memory<[M], f32, shared>) {
  // expected-error @+1 {{has 2 coordinates in its target index of a memory of 1 dims}}
  wave.gather_to_shared %a [lane] to %b [0, 1] elements 4 : !wave.memory<[M], f32, global>, !wave.memory<[M], f32, shared>
}
