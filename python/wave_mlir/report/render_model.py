"""The static model as text: figures, and a timeline of the steady trip."""

from __future__ import annotations

from collections.abc import Iterator

from .flight import Flight
from .model import LoopModel
from .replay import Slot

COLUMNS = 96
"""Columns of a timeline, at most."""

LETTERS = {
    "mfma": "M", "valu": "V", "accvgpr_move": "A", "salu": "s", "smem": "c", "lds_read": "R", "lds_write": "W",
    "lds_other": "X", "load": "G", "direct_to_lds": "D", "store": "T", "atomic": "T", "scratch": "!", "wait": "w",
    "barrier": "B", "branch": "b", "nop": "n",
}  # fmt: skip
"""Letter of each class of instruction in timelines."""

LEGEND = (
    "M MFMA, V VALU, A AGPR move, s SALU, c scalar load, R W X LDS read, write, other, G global load, D direct to LDS, "
    "T store or atomic, ! scratch, w wait, B barrier, b branch, n nop"
)
_SHOWN_FIRST = "BGDTRWX!AVMcwsbn"  # of several instructions in a column
UNITS = ("mfma", "valu", "LDS", "memory")
"""Units of a timeline, after the waves."""

_SHADES = " .:+#"


def figures(model: LoopModel) -> list[str]:
    """The figures, a line each."""
    waves = _count(model.waves, "wave") + (f" and {model.serving} that only copy," if model.serving else "")
    bounds = ", ".join(f"{name} {clocks:.0f}" for name, clocks in model.bounds.items() if clocks)
    lines = [
        f"clocks of a trip of {waves} a SIMD: {bounds}",
        f"limited by {model.limit}; {_utilisation(model)}",
    ]
    if stalls := ", ".join(f"{why} {clocks:.0f}" for why, clocks in model.replay.stalls.items()):
        lines.append(f"clocks waited in a trip, all waves together: {stalls}")
    each = f"{model.per_mfma:.2f} instructions per MFMA; " if model.per_mfma is not None else ""
    lines.append(each + _drains(model))
    lines += _flight("global loads", model.global_flight) + _flight("LDS reads", model.lds_flight)
    memory = f"{model.unshared:.0f} clocks of memory without reuse"
    lines.append(f"a compute unit loads {model.memory_bytes} bytes in a trip: {memory}")
    if any(d.unit == "lds" for d in model.loop) and not model.lds_known:
        lines.append("LDS clocks are by width: the addresses are not known here, conflicts not counted")
    return lines


def _utilisation(model: LoopModel) -> str:
    if model.per_mfma is None:
        return f"a trip takes {model.replay.clocks:.0f} clocks replayed"
    return (
        f"MFMA utilisation {model.utilisation:.1%} at most, {model.replay.utilisation:.1%} replayed "
        f"({model.replay.clocks:.0f} clocks), {model.serial:.1%} in series"
    )


def _drains(model: LoopModel) -> str:
    drains = f"{_count(model.drains, 'wait')} for vmcnt(0)" if model.drains else "no vmcnt(0)"
    return f"{_count(model.waits, 'wait')}, {_count(model.barriers, 'barrier')}, {drains} in the loop"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _flight(what: str, flight: Flight | None) -> list[str]:
    if flight is None:
        return []
    return [
        f"flight of {what}: least {flight.least} clocks, mean {flight.mean:.0f}; least in series "
        f"{flight.least_in_series} ({flight.loads} a trip)"
    ]


def timeline(model: LoopModel) -> str:
    """The steady trip as text: one line a wave with what it issues, one a unit with how busy it is."""
    span = model.replay.clocks
    step = max(4, -(-int(span) // COLUMNS // 4) * 4)
    columns = max(1, -(-int(span) // step))
    lines = [f"a steady trip, {span:.0f} clocks, {step} a column (modelled)"]
    lines += [f"  wave {n:<6} |{_issues(model, n, step, columns)}|" for n in range(model.waves + model.serving)]
    lines += [f"  {unit:<11} |{_shades(model, unit, step, columns)}|" for unit in UNITS]
    lines.append(f"  {LEGEND}")
    lines.append(f"  a unit's column: '{_SHADES}' from idle to busy all the time")
    return "\n".join(lines) + "\n"


def _issues(model: LoopModel, wave: int, step: int, columns: int) -> str:
    row = [" "] * columns
    for slot in _slots(model, "issue"):
        column = int(slot.start // step)
        if slot.wave != wave or not 0 <= column < columns:
            continue
        letter = LETTERS[model.demand(slot.wave, slot.index).kind]
        if row[column] == " " or _SHOWN_FIRST.index(letter) < _SHOWN_FIRST.index(row[column]):
            row[column] = letter
    return "".join(row)


def _shades(model: LoopModel, unit: str, step: int, columns: int) -> str:
    busy = [0.0] * columns
    for slot in _slots(model, unit):
        for column in range(max(0, int(slot.start // step)), columns):
            inside = min(slot.start + slot.clocks, (column + 1) * step) - max(slot.start, column * step)
            if inside <= 0:
                break
            busy[column] += inside
    return "".join(_SHADES[min(len(_SHADES) - 1, round((len(_SHADES) - 1) * b / step))] for b in busy)


def _slots(model: LoopModel, unit: str) -> Iterator[Slot]:
    return (s for s in model.replay.slots if s.unit == unit)
