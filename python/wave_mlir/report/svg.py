"""Small builder of SVG pictures, and the timeline of a hot loop as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from .model import LoopModel
from .render_model import UNITS

_FONT = 'font-family="monospace" font-size="11"'

COLOURS = {
    "mfma": "#2b6cb0", "valu": "#dd6b20", "accvgpr_move": "#c53030", "salu": "#718096", "smem": "#a0aec0",
    "lds_read": "#38a169", "lds_write": "#276749", "lds_other": "#68d391",
    "load": "#805ad5", "direct_to_lds": "#6b46c1", "store": "#d53f8c", "atomic": "#d53f8c", "scratch": "#e53e3e",
    "wait": "#ecc94b", "barrier": "#1a202c", "branch": "#cbd5e0", "nop": "#e2e8f0",
}  # fmt: skip
"""Colour of each class of instruction."""


def text(x: float, y: float, words: str, *, anchor: str = "start", colour: str = "#1a202c") -> str:
    """A line of text whose baseline is at (x, y)."""
    return f'<text x="{x:g}" y="{y:g}" {_FONT} text-anchor="{anchor}" fill="{colour}">{escape(words)}</text>'


def box(x: float, y: float, width: float, height: float, colour: str, title: str = "", edge: str = "none") -> str:
    """A filled rectangle; `title` is shown by viewers under the pointer."""
    shape = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{colour}" stroke="{edge}"'
    return f"<rect {shape}><title>{escape(title)}</title></rect>" if title else f"<rect {shape}/>"


def picture(width: float, height: float, parts: Sequence[str]) -> str:
    """The parts as an SVG file."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}">'
    return "\n".join([head, box(0, 0, width, height, "#ffffff"), *parts, "</svg>"]) + "\n"


_LEFT, _ROW, _WIDTH = 90, 22, 1400


Below = Callable[[float], tuple[list[str], float, float]]
"""Parts of a picture from a height on: (parts, their width, where they end)."""


def timeline(model: LoopModel, title: str, more: Below | None = None) -> str:
    """The steady trip of a hot loop: a row for each wave's issues and each unit, time in clocks to the right.

    more: makes what comes below.
    """
    scale = _WIDTH / max(1.0, model.replay.clocks)
    rows = [("issue", n, f"wave {n}") for n in range(model.waves + model.serving)] + [(u, -1, u) for u in UNITS]
    parts = [text(8, 16, f"{title}: a steady trip of {model.replay.clocks:.0f} clocks, modelled")]
    top = 28
    for number, (unit, wave, name) in enumerate(rows):
        y = top + number * _ROW
        parts += [text(8, y + 14, name), box(_LEFT, y, _WIDTH, _ROW - 4, "#f7fafc")]
        for slot in model.replay.slots:
            if slot.unit != unit or (wave >= 0 and slot.wave != wave):
                continue
            start, end = max(0.0, slot.start), min(model.replay.clocks, slot.start + slot.clocks)
            if end <= start:
                continue
            instruction = model.demand(slot.wave, slot.index).instruction
            words = f"clock {slot.start:.0f}, wave {slot.wave}: {instruction.mnemonic} {instruction.operands}"
            width = max(0.4, (end - start) * scale - 0.3)
            colour = COLOURS[instruction.kind]
            parts.append(box(_LEFT + start * scale, y, width, _ROW - 4, colour, words))
    bottom = top + len(rows) * _ROW
    parts += [*_axis(model, bottom, scale), *_legend(model, bottom + 34)]
    below, width, end = more(bottom + 50.0) if more else ([], 0.0, bottom + 46.0)
    return picture(max(width, _LEFT + _WIDTH + 10), end, [*parts, *below])


def _axis(model: LoopModel, y: float, scale: float) -> list[str]:
    step = 4
    while model.replay.clocks / step > 16:
        step *= 2
    marks = range(0, int(model.replay.clocks) + 1, step)
    return [text(_LEFT + m * scale, y + 12, str(m), anchor="middle", colour="#718096") for m in marks]


def _legend(model: LoopModel, y: float) -> list[str]:
    parts, x = [], float(_LEFT)
    for kind in dict.fromkeys(d.kind for d in (*model.loop, *model.service)):
        parts += [box(x, y - 9, 10, 10, COLOURS[kind]), text(x + 14, y, kind)]
        x += 30 + 7 * len(kind)
    return parts
