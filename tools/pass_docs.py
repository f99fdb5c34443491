"""The pass reference, docs/passes.md, from the passes' docstrings and options.

    python tools/pass_docs.py [--write]

Without --write it exits with 1 when the page is stale.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

from generated_page import write_or_compare
from wave_mlir.compiler.forms import FORMS
from wave_mlir.compiler.pass_options import options_of
from wave_mlir.compiler.pass_registry import Pass, load_pass, pass_names
from wave_mlir.passes import pipelines

PAGE = Path(__file__).resolve().parent.parent / "docs" / "passes.md"
HEADER = """# Passes

Generated from the docstrings of `passes/*.py` by `make docs`.

"""


def order() -> list[str]:
    """All passes: those of the pipeline from tile to rocdl form in its order, then the others by name."""
    steps = [step.split("{")[0] for step in pipelines.between(FORMS[0], FORMS[-1])]
    names = pass_names()
    first = list(dict.fromkeys(s for s in steps if s in names))
    return first + [n for n in names if n not in first]


def section(name: str, cls: type[Pass]) -> str:
    """The chapter of one pass."""
    info = cls.info
    lines = [f"## {name}", "", inspect.cleandoc(cls.__doc__ or ""), ""]
    accepted = " or ".join(info.requires) or "any form"
    leaves = info.establishes or "nothing new"
    lines.append(f"Requires: {accepted}. Establishes: {leaves}. Runs on: `{info.anchor or 'any op'}`.")
    options = options_of(cls).values()
    if options:
        lines += ["", "| option | meaning |", "|---|---|"]
        lines += [f"| `{o.name}` | {o.description.replace('|', chr(92) + '|')} |" for o in options]
    return "\n".join(lines) + "\n"


def page() -> str:
    """The whole text of the page."""
    return HEADER + "\n".join(section(name, load_pass(name)) for name in order())


if __name__ == "__main__":
    sys.exit(write_or_compare(PAGE, page(), sys.argv[1:]))
