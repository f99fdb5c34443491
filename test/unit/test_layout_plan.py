"""Plans of conversion, applied to data and compared with where each element has to be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from layout_brute_force import SOURCES, Plain, evaluate, plains
from mlir import ir
from wave_mlir.dialect import Layout, Move, Plan, apply_plan, block_sizes, plan

CONTEXT = ir.Context()
FEW = settings(max_examples=40, deadline=None)


def parse(text: str) -> Layout:
    return Layout(ir.Attribute.parse(f"#wave.layout<{text}>", CONTEXT))


def layout_of(plain: Plain) -> Layout:
    d = plain.digits
    return Layout.get(
        plain.extents, reg=d["reg"], lane=d["lane"], wave_x=d["wave.x"], wave_y=d["wave.y"], wave_z=d["wave.z"],
        clip=plain.clip, context=CONTEXT,
    )  # fmt: skip


def check(src: Layout, dst: Layout, sizes: dict[str, int]) -> Plan:
    """Every element has a number; after the plan each place of dst has its element's. Returns the plan."""
    found = plan(src, dst, sizes)
    before, after = src.table(sizes), dst.table(sizes)
    rng = np.random.default_rng(0)
    number = rng.permutation(found.elements) + 1
    # what a register holds where no element exists must not matter
    data = np.where(before >= 0, number[before], -rng.integers(1, 99, before.shape))
    out = apply_plan(found, src, dst, data, sizes)
    assert (out[after >= 0] == number[after[after >= 0]]).all()
    return found


def cheapest(src: Layout, dst: Layout, sizes: dict[str, int]) -> str:
    """The kind of the cheapest conversion, from the tables alone."""
    before, after = src.table(sizes), dst.table(sizes)
    waves, lanes, registers = after.shape
    in_lane = in_wave = True
    renaming: list[set[int]] = []
    for reg in range(registers):
        common = set(range(before.shape[2]))
        for w in range(waves):
            for lane in range(lanes):
                wanted = after[w, lane, reg]
                if wanted >= 0:
                    common &= set(np.flatnonzero(before[w, lane] == wanted).tolist())
                    in_wave &= bool((before[w] == wanted).any())
        renaming.append(common)
        in_lane &= bool(common)
    if in_lane:
        same = before.shape[2] == registers and all(r in common for r, common in enumerate(renaming))
        return "identity" if same else "registers"
    return "lanes" if in_wave else "lds"


def sizes_of(*layouts: Plain) -> dict[str, int]:
    return {s: int(np.lcm.reduce([p.size(s) for p in layouts])) for s in SOURCES if s != "reg"}


@FEW
@given(st.data(), st.sampled_from([{"M": 4, "N": 6}, {"M": 8, "N": 4}, {"M": 16}, {"M": 3, "N": 8}]))
def test_any_two_layouts(data: st.DataObject, extents: dict[str, int]) -> None:
    src, dst = (data.draw(plains(shared=extents)) for _ in range(2))
    sizes = sizes_of(src, dst)
    found = check(layout_of(src), layout_of(dst), sizes)
    expected = cheapest(layout_of(src), layout_of(dst), sizes)
    # one move per wave only: a wave-dependent exchange is an LDS round trip
    assert found.kind == expected or (expected == "lanes" and found.kind == "lds")
    assert found.lds_bytes(16) == (2 * found.elements if found.kind == "lds" else 0)


@FEW
@given(plains())
def test_identity_and_canonical(plain: Plain) -> None:
    layout = layout_of(plain)
    sizes = sizes_of(plain)
    assert check(layout, layout, sizes).kind == "identity"
    assert check(layout, layout.canonical(), sizes).kind == "identity"


ACC = "[M = 16, N = 16], reg = [4 : M * 1], lane = [16 : N * 1, 4 : M * 4]"
OPERAND = "[M = 16, N = 16], reg = [4 : N * 1], lane = [16 : M * 1, 4 : N * 4]"
TRANSPOSED = "[M = 16, N = 16], reg = [4 : M * 1], lane = [16 : N * 1, 4 : M * 4]"
WIDE = "[M = 16, N = 32], reg = [8 : N * 1], lane = [16 : M * 1, 4 : N * 8]"
NARROW = "[M = 16, N = 32], reg = [4 : N * 1, 2 : N * 16], lane = [16 : M * 1, 4 : N * 4]"


@pytest.mark.parametrize(
    ("src", "dst", "kind"),
    [
        (ACC, TRANSPOSED, "identity"),  # a result that is the next MMA's rhs as it stands
        (ACC, OPERAND, "lanes"),
        (WIDE, NARROW, "lanes"),
        ("[M = 8], reg = [4 : M * 1, 2 : M * 4]", "[M = 8], reg = [2 : M * 4, 4 : M * 1]", "registers"),
        ("[M = 8], reg = [8 : M * 1]", "[M = 8], lane = [8 : M * 1]", "lanes"),
        ("[M = 8], reg = [2 : _, 8 : M * 1]", "[M = 8], reg = [8 : M * 1]", "registers"),
        ("[M = 8], lane = [8 : M * 1]", "[M = 8], wave.x = [8 : M * 1]", "lds"),  # another lane in each wave
        ("[M = 8], wave.x = [8 : M * 1]", "[M = 8], lane = [8 : M * 1]", "lds"),
    ],
)
def test_kinds(src: str, dst: str, kind: str) -> None:
    a, b = parse(src), parse(dst)
    waves = max(a.size("wave.x"), b.size("wave.x"))
    assert check(a, b, block_sizes(64, (waves, 1, 1))).kind == kind


def test_moves_of_a_transpose() -> None:
    """The 4x4 blocks of an accumulator: each destination register gathers from one source register per lane group."""
    found = plan(parse(ACC), parse(OPERAND), block_sizes(64))
    assert found.exchanges == 16 and all(len(moves) == 4 for moves in found.moves)
    for moves in found.moves:
        served = np.array([np.array(m.lanes) >= 0 for m in moves])
        assert (served.sum(axis=0) == 1).all()
        for move in moves:
            expr = move.lane_expr(CONTEXT)
            assert expr is not None
            for lane, source in enumerate(move.lanes):
                assert source < 0 or evaluate(expr, lane=lane) == source


def test_classification_of_moves() -> None:
    def move(*lanes: int) -> Move:
        return Move(0, lanes)

    assert move(0, 1, -1, 3).is_own and move(0, 1).mechanism == "own"
    assert move(1, 0, 3, 2).xor == 1 and move(1, 0, 3, 2).mechanism == "dpp"
    assert Move(0, tuple(lane ^ 16 for lane in range(64))).mechanism == "swizzle"
    assert Move(0, tuple(lane ^ 32 for lane in range(64))).mechanism == "bpermute"
    assert move(1, 2, 3, 0).xor is None and move(1, 2, 3, 0).mechanism == "bpermute"
    assert not move(-1, 0).serves_all
    assert move(1, 2, 3, 0).lane_expr(CONTEXT) is None  # a rotation is not linear over bits


def test_butterfly_of_replicas() -> None:
    """Where the element has replicas the source lane keeps the reader's own bits."""
    src = parse("[M = 4], reg = [2 : M * 1], lane = [2 : M * 2, 2 : _]")
    dst = parse("[M = 4], reg = [2 : M * 2], lane = [2 : _, 2 : M * 1]")
    found = check(src, dst, block_sizes(4))
    assert found.kind == "lanes"
    reads = [pair for moves in found.moves for move in moves for pair in enumerate(move.lanes) if pair[1] >= 0]
    assert len(reads) == 8 and all(lane >> 1 == source >> 1 for lane, source in reads)


def test_errors() -> None:
    with pytest.raises(ValueError, match="two layouts of one tile"):
        plan(parse("[M = 4], reg = [4 : M * 1]"), parse("[N = 4], reg = [4 : N * 1]"))
    with pytest.raises(ValueError, match="counts 8 values of lane, there are 4"):
        plan(parse("[M = 8], lane = [8 : M * 1]"), parse("[M = 8], reg = [8 : M * 1]"), {"lane": 4})
