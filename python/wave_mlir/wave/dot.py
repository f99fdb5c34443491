"""GenericDot: products without MMA instructions, as multiplications and a sum over lanes and registers."""

from __future__ import annotations

from collections.abc import Callable

from mlir import ir

from wave_mlir.compiler.dot_layout import DOT

from . import source
from .constraints import GenericDot, MMAOperand
from .elementwise import binary, broadcast_to, cast
from .trace import Trace
from .values import Value

Sum = Callable[[Value, str, Value | None], Value]


def dot(trace: Trace, lhs: Value, rhs: Value, acc: Value, how: GenericDot, sum_along: Sum) -> Value:
    """`lhs * rhs^T + acc` in the dtype of acc. sum_along: (tile, dim, start value) -> the sum along the dim."""
    _check(trace, how)
    contracted = [d for d in lhs.dims if d in rhs.dims and d not in acc.dims]
    dims = (*acc.dims, *contracted)
    a, b = (broadcast_to(cast(v, acc.dtype), dims) for v in (lhs, rhs))
    product = binary("mul", a, b)
    rows, cols = ([d for d in v.dims if d not in w.dims] for v, w in ((lhs, rhs), (rhs, lhs)))
    along, across = (rows, cols) if how.along_dim is MMAOperand.M else (cols, rows)
    product.ir.owner.operation.attributes[DOT] = _attribute(how, along, across, contracted)  # pyright: ignore
    for dim in contracted[:-1]:
        product = sum_along(product, dim, None)
    return sum_along(product, contracted[-1], acc)


def _attribute(how: GenericDot, along: list[str], across: list[str], contracted: list[str]) -> ir.DictAttr:
    names = {"along": along, "across": across, "contracted": contracted}
    numbers = {"k_vec_size": how.k_vec_size, "k_mult": how.k_mult, "out_vec_size": how.out_vec_size}
    i64 = ir.IntegerType.get_signless(64)
    return ir.DictAttr.get(
        {name: ir.ArrayAttr.get([ir.StringAttr.get(d) for d in dims]) for name, dims in names.items()}
        | {name: ir.IntegerAttr.get(i64, n) for name, n in numbers.items()}
    )


def _check(trace: Trace, how: GenericDot) -> None:
    lanes = trace.target.wave_size
    if min(how.out_vec_size, how.k_vec_size, how.k_mult) < 1 or lanes % how.k_mult:
        raise source.error(
            f"mma: {how} has sizes that do not fit; they must be positive, and k_mult divide the {lanes} lanes"
        )
    if how.along_dim not in (MMAOperand.M, MMAOperand.N):
        raise source.error("mma: the results of a GenericDot are divided along MMAOperand.M or N; K is summed over")
