"""Elementary functions as arith ops: what wave-expand-math writes in place of math ops.

The arithmetic is that of IEEE 754 with fused multiply-adds, so that a result has the same bits in the simulator and on
every target. Constants are in tables.py, which tools/math_tables.py derives. Bounds are in
docs/elementary-functions.md.
"""

from mlir import ir

FAST_MATH = "wave.fast_math"
"""Unit attribute of a module whose author prefers speed to exactness: see docs/elementary-functions.md."""


def allow_fast(module: ir.Operation) -> None:
    """Mark a module."""
    with module.context:
        module.attributes[FAST_MATH] = ir.UnitAttr.get()
