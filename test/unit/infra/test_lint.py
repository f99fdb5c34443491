"""The tree is clean: ruff, pyright, direction of imports; and the import lint finds what it should."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def output(*command: str) -> tuple[int, str]:
    run = subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True, check=False)
    return run.returncode, run.stdout + run.stderr


def test_ruff():
    code, text = output("-m", "ruff", "check", "--no-cache", ".")
    assert code == 0, text


@pytest.mark.slow
def test_pyright():
    code, text = output("tools/typecheck.py")
    assert code == 0, text


def test_imports_point_one_way():
    code, text = output("tools/lint_imports.py")
    assert code == 0, text


@pytest.mark.parametrize(
    ("file", "line", "allowed"),
    [
        ("python/wave_mlir/dialect/x.py", "from wave_mlir.compiler import abi", False),
        ("python/wave_mlir/dialect/x.py", "from .. import _wave", True),
        ("python/wave_mlir/compiler/x.py", "from wave_mlir.sim import machine", False),
        ("python/wave_mlir/compiler/x.py", "from ..tools.wave_opt import main", False),
        ("python/wave_mlir/compiler/x.py", "from wave_mlir import lang", False),
        ("python/wave_mlir/compiler/x.py", "from wave_mlir import dialect, passes", True),
        ("python/wave_mlir/compiler/x/y.py", "from ..targets import get", True),
        ("python/wave_mlir/sim/x.py", "from wave_mlir.compiler import abi, targets", True),
        ("python/wave_mlir/sim/x.py", "from wave_mlir.compiler.codegen import generate", False),
        ("python/wave_mlir/sim/x.py", "import wave_mlir.passes.expand", False),
        ("python/wave_mlir/report/x.py", "from wave_mlir.sim import run", False),
        ("python/wave_mlir/tools/x.py", "from wave_mlir.sim import run", True),
        ("python/wave_mlir/sim/x.py", "import numpy, torch", False),
        ("passes/x.py", "import sympy", False),
        ("passes/x.py", "def f():\n    from wave_mlir.wave import trace", False),
        ("passes/x.py", "from wave_mlir.compiler.pass_registry import Pass", True),
        ("passes/x.py", "from .pipelines import expand", True),
    ],
)
def test_import_lint(tmp_path, file, line, allowed):
    (tmp_path / "passes").mkdir()
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(line + "\n")
    code, text = output("tools/lint_imports.py", str(tmp_path))
    assert (code == 0) == allowed, text
    if not allowed:
        assert text.startswith(f"{file}:")
