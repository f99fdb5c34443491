"""`run`: bind arguments of a tile-form kernel and evaluate it for every workgroup."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
from mlir import ir

from wave_mlir.compiler.array_strides import RUN_TIME, element_strides, fault, span
from wave_mlir.dialect import (
    Expr,
    GridConstraintAttr,
    MemoryType,
    ReorderingConstraintAttr,
    TilingConstraintAttr,
    WorkgroupConstraintAttr,
)
from wave_mlir.dialect.wave import KernelOp

from ..dtypes import element_type
from ..errors import SimError
from .evaluate import Evaluator, Memory
from .scope import Scope, axis_name
from .tiles import Tile


def run(
    module: ir.Module,
    args: Sequence[object],
    symbols: Mapping[str, int] | None = None,
    kernel: str | None = None,
) -> None:
    """Evaluate a kernel in tile form.

    args: numpy arrays for the memories in signature order (updated in place; with the strides that the memories
    declare), numbers for the scalars, then, unless `symbols` or the shapes give them, for dynamic symbols. symbols:
    values of dynamic symbols, and other values for static ones. kernel: its name, where the module has several.

    Raises SimError for arguments that do not fit, and for an operation that tile form gives no meaning.
    """
    with module.context, np.errstate(all="ignore"):
        op = _find(module, kernel)
        static = {e.name: Expr(e.attr) for e in ir.DictAttr(op.operation.attributes["symbols"])}
        given = _given(op, static, args, dict(symbols or {}))
        constraints = list(op.operation.attributes["constraints"])
        workgroup = {c.dim: c for c in constraints if isinstance(c, WorkgroupConstraintAttr)}
        tiling = {c.dim: c for c in constraints if isinstance(c, TilingConstraintAttr)}
        outer = Scope({n: e for n, e in static.items() if n not in given}, given, workgroup, tiling)
        values = _arguments(op, args, outer)
        for ids in _workgroups(constraints, outer, op.operation.location):
            scope = Scope(outer.static, {**given, **ids}, workgroup, tiling)
            Evaluator(scope, values).block(op.operation.regions[0].blocks[0])


def _find(module: ir.Module, name: str | None) -> KernelOp:
    kernels = [op for op in module.body.operations if isinstance(op, KernelOp)]
    names = [ir.StringAttr(k.operation.attributes["sym_name"]).value for k in kernels]
    chosen = [k for k, n in zip(kernels, names, strict=True) if name in (None, n)]
    if len(chosen) != 1:
        listed = ", ".join(names) or "none"
        raise SimError("arguments", f"want one kernel in tile form, the module has: {listed}; name it with kernel=")
    return chosen[0]


def _split(
    op: KernelOp, args: Sequence[object]
) -> tuple[list[np.ndarray], list[object], list[ir.Value], list[ir.Value]]:
    arrays = [a for a in args if isinstance(a, np.ndarray) and a.ndim]
    numbers = [a for a in args if not (isinstance(a, np.ndarray) and a.ndim)]
    inputs = list(op.operation.regions[0].blocks[0].arguments)
    memories = [v for v in inputs if isinstance(v.type, MemoryType)]
    scalars = [v for v in inputs if not isinstance(v.type, MemoryType)]
    if len(arrays) != len(memories) or len(numbers) < len(scalars):
        text = (
            f"the kernel has {len(memories)} memories and {len(scalars)} scalars; there are {len(arrays)} arrays and "
        )
        raise SimError("arguments", text + f"{len(numbers)} numbers", location=str(op.operation.location))
    return arrays, numbers, memories, scalars


def _given(op: KernelOp, static: Mapping[str, Expr], args: Sequence[object], given: dict[str, int]) -> dict[str, int]:
    """Values of dynamic symbols: named, or else numbers after the scalars, or else from the shapes of memories."""
    dynamic = [ir.StringAttr(a).value for a in op.operation.attributes["dynamic"]]
    for name in given:
        if name not in dynamic and name not in static:
            raise SimError("arguments", f"the kernel has no symbol '{name}'", location=str(op.operation.location))
    arrays, numbers, memories, scalars = _split(op, args)
    extra = numbers[len(scalars) :]
    for array, memory in zip(arrays, memories, strict=True):
        for extent, size in zip(MemoryType(memory.type).shape, array.shape, strict=False):
            if extent.name in dynamic:
                given.setdefault(extent.name, size)
    missing = [n for n in dynamic if n not in given]
    for name, value in zip(dynamic if len(extra) >= len(dynamic) else missing, extra, strict=False):
        given[name] = int(value)  # type: ignore[call-overload]
    for name in dynamic:
        if name not in given:
            text = f"dynamic symbol '{name}' has no value; give symbols={{'{name}': …}}"
            raise SimError("arguments", text, location=str(op.operation.location))
    return given


def _arguments(op: KernelOp, args: Sequence[object], scope: Scope) -> dict[ir.Value, Tile | Memory]:
    arrays, numbers, memories, scalars = _split(op, args)
    here = op.operation.location
    values: dict[ir.Value, Tile | Memory] = {}
    for number, (value, array) in enumerate(zip(memories, arrays, strict=True)):
        kind = MemoryType(value.type)
        shape = tuple(scope.number(e, here) for e in kind.shape)
        dtype = element_type(kind.element_type)
        if array.dtype != dtype.np or array.shape != shape:
            wanted = f"{dtype.np.name} of shape {shape}"
            text = f"memory {number} is {array.dtype.name} of shape {array.shape}; it must be {wanted}"
            raise SimError("arguments", text, location=str(here))
        declared = [] if kind.strides is None else [_stride(s, scope, here) for s in kind.strides]
        if wrong := fault(array, declared, "read", {}):
            raise SimError("arguments", f"memory {number} {wrong}", location=str(here))
        strides = element_strides(array) or ()
        flat = np.lib.stride_tricks.as_strided(array, (span(shape, strides),), (array.itemsize,))
        values[value] = Memory(flat, shape, strides)
    for value, number in zip(scalars, numbers, strict=False):
        values[value] = Tile.scalar(number, element_type(value.type).np)
    return values


def _stride(stride: Expr | None, scope: Scope, here: ir.Location) -> str:
    return RUN_TIME if stride is None else str(scope.number(stride, here))


def _workgroups(constraints: Sequence[ir.Attribute], scope: Scope, here: ir.Location):
    """The workgroup ids of the program, one `{"wg.x": …}` after the other."""
    sizes: dict[int, int] = {0: 1, 1: 1, 2: 1}
    for cut in constraints:
        if isinstance(cut, WorkgroupConstraintAttr) and not cut.secondary:
            tile = scope.number(cut.tile, here)
            whole = -(-scope.number(cut.dim, here) // tile)
            sizes[cut.axis] = whole if cut.iters is None else scope.number(cut.iters, here)
    for fixed in constraints:
        if isinstance(fixed, GridConstraintAttr):
            sizes.update(enumerate(scope.number(e, here) for e in fixed.sizes))
    axes = sorted(sizes)
    for ids in itertools.product(*(range(sizes[a]) for a in reversed(axes))):
        place = {f"wg.{axis_name(a)}": i for a, i in zip(axes, reversed(ids), strict=True)}
        known = {n: Tile.scalar(i) for n, i in place.items()}
        for remap in constraints:
            if isinstance(remap, ReorderingConstraintAttr):
                place[f"wg.{axis_name(remap.axis)}"] = int(scope.expr(remap.equation, here, known).data)
        yield place
