"""Kernel ABI: read from gpu form, bound to arrays, written as JSON and read back."""

import json
from pathlib import Path

import numpy as np
import pytest
from mlir import ir
from wave_mlir.compiler import abi

GEMM = (Path(__file__).parent / "kernels" / "gemm_f16.mlir").read_text()


@pytest.fixture
def context():
    with ir.Context() as ctx, ir.Location.unknown():
        ctx.allow_unregistered_dialects = True
        yield ctx


def read(text):
    return abi.kernels(ir.Module.parse(text))


@pytest.fixture
def gemm(context):
    (kernel,) = read(GEMM)
    return kernel


def test_reads_everything(gemm):
    assert gemm.name == "gemm" and gemm.target == "gfx942"
    assert gemm.block == (128, 2, 1) and gemm.threads == 256
    assert gemm.lds_bytes == 8192
    assert gemm.symbols == {"N": 100, "K": 72} and gemm.dynamic_symbols == ("M",)
    assert [(a.kind, a.name, a.dtype, a.shape, a.access) for a in gemm.args] == [
        ("memory", "a", "f16", ("M", "72"), "read"),
        ("memory", "b", "f16", ("100", "72"), "read"),
        ("memory", "c", "f32", ("M", "100"), "write"),
        ("symbol", "M", "i32", (), ""),
    ]
    assert gemm.offsets() == (0, 8, 16, 24)


def test_grid(gemm):
    assert gemm.grid_for({"M": 64}) == (1, 2, 1)
    assert gemm.grid_for({"M": 65}) == (2, 2, 1)
    assert gemm.grid_for({"M": 0}) == (0, 2, 1)
    with pytest.raises(abi.AbiError, match="dynamic symbol 'M' has no value"):
        gemm.grid_for({})
    with pytest.raises(abi.AbiError, match="'N' is 100 at compile time; 4 was given"):
        gemm.grid_for({"M": 1, "N": 4})
    with pytest.raises(abi.AbiError, match="unknown symbol 'Q'; it has: K, N, M"):
        gemm.grid_for({"M": 1, "Q": 4})
    with pytest.raises(abi.AbiError, match="'M' = -1 is not within"):
        gemm.grid_for({"M": -1})


def test_bind_infers_and_checks(gemm):
    a, b, c = np.zeros((17, 72), np.float16), np.zeros((100, 72), np.float16), np.zeros((17, 100), np.float32)
    assert gemm.bind([a, b, c]) == {"N": 100, "K": 72, "M": 17}
    assert gemm.bind({"c": c, "a": a, "b": b}, symbols={"M": 17})["M"] == 17
    assert gemm.bind([(5, 72), (100, 72), (5, 100)])["M"] == 5
    with pytest.raises(abi.AbiError, match=r"'c' has extent 16 in dim 0, but M is 17"):
        gemm.bind([a, b, c[:16]])
    with pytest.raises(abi.AbiError, match="'b' has extent 99 in dim 0, but the kernel is compiled for 100"):
        gemm.bind([a, b[:99], c])
    with pytest.raises(abi.AbiError, match="'a' holds f16; an array of float32"):
        gemm.bind([a.astype(np.float32), b, c])
    with pytest.raises(abi.AbiError, match=r"takes 3 arrays \(a, b, c\); 2 were given"):
        gemm.bind([a, b])
    with pytest.raises(abi.AbiError, match="has no array 'd'"):
        gemm.bind({"a": a, "b": b, "d": c})
    with pytest.raises(abi.AbiError, match=r"'a' has 2 dims \[M, 72\]; an array of 1 dims"):
        gemm.bind([a[0], b, c])
    with pytest.raises(abi.AbiError, match="takes 0 scalars"):
        gemm.bind([a, b, c], scalars=[1])


def test_json_round_trip(gemm):
    data = json.loads(json.dumps(gemm.to_json()))
    assert abi.KernelABI.from_json(data) == gemm
    assert data["grid"] == {"expressions": ["M ceildiv 64", "2", "1"], "values": None}
    assert [a["offset"] for a in data["args"]] == [0, 8, 16, 24]
    with pytest.raises(abi.AbiError, match="lacks 'block'"):
        abi.KernelABI.from_json({k: v for k, v in data.items() if k != "block"})


def test_static_grid_has_values(context):
    (kernel,) = read(GEMM.replace("M ceildiv 64", "N ceildiv 64"))
    assert kernel.to_json()["grid"]["values"] == [2, 2, 1]


def test_scalar_stride_and_element_count(context):
    text = """
    module attributes {wave.target = "gfx950"} { gpu.module @m {
      gpu.func @k(%a: memref<?xbf16, #gpu.address_space<global>>, %s: f16, %t: f32, %M: i32, %x: i64)
          kernel attributes { known_block_size = array<i32: 64, 1, 1>,
          wave.grid = [#wave.expr<1>, #wave.expr<1>, #wave.expr<M>],
          wave.args = [{kind = "memory", name = "a", dtype = bf16, shape = [#wave.expr<M>, #wave.expr<M + 1>],
                        access = "readwrite"},
                       {kind = "scalar", name = "s", dtype = f16}, {kind = "scalar", name = "t", dtype = f32},
                       {kind = "symbol", name = "M"}, {kind = "stride", memory = "a", dim = 0 : i64}]} { gpu.return }
      gpu.func @helper() { gpu.return }
    } }"""
    (kernel,) = read(text)
    assert kernel.offsets() == (0, 8, 12, 16, 24)
    assert kernel.args[4].name == "a.stride0" and kernel.args[0].access == "readwrite"
    a = kernel.args[0]
    assert a.extents({"M": 3}) == (3, 4)
    assert a.element_count({"M": 3}) == 12
    assert a.element_count({"M": 3}, (80, 1)) == 164
    assert kernel.bind([(3, 4)], [1.0, 2.0]) == {"M": 3}
    assert kernel.grid_for({"M": 3}) == (1, 1, 3)


GRID = "[#wave.expr<M ceildiv 64>, #wave.expr<2>, #wave.expr<1>]"


@pytest.mark.parametrize(
    "old,new,message",
    [
        ("known_block_size = array<i32: 128, 2, 1>,", "", "lacks known_block_size"),
        (f"wave.grid = {GRID},", "", "lacks wave.grid"),
        (',\n                       {kind = "symbol", name = "M"}]', "]", "4 arguments, but wave.args describes 3"),
        ('name = "a", dtype = f16', 'name = "a", dtype = f32', "argument 'a' is a memory of f32"),
    ],
)
def test_errors_are_located(context, old, new, message):
    text = GEMM.replace(old, new, 1)
    assert text != GEMM
    with pytest.raises(abi.AbiError, match=message) as caught:
        read(text)
    assert caught.value.location == "-:5:5"


@pytest.mark.parametrize(
    "old,new,message",
    [
        (GRID, "[#wave.expr<M ceildiv 64>, #wave.expr<2>]", "wave.grid"),
        ('kind = "symbol"', 'kind = "thing"', "kinds are memory"),
        ('name = "a", dtype = f16', 'name = "a"', "without 'dtype'"),
        ('access = "write"', 'access = "append"', "without 'access'"),
    ],
)
def test_malformed_attributes_are_refused_by_the_dialect(context, old, new, message):
    text = GEMM.replace(old, new, 1)
    assert text != GEMM
    with pytest.raises((ir.MLIRError, abi.AbiError), match=message):
        read(text)


def test_assumptions(context):
    text = GEMM.replace("wave.grid =", "wave.assume = [#wave.expr<M mod 16 eq 0>, #wave.expr<M le 4096>], wave.grid =")
    (kernel,) = read(text)
    assert kernel.assumptions == ("M mod 16 eq 0", "M lt 4097")
    assert abi.KernelABI.from_json(kernel.to_json()) == kernel
    assert kernel.values({"M": 32})["M"] == 32
    with pytest.raises(abi.AbiError, match="compiled on the assumption that M mod 16 eq 0; M = 33 breaks it"):
        kernel.grid_for({"M": 33})
