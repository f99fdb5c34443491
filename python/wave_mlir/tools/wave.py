"""`wave`: compile, run and report on kernels.

    wave compile FILE.mlir|FILE.py[:KERNEL] [--emit FORM|llvm|isa|obj|hsaco] [-o OUT] [-D M=1024 ...] [--report]
    wave run FILE.mlir|FILE.py[:KERNEL] [-D M=100 ...] [--seed N] [--isa [--order O] [--trace OUT.json]]
    wave run FILE.s|FILE.hsaco [--set M=100 ...] [--seed N] [--order O] [--trace OUT.json]
    wave report FILE.mlir|FILE.py[:KERNEL]|FILE.s|FILE.hsaco [-D M=1024 ...] [--json] [--timeline|--lds] [--svg OUT]
    wave cache list|stats|clear

Errors are located and end with exit code 1, an interrupt with 130; a file is written whole or not at all.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from wave_mlir import report
from wave_mlir.compiler import driver, forms, outputs
from wave_mlir.compiler.diagnostics import CompileError, CompileWarning, Diagnostic
from wave_mlir.compiler.pass_options import OptionError, parse_options
from wave_mlir.passes.pipelines import PipelineOptions

from . import wave_python, wave_report

_BINARY = ("obj", "hsaco")
_LARGEST_VALUE = 2**63 - 1
ORDERS = ("forward", "reverse", "round-robin", "random")
"""Orders of the machine-code runner's waves (wave_mlir.isa.native, which is not loaded just for its help)."""


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point; returns the exit code."""
    options = _parser().parse_args(argv)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", CompileWarning)
            warnings.showwarning = _show_warning
            return options.command(options)
    except CompileError as error:
        for diagnostic in error.diagnostics:
            print(_shortened(diagnostic), file=sys.stderr)
    except report.AssemblyError as error:
        print(f"{options.file}: error: {error}", file=sys.stderr)
    except BrokenPipeError:
        sys.stderr.close()
    except OSError as error:
        print(f"{error.filename or 'output'}: error: {error.strerror}", file=sys.stderr)
    except KeyboardInterrupt:
        print("wave: interrupted", file=sys.stderr)
        return 130
    return 1


def _show_warning(message: Warning | str, *_: object) -> None:
    """On stderr, as errors are."""
    print(message, file=sys.stderr)


def _shortened(diagnostic: Diagnostic) -> Diagnostic:
    """Without MLIR's notes that repeat the whole operation."""
    notes = tuple(n for n in diagnostic.notes if not n.message.startswith("see current operation"))
    return replace(diagnostic, notes=notes)


class _Parser(argparse.ArgumentParser):
    """Wrong usage is an error like all others."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(1, f"{self.prog}: error: {message}\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="wave", description="Compile, run and examine GPU kernels.")
    commands = parser.add_subparsers(required=True, metavar="compile|run|report|cache")
    build = commands.add_parser("compile", help="compile a module to a form or to machine code")
    _add_input(build)
    _add_options(build)
    build.add_argument("--emit", choices=driver.EMIT, default="hsaco", help="what to make (default: hsaco)")
    build.add_argument(
        "-o", dest="output", help="file to write; hsaco and isa get OUT.json beside them (default: text to stdout)"
    )
    build.add_argument("--report", action="store_true", help="print ISA statistics")
    build.add_argument("--json", action="store_true", help="print statistics as JSON")
    build.add_argument("-g", dest="debug", action="store_true", help="line tables in machine code, with relative paths")
    build.add_argument("--timing", action="store_true", help="print seconds by step to stderr")
    build.set_defaults(command=_compile)
    run = commands.add_parser("run", help="compile, run in the simulator on generated data, and check the result")
    _add_input(run, "module (.mlir), Python (.py or .py:KERNEL), or machine code (.s, .hsaco) with its .json beside it")
    _add_options(run)
    run.add_argument("--seed", type=_seed, default=0, help="seed of the generated data and of the order (default: 0)")
    run.add_argument("--isa", action="store_true", help="run the machine code, not the simulator")
    run.add_argument(
        "--order", choices=ORDERS, default="random", help="which wave of machine code runs next (default: random)"
    )
    run.add_argument(
        "--trace", metavar="OUT.json", default="", help="write a modelled timeline of the first workgroup (with --isa)"
    )
    run.set_defaults(command=_run)
    show = commands.add_parser("report", help="ISA statistics of a module, an assembly file or a code object")
    _add_input(show)
    _add_options(show)
    wave_report.add_options(show)
    show.set_defaults(command=_report)
    kept = commands.add_parser("cache", help="list, measure or clear the cache of compiled kernels")
    kept.add_argument("action", choices=("list", "stats", "clear"), help="what to do")
    kept.set_defaults(command=_cache, file="wave")
    return parser


def _add_input(
    parser: argparse.ArgumentParser, what: str = "module (.mlir), or Python (.py or .py:KERNEL)"
) -> None:
    parser.add_argument("file", metavar="FILE", help=what)
    parser.add_argument("--kernel", help="the kernel to take (default: all)")
    parser.add_argument("--target", help="chip, instead of the module's")
    parser.add_argument(
        "-D", "--set", dest="symbols", metavar="NAME=VALUE", action="append", default=[], type=_assignment,
        help="value of a symbol (of a kernel in Python also shared or global); may be given several times",
    )  # fmt: skip


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--options", default=PipelineOptions(), type=_options, metavar="'KEY=VALUE …'",
        help="options of the pipelines, such as 'global-to-shared'; wave-opt --help lists them",
    )  # fmt: skip


def _options(text: str) -> PipelineOptions:
    try:
        return parse_options(PipelineOptions, text, "the pipeline")
    except OptionError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _seed(text: str) -> int:
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from 0")
    return int(text)


def _assignment(text: str) -> tuple[str, int | str]:
    name, equals, value = text.partition("=")
    if name and value in wave_python.SPACES:
        return name.strip(), value
    if not (name and equals and value.lstrip("-").isdigit()):
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME=VALUE with an integer value")
    if abs(int(value)) > _LARGEST_VALUE:
        raise argparse.ArgumentTypeError(f"the value of {name.strip()} does not fit 64 bits")
    return name.strip(), int(value)


def _compile_input(
    options: argparse.Namespace, until: str, *, debug: bool = False, or_later: bool = False
) -> driver.Compiled:
    """The input, compiled to the form `until`. or_later: one in a later form stays in it."""
    module, symbols, kernel = wave_python.read_module(
        options.file, options.target, dict(options.symbols), options.kernel
    )
    if wave_python.is_python(options.file):
        symbols = {}  # they are in the traced program
    return driver.compile_module(
        module, options.target, symbols, kernel=kernel, until=until, or_later=or_later, debug=debug,
        options=options.options,
    )  # fmt: skip


def _compile(options: argparse.Namespace) -> int:
    wanted = options.emit
    if wanted in _BINARY and not options.output and not (options.report or options.json):
        raise _failure(options.file, f"{wanted} is binary; name a file with -o")
    if options.output and Path(options.output).resolve() == Path(wave_python.split(options.file)[0]).resolve():
        raise _failure(options.file, "the output would take the place of the input; name another file with -o")
    until = wanted if wanted in forms.FORMS else "gpu"
    compiled = _compile_input(options, until, debug=options.debug)
    content = compiled.emit(wanted)
    shown = wave_report.statistics(compiled.isa, options.json) if options.report or options.json else ""
    if options.output:
        files: dict[str, str | bytes] = {options.output: content}
        path = Path(options.output)
        if wanted in ("isa", "hsaco") and (path.is_file() or not path.exists()):  # not beside a device
            files[options.output + ".json"] = outputs.kernels_json(compiled.kernels)
        outputs.write_atomically(files)  # type: ignore[arg-type]
    elif isinstance(content, str) and not shown:
        sys.stdout.write(content if content.endswith("\n") else content + "\n")
    sys.stdout.write(shown)
    if options.timing:
        for step, seconds in compiled.timings.items():
            print(f"{seconds * 1000:9.2f} ms  {step}", file=sys.stderr)
    return 0


def _failure(path: str, message: str) -> CompileError:
    return CompileError([Diagnostic("error", path, message)])


def _report(options: argparse.Namespace) -> int:
    return wave_report.run(options, _compile_input)


def _cache(options: argparse.Namespace) -> int:
    from . import wave_cache

    return wave_cache.run(options.action)


def _run(options: argparse.Namespace) -> int:
    from . import wave_run

    machine = None
    if options.isa or options.file.endswith(wave_run.wave_isa.MACHINE_CODE):
        machine = wave_run.Choices(options.order, options.seed, options.trace)
    elif options.trace:
        raise _failure(options.file, "--trace records a run of machine code; add --isa")
    symbols = dict(options.symbols)
    return wave_run.run_file(
        options.file, options.target, symbols, options.kernel, options.seed, machine, options.options
    )


if __name__ == "__main__":
    sys.exit(main())
