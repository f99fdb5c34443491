"""Reads and writes with `source=` and `target=` over named iterators, and what is wrong with them."""

from __future__ import annotations

import numpy as np
import pytest
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from running import check
from wave_mlir.compiler.diagnostics import CompileError
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL

M, N, K, R, S = tkl.sym.M, tkl.sym.N, tkl.sym.K, tkl.sym.R, tkl.sym.S
BM, BN, BK, SPACE = tkl.sym.BLOCK_M, tkl.sym.BLOCK_N, tkl.sym.BLOCK_K, tkl.sym.SPACE
m, n, k = tkl.sym.m, tkl.sym.n, tkl.sym.k
RNG = np.random.default_rng(11)
BOUND = [
    tkw.WorkgroupConstraint(M, BM, 0),
    tkw.WorkgroupConstraint(N, BN, 1),
    tkw.HardwareConstraint(64, vector_shapes={M: 1, N: BN}),
    tkw.IteratorBindings({m: M, n: N}),
]
SUBS = {M: 13, N: 70, BM: 4, BN: 64}


def ints(*shape: int, dtype=np.float32) -> np.ndarray:
    return RNG.integers(-9, 9, shape).astype(dtype)


@pytest.mark.parametrize("side", ["read", "write"])
def test_transpose(side: str) -> None:
    @tkw.wave(BOUND)
    def kernel(a: tkl.Memory[N, M, GLOBAL, tkl.f32], c: tkl.Memory[M, N, GLOBAL, tkl.f32]):
        tkw.write(tkw.read(a, source=(n, m), target=(m, n)), c)

    @tkw.wave(BOUND)
    def other(a: tkl.Memory[M, N, GLOBAL, tkl.f32], c: tkl.Memory[N, M, GLOBAL, tkl.f32]):
        tkw.write(tkw.read(a), c, source=(m, n), target=(n, m))

    a = ints(70, 13) if side == "read" else ints(13, 70)
    check(kernel if side == "read" else other, SUBS, [a, np.zeros_like(a.T)], {1: a.T})


def test_offsets_and_quotients() -> None:
    @tkw.wave(BOUND)
    def kernel(a: tkl.Memory[R, S, GLOBAL, tkl.f32], c: tkl.Memory[M, N, GLOBAL, tkl.f32]):
        tkw.write(tkw.read(a, source=(m // 2 + 1, 2 * n), target=(m, n)), c)

    a = ints(8, 140)
    want = a[np.arange(13) // 2 + 1][:, ::2]
    check(kernel, {**SUBS, R: 8, S: 140}, [a, np.zeros((13, 70), np.float32)], {1: want})


def test_positions_from_memory() -> None:
    """A tile as a coordinate: rows through a table."""

    @tkw.wave(BOUND)
    def kernel(
        t: tkl.Memory[M, GLOBAL, tkl.i32], a: tkl.Memory[R, N, GLOBAL, tkl.f32], c: tkl.Memory[M, N, GLOBAL, tkl.f32]
    ):
        tkw.write(tkw.read(a, source=(tkw.read(t), n), target=(m, n)), c)

    t, a = RNG.integers(0, 9, 13).astype(np.int32), ints(9, 70)
    check(kernel, {**SUBS, R: 9}, [t, a, np.zeros((13, 70), np.float32)], {2: a[t]})


def test_product_of_transposed_operands() -> None:
    constraints = [
        tkw.WorkgroupConstraint(M, BM, 0),
        tkw.WorkgroupConstraint(N, BN, 1),
        tkw.TilingConstraint(K, BK),
        tkw.WaveConstraint(M, BM / 2),
        tkw.IteratorBindings({m: M, n: N, k: K}),
        tkw.HardwareConstraint(64, mma_type=tkw.MMAType.F32_16x16x16_F16),
    ]

    @tkw.wave(constraints)
    def gemm(
        a: tkl.Memory[K, M, SPACE, tkl.f16],
        b: tkl.Memory[K, N, SPACE, tkl.f16],
        c: tkl.Memory[N, M, GLOBAL, tkl.f32],
    ):
        @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
        def loop(acc):
            x = tkw.read(a, source=(k, m), target=(m, k))
            return tkw.mma(x, tkw.read(b, source=(k, n), target=(n, k)), acc)

        tkw.write(loop, c, source=(m, n), target=(n, m))

    a, b = ints(48, 64, dtype=np.float16), ints(48, 40, dtype=np.float16)
    want = (a.T.astype(np.float32) @ b.astype(np.float32)).T
    for space in (tkl.AddressSpace.GLOBAL_MEMORY.value, tkl.AddressSpace.SHARED_MEMORY):
        subs = {M: 64, N: 40, K: 48, BM: 32, BN: 32, BK: 32, SPACE: space}
        check(gemm, subs, [a, b, np.zeros((40, 64), np.float32)], {2: want})


BAD = {
    "is no iterator; name it in a constraint IteratorBindings": lambda a, t: tkw.read(a, source=(k,), target=(k,)),
    "iterator m occurs twice in target=": lambda a, t: tkw.read(a, source=(m,), target=(m, m)),
    "iterator n of dim N names a coordinate": lambda a, t: tkw.read(a, source=(n,), target=(m,)),
    "2 coordinates for memory a": lambda a, t: tkw.read(a, source=(m, n), target=(m, n)),
    "source= and target= go together": lambda a, t: tkw.read(a, source=(m,)),
    r"has dim M, which the accessed tile \[N\] has not": lambda a, t: tkw.read(a, source=(t,), target=(n,)),
    "not both": lambda a, t: tkw.write(
        t, a, mapping=tkw.IndexMapping(1, {M: tkw.IndexMapping.iterator(0)}, {M: tkw.IndexMapping.iterator(0)}),
        source=(m,), target=(m,),
    ),
}  # fmt: skip


@pytest.mark.parametrize("message", BAD)
def test_mistakes(message: str) -> None:
    @tkw.wave(BOUND)
    def kernel(a: tkl.Memory[M, GLOBAL, tkl.i32]):
        BAD[message](a, tkw.read(a))

    with pytest.raises(CompileError, match=rf"test_iterators.py:\d+:\d+: error: .*{message}"):
        kernel.trace(SUBS)


@pytest.mark.parametrize(
    ("bindings", "message"), [({m: M, n: 4}, "a symbol for a dim"), ({m: N}, "iterator m is bound to two dims")]
)
def test_bindings(bindings: dict, message: str) -> None:
    @tkw.wave([*BOUND, tkw.IteratorBindings(bindings)])
    def kernel(a: tkl.Memory[M, GLOBAL, tkl.i32]):
        tkw.read(a)

    with pytest.raises(CompileError, match=message):
        kernel.trace(SUBS)
