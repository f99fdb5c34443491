"""Narrow floats by brute force: the nearest of all values of a format, and stochastic rounding on exact multiples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import ml_dtypes
import numpy as np


@dataclass(frozen=True)
class Narrow:
    """A format: numpy type, bits, mantissa bits, and codes (without a sign) of infinity and of NaN, if it has them.

    fnuz: the code of -0 is NaN.
    """

    name: str
    dtype: np.dtype
    bits: int
    mantissa: int
    inf: int | None = None
    nan: int | None = None
    fnuz: bool = False

    @property
    def sign(self) -> int:
        """The sign bit."""
        return 1 << self.bits - 1

    def values(self, codes: np.ndarray) -> np.ndarray:
        """f64 values of codes."""
        storage = {1: np.uint8, 2: np.uint16, 4: np.uint32}[self.dtype.itemsize]
        mask = (self.sign << 1) - 1
        with np.errstate(invalid="ignore"):
            return (np.asarray(codes, np.uint32) & mask).astype(storage).view(self.dtype).astype(np.float64)


F32 = Narrow("f32", np.dtype(np.float32), 32, 23, 0x7F800000, 0x7FC00000)
F16 = Narrow("f16", np.dtype(np.float16), 16, 10, 0x7C00, 0x7E00)
BF16 = Narrow("bf16", np.dtype(ml_dtypes.bfloat16), 16, 7, 0x7F80, 0x7FC0)
FP8 = Narrow("fp8", np.dtype(ml_dtypes.float8_e4m3fn), 8, 3, None, 0x7F)
BF8 = Narrow("bf8", np.dtype(ml_dtypes.float8_e5m2), 8, 2, 0x7C, 0x7E)
FP8_FNUZ = Narrow("fp8", np.dtype(ml_dtypes.float8_e4m3fnuz), 8, 3, None, 0x80, True)
BF8_FNUZ = Narrow("bf8", np.dtype(ml_dtypes.float8_e5m2fnuz), 8, 2, None, 0x80, True)
FP6 = Narrow("fp6", np.dtype(ml_dtypes.float6_e2m3fn), 6, 3)
BF6 = Narrow("bf6", np.dtype(ml_dtypes.float6_e3m2fn), 6, 2)
FP4 = Narrow("fp4", np.dtype(ml_dtypes.float4_e2m1fn), 4, 1)


def formats(target: str) -> dict[str, Narrow]:
    """Formats by the name in mnemonics."""
    eights = [FP8_FNUZ, BF8_FNUZ] if target == "gfx942" else [FP8, BF8]
    return {f.name: f for f in [F32, F16, BF16, *eights, FP6, BF6, FP4]}


@cache
def _magnitudes(f: Narrow) -> np.ndarray:
    """All finite magnitudes, by code."""
    codes = np.arange(f.sign, dtype=np.uint32)
    values = f.values(codes)
    return values[: int(np.isfinite(values).sum())]


def _finish(f: Narrow, values: np.ndarray, codes: np.ndarray, saturate: bool) -> np.ndarray:
    """Sign, overflow (codes past the last finite one) and NaN."""
    sign = np.where(np.signbit(values), f.sign, 0)
    last = (f.inf if f.inf is not None else f.sign if f.fnuz or f.nan is None else f.sign - 1) - 1
    over = (codes > last) | np.isinf(values)
    keep = saturate or f.nan is None
    nan = f.nan if f.nan is not None else f.sign - 1
    special = f.inf if f.inf is not None else nan
    out = np.where(over, last if keep else special, codes).astype(np.int64)
    unsigned = np.isin(out, [0, nan]) if f.fnuz else np.zeros(out.shape, bool)
    out = np.where(unsigned, out, out | sign)
    return np.where(np.isnan(values), nan if f.fnuz else nan | sign, out).astype(np.uint32)


def nearest(f: Narrow, values: np.ndarray, saturate: bool = False) -> np.ndarray:
    """u32 codes of the values of the format that are nearest, ties to the even code."""
    if f is F32:
        with np.errstate(over="ignore", invalid="ignore"):
            return values.astype(np.float32).view(np.uint32)
    table = _magnitudes(f)
    step = table[-1] - table[-2]
    table = np.append(table, table[-1] + step)  # the next one that there would be
    v = np.where(np.isfinite(values), np.abs(values), 0)
    above = np.minimum(np.searchsorted(table, v), len(table) - 1)
    below = np.maximum(above - 1, 0)
    up, down = table[above] - v, v - table[below]
    codes = np.where((up < down) | ((up == down) & (above % 2 == 0)), above, below)
    return _finish(f, values, np.where(v > table[-1], len(table), codes), saturate)


def stochastic(
    f: Narrow, values: np.ndarray, random: np.ndarray, source_mantissa: int, saturate: bool = False
) -> np.ndarray:
    """u32 codes: the top bits of `random` are added below the last bit kept, then the rest is cut off."""
    extra = source_mantissa - f.mantissa
    table = _magnitudes(f)
    v = np.where(np.isfinite(values), np.abs(values), 0)
    smallest = int(np.floor(np.log2(table[1 << f.mantissa])))  # exponent of the smallest normal value
    exponent = np.where(v > 0, np.maximum(np.frexp(v)[1] - 1, smallest), smallest)
    unit = np.exp2(exponent - f.mantissa)
    count = np.floor(v / unit * 2.0**extra) + (random.astype(np.uint64) >> np.uint64(32 - extra)).astype(np.float64)
    count = np.floor(count / 2.0**extra)
    codes = ((exponent - smallest) * 2.0**f.mantissa + count).astype(np.int64)
    return _finish(f, values, np.minimum(codes, 1 << 20), saturate)


def next_random(state: np.ndarray) -> np.ndarray:
    """The next state of v_prng_b32: shifted by one, 197 xored in when a one leaves at the top."""
    return (state << np.uint32(1)) ^ np.where(state >> np.uint32(31), np.uint32(197), np.uint32(0))
