"""Checks of one MMA: its kind against the target, its operands' types, its dims' tiles and vector shapes."""

from __future__ import annotations

from mlir import ir

from .diagnostics import PassError
from .kernel_info import KernelInfo
from .mma_shape import MmaShape, kind_of, operands, shape_of
from .targets import MmaKind, TargetError, flavor_of
from .tile_ir import element_type


def check_mma(info: KernelInfo, op: ir.Operation) -> None:
    """Raises PassError at the MMA."""
    shape, kind = shape_of(op, info), kind_of(info, op)
    _check_types(info, op, kind)
    _check_vector_shapes(info, op, shape, kind)


def _check_types(info: KernelInfo, op: ir.Operation, kind: MmaKind) -> None:
    lhs, rhs, acc = (str(element_type(v.type)) for v in operands(op))
    wanted = (("lhs", lhs, kind.lhs_dtype), ("rhs", rhs, kind.rhs_dtype), ("accumulator", acc, kind.acc_dtype))
    for what, have, want in wanted:
        if have == want:
            continue
        mine, theirs = flavor_of(have), flavor_of(want)
        text = f"MMA kind {kind.name} wants {what} of {want}, but it has {have}"
        if mine and theirs and mine != theirs:
            text += f": {have} is an 8-bit float of the {mine} kind, {want} of the {theirs} kind"
        elif mine and info.target.f8_flavor not in (None, mine):
            text += f" ({info.target.name} computes with {info.target.f8_flavor} floats, {have} is {mine})"
        raise PassError(op, f"{text}; {_remedy(info, op, kind, lhs, rhs, acc)}")
    if kind.is_scaled != (op.name == "wave.scaled_mma"):
        text = "takes scales; use wave.scaled_mma" if kind.is_scaled else "takes no scales; use a scaled kind"
        raise PassError(op, f"MMA kind {kind.name} {text}")


def _remedy(info: KernelInfo, op: ir.Operation, kind: MmaKind, lhs: str, rhs: str, acc: str) -> str:
    fitting = [
        k.name for k in info.target.kinds
        if (k.lhs_dtype, k.rhs_dtype, k.acc_dtype) == (lhs, rhs, acc) and k.is_scaled == kind.is_scaled
    ]  # fmt: skip
    if fitting:
        return f"use kind {fitting[0]}, or wave.cast the operand"
    try:
        info.target.default_mma(lhs)
    except TargetError as e:
        return str(e)
    return f"wave.cast the operands to {kind.lhs_dtype}, {kind.rhs_dtype} and {kind.acc_dtype}"


def _check_vector_shapes(info: KernelInfo, op: ir.Operation, shape: MmaShape, kind: MmaKind) -> None:
    for dim, extent in ((shape.row, kind.m), (shape.col, kind.n), (shape.k, kind.k)):
        given = info.vector_shape(dim)
        if given is None or (given > 0 and given % extent == 0):
            continue
        raise PassError(
            op,
            f"vector_shapes says {dim} = {given}, but MMA kind {kind.name} covers {extent} elements of {dim}; leave "
            f"{dim} out of vector_shapes or make it a multiple of {extent}",
        )
