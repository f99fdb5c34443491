"""Shared by all pytest tests: the markers `second_opinion` and `foreign`, and the fixture of the former."""

from __future__ import annotations

import os
from collections.abc import Callable

import foreign_kernels
import pytest
import second_opinion

os.environ["WAVE_VERIFY_FORMS"] = "1"  # before wave_mlir is imported: all tests check the form after each pass


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect tests that need the external runner, or kernels of other compilers, when there are none."""
    there = {"second_opinion": second_opinion.available(), "foreign": foreign_kernels.available()}
    missing = [marker for marker, available in there.items() if not available]
    chosen, left_out = [], []
    for item in items:
        (left_out if any(item.get_closest_marker(m) for m in missing) else chosen).append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = chosen


@pytest.fixture(scope="session")
def isa_run() -> Callable[..., object]:
    """`isa_run(hsaco_path, kernel, arrays, grid, block, arch, seed)`, see `second_opinion.isa_run`."""
    return second_opinion.isa_run
