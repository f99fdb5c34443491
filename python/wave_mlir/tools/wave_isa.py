"""`wave run --isa`: the machine code of a module, an assembly file or a code object, run on generated data."""

from __future__ import annotations

import json
import os
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wave_mlir import isa
from wave_mlir.compiler import abi, outputs
from wave_mlir.compiler.diagnostics import CompileError, Diagnostic
from wave_mlir.isa.compiled import run_abi

MACHINE_CODE = (".s", ".asm", ".hsaco", ".co")
"""Suffixes of files that hold machine code."""

CHECKS = ("bounds", "alignment", "unwritten", "wait", "race", "barrier", "control")
"""Kinds of findings that a run looks for."""


@dataclass(frozen=True)
class Choices:
    """How to run machine code: order of the waves (of isa's), and its seed; a file for the modelled timeline, or ""."""

    order: str = "random"
    seed: int = 0
    trace: str = ""


def read_kernels(path: str, wanted: str | None) -> list[abi.KernelABI]:
    """What stands in the JSON beside a file of machine code. Raises CompileError when there is none."""
    beside = path + ".json"
    try:
        described = json.loads(Path(beside).read_text(encoding="utf-8"))
        kernels = [abi.KernelABI.from_json(k) for k in described["kernels"]]
    except FileNotFoundError:
        raise _failure(
            path,
            f"no {os.path.basename(beside)} beside it, which says what the arguments are; `wave compile -o` writes one "
            "(from Python, isa.run takes any arguments)",
        ) from None
    except (ValueError, KeyError, TypeError) as error:
        raise _failure(beside, f"not a description of kernels: {error}") from None
    chosen = [k for k in kernels if wanted in (None, k.name)]
    if not chosen:
        raise _failure(path, f"no kernel '{wanted}'; it has: {', '.join(k.name for k in kernels) or 'none'}")
    return chosen


def run_kernel(
    code: str | os.PathLike[str],
    kernel: abi.KernelABI,
    arrays: Sequence[np.ndarray],
    scalars: Sequence[int],
    symbols: Mapping[str, int],
    choices: Choices,
) -> isa.IsaRun:
    """Run one kernel and print what it did; the arrays are updated. Raises CompileError for a fault."""
    try:
        loaded = isa.load(code, kernel.name)
        run = run_abi(
            loaded, kernel, [*arrays, *scalars], symbols=symbols, order=choices.order, seed=choices.seed,
            trace=1 if choices.trace else 0,
        )  # fmt: skip
    except isa.IsaError as error:
        raise _located(kernel.name, error.finding) from None
    _print_summary(run, choices)
    if choices.trace:
        events = json.dumps(run.timeline().to_perfetto())
        outputs.write_atomically({choices.trace: events})
        print(f"  timeline of workgroup (0, 0, 0), modelled: {choices.trace} (open it in ui.perfetto.dev)")
    return run


def _located(name: str, finding: isa.Finding) -> CompileError:
    text = str(finding).removeprefix(f"{finding.source}: ")
    return CompileError([Diagnostic("error", finding.source or "<run>", f"kernel '{name}': {text}")])


def _print_summary(run: isa.IsaRun, choices: Choices) -> None:
    order = f"{choices.order}, seed {choices.seed}" if choices.order == "random" else choices.order
    waves = -(-run.block[0] * run.block[1] * run.block[2] // 64) * run.grid[0] * run.grid[1] * run.grid[2]
    print(f"  machine code: {run.executed:,} instructions of {waves} waves in {run.seconds:.2f} s (order {order});")
    print(f"    no fault by the checks: {', '.join(CHECKS)}")
    print(textwrap.indent(run.summary(), "  "))


def _failure(path: str, message: str) -> CompileError:
    return CompileError([Diagnostic("error", path, message)])
