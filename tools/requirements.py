"""Print requirements of pyproject.toml, one a line: `requirements.py build` (to build the package) or an extra."""

import sys
import tomllib
from pathlib import Path


def main(wanted: str) -> None:
    """Print the requirements of `build` or of an extra."""
    project = tomllib.loads((Path(__file__).resolve().parent.parent / "pyproject.toml").read_text())
    groups = {"build": project["build-system"]["requires"], **project["project"]["optional-dependencies"]}
    if wanted not in groups:
        sys.exit(f"there is no group '{wanted}' of requirements; groups are {', '.join(groups)}")
    print("\n".join(groups[wanted]))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "build")
