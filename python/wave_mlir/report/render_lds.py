"""The LDS report as text."""

from __future__ import annotations

from collections.abc import Iterator

from .lds_banks import Access, LdsReport, degrees, rows_asked, touches
from .tile_picture import TilePicture


def lds_text(report: LdsReport, pictures: list[TilePicture]) -> str:
    """Buffers, accesses with a picture of banks and phases, and the layouts of values."""
    lines = [*_buffers(report)]
    for access in report.accesses:
        lines += ["", *_access(report, access)]
    for picture in pictures:
        lines += ["", *picture.lines()]
    return "\n".join(lines) + "\n"


def _buffers(report: LdsReport) -> Iterator[str]:
    limit = report.target.lds_bytes
    yield f"LDS of {report.kernel} ({report.target.name}): {report.bytes} of {limit} bytes"
    if not report.buffers:
        yield "  no buffers"
        return
    yield f"  {'buffer':<34} {'offset':>7} {'bytes':>7} {'written':>8} {'read':>8} {'reuse':>6} {'conflicts':>9}"
    for number, b in enumerate(report.buffers):
        reuse = f"{b.read / b.written:.1f}" if b.written else "-"
        name = f"{number}: {b.name}"
        row = f"  {name:<34} {b.offset:>7} {b.bytes:>7} {b.written:>8} {b.read:>8} {reuse:>6}"
        yield f"{row} {report.degree(number):>9}" + (f"  {b.unknown} accesses of unknown place" if b.unknown else "")
    yield "  written, read: bytes of all waves in one run through the program; reuse: read by written"
    yield "  conflicts: most rows that a bank is asked for in a phase; 1 is none"


def _access(report: LdsReport, access: Access) -> Iterator[str]:
    found = degrees(access, report.target)
    yield (
        f"{access.count} x {access.op} of {access.bits} bits a lane, buffer {access.buffer}, {access.where}: "
        f"{len(found)} phases, {sum(found)} clocks"
    )
    yield "  phase lanes" + " " * 17 + "rows that each bank is asked for (. none)"
    for number, phase in enumerate(touches(access, report.target)):
        lanes = _ranges(sorted({t.lane for t in phase}))
        counts = rows_asked(phase, report.target.lds_banks)
        yield f"  {number:<5} {lanes:<20}  {''.join('.' if c == 0 else str(min(c, 9)) for c in counts)}"


def _ranges(numbers: list[int]) -> str:
    parts: list[list[int]] = []
    for n in numbers:
        if parts and parts[-1][1] == n - 1:
            parts[-1][1] = n
        else:
            parts.append([n, n])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)
