"""Relayouts executed: by renaming registers, through LDS, and of nothing; a tile is the same whatever lays it out."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from mlir import ir
from wave_mlir import sim
from wave_mlir.compiler import driver, exchanges, gpu_lanes
from wave_mlir.compiler.exchange_graph import Graph
from wave_mlir.compiler.pass_registry import run_passes

TILE = "[M = 64, K = 16]"
LANES = "lane = [64 : M * 1]"
DIGITS = ("4 : K * 1", "2 : K * 4", "2 : K * 8")
REGISTERS = [f"reg = [{', '.join(order)}], {LANES}" for order in itertools.permutations(DIGITS)]
"""Layouts that differ in the order of a lane's registers only."""
OTHER_LANES = [
    "reg = [4 : K * 1, 4 : M * 16], lane = [16 : M * 1, 4 : K * 4]",
    "reg = [16 : M * 1], lane = [16 : K * 1, 4 : M * 16]",
    "reg = [2 : M * 32, 8 : K * 2], lane = [2 : K * 1, 32 : M * 1]",
]


def _text(before: str, after: str, dtype: str, target: str = "gfx942") -> str:
    """a is read in one layout, moved to the other, used in a sum with itself as read there, and written to c."""
    tiles = [f"!wave.tile<[M, K], {dtype}, #wave.layout<{TILE}, {layout}>>" for layout in (before, after)]
    memory = f"!wave.memory<[M, K], {dtype}, global>"
    return f"""
module attributes {{wave.form = "staged", wave.target = "{target}"}} {{
  wave.kernel @k(%a: {memory}, %c: {memory}, %d: {memory}) symbols {{M = 64, K = 16}}
      constraints [#wave.workgroup<M, 64, x>, #wave.workgroup<K, 16, y>, #wave.hardware<threads_per_wave = 64>] {{
    %x = wave.read %a index [at.M, at.K] : {memory} -> {tiles[0]}
    %y = wave.relayout %x : {tiles[0]} -> {tiles[1]}
    %z = wave.read %a index [at.M, at.K] : {memory} -> {tiles[1]}
    %s = wave.add %y, %z : {tiles[1]}
    wave.write %y, %c index [at.M, at.K] : {tiles[1]}, {memory}
    wave.write %s, %d index [at.M, at.K] : {tiles[1]}, {memory}
    wave.return
  }}
}}
"""


def _lowered(text: str, way: str = "lds") -> str:
    """After the pass that chooses how the elements of relayouts move."""
    with ir.Context():
        module = ir.Module.parse(text)
        run_passes(module, f"wave-lower-relayouts{{way={way}}}")
        return str(module)


NUMPY = {"f32": np.float32, "f16": np.float16, "i8": np.int8}


def _run(text: str, dtype: str, isa: bool = False) -> None:
    a = np.random.default_rng(0).permutation(64 * 16).reshape(64, 16) % 61 - 30
    a = a.astype(NUMPY[dtype])
    made = driver.compile_module(text)
    for run in (lambda *args: sim.run(made.module, list(args)), *([made.run_isa] if isa else [])):
        c, d = np.full_like(a, 99), np.full_like(a, 99)
        run(a, c, d)
        np.testing.assert_array_equal(c, a)
        np.testing.assert_array_equal(d, a + a)


@pytest.mark.thin(4)
@pytest.mark.parametrize("dtype", NUMPY)
@pytest.mark.parametrize("after", REGISTERS[1:])
def test_registers_are_renamed(after: str, dtype: str) -> None:
    text = _lowered(_text(REGISTERS[0], after, dtype))
    assert "wave.relayout" in text and "wave.allocate" not in text
    _run(text, dtype)
    back = _lowered(_text(after, REGISTERS[0], dtype))
    assert "wave.allocate" not in back
    _run(back, dtype)


@pytest.mark.thin(4)
@pytest.mark.parametrize("dtype", NUMPY)
@pytest.mark.parametrize("after", OTHER_LANES)
def test_lanes_exchange_through_lds(after: str, dtype: str) -> None:
    text = _lowered(_text(REGISTERS[0], after, dtype))
    assert "wave.relayout" not in text and "wave.allocate" in text
    _run(text, dtype)
    _run(_lowered(_text(after, REGISTERS[1], dtype)), dtype)


EXCHANGES = itertools.product(range(3), [("f32", "gfx942"), ("f16", "gfx950"), ("i8", "gfx942")])


@pytest.mark.parametrize(
    ("after", "dtype", "target"),
    [
        pytest.param(OTHER_LANES[n], *kind, id=f"{n}-{kind[0]}", marks=[pytest.mark.slow] if (n + m) % 3 else [])
        for (n, kind), m in zip(EXCHANGES, itertools.cycle((0, 2, 1)), strict=False)
    ],
)
def test_lanes_exchange_without_lds(after: str, dtype: str, target: str) -> None:
    text = _lowered(_text(REGISTERS[0], after, dtype, target), "lanes")
    assert 'wave.way = "lanes"' in text and "wave.allocate" not in text
    _run(text, dtype, isa=True)
    _run(_lowered(_text(after, REGISTERS[1], dtype, target), "lanes"), dtype)


NARROW = "lane = [16 : M * 1, 4 : _]"
ODD = [
    (f"reg = [3 : K * 1, 4 : M * 16], {NARROW}", "reg = [4 : M * 1, 3 : K * 1], lane = [16 : M * 4]"),
    ("reg = [4 : M * 1], lane = [16 : M * 4, 3 : K * 1]", "reg = [2 : M * 1, 3 : K * 1], lane = [32 : M * 2]"),
]
"""Layouts of 64 x 3 that are no permutations of bits, with lanes that hold the same or nothing."""


@pytest.mark.parametrize("dtype", ["f16", "f64", "i1"])
@pytest.mark.parametrize(("before", "after"), ODD, ids=["replicas", "idle"])
def test_any_layouts_of_a_wave(before: str, after: str, dtype: str) -> None:
    tiles = [f"!wave.tile<[M, K], {dtype}, #wave.layout<[M = 64, K = 3], {layout}>>" for layout in (before, after)]
    memory = f"!wave.memory<[M, K], {dtype}, global>"
    text = f"""
module attributes {{wave.form = "staged", wave.target = "gfx950"}} {{
  wave.kernel @k(%a: {memory}, %c: {memory}) symbols {{M = 64, K = 3}}
      constraints [#wave.workgroup<M, 64, x>, #wave.workgroup<K, 3, y>, #wave.hardware<threads_per_wave = 64>] {{
    %x = wave.read %a index [at.M, at.K] : {memory} -> {tiles[0]}
    %y = wave.relayout %x : {tiles[0]} -> {tiles[1]}
    wave.write %y, %c index [at.M, at.K] : {tiles[1]}, {memory}
    wave.return
  }}
}}
"""
    lowered = _lowered(text, "lanes")
    assert 'wave.way = "lanes"' in lowered
    made = driver.compile_module(lowered)
    bits = np.random.default_rng(1).integers(0, 1 << 16, (64, 3))
    a = {"f16": bits.astype(np.uint16).view(np.float16), "f64": bits.astype(np.float64), "i1": bits % 2 == 1}[dtype]
    for run in (lambda *args: sim.run(made.module, list(args)), made.run_isa):
        c = np.zeros_like(a)
        run(a, c)
        assert c.tobytes() == a.tobytes()  # every bit is kept, those of NaNs too


RESHAPED = {
    "registers": "reg = [16 : P * 1], lane = [64 : P * 16]",
    "lanes": "reg = [4 : P * 1, 4 : P * 256], lane = [64 : P * 4]",
}
"""Layouts of the 64 x 16 elements as one dim, which a lane of `LANES` has already, or gets from others."""


@pytest.mark.parametrize("dtype", ["f32", "i8"])
@pytest.mark.parametrize("way", RESHAPED)
def test_reshapes_keep_the_order_of_elements(way: str, dtype: str) -> None:
    tiles = [f"!wave.tile<[M, K], {dtype}, #wave.layout<{TILE}, {REGISTERS[0]}>>",
             f"!wave.tile<[P], {dtype}, #wave.layout<[P = 1024], {RESHAPED[way]}>>"]  # fmt: skip
    memories = [f"!wave.memory<[{dims}], {dtype}, global>" for dims in ("M, K", "P")]
    text = f"""
module attributes {{wave.form = "staged", wave.target = "gfx942"}} {{
  wave.kernel @k(%a: {memories[0]}, %c: {memories[1]}) symbols {{M = 64, K = 16, P = 1024}}
      constraints [#wave.workgroup<M, 64, x>, #wave.workgroup<K, 16, y>, #wave.hardware<threads_per_wave = 64>] {{
    %x = wave.read %a index [at.M, at.K] : {memories[0]} -> {tiles[0]}
    %y = wave.reshape %x : {tiles[0]} -> {tiles[1]}
    wave.write %y, %c index [at.P] : {tiles[1]}, {memories[1]}
    wave.return
  }}
}}
"""
    a = (np.arange(1024) % 101).astype(NUMPY[dtype]).reshape(64, 16)
    for wanted in ("lanes", "lds"):
        lowered = _lowered(text, wanted)
        assert ("wave.allocate" in lowered) == (way == "lanes" and wanted == "lds")
        made = driver.compile_module(lowered)
        for run in (lambda *args, made=made: sim.run(made.module, list(args)), made.run_isa):
            c = np.zeros(1024, a.dtype)
            run(a, c)
            np.testing.assert_array_equal(c, a.reshape(-1))


def test_a_relayout_to_the_same_layout_is_nothing() -> None:
    text = _lowered(_text(REGISTERS[0], REGISTERS[0], "f32"))
    assert "wave.relayout" not in text and "wave.allocate" not in text
    _run(text, "f32")


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_two_spellings_of_one_layout(order: tuple[int, int]) -> None:
    spellings = (REGISTERS[0], f"reg = [16 : K * 1], {LANES}")
    text = _lowered(_text(*(spellings[i] for i in order), "f32"))
    assert "wave.allocate" not in text
    _run(text, "f32")


def test_waves_of_32_lanes() -> None:
    """gfx1201 exchanges with any partner of 16 lanes by one move."""
    tile, memory = "!wave.tile<[M, K], f16, #wave.layout<[M = 32, K = 16], {}>>", "!wave.memory<[M, K], f16, global>"
    before = tile.format("reg = [16 : K * 1], lane = [32 : M * 1]")
    after = tile.format("reg = [16 : M * 1], lane = [16 : K * 1, 2 : M * 16]")
    text = f"""
module attributes {{wave.form = "staged", wave.target = "gfx1201"}} {{
  wave.kernel @k(%a: {memory}, %c: {memory}) symbols {{M = 32, K = 16}}
      constraints [#wave.workgroup<M, 32, x>, #wave.workgroup<K, 16, y>, #wave.hardware<threads_per_wave = 32>] {{
    %x = wave.read %a index [at.M, at.K] : {memory} -> {before}
    %y = wave.relayout %x : {before} -> {after}
    wave.write %y, %c index [at.M, at.K] : {after}, {memory}
    wave.return
  }}
}}
"""
    made = driver.compile_module(_lowered(text, "lanes"))
    a = np.arange(512, dtype=np.float16).reshape(32, 16)
    c = np.zeros_like(a)
    sim.run(made.module, [a, c])
    np.testing.assert_array_equal(c, a)
    assert "row_xmask" in made.isa and "ds_" not in made.isa


def _wrong_side(graph: Graph, number: int) -> list[bool]:
    return [not lane >> number & 1 for lane in range(graph.lanes)]


@pytest.mark.parametrize(
    ("owner", "name", "wrong"),
    [
        (Graph, "bit", _wrong_side),
        (exchanges, "_moved", lambda number, places: number),
        (gpu_lanes, "_by_dpp", lambda value, *_: value),
    ],
    ids=["wrong lanes select", "lanes not permuted", "nothing moved"],
)
def test_wrong_exchanges_are_found(monkeypatch: pytest.MonkeyPatch, owner: object, name: str, wrong: object) -> None:
    """Whatever step is wrong, elements are in wrong places."""
    text = _text("reg = [4 : M * 1, 4 : M * 16], lane = [16 : K * 1, 4 : M * 4]", OTHER_LANES[0], "f16")
    monkeypatch.setattr(owner, name, wrong)
    made = driver.compile_module(_lowered(text, "lanes"))
    a = np.arange(1024, dtype=np.float16).reshape(64, 16) % 61
    c, d = np.zeros_like(a), np.zeros_like(a)
    sim.run(made.module, [a, c, d])
    assert (c != a).any()
