"""Builders of the MFMA kinds (wave of 64 lanes) that the tables of the CDNA targets are made of."""

from __future__ import annotations

from collections.abc import Iterable

from .mma import Digit, Fragment, Instruction, MmaKind, kind_name

WAVE = 64

# How an operand type is spelled in mnemonics.
_SHORT = {
    "f8E4M3FNUZ": "fp8", "f8E4M3FN": "fp8", "f8E5M2FNUZ": "bf8", "f8E5M2": "bf8",
    "f16": "f16", "bf16": "bf16", "i8": "i8", "f32": "f32", "xf32": "xf32", "f64": "f64",
}  # fmt: skip


def _operand(dtype: str, dim: str, wide: int, reg: Iterable[Digit], lane_k: int) -> Fragment:
    """Lanes run along `dim` first, then along k in steps of `lane_k`."""
    lane = (Digit("lane", wide, dim, 1), Digit("lane", WAVE // wide, "k", lane_k))
    return Fragment(dtype, (*(d for d in reg if d.extent > 1), *lane))


def consecutive(dtype: str, dim: str, wide: int, elements: int) -> Fragment:
    """A lane holds `elements` consecutive k of one row (column)."""
    return _operand(dtype, dim, wide, [Digit("reg", elements, "k", 1)], elements)


def permuted(dtype: str, dim: str, wide: int, elements: int) -> Fragment:
    """A lane holds as k what its accumulator holds as rows: 4 of every 256 / `wide` consecutive ones."""
    groups = WAVE // wide
    reg = [Digit("reg", 4, "k", 1), Digit("reg", elements // 4, "k", 4 * groups)]
    return _operand(dtype, dim, wide, reg, 4)


def split_halves(dtype: str, dim: str, wide: int, elements: int) -> Fragment:
    """8-bit operands of the f8f6f4 instructions: two runs of 16 k, half of K apart."""
    groups = WAVE // wide
    reg = [Digit("reg", 16, "k", 1), Digit("reg", elements // 16, "k", 16 * groups)]
    return _operand(dtype, dim, wide, reg, 16)


def accumulator(dtype: str, wide: int) -> Fragment:
    """Columns along the lanes, rows in runs of four."""
    groups = WAVE // wide
    reg = [Digit("reg", 4, "row", 1)]
    if wide * wide // WAVE > 4:
        reg.append(Digit("reg", wide * wide // WAVE // 4, "row", 4 * groups))
    return Fragment(dtype, (*reg, Digit("lane", wide, "col", 1), Digit("lane", groups, "row", 4)))


def accumulator_f64() -> Fragment:
    """16x16 of f64: rows of one lane are 4 apart."""
    return Fragment("f64", (Digit("reg", 4, "row", 4), Digit("lane", 16, "col", 1), Digit("lane", 4, "row", 1)))


def _mnemonic(acc: str, shape: tuple[int, int, int], lhs: str, rhs: str) -> str:
    operands = _SHORT[lhs] if flavorless(lhs) else f"{_SHORT[lhs]}_{_SHORT[rhs]}"
    return f"v_mfma_{acc}_{'x'.join(map(str, shape))}_{operands}"


def flavorless(dtype: str) -> bool:
    """Whether mnemonics name the operand type once."""
    return _SHORT[dtype] not in ("fp8", "bf8")


def dense(wide: int, k: int, lhs: str, clocks: int, rhs: str = "", variant: str = "", mnemonic: str = "") -> MmaKind:
    """One dense MFMA kind of shape `wide` x `wide` x `k`.

    `variant`: "" or "k4" (permuted K); `mnemonic` when the assembly does not spell it as CDNA3 does.
    `xf32` operands are f32 to MLIR.
    """
    rhs = rhs or lhs
    acc = {"i8": "i32", "f64": "f64"}.get(lhs, "f32")
    elements = wide * k // WAVE
    layout = permuted if variant == "k4" else consecutive
    attributes = (("reducePrecision", "unit"),) if lhs == "xf32" else ()
    mlir = {"xf32": "f32"}
    shape = (wide, wide, k)
    return MmaKind(
        name=kind_name(acc, shape, variant, lhs, rhs),
        m=wide, n=wide, k=k,
        lhs=layout(mlir.get(lhs, lhs), "row", wide, elements),
        rhs=layout(mlir.get(rhs, rhs), "col", wide, elements),
        acc=accumulator_f64() if acc == "f64" else accumulator(acc, wide),
        clocks=clocks,
        instruction=Instruction(
            "amdgpu.mfma", *shape, mnemonic or _mnemonic(acc, shape, lhs, rhs), attributes=attributes
        ),
        operand_type=lhs,
        variant=variant,
    )  # fmt: skip


def virtual(plain: MmaKind, count: int) -> MmaKind:
    """`count` instructions of the kind `plain` behind one access of as many times its elements of A and of B."""
    k = plain.k * count
    elements = plain.lhs.elements * count
    variant = f"k{elements}"
    inner = plain.instruction
    return MmaKind(
        name=kind_name(plain.acc_dtype, (plain.m, plain.n, k), variant, plain.lhs_dtype, plain.rhs_dtype),
        m=plain.m, n=plain.n, k=k,
        lhs=consecutive(plain.lhs_dtype, "row", plain.m, elements),
        rhs=consecutive(plain.rhs_dtype, "col", plain.n, elements),
        acc=plain.acc,
        clocks=plain.clocks * count,
        instruction=Instruction(inner.op, inner.m, inner.n, inner.k, inner.mnemonic, count, inner.attributes),
        operand_type=plain.operand_type,
        variant=variant,
    )  # fmt: skip


def f8f6f4(wide: int, lhs: str, rhs: str, scaled: bool) -> MmaKind:
    """The CDNA4 instructions on 8, 6 and 4-bit floats, 16x16x128 and 32x32x64.

    Clocks: 16 (32 for 32x32x64) when both operands have 6 or 4 bits, twice that when one has 8.
    """
    k = 2048 // wide
    shape = (wide, wide, k)

    def fragment(dtype: str, dim: str) -> Fragment:
        layout = split_halves if dtype.startswith("f8") else consecutive
        return layout(dtype, dim, wide, 32)

    def scale(dim: str) -> Fragment:
        return Fragment("f8E8M0FNU", (Digit("lane", wide, dim, 1), Digit("lane", WAVE // wide, "k", 1)))

    op = "amdgpu.scaled_mfma" if scaled else "amdgpu.mfma"
    mnemonic = f"v_mfma_{'scale_' if scaled else ''}f32_{'x'.join(map(str, shape))}_f8f6f4"
    return MmaKind(
        name=kind_name("f32", shape, "scaled" if scaled else "", lhs, rhs),
        m=wide, n=wide, k=k,
        lhs=fragment(lhs, "row"),
        rhs=fragment(rhs, "col"),
        acc=accumulator("f32", wide),
        clocks=wide * (2 if "f8" in (lhs[:2], rhs[:2]) else 1),
        instruction=Instruction(op, *shape, mnemonic),
        lhs_scale=scale("row") if scaled else None,
        rhs_scale=scale("col") if scaled else None,
        operand_type=lhs,
        variant="scaled" if scaled else "",
    )  # fmt: skip


def f8_pairs(types: tuple[str, str]) -> list[tuple[str, str]]:
    """Every (lhs, rhs) of the two 8-bit types."""
    return [(a, b) for a in types for b in types]
