"""Attention as users write it: two chained MMAs with a running softmax between."""

from __future__ import annotations

import numpy as np
import pytest
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from running import check
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.lang.global_symbols import SHARED_ADDRESS_SPACE
from wave_mlir.wave.constraints import MMAType

B, M, N, K1, K2 = tkl.sym.B, tkl.sym.M, tkl.sym.N, tkl.sym.K1, tkl.sym.K2
BB, BM, BN, BK2, SPACE = tkl.sym.BLOCK_B, tkl.sym.BLOCK_M, tkl.sym.BLOCK_N, tkl.sym.BLOCK_K2, tkl.sym.SPACE


def attention(kind: MMAType, waves: int = 4):
    side = 16 if "16x16" in kind.name else 32
    constraints = [
        tkw.WorkgroupConstraint(M, BM, 0),
        tkw.WorkgroupConstraint(N, BN, 1),
        tkw.WorkgroupConstraint(B, BB, 2),
        tkw.TilingConstraint(K2, BK2),
        tkw.WaveConstraint(M, BM / waves),
        tkw.HardwareConstraint(64, mma_type=kind, vector_shapes={B: 0, M: side, N: side}),
    ]

    @tkw.wave(constraints)
    def kernel(
        q: tkl.Memory[B, M, K1, GLOBAL, tkl.f16],
        k: tkl.Memory[B, K2, K1, SPACE, tkl.f16],
        v: tkl.Memory[B, N, K2, SPACE, tkl.f16],
        c: tkl.Memory[B, M, N, GLOBAL, tkl.f32],
    ):
        first = tkl.Register[B, M, tkl.f32](-1e6)

        @tkw.iterate(K2, init_args=[first, tkl.Register[B, M, tkl.f32](0.0), tkl.Register[B, N, M, tkl.f32](0.0)])
        def loop(old_max, old_sum, acc):
            s = tkw.mma(tkw.read(k), tkw.read(q), tkl.Register[B, K2, M, tkl.f32](0.0))
            inside = tkw.self_index(K2, tkl.i32) < tkw.scalar(K2, tkl.i32)
            x = tkw.select(tkw.broadcast(inside, [B, M, K2]), tkw.permute(s, [B, M, K2]), float("-inf"))
            new_max = tkw.max(x, old_max, dim=K2)
            rescale = tkw.exp2(old_max - new_max)
            e = tkw.exp2(x - new_max)
            new_sum = tkw.sum(e, old_sum * rescale, dim=K2)
            return new_max, new_sum, tkw.mma(tkw.read(v), tkw.cast(e, tkl.f16), acc * rescale)

        _, total, acc = loop
        tkw.write(tkw.permute(acc / total, [B, M, N]), c)

    return kernel


@pytest.mark.thin(4)
@pytest.mark.parametrize("kind", [MMAType.F32_16x16x16_F16, MMAType.F32_32x32x8_F16], ids=lambda k: k.name)
@pytest.mark.parametrize("sizes", [(2, 64, 64, 64, 64), (1, 100, 64, 64, 70), (1, 17, 32, 32, 33)], ids=str)
def test_attention(kind: MMAType, sizes: tuple[int, ...]) -> None:
    b, m, n, k1, k2 = sizes
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal(s).astype(np.float16) for s in ((b, m, k1), (b, k2, k1), (b, n, k2)))
    q = (q * np.float16(0.3)).astype(np.float16)
    waves = 4 if "16x16" in kind.name else 2
    subs = {B: b, M: m, N: n, K1: k1, K2: k2, BB: 1, BM: 64, BN: n, BK2: 32, SPACE: SHARED_ADDRESS_SPACE}
    s = q.astype(np.float64) @ k.astype(np.float64).transpose(0, 2, 1)
    p = np.exp2(s - s.max(-1, keepdims=True))
    want = (p / p.sum(-1, keepdims=True)) @ v.astype(np.float64).transpose(0, 2, 1)
    check(attention(kind, waves), subs, [q, k, v, np.zeros((b, m, n), np.float32)], {3: want}, tolerance=2e-3)
