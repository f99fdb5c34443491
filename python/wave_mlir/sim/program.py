"""From MLIR to a flat program of Python closures, compiled once and run for every cohort.

A step is `step(cohort) -> None | int`: None goes on with the next step, a number jumps to that step, SUSPEND gives
control back to the machine. Structured control flow becomes jumps (control.py), so a cohort's state is a step number,
its values and its open ifs and loops, and can be cut and joined at will.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from mlir import ir

from .cohort import Cohort
from .dtypes import DType, element_type, vector_shape
from .errors import SimError, describe_location

Step = Callable[[Cohort], "int | None"]
Handler = Callable[["Compiler", ir.Operation], None]

SUSPEND = -1
FINISHED = -2

_HANDLERS: dict[str, Handler] = {}


def handles(*names: str) -> Callable[[Handler], Handler]:
    """Register the compile function of operations."""

    def register(handler: Handler) -> Handler:
        for name in names:
            _HANDLERS[name] = handler
        return handler

    return register


def known_operations() -> list[str]:
    """Names of all operations the simulator runs, sorted."""
    load_handlers()
    return sorted(_HANDLERS)


def load_handlers() -> None:
    """Import every module that registers handlers."""
    from . import (  # noqa: F401
        control,
        ops_access,
        ops_amdgpu,
        ops_arith,
        ops_buffer,
        ops_casts,
        ops_cross_lane,
        ops_gpu,
        ops_math,
        ops_memref,
        ops_misc,
        ops_mma,
        ops_pointer,
        ops_rocdl,
        ops_vector,
    )


@dataclass(slots=True)
class OpInfo:
    """Identity of an operation for messages. number: 1, 2, … in program order."""

    name: str
    number: int
    source: ir.Location

    @property
    def location(self) -> str:
        """`file:line:column`."""
        return describe_location(self.source)


@dataclass(slots=True)
class MemoryUse:
    """How a kernel uses memory, found while compiling; decides what must be tracked."""

    atomics_global: bool = False
    copies_async: bool = False
    bare_barrier: bool = False  # a barrier that waits for no memory
    lds_barrier: bool = False  # a barrier that waits for LDS only
    waits: bool = False
    spins: bool = False  # a loop may wait for what other waves write
    written_args: set[int] = field(default_factory=set)
    read_args: set[int] = field(default_factory=set)
    all_args: bool = False  # some access could not be traced to its argument


@dataclass(slots=True)
class Private:
    """A per-lane array: slot of its memref, bytes of a lane."""

    slot: int
    name: str
    kind: ir.MemRefType
    space: str
    info: OpInfo | None = None


@dataclass(slots=True)
class Program:
    """A compiled kernel. constants: initial values by slot. arguments: slots of the function's arguments.
    visible: for each join step, the slots still needed there."""

    name: str
    steps: list[Step] = field(default_factory=list)
    step_infos: list[OpInfo | None] = field(default_factory=list)
    slots: int = 0
    constants: dict[int, np.ndarray] = field(default_factory=dict)
    arguments: list[int] = field(default_factory=list)
    argument_types: list[ir.Type] = field(default_factory=list)
    storages: list[Private] = field(default_factory=list)
    infos: list[OpInfo] = field(default_factory=list)
    visible: dict[int, list[int]] = field(default_factory=dict)
    use: MemoryUse = field(default_factory=MemoryUse)
    keep_alive: list[object] = field(default_factory=list)


def internal_error(info: OpInfo | None, error: Exception) -> SimError:
    """A fault of the simulator itself, with the operation it was at."""
    name, location = (info.name, info.location) if info else ("the kernel", "")
    text = f"the simulator failed at {name}: {type(error).__name__}: {error}; please report it with this operation"
    return SimError("internal", text, location=location)


class Compiler:
    """Compiles one function. `lanes` is the wave size; `target` the name in wave.target or ""."""

    def __init__(self, name: str, lanes: int, target: str) -> None:
        load_handlers()
        self.program = Program(name)
        self.lanes = lanes
        self.target = target
        self._slot_of: dict[ir.Value, int] = {}
        self._scope: list[list[int]] = [[]]
        self._roots: dict[int, set[int]] = {}
        self.info: OpInfo | None = None

    # -- slots
    def new_slot(self) -> int:
        """A fresh slot, visible in the current region."""
        slot = self.program.slots
        self.program.slots += 1
        self._scope[-1].append(slot)
        return slot

    def define(self, value: ir.Value) -> int:
        """The slot of a value being defined."""
        slot = self.new_slot()
        self._slot_of[value] = slot
        return slot

    def alias(self, value: ir.Value, slot: int) -> None:
        """Let a value share a slot."""
        self._slot_of[value] = slot

    def use(self, value: ir.Value) -> int:
        """The slot of an operand."""
        try:
            return self._slot_of[value]
        except KeyError:
            raise self.unsupported("uses a value from outside the kernel") from None

    def constant(self, values: np.ndarray) -> int:
        """A slot that always holds `values`."""
        slot = self.program.slots
        self.program.slots += 1
        self._scope[0].append(slot)
        self.program.constants[slot] = values
        return slot

    def known_constant(self, value: ir.Value) -> int | None:
        """The integer a value is, when it is a scalar constant."""
        found = self.program.constants.get(self._slot_of.get(value, -1))
        return int(found.item()) if found is not None and found.size == 1 else None

    # -- steps
    @property
    def here(self) -> int:
        """Number of the next step."""
        return len(self.program.steps)

    def emit(self, step: Step) -> int:
        """Append a step; its number."""
        self.program.steps.append(step)
        self.program.step_infos.append(self.info)
        return len(self.program.steps) - 1

    def visible_slots(self) -> list[int]:
        """Slots defined before this point in the enclosing regions."""
        return [slot for scope in self._scope for slot in scope]

    def unsupported(self, why: str) -> SimError:
        """The error that the current operation cannot be simulated."""
        info = self.info
        assert info is not None
        return SimError("unsupported", f"{info.name}: {why}", location=info.location)

    # -- walking
    def begin(self, op: ir.Operation) -> OpInfo:
        """Make `op` the current operation."""
        self.info = OpInfo(op.name, len(self.program.infos) + 1, op.location)
        self.program.infos.append(self.info)
        return self.info

    def block(self, block: ir.Block) -> list[int]:
        """Compile the operations of a block; the slots its terminator passes on."""
        self._scope.append([])
        yielded: list[int] = []
        for view in block.operations:
            op = view.operation
            info = self.begin(op)
            if op.name in _TERMINATORS:
                yielded = [self.use(v) for v in op.operands]
                continue
            handler = _HANDLERS.get(op.name)
            if handler is None:
                raise SimError(
                    "unsupported",
                    f"{op.name} is not modelled; lower it to operations listed in docs/simulator.md first",
                    location=info.location,
                )
            try:
                handler(self, op)
            except SimError as error:
                if not error.location:
                    raise SimError(error.kind, f"{op.name}: {error.message}", location=info.location) from None
                raise
            except Exception as error:
                raise internal_error(info, error) from error
        self._scope.pop()
        return yielded

    # -- types and attributes
    def dtype(self, value: ir.Value) -> DType:
        """Element type of a value."""
        return element_type(value.type)

    def shape(self, value: ir.Value) -> tuple[int, ...]:
        """Vector dims of a value."""
        return vector_shape(value.type)

    def integer(self, op: ir.Operation, name: str, default: int | None = None) -> int:
        """An integer attribute."""
        if name not in op.attributes:
            if default is None:
                raise self.unsupported(f"lacks attribute {name}")
            return default
        return int(ir.IntegerAttr(op.attributes[name]).value)

    def flag(self, op: ir.Operation, name: str, default: bool = False) -> bool:
        """A unit or bool attribute."""
        if name not in op.attributes:
            return default
        attribute = op.attributes[name]
        return bool(attribute.value) if isinstance(attribute, ir.BoolAttr) else True

    def operand_groups(self, op: ir.Operation) -> list[list[ir.Value]]:
        """Operands by `operandSegmentSizes`."""
        sizes = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
        values, groups, at = list(op.operands), [], 0
        for size in sizes:
            groups.append(values[at : at + size])
            at += size
        return groups

    # -- which arguments a memref may point into
    def set_roots(self, value: ir.Value, roots: set[int]) -> None:
        """Say which function arguments a memref may point into."""
        self._roots[self.use(value)] = roots

    def forget_roots(self, value: ir.Value) -> None:
        """Say that a memref may point into any argument."""
        self._roots.pop(self.use(value), None)

    def roots(self, value: ir.Value) -> set[int] | None:
        """Function arguments a memref may point into; None: unknown."""
        return self._roots.get(self.use(value))

    def note_access(self, memref: ir.Value, reads: bool, writes: bool, atomic: bool = False) -> None:
        """Record that the current operation reads or writes through a memref."""
        roots, use = self.roots(memref), self.program.use
        if roots is None:
            use.all_args = True
            roots = set()
        if reads:
            use.read_args |= roots
        if writes:
            use.written_args |= roots
        use.atomics_global |= atomic


_TERMINATORS = {"scf.yield", "gpu.return", "scf.condition", "gpu.yield", "memref.atomic_yield", "func.return"}


def compile_function(func: ir.Operation, lanes: int, target: str) -> Program:
    """Compile a gpu.func (or func.func). Raises SimError(unsupported) before anything runs."""
    name = ir.StringAttr(func.attributes["sym_name"]).value
    compiler = Compiler(name, lanes, target)
    program = compiler.program
    program.keep_alive.append(func)
    info = compiler.begin(func)
    if len(func.regions[0].blocks) != 1:
        raise SimError(
            "unsupported",
            "a function body of several blocks; use structured control flow (scf)",
            location=info.location,
        )
    block = func.regions[0].blocks[0]
    inputs = len(ir.FunctionType(ir.TypeAttr(func.attributes["function_type"]).value).inputs)
    shared = 0
    if "workgroup_attributions" in func.attributes:
        shared = ir.IntegerAttr(func.attributes["workgroup_attributions"]).value
    for number, argument in enumerate(block.arguments):
        slot = compiler.define(argument)
        if number < inputs:
            program.arguments.append(slot)
            program.argument_types.append(argument.type)
            compiler.set_roots(argument, {number})
            continue
        space = "LDS" if number < inputs + shared else "private"
        program.storages.append(
            Private(slot, f"{space} attribution {number - inputs}", ir.MemRefType(argument.type), space, info)
        )
        compiler.set_roots(argument, set())
    compiler.block(block)
    compiler.emit(lambda cohort: FINISHED)
    # Constants and storages have their values from the start: a join before them in the text must keep them.
    initial = [*program.constants, *(p.slot for p in program.storages)]
    for join, slots in program.visible.items():
        program.visible[join] = list(dict.fromkeys([*slots, *initial]))
    return program
