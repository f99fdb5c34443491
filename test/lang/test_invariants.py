"""Tiles that are alike in every trip are read once: in front of the loop, also where they go through LDS."""

from __future__ import annotations

import re

import numpy as np
import pytest
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from gemms import GLOBAL, SHARED, K, M, N, integers, product, run
from wave_mlir.wave.constraints import MMAType
from wave_mlir.wave.kernel import WaveKernel

INNER = tkl.sym.INNER


def chained(q_space: object, waves: int = 2, keys: int = 32) -> WaveKernel:
    """C = ((Q Kᵀ) as f16) Vᵀ in tiles of `keys` keys: Q [M, INNER] is the same in every trip."""

    @tkw.wave(
        [
            tkw.WorkgroupConstraint(M, 16 * waves, 0),
            tkw.WorkgroupConstraint(N, 32, 1),
            tkw.TilingConstraint(K, keys),
            tkw.WaveConstraint(M, 16),
            tkw.HardwareConstraint(64, mma_type=MMAType.F32_16x16x16_F16),
        ]
    )
    def chain(
        q: tkl.Memory[M, INNER, q_space, tkl.f16],
        k: tkl.Memory[K, INNER, SHARED, tkl.f16],
        v: tkl.Memory[N, K, SHARED, tkl.f16],
        c: tkl.Memory[M, N, GLOBAL, tkl.f32],
    ):
        @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
        def loop(acc):
            scores = tkw.mma(tkw.read(q), tkw.read(k), tkl.Register[M, K, tkl.f32](0.0))
            return tkw.mma(tkw.cast(scores, tkl.f16), tkw.read(v), acc)

        tkw.write(loop, c)

    return chain


@pytest.mark.parametrize("keys", [None, 40], ids=["run-time", "static"])
@pytest.mark.parametrize("space", [GLOBAL, SHARED], ids=["global", "lds"])
def test_chained(space: object, keys: int | None) -> None:
    sizes = {M: 40, N: 48, INNER: 32} | ({} if keys is None else {K: keys})
    q, k, v = (integers(s, tkl.f16, i, 1) for i, s in enumerate([(40, 32), (40, 32), (48, 40)]))
    want = product(product(q, k), v).astype(np.float32)
    made = run(chained(space), sizes, [q, k, v], want, dynamic=[] if keys else [K], machine=True)
    front, _, rest = made.ir("scheduled").partition("wave.iterate")
    assert "wave.buffer_load %q" in front
    inside = [part.partition("}")[0] for part in made.ir("scheduled").split("wave.iterate")[1:]]
    assert not any("%q" in body for body in inside), "where sizes are of run time, both loops"


def test_large_tiles_stay_in_lds() -> None:
    """A row of 768 takes 96 registers a lane as an operand: it is copied to LDS once, and read there in every trip."""
    sizes = {M: 16, N: 32, K: 32, INNER: 768}
    q, k, v = (integers(s, tkl.f16, i, 1) for i, s in enumerate([(16, 768), (32, 768), (32, 32)]))
    want = product(product(q, k), v).astype(np.float32)
    made = run(chained(SHARED, waves=1, keys=16), sizes, [q, k, v], want)
    front, _, rest = made.ir("scheduled").partition("wave.iterate")
    (buffer,) = set(re.findall(r"wave.write %\w+, (%\w+) ", front))
    assert "%q" not in rest
    reads = [part.count(f"wave.read {buffer} ") for part in (front, rest)]
    assert reads == [16, 8], "of 16 bytes: 64 registers in front of the loop"
