"""Layouts: where each element of a workgroup's tile lives (register, lane, wave), and in LDS."""

from .._wave import Layout, LdsLayout

__all__ = ["Layout", "LdsLayout"]
