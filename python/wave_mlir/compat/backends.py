"""Whether the existing package's other backends are at hand: there is one backend here, and none of these."""

from __future__ import annotations

__all__ = ["is_execution_engine_available", "is_water_available", "is_waveasm_available"]


def is_water_available() -> bool:
    """Is there the backend called water?"""
    return False


def is_waveasm_available() -> bool:
    """Is there the assembler called waveasm?"""
    return False


def is_execution_engine_available() -> bool:
    """Is there an engine that runs host code beside kernels? Launches need none (docs/runtime.md)."""
    return False
