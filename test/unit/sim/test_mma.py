"""Matrix instructions against numpy; the layouts here are the tables of the language's specification, lane by lane."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from sim_harness import NUMPY, lanewise

RNG = np.random.default_rng(3)


def rows_of(m: int, lane: int, register: int) -> int:
    """Accumulator row: 16-wide 4*(l div 16)+r; 32-wide 8*(r div 4)+4*(l div 32)+(r mod 4)."""
    if m == 16:
        return 4 * (lane // 16) + register
    return 8 * (register // 4) + 4 * (lane // 32) + register % 4


def spread(matrix: np.ndarray, held: int) -> np.ndarray:
    """Rows x K to (64, held): lane l holds row l mod M from K = held*(l div M) on."""
    m = matrix.shape[0]
    return np.stack([matrix[lane % m, held * (lane // m) : held * (lane // m) + held] for lane in range(64)])


CASES = [
    ("f16", 16, 16, 4),
    ("bf16", 16, 16, 4),
    ("f16", 32, 8, 4),
    ("bf16", 32, 8, 4),
    ("f16", 16, 32, 8),
    ("bf16", 16, 32, 8),
    ("f16", 32, 16, 8),
    ("bf16", 32, 16, 8),
    ("f8E4M3FNUZ", 16, 32, 8),
    ("f8E5M2FNUZ", 32, 16, 8),
    ("f8E4M3FN", 16, 32, 8),
    ("f8E5M2", 32, 16, 8),
    ("i8", 16, 16, 4),
    ("i8", 32, 8, 4),
    ("i8", 16, 32, 8),
    ("i8", 32, 16, 8),
    ("i8", 16, 64, 16),
    ("i8", 32, 32, 16),
    ("f32", 16, 4, 1),
    ("f32", 32, 2, 1),
]


def operand(kind: str, held: int) -> str:
    return kind if held == 1 else f"vector<{held}x{kind}>"


@pytest.mark.parametrize("kind, m, k, held", CASES)
def test_mfma(kind, m, k, held):
    high = 128 if kind == "i8" else 5
    a, b = (RNG.integers(-high, high, (m, k)).astype(NUMPY[kind]) for _ in range(2))
    out = "i32" if kind == "i8" else "f32"
    registers = m * m // 64
    c = RNG.integers(-100, 100, (m, m)).astype(NUMPY[out])
    c_lanes = np.array([[c[rows_of(m, lane, r), lane % m] for r in range(registers)] for lane in range(64)])
    body = f"""%y0 = amdgpu.mfma {m}x{m}x{k} %x0 * %x1 + %x2 blgp = none
        : {operand(kind, held)}, {operand(kind, held)}, vector<{registers}x{out}>"""
    inputs = [
        (operand(kind, held), spread(a, held)),
        (operand(kind, held), spread(b, held)),
        (f"vector<{registers}x{out}>", c_lanes),
    ]
    (got,) = lanewise(body, inputs, [f"vector<{registers}x{out}>"])
    want = a.astype(np.float64) @ b.astype(np.float64).T + c
    for lane in range(64):
        for r in range(registers):
            assert got[lane, r] == want[rows_of(m, lane, r), lane % m]


def test_mfma_of_blocks():
    """32x32x1 with 2 blocks: lane l holds row l mod 32 of block l div 32; block b from register 16*b."""
    a, b = RNG.integers(-5, 5, (2, 64)).astype(np.float32)
    body = """%z = arith.constant dense<0.0> : vector<32xf32>
      %y0 = amdgpu.mfma 32x32x1 %x0 * %x1 + %z {blocks = 2 : i32} blgp = none : f32, f32, vector<32xf32>"""
    (got,) = lanewise(body, [("f32", a), ("f32", b)], ["vector<32xf32>"])
    for lane in range(64):
        for r in range(32):
            block, row = r // 16, rows_of(32, lane, r % 16)
            assert got[lane, r] == a[32 * block + row] * b[32 * block + lane % 32]


def test_mfma_4x4():
    """4x4x4 with 16 blocks, f16: lane l holds row l mod 4 of block l div 4 and column likewise; registers are rows."""
    a, b = RNG.integers(-5, 5, (2, 64, 4)).astype(np.float16)
    body = """%z = arith.constant dense<0.0> : vector<4xf32>
      %y0 = amdgpu.mfma 4x4x4 %x0 * %x1 + %z {blocks = 16 : i32} blgp = none
          : vector<4xf16>, vector<4xf16>, vector<4xf32>"""
    (got,) = lanewise(body, [("vector<4xf16>", a), ("vector<4xf16>", b)], ["vector<4xf32>"])
    for lane in range(64):
        for r in range(4):
            assert got[lane, r] == float(a[lane // 4 * 4 + r].astype(float) @ b[lane].astype(float))


def test_mfma_f64():
    """16x16x4 f64: lane l holds row l mod 16 at k = l div 16; register r of lane l is row 4*r + l div 16."""
    a, b = RNG.integers(-9, 9, (2, 16, 4)).astype(np.float64)
    body = """%z = arith.constant dense<0.0> : vector<4xf64>
      %y0 = amdgpu.mfma 16x16x4 %x0 * %x1 + %z blgp = none : f64, f64, vector<4xf64>"""
    (got,) = lanewise(body, [("f64", spread(a, 1)[:, 0]), ("f64", spread(b, 1)[:, 0])], ["vector<4xf64>"])
    want = a @ b.T
    for lane in range(64):
        for r in range(4):
            assert got[lane, r] == want[4 * r + lane // 16, lane % 16]


def test_mfma_accumulates_in_f32():
    a = np.full((16, 16), 2.0**10, np.float16)
    b = np.full((16, 16), 2.0**-10, np.float16)
    body = """%c = arith.constant dense<16777216.0> : vector<4xf32>
      %y0 = amdgpu.mfma 16x16x16 %x0 * %x1 + %c blgp = none : vector<4xf16>, vector<4xf16>, vector<4xf32>"""
    (got,) = lanewise(body, [("vector<4xf16>", spread(a, 4)), ("vector<4xf16>", spread(b, 4))], ["vector<4xf32>"])
    assert (got == np.float32(16777232)).all()


def scaled_position(m: int, k: int, bits: int, lane: int, r: int) -> int:
    """K of element r: f8 64*(r div 16)+16*(l div 16)+(r mod 16) (or 32-wide), f4 32*(l div M)+r."""
    if bits == 8:
        return k // 2 * (r // 16) + 16 * (lane // m) + r % 16
    return 32 * (lane // m) + r


@pytest.mark.parametrize("m, k", [(16, 128), (32, 64)])
def test_scaled_mfma_f8(m, k):
    a, b = (RNG.integers(-4, 5, (m, k)).astype(np.float32) for _ in range(2))
    sa, sb = (RNG.integers(-2, 3, (m, k // 32)) for _ in range(2))
    lanes = [
        np.array([[v[lane % m, scaled_position(m, k, 8, lane, r)] for r in range(32)] for lane in range(64)])
        for v in (a, b)
    ]
    scales = []
    for s, byte in ((sa, 1), (sb, 2)):
        packed = np.full((64, 4), 100, np.uint8)
        packed[:, byte] = [127 + s[lane % m, lane // m] for lane in range(64)]
        scales.append(packed.view(ml_dtypes.float8_e8m0fnu))
    registers = m * m // 64
    body = f"""%z = arith.constant dense<0.0> : vector<{registers}xf32>
      %y0 = amdgpu.scaled_mfma {m}x{m}x{k} (%x2[1] * %x0) * (%x3[2] * %x1) + %z : vector<4xf8E8M0FNU>,
          vector<32xf8E4M3FN>, vector<4xf8E8M0FNU>, vector<32xf8E4M3FN>, vector<{registers}xf32>"""
    inputs = [
        ("vector<32xf8E4M3FN>", lanes[0]),
        ("vector<32xf8E4M3FN>", lanes[1]),
        ("vector<4xf8E8M0FNU>", scales[0]),
        ("vector<4xf8E8M0FNU>", scales[1]),
    ]
    (got,) = lanewise(body, inputs, [f"vector<{registers}xf32>"], target="gfx950")
    x, y = (v * np.repeat(2.0**s, 32, axis=1) for v, s in ((a, sa), (b, sb)))
    want = x @ y.T
    for lane in range(64):
        for r in range(registers):
            assert got[lane, r] == want[rows_of(m, lane, r), lane % m]


def test_scaled_mfma_f4():
    """f4 values come packed two a byte; lane l holds K 32*(l div 16) on."""
    codes = RNG.integers(0, 16, (2, 16, 128)).astype(np.uint8)
    table = np.arange(16, dtype=np.uint8).view(ml_dtypes.float4_e2m1fn).astype(np.float64)
    packed = []
    for matrix in codes:
        lane = np.stack([matrix[i % 16, 32 * (i // 16) : 32 * (i // 16) + 32] for i in range(64)])
        packed.append((lane[:, 0::2] | lane[:, 1::2] << 4).view(np.int8))
    body = """%z = arith.constant dense<0.0> : vector<4xf32>
      %a = vector.bitcast %x0 : vector<16xi8> to vector<32xf4E2M1FN>
      %b = vector.bitcast %x1 : vector<16xi8> to vector<32xf4E2M1FN>
      %s = arith.constant dense<1.0> : vector<4xf8E8M0FNU>
      %y0 = amdgpu.scaled_mfma 16x16x128 (%s[0] * %a) * (%s[0] * %b) + %z : vector<4xf8E8M0FNU>, vector<32xf4E2M1FN>,
          vector<4xf8E8M0FNU>, vector<32xf4E2M1FN>, vector<4xf32>"""
    (got,) = lanewise(
        body, [("vector<16xi8>", packed[0]), ("vector<16xi8>", packed[1])], ["vector<4xf32>"], target="gfx950"
    )
    want = table[codes[0]] @ table[codes[1]].T
    for lane in range(64):
        for r in range(4):
            assert got[lane, r] == want[rows_of(16, lane, r), lane % 16]


@pytest.mark.parametrize(
    "kind, out", [("f16", "f32"), ("bf16", "f32"), ("f16", "f16"), ("i8", "i32"), ("f8E4M3FN", "f32")]
)
def test_wmma(kind, out):
    """Wave32: lane l holds row l mod 16, K 8*(l div 16) on; accumulator row 8*(l div 16)+r, column l mod 16."""
    a, b = (RNG.integers(-5, 5, (16, 16)).astype(NUMPY[kind]) for _ in range(2))
    lanes = [np.stack([v[i % 16, 8 * (i // 16) : 8 * (i // 16) + 8] for i in range(32)]) for v in (a, b)]
    zero = "0" if out == "i32" else "0.0"
    body = f"""%z = arith.constant dense<{zero}> : vector<8x{out}>
      %y0 = amdgpu.wmma 16x16x16 %x0 * %x1 + %z : vector<8x{kind}>, vector<8x{kind}>, vector<8x{out}>"""
    (got,) = lanewise(body, [(f"vector<8x{kind}>", v) for v in lanes], [f"vector<8x{out}>"], target="gfx1201", lanes=32)
    want = a.astype(np.float64) @ b.astype(np.float64).T
    for lane in range(32):
        for r in range(8):
            assert got[lane, r] == want[8 * (lane // 16) + r, lane % 16]
