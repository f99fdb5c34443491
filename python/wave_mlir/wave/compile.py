"""`wave_compile`: a kernel and options -> something to call with tensors."""

from __future__ import annotations

import dataclasses
import functools
import warnings
from collections.abc import Callable, Hashable, MutableMapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from wave_mlir.compiler import abi, cache, cache_key, cached, elementary, targets
from wave_mlir.compiler.diagnostics import CompileError
from wave_mlir.compiler.runnable import MachineRun
from wave_mlir.lang.dtypes import DataType
from wave_mlir.lang.types import MemoryType
from wave_mlir.runtime import launch, tensors
from wave_mlir.runtime.launch import LaunchPlan

from . import source
from .compile_options import WaveCompileOptions, get_default_arch
from .debug_recorder import Recorder
from .fingerprint import NoFingerprint, fingerprint
from .kernel import WaveKernel
from .manual import WaveSchedule
from .scheduling import SchedulingType

T = TypeVar("T")
Parameters = ParamSpec("Parameters")

__all__ = ["CompiledKernel", "WaveCompileOptions", "get_default_arch", "wave_compile"]


def _for_any_sizes(
    method: Callable[Concatenate[CompiledKernel, Parameters], T],
) -> Callable[Concatenate[CompiledKernel, Parameters], T]:
    """The method; of a kernel of the existing Wave package, where an assumption does not hold, that of the kernel
    compiled without: there they are hints."""

    @functools.wraps(method)
    def call(self: CompiledKernel, *args: Parameters.args, **options: Parameters.kwargs) -> T:
        try:
            return method(self, *args, **options)
        except abi.BrokenAssumption:
            if not self._kernel.compat:
                raise
        return method(self._unassuming, *args, **options)

    return call


class CompiledKernel:
    """A compiled kernel. Called with tensors in signature order it runs where they are, and writes outputs in place."""

    def __init__(self, kernel: WaveKernel, options: WaveCompileOptions, schedule: WaveSchedule | None = None) -> None:
        self._kernel = kernel
        self._schedule = schedule
        self.options = options
        self.name = options.func_name or kernel.name
        module, self._logs = kernel.trace_with_logs(options.subs, options.dynamic_symbols, options.target, self.name)
        if options.use_fast_math:
            elementary.allow_fast(module.operation)
        if schedule is not None:
            schedule.attach(module)
        self._copies = False
        self.target: str = targets.get(options.target).name
        try:
            self._compiled = cached.compile_cached(
                module,
                self.target,
                debug=options.debug,
                use_cache=options.cache and not options.dump_schedule,  # what is cached is not scheduled again
                options=options.in_key(),
                pipeline=options.pipeline(by_hand=schedule is not None),
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

    @_for_any_sizes
    def plan(self, *args: object) -> LaunchPlan:
        """Grid, block and kernel arguments of a call. Raises AbiError for arguments that do not fit."""
        try:
            return self._launcher.plan([*args, *self._recorded(args)])
        except abi.AbiError as error:
            raise self._located(error) from None

    @_for_any_sizes
    def run_isa(self, *args: object, **options: object) -> MachineRun:
        """Run the machine code on the CPU, instruction by instruction, with all checks; arguments as of a call.

        options: those of `wave_mlir.isa.run` (seed, order, collect …). CPU tensors are updated in place. Raises
        AbiError for arguments that do not fit, wave_mlir.isa.IsaError at the first fault.
        """

        def run(args: Sequence[object]) -> MachineRun:
            bound = self._launcher.bind([*args, *self._recorded(args)])
            symbols = {name: bound.symbols[name] for name in self.abi.dynamic_symbols}
            return self._compiled.run_isa(*bound.memories, *bound.scalars, symbols=symbols, **options)

        return self._with_fitting(args, run)

    @property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """(name, "memory", "scalar" or "symbol") of each parameter, in signature order."""
        return tuple((p.name, _parameter_kind(p.kind)) for p in self._kernel.parameters)

    @cached_property
    def _unassuming(self) -> CompiledKernel:
        """The same, compiled without what it assumes of sizes."""
        return CompiledKernel(self._kernel.without_assumptions(), self.options, self._schedule)

    @cached_property
    def _launcher(self) -> launch.Launcher:
        logs = [(log.argument, "memory") for log in self._logs]
        return launch.Launcher(self.abi, [*self.parameters, *logs], agreeing_writes=self._kernel.compat)

    @cached_property
    def _recorder(self) -> Recorder:
        return Recorder(self.abi, self._logs, self.parameters)

    def _with_fitting(self, args: Sequence[object], run: Callable[[Sequence[object]], T]) -> T:
        """`run(args)`. A kernel of the existing Wave package takes tensors that are not in row-major order where none
        is declared: it is run with copies that are. They are looked for when a call has been refused without, so that
        calls that need none do not pay."""
        try:
            try:
                taken = self._row_major(args) if self._copies else args
                result = run(taken)
            except abi.AbiError:
                if self._copies or not self._kernel.compat or (taken := self._row_major(args)) is args:
                    raise
                self._copies = True
                result = run(taken)
        except abi.AbiError as error:
            raise self._located(error) from None
        if taken is not args:
            self._give_back(args, taken)
        return result

    def _row_major(self, args: Sequence[object]) -> Sequence[object]:
        """The arguments with copies of those that are not in row-major order and have to be."""
        copies = {}
        for number in self._dense:
            if number < len(args) and (copy := tensors.row_major_copy(args[number])) is not args[number]:
                copies[number] = copy
        return tuple(copies.get(n, a) for n, a in enumerate(args)) if copies else args

    @cached_property
    def _dense(self) -> tuple[int, ...]:
        """Positions of the parameters that are read and written in row-major order."""
        dense = {a.name for a in self.abi.memories if not a.strides}
        return tuple(n for n, (name, _) in enumerate(self.parameters) if name in dense)

    def _give_back(self, args: Sequence[object], taken: Sequence[object]) -> None:
        """What was written to copies, to the user's own tensors."""
        written = {a.name for a in self.abi.memories if a.access != "read"}
        for (name, _), given, copy in zip(self.parameters, args, taken, strict=False):
            if name in written and copy is not given:
                tensors.copy_into(given, copy)

    def _recorded(self, args: Sequence[object]) -> list[object]:
        """Arrays for what the kernel logs."""
        return self._recorder.arrays(args) if self._logs else []

    @_for_any_sizes
    def __call__(self, *args: object, debug_logs: MutableMapping[str, dict[str, object]] | None = None) -> None:
        """Run with tensors in signature order, on the device they are on; outputs are written in place.

        debug_logs: filled with what `debug_log` keeps, by label.

        CPU tensors run in the simulator, tensors on a GPU of ROCm on their library's current stream. Raises AbiError
        for arguments that do not fit, sim.SimError for a fault that the simulator finds, hip.HipError for one of HIP.
        """
        if debug_logs is not None and not isinstance(debug_logs, MutableMapping):
            text = f"debug_logs is a {type(debug_logs).__name__}; give a dict, to be filled with what debug_log keeps"
            raise self._located(abi.AbiError(text))
        logs = self._with_fitting(args, self._run)
        if logs:
            self._recorder.done(logs, debug_logs)

    def _run(self, args: Sequence[object]) -> list[object]:
        """One launch; the arrays of what it logs."""
        logs = self._recorded(args)
        launch.untraced(self._launcher)((*args, *logs) if logs else args, self._compiled)
        return logs

    def _located(self, error: abi.AbiError) -> abi.AbiError:
        """The error at the line of the call, with a note that says where the kernel is."""
        file, line, column = source.position()
        located = type(error)(error.message, f"{file}:{line}:{column}")
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
    if not isinstance(options, WaveCompileOptions):
        raise source.error(f"wave_compile(options, kernel) takes WaveCompileOptions(…) first; {options!r} is none")
    if not isinstance(kernel, WaveKernel):
        given = getattr(kernel, "__name__", repr(kernel))
        raise source.error(f"wave_compile(options, kernel) takes a function decorated by tkw.wave(…); {given} is none")
    if schedule is not None:
        _check_by_hand(options, schedule)
    options.check(by_hand=schedule is not None)
    known = _known_as(options, kernel) if schedule is None else None
    made = kernel.compiled.get(known) if known is not None else None
    if made is None:
        made = _scheduled(kernel, options, schedule) if schedule else CompiledKernel(kernel, options)
        if known is not None:
            while len(kernel.compiled) >= cached.IN_MEMORY:
                kernel.compiled.pop(next(iter(kernel.compiled)))
            kernel.compiled[known] = made
    _dump(made, options)
    return made


def _scheduled(kernel: WaveKernel, options: WaveCompileOptions, schedule: WaveSchedule) -> CompiledKernel:
    """The kernel with a schedule by hand.

    One that was written for the existing package and cannot be followed is warned of, and the compiler schedules the
    loops itself: such a schedule is about speed, and may take apart graphs that there are none of here.
    """
    if not kernel.compat:
        return CompiledKernel(kernel, options, schedule)
    try:
        made = CompiledKernel(kernel, options, schedule)
        _ = made.abi  # compiles
    except Exception as error:  # whatever a function of lists of a graph's nodes raises
        own = dataclasses.replace(options, schedule=SchedulingType.PREFETCH)
        made = CompiledKernel(kernel, own)
        _ = made.abi  # an error of the kernel itself is one
        file, line, _ = schedule.position
        reason = str(error) if isinstance(error, CompileError) else f"{type(error).__name__}: {error}"
        text = f"schedule '{schedule.name}' cannot be followed; its loops are scheduled by SchedulingType.PREFETCH"
        warnings.warn_explicit(f"{text}: {reason}", UserWarning, file, line)
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
        if options.dump_intermediates:
            folder = Path(options.dump_intermediates)
            folder.mkdir(parents=True, exist_ok=True)
            for suffix, text in (("mlir", made.asm), ("ll", made.llvm_ir), ("rocmasm", made.isa)):
                (folder / f"{made.name}.{suffix}").write_text(text)
        if options.dump_binaries:
            folder = Path(options.dump_binaries)
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{made.name}.hsaco").write_bytes(made.hsaco)
    except OSError as error:
        raise source.error(f"dump_intermediates, dump_binaries: {error}; give a folder that can be written") from None


def _known_as(options: WaveCompileOptions, kernel: WaveKernel) -> Hashable:
    """What the result depends on, so that the same compilation is not even traced again; None: not known."""
    text = options.schedule_text()
    if not options.cache or not cache.is_on() or options.dumps() or text is None:
        return None
    values = {f.name: getattr(options, f.name) for f in dataclasses.fields(options)} | {"override_schedule": text}
    try:
        inputs = fingerprint(values, kernel.function, kernel.constraints, kernel.parameters), kernel.compat
    except NoFingerprint:
        return None
    return inputs, cache.default_folder(), cache_key.key_of("", {})
