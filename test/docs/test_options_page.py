"""docs/compat.md says of each option without effect what the warning says."""

from __future__ import annotations

import re
from pathlib import Path

from wave_mlir.wave import compile as compiling

PAGE = Path(__file__).resolve().parents[2] / "docs" / "compat.md"


def test_options() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    listed = {name: text for name, text in rows if name in compiling._REPLACED or "wave" not in name}
    assert listed == compiling._REPLACED
