"""Enumerations that options take."""

from __future__ import annotations

import enum


class CoalescingType(enum.Enum):
    """How loads of a tile are divided among threads: a hint that this compiler does not need."""

    LINEAR = "linear"
    WAVE_TILE_ALIGNED = "wave_tile_aligned"


class ShuffleMode(enum.Enum):
    """Which lane a lane exchanges with."""

    XOR = 0
    UP = 1
    DOWN = 2
    IDX = 3
