"""The page of user mistakes, docs/errors.md, from the catalogue in test/mistakes.

    python tools/error_docs.py [--write]

Without --write it exits with 1 when the page is stale.
"""

from __future__ import annotations

import importlib
import inspect
import sys
import textwrap
from itertools import groupby
from pathlib import Path

from generated_page import write_or_compare

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "errors.md"
HEADER = """# Mistakes, and what the compiler says

Generated from the programs in `test/mistakes` by `make docs`; the tests run each of them. A message of the compiler
begins with the place, `file:line:column: error:`; where a program below has a line marked *here*, the message names
that line. Errors are `wave_mlir.compiler.diagnostics.CompileError` (with all of its diagnostics), errors in calls of a
compiled kernel `wave_mlir.compiler.abi.AbiError`. The names `M`, `GEMM`, `A`, `compile_` … are those of
`test/mistakes/catalogue.py`.

"""


def section(mistake) -> str:
    """The chapter of one mistake: its title, program and message."""
    lines = inspect.getsource(mistake.run).splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("def ")) + 1
    body = textwrap.dedent("\n".join(lines[start:]))
    body = body.partition('"""')[2].partition('"""')[2].strip("\n")  # without the docstring, which is the title
    return f"### {mistake.title}\n\n```python\n{body}\n```\n\n> {mistake.message}\n"


def page() -> str:
    """The whole text of the page."""
    sys.path.insert(0, str(ROOT / "test" / "mistakes"))
    catalogue = importlib.import_module("catalogue")
    for name in ("constraints", "operations", "control_flow", "calls"):
        importlib.import_module(f"mistakes_in_{name}")
    parts = [HEADER]
    for topic, mistakes in groupby(catalogue.CATALOGUE, key=lambda m: m.topic):
        parts.append(f"## {topic}\n\n" + "\n".join(section(m) for m in mistakes) + "\n")
    return "".join(parts).rstrip() + "\n"


if __name__ == "__main__":
    sys.exit(write_or_compare(PAGE, page(), sys.argv[1:]))
