"""What README.md shows works: its tool commands, in order in one folder, and its Python."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
README = (ROOT / "README.md").read_text()
MODULES = {"wave": "wave_mlir.tools.wave", "wave-opt": "wave_mlir.tools.wave_opt"}
COMMANDS = re.findall(r"^    (wave(?:-opt)? .*?)(?: +#.*)?$", README, re.MULTILINE)
PYTHON = re.findall(r"In Python:\n\n((?:    .*\n|\n)+)", README)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy(ROOT / "examples" / "gemm.mlir", tmp_path / "kernel.mlir")
    return tmp_path


def test_commands(folder: Path) -> None:
    assert len(COMMANDS) >= 10
    assert {" ".join(command.split()[:2]) for command in COMMANDS} >= {"wave compile", "wave run", "wave report"}
    for command in COMMANDS:
        tool, *arguments = shlex.split(command)
        done = subprocess.run(
            [sys.executable, "-m", MODULES[tool], *arguments], cwd=folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stderr}"


def test_python(folder: Path) -> None:
    (block,) = PYTHON
    code = "\n".join(line[4:] for line in block.splitlines())
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_kernel(folder: Path) -> None:
    (block,) = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    (folder / "kernel.py").write_text(block)
    done = subprocess.run([sys.executable, "kernel.py"], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_what_it_names_exists() -> None:
    named = re.findall(r"`((?:docs|dialect|passes|python|machine|test|examples)/[\w./-]*)`", README)
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []
    targets = re.findall(r"^    make (\w+)", README, re.MULTILINE)
    makefile = (ROOT / "Makefile").read_text()
    assert targets and all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)
