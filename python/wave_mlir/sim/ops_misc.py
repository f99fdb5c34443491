"""Operations that other dialects' canonicalisation leaves behind: poison, llvm constants, (de)linearised indices."""

from __future__ import annotations

import numpy as np
from mlir import ir

from .cohort import Cohort
from .dtypes import constant_array, element_type, vector_shape
from .program import Compiler, handles


@handles("ub.poison", "llvm.mlir.poison", "llvm.mlir.undef", "llvm.mlir.zero")
def _poison(c: Compiler, op: ir.Operation) -> None:
    """Zero: any value will do."""
    kind = op.results[0].type
    shape, dtype = vector_shape(kind), element_type(kind)
    c.alias(op.results[0], c.constant(np.zeros((1, 1, *shape), dtype=dtype.np)))


@handles("llvm.mlir.constant")
def _constant(c: Compiler, op: ir.Operation) -> None:
    result = op.results[0]
    c.alias(result, c.constant(constant_array(op.attributes["value"], result.type)))


def _basis(c: Compiler, op: ir.Operation, dynamic: list[ir.Value]) -> list[int | tuple[int]]:
    """Numbers of the basis, a 1-tuple of a slot where one is not static."""
    slots = iter([c.use(v) for v in dynamic])
    marker = ir.ShapedType.get_dynamic_size()
    return [(next(slots),) if n == marker else n for n in ir.DenseI64ArrayAttr(op.attributes["static_basis"])]


def _number(cohort: Cohort, item: int | tuple[int]) -> int | np.ndarray:
    return item if isinstance(item, int) else cohort.env[item[0]]


@handles("affine.delinearize_index")
def _delinearize(c: Compiler, op: ir.Operation) -> None:
    index_in, *dynamic = op.operands
    basis = _basis(c, op, dynamic)
    index, results = c.use(index_in), [c.define(v) for v in op.results]
    inner = basis[1:] if len(basis) == len(results) else basis  # the outermost extent does not matter

    def step(cohort: Cohort) -> None:
        rest = cohort.env[index]
        for item, slot in zip(reversed(inner), reversed(results), strict=False):
            extent = _number(cohort, item)
            cohort.env[slot] = np.remainder(rest, extent)
            rest = np.floor_divide(rest, extent)
        cohort.env[results[0]] = rest

    c.emit(step)


@handles("affine.linearize_index")
def _linearize(c: Compiler, op: ir.Operation) -> None:
    indices_in, dynamic = c.operand_groups(op)
    basis = _basis(c, op, dynamic)
    indices, result = [c.use(v) for v in indices_in], c.define(op.results[0])
    inner = basis[1:] if len(basis) == len(indices) else basis

    def step(cohort: Cohort) -> None:
        total = cohort.env[indices[0]]
        for slot, item in zip(indices[1:], inner, strict=True):
            total = total * _number(cohort, item) + cohort.env[slot]
        cohort.env[result] = total

    c.emit(step)
