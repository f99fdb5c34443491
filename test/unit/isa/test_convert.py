"""Every conversion of narrow floats, by its name, against brute force; permlane swaps and the generator."""

from __future__ import annotations

import re
from dataclasses import dataclass

import narrow
import numpy as np
import pytest
from matrix_layout import LANES, pack
from narrow import Narrow
from snippet import MODE, run_lines
from wave_mlir.isa import native

RNG = np.random.default_rng(23)
OVERFLOW = 1 << 23  # MODE.FP16_OVFL
_NAME = re.compile(r"v_cvt_(scalef32_)?(sr_)?(2xpk16_|pk32_|pk_)?([fb]\w*?\d+)_([fb]\w*?\d+)$")
_COUNT = {None: 1, "pk_": 2, "pk32_": 32, "2xpk16_": 32}
SOURCE, SECOND, RANDOM, SCALE, DEST = 40, 80, 120, 121, 0
NARROW = ("fp8", "bf8", "fp6", "bf6", "fp4")


@dataclass(frozen=True)
class Conversion:
    """What a mnemonic says."""

    name: str
    scaled: bool
    random: bool
    count: int
    to: Narrow
    source: Narrow
    pair: bool  # elements alternate between two sources

    @property
    def bits(self) -> int:
        """Of the result."""
        return self.count * self.to.bits


def conversion(name: str, target: str) -> Conversion | None:
    """None for a conversion that another family has."""
    match = _NAME.match(name)
    known = narrow.formats(target)
    if not match or match[4] not in known or match[5] not in known:
        return None
    scaled, random, count, to, source = match.groups()
    if not {to, source} & {*NARROW, "bf16"} and name not in ("v_cvt_pk_f16_f32", "v_cvt_sr_f16_f32"):
        return None
    pair = count == "2xpk16_" or (count == "pk_" and source == "f32" and not random)
    return Conversion(name, bool(scaled), bool(random), _COUNT[count], known[to], known[source], pair)


CASES = [(t, op.name) for op in native.opcodes().values() for t in op.targets if conversion(op.name, t)]


def numbers(c: Conversion) -> np.ndarray:
    """Codes [64, count] of the source: random ones near the range of the result, midpoints, special values."""
    f = c.source
    if f.bits <= 8:
        return RNG.integers(0, 1 << f.bits, (LANES, c.count)).astype(np.uint32)
    finite = narrow._magnitudes(c.to) if c.to.bits <= 8 else np.array([0.0, 1.0, 65504.0, 2.0**-24])
    middle = (finite[1:] + finite[:-1]) / 2
    special = [np.inf, -np.inf, np.nan, 0.0, -0.0, finite[-1] * 1.0625, -finite[-1] * 1.5, finite[-1] * 1e3]
    pool = np.concatenate([finite, middle, -middle, middle * (1 + 2**-9), middle * (1 - 2**-9), special])
    wide = RNG.standard_normal((LANES, c.count)) * np.exp2(RNG.integers(-12, 12, (LANES, c.count)))
    values = np.where(RNG.random((LANES, c.count)) < 0.6, RNG.choice(pool, (LANES, c.count)), wide)
    values[: len(special), 0] = special
    with np.errstate(over="ignore", invalid="ignore"):
        cast = values.astype(f.dtype)
    return cast.view({2: np.uint16, 4: np.uint32}[f.dtype.itemsize]).astype(np.uint32)


def expect(c: Conversion, codes: np.ndarray, random: np.ndarray, scale: np.ndarray, saturate: bool) -> np.ndarray:
    """Codes [64, count] of the result."""
    values = c.source.values(codes.reshape(-1)).reshape(codes.shape)
    if c.scaled:
        exponent = (scale >> 23 & 0xFF).astype(np.float64)
        factor = np.where(exponent == 255, np.nan, np.exp2(exponent - 127))[:, None]
        values = values / factor if c.to.bits < c.source.bits else values * factor
    out = np.zeros(codes.shape, np.uint32)
    if saturate and c.to is narrow.F16:  # FP16_OVFL leaves infinity to f16
        values = np.where(np.isfinite(values), np.clip(values, -65504, 65504), values)
    saturate = saturate and c.to.bits == 8
    for i in range(c.count):
        if c.random:
            out[:, i] = narrow.stochastic(c.to, values[:, i], random, c.source.mantissa, saturate)
            random = narrow.next_random(random)
        else:
            out[:, i] = narrow.nearest(c.to, values[:, i], saturate)
    return out


def span(first: int, bits: int) -> str:
    return f"v{first}" if bits <= 32 else f"v[{first}:{first + bits // 32 - 1}]"


def parts(c: Conversion) -> tuple[int, int]:
    """Places in a register where the result, and where the source, may lie."""
    read = c.source.bits * c.count
    return max(1, 32 // c.bits), 32 // read if c.scaled and read < 32 else 1


def place(c: Conversion, word: int, part: int) -> str:
    """op_sel for the result in its byte or half `word`, the source in its byte or half `part`."""
    sel = [0, 0, 0, 0]
    if c.bits == 8:
        sel[2:] = [word & 1, word >> 1]
    elif c.bits == 16:
        sel[3] = word
    if parts(c)[1] == 4:
        sel[:2] = [part & 1, part >> 1]
    else:
        sel[0] |= part
    sources = 1 + c.pair + c.random + c.scaled
    if c.bits != 8:  # the last of the list is the result's
        sel = [*sel[:sources], sel[3]]
    return f" op_sel:[{','.join(map(str, sel))}]" if any(sel) else ""


def run(
    c: Conversion, target: str, mode: int, codes: np.ndarray, random: np.ndarray, scale: np.ndarray, trial: int
) -> np.ndarray:
    """Codes of the result [64, count]; checks that what lies beside a narrow result stays, and that EXEC holds."""
    read = c.source.bits * c.count
    word, part = (trial % count for count in parts(c))
    if read < 32:
        beside = RNG.integers(0, 1 << 32, (LANES, 1), np.uint32)
        shift = read * part
        packed = beside & ~np.uint32((1 << read) - 1 << shift) | pack(codes, c.source.bits) << np.uint32(shift)
        start: dict[int, object] = {SOURCE: packed}
    elif c.pair:
        start = {SOURCE: codes[:, 0::2].copy(), SECOND: codes[:, 1::2].copy()}
    else:
        start = {SOURCE: pack(codes, c.source.bits)}
    start |= {RANDOM: random, SCALE: scale}
    old = RNG.integers(0, 1 << 32, (LANES, max(1, c.bits // 32)), np.uint32)
    exec_ = (1 << 64) - 1 ^ 1 << 63
    operands = [span(DEST, c.bits), span(SOURCE, read // 2 if c.pair else read)]
    operands += [span(SECOND, read // 2)] * c.pair + [f"v{RANDOM}"] * c.random + [f"v{SCALE}"] * c.scaled
    line = f"{c.name} {', '.join(operands)}{place(c, word, part)}"
    after = run_lines(line, {**start, DEST: old}, target=target, mode=mode, exec=exec_)
    got = np.ascontiguousarray(after.v[DEST : DEST + old.shape[1]].T)
    assert np.array_equal(got[63], old[63]), "a lane outside of EXEC was written"
    if c.bits < 32:
        shift = c.bits * word
        kept = ~np.uint32((1 << c.bits) - 1 << shift)
        assert np.array_equal(got & kept, old & kept), "what lies beside the result was changed"
        got = got >> np.uint32(shift)
    single = np.unpackbits(got.view(np.uint8), axis=1, bitorder="little")[:, : c.bits].reshape(LANES, c.count, -1)
    return (single.astype(np.uint64) << np.arange(c.to.bits, dtype=np.uint64)).sum(axis=2).astype(np.uint32)


def same(f: Narrow, got: np.ndarray, want: np.ndarray) -> bool:
    """Equal codes; wide formats: any NaN where NaN is wanted."""
    if f.bits <= 8:
        return np.array_equal(got, want)
    a, b = (np.isnan(f.values(x.reshape(-1))).reshape(x.shape) for x in (got, want))
    return np.array_equal(a, b) and np.array_equal(got[~b], want[~b])


@pytest.mark.parametrize(("target", "name"), CASES)
def test_conversion(target: str, name: str) -> None:
    c = conversion(name, target)
    assert c
    for trial in range(6):
        random = RNG.integers(0, 1 << 32, LANES, np.uint32)
        scale = np.exp2(RNG.integers(-6, 7, LANES) if trial else np.zeros(LANES)).astype(np.float32)
        scale = (scale * RNG.uniform(1, 1.99, LANES).astype(np.float32)).view(np.uint32)  # only the exponent counts
        if trial == 5:
            scale[::7] = RNG.choice([0x7F800000, 0, 0x00812345, 0x7F000000], 10)
        mode = MODE | (OVERFLOW if trial == 4 else 0)
        codes = numbers(c)
        got = run(c, target, mode, codes, random, scale, trial)
        want = expect(c, codes, random, scale, trial == 4)
        assert same(c.to, got[:63], want[:63]), (trial, np.argwhere(got != want)[:4])
