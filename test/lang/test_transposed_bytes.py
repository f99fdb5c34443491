"""Operands of 8 bits in K-major memories: gfx950 transposes them at the LDS read, eight rows at once."""

from __future__ import annotations

import re

import numpy as np
import pytest
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from gemms import BK, BM, BN, NUMPY, K, M, N, constraints
from running import check
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.lang.global_symbols import SHARED_ADDRESS_SPACE as SHARED
from wave_mlir.wave.constraints import MMAType as Mma

KINDS = {
    "f8": (tkl.f8e4m3fn, tkl.f32, Mma.F32_16x16x32_F8),
    "bf8": (tkl.f8e5m2, tkl.f32, Mma.F32_32x32x16_F8),
    "i8": (tkl.i8, tkl.i32, Mma.I32_16x16x32_I8),
}


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(("lhs", "rhs"), [((M, K), (K, N)), ((K, M), (K, N))], ids=["nn", "tn"])
def test_eight_rows_at_once(name: str, lhs: tuple, rhs: tuple) -> None:
    """Exact in both runners; no byte is moved alone: wide loads, wide stores, reads of 64 or 128 bits."""
    dtype, out, mma = KINDS[name]

    @tkw.wave(constraints(mma, (2, 2)))
    def gemm(
        a: tkl.Memory[(*lhs, SHARED, dtype)], b: tkl.Memory[(*rhs, SHARED, dtype)], c: tkl.Memory[M, N, GLOBAL, out]
    ):
        @tkw.iterate(K, init_args=[tkl.Register[M, N, out](0)])
        def loop(acc):
            return tkw.mma(tkw.read(a), tkw.read(b), acc)

        tkw.write(loop, c)

    m, n, k = 96, 128, 160
    rng = np.random.default_rng(8)
    a, b = (rng.integers(-4, 5, (rows, k)) for rows in (m, n))
    want = (a @ b.T).astype(NUMPY[out])
    given = [np.ascontiguousarray(x.T if dims[0] is K else x).astype(NUMPY[dtype]) for x, dims in ((a, lhs), (b, rhs))]
    subs = {M: m, N: n, K: k, BM: 64, BN: 64, BK: 64}
    made = check(gemm, subs, [*given, np.zeros_like(want)], {2: want}, target="gfx950", orders=("forward",))
    accesses = set(re.findall(r"\b(ds_(?:read|write)\w+|buffer_load_\w+)", made.isa))
    assert "ds_read_b64_tr_b8" in accesses
    assert accesses <= {"ds_read_b64_tr_b8", "ds_read_b64", "ds_read2_b64", "ds_read2st64_b64", "ds_read_b128",
                        "ds_write_b128", "buffer_load_dwordx4"}  # fmt: skip
