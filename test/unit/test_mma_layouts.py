"""Layouts of every MMA kind, element by element, against formulas written from the definition of the kinds."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from wave_mlir.compiler import targets
from wave_mlir.compiler.targets import Fragment, MmaKind, Target

KINDS = [(target, kind) for target in targets.all_targets() for kind in target.kinds]
IDS = [f"{target.name}-{kind.name}" for target, kind in KINDS]
every_kind = pytest.mark.parametrize(("target", "kind"), KINDS, ids=IDS)

# (wave size, M, K, bits of an element) -> K coordinate of element r of lane l, and elements a lane holds.
K_OF: dict[tuple[int, int, int, int], tuple[Callable[[int, int], int], int]] = {
    (64, 16, 16, 16): (lambda lane, r: 4 * (lane // 16) + r, 4),
    (64, 16, 16, 8): (lambda lane, r: 4 * (lane // 16) + r, 4),
    (64, 32, 8, 16): (lambda lane, r: 4 * (lane // 32) + r, 4),
    (64, 32, 8, 8): (lambda lane, r: 4 * (lane // 32) + r, 4),
    (64, 16, 8, 16): (lambda lane, r: 2 * (lane // 16) + r, 2),
    (64, 32, 4, 16): (lambda lane, r: 2 * (lane // 32) + r, 2),
    (64, 16, 32, 16): (lambda lane, r: 8 * (lane // 16) + r, 8),
    (64, 16, 32, 8): (lambda lane, r: 8 * (lane // 16) + r, 8),
    (64, 32, 16, 16): (lambda lane, r: 8 * (lane // 32) + r, 8),
    (64, 32, 16, 8): (lambda lane, r: 8 * (lane // 32) + r, 8),
    (64, 16, 64, 8): (lambda lane, r: 16 * (lane // 16) + r, 16),
    (64, 32, 32, 8): (lambda lane, r: 16 * (lane // 32) + r, 16),
    (64, 16, 16, 32): (lambda lane, r: 4 * (lane // 16) + r, 4),
    (64, 32, 8, 32): (lambda lane, r: 4 * (lane // 32) + r, 4),
    (64, 16, 4, 32): (lambda lane, r: lane // 16, 1),
    (64, 32, 2, 32): (lambda lane, r: lane // 32, 1),
    (64, 16, 8, 32): (lambda lane, r: 2 * (lane // 16) + r, 2),
    (64, 32, 4, 32): (lambda lane, r: 2 * (lane // 32) + r, 2),
    (64, 16, 4, 64): (lambda lane, r: lane // 16, 1),
    (64, 16, 128, 8): (lambda lane, r: 64 * (r // 16) + 16 * (lane // 16) + r % 16, 32),
    (64, 32, 64, 8): (lambda lane, r: 32 * (r // 16) + 16 * (lane // 32) + r % 16, 32),
    (64, 16, 128, 6): (lambda lane, r: 32 * (lane // 16) + r, 32),
    (64, 32, 64, 6): (lambda lane, r: 32 * (lane // 32) + r, 32),
    (64, 16, 128, 4): (lambda lane, r: 32 * (lane // 16) + r, 32),
    (64, 32, 64, 4): (lambda lane, r: 32 * (lane // 32) + r, 32),
    (32, 16, 16, 16): (lambda lane, r: 8 * (lane // 16) + r, 8),
    (32, 16, 16, 8): (lambda lane, r: 8 * (lane // 16) + r, 8),
}

# The same for the kinds whose K is permuted: a lane's K are the rows of its accumulator.
PERMUTED_K_OF: dict[int, Callable[[int, int], int]] = {
    16: lambda lane, r: 16 * (r // 4) + 4 * (lane // 16) + r % 4,
    32: lambda lane, r: 8 * (r // 4) + 4 * (lane // 32) + r % 4,
}

# (wave size, M, accumulator) -> row of element r of lane l; the column is l mod M.
ROW_OF: dict[tuple[int, int, bool], tuple[Callable[[int, int], int], int]] = {
    (64, 16, False): (lambda lane, r: 4 * (lane // 16) + r, 4),
    (64, 32, False): (lambda lane, r: 8 * (r // 4) + 4 * (lane // 32) + r % 4, 16),
    (64, 16, True): (lambda lane, r: lane // 16 + 4 * r, 4),  # f64
    (32, 16, False): (lambda lane, r: 8 * (lane // 16) + r, 8),
}


def bits_of(dtype: str) -> int:
    """Bits by the digits in the name of the type."""
    found = re.match(r"[a-z]+(\d+)", dtype)
    assert found is not None
    return int(found[1])


def shape_of(name: str) -> tuple[int, int, int]:
    found = re.match(r"\w+?_(\d+)x(\d+)x(\d+)_", name)
    assert found is not None
    return int(found[1]), int(found[2]), int(found[3])


@every_kind
def test_operands(target: Target, kind: MmaKind) -> None:
    m, _, k = shape_of(kind.name)
    for fragment, dim in ((kind.lhs, "row"), (kind.rhs, "col")):
        formula, elements = K_OF[target.wave_size, m, k, bits_of(fragment.dtype)]
        if kind.variant == "k4" and not kind.is_virtual:
            formula = PERMUTED_K_OF[m]
        assert fragment.elements == elements
        for lane in range(target.wave_size):
            for r in range(elements):
                assert fragment.coordinates(r, lane) == {dim: lane % m, "k": formula(lane, r)}


@every_kind
def test_accumulator(target: Target, kind: MmaKind) -> None:
    m, _, _ = shape_of(kind.name)
    formula, elements = ROW_OF[target.wave_size, m, kind.acc_dtype == "f64"]
    assert kind.acc.elements == elements
    for lane in range(target.wave_size):
        for r in range(elements):
            assert kind.acc.coordinates(r, lane) == {"row": formula(lane, r), "col": lane % m}


@every_kind
def test_scales(target: Target, kind: MmaKind) -> None:
    assert kind.is_scaled == ("_scaled_" in kind.name)
    for fragment, dim in ((kind.lhs_scale, "row"), (kind.rhs_scale, "col")):
        assert (fragment is not None) == kind.is_scaled
        if fragment is not None:
            assert fragment.elements == 1
            for lane in range(target.wave_size):
                assert fragment.coordinates(0, lane) == {dim: lane % kind.m, "k": lane // kind.m}
            assert fragment.extent("k") * targets.SCALE_BLOCK == kind.k


@every_kind
def test_each_element_is_held_once(target: Target, kind: MmaKind) -> None:
    def held(fragment: Fragment) -> list[tuple[int, ...]]:
        places = [(r, lane) for lane in range(target.wave_size) for r in range(fragment.elements)]
        return sorted(tuple(fragment.coordinates(*place).values()) for place in places)

    def grid(first: int, second: int) -> list[tuple[int, ...]]:
        return [(i, j) for i in range(first) for j in range(second)]

    assert held(kind.lhs) == grid(kind.m, kind.k)
    assert held(kind.rhs) == grid(kind.n, kind.k)
    assert held(kind.acc) == grid(kind.m, kind.n)


@every_kind
def test_permuted_k_is_what_the_accumulator_holds(target: Target, kind: MmaKind) -> None:
    if kind.variant != "k4" or kind.is_virtual:
        return
    for lane in range(target.wave_size):
        operand = [kind.lhs.coordinates(r, lane)["k"] for r in range(kind.lhs.elements)]
        blocks = [kind.m * (r // kind.acc.elements) for r in range(kind.lhs.elements)]
        rows = [kind.acc.coordinates(r % kind.acc.elements, lane)["row"] for r in range(kind.lhs.elements)]
        assert operand == [block + row for block, row in zip(blocks, rows, strict=True)]


@every_kind
def test_instruction_matches_the_kind(target: Target, kind: MmaKind) -> None:
    shape = shape_of(kind.name)
    assert (kind.m, kind.n, kind.k) == shape
    what = kind.instruction
    assert (what.m, what.n, what.k * what.count) == shape
    assert kind.lhs.elements % what.count == 0
    assert kind.acc.elements == kind.m * kind.n // target.wave_size
    assert kind.flops == 2 * shape[0] * shape[1] * shape[2]
    named = re.sub(r"^\w+?_\d+x\d+x\d+_(k4_|k8_|k16_|scaled_)?", "", kind.name)
    operands = [kind.lhs_dtype.lower()] + ([kind.rhs_dtype.lower()] if kind.rhs_dtype != kind.lhs_dtype else [])
    assert named.replace("xf32", "f32") == "_".join(operands)
    assert kind.name.startswith(f"{kind.acc_dtype}_")
