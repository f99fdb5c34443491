"""Shared by all pytest tests: the marker `second_opinion` and its fixture."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
import second_opinion

os.environ["WAVE_VERIFY_FORMS"] = "1"  # before wave_mlir is imported: all tests check the form after each pass


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect tests that need the external runner when there is none."""
    if second_opinion.available():
        return
    chosen, left_out = [], []
    for item in items:
        (left_out if item.get_closest_marker("second_opinion") else chosen).append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = chosen


@pytest.fixture(scope="session")
def isa_run() -> Callable[..., object]:
    """`isa_run(hsaco_path, kernel, arrays, grid, block, arch, seed)`, see `second_opinion.isa_run`."""
    return second_opinion.isa_run
