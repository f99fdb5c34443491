"""Which GPU is at hand, without loading any library."""

from __future__ import annotations

import re
from pathlib import Path

_TOPOLOGY = Path("/sys/class/kfd/kfd/topology/nodes")
"""Where the kernel driver of AMD GPUs describes them."""
_VERSION = re.compile(r"^gfx_target_version (\d+)$", re.MULTILINE)


def gpu_arch(topology: Path = _TOPOLOGY) -> str:
    """The architecture of the first GPU ("gfx942"), "" when there is none."""
    try:
        nodes = sorted(topology.iterdir(), key=lambda p: (len(p.name), p.name))
    except OSError:
        return ""
    for node in nodes:
        try:
            found = _VERSION.search((node / "properties").read_text())
        except OSError:
            continue
        if found and int(found[1]):
            return _name(int(found[1]))
    return ""


def _name(version: int) -> str:
    """The driver's number is major * 10000 + minor * 100 + step; a name has minor and step in hexadecimal."""
    return f"gfx{version // 10000}{version // 100 % 100:x}{version % 100:x}"
