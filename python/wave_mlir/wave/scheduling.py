"""Names of the ways to schedule a loop."""

from __future__ import annotations

import enum


class SchedulingType(enum.Enum):
    """How loops are scheduled. NONE: as they are written."""

    NONE = "none"
    PREFETCH = "prefetch"
    FOUR_STAGE = "four_stage"
    PING_PONG = "ping_pong"
    SPECIALIZED = "specialized"
    MODULO = "modulo"
    PREFETCH_ATTENTION = "prefetch_attention"
    MANUAL = "manual"
