"""Layouts of MMA operands, cooperative loads and elementwise kernels, and of LDS."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from layout_brute_force import evaluate, read
from mlir import ir
from wave_mlir.compiler import targets
from wave_mlir.dialect import (
    Layout,
    LdsLayout,
    access_conflicts,
    bank_conflicts,
    block_sizes,
    consecutive_phases,
    cooperative_layout,
    coordinates,
    elementwise_layout,
    fragment_layout,
    linear_layout,
    mma_layout,
)

CONTEXT = ir.Context()
Formula = Callable[[int, int], int]

# Operand layouts: row (or column) and K offset of register r of lane l; and rows of the accumulator.
OPERANDS: list[tuple[str, str, int, int, Formula]] = [
    ("gfx942", "f32_16x16x16_f16", 16, 4, lambda l, r: 4 * (l // 16) + r),  # noqa: E741
    ("gfx942", "f32_32x32x8_f16", 32, 4, lambda l, r: 4 * (l // 32) + r),  # noqa: E741
    ("gfx942", "f32_16x16x32_f8e4m3fnuz", 16, 8, lambda l, r: 8 * (l // 16) + r),  # noqa: E741
    ("gfx942", "f32_32x32x16_f8e4m3fnuz", 32, 8, lambda l, r: 8 * (l // 32) + r),  # noqa: E741
    ("gfx950", "f32_16x16x32_f16", 16, 8, lambda l, r: 8 * (l // 16) + r),  # noqa: E741
    ("gfx950", "f32_32x32x16_f16", 32, 8, lambda l, r: 8 * (l // 32) + r),  # noqa: E741
    ("gfx942", "f32_16x16x4_f32", 16, 1, lambda l, r: l // 16),  # noqa: E741
    ("gfx942", "f32_32x32x2_f32", 32, 1, lambda l, r: l // 32),  # noqa: E741
    ("gfx1201", "f32_16x16x16_f16", 16, 8, lambda l, r: 8 * (l // 16) + r),  # noqa: E741
]
ROWS: dict[int, Formula] = {
    16: lambda l, r: 4 * (l // 16) + r,  # noqa: E741
    32: lambda l, r: 8 * (r // 4) + 4 * (l // 32) + r % 4,  # noqa: E741
}


@pytest.mark.parametrize(
    ("target", "kind", "width", "held", "k_of"), OPERANDS, ids=lambda v: "" if callable(v) else str(v)
)
def test_mma_operands(target: str, kind: str, width: int, held: int, k_of: Formula) -> None:
    """Fragments of the target tables as layouts, element by element."""
    machine = targets.get(target)
    mma = machine.mma(kind)
    for fragment, row in ((mma.lhs, "row"), (mma.rhs, "col")):
        layout = fragment_layout(fragment.digits, {row: "M", "k": "K"}, CONTEXT)
        where, exists = coordinates(layout, {"lane": machine.wave_size})
        assert exists.all() and exists.shape == (1, machine.wave_size, held)
        assert layout.extents == {"M": width, "K": mma.k}
        for lane in range(machine.wave_size):
            for reg in range(held):
                assert where["M"][0, lane, reg] == lane % width
                assert where["K"][0, lane, reg] == k_of(lane, reg)
    acc = fragment_layout(mma.acc.digits, {"row": "M", "col": "N"}, CONTEXT)
    where, _ = coordinates(acc)
    row_of: Formula = ROWS[width] if machine.wave_size == 64 else lambda l, r: 8 * (l // 16) + r  # noqa: E741
    for lane in range(machine.wave_size):
        for reg in range(acc.registers):
            assert where["N"][0, lane, reg] == lane % width
            assert where["M"][0, lane, reg] == row_of(lane, reg)


def test_the_gemm_of_the_design() -> None:
    mma = targets.get("gfx942").mma("f32_16x16x16_f16")
    waves = {"M": ("wave.x", 2, 32), "N": ("wave.y", 2, 32)}
    lhs = mma_layout(mma.lhs.digits, {"row": "M", "k": "K"}, {"M": 64, "K": 32}, waves, context=CONTEXT)
    assert str(lhs) == (
        "#wave.layout<[M = 64, K = 32], reg = [4 : K * 1, 2 : K * 16, 2 : M * 16], "
        "lane = [16 : M * 1, 4 : K * 4], wave.x = [2 : M * 32]>"
    )
    acc = mma_layout(mma.acc.digits, {"row": "M", "col": "N"}, {"M": 64, "N": 64}, waves, context=CONTEXT)
    assert str(acc) == (
        "#wave.layout<[M = 64, N = 64], reg = [4 : M * 1, 2 : N * 16, 2 : M * 16], "
        "lane = [16 : N * 1, 4 : M * 4], wave.x = [2 : M * 32], wave.y = [2 : N * 32]>"
    )
    assert lhs.coord_expr("M", sizes=block_sizes(64, (2, 2, 1))) == ir.Attribute.parse(
        "#wave.expr<wave.x * 32 + (lane mod 16 + reg floordiv 8 * 16)>", CONTEXT
    )


@pytest.mark.parametrize(
    ("rows", "waves", "tile", "registers"),
    [(8, 1, 8, 4), (56, 1, 56, 16), (112, 2, 56, 16), (100, 3, 34, 12), (64, 4, 16, 4), (24, 3, 8, 4)],
)
def test_clipped_mma_tiles(rows: int, waves: int, tile: int, registers: int) -> None:
    """Wave tiles smaller than the instruction or not a multiple: every element once, nothing outside."""
    mma = targets.get("gfx942").mma("f32_16x16x16_f16")
    layout = mma_layout(
        mma.lhs.digits, {"row": "M", "k": "K"}, {"M": rows, "K": 16}, {"M": ("wave.x", waves, tile)}, context=CONTEXT
    )
    assert layout.registers == registers
    table = layout.table(block_sizes(64, (waves, 1, 1)))
    assert sorted(table[table >= 0].tolist()) == list(range(rows * 16))
    assert layout.overshoots("M") == (tile % 16 != 0 or rows % tile != 0)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(1, 20), min_size=0, max_size=2),
    st.integers(1, 300),
    st.sampled_from([1, 2, 4, 8]),
    st.sampled_from([32, 64]),
    st.sampled_from([(1, 1, 1), (2, 2, 1), (3, 1, 1), (4, 1, 1), (1, 2, 3)]),
)
def test_cooperative_covers_once(
    others: list[int], n: int, vector: int, wave: int, waves: tuple[int, int, int]
) -> None:
    extents = {**{f"D{i}": e for i, e in enumerate(others)}, "K": n}
    layout = cooperative_layout(extents, "K", vector, wave, waves, CONTEXT)
    sizes = block_sizes(wave, waves)
    table = layout.table(sizes)
    assert all(layout.size(s) <= sizes[s] for s in sizes)
    owner = layout.owner_expr()
    once = np.zeros(int(np.prod(list(extents.values()))), dtype=int)
    places = read(layout)
    for w in range(table.shape[0]):
        x, y, z = w % waves[0], w // waves[0] % waves[1], w // waves[0] // waves[1]
        for lane in range(wave):
            if evaluate(owner, lane=lane, wave_x=x, wave_y=y, wave_z=z, reg=0):
                for reg in range(table.shape[2]):
                    if table[w, lane, reg] >= 0:
                        assert places.at(reg, lane, x, y, z) is not None
                        once[table[w, lane, reg]] += 1
    assert (once == 1).all()
    if n % vector == 0:
        assert layout.widest_access("K") % vector == 0


def test_cooperative_cases() -> None:
    def text(extents: dict[str, int], waves: tuple[int, int, int]) -> str:
        return str(cooperative_layout(extents, "K", 8, 64, waves, CONTEXT)).removeprefix("#wave.layout<")

    assert text({"M": 64, "K": 32}, (2, 2, 1)) == (
        "[M = 64, K = 32], reg = [8 : K * 1], lane = [4 : K * 8, 16 : M * 1], wave.x = [2 : M * 16], "
        "wave.y = [2 : M * 32]>"
    )
    # 128 x 64 with 256 threads: four accesses a lane
    assert "reg = [8 : K * 1, 4 : M * 32], lane = [8 : K * 8, 8 : M * 1]" in text({"M": 128, "K": 64}, (4, 1, 1))
    # 10 chunks a row: lanes that do not factor into the wave replicate
    assert "lane = [10 : K * 8, 6 : M * 1]" in text({"M": 64, "K": 80}, (4, 1, 1))
    # fewer chunks than threads
    assert text({"M": 8, "K": 32}, (4, 1, 1)) == "[M = 8, K = 32], reg = [8 : K * 1], lane = [4 : K * 8, 8 : M * 1]>"
    with pytest.raises(ValueError, match="no dim K"):
        cooperative_layout({"M": 8}, "K", 8, 64, context=CONTEXT)
    with pytest.raises(ValueError, match="must be positive"):
        cooperative_layout({"K": 8}, "K", 0, 64, context=CONTEXT)
    with pytest.raises(ValueError, match="must be positive"):
        cooperative_layout({"K": 8}, "K", 8, 64, (0, 1, 1), CONTEXT)


def test_elementwise() -> None:
    waves = {"M": ("wave.x", 2, 32)}
    layout = elementwise_layout({"M": 64, "N": 256}, {"M": 4, "N": 64}, 64, waves, context=CONTEXT)
    assert str(layout) == (
        "#wave.layout<[M = 64, N = 256], reg = [4 : N * 1, 4 : N * 64, 8 : M * 4], lane = [16 : N * 4, 4 : M * 1], "
        "wave.x = [2 : M * 32]>"
    )
    row = elementwise_layout({"B": 3, "N": 100}, {"B": 0, "N": 64}, 64, context=CONTEXT)
    assert str(row) == "#wave.layout<[B = 3, N = 100], reg = [2 : N * 64, 3 : B * 1], lane = [64 : N * 1]>"
    with pytest.raises(ValueError, match="does not divide among 64 lanes"):
        elementwise_layout({"N": 128}, {"N": 96}, 64, context=CONTEXT)


# --- LDS ----------------------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 9), st.sampled_from([1, 2, 4, 8]), st.sampled_from([1, 2, 4, 8]), st.integers(1, 3),
    st.integers(1, 2), st.sampled_from([(0, 0), (8, 64), (4, 12)]),
)  # fmt: skip
def test_lds_is_a_bijection(
    height: int, chunk: int, phases: int, rows: int, times: int, padding: tuple[int, int]
) -> None:
    width = chunk * phases * times
    pad, interval = padding
    lds = LdsLayout.get(
        [2, height, width], chunk=chunk, phases=phases, rows=rows, pad=pad, interval=interval, context=CONTEXT
    )
    assert ir.Attribute.parse(str(lds), CONTEXT) == lds
    at = [ir.Attribute.parse(f"#wave.expr<{s}>", CONTEXT) for s in "abc"]
    expr = lds.offset_expr(at)
    offsets = []
    for b, r, c in np.ndindex(2, height, width):
        row = b * height + r
        swizzled = (c // chunk ^ row // rows % phases) * chunk + c % chunk
        linear = row * width + swizzled
        expected = linear + (linear // interval * pad if interval else 0)
        assert lds.offset([b, r, c]) == expected == evaluate(expr, a=b, b=r, c=c)
        offsets.append(expected)
    assert len(set(offsets)) == len(offsets) and max(offsets) == lds.size - 1


def test_bank_conflicts_of_known_buffers() -> None:
    """Rows of 64 f16 read as MMA fragments of eight K elements by ds_read_b128."""
    machine = targets.get("gfx942")
    read128, write128 = (machine.lds_access(op, 128).phases for op in ("read", "write"))
    fragment = Layout.get(
        {"M": 16, "K": 64}, reg=[(8, "K", 1), (2, "K", 32)], lane=[(16, "M", 1), (4, "K", 8)], context=CONTEXT
    )
    copy = cooperative_layout({"M": 8, "K": 64}, "K", 8, 64, context=CONTEXT)

    def degrees(layout: Layout, lds: LdsLayout, phases: tuple[tuple[int, ...], ...]) -> list[int]:
        return access_conflicts(layout, lds, 2, 8, phases)

    swizzled = LdsLayout.get([16, 64], chunk=8, phases=8, context=CONTEXT)
    padded = LdsLayout.get([16, 64], pad=8, interval=64, context=CONTEXT)  # rows of 144 bytes
    plain = LdsLayout.get([16, 64], context=CONTEXT)
    assert degrees(fragment, swizzled, read128) == [1, 1]
    assert degrees(fragment, swizzled, tuple(map(tuple, consecutive_phases(64, 16)))) == [1, 1]
    assert degrees(copy, swizzled, write128) == [1]
    assert degrees(fragment, padded, read128) == [2, 2]
    assert degrees(fragment, plain, read128) == [4, 4]
    # rows of 32 f16, chunk c ^ ((r >> 1) & 3)
    half = Layout.get({"M": 16, "K": 32}, reg=[(8, "K", 1)], lane=[(16, "M", 1), (4, "K", 8)], context=CONTEXT)
    assert degrees(half, LdsLayout.get([16, 32], chunk=8, phases=4, rows=2, context=CONTEXT), read128) == [1]


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 24), st.integers(1, 6), st.sampled_from([1, 2, 4]), st.sampled_from([(1, 1), (2, 1), (2, 2)]),
       st.integers(1, 4))  # fmt: skip
def test_linear_layout(rows: int, columns: int, vector: int, waves: tuple[int, int], together: int) -> None:
    """Lanes of a wave hold consecutive vectors in row-major order, and registers that belong together go on from there;
    a layout is refused only where the numbers do not divide, and holds every element once."""
    extents, wide = {"M": rows * 4, "K": columns * 8}, 8
    layout = linear_layout(extents, vector, wide, (*waves, 1), together, CONTEXT)
    if layout is None:
        row, threads = columns * 8 // vector, wide * waves[0] * waves[1]
        assert rows * 4 * row % threads or row % wide and wide % row or columns & (columns - 1) or rows & (rows - 1)
        return
    found, exists = coordinates(layout, block_sizes(wide, (*waves, 1)))
    place = found["M"] * (columns * 8) + found["K"]
    assert exists.all() and sorted(place.reshape(-1)) == list(range(rows * columns * 32))
    base = place[:, :1, :1] + np.arange(wide)[None, :, None] * vector
    assert (place[:, :, :vector] == base + np.arange(vector)).all()
    first = np.gcd(place.shape[2] // vector, together)
    for r in range(first):
        assert (place[:, :, r * vector] == base[:, :, 0] + r * wide * vector).all()


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(-1, 400), min_size=1, max_size=16), st.sampled_from([1, 2, 4, 8, 16]), st.integers(0, 99))
def test_bank_conflicts_count_rows(addresses: list[int], width: int, seed: int) -> None:
    lanes = np.random.default_rng(seed).permutation(len(addresses)).tolist()
    phases = [lanes[::2], lanes[1::2]]
    expected = []
    for phase in phases:
        rows: dict[int, set[int]] = {}
        for lane in phase:
            for byte in range(addresses[lane], addresses[lane] + width) if addresses[lane] >= 0 else ():
                rows.setdefault(byte // 4 % 32, set()).add(byte // 128)
        expected.append(max(map(len, rows.values()), default=0))
    assert bank_conflicts(addresses, width, 32, phases) == expected


def test_lds_errors() -> None:
    lds = LdsLayout.get([4, 8], context=CONTEXT)
    for call, message in (
        (lambda: lds.offset([1]), "has 2 dims"),
        (lambda: lds.offset([4, 0]), "outside the buffer"),
        (lambda: LdsLayout.get([4, 8], chunk=4, phases=4, context=CONTEXT), "multiple of chunk"),
        (lambda: LdsLayout.get([0], context=CONTEXT), "must be positive"),
        (lambda: bank_conflicts([0], 0, 32, [[0]]), "must be positive"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
