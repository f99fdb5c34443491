// RUN: wave-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{unknown dim N; the tile's dims are [M, K]}}
module attributes {t.a = #wave.layout<[M = 4, K = 4], reg = [4 : N * 1]>} {}

// -----
// expected-error @+1 {{dim M is listed twice}}
module attributes {t.a = #wave.layout<[M = 4, M = 4], reg = [4 : M * 1]>} {}

// -----
// expected-error @+1 {{the extent of M is 0; it must be positive}}
module attributes {t.a = #wave.layout<[M = 0]>} {}

// -----
// expected-error @+1 {{the tile is too large: an extent is at most 2^24, a tile at most 2^40 elements}}
module attributes {t.a = #wave.layout<[M = 4611686018427387904, N = 4], reg = [4 : N * 1]>} {}

// -----
// expected-error @+1 {{a digit of lane has extent -4; it must be positive}}
module attributes {t.a = #wave.layout<[M = 4], lane = [-4 : M * 1]>} {}

// -----
// expected-error @+1 {{a digit of lane moves M by 0; a stride is at least 1 and at most 16777216 ('_' moves nothing)}}
module attributes {t.a = #wave.layout<[M = 4], lane = [4 : M * 0]>} {}

// -----
// expected-error @+1 {{the digits of reg count over 65536 values}}
module attributes {t.a = #wave.layout<[M = 4], reg = [4 : M * 1, 65536 : _]>} {}

// -----
// expected-error @+1 {{no place holds the element at M = 4 of a tile of 8; the digits of a dim must reach its whole extent}}
module attributes {t.a = #wave.layout<[M = 8], lane = [4 : M * 1]>} {}

// -----
// expected-error @+1 {{no place holds the element at M = 56 of a tile of 64; the digits of a dim must reach its whole extent}}
module attributes {t.a = #wave.layout<[M = 64], lane = [64 : M * 1], clip = [M = 56]>} {}

// -----
// expected-error @+1 {{two places hold the element at M = 1; only '_' digits may replicate}}
module attributes {t.a = #wave.layout<[M = 8], reg = [4 : M * 1], lane = [8 : M * 1]>} {}

// -----
// expected-error @+1 {{unknown source warp; expected reg, lane, wave.x, wave.y, wave.z or clip}}
module attributes {t.a = #wave.layout<[M = 8], warp = [8 : M * 1]>} {}

// -----
// expected-error @+1 {{reg is given twice}}
module attributes {t.a = #wave.layout<[M = 8], reg = [8 : M * 1], reg = [2 : _]>} {}

// -----
// expected-error @+1 {{the clip of M is 0; it must be positive}}
module attributes {t.a = #wave.layout<[M = 8], reg = [8 : M * 1], clip = [M = 0]>} {}

// -----
// expected-error @+1 {{the clip of M is given twice}}
module attributes {t.a = #wave.layout<[M = 8], reg = [8 : M * 1], clip = [M = 8, M = 4]>} {}

// -----
// expected-error @+1 {{the last extent must be a multiple of chunk * phases = 64, or the swizzle leaves the row}}
module attributes {t.a = #wave.lds_layout<[64, 32], swizzle = [chunk = 8, phases = 8]>} {}

// -----
// expected-error @+1 {{chunk and phases of a swizzle must be powers of two}}
module attributes {t.a = #wave.lds_layout<[64, 48], swizzle = [chunk = 8, phases = 6]>} {}

// -----
// expected-error @+1 {{pad = [p : n] needs positive p and n}}
module attributes {t.a = #wave.lds_layout<[64, 32], pad = [8 : 0]>} {}

// -----
// expected-error @+1 {{unknown clause shift; expected swizzle or pad}}
module attributes {t.a = #wave.lds_layout<[64, 32], shift = [8]>} {}

// -----
// expected-error @+1 {{unknown swizzle parameter shift; expected chunk, phases or rows}}
module attributes {t.a = #wave.lds_layout<[64, 64], swizzle = [chunk = 8, shift = 2]>} {}

// -----
// expected-error @+1 {{the digits of M count over 16777216 places}}
module attributes {t.a = #wave.layout<[M = 4], reg = [65536 : M * 1], lane = [65536 : M * 1]>} {}
