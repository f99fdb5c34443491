"""Constraints and symbols"""

from __future__ import annotations

import sympy
from catalogue import *


@mistake("the kernel has no HardwareConstraint; give one, such as HardwareConstraint(threads_per_wave=64)")
def no_hardware_constraint():
    """The hardware constraint is missing."""

    @tkw.wave([tkw.WorkgroupConstraint(M, 1, 0), tkw.WorkgroupConstraint(N, 64, 1)])  # <- here
    def double(x: X, y: X):
        tkw.write(tkw.read(x) * 2.0, y)

    compile_(double, {M: 4, N: 64})


@mistake(
    "this loop walks dim K, but no tiling constraint says in which steps; add #wave.tiling<K, tile> to the kernel's constraints (in Python: TilingConstraint(K, tile))"
)
def no_tiling_constraint():
    """A loop over a dim that no constraint tiles."""

    @tkw.wave([c for c in GEMM if not isinstance(c, tkw.TilingConstraint)])
    def gemm(a: A, b: BT, c: C):
        @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])  # <- here
        def loop(acc):
            return tkw.mma(tkw.read(a), tkw.read(b), acc)

        tkw.write(loop, c)

    compile_(gemm)


@mistake("dim M has two workgroup constraints; keep one")
def two_constraints_for_one_dim():
    """A dim with two workgroup constraints."""

    @tkw.wave([*ROWS, tkw.WorkgroupConstraint(M, 2, 2)])  # <- here
    def double(x: X, y: X):
        tkw.write(tkw.read(x) * 2.0, y)

    compile_(double, {M: 4, N: 64})


@mistake(
    "dims M and N are both distributed along grid dim x; give one of them another grid dim, or mark the one that rides along as 'secondary' (in Python: primary=False)"
)
def two_dims_on_one_grid_dim():
    """Two dims on one grid dim."""

    @tkw.wave([ROWS[0], tkw.WorkgroupConstraint(N, 64, 0), ROWS[2]])  # <- here
    def double(x: X, y: X):
        tkw.write(tkw.read(x) * 2.0, y)

    compile_(double, {M: 4, N: 64})


@mistake("symbol N has no value: bind it in subs={N: …} or list it in dynamic_symbols")
def unbound_symbol():
    """A symbol that has no value."""

    @tkw.wave(ROWS)
    def double(x: X, y: X):
        tkw.write(tkw.read(x) * 2.0, y)

    compile_(double, {M: 4})


@mistake("symbol BLOCK_K has no value: bind it in subs={BLOCK_K: …} or list it in dynamic_symbols")
def unbound_tile_size():
    """A tile size that has no value."""

    @tkw.wave(GEMM)
    def gemm(a: A, b: BT, c: C):
        @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
        def loop(acc):
            return tkw.mma(tkw.read(a), tkw.read(b), acc)

        tkw.write(loop, c)

    compile_(gemm, {M: 128, N: 128, K: 64, BM: 64, BN: 64})


@mistake("the symbols M, N are defined by each other; give one of them a value")
def circular_substitution():
    """Symbols defined by each other."""

    @tkw.wave(ROWS)
    def double(x: X, y: X):
        tkw.write(tkw.read(x) * 2.0, y)

    compile_(double, {M: N, N: M})


@mistake("symbol M is in subs (M = 4) and among the dynamic symbols; drop one")
def dynamic_and_bound():
    """A symbol that is dynamic and has a value too."""

    @tkw.wave(ROWS)
    def double(x: X, y: X):
        tkw.write(tkw.read(x) * 2.0, y)

    compile_(double, {M: 4, N: 64}, dynamic=[M])


@mistake(
    "the tile of dim M is BLOCK_M, which is known at run time only (BLOCK_M); bind it in 'symbols {…}' (in Python: subs)"
)
def dynamic_tile_size():
    """A tile size that is decided at run time."""

    @tkw.wave([tkw.WorkgroupConstraint(M, BM, 0), *ROWS[1:]])
    def double(x: X, y: X):
        tkw.write(tkw.read(x) * 2.0, y)

    compile_(double, {M: 4, N: 64}, dynamic=[BM])


@mistake(
    "the wave's tile of dim M is BLOCK_M floordiv 2, which is 0; the workgroup's has 1 elements: use fewer waves or a larger tile"
)
def tile_smaller_than_waves():
    """Waves get less than one MMA tile each."""

    @tkw.wave(GEMM)
    def gemm(a: A, b: BT, c: C):
        @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
        def loop(acc):
            return tkw.mma(tkw.read(a), tkw.read(b), acc)

        tkw.write(loop, c)

    compile_(gemm, {**SIZES, BM: 1})


@mistake(
    "the workgroup's tile of dim M has 64 elements, which waves of 48 do not divide; choose tiles so that the wave's divides the workgroup's"
)
def tile_not_divisible_by_waves():
    """A workgroup's tile that does not divide among its waves."""

    @tkw.wave([tkw.WaveConstraint(M, 48) if c is GEMM[3] else c for c in GEMM])  # <- here
    def gemm(a: A, b: BT, c: C):
        @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
        def loop(acc):
            return tkw.mma(tkw.read(a), tkw.read(b), acc)

        tkw.write(loop, c)

    compile_(gemm)


@mistake(
    "dim N is divided among waves but no workgroup constraint says along which block dim; write #wave.wave<N, 64, x>"
)
def wave_constraint_without_workgroup():
    """A wave constraint of a dim that has no workgroup constraint."""

    @tkw.wave([ROWS[0], tkw.WaveConstraint(N, 64), ROWS[2]])  # <- here
    def double(x: X, y: X):
        tkw.write(tkw.read(x) * 2.0, y)

    compile_(double, {M: 4, N: 128})


@mistake("threads_per_wave = 32, but waves of gfx942 have 64 lanes; write threads_per_wave = 64")
def threads_per_wave_of_another_target():
    """A wave size that the target does not have."""

    @tkw.wave([*ROWS[:2], tkw.HardwareConstraint(threads_per_wave=32, vector_shapes={M: 1, N: 64})])  # <- here
    def double(x: X, y: X):
        tkw.write(tkw.read(x) * 2.0, y)

    compile_(double, {M: 4, N: 64})


@mistake(
    "mma: gfx942 has no MMA kind 'f32_16x16x32_f16' (gfx950 has it); its kinds for f16: f32_16x16x16_f16, f32_32x32x8_f16, f32_16x16x32_k8_f16, f32_32x32x16_k8_f16"
)
def mma_of_another_target():
    """An MMA kind that the target does not have."""

    @tkw.wave([*GEMM[:-1], tkw.HardwareConstraint(64, mma_type=MMAType.F32_16x16x32_F16)])
    def gemm(a: A, b: BT, c: C):
        @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
        def loop(acc):
            return tkw.mma(tkw.read(a), tkw.read(b), acc)

        tkw.write(loop, c)

    compile_(gemm)


@mistake(
    "vector_shapes says M = 8, but MMA kind f32_16x16x16_f16 covers 16 elements of M; leave M out of vector_shapes or make it a multiple of 16"
)
def vector_shapes_against_mma():
    """vector_shapes contradict the shape of the MMA."""

    @tkw.wave([*GEMM[:-1], tkw.HardwareConstraint(64, mma_type=F16, vector_shapes={M: 8, N: 16, K: 16})])
    def gemm(a: A, b: BT, c: C):
        @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
        def loop(acc):
            return tkw.mma(tkw.read(a), tkw.read(b), acc)

        tkw.write(loop, c)

    compile_(gemm)


@mistake(
    "kernel 'gemm' needs 262144 bytes of LDS and gfx942 has 65536 a workgroup; use smaller tiles or keep an operand out of shared space"
)
def shared_memory_over_the_limit():
    """Tiles that do not fit into the workgroup's memory."""

    @tkw.wave(GEMM)
    def gemm(a: A, b: BT, c: C):
        @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
        def loop(acc):
            return tkw.mma(tkw.read(a), tkw.read(b), acc)

        tkw.write(loop, c)

    compile_(gemm, {M: 512, N: 512, K: 1024, BM: 128, BN: 128, BK: 512})


@mistake("unknown target 'gfx999'; known: gfx90a, gfx942, gfx950, gfx1201; did you mean gfx950?")
def unknown_target():
    """A target that does not exist."""

    @tkw.wave(ROWS)
    def double(x: X, y: X):
        tkw.write(tkw.read(x) * 2.0, y)

    compile_(double, {M: 4, N: 64}, target="gfx999")


@mistake("WaveCompileOptions has no option 'use_bufer_ops'; did you mean 'use_buffer_ops'?")
def unknown_option():
    """A misspelt option."""

    @tkw.wave(ROWS)
    def double(x: X, y: X):
        tkw.write(tkw.read(x) * 2.0, y)

    compile_(double, {M: 4, N: 64}, use_bufer_ops=True)


@mistake("wave_compile(options, kernel) takes a function decorated by tkw.wave(…); double is none")
def function_that_is_no_kernel():
    """A function without the decorator."""

    def double(x: X, y: X):
        tkw.write(tkw.read(x) * 2.0, y)

    compile_(double, {M: 4, N: 64})


@mistake("WorkgroupConstraint: sqrt(BLOCK_M): an exponent must be an integer from 0 to 16")
def expression_without_a_meaning():
    """An index expression that is no integer arithmetic."""

    @tkw.wave([tkw.WorkgroupConstraint(M, sympy.sqrt(BM), 0), *ROWS[1:]])  # <- here
    def double(x: X, y: X):
        tkw.write(tkw.read(x) * 2.0, y)

    compile_(double, {M: 4, N: 64, BM: 4})


@mistake("mma: mma_type is one kind such as MMAType.F32_16x16x16_F16, not ")
def two_mma_kinds():
    """Two MMA kinds in the hardware constraint, and an MMA that names none."""

    @tkw.wave([*GEMM[:-1], tkw.HardwareConstraint(64, mma_type=(F16, F16))])
    def gemm(a: A, b: BT, c: C):
        @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
        def loop(acc):
            return tkw.mma(tkw.read(a), tkw.read(b), acc)  # <- here

        tkw.write(loop, c)

    compile_(gemm)


@mistake(
    "the remapped id wg.x floordiv 4 * 4 + wg.x mod 4 * 3 is from 0 to 9 on the grid 6 x 1 x 1, outside of 0 to 5; reorderings must be a bijection of the grid [6, 1, 1]"
)
def remap_that_leaves_the_grid():
    """Workgroups that a remap sends outside of the grid, so that tiles are never computed."""

    number = WORKGROUP_0

    @tkw.wave([*ROWS, tkw.ReorderingConstraint(number // 4 * 4 + number % 4 * 3, 0)])  # <- here
    def double(x: X, y: X):
        tkw.write(tkw.read(x) * 2.0, y)

    compile_(double, {M: 6, N: 64})
