"""GEMMs of every operand type and MMA kind the language names."""

from __future__ import annotations

import numpy as np
import pytest
import wave_mlir.lang as tkl
from gemms import NUMPY, K, M, N, constraints, integers, plain, product, run, tiles
from wave_mlir.lang.dtypes import DataType
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.lang.global_symbols import SHARED_ADDRESS_SPACE as SHARED
from wave_mlir.wave.constraints import MMAType as Mma

KINDS = [
    (tkl.f16, Mma.F32_16x16x16_F16, "gfx942"),
    (tkl.f16, Mma.F32_32x32x8_F16, "gfx942"),
    (tkl.f16, Mma.F32_16x16x32_K8_F16, "gfx942"),
    (tkl.f16, Mma.F32_32x32x16_K8_F16, "gfx942"),
    (tkl.bf16, Mma.F32_16x16x16_BF16, "gfx942"),
    (tkl.bf16, Mma.F32_32x32x8_F16, "gfx942"),  # kinds named after f16 are of 16-bit floats
    (tkl.bf16, Mma.F32_16x16x32_K8_F16, "gfx942"),
    (tkl.f8e4m3fnuz, Mma.F32_16x16x32_F8, "gfx942"),
    (tkl.f8e5m2fnuz, Mma.F32_32x32x16_F8, "gfx942"),
    (tkl.f8e4m3fnuz, Mma.F32_16x16x32_K4_F8, "gfx942"),
    (tkl.f8e4m3fnuz, Mma.F32_32x32x16_K4_F8, "gfx942"),
    (tkl.i8, Mma.I32_16x16x32_I8, "gfx942"),
    (tkl.i8, Mma.I32_32x32x16_I8, "gfx942"),
    (tkl.f16, Mma.F32_16x16x32_F16, "gfx950"),
    (tkl.f16, Mma.F32_32x32x16_F16, "gfx950"),
    (tkl.bf16, Mma.F32_32x32x16_BF16, "gfx950"),
    (tkl.f8e4m3fn, Mma.F32_16x16x32_F8, "gfx950"),
    (tkl.f8e5m2, Mma.F32_32x32x16_F8, "gfx950"),
    (tkl.i8, Mma.I32_16x16x32_I8, "gfx950"),
]
IDS = [f"{kind.name}-{dtype}-{target}" for dtype, kind, target in KINDS]


def _run(dtype: DataType, kind: object, target: str, size: tuple[int, int, int], **options: object) -> None:
    m, n, k = size
    a, b = integers((m, k), dtype), integers((n, k), dtype, 1)
    want = product(a, b).astype(NUMPY[tkl.i32 if dtype is tkl.i8 else tkl.f32])
    space, waves = options.pop("space", SHARED), options.pop("waves", (2, 2))
    rules = constraints(kind, waves)  # type: ignore[arg-type]
    subs = {**tiles(64, 64, 32, space), M: m, N: n, K: k}  # type: ignore[arg-type]
    run(plain(dtype, rules), subs, [a, b], want, target=target, **options)  # type: ignore[arg-type]


@pytest.mark.thin(4)
@pytest.mark.parametrize(("dtype", "kind", "target"), KINDS, ids=IDS)
def test_kinds(dtype: DataType, kind: object, target: str) -> None:
    _run(dtype, kind, target, (64, 64, 64), machine=True)


@pytest.mark.thin(3)
@pytest.mark.parametrize(("dtype", "kind", "target"), KINDS[::3], ids=IDS[::3])
def test_kinds_on_odd_sizes(dtype: DataType, kind: object, target: str) -> None:
    _run(dtype, kind, target, (50, 70, 45), space=GLOBAL, waves=(1, 1))


def test_wave32() -> None:
    """RDNA: waves of 32 lanes, other fragments."""
    dtype, (m, n, k) = tkl.f16, (48, 33, 40)
    a, b = integers((m, k), dtype), integers((n, k), dtype, 1)
    rules = constraints(Mma.RDNA4_WAVE32_F32_16x16x16_F16, (2, 1), threads=32)
    subs = {**tiles(32, 32, 32), M: m, N: n, K: k}
    run(plain(dtype, rules), subs, [a, b], product(a, b).astype(np.float32), target="gfx1201")
