"""What a kernel says of its remapped workgroup ids, for the launch that checks them."""

from __future__ import annotations

import math

from mlir import ir

from .kernel_info import KernelInfo

AT_COMPILE_TIME = 1 << 20
"""Workgroups of the largest grid that is enumerated while compiling."""


def texts(info: KernelInfo) -> tuple[str, ...]:
    """The program's workgroup ids over the hardware's, as text."""
    return tuple(str(e).removeprefix("#wave.expr<").removesuffix(">") for e in info.remapped_ids)


def checked_at_launch(info: KernelInfo) -> bool:
    """Whether there are reorderings that only a launch can check: the grid or they depend on run-time symbols."""
    if not info.constraints.reordering:
        return False
    sizes = [e.constant_value for e in info.program_grid]
    dynamic = any(not s.startswith("wg.") for e in info.remapped_ids for s in e.symbols)
    return dynamic or None in sizes or math.prod(s or 0 for s in sizes) > AT_COMPILE_TIME


def attributes(info: KernelInfo) -> dict[str, ir.Attribute]:
    """`wave.remap` (the program's ids) and `wave.program_grid` of a gpu.func, where a launch has to check them."""
    if not checked_at_launch(info):
        return {}
    return {
        "wave.remap": ir.ArrayAttr.get(list(info.remapped_ids)),
        "wave.program_grid": ir.ArrayAttr.get(list(info.program_grid)),
    }
