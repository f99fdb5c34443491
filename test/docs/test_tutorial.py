"""The programs of docs/tutorial.md run, in order, and print what the page shows."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tutorial.md"
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_tutorial() -> None:
    page = PAGE.read_text(encoding="utf-8")
    names: dict[str, object] = {"__name__": "tutorial"}
    printed = ""
    blocks = list(BLOCK.finditer(page))
    assert len(blocks) > 15
    for block in blocks:
        line = page.count("\n", 0, block.start(2))
        if block[1] == "text":
            assert printed == block[2], f"line {line} of the tutorial"
            continue
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            # at its own lines, so that what goes wrong names the line of the page
            exec(compile("\n" * line + block[2], str(PAGE), "exec"), names)
        printed = output.getvalue()
