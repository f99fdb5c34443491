"""The report as text."""

from __future__ import annotations

from . import render_model
from .statistics import Counts, KernelReport, Report

_NAMES = {
    "lds_read": "LDS reads",
    "lds_write": "LDS writes",
    "load": "global loads",
    "store": "global stores",
    "direct_to_lds": "global to LDS",
}


def render_text(report: Report, *, blocks: bool = True) -> str:
    """The report for people. blocks: also a line for each basic block."""
    return "\n\n".join(_kernel(k, blocks) for k in report.kernels) + "\n"


def _kernel(kernel: KernelReport, blocks: bool) -> str:
    unknown = "unknown"
    size = unknown if kernel.code_bytes is None else f"{kernel.code_bytes} bytes"
    occupancy = unknown if kernel.occupancy is None else f"{kernel.occupancy} waves a SIMD"
    lines = [
        f"{kernel.name} ({kernel.target or 'unknown target'})",
        f"  registers   {kernel.vgpr} VGPR, {kernel.agpr} AGPR, {kernel.sgpr} SGPR",
        f"  spills      {kernel.vgpr_spills} VGPR, {kernel.sgpr_spills} SGPR; scratch {kernel.scratch_bytes} bytes",
        f"  LDS         {kernel.lds_bytes} bytes",
        f"  occupancy   {occupancy}; {kernel.threads or unknown} threads a workgroup",
        f"  code size   {size}, {kernel.total.instructions} instructions",
    ]
    if kernel.hot_loop:
        lines.append(f"  hot loop    {', '.join(kernel.hot_loop.blocks)}")
        lines += ["    " + line for line in _details(kernel.hot_loop.counts)]
        if kernel.model:
            lines.append("  model of the hot loop")
            lines += ["    " + line for line in render_model.figures(kernel.model)]
    else:
        lines.append("  hot loop    none")
    if kernel.l2:
        lines.append("  model of L2")
        lines += ["    " + line for line in kernel.l2.lines()]
    lines.append("  whole kernel")
    lines += ["    " + line for line in _details(kernel.total)]
    if blocks:
        lines.append("  blocks")
        lines += [f"    {label}: {_summary(counts)}" for label, counts in kernel.blocks]
    return "\n".join(lines)


def _details(counts: Counts) -> list[str]:
    mfma = ", ".join(f"{n} {m}" for m, n in counts.mfma.items())
    lines = [
        f"{counts.instructions} instructions: {counts['mfma']} MFMA, {counts['valu']} VALU, {counts['salu']} SALU, "
        f"{counts['smem']} scalar loads, {counts['branch']} branches, {counts['nop']} nops",
    ]
    if mfma:
        lines.append(f"MFMA: {mfma}")
    for kind, name in _NAMES.items():
        if widths := counts.by_width.get(kind):
            lines.append(f"{name}: " + ", ".join(f"{n} of {bits} bits" for bits, n in widths.items()))
    others = [f"{counts[k]} {t}" for k, t in _OTHERS if counts[k]]
    if others:
        lines.append("also: " + ", ".join(others))
    lines.append(f"barriers: {counts['barrier']}; AGPR moves: {counts['accvgpr_move']}; waits: {_waits(counts)}")
    return lines


_OTHERS = (("lds_other", "other LDS"), ("atomic", "atomics"), ("scratch", "scratch accesses"))


def _waits(counts: Counts) -> str:
    """The waits in order, equal neighbours together."""
    groups: list[tuple[str, int]] = []
    for wait in counts.waits:
        if groups and groups[-1][0] == wait:
            groups[-1] = (wait, groups[-1][1] + 1)
        else:
            groups.append((wait, 1))
    return ", ".join(f"{w} x{n}" if n > 1 else w for w, n in groups) or "none"


def _summary(counts: Counts) -> str:
    return f"{counts.instructions} instructions; " + ", ".join(f"{n} {k}" for k, n in counts.by_class.items())
