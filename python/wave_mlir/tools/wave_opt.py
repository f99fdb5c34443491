"""`wave-opt`: mlir-opt with the wave dialect and the passes written in Python, in this process.

Every flag of mlir-opt works. Its own:

    --pipeline=NAME{key=value …}   run a named pipeline
    --print-pipeline               print its passes, for --pass-pipeline, and stop
    --list-pipelines               list the named pipelines and stop
    --verify-forms                 check the module's form after each pass of the compiler
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

from wave_mlir.tools import _lazy_numpy

_lazy_numpy.install()  # before anything imports it

from wave_mlir.compiler import pass_registry  # noqa: E402
from wave_mlir.compiler.pass_options import OptionError  # noqa: E402
from wave_mlir.dialect import _wave  # noqa: E402


class UsageError(Exception):
    """Flags that contradict each other or lack a value."""


@dataclass
class _Flags:
    """Our flags, and the rest for mlir-opt."""

    pipeline: str | None = None
    print_pipeline: bool = False
    list_pipelines: bool = False
    verify_forms: bool = False
    rest: list[str] = field(default_factory=list)


def _split_flags(arguments: list[str]) -> _Flags:
    flags = _Flags()
    remaining = iter(arguments)
    for argument in remaining:
        name, equals, value = argument.lstrip("-").partition("=")
        dashed = argument.startswith("-")
        if dashed and name == "pipeline":
            if flags.pipeline is not None:
                raise UsageError("--pipeline is given twice; name one that leads all the way (--list-pipelines)")
            flags.pipeline = value if equals else next(remaining, None)
            if not flags.pipeline:
                raise UsageError("--pipeline needs a name: --pipeline=NAME{…}; --list-pipelines lists them")
        elif dashed and not equals and name in ("print-pipeline", "list-pipelines", "verify-forms"):
            setattr(flags, name.replace("-", "_"), True)
        else:
            flags.rest.append(argument)
    return flags


def _pass_pipeline(flags: _Flags) -> str | None:
    """The text for --pass-pipeline of the named pipeline."""
    if flags.pipeline is None:
        if flags.print_pipeline:
            raise UsageError("--print-pipeline needs --pipeline=NAME{…}")
        return None
    if any(a.lstrip("-").startswith("pass-pipeline") for a in flags.rest):
        raise UsageError("--pipeline and --pass-pipeline exclude each other")
    from wave_mlir.passes import pipelines  # only here: code generation comes with it

    return f"builtin.module({','.join(pipelines.expand(flags.pipeline))})"


def _list_pipelines() -> None:
    from wave_mlir.passes import pipelines

    names = pipelines.pipeline_names()
    width = max(map(len, names))
    for name in names:
        print(f"{name:{width}}  {pipelines.describe(name)}")
    print("\noptions of each:")
    for key, help in pipelines.describe_options():
        print(f"  {key}: {help}")


def _wants_help(arguments: list[str]) -> bool:
    asking = ("help", "help-hidden", "help-list", "help-list-hidden", "list-passes", "h")
    return any(a.startswith("-") and a.lstrip("-").split("=")[0] in asking for a in arguments)


def main(argv: list[str] | None = None) -> int:
    """Run mlir-opt's main on `argv` (default: sys.argv) in this process and return its exit code."""
    program, *arguments = sys.argv if argv is None else argv
    try:
        flags = _split_flags(arguments)
        text = _pass_pipeline(flags)
    except (UsageError, OptionError) as e:
        print(f"wave-opt: error: {e}", file=sys.stderr)
        return 1
    if flags.list_pipelines:
        _list_pipelines()
        return 0
    if flags.print_pipeline:
        print(text)
        return 0
    pass_registry.register_all(with_help=_wants_help(flags.rest))
    if flags.verify_forms:
        pass_registry.set_verify_forms(True)
    own = [f"--pass-pipeline={text}"] if text is not None else []
    # Bodies in Python run one at a time anyway.
    return _wave.opt_main([program, "--mlir-disable-threading", *own, *flags.rest])


if __name__ == "__main__":
    sys.exit(main())
