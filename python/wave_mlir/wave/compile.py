"""`wave_compile`: a kernel and options -> something to call with tensors."""

from __future__ import annotations

import dataclasses
import difflib
import os
import warnings
from collections.abc import Hashable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import sympy

from wave_mlir.compiler import abi, cache, cache_key, cached, elementary, targets
from wave_mlir.compiler.runnable import MachineRun
from wave_mlir.lang.dtypes import DataType
from wave_mlir.lang.types import MemoryType
from wave_mlir.passes.pipelines import PipelineOptions, Strategy
from wave_mlir.runtime import launch, tensors
from wave_mlir.runtime.launch import LaunchPlan

from . import source
from .debug_recorder import Recorder
from .fingerprint import NoFingerprint, fingerprint
from .kernel import WaveKernel
from .manual import WaveSchedule
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
    "eliminate_epilogue": "a pipelined loop has an epilogue in this version",
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
    loop; by default two where LDS has room. dump_schedule, override_schedule: text files that the schedules of
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

    def pipeline(self) -> PipelineOptions:
        """The options of the compiler's pipelines."""
        return PipelineOptions(
            target=self.target,
            global_to_shared=bool(self.use_global_to_shared),
            schedule=_strategy(self.schedule),
            buffer_copies=self.multi_buffer_count or 0,
            schedule_file=os.fspath(self.override_schedule or ""),
            schedule_dump=os.fspath(self.dump_schedule or ""),
        )

    def __getattr__(self, name: str) -> object:
        """Options without an effect that were not given are None."""
        if name in _REPLACED:
            return None
        raise AttributeError(f"WaveCompileOptions has no option '{name}'")

    def in_key(self) -> dict[str, object]:
        """What of the options a cache key needs besides the traced program, as plain data: all that is not in its text.
        A field added to this class is in the key unless it is listed here."""
        rest = {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name not in _IN_PROGRAM}
        rest["override_schedule"] = _text_of(self.override_schedule)
        rest["parameters"] = {str(k): v for k, v in self.subs.items() if str(k).startswith("$")}
        return {name: _plain(value) for name, value in rest.items()}


def _text_of(path: str | os.PathLike[str] | None) -> str:
    """What is in a file of schedules; nothing for one that cannot be read, of which wave-schedule speaks."""
    try:
        return Path(path).read_text() if path else ""
    except OSError:
        return ""


_STRATEGIES: dict[SchedulingType, Strategy] = {
    SchedulingType.NONE: "none",
    SchedulingType.PREFETCH: "prefetch",
    SchedulingType.FOUR_STAGE: "four-stage",
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


class CompiledKernel:
    """A compiled kernel. Called with tensors in signature order it runs where they are, and writes outputs in place."""

    def __init__(self, kernel: WaveKernel, options: WaveCompileOptions, schedule: WaveSchedule | None = None) -> None:
        self._kernel = kernel
        self.options = options
        self.name = options.func_name or kernel.name
        module, self._logs = kernel.trace_with_logs(options.subs, options.dynamic_symbols, options.target, self.name)
        if options.use_fast_math:
            elementary.allow_fast(module.operation)
        if schedule is not None:
            schedule.attach(module)
        self.target: str = targets.get(options.target).name
        pipeline = options.pipeline()
        try:
            self._compiled = cached.compile_cached(
                module,
                self.target,
                debug=options.debug,
                use_cache=options.cache and not options.dump_schedule,  # what is cached is not scheduled again
                options=options.in_key(),
                pipeline=pipeline if schedule is None else dataclasses.replace(pipeline, schedule="manual"),
            )
        except cache.CacheError as error:
            raise source.error(str(error)) from None

    @property
    def asm(self) -> str:
        """The final MLIR text."""
        return self.ir("gpu")

    def ir(self, form: str) -> str:
        """MLIR text in a form: tile, typed, placed, staged, lane, scheduled, gpu."""
        return self._compiled.ir(form)

    @property
    def llvm_ir(self) -> str:
        """LLVM IR, before LLVM's own passes."""
        return self._compiled.llvm_ir

    @property
    def isa(self) -> str:
        """Assembly of the target."""
        return self._compiled.isa

    @property
    def hsaco(self) -> bytes:
        """The code object."""
        return self._compiled.hsaco

    @cached_property
    def abi(self) -> abi.KernelABI:
        """Arguments, grid and block."""
        return self._compiled.kernels[0]

    @cached_property
    def report(self):
        """Statistics of the machine code (`wave_mlir.report`)."""
        from wave_mlir import report

        return report.analyze(self.isa)

    def plan(self, *args: object) -> LaunchPlan:
        """Grid, block and kernel arguments of a call. Raises AbiError for arguments that do not fit."""
        try:
            args = self._taken(args)
            return self._launcher.plan([*args, *self._recorded(args)])
        except abi.AbiError as error:
            raise self._located(error) from None

    def run_isa(self, *args: object, **options: object) -> MachineRun:
        """Run the machine code on the CPU, instruction by instruction, with all checks; arguments as of a call.

        options: those of `wave_mlir.isa.run` (seed, order, collect …). CPU tensors are updated in place. Raises
        AbiError for arguments that do not fit, wave_mlir.isa.IsaError at the first fault.
        """
        try:
            taken = self._taken(args)
            bound = self._launcher.bind([*taken, *self._recorded(taken)])
        except abi.AbiError as error:
            raise self._located(error) from None
        symbols = {name: bound.symbols[name] for name in self.abi.dynamic_symbols}
        run = self._compiled.run_isa(*bound.memories, *bound.scalars, symbols=symbols, **options)
        self._give_back(args, taken)
        return run

    @property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """(name, "memory", "scalar" or "symbol") of each parameter, in signature order."""
        return tuple((p.name, _parameter_kind(p.kind)) for p in self._kernel.parameters)

    @cached_property
    def _launcher(self) -> launch.Launcher:
        logs = [(log.argument, "memory") for log in self._logs]
        return launch.Launcher(self.abi, [*self.parameters, *logs], agreeing_writes=self._kernel.compat)

    @cached_property
    def _recorder(self) -> Recorder:
        return Recorder(self.abi, self._logs, self.parameters)

    def _taken(self, args: Sequence[object]) -> Sequence[object]:
        """The arguments; of kernels of the existing Wave package in row-major order where none is declared."""
        if not self._kernel.compat:
            return args
        dense = {a.name for a in self.abi.memories if not a.strides}
        named = zip((n for n, _ in self.parameters), args, strict=False)
        return [*(tensors.row_major_copy(a) if n in dense else a for n, a in named), *args[len(self.parameters) :]]

    def _give_back(self, args: Sequence[object], taken: Sequence[object]) -> None:
        """What was written to copies, to the user's own tensors."""
        if taken is args:
            return
        written = {a.name for a in self.abi.memories if a.access != "read"}
        for (name, _), given, copy in zip(self.parameters, args, taken, strict=False):
            if name in written and copy is not given:
                tensors.copy_into(given, copy)

    def _recorded(self, args: Sequence[object]) -> list[object]:
        """Arrays for what the kernel logs."""
        return self._recorder.arrays(args) if self._logs else []

    def __call__(self, *args: object, debug_logs: MutableMapping[str, dict[str, object]] | None = None) -> None:
        """Run with tensors in signature order, on the device they are on; outputs are written in place.

        debug_logs: filled with what `debug_log` keeps, by label.

        CPU tensors run in the simulator, tensors on a GPU of ROCm on their library's current stream. Raises AbiError
        for arguments that do not fit, sim.SimError for a fault that the simulator finds, hip.HipError for one of HIP.
        """
        try:
            taken = self._taken(args)
            logs = self._recorded(taken)
            launch.untraced(self._launcher)((*taken, *logs) if logs else taken, self._compiled)
            self._give_back(args, taken)
        except abi.AbiError as error:
            raise self._located(error) from None
        if logs:
            self._recorder.done(logs, debug_logs)

    def _located(self, error: abi.AbiError) -> abi.AbiError:
        """The error at the line of the call, with a note that says where the kernel is."""
        file, line, column = source.position()
        located = abi.AbiError(error.message, f"{file}:{line}:{column}")
        file, line, _ = self._kernel.position
        located.add_note(f"{file}:{line}: note: the kernel is here")
        return located

    def __repr__(self) -> str:
        return f"<compiled wave kernel {self.name} for {self.target}>"


def _parameter_kind(kind: object) -> str:
    if isinstance(kind, MemoryType):
        return "memory"
    return "scalar" if isinstance(kind, DataType) else "symbol"


def wave_compile(
    options: WaveCompileOptions, kernel: WaveKernel, schedule: WaveSchedule | None = None
) -> CompiledKernel:
    """Compile a kernel, scheduled by hand where one is given. Raises CompileError, located at the user's line."""
    if not isinstance(kernel, WaveKernel):
        given = getattr(kernel, "__name__", repr(kernel))
        raise source.error(f"wave_compile(options, kernel) takes a function decorated by tkw.wave(…); {given} is none")
    if schedule is not None:
        _check_by_hand(options, schedule)
    known = _known_as(options, kernel) if schedule is None else None
    made = kernel.compiled.get(known) if known is not None else None
    if made is None:
        made = CompiledKernel(kernel, options, schedule)
        if known is not None:
            while len(kernel.compiled) >= cached.IN_MEMORY:
                kernel.compiled.pop(next(iter(kernel.compiled)))
            kernel.compiled[known] = made
    _dump(made, options)
    return made


def _check_by_hand(options: WaveCompileOptions, schedule: object) -> None:
    """One schedule, and one that is by hand."""
    if not isinstance(schedule, WaveSchedule):
        raise source.error(
            f"wave_compile(options, kernel, schedule) takes a function decorated by tkw.wave_schedule(); {schedule!r} "
            "is none"
        )
    if options.schedule not in (SchedulingType.NONE, SchedulingType.MANUAL):
        raise source.error(
            f"schedule '{schedule.name}' is by hand and the options ask for SchedulingType.{options.schedule.name}; "
            "let the options say SchedulingType.MANUAL"
        )
    if options.override_schedule or options.dump_schedule:
        raise source.error(
            f"schedule '{schedule.name}' is by hand: override_schedule and dump_schedule are of schedules that the "
            "compiler makes; leave them out"
        )


def _dump(made: CompiledKernel, options: WaveCompileOptions) -> None:
    """Write what the options ask for. A folder that cannot be written is an error at the call."""
    try:
        if options.dump_intermediates is not None:
            folder = Path(options.dump_intermediates)
            folder.mkdir(parents=True, exist_ok=True)
            for suffix, text in (("mlir", made.asm), ("ll", made.llvm_ir), ("rocmasm", made.isa)):
                (folder / f"{made.name}.{suffix}").write_text(text)
        if options.dump_binaries is not None:
            folder = Path(options.dump_binaries)
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{made.name}.hsaco").write_bytes(made.hsaco)
    except OSError as error:
        raise source.error(f"dump_intermediates, dump_binaries: {error}; give a folder that can be written") from None


def _known_as(options: WaveCompileOptions, kernel: WaveKernel) -> Hashable:
    """What the result depends on, so that the same compilation is not even traced again; None: not known."""
    if not options.cache or not cache.is_on():
        return None
    values = [getattr(options, f.name) for f in dataclasses.fields(options) if not f.name.startswith("dump_")]
    try:
        inputs = fingerprint(values, kernel.function, kernel.constraints, kernel.parameters), kernel.compat
    except NoFingerprint:
        return None
    return inputs, cache.default_folder(), cache_key.key_of("", {})
