// RUN: wave-opt %s --split-input-file --verify-diagnostics
// Errors of types, constraints and mappings.

// expected-error @+1 {{dim M of a tile is there twice; the dims of a tile are distinct}}
func.func private @f() -> !wave.tile<[M, M], f32>
// -----
// expected-error @+1 {{the dim of a tile is a symbol, not 'wg.x'}}
func.func private @f() -> !wave.tile<[wg.x], f32>
// -----
// expected-error @+1 {{an element is a signless integer, index or a float, not 'si32'}}
func.func private @f() -> !wave.tile<[M], si32>
// -----
// expected-error @+1 {{a tile of unknown shape has neither dims nor layout}}
func.func private @f() -> !wave.tile<*, f32, #wave.layout<[M = 4], reg = [4 : M * 1]>>
// -----
// expected-error @+1 {{the layout of a tile is a #wave.layout, not "here"}}
func.func private @f() -> !wave.tile<[M], f32, "here">
// -----
// expected-error @+1 {{the layout has dims [N] for a tile with dims [M]}}
func.func private @f() -> !wave.tile<[M], f32, #wave.layout<[N = 4], reg = [4 : N * 1]>>
// -----
// expected-error @+1 {{expected a name}}
func.func private @f() -> !wave.tile<[3], f32>
// -----
// expected-error @+1 {{'lds' is no address space; there are global, shared and register}}
func.func private @f() -> !wave.memory<[M], f32, lds>
// -----
// expected-error @+1 {{the extent of a memory's dim cannot be -4}}
func.func private @f() -> !wave.memory<[-4], f32, global>
// -----
// expected-error @+1 {{a memory of 2 dims has 2 strides, not 1}}
func.func private @f() -> !wave.memory<[M, N], f32, global, strides = [1]>
// -----
// expected-error @+1 {{an element is a signless integer, index or a float, not 'vector<4xf32>'}}
func.func private @f() -> !wave.memory<[M], vector<4xf32>, global>
// -----
// expected-error @+1 {{'iv.' is no symbol}}
func.func private @f() -> !wave.memory<[iv.], f32, global>
// -----
// expected-error @+1 {{the constrained dim is a symbol, not 'wg.x'}}
module attributes {t.a = #wave.workgroup<wg.x, 4, x>} {}
// -----
// expected-error @+1 {{a tile size is positive, not 0}}
module attributes {t.a = #wave.workgroup<M, 0, x>} {}
// -----
// expected-error @+1 {{the number of workgroups cannot be -1}}
module attributes {t.a = #wave.workgroup<M, 4, x, iters = -1>} {}
// -----
// expected-error @+1 {{expected a grid dim: x, y, z or a number}}
module attributes {t.a = #wave.workgroup<M, 4, w>} {}
// -----
// expected-error @+1 {{unknown option 'first'}}
module attributes {t.a = #wave.workgroup<M, 4, x, first>} {}
// -----
// expected-error @+1 {{option 'fn' is given twice}}
module attributes {t.a = #wave.workgroup<M, 4, x, fn = 1, fn = 2>} {}
// -----
// expected-error @+1 {{a tile size is positive, not -2}}
module attributes {t.a = #wave.tiling<K, -2>} {}
// -----
// expected-error @+1 {{a trip count cannot be -2}}
module attributes {t.a = #wave.tiling<K, 4, iters = -2>} {}
// -----
// expected-error @+1 {{unknown option 'count'}}
module attributes {t.a = #wave.tiling<K, count = 3>} {}
// -----
// expected-error @+1 {{a wave's tile size is positive, not 0}}
module attributes {t.a = #wave.wave<M, 0>} {}
// -----
// expected-error @+1 {{waves lie along x, y or z, not 3}}
module attributes {t.a = #wave.wave<M, 16, 3>} {}
// -----
// expected-error @+1 {{threads_per_wave is a power of two, not 48}}
module attributes {t.a = #wave.hardware<threads_per_wave = 48>} {}
// -----
// expected-error @+1 {{vector_shapes names dims, 'wg.x' is no symbol}}
module attributes {t.a = #wave.hardware<threads_per_wave = 64, vector_shapes = {wg.x = 4}>} {}
// -----
// expected-error @+1 {{'M' is given twice}}
module attributes {t.a = #wave.hardware<threads_per_wave = 64, vector_shapes = {M = 4, M = 5}>} {}
// -----
// expected-error @+1 {{the vector shape of M cannot be -4}}
module attributes {t.a = #wave.hardware<threads_per_wave = 64, vector_shapes = {M = -4}>} {}
// -----
// expected-error @+1 {{waves_per_block has three numbers, not 2}}
module attributes {t.a = #wave.hardware<threads_per_wave = 64, waves_per_block = [2, 2]>} {}
// -----
// expected-error @+1 {{waves_per_block has positive numbers only}}
module attributes {t.a = #wave.hardware<threads_per_wave = 64, waves_per_block = [2, 0, 1]>} {}
// -----
// expected-error @+1 {{max_bits_per_load is a positive number of whole bytes, not 12 bits}}
module attributes {t.a = #wave.hardware<threads_per_wave = 64, max_bits_per_load = 12>} {}
// -----
// expected-error @+1 {{service_waves cannot be -1}}
module attributes {t.a = #wave.hardware<threads_per_wave = 64, service_waves = -1>} {}
// -----
// expected-error @+1 {{a grid has one size or more}}
module attributes {t.a = #wave.grid<[]>} {}
// -----
// expected-error @+1 {{the size of a grid cannot be -1}}
module attributes {t.a = #wave.grid<[-1]>} {}
// -----
// expected-error @+1 {{a tile size is positive, not 0}}
module attributes {t.a = #wave.device<M, 0, 0>} {}
// -----
// expected-error @+1 {{an assumption is a predicate (eq ne lt le gt ge, and, or), not 'K + 1'}}
module attributes {t.a = #wave.assume<K + 1>} {}
// -----
// expected-error @+1 {{iterator i is in the mapping twice}}
module attributes {t.a = #wave.mapping<[M = i, N = i] -> [i]>} {}
// -----
// expected-error @+1 {{the iterator of a mapping is a symbol, not 'wg.x'}}
module attributes {t.a = #wave.mapping<[M = wg.x] -> [3]>} {}
// -----
// expected-error @+1 {{dim T is given twice}}
module attributes {t.a = #wave.mapping<[M = i] -> [d0], dynamic = [[T = i, T = 2]]>} {}
