"""Runs of kernels with `debug_log`: the arrays of the logs are made, passed and handed out."""

from __future__ import annotations

import dataclasses
from collections.abc import MutableMapping, Sequence

from wave_mlir.compiler.abi import KernelABI
from wave_mlir.runtime import tensors
from wave_mlir.runtime.launch import Launcher

from .debug_log import DebugLog


class Recorder:
    """Makes the arrays of the logs of one kernel, and hands them out. `parameters`: the user's."""

    def __init__(self, abi: KernelABI, logs: Sequence[DebugLog], parameters: Sequence[tuple[str, str]]) -> None:
        names = {log.argument for log in logs}
        self.logs = tuple(logs)
        self._memories = [a for a in abi.memories if a.name in names]
        own = tuple(a for a in abi.args if a.name not in names)
        self._own = Launcher(dataclasses.replace(abi, args=own), parameters)

    def arrays(self, args: Sequence[object]) -> list[object]:
        """One zeroed array for each log, beside the first memory of a call. Raises AbiError for arguments that do not
        fit."""
        bound = self._own.bind(args)
        beside = bound.memories[0] if bound.memories else None
        return [tensors.zeros_beside(beside, m.extents(bound.symbols), m.dtype) for m in self._memories]

    def done(self, arrays: Sequence[object], into: MutableMapping[str, dict[str, object]] | None) -> None:
        """After the call: fill `into`, call printers, then handlers."""
        found: MutableMapping[str, dict[str, object]] = {} if into is None else into
        for log, array in zip(self.logs, arrays, strict=True):
            found[log.label] = {
                "value": array,
                "symbolic_shape": log.dims,
                "iteration_dimensions": list(log.loops),
            }
        for log in self.logs:
            if log.printer is not None:
                log.printer(log.label, found[log.label]["value"])
        for log in self.logs:
            if log.handler is not None:
                log.handler(found)
