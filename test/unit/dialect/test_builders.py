"""IR built in Python is the IR that its text says; the reference page follows the ODS."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from mlir import ir
from wave_mlir.dialect import (
    AtomicKind,
    IterateOp,
    KernelOp,
    MappingAttr,
    Predicate,
    ReadOp,
    ReduceKind,
    builders,
)
from wave_mlir.dialect import wave as ops

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def context():
    with ir.Context() as ctx, ir.Location.unknown():
        yield ctx


def same(module: ir.Module, text: str) -> bool:
    module.operation.verify()
    return str(ir.Module.parse(str(module))) == str(module) == str(ir.Module.parse(text))


def test_example_gemm():
    gemm = runpy.run_path(str(ROOT / "examples" / "build_gemm.py"))["gemm"]
    text = """
    module attributes {wave.form = "tile", wave.target = "gfx950"} {
      wave.kernel @gemm(%a: !wave.memory<[M, K], f16, shared>, %b: !wave.memory<[N, K], f16, shared>,
                        %c: !wave.memory<[M, N], f32, global>)
          symbols {M = 17, N = 100, K = 256, BLOCK_M = 64, BLOCK_N = 64, BLOCK_K = 32}
          constraints [#wave.workgroup<M, BLOCK_M, x>, #wave.workgroup<N, BLOCK_N, y>, #wave.tiling<K, BLOCK_K>,
                       #wave.wave<M, BLOCK_M floordiv 2>, #wave.wave<N, BLOCK_N floordiv 2>,
                       #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
        %zero = wave.register 0.0 : !wave.tile<[M, N], f32>
        %sum = wave.iterate K iter_args(%acc = %zero : !wave.tile<[M, N], f32>) {
          %x = wave.read %a : !wave.memory<[M, K], f16, shared> -> !wave.tile<[M, K], f16>
          %y = wave.read %b : !wave.memory<[N, K], f16, shared> -> !wave.tile<[N, K], f16>
          %z = wave.mma %x, %y, %acc : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
          wave.yield %z : !wave.tile<[M, N], f32>
        }
        wave.write %sum, %c : !wave.tile<[M, N], f32>, !wave.memory<[M, N], f32, global>
        wave.return
      }
    }"""
    assert same(gemm(17, 100, 256, "gfx950"), text)


def test_loops_conditionals_and_symbols():
    f32, index = ir.F32Type.get(), ir.IndexType.get()
    tile = builders.tile(["M"], f32)
    module = builders.module("typed", "gfx942")
    with (
        ir.InsertionPoint(module.body),
        builders.kernel("k", {"a": builders.memory(["M"], f32)}, dynamic=["M"]) as kernel,
    ):
        zero = builders.register(0, tile)
        n = builders.scalar("M * 2", index)
        with builders.iterate("K", [zero], trips="M ceildiv 4") as loop:
            assert loop.iv is not None
            x = builders.read(kernel.args["a"], tile, symbols={"iv.K": loop.iv})
            loop.yield_(ops.add(x, loop.carried[0]))
        with builders.iterate("B", start=n, condition="B lt T", iv=True, symbols={"T": n}) as whole:
            assert whole.iv is not None
            whole.yield_(builders.apply_expr("B + 1", index, {"B": whole.iv}))
        with builders.conditional("T gt 0", else_values=[zero], symbols={"T": n}) as branch:
            branch.yield_(loop.results[0])
        with builders.conditional("M eq 1", results=[index]) as either:
            either.yield_(n)
        with either.otherwise():
            either.yield_(n)
        builders.write(branch.results[0], kernel.args["a"], nontemporal=True)
    text = """
    module attributes {wave.form = "typed", wave.target = "gfx942"} {
      wave.kernel @k(%a: !wave.memory<[M], f32, global>) dynamic [M] {
        %0 = wave.register 0.0 : !wave.tile<[M], f32>
        %n = wave.scalar [M * 2] : index
        %1 = wave.iterate K iv(%k) trips(M ceildiv 4) iter_args(%c = %0 : !wave.tile<[M], f32>) {
          %x = wave.read %a symbols(iv.K = %k) : !wave.memory<[M], f32, global> -> !wave.tile<[M], f32>
          %y = wave.add %x, %c : !wave.tile<[M], f32>
          wave.yield %y : !wave.tile<[M], f32>
        }
        wave.iterate B iv(%b) start(%n : index) condition(B lt T) symbols(T = %n) {
          %next = wave.apply_expr [B + 1] symbols(B = %b) : index
          wave.yield %next : index
        }
        %2 = wave.conditional [T gt 0] symbols(T = %n) otherwise(%0) -> !wave.tile<[M], f32> {
          wave.yield %1 : !wave.tile<[M], f32>
        }
        %3 = wave.conditional [M eq 1] -> index {
          wave.yield %n : index
        } else {
          wave.yield %n : index
        }
        wave.write %2, %a nontemporal : !wave.tile<[M], f32>, !wave.memory<[M], f32, global>
      }
    }"""
    assert same(module, text)


def test_other_builders():
    f32, i32, i1 = ir.F32Type.get(), ir.IntegerType.get_signless(32), ir.IntegerType.get_signless(1)
    module = builders.module("tile", "gfx942")
    args = {"a": builders.memory(["R", "N"], f32), "t": builders.memory(["T"], i32)}
    with ir.InsertionPoint(module.body), builders.kernel("k", args) as kernel:
        table = builders.read(kernel.args["t"], builders.tile(["T"], i32))
        rows = MappingAttr.get({"T": "i", "N": "j"}, ["d0", "j"], [{"T": "i"}])
        x = builders.read(kernel.args["a"], builders.tile(["T", "N"], f32), mapping=rows, dynamic=[table])
        builders.set_symbol("N", builders.scalar("R", i32))
        s = builders.reduce(ReduceKind.Max, x, "N", builders.tile(["T"], f32), block=True)
        h = builders.cast(builders.cast(s, ir.F16Type.get()), f32)
        m = builders.compare(Predicate.Lt, h, s)
        assert m.type == builders.tile(["T"], i1)
        old = builders.atomic(AtomicKind.Add, table, kernel.args["t"], returns=True)
        assert old is not None and old.type == table.type
        builders.self_index("T", builders.tile(["T"], i32))
        builders.mask("T lt 4", builders.tile(["T"], i1))
        builders.allocate(builders.memory([4, 4], f32, "shared"), offset=64)
    module.operation.verify()
    assert str(ir.Module.parse(str(module))) == str(module)


def test_symbol_operands():
    module = ir.Module.parse("""
    wave.kernel @k(%a: !wave.memory<[M], f32, global>) {
      wave.iterate K iv(%k) trips(4) {
        %x = wave.read %a symbols(iv.K = %k, T = %k) : !wave.memory<[M], f32, global> -> !wave.tile<[M], f32>
        %y = wave.neg %x : !wave.tile<[M], f32>
      }
    }""")
    kernel = module.body.operations[0]
    assert isinstance(kernel, KernelOp)
    loop = kernel.body.blocks[0].operations[0]
    assert isinstance(loop, IterateOp)
    read, neg, _ = loop.body.blocks[0].operations
    assert isinstance(read, ReadOp)
    iv = loop.body.blocks[0].arguments[0]
    assert builders.symbol_operands(read) == {"iv.K": iv, "T": iv}
    assert builders.symbol_operands(neg) == {}


def test_reference_page_is_fresh():
    run = subprocess.run(
        [sys.executable, ROOT / "tools" / "dialect_docs.py"], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
