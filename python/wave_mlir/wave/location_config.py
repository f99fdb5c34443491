"""How much of the user's source locations IR keeps: names of the language. Here it is always file, line and column."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class LocationCaptureLevel(enum.Enum):
    """What is kept of the place where an operation was written."""

    NONE = 0
    FILE_LINE_COL = 1
    STACK_TRACE = 2
    STACK_TRACE_WITH_SYSTEM = 3


@dataclass(frozen=True)
class LocationCaptureConfig:
    """The option `location_capture_config`."""

    level: LocationCaptureLevel = LocationCaptureLevel.NONE
