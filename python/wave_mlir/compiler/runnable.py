"""`run_isa` of what the compiler makes. The runner is found by name: the compiler works without it."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from .abi import KernelABI

if TYPE_CHECKING:
    import numpy as np


class MachineRun(Protocol):
    """What a run of machine code gives; `wave_mlir.isa.IsaRun`, which has more."""

    @property
    def counts(self) -> Mapping[str, int]: ...
    @property
    def executed(self) -> int: ...
    @property
    def executions(self) -> np.ndarray: ...


class HasKernels(Protocol):
    """Assembly text, and the kernels in it."""

    @property
    def isa(self) -> str: ...
    @property
    def kernels(self) -> tuple[KernelABI, ...]: ...


class Runnable:
    """What has assembly text and kernels can be run by the machine-code runner."""

    def run_isa(
        self: HasKernels,
        *args: object,
        kernel: str | None = None,
        symbols: Mapping[str, int] | None = None,
        **options: object,
    ) -> MachineRun:
        """Run the machine code on the CPU, with all checks: an array for each memory, then the scalars.

        symbols: dynamic symbols that no array's shape says. options: those of `wave_mlir.isa.run` (seed, order,
        collect …). Arrays are updated in place. Raises wave_mlir.isa.IsaError at the first fault.
        """
        runner = import_module("wave_mlir.isa.compiled")
        return runner.run_compiled(self, args, kernel=kernel, symbols=symbols, **options)
