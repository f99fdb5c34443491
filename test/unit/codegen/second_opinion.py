"""The machine-code runner, an external tool found through WAVE_SECOND_OPINION."""

import importlib
import os
import sys
from pathlib import Path

import pytest


def runner():
    """The runner's module; the test is skipped from selection by its marker when the tool is not named."""
    folder = os.environ.get("WAVE_SECOND_OPINION")
    if not folder:
        pytest.fail("WAVE_SECOND_OPINION names no runner; deselect these tests with -m 'not second_opinion'")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return importlib.import_module("run_hsaco")


def run(tmp_path: Path, hsaco: bytes, name: str, args, grid, block, seed=0):
    """Run a kernel with late loads and random wave order; arrays change in place."""
    path = tmp_path / f"{name}.hsaco"
    path.write_bytes(hsaco)
    return runner().run(str(path), name, args, grid=grid, block=block, strict=True, schedule="random", seed=seed)
