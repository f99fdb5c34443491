"""Which math ops are written out, and for which element types."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from mlir import ir, rewrite
from mlir.dialects import vector
from mlir.dialects.builtin import ModuleOp

from ..diagnostics import PassError
from . import exponential, fast, logarithm, remainder, trigonometry
from .numbers import FORMATS, Constants, Kind, Real, through_f32

_FUNCTIONS: dict[str, Callable[..., Real]] = {
    "exp": exponential.exp,
    "exp2": exponential.exp2,
    "expm1": exponential.expm1,
    "sinh": exponential.sinh,
    "cosh": exponential.cosh,
    "tanh": exponential.tanh,
    "log": logarithm.log,
    "log2": logarithm.log2,
    "log10": logarithm.log10,
    "log1p": logarithm.log1p,
    "powf": logarithm.power,
    "cbrt": logarithm.cbrt,
    "sin": trigonometry.sin,
    "cos": trigonometry.cos,
    "tan": trigonometry.tan,
    "atan": trigonometry.atan,
    "atan2": trigonometry.atan2,
}
_TRIGONOMETRIC = ("sin", "cos", "tan")
# What LLVM writes out well around an instruction: by element type; of f8 and the like nothing.
_ROOTS = frozenset({"sqrt", "rsqrt"})
_F32 = _ROOTS | {"exp", "exp2", "log", "log2", "log10"}
_LEFT_TO_LLVM = {"f64": _ROOTS, "f32": _F32, "bf16": _F32, "f16": frozenset({"exp", "exp2", "log2", "sqrt"})}
_FLOATS = ("f64", "f32", "bf16", "f16", "f8E4M3FN", "f8E4M3FNUZ", "f8E5M2", "f8E5M2FNUZ")


@dataclass(frozen=True)
class Expansion:
    """Writes out the math ops of a module.

    fast: all as if they carried `fastmath<afn>`, and arithmetic of at most 32 bits as if by reciprocal and contracted.
    """

    fast: bool = False

    def run(self, module: ModuleOp) -> None:
        """Rewrite the module in place. Raises PassError."""
        constants: dict[ir.Block, Constants] = {}
        if self.fast:
            fast.relax(_collected(module, fast.RELAXED))
        for op in _collected(module, (*(f"math.{name}" for name in (*_FUNCTIONS, *_ROOTS)), "arith.remf")):
            with ir.InsertionPoint(op), op.location:
                result = self._expanded(op, constants)
            if result is not None:
                op.results[0].replace_all_uses_with(result)
                op.erase()

    def _expanded(self, op: ir.Operation, constants: dict[ir.Block, Constants]) -> ir.Value | None:
        """What the op computes; None: it stays."""
        name, kind = op.name.split(".")[1], _element(op)
        if name == "remf":
            return remainder.of_bf16(op) if kind == "bf16" else None
        left = name in _LEFT_TO_LLVM.get(kind, ())
        if (self.fast or _is_approximate(op)) and fast.can(name, op.results[0].type):
            return None if kind == "f16" and left else fast.build(op, name)
        if left:
            return None
        if name in _F32 and kind != "f64":
            return through_f32(op, lambda values: _again(op, values))
        block = _entry(op)
        made = constants.setdefault(block, Constants(block))
        number = Kind(FORMATS["f64" if kind == "f64" else "f32"], _flat_shape(op), made)
        function = _FUNCTIONS[name]
        if name in _TRIGONOMETRIC and kind == "f16":
            function = partial(function, bounded=True)
        return through_f32(op, lambda values: _flattened(values, number, function))


def _collected(module: ModuleOp, names: Iterable[str]) -> list[ir.Operation]:
    """The ops of these names, in order. The walk is MLIR's own: a module without any costs nothing."""
    found: list[ir.Operation] = []

    def collect(op: ir.OpView | ir.Operation, _: object) -> bool:
        found.append(op.operation)
        return True  # no match

    patterns = rewrite.RewritePatternSet()
    for name in names:
        patterns.add(name, collect)
    rewrite.walk_and_apply_patterns(module.operation, patterns.freeze())
    return found


def _element(op: ir.Operation) -> str:
    """Name of the element type. Raises PassError for one that nothing is known about."""
    kind = op.results[0].type
    if isinstance(kind, ir.VectorType) and kind.scalable:
        raise PassError(op, f"'{op.name}' on {kind}: the target has no scalable vectors; use one of fixed length")
    element = str(kind.element_type if isinstance(kind, ir.ShapedType) else kind)
    if element not in _FLOATS and op.name != "arith.remf":
        raise PassError(op, f"'{op.name}' on {element} has no expansion; cast to f32 or f64 before it")
    return element


def _flat_shape(op: ir.Operation) -> tuple[int, ...] | None:
    """Of scalars None, of vectors the number of elements."""
    kind = op.results[0].type
    return (math.prod(kind.shape),) if isinstance(kind, ir.VectorType) else None


def _flattened(values: list[ir.Value], number: Kind, function: Callable[..., Real]) -> ir.Value:
    """The function of values of one kind; vectors of other than one dim are computed as such of one."""
    kind = values[0].type
    if kind == number.float_type:
        return function(*(Real(v, number) for v in values)).ir
    flat = [vector.ShapeCastOp(number.float_type, v).result for v in values]
    return vector.ShapeCastOp(kind, function(*(Real(v, number) for v in flat)).ir).result


def _entry(op: ir.Operation) -> ir.Block:
    """The first block of the function the op is in."""
    parent = op
    while parent.name != "gpu.func":
        if parent.parent is None:
            raise PassError(op, f"'{op.name}' is not in a gpu.func; only kernels become machine code")
        parent = parent.parent.operation
    return parent.regions[0].blocks[0]


def _is_approximate(op: ir.Operation) -> bool:
    flags = str(op.attributes["fastmath"]) if "fastmath" in op.attributes else ""
    return "afn" in flags or "fast>" in flags


def _again(op: ir.Operation, values: list[ir.Value]) -> ir.Value:
    """The op on other operands."""
    return ir.Operation.create(op.name, results=[values[0].type], operands=values).results[0]
