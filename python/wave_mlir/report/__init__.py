"""Statistics of machine code: what an expert reads off the assembly, as data, text and JSON.

from wave_mlir import report
print(report.render_text(report.analyze(isa_text)))
"""

from __future__ import annotations

from .assembly import AssemblyError
from .codeobject import analyze_file, analyze_hsaco
from .render import render_text
from .statistics import Counts, HotLoop, KernelReport, Report, analyze

__all__ = [
    "AssemblyError",
    "Counts",
    "HotLoop",
    "KernelReport",
    "Report",
    "analyze",
    "analyze_file",
    "analyze_hsaco",
    "render_text",
]
