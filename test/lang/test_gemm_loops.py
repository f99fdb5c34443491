"""GEMMs in other loops: chained, a batch one after the other, K divided among workgroups, tiles in LDS by hand."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from gemms import BK, BM, BN, SPACE, B, K, M, N, constraints, integers, product, run, tiles
from running import check
from wave_mlir.lang.dtypes import DataType
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.lang.global_symbols import SHARED_ADDRESS_SPACE as SHARED
from wave_mlir.lang.global_symbols import WORKGROUP_2
from wave_mlir.wave.constraints import MMAType as Mma

SPACES = pytest.mark.parametrize("space", [SHARED, GLOBAL], ids=["shared", "global"])
ROW, COL, D0 = tkw.IndexMapping.iterator(0), tkw.IndexMapping.iterator(1), tkw.IndexMapping.dynamic_val(0)


# --- chained ---

CHAINS = [
    (tkl.f16, Mma.F32_16x16x16_F16, None),
    (tkl.f16, Mma.F32_32x32x8_F16, Mma.F32_16x16x16_F16),
    (tkl.f16, Mma.F32_16x16x32_K8_F16, Mma.F32_16x16x16_F16),
    (tkl.f8e4m3fnuz, Mma.F32_16x16x32_F8, Mma.F32_16x16x32_K4_F8),
]


@pytest.mark.thin(3)
@pytest.mark.parametrize(
    ("dtype", "first", "second"), CHAINS, ids=[f"{d}-{a.name}-{b.name if b else 'same'}" for d, a, b in CHAINS]
)
@SPACES
def test_chained(space: sympy.Symbol, dtype: DataType, first: object, second: object) -> None:
    """(Q·Kᵀ)·Vᵀ, the kind of each product by its `mma_type`."""
    inner, keys = tkl.sym.INNER, tkl.sym.KEYS

    @tkw.wave(
        [
            tkw.WorkgroupConstraint(M, BM, 0),
            tkw.WorkgroupConstraint(N, BN, 1),
            tkw.TilingConstraint(keys, BK),
            tkw.WaveConstraint(M, BM / 2),
            tkw.WaveConstraint(N, BN / 2),
            tkw.HardwareConstraint(64, mma_type=first),  # type: ignore[arg-type]
        ]
    )
    def chain(
        q: tkl.Memory[M, inner, SPACE, dtype],
        k: tkl.Memory[keys, inner, SPACE, dtype],
        v: tkl.Memory[N, keys, SPACE, dtype],
        c: tkl.Memory[M, N, GLOBAL, tkl.f32],
    ):
        @tkw.iterate(keys, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
        def loop(acc):
            scores = tkw.mma(tkw.read(k), tkw.read(q), tkl.Register[keys, M, tkl.f32](0.0))
            scores = tkw.cast(tkw.permute(scores, target_shape=[M, keys]), dtype)
            return tkw.mma(scores, tkw.read(v), acc, mma_type=second)

        tkw.write(loop, c)

    q, k, v = (integers(shape, dtype, i, 1) for i, shape in enumerate([(50, 32), (80, 32), (40, 80)]))
    scores = product(q, k).astype(np.float32).astype(q.dtype)  # f8 rounds them
    want = product(scores.astype(np.float32), v).astype(np.float32)
    subs = {**tiles(32, 32, 32, space), M: 50, N: 40, inner: 32, keys: 80}
    run(chain, subs, [q, k, v], want, machine=space is SHARED)


# --- a batch, one after the other ---


def _batch(tile: int | None) -> list:
    batch = tkw.TilingConstraint(B, tile) if tile else tkw.TilingConstraint(B)
    return constraints(waves=(2, 2), extra=[batch], vector_shapes={B: 0})


@SPACES
def test_batch_by_nested_loops(space: sympy.Symbol) -> None:
    @tkw.wave(_batch(1))
    def gemm(
        a: tkl.Memory[B, M, K, SPACE, tkl.f16],
        b: tkl.Memory[B, N, K, SPACE, tkl.f16],
        c: tkl.Memory[B, M, N, GLOBAL, tkl.f32],
    ):
        @tkw.iterate(B, init_args=[])
        def outer():
            @tkw.iterate(K, init_args=[tkl.Register[B, M, N, tkl.f32](0.0)])
            def loop(acc):
                return tkw.mma(tkw.read(a), tkw.read(b), acc)

            tkw.write(loop, c)

    a, b = integers((3, 50, 40), tkl.f16), integers((3, 33, 40), tkl.f16, 1)
    subs = {**tiles(32, 32, 32, space), B: 3, M: 50, N: 33, K: 40}
    run(gemm, subs, [a, b], product(a, b).astype(np.float32), machine=True)


@SPACES
def test_batch_by_a_while_loop(space: sympy.Symbol) -> None:
    """The axis is the position itself; the body says what comes next."""
    start, end = tkl.sym.START, tkl.sym.END

    @tkw.wave(_batch(None))
    def gemm(
        a: tkl.Memory[B, M, K, SPACE, tkl.f16],
        b: tkl.Memory[B, N, K, SPACE, tkl.f16],
        c: tkl.Memory[B, M, N, GLOBAL, tkl.f32],
    ):
        @tkw.iterate(B, start=tkw.scalar(start, tkl.i32), condition=end > B, init_args=[])
        def outer():
            @tkw.iterate(K, init_args=[tkl.Register[B, M, N, tkl.f32](0.0)])
            def loop(acc):
                return tkw.mma(tkw.read(a), tkw.read(b), acc)

            tkw.write(loop, c)
            tkw.set_symbol(B, tkw.apply_expr(tkw.self_index(B, tkl.i32), lambda b: b + 2))

    a, b = integers((6, 50, 40), tkl.f16), integers((6, 33, 40), tkl.f16, 1)
    want = product(a, b).astype(np.float32)
    want[[0, 2, 4]] = 77
    subs = {**tiles(32, 32, 32, space), B: 6, start: 1, end: 6, M: 50, N: 33, K: 40}
    run(gemm, subs, [a, b], want, machine=True)


# --- K among workgroups ---


@pytest.mark.parametrize(("k", "splits"), [(96, 3), (100, 3), (40, 4), (33, 1)])
@SPACES
def test_split_k(space: sympy.Symbol, k: int, splits: int) -> None:
    """Each workgroup adds its part of K atomically; whole tiles are divided, and some workgroups may have none."""
    s = tkl.sym.SPLITS
    each = sympy.ceiling(sympy.ceiling(K / BK) / s)  # tiles a workgroup

    @tkw.wave(
        [
            tkw.WorkgroupConstraint(M, BM, 0),
            tkw.WorkgroupConstraint(N, BN, 1),
            tkw.WorkgroupConstraint(s, 1, 2),
            tkw.TilingConstraint(K, BK, iters=each, start=WORKGROUP_2 * each * BK),
            tkw.WaveConstraint(M, BM / 2),
            tkw.WaveConstraint(N, BN / 2),
            tkw.HardwareConstraint(64, mma_type=Mma.F32_16x16x16_F16),
        ]
    )
    def gemm(
        a: tkl.Memory[M, K, SPACE, tkl.f16],
        b: tkl.Memory[N, K, SPACE, tkl.f16],
        c: tkl.Memory[M, N, GLOBAL, tkl.f32],
    ):
        @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
        def loop(acc):
            return tkw.mma(tkw.read(a), tkw.read(b), acc)

        tkw.atomic_add(loop, c)

    a, b = integers((50, k), tkl.f16), integers((64, k), tkl.f16, 1)
    args = [a, b, np.zeros((50, 64), np.float32)]
    want = {2: product(a, b).astype(np.float32)}
    check(gemm, {**tiles(32, 32, 16, space), M: 50, N: 64, K: k, s: splits}, args, want, isa=k == 100)


# --- LDS by hand ---


@pytest.mark.parametrize("pad", [0, 8])
@pytest.mark.parametrize("waves", [(1, 1), (2, 2), (4, 1)], ids=str)
def test_lds_by_hand(waves: tuple[int, int], pad: int) -> None:
    """Buffers of one tile, rows padded, barriers placed by the kernel."""

    @tkw.wave(constraints(waves=waves))
    def gemm(
        a: tkl.Memory[M, K, GLOBAL, tkl.f16],
        b: tkl.Memory[N, K, GLOBAL, tkl.f16],
        c: tkl.Memory[M, N, GLOBAL, tkl.f32],
    ):
        rows = tkw.allocate((M, K), (BM, BK + pad), tkl.f16, SHARED)
        cols = tkw.allocate((N, K), (BN, BK + pad), tkl.f16, SHARED)

        @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
        def loop(acc):
            x, y = tkw.read(a), tkw.read(b)
            tkw.shared_memory_barrier()
            tkw.write(x, rows)
            tkw.write(y, cols)
            tkw.shared_memory_barrier()
            return tkw.mma(tkw.read(rows), tkw.read(cols), acc)

        tkw.write(loop, c)

    a, b = integers((50, 72), tkl.f16), integers((64, 72), tkl.f16, 1)
    subs = {BM: 32, BN: 32, BK: 32, M: 50, N: 64, K: 72}
    made = run(gemm, subs, [a, b], product(a, b).astype(np.float32), machine=waves == (2, 2))
    bytes_used = made.plan(a, b, np.zeros((50, 64), np.float32)).lds_bytes  # the compiler may pad rows itself
    assert 2 * 32 * 32 * 2 <= bytes_used < 2 * 32 * 72 * 2


@pytest.mark.parametrize("target", ["gfx942", "gfx950"])
def test_copies_without_registers(target: str) -> None:
    """Copies to LDS by hand, two tiles ahead of a read: waits and barriers are the compiler's."""

    @tkw.wave(constraints(waves=(2, 2)))
    def gemm(
        a: tkl.Memory[M, K, GLOBAL, tkl.f16],
        b: tkl.Memory[N, K, GLOBAL, tkl.f16],
        c: tkl.Memory[M, N, GLOBAL, tkl.f32],
    ):
        rows = tkw.allocate((M, K), (BM, BK), tkl.f16, SHARED)
        cols = tkw.allocate((N, K), (BN, BK), tkl.f16, SHARED)

        @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
        def loop(acc):
            tkw.gather_to_shared(a, rows)
            tkw.gather_to_shared(b, cols)
            return tkw.mma(tkw.read(rows), tkw.read(cols), acc)

        tkw.write(loop, c)

    a, b = integers((100, 96), tkl.f16), integers((64, 96), tkl.f16, 1)
    subs = {BM: 64, BN: 64, BK: 32, M: 100, N: 64, K: 96}
    made = run(gemm, subs, [a, b], product(a, b).astype(np.float32), target=target, machine=True)
    assert made.isa.count(" lds\n") == (8 if target == "gfx942" else 2) and "ds_write" not in made.isa


# --- groups ---


@pytest.mark.parametrize("counts", [(5, 0, 33, 1), (16, 16, 0, 0)], ids=str)
@SPACES
def test_grouped(space: sympy.Symbol, counts: tuple[int, ...]) -> None:
    """A mixture of experts: blocks of rows, each of one expert, gathered from the tokens; padding rows are dropped."""
    e, t, blocks = tkl.sym.EXPERTS, tkl.sym.TOKENS, tkl.sym.BLOCKS
    gather = tkw.IndexMapping(2, inputs={t: D0, K: COL}, outputs={M: ROW, K: COL}, dynamic_val_mappings={M: ROW})
    scatter = tkw.IndexMapping(2, inputs={M: ROW, N: COL}, outputs={t: D0, N: COL}, dynamic_val_mappings={M: ROW})
    expert = tkl.sym.EXPERT
    chosen = tkw.IndexMapping(2, inputs={e: expert, N: ROW, K: COL}, outputs={N: ROW, K: COL})

    @tkw.wave(
        [
            tkw.WorkgroupConstraint(M, BM, 0),
            tkw.WorkgroupConstraint(N, BN, 1),
            tkw.WorkgroupConstraint(blocks, 1, 0, primary=False),
            tkw.TilingConstraint(K, BK),
            tkw.WaveConstraint(N, BN / 2),
            tkw.HardwareConstraint(64, mma_type=Mma.F32_16x16x16_F16, vector_shapes={blocks: 0}),
        ]
    )
    def moe(
        x: tkl.Memory[t, K, SPACE, tkl.f16],
        w: tkl.Memory[e, N, K, SPACE, tkl.f16],
        rows: tkl.Memory[M, GLOBAL, tkl.i32],
        experts: tkl.Memory[blocks, GLOBAL, tkl.i32],
        out: tkl.Memory[t, N, GLOBAL, tkl.f32],
    ):
        token = tkw.read(rows)
        tkw.set_symbol(expert, tkw.read(experts))

        @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
        def loop(acc):
            picked = tkw.read(x, mapping=gather, mapping_dynamic_vals=(token,))
            return tkw.mma(picked, tkw.read(w, mapping=chosen), acc)

        tkw.write(loop, out, mapping=scatter, mapping_dynamic_vals=(token,))

    tokens, n, k, block = sum(counts), 40, 48, 16
    rng = np.random.default_rng(3)
    order = rng.permutation(tokens)
    rows, experts, at = [], [], 0
    for number, count in enumerate(counts):
        mine = list(order[at : at + count])
        at += count
        for first in range(0, count, block):
            part = mine[first : first + block]
            rows += part + [tokens] * (block - len(part))  # a row that is not there: reads 0, is not written
            experts.append(number)
    x, w = integers((tokens, k), tkl.f16), integers((len(counts), n, k), tkl.f16, 1)
    want = np.zeros((tokens, n), np.float32)
    for row, number in zip(rows, np.repeat(experts, block), strict=True):
        if row < tokens:
            want[row] = product(x[row : row + 1], w[number])[0]
    args = [x, w, np.array(rows, np.int32), np.array(experts, np.int32), np.zeros_like(want)]
    subs = {**tiles(block, 32, 16, space), M: len(rows), N: n, K: k, e: len(counts), t: tokens, blocks: len(experts)}
    check(moe, subs, args, {4: want}, isa=space is SHARED)
