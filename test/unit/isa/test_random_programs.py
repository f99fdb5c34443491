"""Random straight-line programs leave the same registers and memory, bit for bit, as in a runner that is not ours.

That one compiles each form of instruction that it meets, so that a batch of programs draws from a pool of instructions.
What the two are known to differ in is in known_differences.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import program_kernel
import pytest
import random_matrix
import random_memory
import random_programs
import second_opinion
from known_differences import guarded
from wave_mlir import isa

LENGTH = 8
"""Instructions of a program; a matrix program has one."""
BATCHES = [
    *(("arithmetic", 900, 60, seed) for seed in range(8)),
    *(("lds", 700, 60, seed) for seed in range(2)),
    *(("global", 400, 50, seed) for seed in range(2)),
    *(("buffer", 200, 40, seed) for seed in range(2)),
    ("scalar", 100, 20, 0),
    *(("matrix", 150, 60, seed) for seed in range(2)),
]
"""Kind, programs, instructions in the pool, seed: 10,200 programs."""


def _pool(draw: Callable[[], str], target: str, size: int, folder: Path) -> list[str]:
    """Instructions that the assembler and the second opinion take."""
    lines = random_programs.legal([draw() for _ in range(4 * size)], target)
    lines = [line for line in lines if guarded(line) is not None][: 2 * size]
    path = program_kernel.code_object(program_kernel.kernel([[line] for line in lines], target), target, folder)
    refused = second_opinion.refused(path, "programs")
    left_out = set(program_kernel.refused_of(lines, target, refused))
    taken = [line for line in lines if line not in left_out][:size]
    assert len(taken) >= size // 4, f"the second opinion takes little: {refused}"
    return taken


def _between_guards(lines: Sequence[str]) -> list[str]:
    return [line for chosen in lines for line in guarded(chosen) or ()]


def _arithmetic(count: int, pool: int, seed: int, target: str, folder: Path) -> tuple[list[list[str]], np.ndarray]:
    writer = random_programs.Writer(seed, target)
    lines = _pool(writer.instruction, target, pool, folder)
    bodies = [_between_guards(writer.random.choices(lines, k=LENGTH)) for _ in range(count)]
    return bodies, program_kernel.registers(count, seed)


def _memory(
    family: str, count: int, pool: int, seed: int, target: str, folder: Path
) -> tuple[list[list[str]], np.ndarray]:
    writer = random_memory.MemoryWriter(seed, target, family)
    lines = _pool(writer.instruction, target, pool, folder)
    bodies = [writer.program(_between_guards(writer.random.choices(lines, k=LENGTH))) for _ in range(count)]
    return bodies, program_kernel.registers(count, seed)


def _matrix(count: int, pool: int, seed: int, target: str, folder: Path) -> tuple[list[list[str]], np.ndarray]:
    writer = random_matrix.MatrixWriter(seed, target)
    lines = _pool(writer.instruction, target, pool, folder)
    chosen = writer.random.choices(lines, k=count)
    start = program_kernel.registers(count, seed)
    for i, line in enumerate(chosen):
        writer.fill(start[i], line, seed * count + i)
    return [writer.program(line) for line in chosen], start


def _compare(kind: str, count: int, pool: int, seed: int, target: str, folder: Path) -> None:
    if kind == "arithmetic":
        bodies, start = _arithmetic(count, pool, seed, target, folder)
    elif kind == "matrix":
        bodies, start = _matrix(count, pool, seed, target, folder)
    else:
        bodies, start = _memory(kind, count, pool, seed, target, folder)
    text = program_kernel.kernel(bodies, target)
    ours, theirs = start.copy(), start.copy()
    isa.run(text, [start.copy(), ours], 1, 64, alignment=False)
    path = program_kernel.code_object(text, target, folder)
    second_opinion.isa_run(path, "programs", [start.copy(), theirs], (1, 1, 1), (64, 1, 1), target)
    wrong = np.flatnonzero(program_kernel.differing(ours, theirs).any(1))
    told = ["\n".join(bodies[i]) for i in wrong[:3]]
    assert not len(wrong), f"{len(wrong)} of {len(bodies)} programs differ; first:\n" + "\n\n".join(told)


@pytest.mark.second_opinion
@pytest.mark.parametrize("kind", ["arithmetic", "lds", "matrix"])
def test_some_programs(kind: str, tmp_path: Path) -> None:
    _compare(kind, 60, 12, 100, "gfx942", tmp_path)


@pytest.mark.slow
@pytest.mark.second_opinion
@pytest.mark.parametrize("kind,count,pool,seed", BATCHES)
def test_ten_thousand_programs(kind: str, count: int, pool: int, seed: int, tmp_path: Path) -> None:
    _compare(kind, count, pool, seed, ("gfx942", "gfx950")[seed % 2], tmp_path)
