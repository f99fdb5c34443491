"""The simulator: runs gpu-form MLIR on numpy data without a GPU and checks the run.

    from wave_mlir import sim
    result = sim.run(module, [a, b, c], grid=(4, 4, 1))

See docs/simulator.md for what is modelled and what is checked. Names are loaded on first use, so importing this package
costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .errors import CHECKS, SimError
    from .launch import SimResult, run

__all__ = ["CHECKS", "SimError", "SimResult", "run"]

_HOME = {"run": "launch", "SimResult": "launch", "SimError": "errors", "CHECKS": "errors"}


def __getattr__(name: str) -> object:
    """Load a public name from the module that defines it."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
