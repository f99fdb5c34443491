"""Assembly text -> kernels, basic blocks, instructions and the metadata that stands beside the code.

Reads what LLVM writes (`.s`) and what llvm-objdump prints of a code object.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from .instructions import Instruction, classify

_FUNCTION = re.compile(r"^\s*\.type\s+([\w.$]+),\s*@function", re.M)
_LABEL = re.compile(r"^(?:[0-9a-f]+ )?<?([\w.$]+)>?:\s*(?:[;/].*)?$")
_INSTRUCTION = re.compile(r"^\s+([a-z][a-z0-9_]*)(?:\s+(.*))?$")
_COMMENT = re.compile(r"\s*(?:;|//).*$")
_TARGET = re.compile(r"amdgcn-amd-amdhsa-\w*-(gfx[0-9a-f]+)")
_FALL_THROUGH_ENDS = ("s_branch", "s_endpgm", "s_setpc_b64")


class AssemblyError(ValueError):
    """The text holds no AMDGPU kernel, or the file cannot be read; the message says why."""


@dataclass
class Block:
    """A basic block: its label ("" for one that nothing jumps to), instructions, and numbers of the blocks after it."""

    label: str
    instructions: list[Instruction] = field(default_factory=list)
    successors: list[int] = field(default_factory=list)


@dataclass
class Function:
    """A function's basic blocks, in the order of the text."""

    name: str
    blocks: list[Block] = field(default_factory=list)


@dataclass
class Listing:
    """The functions of a text, and the target it names ("" if none)."""

    target: str
    functions: list[Function]


def parse(text: str, names: Iterable[str] | None = None) -> Listing:
    """The functions of assembly text; `names` says which labels are functions where the text does not (a disassembly).

    Raises AssemblyError when there is none.
    """
    named = set(_FUNCTION.findall(text) if names is None else names)
    target = _TARGET.search(text)
    functions: list[Function] = []
    active = False
    for line in text.splitlines():
        stripped = line.strip()
        label = _LABEL.match(_COMMENT.sub("", line) if not line.startswith("\t") else "")
        if label and label[1] in named:
            functions.append(Function(label[1], [Block("")]))
            active = True
        elif stripped.startswith((".section", ".rodata", ".amdgpu_metadata")):
            active = active and ".text" in stripped
        elif active:
            _add_line(functions[-1], line, label)
    functions = [f for f in (_finished(f) for f in functions) if any(b.instructions for b in f.blocks)]
    if not functions:
        raise AssemblyError("no AMDGPU function in the text; give LLVM assembly (.s) or a code object (.hsaco)")
    return Listing(target[1] if target else "", functions)


def _add_line(function: Function, line: str, label: re.Match[str] | None) -> None:
    if label:
        if not label[1].startswith((".Lfunc_end", ".Ltmp")):
            function.blocks.append(Block(label[1]))
        return
    match = _INSTRUCTION.match(line)
    if not match or match[1].startswith("."):
        return
    operands = _COMMENT.sub("", match[2] or "").strip()
    instruction = classify(match[1], operands)
    block = function.blocks[-1]
    if block.instructions and block.instructions[-1].kind == "branch":
        block = Block("")
        function.blocks.append(block)
    block.instructions.append(instruction)


def _finished(function: Function) -> Function:
    """Drop the padding after the code, and connect the blocks."""
    blocks = [b for b in function.blocks if b.instructions or b.label]
    while blocks and all(i.kind == "nop" for i in blocks[-1].instructions):
        blocks.pop()
    numbers = {b.label: i for i, b in enumerate(blocks) if b.label}
    for i, block in enumerate(blocks):
        last = block.instructions[-1] if block.instructions else None
        if last is not None and last.mnemonic.startswith(("s_branch", "s_cbranch")):
            goal = last.operands.split(",")[-1].strip().strip("<>").split("+")[0]
            if goal in numbers:
                block.successors.append(numbers[goal])
        ends = last is not None and last.mnemonic.startswith(_FALL_THROUGH_ENDS)
        if not ends and i + 1 < len(blocks):
            block.successors.append(i + 1)
    function.blocks = blocks
    return function


def loops(blocks: list[Block]) -> list[set[int]]:
    """The innermost natural loops, as sets of block numbers: a back edge leads to a block that dominates its source."""
    predecessors: list[list[int]] = [[] for _ in blocks]
    for i, block in enumerate(blocks):
        for s in block.successors:
            predecessors[s].append(i)
    dominators = _dominators(predecessors)
    found: dict[int, set[int]] = {}
    for i, block in enumerate(blocks):
        for head in block.successors:
            if head in dominators[i]:
                found.setdefault(head, {head}).update(_natural_loop(head, i, predecessors))
    bodies = [found[h] for h in sorted(found)]
    return [b for b in bodies if not any(other < b for other in bodies)]


def _natural_loop(head: int, tail: int, predecessors: list[list[int]]) -> set[int]:
    body, work = {head}, [tail]
    while work:
        block = work.pop()
        if block not in body:
            body.add(block)
            work += predecessors[block]
    return body


def _dominators(predecessors: list[list[int]]) -> list[set[int]]:
    """Dominators of each block by iteration to a fixed point; block 0 is the entry."""
    everything = set(range(len(predecessors)))
    result = [{0} if i == 0 else set(everything) for i in range(len(predecessors))]
    changed = True
    while changed:
        changed = False
        for i in range(1, len(predecessors)):
            sets = [result[p] for p in predecessors[i]]
            new = {i} | (set.intersection(*sets) if sets else set())
            if new != result[i]:
                result[i], changed = new, True
    return result
