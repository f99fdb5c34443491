"""The reference evaluator: what a kernel in tile form means, before any pass touched it.

    from wave_mlir.sim import reference
    reference.run(module, [a, b, c])

It evaluates a `wave.kernel` workgroup by workgroup on numpy tiles cut to the real extents of their dims, and shares no
code with the passes: comparing the two checks both. A float operation is computed in f64 and rounded once to its type;
an MMA sums the products of one operation in f64 and rounds to the accumulator's type.
"""

from .launch import run

__all__ = ["run"]
