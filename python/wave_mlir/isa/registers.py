"""Register operands of the assembly: `v[0:3]`, `s5`, `vcc`, `a[0:15]`, `src_shared_base` …"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .encoding import Kind, Special

_RANGE = re.compile(r"^(v|a|s|acc|ttmp)(?:(\d+)|\[(\d+)(?::(\d+))?\])$")
ACCUMULATORS = 256
"""The number of a0 in the vector file."""
VCC = 106
"""The number of vcc_lo in the scalar file."""
_TTMP = 108
_SCALARS, _TTMPS, _VECTORS = 102, 16, 256

_NAMED: dict[str, tuple[int, int]] = {
    "flat_scratch": (102, 2),
    "flat_scratch_lo": (102, 1),
    "flat_scratch_hi": (103, 1),
    "xnack_mask": (104, 2),
    "xnack_mask_lo": (104, 1),
    "xnack_mask_hi": (105, 1),
    "vcc": (VCC, 2),
    "vcc_lo": (VCC, 1),
    "vcc_hi": (VCC + 1, 1),
    "m0": (124, 1),
    "exec": (126, 2),
    "exec_lo": (126, 1),
    "exec_hi": (127, 1),
}
_SPECIAL: dict[str, Special] = {
    "scc": Special.SCC,
    "src_scc": Special.SCC,
    "vccz": Special.VCCZ,
    "src_vccz": Special.VCCZ,
    "execz": Special.EXECZ,
    "src_execz": Special.EXECZ,
    "src_shared_base": Special.SHARED_BASE,
    "src_shared_limit": Special.SHARED_LIMIT,
    "src_private_base": Special.PRIVATE_BASE,
    "src_private_limit": Special.PRIVATE_LIMIT,
}


@dataclass(frozen=True)
class Register:
    """What an operand's text names: kind, number in its file (a Special's value), and registers it spans."""

    kind: Kind
    number: int
    dwords: int


def parse(text: str) -> Register | None:
    """The register of that name, None when it is not one. ValueError when there is no such register."""
    if text in _NAMED:
        return Register(Kind.SGPR, *_NAMED[text])
    if text in _SPECIAL:
        return Register(Kind.SPECIAL, int(_SPECIAL[text]), 0)
    match = _RANGE.match(text)
    if not match:
        return None
    file, single, low, high = match.groups()
    first = int(single if single is not None else low)
    last = int(high) if high is not None else first
    limit = {"s": _SCALARS, "ttmp": _TTMPS}.get(file, _VECTORS)
    if last < first or last >= limit:
        raise ValueError(f"{text} is out of range: the registers are {file}0 to {file}{limit - 1}")
    count = last - first + 1
    if file in ("s", "ttmp"):
        if count > 1 and first % min(4, 2 if count == 2 else 4):
            step = 2 if count == 2 else 4
            raise ValueError(f"{text} is not aligned: scalar registers by {count} start at a multiple of {step}")
        return Register(Kind.SGPR, first + (_TTMP if file == "ttmp" else 0), count)
    if count > 1 and first % 2:
        raise ValueError(f"{text} is not aligned: several vector registers start at an even one on these targets")
    return Register(Kind.VGPR, first + (ACCUMULATORS if file in ("a", "acc") else 0), count)
