"""Statistics of machine code: what an expert reads off the assembly, as data, text and JSON.

from wave_mlir import report
print(report.render_text(report.analyze(isa_text)))
"""

from __future__ import annotations

from .assembly import AssemblyError
from .codeobject import analyze_file, analyze_hsaco
from .l2 import TileRead
from .l2 import reuse as l2_reuse
from .lds_banks import LdsReport
from .model import LoopModel
from .render import render_text
from .render_lds import lds_text
from .render_model import timeline as timeline_text
from .stages import LoopStages, stages_parts, stages_text
from .statistics import Counts, HotLoop, KernelReport, Report, analyze
from .svg import timeline as timeline_svg
from .svg_lds import lds_svg
from .tile_picture import TilePicture

__all__ = [
    "AssemblyError",
    "Counts",
    "HotLoop",
    "KernelReport",
    "LdsReport",
    "LoopModel",
    "LoopStages",
    "Report",
    "TilePicture",
    "TileRead",
    "analyze",
    "analyze_file",
    "analyze_hsaco",
    "l2_reuse",
    "lds_svg",
    "lds_text",
    "render_text",
    "stages_parts",
    "stages_text",
    "timeline_svg",
    "timeline_text",
]
