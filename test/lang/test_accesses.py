"""Gathers, scatters, atomics, set symbols, conditionals, while loops."""

from __future__ import annotations

import numpy as np
import pytest
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from running import check
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.lang.global_symbols import WORKGROUP_0

M, N, R, S, T = tkl.sym.M, tkl.sym.N, tkl.sym.R, tkl.sym.S, tkl.sym.T
BM, BN, BT = tkl.sym.BLOCK_M, tkl.sym.BLOCK_N, tkl.sym.BLOCK_T
RNG = np.random.default_rng(5)
ROW, COL, D0 = tkw.IndexMapping.iterator(0), tkw.IndexMapping.iterator(1), tkw.IndexMapping.dynamic_val(0)


def constraints(rows: int = 1) -> list:
    return [
        tkw.WorkgroupConstraint(M, BM, 0),
        tkw.WorkgroupConstraint(N, BN, 1),
        tkw.HardwareConstraint(64, vector_shapes={M: rows, N: BN}),
    ]


@pytest.mark.parametrize("n", [64, 256, 70])
@pytest.mark.parametrize("rows", [1, 4])
def test_gather_columns(n: int, rows: int) -> None:
    """Each element of a wide access is where its own dynamic value says."""
    mapping = tkw.IndexMapping(
        2, inputs={R: ROW, N: D0}, outputs={M: ROW, N: COL}, dynamic_val_mappings={M: ROW, N: COL}
    )

    @tkw.wave(constraints(rows))
    def kernel(
        idx: tkl.Memory[M, N, GLOBAL, tkl.i32],
        x: tkl.Memory[R, N, GLOBAL, tkl.f32],
        c: tkl.Memory[M, N, GLOBAL, tkl.f32],
    ):
        tkw.write(tkw.read(x, mapping=mapping, mapping_dynamic_vals=(tkw.read(idx),)), c)

    idx = RNG.integers(0, n, (16, n)).astype(np.int32)
    x = RNG.integers(-99, 99, (16, n)).astype(np.float32)
    want = np.take_along_axis(x, idx.astype(np.int64), 1)
    check(kernel, {M: 16, N: n, R: 16, BM: 4, BN: 256}, [idx, x, np.zeros_like(x)], {2: want})


def test_gather_outside_reads_zero() -> None:
    mapping = tkw.IndexMapping(2, inputs={R: D0, N: COL}, outputs={M: ROW, N: COL}, dynamic_val_mappings={M: ROW})

    @tkw.wave(constraints())
    def kernel(
        idx: tkl.Memory[M, GLOBAL, tkl.i32],
        x: tkl.Memory[R, N, GLOBAL, tkl.f32],
        c: tkl.Memory[M, N, GLOBAL, tkl.f32],
    ):
        tkw.write(tkw.read(x, mapping=mapping, mapping_dynamic_vals=(tkw.read(idx),)), c)

    idx = np.array([0, 5, -1, 6, 3, 100, 2, -7], np.int32)
    x = RNG.integers(1, 99, (6, 64)).astype(np.float32)
    inside = (idx >= 0) & (idx < 6)
    want = np.where(inside[:, None], x[np.where(inside, idx, 0)], 0)
    check(kernel, {M: 8, N: 64, R: 6, BM: 4, BN: 64}, [idx, x, np.full((8, 64), 7, np.float32)], {2: want})


@pytest.mark.parametrize("n", [64, 256])
def test_scatter_columns(n: int) -> None:
    mapping = tkw.IndexMapping(
        2, inputs={M: ROW, N: COL}, outputs={M: ROW, N: D0}, dynamic_val_mappings={M: ROW, N: COL}
    )

    @tkw.wave(constraints())
    def kernel(
        idx: tkl.Memory[M, N, GLOBAL, tkl.i32],
        x: tkl.Memory[M, N, GLOBAL, tkl.f32],
        c: tkl.Memory[M, N, GLOBAL, tkl.f32],
    ):
        tkw.write(tkw.read(x), c, mapping=mapping, mapping_dynamic_vals=(tkw.read(idx),))

    idx = np.stack([RNG.permutation(n) for _ in range(8)]).astype(np.int32)
    x = RNG.integers(-99, 99, (8, n)).astype(np.float32)
    want = np.zeros_like(x)
    np.put_along_axis(want, idx.astype(np.int64), x, 1)
    check(kernel, {M: 8, N: n, BM: 4, BN: n}, [idx, x, np.zeros_like(x)], {2: want})


@pytest.mark.parametrize(("dtype", "array"), [(tkl.f32, np.float32), (tkl.i32, np.int32), (tkl.f16, np.float16)])
@pytest.mark.parametrize("kind", ["add", "min"])
def test_atomics(kind: str, dtype, array) -> None:
    @tkw.wave(constraints())
    def kernel(a: tkl.Memory[M, N, GLOBAL, dtype], c: tkl.Memory[N, GLOBAL, dtype]):
        reduce = {"add": tkw.sum, "min": tkw.min}[kind]
        getattr(tkw, f"atomic_{kind}")(reduce(tkw.read(a), dim=M), c)

    a = RNG.integers(1, 9, (13, 70)).astype(array)
    want = (a.sum(0) + 5 if kind == "add" else np.minimum(a.min(0), 5)).astype(array)
    check(kernel, {M: 13, N: 70, BM: 4, BN: 64}, [a, np.full(70, 5, array)], {1: want})


def test_conditional() -> None:
    @tkw.wave(constraints())
    def kernel(a: tkl.Memory[M, N, GLOBAL, tkl.f32], c: tkl.Memory[M, N, GLOBAL, tkl.f32]):
        x = tkw.read(a)

        @tkw.conditional(WORKGROUP_0 < 2)
        def store():
            tkw.write(x + 1, c)

    a = RNG.integers(-9, 9, (13, 70)).astype(np.float32)
    want = np.zeros_like(a)
    want[:8] = a[:8] + 1
    check(kernel, {M: 13, N: 70, BM: 4, BN: 64}, [a, np.zeros_like(a)], {1: want})


def test_conditional_with_results() -> None:
    @tkw.wave(constraints())
    def kernel(a: tkl.Memory[M, N, GLOBAL, tkl.f32], c: tkl.Memory[M, N, GLOBAL, tkl.f32], n: tkl.i32):
        x = tkw.read(a)

        @tkw.conditional(n > 3, else_return=x)
        def value():
            return x * 2

        tkw.write(value, c)

    a = RNG.integers(-9, 9, (13, 70)).astype(np.float32)
    for n, want in ((2, a), (7, a * 2)):
        check(kernel, {M: 13, N: 70, BM: 4, BN: 64}, [a, np.zeros_like(a), n], {1: want})


def test_length_decided_at_run_time() -> None:
    rows = tkw.IndexMapping(2, inputs={R: D0, N: COL}, outputs={T: ROW, N: COL}, dynamic_val_mappings={T: ROW})

    @tkw.wave(
        [
            tkw.WorkgroupConstraint(S, 1, 0),
            tkw.TilingConstraint(T, BT),
            tkw.HardwareConstraint(64, vector_shapes={S: 0, T: 1, N: 64}),
        ]
    )
    def kernel(
        length: tkl.Memory[S, GLOBAL, tkl.i32],
        table: tkl.Memory[T, GLOBAL, tkl.i32],
        x: tkl.Memory[R, N, GLOBAL, tkl.f32],
        out: tkl.Memory[S, N, GLOBAL, tkl.f32],
    ):
        tkw.set_symbol(T, tkw.read(length))

        @tkw.iterate(T, init_args=[tkl.Register[S, N, tkl.f32](0.0)])
        def total(acc):
            return tkw.sum(tkw.read(x, mapping=rows, mapping_dynamic_vals=(tkw.read(table),)), acc, dim=T)

        @tkw.conditional(T > 0)
        def store():
            tkw.write(total, out)

    length = np.array([0, 1, 7, 20], np.int32)
    table = RNG.integers(0, 30, 64).astype(np.int32)
    x = RNG.integers(-9, 9, (30, 64)).astype(np.float32)
    want = np.stack([x[table[:n]].sum(0) for n in length])
    want[0] = 5  # nothing is stored for length 0
    check(kernel, {S: 4, R: 30, N: 64, BT: 4}, [length, table, x, np.full((4, 64), 5, np.float32)], {3: want})


@pytest.mark.parametrize("end", [0, 2, 3, 9])
def test_while(end: int) -> None:
    AXIS, END = tkl.sym.AXIS, tkl.sym.END

    @tkw.wave([*constraints(), tkw.TilingConstraint(AXIS)])
    def kernel(a: tkl.Memory[M, N, GLOBAL, tkl.f32], c: tkl.Memory[M, N, GLOBAL, tkl.f32], n: tkl.i32):
        tkw.set_symbol(END, n)

        @tkw.iterate(AXIS, start=tkw.scalar(2, tkl.i32), condition=AXIS < END, init_args=[tkw.read(a)])
        def loop(x):
            tkw.set_symbol(AXIS, AXIS + 3)
            return x + 1

        tkw.write(loop, c)

    a = RNG.integers(-9, 9, (13, 70)).astype(np.float32)
    trips = len(range(2, end, 3))
    check(kernel, {M: 13, N: 70, BM: 4, BN: 64}, [a, np.zeros_like(a), end], {1: a + trips})
