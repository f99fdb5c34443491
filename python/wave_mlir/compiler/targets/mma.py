"""MMA kinds: what a matrix instruction computes and where each element of its operands lives.

An MMA computes `acc[row, col] += sum over k of lhs[row, k] * rhs[col, k]` on one wave. A kind is named
`ACC_MxNxK[_VARIANT]_OPERAND`, for example `f32_16x16x16_f16`; two operand types are named when lhs and rhs differ
(`f32_16x16x32_f8e4m3fnuz_f8e5m2fnuz`). Variants:

- `k8`, `k16`: a virtual kind. It covers twice the K of the plain kind, so that one lane reads 16 bytes of consecutive
  elements, 8 or 16, in one access; it is lowered to `instruction.count` instructions.
- `k4`: the instruction of the plain kind with another assignment of K to registers: a lane holds the K elements that
  are the rows its accumulator of a previous MMA held. Legal because a sum does not care for order, provided that lhs
  and rhs use the same assignment.
- `scaled`: operands with one E8M0 scale for each 32 elements along K.
- `xf32` as the operand: f32 values rounded to a 10-bit mantissa by the instruction.

Layouts are digits in mixed radix, fastest first within each source, as in `#wave.layout`. Their source is the matrix
instruction chapter of AMD's CDNA3, CDNA4 and RDNA4 ISA documents.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

# Bits of one element, by the name MLIR gives the element type.
DTYPE_BITS = {
    "f64": 64, "f32": 32, "i32": 32, "f16": 16, "bf16": 16, "i8": 8,
    "f8E4M3FNUZ": 8, "f8E5M2FNUZ": 8, "f8E4M3FN": 8, "f8E5M2": 8, "f8E8M0FNU": 8,
    "f6E2M3FN": 6, "f6E3M2FN": 6, "f4E2M1FN": 4,
}  # fmt: skip

# The two incompatible families of 8-bit floats: bias and special values differ.
F8_FLAVORS = {"FNUZ": ("f8E4M3FNUZ", "f8E5M2FNUZ"), "OCP": ("f8E4M3FN", "f8E5M2")}

# K elements that share one scale (OCP microscaling formats).
SCALE_BLOCK = 32


def flavor_of(dtype: str) -> str | None:
    """The 8-bit float flavour ("FNUZ" or "OCP") that `dtype` belongs to, or None for any other type."""
    return next((name for name, types in F8_FLAVORS.items() if dtype in types), None)


@dataclass(frozen=True)
class Digit:
    """One digit of a source: adds `digit * stride` to the coordinate of `dim`; `dim` None moves nothing."""

    source: str  # "reg" or "lane"
    extent: int
    dim: str | None  # "row", "col" or "k"
    stride: int

    def __str__(self) -> str:
        return f"{self.extent} : _" if self.dim is None else f"{self.extent} : {self.dim} * {self.stride}"


@dataclass(frozen=True)
class Fragment:
    """What the lanes of a wave hold of one operand.

    `elements` is the length of a lane's vector; element `r` of lane `l` has the coordinates of the digits of r (source
    "reg") plus those of l (source "lane"). For scales, `k` counts blocks of `SCALE_BLOCK` elements.
    """

    dtype: str
    digits: tuple[Digit, ...]

    def source(self, name: str) -> tuple[Digit, ...]:
        """Digits of "reg" or "lane", fastest first."""
        return tuple(d for d in self.digits if d.source == name)

    @property
    def reg(self) -> tuple[Digit, ...]:
        """Digits of the register number."""
        return self.source("reg")

    @property
    def lane(self) -> tuple[Digit, ...]:
        """Digits of the lane number."""
        return self.source("lane")

    @property
    def elements(self) -> int:
        """Elements one lane holds."""
        return prod(d.extent for d in self.reg)

    @property
    def registers(self) -> int:
        """32-bit registers one lane needs."""
        return -(-self.elements * DTYPE_BITS[self.dtype] // 32)

    def extent(self, dim: str) -> int:
        """Extent of the operand along `dim` (1 when no digit moves it)."""
        return 1 + sum((d.extent - 1) * d.stride for d in self.digits if d.dim == dim)

    @property
    def dims(self) -> tuple[str, ...]:
        """The dims the fragment has, in the order row, col, k."""
        present = {d.dim for d in self.digits}
        return tuple(d for d in ("row", "col", "k") if d in present)

    def coordinates(self, reg: int, lane: int) -> dict[str, int]:
        """Coordinates, by dim, of element `reg` of lane `lane`."""
        out = dict.fromkeys(self.dims, 0)
        rest = {"reg": reg, "lane": lane}
        for digit in self.digits:
            rest[digit.source], value = divmod(rest[digit.source], digit.extent)
            if digit.dim is not None:
                out[digit.dim] += value * digit.stride
        return out

    @property
    def contiguous(self) -> int:
        """Consecutive registers that are consecutive along k (or along row for an accumulator)."""
        first = self.reg[0] if self.reg else None
        return first.extent if first is not None and first.stride == 1 else 1

    def __str__(self) -> str:
        return f"reg = [{', '.join(map(str, self.reg))}], lane = [{', '.join(map(str, self.lane))}]"


@dataclass(frozen=True)
class Instruction:
    """How a kind is emitted.

    `op` is the MLIR operation, `m`, `n`, `k` its shape, `attributes` its further attributes as (name, MLIR text),
    `mnemonic` what the assembly shows. A kind with `count` > 1 takes as many operations in a chain: operation i uses
    elements [i * e, (i + 1) * e) of the lane's lhs and rhs vectors, e = elements / count.
    """

    op: str
    m: int
    n: int
    k: int
    mnemonic: str
    count: int = 1
    attributes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class MmaKind:
    """One MMA kind; see the module's text for the naming. `clocks` is for the whole kind on one SIMD."""

    name: str
    m: int
    n: int
    k: int
    lhs: Fragment
    rhs: Fragment
    acc: Fragment
    clocks: int
    instruction: Instruction
    lhs_scale: Fragment | None = None
    rhs_scale: Fragment | None = None
    operand_type: str = ""  # the operand as named: differs from lhs.dtype for xf32
    variant: str = ""  # "", "k4", "k8", "k16" or "scaled"

    @property
    def lhs_dtype(self) -> str:
        """Element type of lhs, as MLIR spells it."""
        return self.lhs.dtype

    @property
    def rhs_dtype(self) -> str:
        """Element type of rhs, as MLIR spells it."""
        return self.rhs.dtype

    @property
    def acc_dtype(self) -> str:
        """Element type of the accumulator, as MLIR spells it."""
        return self.acc.dtype

    @property
    def shape(self) -> dict[str, int]:
        """Extents by layout dim: row = m, col = n, k."""
        return {"row": self.m, "col": self.n, "k": self.k}

    @property
    def flops(self) -> int:
        """Multiplications and additions of the kind."""
        return 2 * self.m * self.n * self.k

    @property
    def is_scaled(self) -> bool:
        """Whether lhs and rhs come with block scales."""
        return self.lhs_scale is not None

    def transposed(self) -> MmaKind:
        """The kind with lhs and rhs exchanged in the instruction: its accumulator has columns where it had rows.

        lhs and rhs have the same layout but for the name of the dim, so that each fragment serves in either place.
        """
        other = {"row": "col", "col": "row"}
        digits = tuple(replace(d, dim=other.get(d.dim or "", d.dim)) for d in self.acc.digits)
        return replace(self, acc=replace(self.acc, digits=digits))

    @property
    def is_virtual(self) -> bool:
        """Whether the kind takes more than one instruction."""
        return self.instruction.count > 1

    @property
    def is_exact(self) -> bool:
        """Whether operands enter the products unrounded (xf32 rounds them)."""
        return self.operand_type == self.lhs.dtype

    @property
    def is_plain(self) -> bool:
        """Neither virtual, permuted, scaled, mixed nor rounding: what a default may be chosen from."""
        return not self.variant and self.is_exact and self.lhs.dtype == self.rhs.dtype


def kind_name(acc: str, shape: tuple[int, int, int], variant: str, lhs: str, rhs: str) -> str:
    """The name users type: `f32_16x16x16_f16`."""
    operands = [lhs.lower()] if lhs == rhs else [lhs.lower(), rhs.lower()]
    return "_".join([acc, "x".join(map(str, shape)), *([variant] if variant else []), *operands])
