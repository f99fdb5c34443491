"""What is installed to run is enough to run: `pip install` of the package alone, with none of the tests' packages."""

import re
import subprocess
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SYSTEM = {"libc", "libm", "libdl", "librt", "libpthread", "libgcc_s", "libstdc++", "libz", "libutil", "ld-linux-x86-64"}
"""Libraries that every machine with g++ has, by the name before `.so`."""


def runtime_distributions() -> list[metadata.Distribution]:
    """The distributions that the package requires when it runs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = [re.split(r"[<>=!~ \[;]", text)[0] for text in project["dependencies"]]
    return [metadata.distribution(name) for name in names]


def shared_libraries(distribution: metadata.Distribution) -> list[Path]:
    """The ELF libraries that a distribution installs."""
    files = [Path(str(distribution.locate_file(f))) for f in distribution.files or ()]
    return [f for f in files if ".so" in f.suffixes and f.exists()]


def needed(library: Path) -> list[str]:
    """The names of the libraries that the loader loads for one."""
    text = subprocess.run(["readelf", "-dW", str(library)], capture_output=True, text=True, check=True).stdout
    return re.findall(r"\(NEEDED\).*\[(.*)\]", text)


@pytest.mark.parametrize("package", ["xtc-mlir-python-bindings", "llvmlite"])
def test_every_library_that_is_loaded_comes_with_the_package(package: str) -> None:
    installed = {lib.name for dist in runtime_distributions() for lib in shared_libraries(dist)}
    libraries = shared_libraries(metadata.distribution(package))
    assert libraries
    missing = {
        name: library.name
        for library in libraries
        for name in needed(library)
        if name not in installed and name.split(".so")[0] not in SYSTEM
    }
    assert not missing, f"loaded by a package but not required by ours: {missing}"
