"""Runs AMDGPU machine code (gfx942, gfx950) on the CPU, instruction by instruction, with checks.

    from wave_mlir import isa
    isa.run("gemm.s", [a, b, c], grid=(4, 4, 1))

See docs/machine-code.md.
"""

from .errors import KINDS, Finding, IsaError
from .launch import IsaRun, run
from .loader import Loaded, load

__all__ = ["KINDS", "Finding", "IsaError", "IsaRun", "Loaded", "load", "run"]
