"""Kernels that lean on layouts, domains and symbols, through the whole compiler in the simulator, against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from mlir import ir
from wave_mlir import sim
from wave_mlir.compiler.pass_registry import run_passes
from wave_mlir.passes.pipelines import between


def run(arguments: str, symbols: str, constraints: str, body: str, arrays: list[np.ndarray]) -> None:
    """Compile one kernel, checking every form, and run it with all checks."""
    text = f"""
module attributes {{wave.form = "tile", wave.target = "gfx942"}} {{
  wave.kernel @k({arguments}) symbols {{{symbols}}} dynamic [R]
      constraints [{constraints}] {{
    {body}
    wave.return
  }}
}}
"""
    if "[R," not in arguments:
        text = text.replace("dynamic [R]", "")
    with ir.Context():
        module = ir.Module.parse(text)
        run_passes(module, between("tile", "gpu"), verify_forms=True)
        sim.run(module, arrays)


def small(*shape: int, seed: int = 0) -> np.ndarray:
    """Integers that every product and sum here has exactly."""
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(np.float16)


def f32(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float32)


MEMORY = (
    "%a: !wave.memory<[M, K], f16, {space}>, %b: !wave.memory<[N, K], f16, {space}>, "
    "%c: !wave.memory<[M, N], f32, global>"
)
LOOP = """
    %zero = wave.register 0.0 : !wave.tile<[M, N], f32>
    %one = wave.register 1.0 : !wave.tile<[M, K], f16>
    %sum = wave.iterate K iter_args(%acc = %zero : !wave.tile<[M, N], f32>) {{
      %r = wave.read %a : !wave.memory<[M, K], f16, {space}> -> !wave.tile<[M, K], f16>
      %x = wave.add %r, %one : !wave.tile<[M, K], f16>
      %y = wave.read %b : !wave.memory<[N, K], f16, {space}> -> !wave.tile<[N, K], f16>
      %z = wave.mma %x, %y, %acc : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
      wave.yield %z : !wave.tile<[M, N], f32>
    }}
    wave.write %sum, %c : !wave.tile<[M, N], f32>, !wave.memory<[M, N], f32, global>
"""


@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize(("k", "tile"), [(100, 32), (17, 32), (100, 24), (1, 16), (40, 8)])
def test_operand_that_is_not_zero_outside(space: str, k: int, tile: int) -> None:
    """x + 1 is 1 beyond K: it must not count, nor what lies beyond a K tile smaller than the MMA's."""
    a, b, c = small(70, k), small(50, k, seed=1), np.full((70, 50), np.nan, np.float32)
    run(
        MEMORY.format(space=space), f"M = 70, N = 50, K = {k}",
        f"#wave.workgroup<M, 64, x>, #wave.workgroup<N, 32, y>, #wave.tiling<K, {tile}>, #wave.wave<M, 32>, "
        "#wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>",
        LOOP.format(space=space), [a, b, c],
    )  # fmt: skip
    assert np.array_equal(c, (f32(a) + 1) @ f32(b).T)


@pytest.mark.parametrize("kind", ["f32_16x16x16_f16", "f32_32x32x8_f16"])
def test_clipped_tiles_and_k_n_order(kind: str) -> None:
    """8 rows a workgroup, 56 columns a wave, B read as [K, N]."""
    a, b, c = small(100, 100), small(100, 300, seed=1), np.full((100, 300), np.nan, np.float32)
    body = (
        LOOP.format(space="global").replace("%x = wave.add %r, %one", "%x = wave.mul %r, %one")
        .replace("[N, K], f16", "[K, N], f16")
    )  # fmt: skip
    run(
        MEMORY.format(space="global").replace("[N, K]", "[K, N]"), "M = 100, N = 300, K = 100",
        "#wave.workgroup<M, 8, x>, #wave.workgroup<N, 224, y>, #wave.tiling<K, 32>, #wave.wave<N, 56>, "
        f"#wave.hardware<threads_per_wave = 64, mma = {kind}>",
        body, [a, b, c],
    )  # fmt: skip
    assert np.array_equal(c, f32(a) @ f32(b))


@pytest.mark.parametrize("kind", ["f32_16x16x16_f16", "f32_32x32x8_f16"])
def test_chained_mma(kind: str) -> None:
    """The result of one MMA is the second operand of another, without a read between."""
    a, b, d = small(64, 32), small(32, 32, seed=1), small(48, 32, seed=2)
    c = np.full((48, 64), np.nan, np.float32)
    run(
        "%a: !wave.memory<[M, K], f16, global>, %b: !wave.memory<[N, K], f16, global>, "
        "%d: !wave.memory<[P, N], f16, global>, %c: !wave.memory<[P, M], f32, global>",
        "M = 64, N = 32, K = 32, P = 48", f"#wave.hardware<threads_per_wave = 64, mma = {kind}>",
        """
    %z0 = wave.register 0.0 : !wave.tile<[M, N], f32>
    %z1 = wave.register 0.0 : !wave.tile<[P, M], f32>
    %x = wave.read %a : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16>
    %y = wave.read %b : !wave.memory<[N, K], f16, global> -> !wave.tile<[N, K], f16>
    %w = wave.read %d : !wave.memory<[P, N], f16, global> -> !wave.tile<[P, N], f16>
    %s = wave.mma %x, %y, %z0 : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
    %sc = wave.cast %s : !wave.tile<[M, N], f32> -> !wave.tile<[M, N], f16>
    %t = wave.mma %w, %sc, %z1 : !wave.tile<[P, N], f16>, !wave.tile<[M, N], f16>, !wave.tile<[P, M], f32>
    wave.write %t, %c : !wave.tile<[P, M], f32>, !wave.memory<[P, M], f32, global>""",
        [a, b, d, c],
    )  # fmt: skip
    s = (f32(a) @ f32(b).T).astype(np.float16)
    assert np.array_equal(c, f32(d) @ f32(s).T)


def test_one_tensor_in_two_roles() -> None:
    """A is contracted along K by one MMA and along M by another."""
    a, b = small(64, 64), small(32, 64, seed=1)
    c = np.full((64, 32), np.nan, np.float32)
    run(
        "%a: !wave.memory<[M, K], f16, global>, %b: !wave.memory<[N, K], f16, global>, "
        "%e: !wave.memory<[K, N], f32, global>",
        "M = 64, N = 32, K = 64", "#wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>",
        """
    %z0 = wave.register 0.0 : !wave.tile<[M, N], f32>
    %z1 = wave.register 0.0 : !wave.tile<[K, N], f32>
    %x = wave.read %a : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16>
    %y = wave.read %b : !wave.memory<[N, K], f16, global> -> !wave.tile<[N, K], f16>
    %s = wave.mma %x, %y, %z0 : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
    %sc = wave.cast %s : !wave.tile<[M, N], f32> -> !wave.tile<[M, N], f16>
    %t = wave.mma %x, %sc, %z1 : !wave.tile<[M, K], f16>, !wave.tile<[M, N], f16>, !wave.tile<[K, N], f32>
    wave.write %t, %e : !wave.tile<[K, N], f32>, !wave.memory<[K, N], f32, global>""",
        [a, b, c],
    )  # fmt: skip
    assert np.array_equal(c, f32(a).T @ f32((f32(a) @ f32(b).T).astype(np.float16)))


def test_grid_of_four_dims() -> None:
    """The dims from the third on are folded into z; one is walked backward."""
    x = np.random.default_rng(0).standard_normal((3, 5, 64, 48)).astype(np.float32)
    c = np.full((5, 3, 48, 64), np.nan, np.float32)
    run(
        "%a: !wave.memory<[A, B, C, D], f32, global>, %c: !wave.memory<[B, A, D, C], f32, global>",
        "A = 3, B = 5, C = 64, D = 48",
        "#wave.workgroup<A, 1, x>, #wave.workgroup<B, 1, y>, #wave.workgroup<C, 16, z>, #wave.workgroup<D, 16, 3>, "
        "#wave.hardware<threads_per_wave = 64, vector_shapes = {A = 0, B = 0, C = 16, D = 16}>, "
        "#wave.reordering<2 - wg.x, x>",
        """
    %x = wave.read %a : !wave.memory<[A, B, C, D], f32, global> -> !wave.tile<[A, B, C, D], f32>
    %p = wave.permute %x : !wave.tile<[A, B, C, D], f32> -> !wave.tile<[B, A, D, C], f32>
    wave.write %p, %c : !wave.tile<[B, A, D, C], f32>, !wave.memory<[B, A, D, C], f32, global>""",
        [x, c],
    )  # fmt: skip
    assert np.array_equal(c, x.transpose(1, 0, 3, 2))


@pytest.mark.parametrize(("m", "n"), [(64, 48), (100, 130), (1, 1)])
def test_transposed_copy_by_four_waves(m: int, n: int) -> None:
    x, c = small(m, n), np.full((n, m), np.nan, np.float16)
    run(
        "%a: !wave.memory<[M, N], f16, global>, %c: !wave.memory<[N, M], f16, global>", f"M = {m}, N = {n}",
        "#wave.workgroup<M, 64, x>, #wave.workgroup<N, 48, y>, #wave.wave<M, 16>, "
        "#wave.hardware<threads_per_wave = 64>",
        """
    %x = wave.read %a : !wave.memory<[M, N], f16, global> -> !wave.tile<[M, N], f16>
    %p = wave.permute %x : !wave.tile<[M, N], f16> -> !wave.tile<[N, M], f16>
    wave.write %p, %c : !wave.tile<[N, M], f16>, !wave.memory<[N, M], f16, global>""",
        [x, c],
    )  # fmt: skip
    assert np.array_equal(c, x.T)


def test_set_symbol_hides_the_static_one() -> None:
    c = np.full((50, 100), -1, np.int32)
    run(
        "%c: !wave.memory<[M, N], i32, global>", "M = 50, N = 100, K = 7",
        "#wave.workgroup<M, 16, x>, #wave.hardware<threads_per_wave = 64>",
        """
    %i = wave.self_index N : !wave.tile<[M, N], i32>
    %j = wave.self_index M : !wave.tile<[M, N], i32>
    %nine = wave.scalar [9] : i32
    wave.set_symbol K = %nine : i32
    %e = wave.apply_expr [x * K + y] symbols(x = %j : !wave.tile<[M, N], i32>, y = %i : !wave.tile<[M, N], i32>)
           : !wave.tile<[M, N], i32>
    wave.write %e, %c : !wave.tile<[M, N], i32>, !wave.memory<[M, N], i32, global>""",
        [c],
    )  # fmt: skip
    assert np.array_equal(c, np.arange(50)[:, None] * 9 + np.arange(100))


def test_gather_through_a_table() -> None:
    """out[m] = rows[table[m]], with M that no tile divides."""
    rows, table = small(37, 64), np.random.default_rng(1).integers(0, 37, 100).astype(np.int32)
    c = np.full((100, 64), np.nan, np.float16)
    run(
        "%a: !wave.memory<[R, D], f16, global>, %t: !wave.memory<[M], i32, global>, "
        "%c: !wave.memory<[M, D], f16, global>",
        "M = 100, D = 64", "#wave.workgroup<M, 64, x>, #wave.hardware<threads_per_wave = 64>",
        """
    %i = wave.read %t : !wave.memory<[M], i32, global> -> !wave.tile<[M], i32>
    %x = wave.read %a mapping <[M = i, D = j] -> [d0, j], dynamic = [[M = i]]> dynamic(%i : !wave.tile<[M], i32>)
           : !wave.memory<[R, D], f16, global> -> !wave.tile<[M, D], f16>
    wave.write %x, %c : !wave.tile<[M, D], f16>, !wave.memory<[M, D], f16, global>""",
        [rows, table, c],
    )  # fmt: skip
    assert np.array_equal(c, rows[table])
