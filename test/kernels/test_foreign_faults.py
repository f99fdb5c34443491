"""Faults planted in the machine code of other compilers: each wait and each barrier taken out is found.

tools/foreign_kernels.py makes the kernels; without them these tests are deselected.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import foreign_kernels
import pytest
from wave_mlir import isa

pytestmark = pytest.mark.foreign

NAMES = (
    "triton-matmul-f16-64x64x32-w4-s1-gfx942",
    "triton-matmul-f8e4m3fn-64x64x128-w4-s2-t-gfx950",
    "wave-lang-attention-plain-gfx942",
    "wave-lang-gemm-direct-gfx950",
    "wave-lang-gemm-plain-gfx942",
)
KERNELS = [p for p in foreign_kernels.descriptions() if p.stem in NAMES]
SEEDS = range(4)
TO_LDS = re.compile(r"^\s*(ds_|(buffer|global)_load_\w+ .*\blds\b|global_load_lds)")
MEMORY = re.compile(r"^\s*(ds_|buffer_|global_|flat_|s_load|s_buffer_load)")


def faulty(text: str, executed: set[int]) -> Iterator[tuple[str, str]]:
    """(what was taken out, the text without it). Left out: what never runs, and what no access comes before."""
    lines = text.split("\n")
    for at, line in enumerate(lines):
        instruction = line.split(";")[0].strip()
        before = [x for number, x in enumerate(lines[:at], 1) if number in executed]
        needed = {"s_barrier": TO_LDS, "s_waitcnt": MEMORY}.get(instruction.split(" ")[0])
        if needed and at + 1 in executed and any(needed.match(x) for x in before):
            yield f"line {at + 1}: {instruction}", "\n".join(lines[:at] + lines[at + 1 :])


@pytest.mark.parametrize("path", KERNELS, ids=lambda p: p.stem)
def test_each_wait_and_barrier_is_missed(path: Path) -> None:
    import foreign_data  # torch is slow to import

    kernel = foreign_data.ForeignKernel(path)
    about = kernel.description

    def run(text: str, seed: int) -> isa.IsaRun:
        tensors = kernel.tensors(seed)
        args, arrays = kernel.arguments(tensors)
        sizes = about["grid"], about["block"]
        done = isa.run(text, args, *sizes, kernel=about["kernel"], seed=seed, dynamic_lds=about["lds"])
        kernel.check(tensors, arrays)
        return done

    text = (path.parent / about["assembly"]).read_text()
    clean = run(text, 0)
    executed = {line.number for line, n in zip(clean.program.lines, clean.executions, strict=True) if n}
    unnoticed, tried = [], 0
    for what, broken in faulty(text, executed):
        tried += 1
        for seed in SEEDS:
            try:
                run(broken, seed)
            except isa.IsaError as error:
                assert error.kind in ("wait", "race", "unwritten", "bounds"), str(error)
                break
        else:
            unnoticed.append(what)
    assert tried >= 5 and not unnoticed
