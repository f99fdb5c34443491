"""Reads and writes at places that values in memory say: in chains, shared by several elements, with atomics."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from running import check
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.lang.global_symbols import SHARED_ADDRESS_SPACE as SHARED

K, M, N, G, R, S = tkl.sym.K, tkl.sym.M, tkl.sym.N, tkl.sym.G, tkl.sym.R, tkl.sym.S
BM, BN, SPACE = tkl.sym.BLOCK_M, tkl.sym.BLOCK_N, tkl.sym.SPACE
ROW, COL = tkw.IndexMapping.iterator(0), tkw.IndexMapping.iterator(1)
D0, D1 = tkw.IndexMapping.dynamic_val(0), tkw.IndexMapping.dynamic_val(1)
RNG = np.random.default_rng(31)


def ints(*shape: int, dtype=np.float32) -> np.ndarray:
    return RNG.integers(-9, 9, shape).astype(dtype)


def places(most: int, *shape: int) -> np.ndarray:
    return RNG.integers(0, most, shape).astype(np.int32)


def constraints(*more) -> list:
    return [
        tkw.WorkgroupConstraint(M, BM, 1),
        tkw.WorkgroupConstraint(N, BN, 0),
        tkw.HardwareConstraint(64, vector_shapes={M: 1, N: BN, G: 1}),
        *more,
    ]


@pytest.mark.parametrize("dtype", [(tkl.f32, np.float32), (tkl.f16, np.float16), (tkl.i8, np.int8)])
@pytest.mark.parametrize("space", [GLOBAL, SHARED], ids=["global", "shared"])
def test_chain(dtype, space) -> None:
    """A table of a table, of rows; then of columns."""
    rows = tkw.IndexMapping(1, inputs={R: D0}, outputs={M: ROW}, dynamic_val_mappings={M: ROW})
    both = tkw.IndexMapping(
        2, inputs={R: D0, S: D1}, outputs={M: ROW, N: COL}, dynamic_val_mappings=({M: ROW}, {N: COL})
    )

    @tkw.wave(constraints())
    def kernel(
        first: tkl.Memory[M, GLOBAL, tkl.i32],
        second: tkl.Memory[R, GLOBAL, tkl.i32],
        columns: tkl.Memory[N, GLOBAL, tkl.i32],
        a: tkl.Memory[R, S, SPACE, dtype[0]],
        c: tkl.Memory[M, N, GLOBAL, dtype[0]],
    ):
        row = tkw.read(second, mapping=rows, mapping_dynamic_vals=(tkw.read(first),))
        tkw.write(tkw.read(a, mapping=both, mapping_dynamic_vals=(row, tkw.read(columns))), c)

    first, second, columns = places(9, 6), places(9, 9), places(33, 70)
    a = ints(9, 33, dtype=dtype[1])
    want = a[second[first]][:, columns]
    args = [first, second, columns, a, np.zeros_like(want)]
    check(kernel, {M: 6, N: 70, R: 9, S: 33, BM: 2, BN: 64, SPACE: space}, args, {4: want})


@pytest.mark.parametrize("n", [64, 128, 250])
@pytest.mark.parametrize("group", [1, 2, 4])
def test_one_place_for_several_elements(n: int, group: int) -> None:
    """The value of a point is taken at a quotient of its position."""
    mapping = tkw.IndexMapping(
        2, inputs={R: D0, N: COL}, outputs={M: ROW, N: COL}, dynamic_val_mappings={M: ROW, G: COL // group}
    )

    @tkw.wave(constraints())
    def kernel(
        a: tkl.Memory[R, N, GLOBAL, tkl.f16],
        off: tkl.Memory[M, G, GLOBAL, tkl.i32],
        c: tkl.Memory[M, N, GLOBAL, tkl.f16],
    ):
        tkw.write(tkw.read(a, mapping=mapping, mapping_dynamic_vals=(tkw.read(off),)), c)

    a, off = ints(9, n, dtype=np.float16), places(9, 5, -(-n // group))
    want = np.take_along_axis(a, np.repeat(off, group, 1)[:, :n].astype(np.int64), 0)
    args = [a, off, np.zeros((5, n), np.float16)]
    check(kernel, {M: 5, N: n, R: 9, G: off.shape[1], BM: 1, BN: 256}, args, {2: want})


@pytest.mark.parametrize("group", [1, 4])
def test_scatter_in_groups(group: int) -> None:
    mapping = tkw.IndexMapping(
        2,
        inputs={M: ROW, N: COL},
        outputs={M: ROW, N: D0 + COL % group},
        dynamic_val_mappings={M: ROW, G: COL // group},
    )

    @tkw.wave(constraints())
    def kernel(
        a: tkl.Memory[M, N, GLOBAL, tkl.f16],
        off: tkl.Memory[M, G, GLOBAL, tkl.i32],
        c: tkl.Memory[M, N, GLOBAL, tkl.f16],
    ):
        tkw.write(tkw.read(a), c, mapping=mapping, mapping_dynamic_vals=(tkw.read(off) * group,))

    n = 128
    a = ints(5, n, dtype=np.float16)
    off = np.stack([RNG.permutation(n // group) for _ in range(5)]).astype(np.int32)
    where = (np.repeat(off * group, group, 1) + np.arange(n) % group).astype(np.int64)
    want = np.zeros_like(a)
    np.put_along_axis(want, where, a, 1)
    args = [a, off, np.zeros_like(a)]
    check(kernel, {M: 5, N: n, G: n // group, BM: 1, BN: 128}, args, {2: want})


@pytest.mark.parametrize(("n", "bits"), [(128, 128), (100, 64), (61, 16)])
def test_scattered_rows_leave_in_wide_stores(n: int, bits: int) -> None:
    """Lanes exchange their parts of the rows first, as wide as the length of a row lets stores be."""
    mapping = tkw.IndexMapping(2, inputs={M: ROW, N: COL}, outputs={R: D0, N: COL}, dynamic_val_mappings={M: ROW})

    @tkw.wave(
        [
            tkw.WorkgroupConstraint(M, 16, 1),
            tkw.WorkgroupConstraint(N, 64, 0),
            tkw.HardwareConstraint(64, vector_shapes={M: 1, N: 64}),
        ]
    )
    def kernel(
        to: tkl.Memory[M, GLOBAL, tkl.i32], a: tkl.Memory[M, N, GLOBAL, tkl.f16], c: tkl.Memory[R, N, GLOBAL, tkl.f16]
    ):
        tkw.write(tkw.read(a), c, mapping=mapping, mapping_dynamic_vals=(tkw.read(to),))

    to, a = RNG.permutation(40)[:29].astype(np.int32), ints(29, n, dtype=np.float16)
    to[3] = 40  # outside
    want = np.zeros((40, n), np.float16)
    want[to[to < 40]] = a[to < 40]
    made = check(kernel, {M: 29, N: n, R: 40}, [to, a, np.zeros_like(want)], {2: want})
    names = {128: "buffer_store_dwordx4", 64: "buffer_store_dwordx2", 16: "buffer_store_short"}
    stores = re.findall(r"buffer_store_\w+", made.isa)
    assert stores == [names[bits]] * (16 * 16 // bits)


def test_scattered_columns_leave_in_wide_stores() -> None:
    """The first dim of the tile is the contiguous one of the memory."""
    mapping = tkw.IndexMapping(2, inputs={M: ROW, N: COL}, outputs={R: D0, M: ROW}, dynamic_val_mappings={N: COL})

    @tkw.wave(
        [
            tkw.WorkgroupConstraint(M, 16, 1),
            tkw.WorkgroupConstraint(N, 64, 0),
            tkw.HardwareConstraint(64, vector_shapes={M: 4, N: 64}),
        ]
    )
    def kernel(
        to: tkl.Memory[N, GLOBAL, tkl.i32], a: tkl.Memory[M, N, GLOBAL, tkl.f16], c: tkl.Memory[R, M, GLOBAL, tkl.f16]
    ):
        tkw.write(tkw.read(a), c, mapping=mapping, mapping_dynamic_vals=(tkw.read(to),))

    to, a = RNG.permutation(90)[:70].astype(np.int32), ints(32, 70, dtype=np.float16)
    want = np.zeros((90, 32), np.float16)
    want[to] = a.T
    made = check(kernel, {M: 32, N: 70, R: 90}, [to, a, np.zeros_like(want)], {2: want})
    assert set(re.findall(r"buffer_store_\w+", made.isa)) == {"buffer_store_dwordx4"}


KINDS = {
    "i32": (tkl.i32, np.int32), "f32": (tkl.f32, np.float32), "f16": (tkl.f16, np.float16),
    "bf16": (tkl.bf16, ml_dtypes.bfloat16),
}  # fmt: skip


@pytest.mark.thin(5)
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("kind", ["add", "min"])
@pytest.mark.parametrize("lds", [False, True], ids=["global", "lds"])
def test_atomics(kind: str, name: str, lds: bool) -> None:
    """All rows meet in one; with LDS in the workgroup's own buffer first."""
    dtype, array = KINDS[name]
    first = 0 if kind == "add" else 7

    @tkw.wave(
        [
            tkw.WorkgroupConstraint(M, 4, 1),
            tkw.WorkgroupConstraint(N, 64, 0),
            tkw.WaveConstraint(M, 2),
            tkw.HardwareConstraint(64, vector_shapes={M: 1, N: 64}),
        ]
    )
    def kernel(a: tkl.Memory[M, N, GLOBAL, dtype], c: tkl.Memory[N, GLOBAL, dtype]):
        one = tkw.IndexMapping(2, inputs={M: ROW, N: COL}, outputs={N: COL})
        update = getattr(tkw, f"atomic_{kind}")
        if not lds:
            update(tkw.read(a), c, mapping=one)
            return
        buffer = tkw.allocate((N,), (64,), dtype, SHARED)
        tkw.write(tkl.Register[N, dtype](first), buffer)
        update(tkw.read(a), buffer, mapping=one)
        update(tkw.read(buffer), c)

    a = ints(7, 70, dtype=array)
    if kind == "add":
        want = (a.astype(np.float64).sum(0) + 3).astype(array)
    else:
        want = np.minimum(np.minimum(a.astype(np.float64).min(0), 3), 7 if lds else 99).astype(array)
    check(kernel, {M: 7, N: 70}, [a, np.full(70, 3, array)], {1: want})


def test_scatter_outside_is_dropped() -> None:
    mapping = tkw.IndexMapping(2, inputs={M: ROW, N: COL}, outputs={R: D0, N: COL}, dynamic_val_mappings={M: ROW})

    @tkw.wave(constraints())
    def kernel(
        to: tkl.Memory[M, GLOBAL, tkl.i32], a: tkl.Memory[M, N, GLOBAL, tkl.f32], c: tkl.Memory[R, N, GLOBAL, tkl.f32]
    ):
        tkw.write(tkw.read(a), c, mapping=mapping, mapping_dynamic_vals=(tkw.read(to),))

    to, a = np.array([3, -1, 0, 9, 4], np.int32), ints(5, 70)
    want = np.zeros((6, 70), np.float32)
    for row, place in enumerate(to):
        if 0 <= place < 6:
            want[place] = a[row]
    check(kernel, {M: 5, N: 70, R: 6, BM: 2, BN: 64}, [to, a, np.zeros_like(want)], {2: want})


@pytest.mark.parametrize("elements", [None, 1, 2, 4])
def test_convolution_like_windows(elements) -> None:
    """Quotients, remainders and sums of iterators in both coordinates."""

    @tkw.wave([*constraints(), tkw.TilingConstraint(K, 4)])
    def kernel(a: tkl.Memory[R, S, GLOBAL, tkl.f32], c: tkl.Memory[M, N, GLOBAL, tkl.f32]):
        window = tkw.IndexMapping(
            3,
            inputs={R: ROW // 4 + tkw.IndexMapping.iterator(2) // 3, S: COL + tkw.IndexMapping.iterator(2) % 3},
            outputs={M: ROW, N: COL, K: tkw.IndexMapping.iterator(2)},
        )

        @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
        def total(acc):
            return tkw.sum(tkw.read(a, mapping=window, elements_per_thread=elements), acc, dim=K)

        tkw.write(total, c)

    a = ints(5, 72)
    want = np.zeros((10, 70), np.float32)
    for i in range(10):
        for k in range(9):
            want[i] += a[i // 4 + k // 3, k % 3 : k % 3 + 70]
    check(kernel, {M: 10, N: 70, K: 9, R: 5, S: 72, BM: 2, BN: 128}, [a, np.zeros_like(want)], {1: want})
