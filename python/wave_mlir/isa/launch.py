"""`run`: machine code on numpy arrays or torch tensors, and what came of it."""

from __future__ import annotations

import math
import operator
import sys
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from . import arguments
from .encoder import Program
from .encoding import TRACE
from .errors import Finding, IsaError
from .loader import Code, Loaded, load
from .metadata import LDS_LIMITS, Kernel
from .native import ORDERS, TARGETS, Config, RawFinding, Session
from .profile import Profile
from .timeline import BYTES_PER_CLOCK, model
from .timeline_result import Timeline

_FIRST_PROGRESS, _NEXT_PROGRESS = 2.0, 0.5  # seconds
_MOST_SGPRS = 32
_UNALIGNED_MODE = " (code that relies on the hardware's unaligned mode runs with alignment=False)"


@dataclass(frozen=True)
class IsaRun:
    """What a launch did.

    outputs: the arrays and tensors given, which hold the results. counts: executions by mnemonic, once a wave.
    findings: what the checks found (empty unless `collect`). executed: instructions, once a wave; seconds: wall time.
    By instruction of `program`: executions, and of memory accesses the sums of bytes moved, of 64-byte segments touched
    (LDS: cycles without conflicts) and of LDS cycles (`phases`). waves: instructions by wave number in its workgroup.
    trace: array of encoding.TRACE of the traced workgroups.
    """

    kernel: str
    target: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    outputs: tuple[object, ...]
    counts: dict[str, int]
    findings: tuple[Finding, ...]
    executed: int
    seconds: float
    program: Program
    executions: np.ndarray
    bytes: np.ndarray
    segments: np.ndarray
    phases: np.ndarray
    waves: np.ndarray
    trace: np.ndarray = field(default_factory=lambda: np.zeros(0, TRACE))

    def by_line(self) -> dict[str, int]:
        """Executions by source line ("file:line"), in the order of the code."""
        out: dict[str, int] = {}
        for i, count in enumerate(self.executions):
            source = self.program.source(i)
            out[source] = out.get(source, 0) + int(count)
        return out

    def profile(self) -> Profile:
        """The counts by opcode, class, line and wave, and what each memory access did."""
        return Profile(self.program, self.target, self.executions, self.phases, self.bytes, self.segments, self.waves)

    def timeline(self, *, latency: int | None = None, bytes_per_clock: float = BYTES_PER_CLOCK) -> Timeline:
        """The modelled timeline of the traced workgroups (see timeline.model).

        ValueError when the run had no `trace`.
        """
        if not len(self.trace):
            raise ValueError("nothing was traced: run with trace=1, the number of workgroups to record")
        return model(self.program, self.trace, self.target, latency=latency, bytes_per_clock=bytes_per_clock)

    def __str__(self) -> str:
        return self.summary()

    def summary(self) -> str:
        """Text: exact counts, then the modelled timeline where a workgroup was traced."""
        parts = [self.profile().summary()]
        if len(self.trace):
            parts.append(self.timeline().summary())
        return "\n".join(parts)


def run(
    code: Code | Loaded,
    args: Sequence[object],
    grid: Sequence[int] | int,
    block: Sequence[int] | int | None = None,
    *,
    kernel: str | None = None,
    target: str | None = None,
    strict: bool = True,
    races: bool = True,
    unwritten: bool = True,
    alignment: bool = True,
    order: str = "random",
    seed: int = 0,
    undefined: Collection[int] = (),
    read_only: Collection[int] = (),
    dynamic_lds: int = 0,
    collect: bool = False,
    limit: int = 0,
    trace: int = 0,
    progress: bool | Callable[[float, int], None] | None = None,
) -> IsaRun:
    """Run one kernel's machine code.

    code: assembly text, the path of an assembly file or code object, a code object's bytes, or a compiled kernel
    (see `load`; what that returns may be given too, to run it several times). kernel: its name, when there are several.
    args: the explicit arguments in order. A pointer takes a C-contiguous numpy array or torch CPU tensor, updated in
    place, or None (null); a value takes a number (a Python float as the float of the argument's size, a Python int as
    an integer; numpy scalars and bytes as they are); a pointer to LDS (OpenCL's `local`) takes its size in bytes.
    grid: workgroups along x, y, z. block: work-items; by default what the kernel requires.
    strict: a load arrives only when a wait covers it, and a use before that is a fault. races: LDS accesses of two
    waves without a barrier between are faults. unwritten: so are loads of bytes that nothing has written.
    alignment: so are accesses that are not naturally aligned; False is for code of compilers that rely on the unaligned
    mode in which the HSA runtime starts kernels. order: in which waves run ("forward", "reverse",
    "round-robin", "random" with `seed`, which also moves the buffers). undefined: numbers of arguments whose bytes
    count as unwritten until the kernel stores them. read_only: of those it may not store to (arrays that numpy has as
    read-only are too). dynamic_lds: bytes of LDS beyond the kernel's own. limit: most instructions to execute (0: no
    limit). trace: how many workgroups to record. progress: None prints a line on a terminal after two seconds; a
    callback gets (seconds, instructions).

    Raises IsaError at the first fault, or for arguments that do not fit; with `collect` the faults that a run can go on
    after are in IsaRun.findings instead, and a fault that it cannot go on after is the last of them.
    """
    counted = {"seed": seed, "dynamic_lds": dynamic_lds, "limit": limit, "trace": trace}
    seed, dynamic_lds, limit, trace = (_count(value, name) for name, value in counted.items())
    loaded = load(code, kernel, target)
    sizes = _three(grid, "grid")
    threads = _block(loaded.kernel, block)
    if order not in ORDERS:
        raise IsaError("arguments", f"order '{order}' is none of {', '.join(ORDERS)}")
    memory = arguments.Memory()
    segment, lds = arguments.packed(
        loaded.kernel, args, memory, seed=seed, undefined=undefined, read_only=read_only,
        lds=loaded.kernel.lds + dynamic_lds,
    )  # fmt: skip
    arguments.fill_hidden(segment, loaded.kernel, sizes, threads, dynamic_lds)
    for section, data in loaded.image.arrays():
        memory.add(section.address, data.copy(), writable=section.writable)
    config = Config()
    config.grid[:], config.block[:] = sizes, threads
    config.target, config.order, config.seed = TARGETS.index(loaded.target), ORDERS.index(order), seed % 2**64
    config.strict, config.races, config.unwritten = strict, races, unwritten
    config.alignment, config.collect = alignment, collect
    config.limit, config.traceGroups = min(limit, 2**64 - 1), min(trace, 2**32 - 1)
    config.ldsBytes = _lds_bytes(loaded, lds)
    _set_registers(config, loaded, memory, segment, sizes, threads)
    return _launch(loaded, config, memory, args, _Progress.wanted(progress))


def _set_registers(
    config: Config,
    loaded: Loaded,
    memory: arguments.Memory,
    segment: bytearray,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
) -> None:
    kernel = loaded.kernel
    registers = arguments.user_registers(kernel, memory, segment, grid, block, config.ldsBytes)
    if len(registers) > _MOST_SGPRS:
        raise IsaError("input", f"kernel '{kernel.name}' asks for {len(registers)} user registers; there are 16")
    config.userSgpr[: len(registers)] = registers
    config.sgprCount = len(registers)
    config.idX, config.idY, config.idZ = kernel.ids
    config.info, config.mode, config.scratchBytes, config.start = kernel.info, kernel.mode, kernel.scratch, loaded.start


def _launch(
    loaded: Loaded, config: Config, memory: arguments.Memory, args: Sequence[object], progress: _Progress | None
) -> IsaRun:
    program = loaded.program
    session = Session(config, program.instructions, memory.buffers)
    start = time.perf_counter()
    good = True
    if config.grid[0] * config.grid[1] * config.grid[2]:
        try:
            good = session.launch(progress.tick if progress else None)
        finally:
            if progress:
                progress.finish()
    seconds = time.perf_counter() - start
    findings = tuple(_located(program, f) for f in session.findings())
    if not good and not config.collect:
        raise IsaError.of(findings[-1])
    executions = session.counts("executions")
    counts: dict[str, int] = {}
    for line, count in zip(program.lines, executions, strict=True):
        if count:
            counts[line.mnemonic] = counts.get(line.mnemonic, 0) + int(count)
    return IsaRun(
        kernel=loaded.kernel.name,
        target=loaded.target,
        grid=tuple(config.grid),  # type: ignore[arg-type]
        block=tuple(config.block),  # type: ignore[arg-type]
        outputs=tuple(a for a in args if isinstance(a, np.ndarray | arguments.Tensor)),
        counts=counts,
        findings=findings,
        executed=session.executed,
        seconds=seconds,
        program=program,
        executions=executions,
        bytes=session.counts("bytes"),
        segments=session.counts("segments"),
        phases=session.counts("phases"),
        waves=session.counts("waves"),
        trace=session.trace(),
    )


def _located(program: Program, raw: RawFinding) -> Finding:
    lines = program.lines
    text = lines[raw.instruction].text if raw.instruction < len(lines) else ""
    message = raw.text
    if raw.kind == "alignment" and message.startswith("this "):  # atomics and the like need it in any mode
        message += _UNALIGNED_MODE
    other = ""
    if raw.other is not None and raw.other < len(lines):
        by = f" of wave {raw.other_wave}" if raw.other_wave is not None and raw.other_wave != raw.wave else ""
        other = f"{lines[raw.other].text}{by} ({program.source(raw.other)})"
    return Finding(
        raw.kind, message, text, program.source(raw.instruction), raw.group, raw.wave, raw.lane, raw.address, other
    )


def _three(sizes: Sequence[int] | int, what: str) -> tuple[int, int, int]:
    try:
        values = [operator.index(s) for s in (sizes if isinstance(sizes, Iterable) else [sizes])]
    except TypeError:
        values = []
    if not 1 <= len(values) <= 3 or min(values) < 0 or max(values) >= 1 << 31:
        raise IsaError("arguments", f"{what} must be one to three sizes of 0 to 2^31 - 1, not {sizes!r}")
    x, y, z = (values + [1, 1])[:3]
    return x, y, z


def _count(value: object, what: str) -> int:
    if not isinstance(value, int | np.integer) or value < 0:
        raise IsaError("arguments", f"{what} must be a whole number from 0, not {value!r}")
    return int(value)


def _block(kernel: Kernel, given: Sequence[int] | int | None) -> tuple[int, int, int]:
    if given is None:
        if kernel.block is None:
            raise IsaError("arguments", f"kernel '{kernel.name}' does not say its workgroup size; give block=")
        return kernel.block
    block = _three(given, "block")
    items = math.prod(block)
    if not 1 <= items <= min(kernel.most, 1024):
        most = min(kernel.most, 1024)
        raise IsaError("arguments", f"a workgroup of {items} work-items; kernel '{kernel.name}' takes 1 to {most}")
    if kernel.block is not None and block != kernel.block:
        message = f"kernel '{kernel.name}' requires workgroups of {kernel.block}; block={block} was given"
        raise IsaError("arguments", message)
    return block


def _lds_bytes(loaded: Loaded, total: int) -> int:
    most = LDS_LIMITS[loaded.target]
    if total < loaded.kernel.lds or total > most:
        raise IsaError("arguments", f"{total} bytes of LDS a workgroup; {loaded.target} has {most}")
    return total


class _Progress:
    """Prints how far a run is, once it has taken over two seconds."""

    def __init__(self, show: Callable[[float, int], None] | None = None) -> None:
        self._show = show
        self._start = time.perf_counter()
        self._next = self._start + _FIRST_PROGRESS
        self._printed = False

    @staticmethod
    def wanted(progress: bool | Callable[[float, int], None] | None) -> _Progress | None:
        if callable(progress):
            return _Progress(progress)
        return _Progress() if progress or (progress is None and sys.stderr.isatty()) else None

    def tick(self, executed: int) -> None:
        now = time.perf_counter()
        if now < self._next:
            return
        self._next = now + _NEXT_PROGRESS
        if self._show is not None:
            self._show(now - self._start, executed)
            return
        self._printed = True
        sys.stderr.write(f"\rrunning machine code: {now - self._start:.1f} s, {executed:,} instructions of waves")
        sys.stderr.flush()

    def finish(self) -> None:
        if self._printed:
            sys.stderr.write("\n")
