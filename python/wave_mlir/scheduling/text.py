"""Schedules as text that a person can read and change.

    schedule gemm.K
    strategy modulo
    interval 1024
    unroll 1
    copies lds.a 2

    # stage  clock  operation
          1      0  mma.0
          0      4  load.a.0
          1      -  mma.1

The lines of operations are in the order of the steady loop. A clock of `-` is the clock of the line before (0 for the
first): the hardware keeps the order alone, clocks only say when it is expected. `#` begins a comment.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from .problem import NAME, SchedulingError
from .schedule import MOST_STAGES, MOST_UNROLL, Schedule, Slot

_HEAD = {
    "schedule": "schedule NAME",
    "strategy": "strategy NAME",
    "interval": "interval CLOCKS",
    "unroll": "unroll COUNT",
    "copies": "copies BUFFER COUNT",
}
_NUMBER = re.compile(r"[0-9]{1,18}$")
_MOST_CLOCKS = 1 << 40
"""Of an interval: some minutes, while intervals have 10 to 100000 clocks."""


def dump(*schedules: Schedule, notes: Mapping[str, Mapping[str, str]] | None = None) -> str:
    """The text of schedules; `load` gives equal ones back. `notes` has comments on operations, by schedule and name."""
    return "\n".join(_dump(s, (notes or {}).get(s.name, {})) for s in schedules)


def _dump(schedule: Schedule, notes: Mapping[str, str]) -> str:
    lines = [f"schedule {schedule.name}", f"strategy {schedule.strategy}", f"interval {schedule.interval}"]
    lines.append(f"unroll {schedule.unroll}")
    lines += [f"copies {name} {count}" for name, count in sorted(schedule.copies.items())]
    lines += ["", "# stage  clock  operation"]
    for name in schedule.ordered:
        slot = schedule.slots[name]
        note = f"  # {notes[name]}" if name in notes else ""
        lines.append(f"{slot.stage:7}  {slot.clock:5}  {name}{note}")
    return "\n".join(lines) + "\n"


@dataclass
class _Reading:
    """A schedule whose lines are being read."""

    line: int
    name: str
    strategy: str = "manual"
    interval: int = 0
    unroll: int = 1
    copies: dict[str, int] = field(default_factory=dict)
    slots: dict[str, Slot] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)


def load(text: str, source: str = "schedule") -> list[Schedule]:
    """The schedules of a text. Raises SchedulingError, which says `source:line` and what to write instead."""
    found: list[_Reading] = []
    for number, raw in enumerate(text.splitlines(), 1):
        words = raw.partition("#")[0].split()
        if not words:
            continue
        where = f"{source}:{number}"
        if words[0] == "schedule":
            found.append(_begin(where, number, words, found))
        elif not found:
            raise SchedulingError(f"{where}: '{words[0]}' before any schedule; begin with '{_HEAD['schedule']}'")
        elif words[0] in _HEAD:
            _head(where, words, found[-1])
        else:
            _slot(where, words, found[-1])
    return [_finish(source, r) for r in found]


def _begin(where: str, line: int, words: list[str], found: list[_Reading]) -> _Reading:
    if len(words) != 2 or not NAME.match(words[1]):
        raise SchedulingError(f"{where}: expected '{_HEAD['schedule']}', the name of letters, digits, _ . /")
    if any(r.name == words[1] for r in found):
        raise SchedulingError(f"{where}: a second schedule '{words[1]}'; keep one of them")
    return _Reading(line, words[1])


def _number(where: str, word: str, what: str, least: int, most: int) -> int:
    if not _NUMBER.match(word) or not least <= int(word) <= most:
        shown = word if len(word) <= 24 else f"{word[:20]}..."
        raise SchedulingError(f"{where}: '{shown}' is no {what}; write a whole number from {least} to {most}")
    return int(word)


def _head(where: str, words: list[str], reading: _Reading) -> None:
    key = words[0]
    if len(words) != len(_HEAD[key].split()):
        raise SchedulingError(f"{where}: expected '{_HEAD[key]}'")
    if reading.slots:
        raise SchedulingError(f"{where}: '{key}' after the first operation; move it up to the head of the schedule")
    once = " ".join(words[:2]) if key == "copies" else key
    if once in reading.seen:
        raise SchedulingError(f"{where}: '{once}' a second time; keep one of the lines")
    reading.seen.add(once)
    if key == "strategy":
        reading.strategy = words[1]
    elif key == "interval":
        reading.interval = _number(where, words[1], "interval", 1, _MOST_CLOCKS)
    elif key == "unroll":
        reading.unroll = _number(where, words[1], "unroll count", 1, MOST_UNROLL)
    else:
        reading.copies[words[1]] = _number(where, words[2], "number of copies", 1, MOST_UNROLL)


def _slot(where: str, words: list[str], reading: _Reading) -> None:
    if len(words) != 3:
        text = "expected 'STAGE CLOCK OPERATION' or one of " + ", ".join(f"'{h}'" for h in _HEAD.values())
        raise SchedulingError(f"{where}: {text}")
    if not reading.interval:
        raise SchedulingError(f"{where}: an operation before the interval is known; write '{_HEAD['interval']}' above")
    stage = _number(where, words[0], "stage", 0, MOST_STAGES - 1)
    previous = next(reversed(reading.slots.values()), Slot(0, -1, 0))
    clock = previous.clock if words[1] == "-" else _number(where, words[1], "clock", 0, _MOST_CLOCKS)
    if clock >= reading.interval:
        raise SchedulingError(f"{where}: clock {clock} is not below the interval {reading.interval}; write - or less")
    if clock < previous.clock:
        text = f"clock {clock} is below that of the line before ({previous.clock})"
        raise SchedulingError(f"{where}: {text}; lines are in the order of the loop: write - or move the line")
    name = words[2]
    if not NAME.match(name):
        raise SchedulingError(f"{where}: '{name}' is no name of an operation")
    if name in reading.slots:
        raise SchedulingError(f"{where}: '{name}' has a place already; keep one of the lines")
    reading.slots[name] = Slot(stage, previous.order + 1, clock)


def _finish(source: str, r: _Reading) -> Schedule:
    if not r.interval:
        raise SchedulingError(f"{source}:{r.line}: schedule '{r.name}' has no interval; write '{_HEAD['interval']}'")
    return Schedule(r.name, r.strategy, r.interval, r.slots, r.copies, r.unroll)
