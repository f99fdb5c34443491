"""LDS accesses and layouts as a picture: banks across, phases down; elements of a tile by lane."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from .lds_banks import Access, LdsReport, Touch, degrees, touches
from .svg import box, picture, text
from .tile_picture import TilePicture

_CELL, _LEFT, _GAP, _TOP = 18, 70, 26, 44
_PALE = "#edf2f7"


def lds_svg(report: LdsReport, pictures: Sequence[TilePicture]) -> str:
    """One picture: a block for each access, then one for each layout."""
    y, width, parts = 24.0, 900.0, [text(8, 16, f"LDS of {report.kernel} ({report.target.name}), the first wave")]
    for access in report.accesses:
        more, height = _access(report, access, y)
        parts += more
        y += height + _GAP
    width = max(width, _LEFT + report.target.lds_banks * _CELL + 20)
    for tile in pictures:
        parts += _tile(tile, y)
        y += _TOP + tile.lanes.shape[0] * _CELL + _GAP
        width = max(width, _LEFT + tile.lanes.shape[1] * 2 * _CELL + 20)
    return picture(width, y + 8, parts)


def lane_colour(lane: int) -> str:
    """A colour for each lane: neighbours differ in hue, groups of 16 in lightness."""
    return f"hsl({lane * 47 % 360},60%,{82 - lane // 16 % 4 * 9}%)"


def _access(report: LdsReport, access: Access, top: float) -> tuple[list[str], float]:
    """Cells of phases x banks with the lane that asks; a bank asked for several rows is framed and counts them."""
    clocks = sum(degrees(access, report.target))
    title = f"{access.count} x {access.op} of {access.bits} bits a lane, buffer {access.buffer}, {access.where}: "
    parts = [text(8, top + 14, title + f"{clocks} clocks")]
    banks = report.target.lds_banks
    for bank in range(0, banks, 4):
        parts.append(text(_LEFT + bank * _CELL, top + 34, str(bank), colour="#718096"))
    phases = touches(access, report.target)
    for number, phase in enumerate(phases):
        y = top + _TOP + number * _CELL
        parts.append(text(8, y + 13, f"phase {number}"))
        by_bank: defaultdict[int, list[Touch]] = defaultdict(list)
        for touch in phase:
            by_bank[touch.bank].append(touch)
        for bank in range(banks):
            parts += _bank(by_bank.get(bank, []), bank, _LEFT + bank * _CELL, y)
    return parts, _TOP + len(phases) * _CELL


def _bank(asked: list[Touch], bank: int, x: float, y: float) -> list[str]:
    size = _CELL - 2
    if not asked:
        return [box(x, y, size, size, _PALE)]
    rows = sorted({t.row for t in asked})
    lanes = sorted({t.lane for t in asked})
    words = f"bank {bank}: lanes {', '.join(map(str, lanes))}; rows {', '.join(map(str, rows))}"
    if len(rows) > 1:
        cell = box(x, y, size, size, "#fc8181", words, "#9b2c2c")
        return [cell, text(x + size / 2, y + 12, f"{len(rows)}x", anchor="middle", colour="#742a2a")]
    cell = box(x, y, size, size, lane_colour(lanes[0]), words)
    return [cell, text(x + size / 2, y + 12, str(lanes[0]), anchor="middle")]


def _tile(tile: TilePicture, top: float) -> list[str]:
    """Cells of a tile with lane and register."""
    shown = "" if tile.lanes.shape == tile.extents else f", {tile.lanes.shape[0]} x {tile.lanes.shape[1]} shown"
    shape = f"[{tile.dims[0]}, {tile.dims[1]}] = {tile.extents[0]} x {tile.extents[1]}{shown}"
    parts = [text(8, top + 14, f"layout of {tile.title}: lane.register of the first wave, {shape}")]
    for (row, column), lane in _cells(tile):
        x, y = _LEFT + column * 2 * _CELL, top + _TOP - 16 + row * _CELL
        if lane < 0:
            parts.append(box(x, y, 2 * _CELL - 2, _CELL - 2, _PALE))
            continue
        register = int(tile.registers[row, column])
        words = f"{tile.dims[0]} {row}, {tile.dims[1]} {column}: lane {lane}, register {register}"
        parts.append(box(x, y, 2 * _CELL - 2, _CELL - 2, lane_colour(lane), words))
        parts.append(text(x + _CELL - 1, y + 12, f"{lane}.{register}", anchor="middle"))
    return parts


def _cells(tile: TilePicture) -> list[tuple[tuple[int, int], int]]:
    rows, columns = tile.lanes.shape
    return [((r, c), int(tile.lanes[r, c])) for r in range(rows) for c in range(columns)]
