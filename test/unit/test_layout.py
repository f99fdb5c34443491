"""The algebra of layouts against brute force over their text."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from layout_brute_force import SOURCES, Plain, evaluate, plains, read
from mlir import ir
from wave_mlir.dialect import Layout, coordinates, owners

CONTEXT = ir.Context()
FEW = settings(max_examples=25, deadline=None)


def layout_of(plain: Plain) -> Layout:
    d = plain.digits
    return Layout.get(
        plain.extents, reg=d["reg"], lane=d["lane"], wave_x=d["wave.x"], wave_y=d["wave.y"], wave_z=d["wave.z"],
        clip=plain.clip, context=CONTEXT,
    )  # fmt: skip


def expr(text: str) -> ir.Attribute:
    return ir.Attribute.parse(f"#wave.expr<{text}>", CONTEXT)


def by_element(places: dict) -> dict:
    out = defaultdict(list)
    for place, at in places.items():
        if at is not None:
            out[at].append(place)
    return dict(out)


def same_elements(a: Plain, b: Plain, rename: dict[str, str] | None = None) -> bool:
    """Equal places, over a common number of lanes and waves."""
    sizes = {s: int(np.lcm(a.size(s), b.size(s))) for s in SOURCES if s != "reg"}
    return a.size("reg") == b.size("reg") and a.places(sizes) == b.places(sizes)


@FEW
@given(plains())
def test_text_and_class_agree(plain: Plain) -> None:
    layout = layout_of(plain)
    assert ir.Attribute.parse(str(layout), CONTEXT) == layout
    assert isinstance(ir.Attribute.parse(str(layout), CONTEXT), Layout)
    assert layout.extents == plain.extents and layout.dims == list(plain.extents)
    assert layout.clip == plain.clip
    assert {s: layout.digits.get(s, []) for s in SOURCES} == plain.digits
    assert layout.registers == plain.size("reg")


@FEW
@given(plains())
def test_table_and_owners(plain: Plain) -> None:
    layout = layout_of(plain)
    table = layout.table()
    where, exists = coordinates(layout)
    places = plain.places()
    assert table.size == len(places)
    shape = tuple(plain.extents.values())
    for place, at in places.items():
        assert exists[place] == (at is not None)
        if at is not None:
            assert table[place] == np.ravel_multi_index(at, shape)
            assert tuple(where[d][place] for d in layout.dims) == at
    held = by_element(places)
    assert len(held) == np.prod(shape)  # every element has an owner
    for at, found in list(held.items())[:5]:
        assert owners(layout, dict(zip(layout.dims, at, strict=True))) == sorted(found)


@FEW
@given(plains(), st.booleans())
def test_expressions(plain: Plain, with_sizes: bool) -> None:
    layout = layout_of(plain)
    sizes = {s: plain.size(s) for s in SOURCES if s != "reg"} if with_sizes else None
    coord = {d: layout.coord_expr(d, sizes=sizes) for d in layout.dims}
    exists, owner = layout.exists_expr(sizes=sizes), layout.owner_expr(sizes=sizes)
    n = {s: plain.size(s) for s in SOURCES}
    beyond = {} if with_sizes else {"lane": n["lane"] * 2}
    seen: dict = defaultdict(int)
    for (wave, lane, reg), at in plain.places(beyond).items():
        x, rest = wave % n["wave.x"], wave // n["wave.x"]
        y, z = rest % n["wave.y"], rest // n["wave.y"]
        symbols = {"reg": reg, "lane": lane, "wave_x": x, "wave_y": y, "wave_z": z}
        assert evaluate(exists, **symbols) == (at is not None)
        if at is not None:
            assert tuple(evaluate(coord[d], **symbols) for d in layout.dims) == at
            seen[at] += evaluate(owner, **symbols)
        if lane == reg % n["lane"]:  # a register number instead of the symbol
            del symbols["reg"]
            assert evaluate(layout.exists_expr(reg, sizes), **symbols) == (at is not None)
            if at is not None:
                assert evaluate(layout.coord_expr(layout.dims[0], reg, sizes), **symbols) == at[0]
    assert set(seen.values()) == {1}  # exactly one owner each


@FEW
@given(plains())
def test_inverse(plain: Plain) -> None:
    layout = layout_of(plain)
    symbols = {d: expr(f"at.{d}") for d in layout.dims}
    inverse = {s: e for s in SOURCES if (e := layout.inverse_expr(s, symbols)) is not None}
    assert list(inverse) == list(SOURCES)
    for at in np.ndindex(*plain.extents.values()):
        values = {f"at_{d}": int(v) for d, v in zip(layout.dims, at, strict=True)}
        reg, lane, x, y, z = (evaluate(inverse[s], **values) for s in SOURCES)
        assert plain.at(reg, lane, x, y, z) == at


@FEW
@given(plains())
def test_canonical_form(plain: Plain) -> None:
    layout = layout_of(plain)
    canonical = layout.canonical()
    assert canonical.canonical() == canonical
    assert same_elements(plain, read(canonical))
    assert layout.same_map(canonical) and canonical.same_map(layout)
    # taking digits apart and adding digits of extent 1 does not change it
    apart = {s: [] for s in SOURCES}
    for source, digits in plain.digits.items():
        for extent, dim, stride in digits:
            cut = 2 if extent % 2 == 0 else extent
            apart[source] += [(cut, dim, stride), (1, dim, max(1, stride) if dim else 0)]
            apart[source] += [(extent // cut, dim, stride * cut)]
    assert layout_of(Plain(plain.extents, apart, plain.clip)).canonical() == canonical


@FEW
@given(plains(), st.data())
def test_same_map(plain: Plain, data: st.DataObject) -> None:
    other = Plain(plain.extents, data.draw(st.just(plain.digits)), dict(plain.clip))
    source = data.draw(st.sampled_from(["reg", "lane"]))
    other.digits = {**plain.digits, source: data.draw(st.permutations(plain.digits[source]))}
    assert layout_of(plain).same_map(layout_of(other)) == same_elements(plain, other)


@FEW
@given(plains(), st.data())
def test_rename_permute_insert(plain: Plain, data: st.DataObject) -> None:
    layout = layout_of(plain)
    order = data.draw(st.permutations(list(plain.extents)))
    result = read(layout.permute(order))
    assert list(result.extents) == order
    sizes = {s: plain.size(s) for s in SOURCES}
    index = [list(plain.extents).index(d) for d in order]
    expected = {p: at and tuple(at[i] for i in index) for p, at in plain.places(sizes).items()}
    assert result.places(sizes) == expected
    assert list(read(layout.rename({"M": "X", "N": "M"})).extents) == ["X", "M", "K"]
    inserted = read(layout.insert("B", 1))
    assert inserted.places(sizes) == {p: at and (at[0], 0, *at[1:]) for p, at in plain.places(sizes).items()}


@FEW
@given(plains(), st.sampled_from(["M", "N", "K"]))
def test_drop(plain: Plain, dim: str) -> None:
    result = read(layout_of(plain).drop(dim))
    index = list(plain.extents).index(dim)
    assert list(result.extents) == [d for d in plain.extents if d != dim]
    kept = int(np.prod([e for e, d, _ in plain.digits["reg"] if d != dim], dtype=int))
    assert result.size("reg") == kept
    # a place that held an element of the source holds its row's result
    registers = [r for r in range(plain.size("reg")) if plain.part("reg", r, dim) == 0]
    sizes = {s: plain.size(s) for s in SOURCES if s != "reg"}
    places, source = result.places(sizes), plain.places(sizes)
    for wave, lane, reg in places:
        at = source[wave, lane, registers[reg]]
        if at is not None:
            assert places[wave, lane, reg] == tuple(c for i, c in enumerate(at) if i != index)


@FEW
@given(plains(), st.sampled_from(["M", "N", "K"]), st.integers(1, 3), st.sampled_from(["reg", "wave.y"]))
def test_expand(plain: Plain, dim: str, count: int, source: str) -> None:
    layout = layout_of(plain)
    try:
        result = read(layout.expand(dim, count, source))
    except ValueError as e:
        assert layout.overshoots(dim) and "can repeat it" in str(e)
        return
    n = plain.extents[dim]
    assert result.extents == {**plain.extents, dim: n * count}
    lanes = {s: plain.size(s) for s in SOURCES if s not in ("reg", source)}
    held, before = by_element(result.places(lanes)), by_element(plain.places())
    assert len(held) == len(before) * count
    for at, found in held.items():
        first = tuple(c % n if d == dim else c for d, c in zip(plain.extents, at, strict=True))
        if source == "reg":
            regs = plain.size("reg") * (at[list(plain.extents).index(dim)] // n)
            assert {(w, lane, r - regs) for w, lane, r in found} == set(before[first])
        else:
            assert {(lane, r) for _, lane, r in found} == {(lane, r) for _, lane, r in before[first]}


@FEW
@given(plains(), st.sampled_from([1, 2, 3, 4, 6]))
def test_split_and_merge(plain: Plain, inner: int) -> None:
    layout = layout_of(plain)
    try:
        split = layout.split("M", "A", "B", inner)
    except ValueError:
        return
    sizes = {s: plain.size(s) for s in SOURCES}
    expected = {p: at and (at[0] // inner, at[0] % inner, *at[1:]) for p, at in plain.places(sizes).items()}
    assert read(split).places(sizes) == expected
    assert split.merge("A", "B", "M") == layout.canonical()


def test_split_cases() -> None:
    layout = Layout.get({"M": 64}, lane=[(16, "M", 1)], reg=[(4, "M", 16)], context=CONTEXT)
    assert str(layout.split("M", "A", "B", 8)) == (
        "#wave.layout<[A = 8, B = 8], reg = [4 : A * 2], lane = [8 : B * 1, 2 : A * 1]>"
    )
    with pytest.raises(ValueError, match="does not divide 64"):
        layout.split("M", "A", "B", 7)
    odd = Layout.get({"M": 12}, lane=[(3, "M", 1)], reg=[(4, "M", 3)], context=CONTEXT)
    with pytest.raises(ValueError, match="does not split at 4"):
        odd.split("M", "A", "B", 4)


@FEW
@given(plains(), st.sampled_from(["M", "N", "K"]), st.data())
def test_slice(plain: Plain, dim: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, plain.extents[dim] - 1))
    extent = data.draw(st.integers(1, plain.extents[dim] - start))
    layout = layout_of(plain)
    try:
        result, registers = layout.slice(dim, start, extent)
    except ValueError as e:
        assert start > 0, e
        return
    sliced = read(result)
    assert sliced.extents == {**plain.extents, dim: extent}
    assert sliced.size("reg") == len(registers)
    sizes = {s: plain.size(s) for s in SOURCES if s != "reg"}
    source = plain.places(sizes)
    index = list(plain.extents).index(dim)
    for (wave, lane, reg), at in sliced.places(sizes).items():
        if at is not None:
            moved = tuple(c + start * (i == index) for i, c in enumerate(at))
            assert source[wave, lane, registers[reg]] == moved


@FEW
@given(plains(), st.data())
def test_runs_and_widest_access(plain: Plain, data: st.DataObject) -> None:
    layout = layout_of(plain)
    order = data.draw(st.permutations(list(plain.extents)))
    strides, stride = {}, 1
    for d in reversed(order):
        strides[d] = stride
        stride *= 1000
    runs = layout.register_runs(strides)
    offset = [sum(plain.part("reg", r, d) * k for d, k in strides.items()) for r in range(plain.size("reg"))]
    assert sum(length for _, length in runs) == len(offset) and runs[0][0] == 0
    for first, length in runs:
        assert offset[first : first + length] == list(range(offset[first], offset[first] + length))
        if first:
            assert offset[first] != offset[first - 1] + 1
    dim = data.draw(st.sampled_from(list(plain.extents)))
    width = layout.widest_access(dim)
    index = list(plain.extents).index(dim)
    places = plain.places()
    assert plain.size("reg") % width == 0
    for (wave, lane, reg), at in places.items():
        group = [places[wave, lane, reg - reg % width + i] for i in range(width)]
        assert all(g is None for g in group) or all(g is not None for g in group)
        if at is not None and reg % width == 0:
            assert at[index] % width == 0
            steps = [tuple(i * (d == dim) for d in plain.extents) for i in range(width)]
            assert group == [tuple(c + k for c, k in zip(at, step, strict=True)) for step in steps]


def test_errors() -> None:
    layout = Layout.get({"M": 16}, lane=[(16, "M", 1)], context=CONTEXT)
    for call, message in [
        (lambda: layout.coord_expr("N"), "no dim N"),
        (lambda: layout.coord_expr("M", sizes={"warp": 2}), "unknown source warp"),
        (lambda: layout.table({"lane": 0}), "must be positive"),
        (lambda: layout.rename({"M": "M", "N": "X"}), "the layout has no dim N"),
        (lambda: layout.permute(["N"]), "the layout has no dim N"),
        (lambda: layout.permute(["M", "M"]), "names each dim once"),
        (lambda: layout.insert("M", 0), "has a dim M already"),
        (lambda: layout.insert("N", 2), "no position 2"),
        (lambda: layout.expand("M", 0), "must be positive"),
        (lambda: layout.expand("M", 2, stride=8), "cannot lie 8 apart"),
        (lambda: layout.merge("M", "M", "N"), "two dims"),
        (lambda: layout.slice("M", 8, 8), "not the first of a register"),
        (lambda: layout.slice("M", 8, 9), "leaves the tile of 16"),
        (lambda: layout.inverse_expr("lane", {}), "no coordinate is given for M"),
        (lambda: owners(layout, {"M": 16}), "outside the tile of 16"),
        (lambda: Layout.get({"M": 4}, lane=[(4, "N", 1)], context=CONTEXT), "unknown dim N"),
        (lambda: Layout.get({"M": 4}, lane=[(2, "M", 1)], context=CONTEXT), "no place holds the element at M = 2"),
    ]:
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(TypeError, match="expected an expression"):
        layout.inverse_expr("lane", {"M": ir.Attribute.parse("1 : i32", CONTEXT)})
