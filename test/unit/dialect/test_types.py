"""Python classes of types and constraints: construction, properties, errors, text."""

import pytest
from mlir import ir
from wave_mlir.dialect import (
    AssumeConstraintAttr,
    DeviceConstraintAttr,
    Expr,
    GridConstraintAttr,
    HardwareConstraintAttr,
    Layout,
    MappingAttr,
    MemoryType,
    ReorderingConstraintAttr,
    TileType,
    TilingConstraintAttr,
    WaveConstraintAttr,
    WorkgroupConstraintAttr,
)


@pytest.fixture(autouse=True)
def context():
    with ir.Context() as ctx, ir.Location.unknown():
        yield ctx


def test_tile():
    f16 = ir.F16Type.get()
    tile = TileType.get(["M", "K"], f16)
    assert (tile.dims, tile.element_type, tile.layout, tile.known) == (["M", "K"], f16, None, True)
    assert str(tile) == "!wave.tile<[M, K], f16>"
    assert tile == ir.Type.parse("!wave.tile<[M, K], f16>")
    assert isinstance(ir.Type.parse("!wave.tile<[], i32>"), TileType)
    assert tile.with_element_type(ir.F32Type.get()) == TileType.get(["M", "K"], ir.F32Type.get())


def test_tile_of_unknown_shape():
    tile = TileType.get(None, ir.F16Type.get())
    assert (tile.dims, tile.known, str(tile)) == (None, False, "!wave.tile<*, f16>")


def test_tile_with_layout():
    layout = ir.Attribute.parse("#wave.layout<[M = 4], reg = [4 : M * 1]>")
    tile = TileType.get(["M"], ir.F32Type.get(), layout)
    assert isinstance(tile.layout, Layout)
    assert tile.layout == layout
    assert tile.with_layout(None).layout is None
    assert tile.with_layout(None).with_layout(layout) == tile


@pytest.mark.parametrize(
    ("dims", "element", "message"),
    [(["M", "M"], "f16", "dims of a tile are distinct"), (["M"], "si8", "signless integer, index or a float")],
)
def test_tile_errors(dims, element, message):
    with pytest.raises(ir.MLIRError, match=message):
        TileType.get(dims, ir.Type.parse(element))


def test_layout_of_another_tile():
    layout = ir.Attribute.parse("#wave.layout<[N = 4], reg = [4 : N * 1]>")
    with pytest.raises(ir.MLIRError, match=r"dims \[N\] for a tile with dims \[M\]"):
        TileType.get(["M"], ir.F32Type.get(), layout)


def test_dim_that_is_no_symbol():
    with pytest.raises(ValueError, match="no symbol"):
        TileType.get(["wg.w"], ir.F16Type.get())


def test_memory():
    memory = MemoryType.get(["M", Expr.symbol("K") // 32, 4], ir.F32Type.get(), "shared")
    assert str(memory) == "!wave.memory<[M, K floordiv 32, 4], f32, shared>"
    assert memory.space == "shared"
    assert memory.strides is None
    assert [e.constant_value for e in memory.shape] == [None, None, 4]
    assert [e.eval({"K": 64}) for e in memory.element_strides if e is not None] == [8, 4, 1]


def test_strided_memory():
    memory = MemoryType.get(["M", "N"], ir.F32Type.get(), "global", strides=[None, 1])
    assert str(memory) == "!wave.memory<[M, N], f32, global, strides = [?, 1]>"
    assert memory.strides == [None, Expr.constant(1)]
    assert memory.element_strides == [None, Expr.constant(1)]


def test_memory_errors():
    with pytest.raises(ir.MLIRError, match="'lds' is no address space"):
        MemoryType.get(["M"], ir.F16Type.get(), "lds")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ir.MLIRError, match="2 strides, not 1"):
        MemoryType.get(["M", "N"], ir.F16Type.get(), "global", strides=[1])
    with pytest.raises(ValueError, match="in the expression 'M \\+'"):
        MemoryType.get(["M +"], ir.F16Type.get(), "global")
    with pytest.raises(TypeError, match="sequence of expressions"):
        MemoryType.get("MN", ir.F16Type.get(), "global")


def test_workgroup():
    a = WorkgroupConstraintAttr.get("M", "BLOCK_M", "y", fn="wg.y * 2", iters=7, secondary=True)
    assert (a.dim, str(a.tile), a.axis, str(a.fn), a.secondary) == ("M", "BLOCK_M", 1, "wg.y * 2", True)
    assert a.iters == Expr.constant(7)
    plain = WorkgroupConstraintAttr.get("M", 64, 3)
    assert (plain.fn, plain.iters, plain.secondary) == (None, None, False)
    assert str(plain) == "#wave.workgroup<M, 64, 3>"
    with pytest.raises(ir.MLIRError, match="positive, not 0"):
        WorkgroupConstraintAttr.get("M", 0, "x")
    with pytest.raises(ValueError, match="not 'w'"):
        WorkgroupConstraintAttr.get("M", 1, "w")  # pyright: ignore[reportArgumentType]


def test_tiling_and_wave():
    tiling = TilingConstraintAttr.get("K", 32, iters="T", start=2)
    assert (tiling.dim, tiling.tile, str(tiling.iters), tiling.start) == (
        "K",
        Expr.constant(32),
        "T",
        Expr.constant(2),
    )
    assert TilingConstraintAttr.get("K").tile is None
    wave = WaveConstraintAttr.get("M", "BLOCK_M floordiv 2")
    assert (wave.dim, str(wave.tile), wave.axis) == ("M", "BLOCK_M floordiv 2", None)
    assert WaveConstraintAttr.get("M", 8, "z").axis == 2


def test_hardware():
    a = HardwareConstraintAttr.get(
        64,
        mma="f32_16x16x16_f16",
        vector_shapes={"M": 16, "B": 0},
        waves_per_block=[2, 2, 1],
        max_bits_per_load=64,
        service_waves=1,
    )
    assert (a.threads_per_wave, a.mma, a.waves_per_block) == (64, "f32_16x16x16_f16", [2, 2, 1])
    assert a.vector_shapes == {"B": Expr.constant(0), "M": Expr.constant(16)}
    assert (a.max_bits_per_load, a.service_waves) == (64, 1)
    assert ir.Attribute.parse(str(a)) == a
    plain = HardwareConstraintAttr.get(32)
    assert (plain.mma, plain.vector_shapes, plain.waves_per_block, plain.max_bits_per_load) == (None, {}, [], 128)
    with pytest.raises(ir.MLIRError, match="power of two, not 48"):
        HardwareConstraintAttr.get(48)


def test_other_constraints():
    assert ReorderingConstraintAttr.get("wg.x + 1", "x").axis == 0
    assert [e.constant_value for e in GridConstraintAttr.get([304, 1, 1]).sizes] == [304, 1, 1]
    device = DeviceConstraintAttr.get("M", "M floordiv 2", 0)
    assert (device.dim, str(device.tile), device.device_dim) == ("M", "M floordiv 2", 0)
    assert str(AssumeConstraintAttr.get("K mod 64 eq 0").predicate) == "K mod 64 eq 0"
    with pytest.raises(ir.MLIRError, match="an assumption is a predicate"):
        AssumeConstraintAttr.get("K + 1")


def test_mapping():
    a = MappingAttr.get({"T": "i", "N": "j"}, ["d0", "j"], [{"T": "i"}])
    assert str(a) == "#wave.mapping<[T = i, N = j] -> [d0, j], dynamic = [[T = i]]>"
    assert a.iterators == {"T": "i", "N": "j"}
    assert [str(e) for e in a.memory] == ["d0", "j"]
    assert a.dynamic == [{"T": Expr.symbol("i")}]
    with pytest.raises(ir.MLIRError, match="iterator i is in the mapping twice"):
        MappingAttr.get({"T": "i", "N": "i"}, ["i"])
