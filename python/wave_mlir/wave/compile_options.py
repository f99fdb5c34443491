"""Options of `wave_compile`: what they mean here, what they are checked for, what of them a cache key has."""

from __future__ import annotations

import dataclasses
import difflib
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sympy

from wave_mlir.passes.pipelines import PipelineOptions, Strategy
from wave_mlir.runtime import launch

from . import source
from .scheduling import SchedulingType

ENVIRONMENT_ARCH = "WAVE_DEFAULT_ARCH"
DEFAULT_ARCH = "gfx942"


def get_default_arch() -> str:
    """The target of kernels that name none: WAVE_DEFAULT_ARCH, else the GPU at hand, else gfx942."""
    return os.environ.get(ENVIRONMENT_ARCH) or launch.gpu_arch() or DEFAULT_ARCH


# Options of the language that have no meaning here -> what does the same, or how it is.
_REPLACED: dict[str, str] = {
    "postprocess": "wave-opt with passes of your own",
    "canonicalize": "IR is always canonicalised",
    "kernel_launch_info": "kernel.plan(*args)",
    "kernel_usages": "what a kernel reads and writes is found by the compiler",
    "backend": "there is one way to code objects",
    "codeobj": "code objects are of the version LLVM emits",
    "num_devices": "a DeviceConstraint",
    "use_water_backend": "there is one backend",
    "linearize_reads": "addresses are always split into a uniform and a lane part",
    "run_bench": "timing the call yourself",
    "benchmark_batch_size": "timing the call yourself",
    "benchmark_repetitions": "timing the call yourself",
    "benchmark_results_file": "timing the call yourself",
    "capture_trace": "wave run --isa --trace",
    "bench_with_constant_weights": "timing the call yourself",
    "kernel_hash": "the cache's own key",
    "create_vmfb_file": "kernel.hsaco",
    "override_mlir": "wave compile FILE.mlir",
    "compile_to_mlir": "kernel.ir(form)",
    "location_capture_config": "locations are always kept",
    "use_local_scope": "wave-opt's printing flags",
    "enforce_locations": "locations are always kept",
    "optimization_level": "code is always optimised",
    "wave_runtime": "there is one runtime",
    "iree_launch_async": "launches go to torch's current stream",
    "device": "tensors run where they are",
    "use_scheduling_barriers": "the order of a scheduled loop is always kept",
    "denorm_fp_math_f32": "denormals are kept",
    "waves_per_eu": "the compiler's own choice",
    "use_buffer_ops": "global memory goes through buffer instructions wherever the offsets are proven to fit",
    "linearize_shared_access": "addresses are always split into a uniform and a lane part",
    "scalarize_packed_math": "LLVM's choice",
    "coalescing_strategy_hint": "loads are as wide as is provable",
    "enable_swizzle": "LDS is row-major in this version",
    "minimize_shared_allocs": "LDS is always packed",
    "reorder_allocs": "LDS is always packed",
    "use_bound_check": "accesses are masked where they may leave their memory",
    "specialize": "all waves run the same code in this version",
    "cluster_barrier_delay": "barriers are placed where the fewest serve",
    "print_ir_after": "kernel.ir(form)",
    "print_ir_before": "kernel.ir(form)",
    "mlir_print_ir_after_all": "kernel.ir(form)",
    "print_mlir": "kernel.asm",
    "print_grid": "kernel.plan(*args)",
    "print_signature": "kernel.abi",
    "print_pass_times": "wave-opt --mlir-timing",
    "compile_to_asm": "kernel.isa",
    "iree_preprocessing_pass_pipeline": "there is one way to code objects",
    "profile_python_wrapper": "cProfile around the call",
    "profile_python_cprofile": "cProfile around the call",
    "profile_python_warmup": "cProfile around the call",
    "profile_python_repetitions": "cProfile around the call",
    "use_water_leak_check": "the simulator checks every access",
    "check_water_analysis": "there is one backend",
    "drop_debug_info_before_mlir": "locations are always kept",
    "verify_region_captures": "IR is always verified",
    "enable_mark_hardware_transpose_candidates": "reads of transposed tiles are found by the compiler",
    "allow_noncontiguous_runtime_buffers": "MemoryLayout(strides=…) of the argument",
    "edit_ir_before": "wave-opt",
    "edit_ir_after": "wave-opt",
    "edit_ir_before_all": "wave-opt",
    "edit_ir_after_all": "wave-opt",
    "profile_pass": "wave-opt --mlir-timing",
    "print_trace_begin": "kernel.ir('tile')",
    "print_mlir_file": "kernel.asm",
    "print_mlir_before_water": "there is one backend",
    "print_mlir_after_water": "there is one backend",
}


@dataclass
class WaveCompileOptions:
    """How to compile a kernel.

    subs: values of symbols, by symbol or name. dynamic_symbols: symbols given at run time, in the order of the ABI.
    target: such as "gfx942"; by default `get_default_arch()`. func_name: the kernel's name in machine code, by
    default the function's. debug: line tables in the code. use_fast_math: quotients and elementary functions of at
    most 32 bits by bare instructions, products and sums fused (docs/elementary-functions.md). use_global_to_shared:
    tiles go to LDS without registers where the target can (docs/direct-copies.md). schedule: how the trips of loops
    are ordered and overlapped, a `SchedulingType`. multi_buffer_count: copies of each LDS buffer of a scheduled
    loop; by default two where LDS has room. eliminate_epilogue: pipelined loops run on, where that is legal, instead
    of having an epilogue. dump_schedule, override_schedule: text files that the schedules of
    loops are written to, and that schedules by hand are read from (docs/scheduling.md). cache: False compiles anew
    and keeps nothing. dump_intermediates, dump_binaries: folders that the kernel's MLIR, LLVM IR and assembly
    (NAME.mlir, NAME.ll, NAME.rocmasm), and its code object (NAME.hsaco) are written to. Other options of the Wave
    language are accepted: each warns once and says what does the same, or how it is.
    """

    subs: Mapping[sympy.Symbol | str, Any] = field(default_factory=dict)
    dynamic_symbols: Sequence[sympy.Symbol | str] = ()
    target: str = field(default_factory=get_default_arch)
    func_name: str | None = None
    debug: bool = False
    use_fast_math: bool = False
    use_global_to_shared: bool = False
    schedule: SchedulingType = SchedulingType.NONE
    multi_buffer_count: int | None = None
    eliminate_epilogue: bool = False
    override_schedule: str | os.PathLike[str] | None = None
    dump_schedule: str | os.PathLike[str] | None = None
    cache: bool = True
    dump_intermediates: str | os.PathLike[str] | None = None
    dump_binaries: str | os.PathLike[str] | None = None

    def __init__(self, **options: Any) -> None:
        known = {f.name: f for f in dataclasses.fields(self)}
        for name, value in options.items():
            if name in known:
                setattr(self, name, value)
            elif name in _REPLACED:
                if not _is_neutral(name, value):
                    _warn_once(name)
                setattr(self, name, value)  # can be read back
            else:
                raise source.error(_unknown(name, [*known, *_REPLACED]))
        for name, entry in known.items():
            if name not in options:
                made = entry.default_factory is not dataclasses.MISSING
                setattr(self, name, entry.default_factory() if made else entry.default)  # type: ignore[misc]

    def pipeline(self, by_hand: bool = False) -> PipelineOptions:
        """The options of the compiler's pipelines. by_hand: the kernel has a schedule of its own.

        Raises CompileError for values of wrong types, or that ask for what there is not.
        """
        strategy = _strategy(self.schedule)
        copies, file, dump = self._copies(), self._path("override_schedule"), self._path("dump_schedule")
        if not by_hand and strategy == "none" and not file:
            if dump:
                raise source.error(
                    f"dump_schedule: there is no schedule to write, schedule is SchedulingType.{self.schedule.name}; "
                    "choose another, such as SchedulingType.MODULO"
                )
            copies = 0
        return PipelineOptions(
            target=self.target,
            global_to_shared=bool(self.use_global_to_shared),
            schedule="manual" if by_hand else strategy,
            buffer_copies=copies,
            eliminate_epilogue=bool(self.eliminate_epilogue),
            schedule_file=file,
            schedule_dump=dump,
        )

    def check(self, by_hand: bool) -> None:
        """Raise CompileError at the user's line for values of wrong types, and warn of those without effect."""
        self.pipeline(by_hand)
        for name in _PATHS:
            self._path(name)
        if by_hand or _strategy(self.schedule) != "none" or self.override_schedule:
            return
        kind = f"SchedulingType.{self.schedule.name}"
        if self._copies() > 1:
            text = f"multi_buffer_count={self.multi_buffer_count} has no effect: schedule is {kind}, and only the loops"
            warnings.warn(f"{text} of a schedule have copies of LDS buffers", stacklevel=3)
        if self.eliminate_epilogue:
            text = f"eliminate_epilogue has no effect: schedule is {kind}, and only loops of a schedule have epilogues"
            warnings.warn(text, stacklevel=3)
        if self.schedule is SchedulingType.MANUAL:
            text = f"schedule={kind} has no effect without a schedule: wave_compile(options, kernel, schedule)"
            warnings.warn(text, stacklevel=3)

    def dumps(self) -> bool:
        """Whether compiling writes files besides."""
        return any(self._path(name) for name in _DUMPS)

    def _copies(self) -> int:
        count = self.multi_buffer_count
        if count is None:
            return 0
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise source.error(
                f"multi_buffer_count is {count!r}; it takes a number of copies of each LDS buffer, or None: two where "
                "LDS has room"
            )
        return count

    def _path(self, name: str) -> str:
        """A file or folder; "" for none."""
        value = getattr(self, name)
        path = os.fspath(value) if isinstance(value, os.PathLike) else "" if value in (None, False) else value
        if not isinstance(path, str) or "\0" in path:
            raise source.error(f"{name} is {value!r}; it takes a path, or None for nothing")
        return path

    def __getattr__(self, name: str) -> object:
        """Options without an effect that were not given are None."""
        if name in _REPLACED:
            return None
        raise AttributeError(f"WaveCompileOptions has no option '{name}'")

    def in_key(self) -> dict[str, object]:
        """What of the options a cache key needs besides the traced program, as plain data: all that is not in its text.
        A field added to this class is in the key unless it is listed here."""
        rest = {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name not in _IN_PROGRAM}
        rest["override_schedule"] = self.schedule_text()
        rest["parameters"] = {str(k): v for k, v in self.subs.items() if str(k).startswith("$")}
        return {name: _plain(value) for name, value in rest.items()}

    def schedule_text(self) -> str | None:
        """What is in the file of schedules, "" without one; None for one that cannot be read, of which wave-schedule
        speaks. Raises CompileError for one that is no text."""
        path = self._path("override_schedule")
        try:
            return Path(path).read_text(encoding="utf-8") if path else ""
        except OSError:
            return None
        except UnicodeDecodeError as error:
            raise source.error(f"override_schedule: {path} is no text of schedules: {error}") from None


_STRATEGIES: dict[SchedulingType, Strategy] = {
    SchedulingType.NONE: "none",
    SchedulingType.PREFETCH: "prefetch",
    SchedulingType.FOUR_STAGE: "four-stage",
    SchedulingType.PING_PONG: "ping-pong",
    SchedulingType.SPECIALIZED: "specialized",
    SchedulingType.MODULO: "modulo",
    SchedulingType.PREFETCH_ATTENTION: "attention",
    SchedulingType.MANUAL: "none",
}


def _strategy(schedule: object) -> Strategy:
    """The strategy of wave-schedule that a kind of schedule asks for."""
    if not isinstance(schedule, SchedulingType):
        names = ", ".join(f"SchedulingType.{s.name}" for s in SchedulingType)
        raise source.error(f"schedule is {schedule!r}; it has to be one of {names}")
    return _STRATEGIES[schedule]


_PATHS = ("override_schedule", "dump_schedule", "dump_intermediates", "dump_binaries")
_DUMPS = ("dump_intermediates", "dump_binaries", "dump_schedule")
_IN_PROGRAM = ("subs", "dynamic_symbols", "target", "func_name", "cache", *_DUMPS)
"""Options whose whole effect is in the text of the traced program, or which have none on what is made."""


def _plain(value: object) -> object:
    """As data that json writes the same each time."""
    if isinstance(value, Mapping):
        return sorted((str(k), _plain(v)) for k, v in value.items())
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value if isinstance(value, (bool, int, float, str, type(None))) else str(value)


def _unknown(name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean '{close[0]}'?" if close else ""
    return f"WaveCompileOptions has no option '{name}'{hint}"


def _is_neutral(name: str, value: object) -> bool:
    """Does the value ask for what is done anyway?"""
    if name in _ALWAYS:
        return value in _ALWAYS[name]
    return not value or getattr(value, "name", "") == "NONE"


_ALWAYS: dict[str, tuple[object, ...]] = {
    "canonicalize": (True,),
    "minimize_shared_allocs": (True,),
    "reorder_allocs": (True,),
    "optimization_level": (True,),
    "enforce_locations": (True, False),
    "drop_debug_info_before_mlir": (True, False),
    "verify_region_captures": (True, False),
    "use_local_scope": (True, False),
}
"""Options without an effect -> the values that say how it is, or that nobody sees the effect of. Of the others, that is
what counts as false, or NONE."""

_warned: set[str] = set()


def _warn_once(name: str) -> None:
    if name not in _warned:
        _warned.add(name)
        warnings.warn(f"option '{name}' has no effect here: {_REPLACED[name]}", stacklevel=4)
