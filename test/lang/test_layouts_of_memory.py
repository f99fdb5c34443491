"""MemoryLayout: extents of the tensor that are not those of the dims; dims of one element; accesses with bounds."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from running import check
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.lang.global_symbols import WORKGROUP_1
from wave_mlir.wave.compile import WaveCompileOptions, wave_compile

M, N, S, T = tkl.sym.M, tkl.sym.N, tkl.sym.S, tkl.sym.T
START = tkl.sym.START
ROW, COL, D0 = tkw.IndexMapping.iterator(0), tkw.IndexMapping.iterator(1), tkw.IndexMapping.dynamic_val(0)
RNG = np.random.default_rng(9)


@pytest.mark.parametrize("rows", [None, 12])
def test_rows_of_all_sequences(rows: int | None) -> None:
    """The dim is a sequence's and set in the kernel; the tensor has the rows of all sequences."""
    layout = tkl.MemoryLayout(shape=[rows, 64])
    rows_of = tkw.IndexMapping(2, {M: ROW + START, N: COL}, {M: ROW, N: COL})
    rows_to = tkw.IndexMapping(2, {M: ROW, N: COL}, {M: ROW + START, N: COL})

    @tkw.wave(
        [
            tkw.WorkgroupConstraint(M, 4, 0, iters=2),
            tkw.WorkgroupConstraint(S, 1, 1),
            tkw.HardwareConstraint(64, vector_shapes={S: 0, M: 1, N: 64}),
        ]
    )
    def kernel(
        start: tkl.Memory[S, GLOBAL, tkl.i32],
        length: tkl.Memory[S, GLOBAL, tkl.i32],
        x: tkl.Memory[M, N, GLOBAL, tkl.f32, layout],
        y: tkl.Memory[M, N, GLOBAL, tkl.f32, layout],
    ):
        tkw.set_symbol(START, tkw.read(start))
        tkw.set_symbol(M, tkw.read(length))
        tkw.write(tkw.read(x, mapping=rows_of) + 1.0, y, mapping=rows_to)

    start, length = np.array([0, 1, 6], np.int32), np.array([1, 5, 4], np.int32)
    x = RNG.integers(-9, 9, (12, 64)).astype(np.float32)
    want = np.where(np.arange(12)[:, None] < 10, x + 1, 0)
    check(kernel, {S: 3, N: 64}, [start, length, x, np.zeros_like(x)], {3: want})


def test_table_longer_than_the_dim() -> None:
    """What a table has beyond its dim can be looked up; what is written is bounded by the dim."""
    lookup = tkw.IndexMapping(1, {T: D0}, {T: ROW}, dynamic_val_mappings={T: ROW})

    @tkw.wave([tkw.WorkgroupConstraint(T, 64, 0), tkw.HardwareConstraint(64, vector_shapes={T: 64})])
    def kernel(
        at: tkl.Memory[T, GLOBAL, tkl.i32],
        table: tkl.Memory[T, GLOBAL, tkl.f32, tkl.MemoryLayout(shape=[37])],
        looked: tkl.Memory[T, GLOBAL, tkl.f32, tkl.MemoryLayout(shape=[40])],
    ):
        tkw.write(tkw.read(table, mapping=lookup, mapping_dynamic_vals=(tkw.read(at),)), looked)

    at = RNG.integers(0, 37, 20).astype(np.int32)
    at[:4] = [36, 35, 20, 19]
    table, out = RNG.integers(-9, 9, 37).astype(np.float32), np.full(40, 7, np.float32)
    check(kernel, {T: 20}, [at, table, out[:20]], {2: table[at]})
    made = wave_compile(WaveCompileOptions(subs={T: 20}, target="gfx942"), kernel)
    made(at, table, out[:20])
    assert (out[:20] == table[at]).all() and (out[20:] == 7).all()


def test_elements_chosen_by_negative_numbers() -> None:
    """A dynamic value has any sign: what is taken for -1 is decided in the mapping."""
    taken = sympy.Piecewise((D0, D0 >= 0), (T - 1, True))
    lookup = tkw.IndexMapping(1, {T: taken}, {T: ROW}, dynamic_val_mappings={T: ROW})

    @tkw.wave([tkw.WorkgroupConstraint(T, 64, 0), tkw.HardwareConstraint(64, vector_shapes={T: 64})])
    def kernel(
        at: tkl.Memory[T, GLOBAL, tkl.i32], x: tkl.Memory[T, GLOBAL, tkl.f32], y: tkl.Memory[T, GLOBAL, tkl.f32]
    ):
        tkw.write(tkw.read(x, mapping=lookup, mapping_dynamic_vals=(tkw.read(at),)), y)

    at = np.tile([-1, 3, 0, 7, -5], 4).astype(np.int32)
    x = RNG.integers(-9, 9, 20).astype(np.float32)
    check(kernel, {T: 20}, [at, x, np.zeros_like(x)], {2: x[np.where(at >= 0, at, 19)]})


def test_tensor_smaller_than_the_dim() -> None:
    """A table that positions of a longer dim look into; beyond it they read 0. A plain read takes the dims in order."""
    lookup = tkw.IndexMapping(2, {M: ROW, T: D0}, {M: ROW, T: COL}, dynamic_val_mappings={M: ROW, T: COL})

    @tkw.wave([tkw.WorkgroupConstraint(M, 1, 0), tkw.HardwareConstraint(64, vector_shapes={M: 0, T: 64})])
    def kernel(
        at: tkl.Memory[T, GLOBAL, tkl.i32],
        table: tkl.Memory[T, GLOBAL, tkl.f32, tkl.MemoryLayout(shape=[17])],
        looked: tkl.Memory[M, T, GLOBAL, tkl.f32],
        plain: tkl.Memory[M, T, GLOBAL, tkl.f32],
    ):
        found = tkw.read(table, mapping=lookup, mapping_dynamic_vals=(tkw.read(at),))
        tkw.write(tkw.broadcast(found, [M, T]), looked)
        tkw.write(tkw.broadcast(tkw.read(table), [M, T]), plain)

    at = RNG.integers(0, 30, 64).astype(np.int32)
    table = RNG.standard_normal(17).astype(np.float32)
    padded = np.concatenate([table, np.zeros(64, np.float32)])
    want = {2: np.tile(padded[at], (2, 1)), 3: np.tile(padded[:64], (2, 1))}
    check(kernel, {M: 2, T: 64}, [at, table, np.zeros((2, 64), np.float32), np.zeros((2, 64), np.float32)], want)


def test_dims_of_one_element_are_joined() -> None:
    """[M, N] and [S, M] have no dim in common that one of them has all of; S has one element a trip."""

    @tkw.wave(
        [
            tkw.WorkgroupConstraint(M, 4, 0),
            tkw.TilingConstraint(S, 1),
            tkw.HardwareConstraint(64, vector_shapes={S: 0, M: 1, N: 64}),
        ]
    )
    def kernel(
        scale: tkl.Memory[S, M, GLOBAL, tkl.f32],
        x: tkl.Memory[M, N, GLOBAL, tkl.f32],
        out: tkl.Memory[M, N, GLOBAL, tkl.f32],
    ):
        @tkw.iterate(S, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
        def loop(acc):
            return acc + tkw.read(x) * tkw.read(scale)

        tkw.write(loop, out)

    scale = RNG.integers(-4, 4, (3, 8)).astype(np.float32)
    x = RNG.integers(-9, 9, (8, 64)).astype(np.float32)
    want = {2: x * scale.sum(0)[:, None]}
    check(kernel, {M: 8, N: 64, S: 3}, [scale, x, np.zeros_like(x)], want)


def test_dim_that_rides_on_a_grid_dim_of_another() -> None:
    """A head of keys is shared by query heads: its dim has their positions, and the mapping says where it is."""
    heads, shared = tkl.sym.H, tkl.sym.H_KV
    share = tkw.IndexMapping(2, {shared: ROW // 3, N: COL}, {shared: ROW, N: COL})

    @tkw.wave(
        [
            tkw.WorkgroupConstraint(heads, 1, 0),
            tkw.WorkgroupConstraint(shared, 1, 0, primary=False),
            tkw.HardwareConstraint(64, vector_shapes={heads: 0, shared: 0, N: 64}),
        ]
    )
    def kernel(
        x: tkl.Memory[heads, N, GLOBAL, tkl.f32],
        k: tkl.Memory[shared, N, GLOBAL, tkl.f32],
        own: tkl.Memory[heads, N, GLOBAL, tkl.f32],
        direct: tkl.Memory[heads, N, GLOBAL, tkl.f32],
    ):
        tkw.write(tkw.read(x) + tkw.sum(tkw.read(k, mapping=share), dim=shared), own)
        tkw.write(tkw.read(x) + tkw.sum(tkw.read(k), dim=shared), direct)

    x, k = (RNG.integers(-9, 9, (n, 64)).astype(np.float32) for n in (6, 2))
    beyond = np.concatenate([k, np.zeros((4, 64), np.float32)])
    outputs = [np.zeros_like(x), np.zeros_like(x)]
    check(kernel, {heads: 6, shared: 2, N: 64}, [x, k, *outputs], {2: x + np.repeat(k, 3, 0), 3: x + beyond})


def test_symbol_bound_to_a_workgroup_position() -> None:
    """A name for an expression of the workgroup's position; four grid dims are folded into three."""
    group, first = tkl.sym.GROUP, tkl.sym.FIRST

    @tkw.wave(
        [
            tkw.WorkgroupConstraint(N, 64, 0),
            tkw.WorkgroupConstraint(M, 4, 1),
            tkw.WorkgroupConstraint(S, 1, 2),
            tkw.WorkgroupConstraint(T, 1, 3),
            tkw.HardwareConstraint(64, vector_shapes={T: 0, S: 0, M: 1, N: 64}),
        ]
    )
    def kernel(out: tkl.Memory[T, S, M, N, GLOBAL, tkl.i32]):
        number = tkw.apply_expr(tkw.self_index(M, tkl.i32), lambda m: first + m * 0 + tkl.sym.ONE)
        tkw.write(tkw.broadcast(tkw.cast(number, tkl.i32), [T, S, M, N]), out)

    subs = {N: 64, M: 8, S: 3, T: 2, tkl.sym.ONE: 1, group: WORKGROUP_1, first: group * 4}
    want = np.broadcast_to((np.arange(8) // 4 * 4 + 1)[:, None], (2, 3, 8, 64))
    check(kernel, subs, [np.zeros((2, 3, 8, 64), np.int32)], {0: want})


def test_iterators_of_dims_that_are_expressions() -> None:
    """A convolution along one dim as a GEMM, rows of outputs by columns of (tap, channel); the default MMA kind."""
    b, w, c, taps, f, out_w = (getattr(tkl.sym, n) for n in ("B", "W", "C", "TAPS", "F", "OUT_W"))
    m, k, n = tkl.sym.m, tkl.sym.k, tkl.sym.n
    rows, columns = b * (w - taps + 1), taps * c

    @tkw.wave(
        [
            tkw.WorkgroupConstraint(rows, 32, 0),
            tkw.WorkgroupConstraint(f, 32, 1),
            tkw.TilingConstraint(columns, 16),
            tkw.HardwareConstraint(64),
            tkw.IteratorBindings({m: rows, k: columns, n: f}),
        ]
    )
    def conv(
        x: tkl.Memory[b, w, c, GLOBAL, tkl.f16],
        we: tkl.Memory[f, taps, c, GLOBAL, tkl.f16],
        out: tkl.Memory[b, out_w, f, GLOBAL, tkl.f32],
    ):
        @tkw.iterate(columns, init_args=[tkl.Register[rows, f, tkl.f32](0.0)])
        def loop(acc):
            taken = tkw.read(x, source=(m // out_w, m % out_w + k // c, k % c), target=(m, k))
            return tkw.mma(taken, tkw.read(we, source=(n, k // c, k % c), target=(n, k)), acc)

        tkw.write(loop, out, source=(m, n), target=(m // out_w, m % out_w, n))

    x = RNG.integers(-3, 3, (3, 11, 8)).astype(np.float16)
    we = RNG.integers(-3, 3, (20, 4, 8)).astype(np.float16)
    windows = np.lib.stride_tricks.sliding_window_view(x.astype(np.float32), 4, axis=1)
    want = np.einsum("bwct,ftc->bwf", windows, we.astype(np.float32))
    subs = {b: 3, w: 11, c: 8, taps: 4, f: 20, out_w: 8}
    check(conv, subs, [x, we, np.zeros_like(want)], {2: want})


@pytest.mark.parametrize("bound", [3, 64, 0])
def test_read_with_bounds(bound: int) -> None:
    @tkw.wave([tkw.WorkgroupConstraint(M, 1, 0), tkw.HardwareConstraint(64, vector_shapes={M: 0, N: 64})])
    def kernel(x: tkl.Memory[M, N, GLOBAL, tkl.f16], y: tkl.Memory[M, N, GLOBAL, tkl.f16]):
        tkw.write(tkw.read(x, bounds={N: bound}, tag="load"), y, tag="store")

    x = RNG.standard_normal((2, 64)).astype(np.float16)
    want = np.where(np.arange(64) < bound, x, 0)
    made = check(kernel, {M: 2, N: 64}, [x, np.zeros_like(x)], {1: want})
    assert '"load"' in made.ir("tile") and '"store"' in made.ir("tile")


def test_layout_of_another_rank() -> None:
    @tkw.wave([tkw.WorkgroupConstraint(M, 1, 0), tkw.HardwareConstraint(64, vector_shapes={M: 0, N: 64})])
    def kernel(x: tkl.Memory[M, N, GLOBAL, tkl.f16, tkl.MemoryLayout(shape=[64])]):
        tkw.write(tkw.read(x), x)

    with pytest.raises(tkw.CompileError, match="argument x has 2 dims and its MemoryLayout 1"):
        wave_compile(WaveCompileOptions(subs={M: 2, N: 64}), kernel)
