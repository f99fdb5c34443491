"""Values for tests of arithmetic, and a way to send many of them through one instruction."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from snippet import LANES, MODE, run_lines

_REGISTERS = 240  # vector registers that one run may use

EDGES_32 = np.array(
    [
        0,
        1,
        2,
        31,
        32,
        63,
        0x7F,
        0x80,
        0xFF,
        0x7FFF,
        0x8000,
        0xFFFF,
        0x10000,
        0x7FFFFF,
        0x800000,
        0xFFFFFF,
        0x7FFFFFFF,
        0x80000000,
        0x80000001,
        0xFFFFFFFE,
        0xFFFFFFFF,
        0x01020408,
        0xFF00FF00,
    ],
    np.uint32,
)
EDGES_F32 = np.array(
    [
        0,
        0x80000000,
        1,
        0x80000001,
        0x7FFFFF,
        0x807FFFFF,
        0x800000,
        0x80800000,
        0x3F800000,
        0xBF800000,
        0x3F000000,
        0x3FC00000,
        0x40200000,
        0xC0200000,
        0x3F7FFFFF,
        0x3F800001,
        0x4B000000,
        0x4B7FFFFF,
        0x4EFFFFFF,
        0x4F000000,
        0xCF000000,
        0x4F7FFFFF,
        0x4F800000,
        0x7E800000,
        0x7F000000,
        0x7F7FFFFF,
        0xFF7FFFFF,
        0x7F800000,
        0xFF800000,
        0x7FC00001,
        0xFFC01234,
        0x7F800001,
        0xFFA00000,
    ],
    np.uint32,
)
EDGES_F16 = np.array(
    [
        0,
        0x8000,
        1,
        0x8001,
        0x3FF,
        0x83FF,
        0x400,
        0x8400,
        0x3C00,
        0xBC00,
        0x3800,
        0x3E00,
        0x4100,
        0xC100,
        0x3BFF,
        0x3C01,
        0x6400,
        0x7800,
        0x7BFF,
        0xFBFF,
        0x7C00,
        0xFC00,
        0x7E01,
        0xFE12,
        0x7C01,
        0xFD00,
    ],
    np.uint16,
)
EDGES_F64 = np.array(
    [
        0.0,
        -0.0,
        5e-324,
        -5e-324,
        2.2250738585072014e-308,
        1.0,
        -1.0,
        0.5,
        1.5,
        2.5,
        -2.5,
        3.3,
        1e300,
        -1e300,
        1.7976931348623157e308,
        math.inf,
        -math.inf,
        4503599627370497.5,
        2147483647.5,
        -2147483648.9,
        4294967295.5,
        1e-310,
    ],
    np.float64,
).view(np.uint64)
ALL_F16 = np.arange(1 << 16, dtype=np.uint16)


def words(count: int, seed: int = 0, dtype: type = np.uint32) -> np.ndarray:
    """Random raw bits."""
    return np.random.default_rng(seed).integers(0, np.iinfo(dtype).max, count, dtype, endpoint=True)


def pairs(edges: np.ndarray, more: int = 400, seed: int = 1) -> list[np.ndarray]:
    """Two arrays: all pairs of edges, then random ones."""
    a, b = (x.reshape(-1) for x in np.meshgrid(edges, edges))
    return [np.concatenate([x, words(more, seed + i, edges.dtype.type)]) for i, x in enumerate((a, b))]


def triples(edges: np.ndarray, more: int = 1500, seed: int = 3) -> list[np.ndarray]:
    """Three arrays: random edges together, then random words, then edges among them."""
    generator = np.random.default_rng(seed)
    out = []
    for i in range(3):
        chosen, noise = generator.choice(edges, 2 * more), words(2 * more, seed + 10 + i, edges.dtype.type)
        mixed = np.where(generator.random(2 * more) < 0.5, chosen, noise)
        out.append(np.concatenate([chosen[:more], noise[:more], mixed]))
    return out


def apply(
    line: str,
    *sources: np.ndarray,
    out: int = 32,
    old: np.ndarray | int = 0xFFBADBAD,
    mode: int = MODE,
    target: str = "gfx942",
    vcc: int | None = None,
) -> np.ndarray:
    """Results of one instruction, whose text has {d}, {a}, {b} and {c}, for arrays of raw bits of equal length.

    out: bits of the result, 32 or 64. old: what the destination holds before (32 bits).
    """
    count = len(sources[0])
    widths = [2 if s.dtype.itemsize == 8 else 1 for s in sources]
    step = sum(widths) + out // 32
    per_run = _REGISTERS // (step + 1)
    results = []
    padded = [np.concatenate([s, np.zeros(-count % LANES, s.dtype)]).reshape(-1, LANES) for s in sources]
    olds = np.broadcast_to(np.asarray(old, np.uint32), (count,))
    olds = np.concatenate([olds, np.zeros(-count % LANES, np.uint32)]).reshape(-1, LANES)
    for first in range(0, len(padded[0]), per_run):
        rows = range(first, min(first + per_run, len(padded[0])))
        vgprs, lines, at, where = {}, [], 0, []
        for row in rows:
            names = {}
            for name, source, width in zip("abc", padded, widths, strict=False):
                at += at % width
                vgprs[at] = source[row]
                names[name] = f"v{at}" if width == 1 else f"v[{at}:{at + 1}]"
                at += width
            at += at % (out // 32)
            vgprs.update({at + i: olds[row] for i in range(out // 32)})
            names["d"] = f"v{at}" if out == 32 else f"v[{at}:{at + 1}]"
            where.append(at)
            at += out // 32
            lines.append(line.format(**names))
        after = run_lines(lines, vgprs, mode=mode, target=target, vcc=vcc)
        results += [after.v[d].copy() if out == 32 else after.v64(d) for d in where]
    return np.concatenate(results)[:count]


def same_floats(got: np.ndarray, want: np.ndarray, bits: int) -> np.ndarray:
    """Where two arrays of raw floats differ; all NaNs are alike, zeros of both signs are not."""
    kind = {16: np.float16, 32: np.float32, 64: np.float64}[bits]
    got, want = got.astype(f"u{bits // 8}"), want.astype(f"u{bits // 8}")
    both = np.isnan(got.view(kind)) & np.isnan(want.view(kind))
    return np.flatnonzero(~both & (got != want))


def check_floats(got: np.ndarray, want: np.ndarray, bits: int, *inputs: np.ndarray) -> None:
    """Raise AssertionError with the first differing lanes."""
    wrong = same_floats(got, want, bits)
    shown = [tuple(hex(int(x[i])) for x in (*inputs, got, want)) for i in wrong[:5]]
    assert not len(wrong), f"{len(wrong)} differ; inputs, result, expected: {shown}"


def check_bits(got: np.ndarray, want: np.ndarray, *inputs: np.ndarray) -> None:
    """Raise AssertionError with the first differing lanes."""
    wrong = np.flatnonzero(got != want)
    shown = [tuple(hex(int(x[i])) for x in (*inputs, got, want)) for i in wrong[:5]]
    assert not len(wrong), f"{len(wrong)} differ; inputs, result, expected: {shown}"


_FORMATS = {16: (10, -14, 15), 32: (23, -126, 127), 64: (52, -1022, 1023)}


def round_exact(value: Fraction, bits: int, mode: str = "nearest") -> int:
    """Raw bits of the float of a format that an exact value rounds to: nearest (even), up, down or zero.

    An exact 0 gives +0. Independent of the host's floating point.
    """
    mantissa, least, most = _FORMATS[bits]
    if value == 0:
        return 0
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, least) - mantissa)
    units, rest = divmod(size, unit)
    units = int(units)
    away = {"up": value > 0, "down": value < 0, "zero": False, "nearest": True}[mode]
    if mode == "nearest":
        units += rest * 2 > unit or (rest * 2 == unit and units % 2 == 1)
    elif away and rest:
        units += 1
    sign = (value < 0) << (bits - 1)
    limit = Fraction(2) ** (most + 1)
    infinity = (2 * most + 1) << mantissa
    if units * unit >= limit:
        return sign | (infinity if away else infinity - 1)
    if units < 1 << mantissa:
        return sign | units
    top = units.bit_length() - 1
    exponent = top - mantissa + max(exponent, least) if units >= 1 << (mantissa + 1) else max(exponent, least)
    kept = units >> (top - mantissa)
    return sign | (exponent + most) << mantissa | (kept & ((1 << mantissa) - 1))


def to_float(raw: int, bits: int) -> float:
    """The value of raw bits."""
    kind = {16: np.float16, 32: np.float32, 64: np.float64}[bits]
    return float(np.array([raw], f"u{bits // 8}").view(kind)[0])
