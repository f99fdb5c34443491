"""Print requirements of pyproject.toml, one a line.

`requirements.py build` prints what the package is built with, `run` what it runs with and is not in `build`, and the
name of an extra what that has.
"""

import sys
import tomllib
from pathlib import Path


def main(wanted: str) -> None:
    """Print the requirements of `build`, of `run` or of an extra."""
    project = tomllib.loads((Path(__file__).resolve().parent.parent / "pyproject.toml").read_text())
    build = project["build-system"]["requires"]
    run = [line for line in project["project"]["dependencies"] if line not in build]
    groups = {"build": build, "run": run, **project["project"]["optional-dependencies"]}
    if wanted not in groups:
        sys.exit(f"there is no group '{wanted}' of requirements; groups are {', '.join(groups)}")
    print("\n".join(groups[wanted]))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "build")
