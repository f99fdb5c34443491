"""The reference evaluator against numpy, and the compiled GEMM in the simulator against the reference."""

from __future__ import annotations

import gemm_cases
import numpy as np
import pytest
from gemm_cases import GemmCase
from wave_mlir import sim
from wave_mlir.compiler import driver
from wave_mlir.sim import SimError, reference

SIZES = [(1, 1, 1), (17, 100, 64), (100, 17, 300)]
HARDWARE = "#wave.hardware<threads_per_wave = 64, vector_shapes = {M = 16, N = 64}>"


def case(dtype: str, sizes: tuple[int, int, int]) -> GemmCase:
    return GemmCase("gfx942", dtype, 16, "shared", (64, 64, 32), (2, 2), *sizes)


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("dtype", gemm_cases.DTYPES)
def test_gemm(dtype: str, sizes: tuple[int, int, int]) -> None:
    chosen = case(dtype, sizes)
    a, b, c = gemm_cases.inputs(chosen)
    reference.run(driver.parse(gemm_cases.gemm_text(chosen)), [a, b, c])
    np.testing.assert_array_equal(c, gemm_cases.expected(a, b, c.dtype))


@pytest.mark.parametrize("order", ["forward", "random"])
@pytest.mark.parametrize("sizes", SIZES)
def test_simulator_agrees(sizes: tuple[int, int, int], order: str) -> None:
    chosen = case("f16", sizes)
    a, b, c = gemm_cases.inputs(chosen)
    wanted = c.copy()
    text = gemm_cases.gemm_text(chosen)
    reference.run(driver.parse(text), [a, b, wanted])
    sim.run(driver.compile_module(text).module, [a, b, c], order=order)
    np.testing.assert_array_equal(c, wanted)


def kernel(arguments: str, body: str, dynamic: str = "M, N", symbols: str = "", extra: str = ""):
    return driver.parse(f"""
module attributes {{wave.form = "tile", wave.target = "gfx942"}} {{
  wave.kernel @k({arguments}) symbols {{BM = 16{symbols}}} dynamic [{dynamic}]
      constraints [#wave.workgroup<M, BM, x>, {extra}{HARDWARE}] {{
    {body}
    wave.return
  }}
}}""")


MEMORY = "!wave.memory<[M, N], f32, global>"
TILE = "!wave.tile<[M, N], f32>"
ROW = "!wave.tile<[M], f32>"


def test_elementwise_and_self_index() -> None:
    module = kernel(
        f"%a: {MEMORY}, %c: {MEMORY}",
        f"""%x = wave.read %a : {MEMORY} -> {TILE}
    %i = wave.self_index M : !wave.tile<[M], i32>
    %j = wave.broadcast %i : !wave.tile<[M], i32> -> !wave.tile<[M, N], i32>
    %f = wave.cast %j : !wave.tile<[M, N], i32> -> {TILE}
    %m = wave.compare lt %x, %f : {TILE}
    %s = wave.mul %x, %f : {TILE}
    %r = wave.select %m, %s, %f : !wave.tile<[M, N], i1>, {TILE}
    wave.write %r, %c : {TILE}, {MEMORY}""",
    )
    a = np.random.default_rng(0).integers(-9, 40, (37, 70)).astype(np.float32)
    c = np.full_like(a, np.nan)
    reference.run(module, [a, c])
    rows = np.broadcast_to(np.arange(37, dtype=np.float32)[:, None], a.shape)
    np.testing.assert_array_equal(c, np.where(a < rows, a * rows, rows))


@pytest.mark.parametrize(("kind", "function"), [("sum", np.sum), ("max", np.max), ("min", np.min)])
def test_reductions_see_the_real_extent_only(kind: str, function) -> None:
    module = kernel(
        f"%a: {MEMORY}, %c: !wave.memory<[M], f32, global>",
        f"""%x = wave.read %a : {MEMORY} -> {TILE}
    %r = wave.reduce {kind} %x along N : {TILE} -> {ROW}
    wave.write %r, %c : {ROW}, !wave.memory<[M], f32, global>""",
    )
    sign = -1 if kind == "max" else 1
    a = sign * np.random.default_rng(1).integers(1, 50, (21, 100)).astype(np.float32)
    c = np.full(21, np.nan, np.float32)
    reference.run(module, [a, c])
    np.testing.assert_array_equal(c, function(a, axis=1))


def test_mask() -> None:
    module = kernel(
        f"%a: {MEMORY}, %c: {MEMORY}",
        f"""%x = wave.read %a : {MEMORY} -> {TILE}
    %zero = wave.register 0.0 : {TILE}
    %m = wave.compare gt %x, %zero : {TILE}
    wave.write %x, %c mask %m : {TILE}, {MEMORY}""",
    )
    a = np.random.default_rng(2).integers(-9, 9, (18, 5)).astype(np.float32)
    c = np.full_like(a, 77)
    reference.run(module, [a, c])
    np.testing.assert_array_equal(c, np.where(a > 0, a, 77))


def test_set_symbol_gives_a_prefix_and_is_restored() -> None:
    module = kernel(
        f"%a: {MEMORY}, %c: !wave.memory<[M], f32, global>, %n: i32",
        f"""wave.conditional [M gt 0] {{
      wave.set_symbol N = %n : i32
      %x = wave.read %a : {MEMORY} -> {TILE}
      %r = wave.reduce sum %x along N : {TILE} -> {ROW}
      wave.write %r, %c : {ROW}, !wave.memory<[M], f32, global>
    }}
    %s = wave.scalar [N] : f32
    wave.conditional [N eq 40] {{
      wave.atomic add %s, %c : f32, !wave.memory<[M], f32, global>
    }}""",
    )
    a = np.random.default_rng(3).integers(-9, 9, (33, 40)).astype(np.float32)
    for length in (0, 1, 13, 40):
        c = np.zeros(33, np.float32)
        try:
            reference.run(module, [a, c, length])
        except SimError as error:
            pytest.fail(str(error))
        np.testing.assert_array_equal(c, a[:, :length].sum(axis=1) + 40)


def test_errors_are_located() -> None:
    module = kernel(
        f"%a: {MEMORY}",
        f"""%x = wave.read %a : {MEMORY} -> {TILE}
    %y = wave.shuffle xor %x offset 1 width 64 : {TILE}
    wave.write %y, %a : {TILE}, {MEMORY}""",
    )
    with pytest.raises(SimError, match="unsupported: wave.shuffle"):
        reference.run(module, [np.zeros((3, 4), np.float32)])
    with pytest.raises(SimError, match="it must be float32"):
        reference.run(module, [np.zeros((3, 4), np.float16)])
    with pytest.raises(SimError, match="no symbol 'Q'"):
        reference.run(module, [np.zeros((3, 4), np.float32)], symbols={"Q": 3})
