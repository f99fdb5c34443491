"""`wave report`: statistics and models of kernels, timelines and LDS as text and as pictures."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from wave_mlir import report
from wave_mlir.compiler import driver, outputs, targets
from wave_mlir.compiler.diagnostics import CompileError, Diagnostic
from wave_mlir.passes.pipelines import PipelineOptions

from . import wave_python

CompileInput = Callable[..., driver.Compiled]
"""(options, form to stop at) -> the compiled input."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `wave report`, but the input's."""
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--timeline", action="store_true", help="print the modelled timeline of a trip of the hot loop")
    parser.add_argument(
        "--lds", action="store_true", help="print who touches which LDS bank in which phase, and where values are"
    )
    what = "write the timeline (with --lds: the LDS) of one kernel as a picture"
    parser.add_argument("--svg", metavar="OUT.svg", default="", help=what)


@dataclass
class _Gathered:
    """What is known of the kernels; of assembly and code objects only `made`."""

    made: report.Report
    lds: dict[str, report.LdsReport] = field(default_factory=dict)
    tiles: dict[str, list[report.TilePicture]] = field(default_factory=dict)
    stages: dict[str, list[report.LoopStages]] = field(default_factory=dict)


def run(options: argparse.Namespace, compile_input: CompileInput) -> int:
    """Print what the options ask for; returns the exit code. Raises CompileError, AssemblyError and OSError."""
    if options.timeline and (options.json or options.lds):
        other = "--json has the figures of its model" if options.json else "--lds is another picture"
        raise _failure(options, f"--timeline is text of its own, {other}; leave one of them out")
    gathered = _gather(options, compile_input)
    if options.lds and not gathered.lds:
        raise _failure(options, "--lds needs a kernel as a tile program, which has its layouts and LDS accesses")
    picture = _picture(options, gathered) if options.svg else ""
    if options.json:
        print(json.dumps(_json(options, gathered), indent=2))
    elif options.lds:
        texts = [report.lds_text(found, gathered.tiles.get(name, [])) for name, found in gathered.lds.items()]
        print("\n".join(texts), end="")
    elif options.timeline:
        print(_timelines(gathered), end="")
    elif not options.svg:
        print(report.render_text(gathered.made), end="")
    if picture:
        outputs.write_atomically({options.svg: picture})
    return 0


def statistics(isa: str, as_json: bool) -> str:
    """Statistics of assembly text, as text or JSON."""
    made = report.analyze(isa)
    return json.dumps(made.to_json(), indent=2) + "\n" if as_json else report.render_text(made)


def _json(options: argparse.Namespace, gathered: _Gathered) -> dict[str, object]:
    data = gathered.made.to_json()
    return data | {"lds": [found.to_json() for found in gathered.lds.values()]} if options.lds else data


def _gather(options: argparse.Namespace, compile_input: CompileInput) -> _Gathered:
    if Path(options.file).suffix == ".mlir" or wave_python.is_python(options.file):
        return _compiled(options, compile_input)
    _check_machine_code(options)
    made = report.analyze_file(options.file)
    if options.kernel:
        made.kernels = [k for k in made.kernels if k.name == options.kernel]
        if not made.kernels:
            raise report.AssemblyError(f"no kernel '{options.kernel}'")
    return _Gathered(made)


def _failure(options: argparse.Namespace, message: str) -> CompileError:
    return CompileError([Diagnostic("error", options.file, message)])


def _check_machine_code(options: argparse.Namespace) -> None:
    """Refuse options that say how to compile: machine code is."""
    given = [("--options", options.options != PipelineOptions()), ("--target", options.target), ("-D", options.symbols)]
    if wrong := ", ".join(name for name, is_given in given if is_given):
        raise _failure(options, f"{wrong}: this is machine code already; compile the kernel again with other options")


def _compiled(options: argparse.Namespace, compile_input: CompileInput) -> _Gathered:
    """Compile in steps, and read from each form what it tells; nothing of forms that the input is past."""
    from . import wave_lds, wave_stages, wave_traffic

    reads, tiles, stages, found = {}, {}, {}, {}
    compiled = compile_input(options, "placed", or_later=True)
    module = compiled.module
    if compiled.form == "placed":
        with module.context:
            reads, tiles = wave_traffic.reads_of(module), wave_lds.pictures(module)
    if driver.compile_module(module, until="lane", or_later=True, options=options.options).form == "lane":
        with module.context:
            stages = wave_stages.stages_of(module, options.options)
    if driver.compile_module(module, until="scheduled", or_later=True, options=options.options).form == "scheduled":
        with module.context:
            found = wave_lds.reports(module)
    made = report.analyze(driver.compile_module(module, options=options.options).isa)
    for kernel in made.kernels:
        if kernel.name in found:
            kernel.lds_clocks = found[kernel.name].clocks()
        _add_reuse(kernel, reads.get(kernel.name, []))
    return _Gathered(made, found, tiles, stages)


def _add_reuse(kernel: report.KernelReport, reads: list[report.TileRead]) -> None:
    """The model of L2."""
    if kernel.occupancy and kernel.target in targets.names():
        table = targets.get(kernel.target)
        waves = -(-kernel.threads // table.wave_size)
        kernel.l2 = report.l2_reuse(reads, table, kernel.occupancy * table.simds_per_compute_unit // waves)


def _without_model(kernel: report.KernelReport) -> str:
    """Why the kernel has none."""
    if kernel.hot_loop is None:
        return "it has no loop"
    if kernel.target not in targets.names():
        return f"there are no rates for {kernel.target or 'its target, which the text does not name'}"
    if kernel.occupancy is None:
        return "the text does not say its threads and LDS; give it with its amdhsa.kernels, as LLVM writes it"
    return f"there are no rates for {kernel.target}"


def _model(kernel: report.KernelReport) -> report.LoopModel:
    if kernel.model is None:
        raise report.AssemblyError(f"no timeline of kernel '{kernel.name}': {_without_model(kernel)}")
    return kernel.model


def _timelines(gathered: _Gathered) -> str:
    """Those of all kernels that have one, and why the others have none; an error when none has one."""
    kernels = gathered.made.kernels
    if not any(kernel.model for kernel in kernels):
        _model(kernels[0])
    return "\n".join(_timeline(kernel, gathered) for kernel in kernels)


def _timeline(kernel: report.KernelReport, gathered: _Gathered) -> str:
    """The schedules of the kernel's loops, where they have one, and the modelled trip of the hot loop."""
    stages = report.stages_text(gathered.stages.get(kernel.name, []))
    steady = report.timeline_text(kernel.model) if kernel.model else f"no timeline, {_without_model(kernel)}\n"
    return stages + ("\n" if stages else "") + f"{kernel.name}: {steady}"


def _picture(options: argparse.Namespace, gathered: _Gathered) -> str:
    if len(gathered.made.kernels) != 1:
        names = ", ".join(k.name for k in gathered.made.kernels)
        raise _failure(options, f"--svg shows one kernel; choose one with --kernel: {names}")
    (kernel,) = gathered.made.kernels
    if options.lds:
        return report.lds_svg(gathered.lds[kernel.name], gathered.tiles.get(kernel.name, []))
    loops = gathered.stages.get(kernel.name, [])
    more = (lambda top: report.stages_parts(loops, top)) if loops else None
    return report.timeline_svg(_model(kernel), f"{kernel.name} ({kernel.target})", more)
