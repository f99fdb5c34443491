"""The race detector against brute force: random accesses of random widths by random waves, with random barriers."""

from __future__ import annotations

import numpy as np
import pytest
from sim_harness import GLOBAL, kernel, run_text
from wave_mlir import sim

WAVES = 3
BYTES = 32
SPACES = {"lds": "#gpu.address_space<workgroup>", "global": GLOBAL}


def random_program(rng: np.random.Generator) -> list[tuple[int, str, int, int] | None]:
    """Accesses (wave, kind, byte, width), None for a barrier. Half of the waves keep to bytes of their own, so that
    programs without a race are not rare."""
    program: list[tuple[int, str, int, int] | None] = []
    kinds = ["load", "load", "store"]
    for _ in range(rng.integers(2, 9)):
        if rng.random() < 0.35:
            program.append(None)
            continue
        width = int(rng.choice([1, 2, 4]))
        wave = int(rng.integers(WAVES))
        base = wave * 8 if rng.random() < 0.5 else 0
        byte = (base + int(rng.integers(0, 8))) // width * width
        program.append((wave, str(rng.choice(kinds)), byte, width))
    return program


def races(program: list[tuple[int, str, int, int] | None]) -> bool:
    """Whether two accesses of one interval between barriers, by different waves, share a byte and one writes."""
    interval: list[tuple[int, str, int, int]] = []
    for item in [*program, None]:
        if item is None:
            for i, (w, k, b, n) in enumerate(interval):
                for v, j, c, m in interval[i + 1 :]:
                    if w != v and "store" in (k, j) and b < c + m and c < b + n:
                        return True
            interval = []
        else:
            interval.append(item)
    return False


def text_of(program: list[tuple[int, str, int, int] | None], space: str) -> str:
    lines = ["%t = gpu.thread_id x", "%c64 = arith.constant 64 : index", "%w = arith.divui %t, %c64 : index"]
    memory = SPACES[space]
    source = "%lds" if space == "lds" else "%g"
    lines += [f"%k{w} = arith.constant {w} : index\n%is{w} = arith.cmpi eq, %w, %k{w} : index" for w in range(WAVES)]
    lines += [f"%z{n} = arith.constant 1 : i{8 * n}\n%zero{n} = arith.constant 0 : index" for n in (1, 2, 4)]
    lines += [
        f"%v{n} = memref.view {source}[%zero{n}][] : memref<{BYTES}xi8, {memory}> to "
        f"memref<{BYTES // n}xi{8 * n}, {memory}>"
        for n in (1, 2, 4)
    ]
    for number, item in enumerate(program):
        if item is None:
            lines.append("gpu.barrier")
            continue
        wave, kind, byte, n = item
        view = f"%v{n}[%i{number}] : memref<{BYTES // n}xi{8 * n}, {memory}>"
        access = f"%x{number} = memref.load {view}" if kind == "load" else f"memref.store %z{n}, {view}"
        lines.append(f"%i{number} = arith.constant {byte // n} : index\nscf.if %is{wave} {{\n{access}\n}}")
    arguments = f"%g: memref<{BYTES}xi8, {GLOBAL}>"
    return kernel("\n".join(lines), arguments, block=(64 * WAVES, 1, 1), lds=BYTES if space == "lds" else 0)


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("order", ["forward", "random"])
def test_against_brute_force(space, order):
    rng = np.random.default_rng(17)
    seen = set()
    for _ in range(60):
        program = random_program(rng)
        want = races(program)
        seen.add(want)
        try:
            run_text(text_of(program, space), [np.zeros(BYTES, np.int8)], checks=["uninitialised"], order=order)
            got = False
        except sim.SimError as error:
            assert error.kind == "race", str(error)
            got = True
        assert got == want, program
    assert seen == {True, False}
