"""What an MMA op computes: the roles of its dims, its kind."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from .diagnostics import PassError
from .kernel_info import KernelInfo
from .targets import MmaKind, Target, TargetError
from .tile_ir import element_type

TRANSPOSED = "wave.transposed"
"""Attribute of an MMA whose instruction takes rhs before lhs, so that a lane's accumulator runs along the columns."""


COLUMNS = "wave.columns"
"""Attribute of an MMA: so many neighbouring columns belong to as many instructions, in turn (default 1)."""


def interleaved_columns(op: ir.Operation) -> int:
    """In how many instructions neighbouring columns of an MMA are: column c is in instruction c mod this."""
    return ir.IntegerAttr(op.attributes[COLUMNS]).value if COLUMNS in op.attributes else 1


@dataclass(frozen=True)
class MmaShape:
    """Dims of an MMA by role, each list in the order of the operand it is from.

    `row`, `col` and `k` are the dims the instruction covers; `rows`, `cols`, `ks` and `batch` further ones, of which
    each element is an MMA of its own.
    """

    row: str
    col: str
    k: str
    rows: tuple[str, ...]
    cols: tuple[str, ...]
    ks: tuple[str, ...]
    batch: tuple[str, ...]

    @property
    def contracted(self) -> tuple[str, ...]:
        """All dims that are summed over."""
        return (*self.ks, self.k)


def operands(op: ir.Operation) -> tuple[ir.Value, ir.Value, ir.Value]:
    """lhs, rhs and accumulator of a `wave.mma` or `wave.scaled_mma`."""
    return tuple(op.operands[i] for i in ((0, 2, 4) if op.name == "wave.scaled_mma" else (0, 1, 2)))  # type: ignore


def scales(op: ir.Operation) -> tuple[ir.Value, ir.Value]:
    """The scales of a `wave.scaled_mma`."""
    return op.operands[1], op.operands[3]


def shape_of(op: ir.Operation, info: KernelInfo) -> MmaShape:
    """The roles of the dims of an MMA on tiles of known shape."""
    lhs, rhs, acc = (v.type.dims for v in operands(op))
    row, rows = _main([d for d in lhs if d not in rhs], info, op, "M")
    col, cols = _main([d for d in rhs if d not in lhs], info, op, "N")
    k, ks = _main([d for d in lhs if d in rhs and d not in acc], info, op, "K")
    return MmaShape(row, col, k, rows, cols, ks, tuple(d for d in lhs if d in rhs and d in acc))


def _main(dims: list[str], info: KernelInfo, op: ir.Operation, role: str) -> tuple[str, tuple[str, ...]]:
    """The dim that the instruction covers, the last that is no batch dim, and the others."""
    if not dims:
        lhs, rhs, acc = (f"[{', '.join(v.type.dims)}]" for v in operands(op))
        raise PassError(
            op,
            f"this MMA has no {role}: lhs {lhs}, rhs {rhs}, accumulator {acc}; M are the dims of lhs that rhs has "
            f"not, N those of rhs that lhs has not, K common ones that the accumulator has not",
        )
    main = next((d for d in reversed(dims) if info.vector_shape(d) != 0), dims[-1])
    return main, tuple(d for d in dims if d != main)


def default_kind(info: KernelInfo, op: ir.Operation) -> str:
    """The kind of an MMA that names none: the hardware constraint's, else the target's default for its operands."""
    scaled = op.name == "wave.scaled_mma"
    if info.hardware.mma and not scaled:
        return info.hardware.mma
    lhs, rhs, _ = (str(element_type(v.type)) for v in operands(op))
    try:
        if lhs == rhs and not scaled:
            return info.target.default_mma(lhs).name
        return _smallest(info.target, lhs, rhs, scaled).name
    except TargetError as e:
        raise PassError(op, str(e)) from None


def _smallest(target: Target, lhs: str, rhs: str, scaled: bool) -> MmaKind:
    fitting = [
        k for k in target.kinds
        if (k.lhs_dtype, k.rhs_dtype) == (lhs, rhs) and k.is_scaled == scaled and k.is_exact
        and k.variant in ("", "scaled")
    ]  # fmt: skip
    if not fitting:
        what = "scaled MMA" if scaled else "MMA"
        raise TargetError(f"{target.name} has no {what} of {lhs} by {rhs}; cast the operands to types it has")
    return min(fitting, key=lambda k: (k.clocks / k.flops, k.m * k.n, k.k))


def oriented(op: ir.Operation, kind: MmaKind) -> MmaKind:
    """The kind as the op uses it: with the accumulator transposed when the op says so."""
    return kind.transposed() if TRANSPOSED in op.attributes else kind


def kind_of(info: KernelInfo, op: ir.Operation) -> MmaKind:
    """The table entry of an MMA's kind. Raises PassError when the target has no such kind."""
    if "kind" not in op.attributes:
        raise PassError(op, "this MMA has no kind; run wave-infer-types")
    try:
        return oriented(op, info.target.mma(op.attributes["kind"].value))
    except TargetError as e:
        raise PassError(op, str(e)) from None
