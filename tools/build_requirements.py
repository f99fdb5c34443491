"""Print what building the package needs (pyproject.toml, build-system), one requirement a line."""

import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).resolve().parent.parent / "pyproject.toml").read_text())
print("\n".join(project["build-system"]["requires"]))
