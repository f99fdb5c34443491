"""Named pipelines: the order of the passes, with the options of a pipeline handed on to its passes.

A pipeline goes from one form to another: `tile-to-typed` … `gpu-to-rocdl` are the stages, and `A-to-B` for any two
forms is the stages between. `default` is `tile-to-rocdl`. `expand("tile-to-gpu{verify=true}")` gives the passes;
`wave-opt --pipeline=… --print-pipeline` prints them as a text that `--pass-pipeline` takes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from wave_mlir.compiler import rocdl, targets
from wave_mlir.compiler.forms import FORMS
from wave_mlir.compiler.pass_options import (
    OptionError,
    at_least,
    nearest,
    option,
    options_of,
    parse_options,
    print_value,
)

DEFAULT_TARGET = "gfx942"

Strategy = Literal["none", "list", "modulo", "prefetch", "four-stage", "attention", "ping-pong", "specialized"]
"""How loops are scheduled; see wave-schedule."""

Scheduling = Literal[
    "none", "list", "modulo", "prefetch", "four-stage", "attention", "ping-pong", "specialized", "manual"
]
"""A strategy, or the kernel's own schedule by hand; see wave-apply-schedule."""


@dataclass(frozen=True)
class PipelineOptions:
    """Options of every pipeline."""

    target: str = option(DEFAULT_TARGET, help="chip to lower to; used from gpu form on, and must be the module's")
    buffer_ops: bool = option(True, help="access global memory through buffer descriptors")
    global_to_shared: bool = option(False, help="copy tiles to LDS without registers where the target can")
    swizzle: bool = option(True, help="place the elements of LDS buffers so that accesses have no bank conflicts")
    schedule: Scheduling = option(
        "none", help="how to order and overlap the trips of loops: the strategy of wave-schedule; manual: by hand"
    )
    buffer_copies: int = option(0, help="copies of each LDS buffer of a scheduled loop; 0 = two where LDS has room")
    priority: int = option(-1, help="wave priority of clusters of MMAs in scheduled loops; see wave-schedule")
    eliminate_epilogue: bool = option(False, help="scheduled loops run on instead of having an epilogue, where legal")
    schedule_file: str = option("", help="text file of schedules by hand, for the loops it names")
    schedule_dump: str = option("", help="text file to write the schedules of all loops to")
    verify: bool = option(False, help="check the module's form after each stage")

    def __post_init__(self) -> None:
        """Refuse what would have no effect. Raises ValueError."""
        at_least(self, "buffer_copies", 0)
        if self.schedule == "none" and not self.schedule_file:
            for name, given in (("buffer-copies", self.buffer_copies > 1), ("schedule-dump", self.schedule_dump)):
                if given:
                    raise ValueError(f"option '{name}' is of scheduled loops; add schedule=modulo, or another strategy")


Stage = Callable[[PipelineOptions], list[str]]


def _call(name: str, **options: int | bool | str) -> str:
    """`name{a=1 b=x}`."""
    text = " ".join(f"{key.replace('_', '-')}={print_value(value)}" for key, value in options.items())
    return f"{name}{{{text}}}" if text else name


def _tile_to_typed(_: PipelineOptions) -> list[str]:
    return ["wave-infer-types", "wave-bind-symbols", "wave-check-constraints"]


def _typed_to_placed(_: PipelineOptions) -> list[str]:
    return ["wave-choose-mma", "wave-infer-layouts", "wave-guard-domains"]


def _placed_to_staged(options: PipelineOptions) -> list[str]:
    coalesce = _call("wave-coalesce", direct=True) if options.global_to_shared else "wave-coalesce"
    return ["wave-promote", coalesce, "wave-lower-relayouts"]


def _staged_to_lane(options: PipelineOptions) -> list[str]:
    buffers = ["wave-buffer-ops"] if options.buffer_ops else []
    swizzle = ["wave-swizzle-shared"] if options.swizzle else []
    copies = _call("wave-gather-to-shared", all=options.global_to_shared)
    reads = ["wave-bounds", "wave-transpose-reads", "wave-split-accesses"]
    accesses = ["wave-peel-loops", "wave-fold-conditions", *reads, copies, *swizzle, *buffers]
    return ["wave-expand", "wave-lower-reductions", *accesses]


def _lane_to_scheduled(options: PipelineOptions) -> list[str]:
    barriers = ["wave-share-shared", "wave-place-barriers", "wave-split-barriers", "wave-count-waits"]
    if options.schedule == "none" and not options.schedule_file:
        return ["wave-hoist-invariants", *barriers, "wave-pack-shared"]
    files = {"file": options.schedule_file, "dump": options.schedule_dump}
    named: dict[str, int | str] = {key: path for key, path in files.items() if path}
    if options.priority >= 0:
        named["priority"] = options.priority
    if options.schedule == "manual":
        schedule = [_call("wave-apply-schedule", copies=options.buffer_copies)]
    else:
        schedule = [_call("wave-schedule", strategy=options.schedule, copies=options.buffer_copies, **named)]
    without = {"eliminate_epilogue": True} if options.eliminate_epilogue else {}
    loops = ["wave-hoist-invariants", "wave-split-mma", *schedule, _call("wave-pipeline-loops", **without)]
    if options.schedule == "specialized":
        own = {"priority": options.priority} if options.priority >= 0 else {}
        barriers.append(_call("wave-specialize-waves", **own))
    return [*loops, *barriers, "wave-place-waits", "wave-pack-shared"]


def _scheduled_to_gpu(_: PipelineOptions) -> list[str]:
    return ["wave-to-gpu"]


def _gpu_to_rocdl(options: PipelineOptions) -> list[str]:
    chip = options.target
    return [
        _call("wave-verify-form", form="gpu", target=chip),
        *rocdl.passes(chip),
    ]


STAGES: tuple[Stage, ...] = (
    _tile_to_typed,
    _typed_to_placed,
    _placed_to_staged,
    _staged_to_lane,
    _lane_to_scheduled,
    _scheduled_to_gpu,
    _gpu_to_rocdl,
)
"""Stage i leads from form i to form i + 1."""

ALIASES = {"default": "tile-to-rocdl"}


def pipeline_names() -> list[str]:
    """All names: the stages in order, the longer pipelines, `default`."""
    last = len(FORMS)
    spans = [(a, a + n) for n in range(1, last) for a in range(last - n)]
    return [f"{FORMS[a]}-to-{FORMS[b]}" for a, b in spans] + sorted(ALIASES)


def describe(name: str) -> str:
    """One line on a pipeline, or on what it stands for."""
    if name in ALIASES:
        return f"the same as {ALIASES[name]}"
    source, _, destination = name.partition("-to-")
    return f"from {source} form to {destination} form"


def describe_options() -> list[tuple[str, str]]:
    """Name and help of the options that every pipeline has."""
    return [(spec.name, spec.description) for spec in options_of(PipelineOptions).values()]


def between(source: str, destination: str, options: PipelineOptions | None = None) -> list[str]:
    """The passes that lead from one form to a later one (none between a form and itself)."""
    options = options or PipelineOptions()
    passes: list[str] = []
    for i in range(FORMS.index(source), FORMS.index(destination)):
        passes += STAGES[i](options)
        if options.verify:
            passes.append(_call("wave-verify-form", form=FORMS[i + 1]))
    return passes


def expand(text: str) -> list[str]:
    """The passes of `NAME` or `NAME{key=value …}`. Raises OptionError for an unknown pipeline, option or target."""
    name, brace, rest = text.strip().partition("{")
    if brace and not rest.endswith("}"):
        raise OptionError(f"pipeline '{text}': the options end with no '}}'")
    if name not in pipeline_names():
        raise OptionError(f"there is no pipeline '{name}'{nearest(name, pipeline_names())}")
    options = parse_options(PipelineOptions, rest.removesuffix("}"), f"pipeline '{name}'")
    try:
        targets.get(options.target)
    except targets.TargetError as error:
        raise OptionError(f"pipeline '{name}': {error}") from None
    source, _, destination = ALIASES.get(name, name).partition("-to-")
    return between(source, destination, options)
