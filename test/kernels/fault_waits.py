"""Which waits of a kernel are needed: a second account of counters, on the executed instructions of each wave.

It is written from the counters' definition alone, and shares nothing with the runner but the list of executed
instructions. A wait is *needed* when without it (or with its count raised) either

- an instruction names a register that an operation in flight will write, or
- an LDS operation is in flight when its wave passes a barrier, and until it is waited for another wave has an LDS
  operation of the opposite kind in one of the intervals between barriers that it reaches into.

Loosening a wait that is not needed cannot change what the kernel computes: every operation is complete before its
registers are used, and every pair of LDS operations of two waves stays on its sides of a barrier.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

NEVER = 1 << 30
MOST = {"vmcnt": 63, "lgkmcnt": 15}  # what the fields of s_waitcnt hold: not waited for
_REGISTER = re.compile(r"\b([vsa])(\d+)\b|\b([vsa])\[(\d+):(\d+)\]")
Register = tuple[str, int]


def counts_of(text: str) -> dict[str, int]:
    """What an s_waitcnt waits for."""
    return {name: int(count) for name, count in re.findall(r"(vmcnt|lgkmcnt)\((\d+)\)", text)}


def registers_of(text: str) -> set[Register]:
    """Registers that the operands name."""
    found: set[Register] = set()
    for kind, number, range_kind, first, last in _REGISTER.findall(text):
        if kind:
            found.add((kind, int(number)))
        else:
            found |= {(range_kind, n) for n in range(int(first), int(last) + 1)}
    return found | ({("s", 106), ("s", 107)} if re.search(r"\bvcc\b", text) else set())


@dataclass
class Operation:
    """A memory operation in flight. lds: "r", "w" or "": what it does in LDS. intervals: from issue to completion."""

    counter: str  # "vm", "lds" or "scalar"
    targets: set[Register]
    lds: str
    first: int
    last: int = NEVER


@dataclass
class _Line:
    mnemonic: str
    registers: set[Register]
    targets: set[Register]
    counter: str
    lds: str
    counts: dict[str, int] = field(default_factory=dict)


def _line(text: str) -> _Line:
    mnemonic, _, operands = text.partition(" ")
    counter = lds = ""
    if mnemonic.startswith(("global_", "buffer_", "scratch_")):
        counter = "vm"
    elif mnemonic.startswith("ds_"):
        counter = "lds"
        lds = "w" if "write" in mnemonic else "r" if "read" in mnemonic else ""
    elif mnemonic.startswith(("s_load_", "s_buffer_load_")):
        counter = "scalar"
    loads = counter == "scalar" or (counter and "store" not in mnemonic and "write" not in mnemonic)
    targets = registers_of(operands.split(",")[0]) if loads else set()
    counts = counts_of(operands) if mnemonic == "s_waitcnt" else {}
    return _Line(mnemonic, registers_of(operands), targets, counter, lds, counts)


class Account:
    """The waits of a program over one run. lines: text of the instructions. trace: (wave, instruction) as executed."""

    def __init__(self, lines: Sequence[str], trace: Sequence[tuple[int, int]]) -> None:
        self.lines = [_line(text) for text in lines]
        self.paths: dict[int, list[int]] = {}
        for wave, index in trace:
            self.paths.setdefault(wave, []).append(index)

    def faults(self, changed: Mapping[int, Mapping[str, int]]) -> Iterator[str]:
        """Why the program is wrong when the waits `changed` (by instruction) wait for other counts than they say."""
        everything: dict[int, list[Operation]] = {}
        for wave, path in self.paths.items():
            everything[wave] = []
            yield from self._follow(path, changed, everything[wave])
        for wave, operations in everything.items():
            for one in operations:
                if one.lds and one.last > one.first:
                    yield from self._meets(one, [o for w, os in everything.items() if w != wave for o in os])

    @staticmethod
    def _meets(one: Operation, others: Sequence[Operation]) -> Iterator[str]:
        for other in others:
            if other.lds and "w" in (one.lds, other.lds) and one.first < other.first <= one.last:
                yield f"an LDS operation of interval {one.first} is in flight in {other.first}"
                return

    def _follow(
        self, path: Sequence[int], changed: Mapping[int, Mapping[str, int]], done: list[Operation]
    ) -> Iterator[str]:
        flight: dict[str, list[Operation]] = {"vm": [], "lds": [], "scalar": []}
        interval = 0
        for index in path:
            line = self.lines[index]
            if line.mnemonic == "s_waitcnt":
                self._wait(changed.get(index, line.counts), flight, interval)
            pending = set[Register]().union(*(o.targets for ops in flight.values() for o in ops))
            if used := line.registers & pending:
                yield f"{line.mnemonic} uses {sorted(used)}"
            if line.mnemonic == "s_barrier":
                interval += 1
            if line.counter:
                operation = Operation(line.counter, line.targets, line.lds, interval)
                flight[line.counter].append(operation)
                done.append(operation)
        for ops in flight.values():
            for operation in ops:
                operation.last = interval

    @staticmethod
    def _wait(counts: Mapping[str, int], flight: dict[str, list[Operation]], interval: int) -> None:
        vector, lgkm = counts.get("vmcnt", NEVER), counts.get("lgkmcnt", NEVER)
        left = {"vm": vector, "lds": lgkm, "scalar": 0 if lgkm == 0 else NEVER}
        for counter, most in left.items():
            ops = flight[counter]
            complete = ops[: max(0, len(ops) - most)]
            for operation in complete:
                operation.last = interval
            del ops[: len(complete)]
