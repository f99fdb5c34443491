"""Matrix instructions by their names: shapes, element types, where elements live. Formulas of their own, by lane."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

import ml_dtypes
import numpy as np

LANES = 64

# numpy types of elements by the name in the mnemonic; f8 of gfx950
TYPES: dict[str, np.dtype] = {
    "f32": np.dtype(np.float32),
    "xf32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "i8": np.dtype(np.int8),
    "i32": np.dtype(np.int32),
    "fp8": np.dtype(ml_dtypes.float8_e4m3fn),
    "bf8": np.dtype(ml_dtypes.float8_e5m2),
    "fp6": np.dtype(ml_dtypes.float6_e2m3fn),
    "bf6": np.dtype(ml_dtypes.float6_e3m2fn),
    "fp4": np.dtype(ml_dtypes.float4_e2m1fn),
}
FNUZ = {"fp8": np.dtype(ml_dtypes.float8_e4m3fnuz), "bf8": np.dtype(ml_dtypes.float8_e5m2fnuz)}
BITS = {"f32": 32, "xf32": 32, "f64": 64, "f16": 16, "bf16": 16, "i8": 8, "fp8": 8, "bf8": 8, "fp6": 6, "bf6": 6}
BITS |= {"fp4": 4, "i32": 32}


def numpy_type(name: str, target: str) -> np.dtype:
    """The numpy type of an element."""
    return FNUZ.get(name, TYPES[name]) if target == "gfx942" else TYPES[name]


@dataclass(frozen=True)
class Matrix:
    """An instruction: acc[block] += a[block] (m x k) * b[block] (k x m)."""

    mnemonic: str
    m: int
    k: int
    blocks: int
    a: str
    b: str
    acc: str
    sparse: bool = False
    mixed: bool = False  # f8f6f4: formats are operands' modifiers
    scaled: bool = False

    @property
    def held(self) -> int:
        """Elements of B in a lane; of dense A, too."""
        return self.k * self.m * self.blocks // LANES

    @property
    def outputs(self) -> int:
        """Elements of the accumulator in a lane."""
        return self.m * self.m * self.blocks // LANES


_NAME = re.compile(
    r"v_(s?)mf(?:ma|mac)_(scale_)?([fi]\d+)_(\d+)x(\d+)x(\d+)(?:_(\d+)b)?_?"
    r"(f8f6f4|xf32|bf16|f16|f32|f64|i8|[fb][pf]8)(?:_([fb][pf]8))?(?:_1k)?$"
)


# Elements of A that a lane holds in the instructions with several blocks.
_LEAST = {"f32": 1, "f64": 1, "f16": 4, "bf16": 4, "i8": 4}


def parse(mnemonic: str, a: str = "", b: str = "") -> Matrix:
    """The instruction of a mnemonic; `a`, `b`: formats of an f8f6f4 one."""
    match = _NAME.match(mnemonic)
    assert match, mnemonic
    sparse, scaled, acc, m, n, k, blocks, first, second = match.groups()
    assert m == n
    if not blocks:  # old names do not say: all lanes hold so many rows of A, of `least` elements each
        blocks = max(1, LANES * _LEAST.get(first, 0) // (int(m) * int(k)))
    if first == "f8f6f4":
        return Matrix(mnemonic, int(m), int(k), 1, a, b, acc, False, True, bool(scaled))
    return Matrix(mnemonic, int(m), int(k), int(blocks), first, second or first, acc, bool(sparse))


def operand_place(op: Matrix, element: str, lane: int, r: int) -> tuple[int, int, int]:
    """(block, row or column, k) of element r of a lane of A or B."""
    group, rest = divmod(lane, op.m * op.blocks)
    block, row = divmod(rest, op.m)
    if op.mixed and BITS[element] == 8:
        return block, row, op.k // 2 * (r // 16) + 16 * group + r % 16
    return block, row, group * op.held + r


def accumulator_place(op: Matrix, lane: int, r: int) -> tuple[int, int, int]:
    """(block, row, column) of element r of a lane of C or D."""
    column = lane % op.m
    if op.acc == "f64":
        return (0, 4 * r + lane // 16, column) if op.m == 16 else (lane // 4 % 4, lane // 16, column)
    if op.m == 4:
        return lane // 4, r, column
    each = op.m * op.m // LANES  # registers of a block
    block, r = divmod(r, each)
    return block, 8 * (r // 4) + 4 * (lane // 32) + r % 4 if op.m == 32 else 4 * (lane // 16) + r, column


def codes(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Raw bits of the values as `dtype`, which must hold them."""
    cast = values.astype(dtype)
    width = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[cast.dtype.itemsize]
    return cast.view(width)


def pack(elements: np.ndarray, bits: int) -> np.ndarray:
    """u32[64, registers]: codes [64, n] packed without gaps, low bits first, filled with zeros."""
    shifts = np.arange(bits, dtype=np.uint64)
    single = (elements.astype(np.uint64)[:, :, None] >> shifts & np.uint64(1)).astype(np.uint8).reshape(LANES, -1)
    filled = np.pad(single, ((0, 0), (0, -single.shape[1] % 32)))
    return np.packbits(filled, axis=1, bitorder="little").view(np.uint32)


@cache
def _operand_places(op: Matrix, element: str, held: int) -> tuple[np.ndarray, ...]:
    """Indices [64, held] of blocks, rows or columns, and k; of sparse A, of its stored elements."""

    def place(lane: int, r: int) -> tuple[int, int, int]:
        if held == op.held:
            return operand_place(op, element, lane, r)
        return lane // (op.m * op.blocks) % op.blocks, lane % op.m, lane // op.m * held + r

    return tuple(np.array([[place(x, r) for r in range(held)] for x in range(LANES)]).transpose(2, 0, 1))


@cache
def _accumulator_places(op: Matrix) -> tuple[np.ndarray, ...]:
    """Indices [64, elements] of blocks, rows and columns."""
    places = [[accumulator_place(op, x, r) for r in range(op.outputs)] for x in range(LANES)]
    return tuple(np.array(places).transpose(2, 0, 1))


def pack_operand(op: Matrix, element: str, raw: np.ndarray, held: int | None = None) -> np.ndarray:
    """u32[64, registers] of A or B, raw codes [block, row or column, k]; `held`: of sparse A, elements in a lane."""
    return pack(raw[_operand_places(op, element, held or op.held)], BITS[element])


def pack_accumulator(op: Matrix, values: np.ndarray) -> np.ndarray:
    """u32[64, registers] of C, values [block, row, column]."""
    raw = codes(values, TYPES[op.acc])[_accumulator_places(op)]
    return np.ascontiguousarray(raw).view(np.uint32).reshape(LANES, -1)


def unpack_accumulator(op: Matrix, registers: np.ndarray) -> np.ndarray:
    """[block, row, column] of D, registers u32[n, 64]."""
    out = np.zeros((op.blocks, op.m, op.m), TYPES[op.acc])
    out[_accumulator_places(op)] = np.ascontiguousarray(registers.T).view(TYPES[op.acc]).reshape(LANES, op.outputs)
    return out
