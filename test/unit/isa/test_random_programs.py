"""Random straight-line programs leave the same registers, bit for bit, as in a runner that is not ours.

That one compiles each form of instruction that it meets, so that a batch of programs draws from a pool of instructions.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import random_programs as programs
import second_opinion
from wave_mlir import isa

BATCHES = [("gfx942", "gfx950")[seed % 2] for seed in range(10)]
LENGTH = 8


def _pool(writer: programs.Writer, size: int, folder: Path) -> list[str]:
    """Instructions that the assembler and the second opinion take."""
    lines = programs.legal([writer.instruction() for _ in range(3 * size)], writer.target)[:size]
    path = programs.code_object(programs.kernel([[line] for line in lines], writer.target), writer.target, folder)
    refused = second_opinion.refused(path, "programs")
    left_out = set(programs.refused_of(lines, writer.target, refused))
    assert len(left_out) <= size // 4, f"the second opinion takes little: {refused}"
    return [line for line in lines if line not in left_out]


def _bodies(seed: int, target: str, count: int, pool: int, folder: Path) -> list[list[str]]:
    writer = programs.Writer(seed, target)
    lines = _pool(writer, pool, folder)
    return [writer.random.choices(lines, k=LENGTH) for _ in range(count)]


def _compare(bodies: list[list[str]], target: str, seed: int, folder: Path) -> None:
    text = programs.kernel(bodies, target)
    start = programs.registers(len(bodies), seed)
    ours, theirs = np.zeros_like(start), np.zeros_like(start)
    isa.run(text, [start.copy(), ours], 1, 64)
    path = programs.code_object(text, target, folder)
    second_opinion.isa_run(path, "programs", [start.copy(), theirs], (1, 1, 1), (64, 1, 1), target)
    wrong = np.flatnonzero((ours != theirs)[:, : programs.CHECKED].any(1))
    told = ["\n".join(bodies[i]) for i in wrong[:5]]
    assert not len(wrong), f"{len(wrong)} of {len(bodies)} programs differ; first:\n" + "\n\n".join(told)


@pytest.mark.second_opinion
def test_some_programs(tmp_path: Path) -> None:
    _compare(_bodies(100, "gfx942", 100, 24, tmp_path), "gfx942", 100, tmp_path)


@pytest.mark.slow
@pytest.mark.second_opinion
@pytest.mark.parametrize("seed", range(len(BATCHES)))
def test_ten_thousand_programs(seed: int, tmp_path: Path) -> None:
    target = BATCHES[seed]
    _compare(_bodies(seed, target, 1000, 60, tmp_path), target, seed, tmp_path)
