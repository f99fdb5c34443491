"""`run`: compile a kernel, bind its arguments, run it and give the result."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from mlir import ir

from .arguments import Bound, bind_arguments
from .dtypes import element_type
from .errors import CHECKS, SimError
from .machine import Geometry, Machine
from .memory import GLOBAL, LDS, PRIVATE, MemRef, Storage
from .program import Private, Program, compile_function
from .progress import Progress
from .shadow import Shadow

ORDERS = ("forward", "reverse", "random")
_ADDRESS_STEP = 1 << 40  # distance between the virtual addresses of two storages
_POISON = 0xFF  # what LDS and private memory hold before they are written: NaN in every float type


@dataclass(frozen=True)
class SimResult:
    """What a run did. ops: operations executed, counted once a wave. seconds: wall time without compiling.
    findings: always empty on a run that ends (a fault raises). counts: waves, workgroups, barriers."""

    ops: int
    seconds: float
    findings: tuple[SimError, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)


def run(
    module_or_func: ir.Module | ir.Operation | ir.OpView,
    args: Sequence[object],
    *,
    grid: Sequence[int] | None = None,
    block: Sequence[int] | None = None,
    symbols: Mapping[str, int] | None = None,
    checks: bool | Iterable[str] = True,
    order: str = "forward",
    seed: int = 0,
    progress: bool | Callable[[float, int, float], None] | None = None,
    kernel: str | None = None,
    wave_size: int | None = None,
    limit: int | None = None,
    agreeing_writes: bool = False,
) -> SimResult:
    """Run a gpu-form kernel on numpy data.

    module_or_func: a module with one kernel (or `kernel` names it), or a gpu.func. It must stay alive during the call.
    args: in ABI order, a numpy array for each memory (C-contiguous, of its dtype; updated in place), a Python number
    for each scalar; dynamic symbols and strides are taken from the shapes and `symbols`, or given as further numbers.
    grid, block: workgroups and threads along x, y, z; by default from the kernel's attributes.
    checks: True for all, False for none, or the kinds of `CHECKS` to leave out.
    order: in which order waves step between barriers, with `seed` for "random"; results of a correct kernel do not
    depend on it. progress: None prints a line on a terminal after two seconds; a callback gets (seconds, operations,
    part of the waves ended). wave_size: when the module names no target. limit: most operations to execute.
    agreeing_writes: workgroups may store the same value at one place of global memory.

    Raises SimError on the first fault of the kernel, and for arguments that do not fit.
    """
    func, target = _find_kernel(module_or_func, kernel)
    lanes = wave_size or _wave_size(target)
    if order not in ORDERS:
        raise SimError("arguments", f"order '{order}' is none of {', '.join(ORDERS)}")
    program = compile_function(func, lanes, target)
    bound = bind_arguments(func, args, grid, block, symbols)
    geometry = Geometry(bound.grid, bound.block, lanes)
    machine = Machine(program, geometry, _enabled(checks), order, seed)
    machine.agreeing_writes = agreeing_writes
    env = _environment(program, machine, bound)
    start = time.perf_counter()
    if machine.waves:
        machine.start(env)
        shown = Progress.wanted(progress)
        with np.errstate(all="ignore"):
            machine.run(shown, limit)
        if shown is not None:
            shown.finish()
    barriers = int(machine.waits.passed.max(initial=0))
    return SimResult(
        machine.executed,
        time.perf_counter() - start,
        tuple(machine.findings),
        {"waves": machine.waves, "workgroups": geometry.groups, "barriers": barriers},
    )


def _enabled(checks: bool | Iterable[str]) -> frozenset[str]:
    if isinstance(checks, bool):
        return frozenset(CHECKS) if checks else frozenset()
    left_out = list(checks)
    for kind in left_out:
        if kind not in CHECKS:
            raise SimError("arguments", f"unknown check '{kind}'; there are {', '.join(CHECKS)}")
    return frozenset(CHECKS) - frozenset(left_out)


def _kernels_in(op: ir.Operation) -> list[ir.Operation]:
    found = []
    for region in op.regions:
        for block in region.blocks:
            for view in block.operations:
                inner = view.operation
                if inner.name == "gpu.func" and "gpu.kernel" in inner.attributes:
                    found.append(inner)
                elif inner.name in ("gpu.module", "builtin.module"):
                    found += _kernels_in(inner)
    return found


def _find_kernel(source: ir.Module | ir.Operation | ir.OpView, name: str | None) -> tuple[ir.Operation, str]:
    """The kernel and the target named around it ("" when none is)."""
    op = source.operation
    kernels = [op] if op.name == "gpu.func" else _kernels_in(op)
    names = [ir.StringAttr(k.attributes["sym_name"]).value for k in kernels]
    if name is not None:
        kernels = [k for k, n in zip(kernels, names, strict=True) if n == name]
    if len(kernels) != 1:
        listed = ", ".join(names) or "none"
        raise SimError("arguments", f"want one kernel, the module has: {listed}; name it with kernel=")
    func = kernels[0]
    outer: ir.Operation | None = func
    while outer is not None:
        if "wave.target" in outer.attributes:
            return func, ir.StringAttr(outer.attributes["wave.target"]).value
        parent = outer.parent
        outer = parent.operation if parent is not None else None
    return func, ""


def _wave_size(target: str) -> int:
    if not target:
        return 64
    from ..compiler import targets

    try:
        return targets.get(target).wave_size
    except targets.TargetError as error:
        raise SimError("arguments", str(error)) from None


def _needs_shadow(program: Program, number: int) -> tuple[bool, bool]:
    """Whether races on argument `number` are possible, and whether its reads matter."""
    use = program.use
    if use.all_args:
        return True, True
    return number in use.written_args, number in use.read_args and number in use.written_args


def _environment(program: Program, machine: Machine, bound: Bound) -> list:
    """Initial values of all slots; makes the storages."""
    env: list = [None] * program.slots
    for slot, value in program.constants.items():
        env[slot] = value
    storages: dict[tuple[int, int], Storage] = {}
    shared = _shared_arrays(bound)
    for number, (slot, kind, value) in enumerate(
        zip(program.arguments, program.argument_types, bound.values, strict=True)
    ):
        if not isinstance(value, np.ndarray) or not isinstance(kind, ir.MemRefType):
            env[slot] = value
            continue
        key = (value.__array_interface__["data"][0], value.nbytes)
        storage = storages.get(key)
        if storage is None:
            storage = _global_storage(program, machine, bound, number, shared[key], value)
            storages[key] = storage
        env[slot] = bound.memref(number, storage, kind)
    for private in program.storages:
        env[private.slot] = _local_storage(private, machine)
    for storage in machine.storages:
        storage.turns = machine.turns
    use = program.use
    machine.counted = {}
    if use.bare_barrier:
        machine.counted[LDS] = "ds"
    if use.bare_barrier or use.lds_barrier:
        machine.counted[GLOBAL] = "vm"
    machine.counts_operations = use.copies_async or bool(machine.counted)
    return env


def _shared_arrays(bound: Bound) -> dict[tuple[int, int], list[int]]:
    """Arguments that are the same bytes; those that overlap otherwise are an error."""
    groups: dict[tuple[int, int], list[int]] = {}
    spans: list[tuple[int, int, int]] = []
    for number, value in enumerate(bound.values):
        if not isinstance(value, np.ndarray) or value.dtype != np.uint8 or value.ndim != 1:
            continue
        start, size = value.__array_interface__["data"][0], value.nbytes
        for other, low, high in spans:
            if size and low < start + size and start < high and (low, high) != (start, start + size):
                raise SimError(
                    "arguments",
                    f"arguments {bound.names[other]} and {bound.names[number]} overlap in part; "
                    "give separate arrays, or the same one twice",
                )
        spans.append((number, start, start + size))
        groups.setdefault((start, size), []).append(number)
    return groups


def _global_storage(
    program: Program, machine: Machine, bound: Bound, number: int, same: list[int], data: np.ndarray
) -> Storage:
    storage = Storage(f"argument '{bound.names[number]}'", GLOBAL, data, data.size, 0, _next_address(machine))
    writes = any(_needs_shadow(program, n)[0] for n in same)
    reads = any(n in program.use.read_args for n in same) or program.use.all_args
    if writes and not data.flags.writeable:
        raise SimError(
            "arguments", f"argument '{bound.names[number]}' is written by the kernel, but its array is read-only"
        )
    if machine.checks & {"race", "async"} and writes and machine.waves > 1:
        storage.shadow = Shadow(
            data.size, machine.groups_by_wave1, reads=reads, tracks_init=False, shared_by_groups=True
        )
    machine.storages.append(storage)
    return storage


def _next_address(machine: Machine) -> int:
    return (len(machine.storages) + 1) * _ADDRESS_STEP


def _local_storage(private: Private, machine: Machine) -> MemRef:
    """LDS of all workgroups, or a private array of all lanes, filled with poison."""
    kind = private.kind
    dtype = element_type(kind)
    size = int(np.prod(kind.shape, dtype=np.int64)) * dtype.size
    stride = -(-max(size, 1) // 16) * 16
    is_lds = private.space == "LDS"
    instances = machine.geometry.groups if is_lds else machine.waves * machine.lanes
    data = np.full(instances * stride, _POISON, dtype=np.uint8)
    base = machine.lds_end if is_lds else _next_address(machine)
    if is_lds:
        machine.lds_end += stride
    name, space = ("LDS", LDS) if is_lds else ("a private array", PRIVATE)
    storage = Storage(name, space, data, size, stride, base)
    if is_lds and machine.checks & {"race", "async", "uninitialised"}:
        storage.shadow = Shadow(
            data.size, machine.groups_by_wave1, reads=True, tracks_init=True, shared_by_groups=False
        )
    machine.storages.append(storage)
    strides: list[int] = [1] * len(kind.shape)
    for dim in range(len(strides) - 2, -1, -1):
        strides[dim] = strides[dim + 1] * kind.shape[dim + 1]
    return MemRef(storage, np.zeros((1, 1), dtype=np.int64), tuple(kind.shape), tuple(strides), dtype)
