"""The layout of the products of a dot that is made of multiplications and a sum.

The front end marks the multiplication with `wave.dot`, a dictionary: `along`, the dims of results that lanes divide,
`across`, the others, `contracted`, those that are summed over (lists of names, the instruction-like dim last), and the
numbers `k_vec_size` (consecutive elements a lane has along the contracted dim), `k_mult` (lanes that share it) and
`out_vec_size` (consecutive results a lane has across).
"""

from __future__ import annotations

from mlir import ir

from .kernel_info import KernelInfo
from .layout_spec import Digit, Spec, finish

DOT = "wave.dot"
"""On a multiplication: it makes the products of a dot, and how they are divided among lanes."""


def dot_spec(info: KernelInfo, op: ir.Operation) -> Spec | None:
    """The layout that the mark of a multiplication asks for; None where there is none."""
    if DOT not in op.attributes:
        return None
    mark = ir.DictAttr(op.attributes[DOT])
    k_vec, k_mult, out_vec = (ir.IntegerAttr(mark[n]).value for n in ("k_vec_size", "k_mult", "out_vec_size"))
    sides = [[ir.StringAttr(a).value for a in ir.ArrayAttr(mark[n])] for n in ("contracted", "across", "along")]
    lanes = info.wave_size // k_mult
    steps: list[int] = [k_vec * k_mult, out_vec, lanes]
    mains = [_main(info, side) for side in sides]
    contracted, across, along = mains
    lane: list[Digit] = [(k_mult, contracted, k_vec), (lanes, along, 1)]
    reg: list[Digit] = [(k_vec, contracted, 1), (out_vec, across, 1)]
    for dim, step in zip(mains, steps, strict=True):
        if dim is not None:
            reg.append((-(-info.wave_extent(dim) // step), dim, step))
    dims = list(op.results[0].type.dims)
    reg += [(info.wave_extent(d), d, 1) for d in reversed(dims) if d not in mains]
    keep = [[d if d[1] is not None else (d[0], None, 0) for d in digits] for digits in (reg, lane)]
    return finish(info, dims, keep[0], keep[1])


def _main(info: KernelInfo, dims: list[str]) -> str | None:
    """The dim that is divided: the last that is no batch dim; None for a side without dims."""
    return next((d for d in reversed(dims) if info.vector_shape(d) != 0), dims[-1] if dims else None)
