"""Statistics of machine code: what an expert reads off the assembly, as data, text and JSON.

from wave_mlir import report
print(report.render_text(report.analyze(isa_text)))
"""

from __future__ import annotations

from .assembly import AssemblyError
from .codeobject import analyze_file, analyze_hsaco
from .l2 import reuse as l2_reuse
from .model import LoopModel
from .render import render_text
from .render_model import timeline as timeline_text
from .statistics import Counts, HotLoop, KernelReport, Report, analyze
from .svg import timeline as timeline_svg

__all__ = [
    "AssemblyError",
    "Counts",
    "HotLoop",
    "KernelReport",
    "LoopModel",
    "Report",
    "analyze",
    "analyze_file",
    "analyze_hsaco",
    "l2_reuse",
    "render_text",
    "timeline_svg",
    "timeline_text",
]
