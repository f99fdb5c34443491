"""`wave report`: statistics and the static model of kernels, timelines as text and as a picture."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

from wave_mlir import report
from wave_mlir.compiler import driver, outputs, targets
from wave_mlir.compiler.diagnostics import CompileError, Diagnostic

from . import wave_python

CompileInput = Callable[..., driver.Compiled]
"""(options, form to stop at) -> the compiled input."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `wave report`, but the input's."""
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--timeline", action="store_true", help="print the modelled timeline of a trip of the hot loop")
    parser.add_argument("--svg", metavar="OUT.svg", default="", help="write the timeline as a picture (of one kernel)")


def run(options: argparse.Namespace, compile_input: CompileInput) -> int:
    """Print what the options ask for; returns the exit code. Raises CompileError, AssemblyError and OSError."""
    made = _analyze(options, compile_input)
    if options.json:
        print(json.dumps(made.to_json(), indent=2))
    elif options.timeline:
        print("\n".join(f"{kernel.name}: {report.timeline_text(_model(kernel))}" for kernel in made.kernels), end="")
    elif not options.svg:
        print(report.render_text(made), end="")
    if options.svg:
        outputs.write_atomically({options.svg: _picture(options, made)})
    return 0


def statistics(isa: str, as_json: bool) -> str:
    """Statistics of assembly text, as text or JSON."""
    made = report.analyze(isa)
    return json.dumps(made.to_json(), indent=2) + "\n" if as_json else report.render_text(made)


def _analyze(options: argparse.Namespace, compile_input: CompileInput) -> report.Report:
    if Path(options.file).suffix == ".mlir" or wave_python.is_python(options.file):
        made = report.analyze(compile_input(options, "gpu").isa)
        _add_traffic(made, options, compile_input)
        return made
    made = report.analyze_file(options.file)
    if options.kernel:
        made.kernels = [k for k in made.kernels if k.name == options.kernel]
        if not made.kernels:
            raise report.AssemblyError(f"no kernel '{options.kernel}'")
    return made


def _add_traffic(made: report.Report, options: argparse.Namespace, compile_input: CompileInput) -> None:
    """The model of L2 of kernels that are there as tile programs."""
    from . import wave_traffic

    try:
        placed = compile_input(options, "placed").module
    except CompileError:  # it compiles to machine code: it is in a later form
        return
    with placed.context:
        reads = wave_traffic.reads_of(placed)
    for kernel in made.kernels:
        if kernel.occupancy and kernel.target in targets.names():
            table = targets.get(kernel.target)
            waves = -(-kernel.threads // table.wave_size)
            resident = kernel.occupancy * table.simds_per_compute_unit // waves
            kernel.l2 = report.l2_reuse(reads.get(kernel.name, []), table, resident)


def _model(kernel: report.KernelReport) -> report.LoopModel:
    if kernel.model is None:
        why = "it has no loop" if kernel.hot_loop is None else f"there are no rates for {kernel.target or 'its target'}"
        raise report.AssemblyError(f"no timeline of kernel '{kernel.name}': {why}")
    return kernel.model


def _picture(options: argparse.Namespace, made: report.Report) -> str:
    if len(made.kernels) != 1:
        names = ", ".join(k.name for k in made.kernels)
        message = f"--svg shows one kernel; choose one with --kernel: {names}"
        raise CompileError([Diagnostic("error", options.file, message)])
    (kernel,) = made.kernels
    return report.timeline_svg(_model(kernel), f"{kernel.name} ({kernel.target})")
