"""Which values of a kernel in gpu form cost how many registers, and the warning where LLVM could not keep them.

The costs are of values that the kernel's heaviest loop may need at the same time; how many are needed at once is up to
LLVM's order, so all but the accumulators are upper bounds.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from mlir import ir
from mlir.dialects.builtin import ModuleOp

from . import abi, targets
from .diagnostics import Diagnostic, give_warning, location_text
from .register_pressure import budget, registers_of
from .tile_ir import walk

_MMA = ("amdgpu.mfma", "amdgpu.scaled_mfma", "amdgpu.wmma")
_LOADS = ("vector.load", "memref.load", "vector.maskedload", "rocdl.raw.ptr.buffer.load")
_ACCESSES = (*_LOADS, "vector.store", "memref.store", "vector.maskedstore", "rocdl.raw.ptr.buffer.store",
             "amdgpu.gather_to_lds", "rocdl.raw.ptr.buffer.load.lds")  # fmt: skip
_SPILL_TEXT = re.compile(r"\.vgpr_spill_count:\s*(\d+)")
_NAME_TEXT = re.compile(r"^\s+\.name:\s+(\S+)", re.M)
# Text of up to 31 bytes with its length in the tag, or of up to 255 with it in a byte; numbers of 7, 8, 16 bits.
_NAME_BYTES = re.compile(rb"\xa5\.name(?:([\xa0-\xbf])([\w.$]+)|(\xd9.)([\w.$]+))", re.S)
_SPILL_BYTES = re.compile(rb"\xb1\.vgpr_spill_count([\x00-\x7f]|\xcc.|\xcd..)", re.S)


@dataclass
class Costs:
    """Registers (32 bits a lane) of a kernel's heaviest loop, or of all of it without a loop, by what they hold.

    accumulators: results of MMAs that the loop carries. carried: other vectors that it carries, such as operands read
    a trip ahead. fragments: LDS reads. loads: global loads. addresses:
    offsets made before the loop. Each has the location of the first such value. matrix: its matrix operations.
    """

    function: ir.Operation
    accumulators: int = 0
    carried: int = 0
    fragments: int = 0
    loads: int = 0
    addresses: int = 0
    matrix: int = 0
    where: dict[str, ir.Location] = field(default_factory=dict)

    @staticmethod
    def of(function: ir.Operation) -> Costs:
        """The costs of a gpu.func."""
        loop = max(_loops(function), key=_matrix_ops, default=None)
        costs = Costs(function)
        block = (loop or function).regions[0].blocks[0]
        if loop is not None:
            for argument in block.arguments:
                kind = "accumulators" if _is_accumulator(argument) else "carried"
                costs._add(kind, loop.location, registers_of(argument.type))
        inside = list(walk(block))
        costs.matrix = sum(op.name in _MMA for op in inside)
        costs._add_values(inside, {r for op in inside for r in op.results})
        return costs

    def _add_values(self, inside: list[ir.Operation], made: set[ir.Value]) -> None:
        outside: set[ir.Value] = set()
        for op in inside:
            if op.name in _LOADS:
                kind = "fragments" if "workgroup" in str(op.operands[0].type) else "loads"
                self._add(kind, op.location, sum(max(1, registers_of(r.type)) for r in op.results))
            if op.name in _ACCESSES:
                offsets = [v for v in op.operands if isinstance(v.type, (ir.IndexType, ir.IntegerType))]
                for value in offsets:
                    if value not in made and value not in outside and not _is_constant(value):
                        outside.add(value)
                        self._add("addresses", value.location, 1)

    def _add(self, kind: str, where: ir.Location, count: int) -> None:
        if count:
            setattr(self, kind, getattr(self, kind) + count)
            self.where.setdefault(kind, where)

    def notes(self) -> list[tuple[ir.Location, str]]:
        """What each group costs, the dearest first."""
        words = {
            "accumulators": "{} registers a lane are accumulators that the loop carries",
            "carried": "{} registers a lane carry other values round the loop, such as operands read a trip ahead",
            "fragments": "up to {} registers hold what is read from LDS in a trip (operand fragments)",
            "loads": "up to {} registers hold what is loaded from memory in a trip",
            "addresses": "up to {} registers hold offsets made before the loop",
        }
        kinds = sorted((k for k in words if getattr(self, k)), key=lambda k: -getattr(self, k))
        return [(self.where[k], words[k].format(getattr(self, k))) for k in kinds]

    def advice(self, target: targets.Target) -> str:
        """What to change first."""
        threads = math.prod(ir.DenseI32ArrayAttr(self.function.attributes["known_block_size"]))
        most = budget(threads, target)
        if self.carried and self.accumulators + self.carried >= 3 * most // 4 > self.accumulators:
            return "use another schedule, which reads fewer operands ahead, or a smaller tile"
        if self.accumulators >= most // 2:
            return "use more waves or a smaller tile, which leave a lane fewer accumulators"
        if self.loads >= max(self.fragments, self.accumulators):
            return "use a smaller tile, more waves or fewer stages, which keep fewer loads under way"
        return "use a smaller tile along the reduced dim, or another schedule, which need fewer operands at once"


def warn(
    module: ir.Module | ModuleOp, target: targets.Target, spilled: Mapping[str, int], moves: Mapping[str, int]
) -> None:
    """A CompileWarning for each kernel of a gpu-form module that spills, or moves between register halves in loops."""
    for function in abi.kernel_functions(module) if any(spilled.values()) or any(moves.values()) else ():
        name = ir.StringAttr(function.attributes["sym_name"]).value
        what = []
        if count := spilled.get(name, 0):
            what.append(f"spills {count} registers a lane to memory")
        if count := moves.get(name, 0):
            what.append(f"moves registers between the halves of the file {count} times in its loops")
        if what:
            costs = Costs.of(function)
            notes = tuple(Diagnostic("note", location_text(where), text) for where, text in costs.notes())
            text = f"kernel '{name}' {' and '.join(what)}; {costs.advice(target)}"
            found = Diagnostic("warning", location_text(function.location), text, notes)
            give_warning(found)


FEW_MOVES = 64
"""Moves in a loop for which no other order is tried: some operands of a tile of 256 accumulators."""


def lost(isa: str) -> tuple[int, int]:
    """(registers spilled, moves between register halves in loops), of all kernels of assembly text."""
    return sum(spills(isa).values()), sum(agpr_moves(isa).values())


def is_little(lost: tuple[int, int]) -> bool:
    """Whether another order is not worth the time."""
    return lost[0] == 0 and lost[1] < FEW_MOVES


def spills(isa: str) -> dict[str, int]:
    """Registers a lane spills, by kernel, from the metadata of assembly text."""
    start = isa.find("amdhsa.kernels:")
    found = {}
    for entry in re.split(r"^  - ", isa[max(0, start) :], flags=re.M)[1:]:
        name, count = _NAME_TEXT.search(entry), _SPILL_TEXT.search(entry)
        if name and count:
            found[name[1].strip("'\"")] = int(count[1])
    return found


def spills_of_object(obj: bytes) -> dict[str, int]:
    """The same from the metadata (MessagePack) of an object file, whose keys are sorted within a kernel."""
    names = [(m.end(), m[2] or m[4]) for m in _NAME_BYTES.finditer(obj)]
    found = {}
    for match in _SPILL_BYTES.finditer(obj):
        name = [text for at, text in names if at <= match.start()][-1:]
        value = match[1][0] if len(match[1]) == 1 else int.from_bytes(match[1][1:], "big")
        if name:
            found[name[0].decode()] = value
    return found


def most_lost(obj: bytes) -> tuple[int, int]:
    """What `lost` gives of the same code at most, from an object: moves in any loop, and words that look like moves."""
    words = np.frombuffer(obj[: len(obj) // 4 * 4], "<u4")
    # VOP3P v_accvgpr_read and _write, VOP1 v_accvgpr_mov (formats of AMD's CDNA 3 ISA guide)
    moves = ((words >> 17) == 0x69EC) | (((words >> 25) == 0x3F) & ((words >> 9 & 0xFF) == 0x52))
    # SOPP s_branch and s_cbranch (opcodes 2 to 9), back by so many words
    opcode = words >> 16 & 0x7F
    back = ((words >> 23) == 0x17F) & (opcode >= 2) & (opcode <= 9) & ((words & 0x8000) != 0)
    ends = np.flatnonzero(back)
    changes = np.zeros(len(words) + 2, np.int64)
    np.add.at(changes, np.maximum(ends + 1 - (0x10000 - (words[ends].astype(np.int64) & 0xFFFF)), 0), 1)
    np.add.at(changes, ends + 1, -1)
    inside = np.cumsum(changes)[: len(words)] > 0
    return sum(spills_of_object(obj).values()), int(np.count_nonzero(moves & inside))


_BLOCK = re.compile(r"^(?:\.L\w+:|; %bb)(.*(?:\n\s+;.*)*)", re.M)


def agpr_moves(isa: str) -> dict[str, int]:
    """AGPR moves in loops with matrix instructions, by function. Which blocks are in a loop is in LLVM's comments."""
    found = {}
    for part in re.split(r"^\s+\.type\s+", isa, flags=re.M)[1:]:
        name, _, rest = part.partition(",")
        blocks = list(_BLOCK.finditer(rest))
        count = 0
        for block, after in zip(blocks, [*blocks[1:], None], strict=True):
            if "Loop" not in block[1]:
                continue
            text = rest[block.end() : after.start() if after else None]
            if "v_mfma" in text:
                count += text.count("v_accvgpr_")
        found[name] = count
    return found


def _loops(function: ir.Operation) -> Iterator[ir.Operation]:
    return (op for op in walk(function.regions[0].blocks[0]) if op.name in ("scf.for", "scf.while"))


def _matrix_ops(loop: ir.Operation) -> tuple[int, int]:
    """Matrix operations of a loop's own body; of equals the one with more operations."""
    own = list(loop.regions[0].blocks[0].operations)
    return sum(op.operation.name in _MMA for op in own), len(own)


def _is_accumulator(argument: ir.BlockArgument) -> bool:
    """Whether it is what some MMA adds to, which is its third operand."""
    uses = (use for use in argument.uses if use.owner.operation.name in _MMA)
    return any(use.owner.operation.operands[2] == argument for use in uses)


def _is_constant(value: ir.Value) -> bool:
    owner = value.owner
    return isinstance(owner, (ir.Operation, ir.OpView)) and owner.operation.name == "arith.constant"
