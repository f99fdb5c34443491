"""The schedule of a software-pipelined loop as a table: stages down, issue slots of a steady trip across."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .render_model import LETTERS
from .svg import COLOURS, box, text

_COLUMNS = 96
_LEGEND = (
    "M MMA, G global load, D direct to LDS, R W LDS read, write, B barrier, T store or atomic, V other; "
    "stage 0 is the newest trip"
)
_CELL = 12


@dataclass(frozen=True)
class StageSlot:
    """An operation: of the trip that is `stage` behind the newest one; its class as of machine instructions."""

    stage: int
    kind: str


@dataclass(frozen=True)
class LoopStages:
    """A scheduled loop. interval: clocks from trip to trip. unroll: trips in the body. slots: in issue order."""

    where: str
    strategy: str
    stages: int
    interval: int
    unroll: int
    slots: tuple[StageSlot, ...]

    @property
    def title(self) -> str:
        """What the table is of."""
        return (
            f"loop at {self.where}: strategy {self.strategy}, {self.stages} stages, a trip each {self.interval} "
            f"clocks, {self.unroll} trips in the body"
        )


def stages_text(loops: Sequence[LoopStages]) -> str:
    """A table for each loop: in each slot the letter of what is issued, in the row of its stage."""
    lines: list[str] = []
    for loop in loops:
        lines.append(loop.title)
        for first in range(0, len(loop.slots), _COLUMNS):
            part = loop.slots[first : first + _COLUMNS]
            for stage in range(loop.stages):
                row = "".join(LETTERS[s.kind] if s.stage == stage else "." for s in part)
                lines.append(f"  stage {stage} |{row}|")
            lines.append("")
    if lines:
        lines[-1] = f"  {_LEGEND}"
    return "\n".join(lines) + "\n" if lines else ""


def stages_parts(loops: Sequence[LoopStages], top: float) -> tuple[list[str], float, float]:
    """(parts of a picture, its width, where it ends): a row for each stage, a cell for each slot."""
    parts: list[str] = []
    width = 0.0
    for loop in loops:
        parts.append(text(8, top + 14, loop.title))
        for stage in range(loop.stages):
            y = top + 24 + stage * (_CELL + 4)
            parts.append(text(8, y + 10, f"stage {stage}"))
            parts.append(box(90, y, len(loop.slots) * _CELL, _CELL, "#f7fafc"))
            for number, slot in enumerate(loop.slots):
                if slot.stage == stage:
                    x = 90 + number * _CELL
                    parts.append(box(x, y, _CELL - 1, _CELL, COLOURS[slot.kind], f"slot {number}: {slot.kind}"))
        width = max(width, 100.0 + len(loop.slots) * _CELL)
        top += 34 + loop.stages * (_CELL + 4)
    return parts, width, top
