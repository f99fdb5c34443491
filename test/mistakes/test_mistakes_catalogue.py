"""Every mistake of the catalogue gives its message, at its line, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import mistakes_in_calls
import mistakes_in_constraints
import mistakes_in_control_flow
import mistakes_in_operations
import pytest
from catalogue import CATALOGUE, Mistake
from wave_mlir.compiler.abi import AbiError
from wave_mlir.compiler.diagnostics import CompileError

ROOT = Path(__file__).resolve().parents[2]
MODULES = (mistakes_in_constraints, mistakes_in_operations, mistakes_in_control_flow, mistakes_in_calls)


def text_of(error: CompileError | AbiError) -> str:
    """The message without its place."""
    return error.diagnostics[0].message if isinstance(error, CompileError) else error.message


@pytest.mark.parametrize("mistake", CATALOGUE, ids=lambda m: m.name)
def test_mistake(mistake: Mistake) -> None:
    with pytest.raises((CompileError, AbiError)) as caught:
        mistake.run()
    assert text_of(caught.value).startswith(mistake.message)
    if mistake.line is not None:
        assert isinstance(caught.value, CompileError)
        place = caught.value.diagnostics[0].location.rsplit(":", 2)
        assert place[0].endswith(f"{mistake.run.__module__}.py") and int(place[1]) == mistake.line


def test_the_catalogue_is_large_and_says_each_thing_once() -> None:
    assert len(CATALOGUE) >= 40
    assert len({m.name for m in CATALOGUE}) == len({m.title for m in CATALOGUE}) == len(CATALOGUE)
    assert {m.run.__module__ for m in CATALOGUE} == {m.__name__ for m in MODULES}


def test_the_page_is_fresh() -> None:
    run = subprocess.run([sys.executable, ROOT / "tools/error_docs.py"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
