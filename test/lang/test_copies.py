"""Copies of every dtype, shape and division of a tile, with sizes known at compile time or not."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest
import sympy
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from running import check
from wave_mlir import sim
from wave_mlir.compiler import driver
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.lang.global_symbols import SHARED_ADDRESS_SPACE as SHARED
from wave_mlir.passes.pipelines import PipelineOptions

B, M, N, E, SPACE = tkl.sym.B, tkl.sym.M, tkl.sym.N, tkl.sym.E, tkl.sym.SPACE
BM, BN = tkl.sym.BLOCK_M, tkl.sym.BLOCK_N
DTYPES = {
    "f64": (tkl.f64, np.float64), "f32": (tkl.f32, np.float32), "f16": (tkl.f16, np.float16),
    "bf16": (tkl.bf16, ml_dtypes.bfloat16), "f8": (tkl.f8e4m3fnuz, ml_dtypes.float8_e4m3fnuz),
    "bf8": (tkl.f8e5m2fnuz, ml_dtypes.float8_e5m2fnuz), "ocp": (tkl.f8e4m3fn, ml_dtypes.float8_e4m3fn),
    "i64": (tkl.i64, np.int64), "i32": (tkl.i32, np.int32), "i16": (tkl.i16, np.int16), "i8": (tkl.i8, np.int8),
    "bool": (tkl.bool, np.bool_),
}  # fmt: skip


def data(shape: tuple[int, ...], array) -> np.ndarray:
    values = np.random.default_rng(len(shape)).integers(0, 2 if array is np.bool_ else 90, shape)
    return values.astype(np.uint8).view(array) if np.dtype(array).itemsize == 1 else values.astype(array)


CASES = [
    # shape, tile, waves, elements_per_thread, space
    ((1, 27), (1, 64), (1, 1), None, GLOBAL),
    ((111, 81), (1, 256), (1, 1), None, GLOBAL),
    ((1, 128), (1, 128), (1, 1), 2, GLOBAL),
    ((9, 300), (4, 256), (2, 2), None, SHARED),
    ((33, 40), (8, 64), (4, 1), 1, SHARED),
    ((5, 1024), (1, 1024), (1, 4), 4, GLOBAL),
    ((17, 33), (16, 16), (1, 1), None, SHARED),
]


@pytest.mark.thin(7)
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("number", range(len(CASES)))
def test_rows(number: int, dynamic: bool) -> None:
    shape, tile, waves, elements, space = CASES[number]
    names = list(DTYPES)
    for name in (names[(2 * number + dynamic) % len(names)], names[(2 * number + 5 + dynamic) % len(names)]):
        dtype, array = DTYPES[name]

        @tkw.wave(
            [
                tkw.WorkgroupConstraint(M, BM, 1),
                tkw.WorkgroupConstraint(N, BN, 0),
                tkw.WaveConstraint(M, BM / waves[0]),
                tkw.WaveConstraint(N, BN / waves[1]),
                tkw.HardwareConstraint(64, vector_shapes={M: 1, N: BN / waves[1]}),
            ]
        )
        def kernel(a: tkl.Memory[M, N, SPACE, dtype], c: tkl.Memory[M, N, GLOBAL, dtype]):
            tkw.write(tkw.read(a, elements_per_thread=elements), c, elements_per_thread=elements)

        a = data(shape, array)
        subs = {BM: tile[0], BN: tile[1], SPACE: space} | ({} if dynamic else {M: shape[0], N: shape[1]})
        check(kernel, subs, [a, np.zeros_like(a)], {1: a}, dynamic=[M, N] if dynamic else [])


@pytest.mark.parametrize("shape", [(3, 5, 70), (2, 64, 64), (1, 1, 1)])
@pytest.mark.parametrize("batch", [0, 1])
def test_batches(shape: tuple[int, int, int], batch: int) -> None:
    """Three dims; one of them whole, in registers."""

    @tkw.wave(
        [
            tkw.WorkgroupConstraint(M, 8, 1),
            tkw.WorkgroupConstraint(N, sympy.Max(sympy.Min(N, 256), 64), 0),
            tkw.HardwareConstraint(64, vector_shapes={B: batch, M: 1, N: 64}),
        ]
    )
    def kernel(a: tkl.Memory[B, M, N, GLOBAL, tkl.f16], c: tkl.Memory[B, M, N, GLOBAL, tkl.f16]):
        tkw.write(tkw.read(a), c)

    a = data(shape, np.float16)
    check(kernel, dict(zip((B, M, N), shape, strict=True)), [a, np.zeros_like(a)], {1: a})


FLAGS = tkw.MemoryAccessFlags
POLICIES = {  # what an access says: non-temporal, volatile (a store on gfx90a bypasses no cache that others have)
    "gfx90a": (" glc slc", " glc", ""), "gfx942": (" nt", " sc0 sc1", " sc0 sc1"),
    "gfx950": (" nt", " sc0 sc1", " sc0 sc1"),
}  # fmt: skip


@pytest.mark.parametrize("pointers", [False, True], ids=["buffers", "pointers"])
@pytest.mark.parametrize("flags", [FLAGS.VOLATILE, FLAGS.NONTEMPORAL, FLAGS.VOLATILE | FLAGS.NONTEMPORAL], ids=str)
@pytest.mark.parametrize("target", POLICIES)
def test_cache_policies(target: str, flags: tkw.MemoryAccessFlags, pointers: bool) -> None:
    """Each access of global memory has the bits of its flags, by buffer and by pointer, and its mask."""

    @tkw.wave([tkw.WorkgroupConstraint(M, 4, 1), tkw.WorkgroupConstraint(N, 64, 0), tkw.HardwareConstraint(64)])
    def kernel(a: tkl.Memory[M, N, GLOBAL, tkl.f16], c: tkl.Memory[M, N, GLOBAL, tkl.f16]):
        tkw.write(tkw.read(a, flags=flags), c, flags=flags)

    module = kernel.trace({M: 13, N: 71}, (), target, "k")
    made = driver.compile_module(str(module), options=PipelineOptions(buffer_ops=not pointers))
    a = data((13, 71), np.float16)
    c = np.zeros_like(a)
    sim.run(made.module, [a, c])
    np.testing.assert_array_equal(c, a)
    accesses = re.findall(r"\t(?:buffer|global)_(load|store)_.*?( sc0.*| nt.*| glc.*| slc.*)?\n", made.isa)
    assert {kind for kind, _ in accesses} == {"load", "store"}
    temporal, load, store = POLICIES[target]
    for kind, policy in accesses:
        # LLVM drops the hint of what is volatile, but for buffer instructions: volatile reads never are these.
        plain = pointers or kind == "load"
        hinted = FLAGS.NONTEMPORAL in flags and not (plain and FLAGS.VOLATILE in flags)
        wanted = set(temporal.split()) if hinted else set()
        wanted |= set((load if kind == "load" else store).split()) if FLAGS.VOLATILE in flags else set()
        assert set(policy.split()) == wanted, (kind, policy)


@pytest.mark.parametrize("flags", [tkw.MemoryAccessFlags.VOLATILE, tkw.MemoryAccessFlags.NONTEMPORAL])
def test_flags(flags) -> None:
    @tkw.wave([tkw.WorkgroupConstraint(M, 4, 1), tkw.WorkgroupConstraint(N, 64, 0), tkw.HardwareConstraint(64)])
    def kernel(a: tkl.Memory[M, N, GLOBAL, tkl.f16], c: tkl.Memory[M, N, GLOBAL, tkl.f16]):
        tkw.write(tkw.read(a, flags=flags), c, flags=flags)

    a = data((13, 71), np.float16)
    check(kernel, {M: 13, N: 71}, [a, np.zeros_like(a)], {1: a})


def test_in_place() -> None:
    @tkw.wave([tkw.WorkgroupConstraint(M, 1, 1), tkw.WorkgroupConstraint(N, 256, 0), tkw.HardwareConstraint(64)])
    def double(a: tkl.Memory[M, N, GLOBAL, tkl.f16]):
        x = tkw.read(a)
        tkw.write(x + x, a)

    a = data((3, 300), np.float16)
    check(double, {M: 3, N: 300}, [a], {0: a + a})


def test_five_grid_dims() -> None:
    """Grid dims from the third on are folded."""
    C, D = tkl.sym.C, tkl.sym.D
    tiles = [tkw.WorkgroupConstraint(d, 1, n) for n, d in ((4, B), (3, C), (2, D), (1, M))]

    @tkw.wave([tkw.WorkgroupConstraint(N, 64, 0), *tiles, tkw.HardwareConstraint(64, vector_shapes={N: 64})])
    def kernel(a: tkl.Memory[B, C, D, M, N, GLOBAL, tkl.f32], c: tkl.Memory[B, C, D, M, N, GLOBAL, tkl.f32]):
        tkw.write(tkw.read(a) + 1, c)

    a = data((2, 3, 2, 2, 70), np.float32)
    check(kernel, {B: 2, C: 3, D: 2, M: 2, N: 70}, [a, np.zeros_like(a)], {1: a + 1})


@pytest.mark.thin(5)
@pytest.mark.parametrize(("m", "n"), [(16, 64), (33, 70), (1, 256)])
@pytest.mark.parametrize("side", ["read", "write", "permute"])
@pytest.mark.parametrize("space", [GLOBAL, SHARED], ids=["global", "shared"])
def test_transposes(m: int, n: int, side: str, space) -> None:
    i, j = tkw.IndexMapping.iterator(0), tkw.IndexMapping.iterator(1)
    mapping = tkw.IndexMapping(2, inputs={M: i, N: j}, outputs={M: i, N: j})

    @tkw.wave(
        [
            tkw.WorkgroupConstraint(M, 4, 1),
            tkw.WorkgroupConstraint(N, 128, 0),
            tkw.WaveConstraint(N, 64),
            tkw.HardwareConstraint(64),
        ]
    )
    def kernel(a: tkl.Memory[M, N, SPACE, tkl.f16], c: tkl.Memory[N, M, GLOBAL, tkl.f16]):
        x = tkw.read(a)
        if side == "permute":
            tkw.write(tkw.permute(x, [N, M]), c)
        else:
            tkw.write(x, c, mapping=mapping)

    @tkw.wave(kernel.constraints)
    def back(a: tkl.Memory[N, M, SPACE, tkl.f16], c: tkl.Memory[M, N, GLOBAL, tkl.f16]):
        tkw.write(tkw.read(a, mapping=mapping), c)

    a = data((m, n) if side != "read" else (n, m), np.float16)
    args = [a, np.zeros_like(a.T)]
    check(back if side == "read" else kernel, {M: m, N: n, SPACE: space}, args, {1: a.T})


@pytest.mark.parametrize("space", [GLOBAL, SHARED], ids=["global", "shared"])
def test_masks_in_memory(space) -> None:
    """Truth values have a byte each: read, written, computed."""

    @tkw.wave([tkw.WorkgroupConstraint(M, 4, 1), tkw.WorkgroupConstraint(N, 256, 0), tkw.HardwareConstraint(64)])
    def kernel(
        m: tkl.Memory[M, N, SPACE, tkl.bool],
        a: tkl.Memory[M, N, GLOBAL, tkl.f32],
        c: tkl.Memory[M, N, GLOBAL, tkl.bool],
    ):
        x = tkw.read(a)
        tkw.write(tkw.select(tkw.read(m), x, -x) > 0.0, c)

    rng = np.random.default_rng(3)
    m, a = rng.integers(0, 2, (7, 300)).astype(bool), rng.integers(-9, 9, (7, 300)).astype(np.float32)
    check(kernel, {M: 7, N: 300, SPACE: space}, [m, a, np.zeros_like(m)], {2: np.where(m, a, -a) > 0})


@pytest.mark.parametrize(("m", "bits"), [(48, 128), (52, 16), (51, 16)])
@pytest.mark.parametrize("waves", [1, 2])
def test_transposed_tiles_leave_in_wide_stores(m: int, bits: int, waves: int) -> None:
    """Lanes exchange their parts first, where the rows' length lets stores be so wide that it pays."""

    @tkw.wave(
        [
            tkw.WorkgroupConstraint(M, 16, 1),
            tkw.WorkgroupConstraint(N, 64 * waves, 0),
            tkw.WaveConstraint(N, 64),
            tkw.HardwareConstraint(64, vector_shapes={M: 4, N: 64}),
        ]
    )
    def kernel(a: tkl.Memory[M, N, GLOBAL, tkl.f16], c: tkl.Memory[N, M, GLOBAL, tkl.f16]):
        tkw.write(tkw.permute(tkw.read(a), [N, M]), c)

    a = data((m, 150), np.float16)
    made = check(kernel, {M: m, N: 150}, [a, np.zeros_like(a.T)], {1: a.T})
    names = {128: "buffer_store_dwordx4", 16: "buffer_store_short"}
    assert set(re.findall(r"buffer_store_\w+", made.isa)) == {names[bits]}


def test_transposed_tiles_of_some_waves() -> None:
    """What is written is decided by a value that waves disagree on: nothing waits for the wave that does not write."""

    @tkw.wave(
        [
            tkw.WorkgroupConstraint(B, 2, 2),
            tkw.WaveConstraint(B, 1),
            tkw.WorkgroupConstraint(M, 16, 1),
            tkw.WorkgroupConstraint(N, 64, 0),
            tkw.HardwareConstraint(64, waves_per_block=(1, 1, 2), vector_shapes={B: 0, M: 4, N: 64}),
        ]
    )
    def kernel(
        a: tkl.Memory[B, M, N, GLOBAL, tkl.f16],
        on: tkl.Memory[B, GLOBAL, tkl.i32],
        c: tkl.Memory[B, N, M, GLOBAL, tkl.f16],
    ):
        x = tkw.read(a)

        @tkw.conditional(tkw.read(on) > 0)
        def some():
            tkw.write(tkw.permute(x, [B, N, M]), c)

    a, on = data((4, 32, 128), np.float16), np.array([1, 0, 0, 1], np.int32)
    want = np.where(on[:, None, None] > 0, a.transpose(0, 2, 1), np.float16(0))
    check(kernel, {B: 4, M: 32, N: 128}, [a, on, np.zeros_like(want)], {2: want})


@pytest.mark.parametrize("n", [40, 24, 72])
def test_transposed_tiles_of_odd_sizes(n: int) -> None:
    """What a wave has is no power of two of rows: lanes that hold nothing do not reach into another wave's part."""

    @tkw.wave(
        [
            tkw.WorkgroupConstraint(M, 64, 1),
            tkw.WaveConstraint(M, 16),
            tkw.WorkgroupConstraint(N, n, 0),
            tkw.HardwareConstraint(64, vector_shapes={M: 16, N: n}),
        ]
    )
    def kernel(a: tkl.Memory[M, N, GLOBAL, tkl.f16], c: tkl.Memory[N, M, GLOBAL, tkl.f16]):
        tkw.write(tkw.permute(tkw.read(a), [N, M]), c)

    a = data((128, n), np.float16)
    check(kernel, {M: 128, N: n}, [a, np.zeros_like(a.T)], {1: a.T})
