"""Kernels as a user writes them in text, compiled, in the simulator, against the reference evaluator and numpy."""

from __future__ import annotations

import numpy as np
import pytest
from wave_mlir import sim
from wave_mlir.compiler import driver
from wave_mlir.compiler.diagnostics import CompileError
from wave_mlir.isa.compiled import run_compiled
from wave_mlir.sim import reference

RNG = np.random.default_rng(11)

KERNEL = """module attributes {{wave.form = "tile", wave.target = "gfx942"}} {{
  wave.kernel @k({arguments}) symbols {{{symbols}}} dynamic []
      constraints [#wave.workgroup<M, BM, x>, {constraints}] {{
{body}
    wave.return
  }}
}}"""


def check(text: str, arrays: list[np.ndarray], expected: np.ndarray) -> None:
    """Run it; the last array is the result. The assembly must be made, too."""
    compiled = driver.compile_module(text)
    assert "s_endpgm" in compiled.isa
    of_reference = [a.copy() for a in arrays]
    reference.run(driver.parse(text), of_reference)
    np.testing.assert_array_equal(of_reference[-1], expected)
    for order in ("forward", "reverse"):
        got = [a.copy() for a in arrays]
        sim.run(compiled.module, got, order=order)
        np.testing.assert_array_equal(got[-1], expected)


def collatz(kind: str, rows: int = 1) -> str:
    """Steps of n * n to 1; `kind` is the type of the value that the loop carries."""
    body = f"""
    %n = wave.read %l : !wave.memory<[M], i32, global> -> !wave.tile<[M], i32>
    %square = wave.mul %n, %n : !wave.tile<[M], i32>
    %zero = wave.register 0 : !wave.tile<[M], i32>
    %one = wave.register 1 : !wave.tile<[M], i32>
    %steps = wave.iterate B start(%square : !wave.tile<[M], i32>) condition(B gt 1)
        iter_args(%count = %zero : !wave.tile<[M], i32>) {{
      %more = wave.add %count, %one : !wave.tile<[M], i32>
      %next = wave.apply_expr [select(B mod 2 eq 0, B floordiv 2, 3 * B + 1)] : {kind}
      wave.set_symbol B = %next : {kind}
      wave.yield %more : !wave.tile<[M], i32>
    }}
    wave.write %steps, %o : !wave.tile<[M], i32>, !wave.memory<[M], i32, global>"""
    return KERNEL.format(
        arguments="%l: !wave.memory<[M], i32, global>, %o: !wave.memory<[M], i32, global>",
        symbols=f"M = 7, BM = {rows}", body=body,
        constraints=f"#wave.tiling<B>, #wave.hardware<threads_per_wave = 64, vector_shapes = {{M = {rows}}}>",
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["!wave.tile<[M], i32>", "!wave.tile<[], i32>", "index", "i32"])
def test_while_carries(kind: str) -> None:
    """The next value of a while loop is a tile with one element, or a scalar."""
    n = np.array([1, 2, 3, 4, 5, 6, 9], np.int32)

    def steps(value: int) -> int:
        return 0 if value <= 1 else 1 + steps(value // 2 if value % 2 == 0 else 3 * value + 1)

    want = np.array([steps(int(v) ** 2) for v in n], np.int32)
    check(collatz(kind), [n, np.zeros(7, np.int32)], want)


def test_while_of_lanes_that_differ() -> None:
    """A loop cannot go on in some lanes only."""
    with pytest.raises(CompileError, match=r"64 elements along M.*extract one element"):
        driver.compile_module(collatz("!wave.tile<[M], i32>", 64))


DIVISIONS = {"div": np.floor_divide, "mod": np.mod, "rem": np.fmod}


@pytest.mark.parametrize("dtype", ["i8", "i16", "i32", "i64"])
@pytest.mark.parametrize("name", DIVISIONS)
def test_integer_division_beyond_the_extent(name: str, dtype: str) -> None:
    """Where the tile reaches beyond the memory the divisor is read as 0, which must do no harm."""
    tile, memory = f"!wave.tile<[M, N], {dtype}>", f"!wave.memory<[M, N], {dtype}, global>"
    body = f"""
    %x = wave.read %a : {memory} -> {tile}
    %y = wave.read %b : {memory} -> {tile}
    %z = wave.{name} %x, %y : {tile}
    wave.write %z, %c : {tile}, {memory}"""
    text = KERNEL.format(
        arguments=f"%a: {memory}, %b: {memory}, %c: {memory}", symbols="M = 5, N = 70, BM = 2, BN = 64", body=body,
        constraints="#wave.workgroup<N, BN, y>, #wave.hardware<threads_per_wave = 64, vector_shapes = {M = 1, N = 64}>",
    )  # fmt: skip
    numpy_type = np.dtype(f"int{dtype[1:]}")
    a = RNG.integers(-100, 100, (5, 70)).astype(numpy_type)
    b = (RNG.integers(1, 9, (5, 70)) * RNG.choice([-1, 1], (5, 70))).astype(numpy_type)
    check(text, [a, b, np.zeros_like(a)], DIVISIONS[name](a, b))


@pytest.mark.parametrize("kind", ["and", "or", "xor"])
def test_atomic_bits(kind: str) -> None:
    body = f"""
    %x = wave.read %a : !wave.memory<[M, N], i32, global> -> !wave.tile<[M, N], i32>
    wave.atomic {kind} %x, %h mapping <[M = i, N = j] -> [j]>
        : !wave.tile<[M, N], i32>, !wave.memory<[N], i32, global>"""
    text = KERNEL.format(
        arguments="%a: !wave.memory<[M, N], i32, global>, %h: !wave.memory<[N], i32, global>",
        symbols="M = 33, N = 20, BM = 16", body=body,
        constraints="#wave.hardware<threads_per_wave = 64, vector_shapes = {M = 1, N = 64}>",
    )  # fmt: skip
    a = RNG.integers(-(2**31), 2**31, (33, 20)).astype(np.int32)
    h = RNG.integers(-(2**31), 2**31, 20).astype(np.int32)
    function = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}[kind]
    check(text, [a, h], function(h, function.reduce(a, axis=0)))


@pytest.mark.parametrize("length", [96, 70, 64, 1])
def test_dim_of_workgroups_and_of_a_loop(length: int) -> None:
    """Each workgroup walks its own part of N: sums of parts, put together by atomics."""
    body = """
    %zero = wave.register 0 : !wave.tile<[M], i32>
    %sum = wave.iterate N iter_args(%acc = %zero : !wave.tile<[M], i32>) {
      %x = wave.read %a : !wave.memory<[M, N], i32, global> -> !wave.tile<[M, N], i32>
      %s = wave.reduce sum %x along N : !wave.tile<[M, N], i32> -> !wave.tile<[M], i32>
      %next = wave.add %acc, %s : !wave.tile<[M], i32>
      wave.yield %next : !wave.tile<[M], i32>
    }
    wave.atomic add %sum, %c : !wave.tile<[M], i32>, !wave.memory<[M], i32, global>"""
    text = KERNEL.format(
        arguments="%a: !wave.memory<[M, N], i32, global>, %c: !wave.memory<[M], i32, global>",
        symbols=f"M = 5, N = {length}, BM = 2", body=body,
        constraints="#wave.workgroup<N, 32, y>, #wave.tiling<N, 16, iters = 2>, "
        "#wave.hardware<threads_per_wave = 64, vector_shapes = {M = 1, N = 16}>",
    )  # fmt: skip
    a = RNG.integers(-100, 100, (5, length)).astype(np.int32)
    check(text, [a, np.ones(5, np.int32)], 1 + a.sum(1, dtype=np.int32))


@pytest.mark.parametrize("space", ["global", "shared"])
def test_in_place(space: str) -> None:
    """Lanes beyond the extents read somewhere, and drop it: no race with who writes there."""
    tile, memory = "!wave.tile<[M, N], f32>", f"!wave.memory<[M, N], f32, {space}>"
    body = f"""
    %x = wave.read %a : {memory} -> {tile}
    %y = wave.add %x, %x : {tile}
    wave.write %y, %a : {tile}, {memory}"""
    text = KERNEL.format(
        arguments=f"%a: {memory}", symbols="M = 37, N = 70, BM = 16", body=body,
        constraints="#wave.workgroup<N, 64, y>, #wave.wave<M, 4>, "
        "#wave.hardware<threads_per_wave = 64, vector_shapes = {M = 1, N = 64}>",
    )  # fmt: skip
    a = RNG.integers(-100, 100, (37, 70)).astype(np.float32)
    check(text, [a], a + a)


@pytest.mark.parametrize("rows", [0, 5])
def test_gather_from_an_empty_table(rows: int) -> None:
    """A memory without elements has no address: nothing may be read there, not even to be dropped."""
    text = KERNEL.format(
        arguments="%t: !wave.memory<[R, N], f32, global>, %i: !wave.memory<[M], i32, global>, "
        "%c: !wave.memory<[M, N], f32, global>",
        symbols="M = 20, N = 70, BM = 16",
        body="""
    %d = wave.read %i : !wave.memory<[M], i32, global> -> !wave.tile<[M], i32>
    %x = wave.read %t mapping <[M = i, N = j] -> [d0, j], dynamic = [[M = i]]> dynamic(%d : !wave.tile<[M], i32>)
        : !wave.memory<[R, N], f32, global> -> !wave.tile<[M, N], f32>
    wave.write %x, %c : !wave.tile<[M, N], f32>, !wave.memory<[M, N], f32, global>""",
        constraints="#wave.workgroup<N, 64, y>, #wave.hardware<threads_per_wave = 64, vector_shapes = {M = 1, N = 64}>",
    ).replace("dynamic []", "dynamic [R]")  # fmt: skip
    table, index = np.full((rows, 70), 3, np.float32), np.arange(20, dtype=np.int32) % 7 - 1
    want = np.where((index >= 0) & (index < rows), 3, 0)[:, None].repeat(70, 1).astype(np.float32)
    check(text, [table, index, np.full((20, 70), 9, np.float32)], want)
    got = np.full((20, 70), 9, np.float32)
    run_compiled(driver.compile_module(text), [table, index, got])
    np.testing.assert_array_equal(got, want)


def test_divisions_under_conditions() -> None:
    """A divisor that is 0 where a select, a mask or a conditional says that the quotient is not needed."""
    tile = "!wave.tile<[M], i32>"
    memory = "!wave.memory<[M], i32, global>"
    body = f"""
    %x = wave.read %a : {memory} -> {tile}
    %q = wave.apply_expr [select(d0 eq 0, 7, 100 floordiv d0)] symbols(d0 = %x : {tile}) : {tile}
    wave.conditional [Z gt 0] {{
      %y = wave.read %a mapping <[M = i] -> [i mod Z]> : {memory} -> {tile}
      wave.write %y, %o : {tile}, {memory}
    }}
    %z = wave.read %a mapping <[M = i] -> [select(Z eq 0, i, i mod Z)]> : {memory} -> {tile}
    %s = wave.add %q, %z : {tile}
    wave.write %s, %c : {tile}, {memory}"""
    text = KERNEL.format(
        arguments=f"%a: {memory}, %o: {memory}, %c: {memory}", symbols="M = 100, BM = 64", body=body,
        constraints="#wave.hardware<threads_per_wave = 64, vector_shapes = {M = 64}>",
    ).replace("dynamic []", "dynamic [Z]")  # fmt: skip
    compiled = driver.compile_module(text)
    a = RNG.integers(-3, 3, 100).astype(np.int32)
    quotient = np.array([7 if v == 0 else 100 // int(v) for v in a])
    for z in (0, 9):
        index = np.arange(100) % z if z else np.arange(100)
        for run in (lambda given, z=z: sim.run(compiled.module, given, symbols={"Z": z}),
                    lambda given, z=z: run_compiled(compiled, given, symbols={"Z": z})):  # fmt: skip
            o, c = np.full(100, -5, np.int32), np.zeros(100, np.int32)
            run([a, o, c])
            np.testing.assert_array_equal(o, a[index] if z else -5)
            np.testing.assert_array_equal(c, quotient + a[index])
