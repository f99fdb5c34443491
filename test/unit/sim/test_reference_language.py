"""The reference evaluator against numpy: while loops, mappings with dynamic values, strided memories, reorderings."""

from __future__ import annotations

import numpy as np
import pytest
from wave_mlir.compiler import driver
from wave_mlir.sim import SimError, reference

RNG = np.random.default_rng(7)


def kernel(arguments: str, body: str, *, symbols: str = "", dynamic: str = "", constraints: str = ""):
    return driver.parse(f"""
module attributes {{wave.form = "tile", wave.target = "gfx942"}} {{
  wave.kernel @k({arguments}) symbols {{BM = 16{symbols}}} dynamic [{dynamic}]
      constraints [#wave.workgroup<M, BM, x>, {constraints}#wave.hardware<threads_per_wave = 64>] {{
    {body}
    wave.return
  }}
}}""")


def floats(*shape: int) -> np.ndarray:
    return RNG.integers(-9, 10, shape).astype(np.float32)


ROW, TILE = "!wave.tile<[M], f32>", "!wave.tile<[M, N], f32>"
VECTOR, MEMORY = "!wave.memory<[M], f32, global>", "!wave.memory<[M, N], f32, global>"

# --- while loops ---

WALK = f"""
    %zero = wave.register 0.0 : {ROW}
    %sum = wave.iterate B start(%first : i32) condition(B lt L) iter_args(%acc = %zero : {ROW}) {{
      %x = wave.read %a mapping <[M = i] -> [i, B]> : !wave.memory<[M, L], f32, global> -> {ROW}
      %y = wave.add %acc, %x : {ROW}
      NEXT
      wave.yield %y : {ROW}
    }}
    wave.write %sum, %c : {ROW}, {VECTOR}"""
NEXT = "%n = wave.scalar [NEW] : i32\n      wave.set_symbol B = %n : i32"


def walk(next: str, step: str = ""):
    body = WALK.replace("NEXT", next).replace("condition(B lt L)", f"{step} condition(B lt L)")
    return kernel(f"%a: !wave.memory<[M, L], f32, global>, %c: {VECTOR}, %first: i32", body, dynamic="M, L")


@pytest.mark.parametrize(
    ("new", "follow"), [("B + 1", lambda b: b + 1), ("B * 2 + 1", lambda b: b * 2 + 1), ("B + 3", lambda b: b + 3)]
)
@pytest.mark.parametrize("first", [0, 2, 19, 20, 33])
def test_while(new: str, follow, first: int) -> None:
    a, c = floats(21, 20), np.full(21, np.nan, np.float32)
    reference.run(walk(NEXT.replace("NEW", new)), [a, c, first])
    columns, b = [], first
    while b < 20:
        columns.append(b)
        b = follow(b)
    np.testing.assert_array_equal(c, a[:, columns].sum(axis=1))


@pytest.mark.parametrize("step", [1, 4])
def test_while_with_a_step(step: int) -> None:
    a, c = floats(17, 22), np.full(17, np.nan, np.float32)
    reference.run(walk("", f"step({step})"), [a, c, 3])
    np.testing.assert_array_equal(c, a[:, 3::step].sum(axis=1))


def test_a_while_loop_that_never_changes_its_axis() -> None:
    with pytest.raises(SimError, match="no set_symbol of B gives its next value"):
        reference.run(walk(""), [floats(4, 4), floats(4), 0])
    reference.run(walk(""), [floats(4, 4), floats(4), 4])  # it is not entered


# --- mappings ---


def test_a_mapping_transposes_and_shifts() -> None:
    module = kernel(
        f"%a: !wave.memory<[N, M], f32, global>, %c: {MEMORY}",
        f"""%x = wave.read %a mapping <[M = i, N = j] -> [j - 2, i + 1]> : !wave.memory<[N, M], f32, global> -> {TILE}
    wave.write %x, %c : {TILE}, {MEMORY}""",
        dynamic="M, N",
    )
    a, c = floats(6, 19), np.full((19, 6), np.nan, np.float32)
    reference.run(module, [a, c])
    wanted = np.zeros((19, 6), np.float32)  # what is read outside is 0
    wanted[:-1, 2:] = a[:-2, 1:].T
    np.testing.assert_array_equal(c, wanted)


GATHER = f"""%i = wave.read %t : !wave.memory<[M], i32, global> -> !wave.tile<[M], i32>
    %x = wave.read %a mapping <[M = i, N = j] -> [d0, j], dynamic = [[M = i]]> dynamic(%i : !wave.tile<[M], i32>)
           : !wave.memory<[R, N], f32, global> -> {TILE}
    wave.write %x, %c : {TILE}, {MEMORY}"""


def test_a_gather_through_a_table() -> None:
    """Rows by a table; a row that the memory has not reads as 0."""
    module = kernel(
        f"%a: !wave.memory<[R, N], f32, global>, %t: !wave.memory<[M], i32, global>, %c: {MEMORY}",
        GATHER,
        dynamic="M, N, R",
    )
    a, c = floats(9, 5), np.full((37, 5), np.nan, np.float32)
    table = RNG.integers(-2, 12, 37).astype(np.int32)
    reference.run(module, [a, table, c])
    inside = (table >= 0) & (table < 9)
    np.testing.assert_array_equal(c, np.where(inside[:, None], a[np.where(inside, table, 0)], 0))


def test_a_scatter_through_a_table() -> None:
    module = kernel(
        f"%a: {MEMORY}, %t: !wave.memory<[M], i32, global>, %c: !wave.memory<[R, N], f32, global>",
        f"""%i = wave.read %t : !wave.memory<[M], i32, global> -> !wave.tile<[M], i32>
    %x = wave.read %a : {MEMORY} -> {TILE}
    wave.write %x, %c mapping <[M = i, N = j] -> [d0, j], dynamic = [[M = i]]> dynamic(%i : !wave.tile<[M], i32>)
      : {TILE}, !wave.memory<[R, N], f32, global>""",
        dynamic="M, N, R",
    )
    a, c = floats(20, 3), np.full((32, 3), -1, np.float32)
    table = RNG.permutation(34)[:20].astype(np.int32)  # two places at most are outside
    wanted = c.copy()
    reference.run(module, [a, table, c])
    for row, place in enumerate(table):
        if place < 32:
            wanted[place] = a[row]
    np.testing.assert_array_equal(c, wanted)


def test_a_page_table_with_a_position_computed_from_the_iterator() -> None:
    """Pages of 4 rows: row i is in page t[i floordiv 4], at i mod 4 of it."""
    module = kernel(
        f"%a: !wave.memory<[P, 4, N], f32, global>, %t: !wave.memory<[Q], i32, global>, %c: {MEMORY}",
        f"""%i = wave.read %t : !wave.memory<[Q], i32, global> -> !wave.tile<[Q], i32>
    %x = wave.read %a mapping <[M = i, N = j] -> [d0, i mod 4, j], dynamic = [[Q = i floordiv 4]]>
           dynamic(%i : !wave.tile<[Q], i32>) : !wave.memory<[P, 4, N], f32, global> -> {TILE}
    wave.write %x, %c : {TILE}, {MEMORY}""",
        dynamic="M, N, P, Q",
    )
    pages, table = floats(7, 4, 3), RNG.permutation(7)[:5].astype(np.int32)
    c = np.full((18, 3), np.nan, np.float32)
    reference.run(module, [pages, table, c])
    np.testing.assert_array_equal(c, pages[table].reshape(20, 3)[:18])


# --- strided memories ---


def test_strided_memories() -> None:
    """A view with gaps between rows and a transposed one; what is between the rows stays."""
    module = kernel(
        "%a: !wave.memory<[M, N], f32, global, strides = [1, M]>, "
        "%c: !wave.memory<[M, N], f32, global, strides = [N + 3, 1]>",
        f"""%x = wave.read %a : !wave.memory<[M, N], f32, global, strides = [1, M]> -> {TILE}
    wave.write %x, %c : {TILE}, !wave.memory<[M, N], f32, global, strides = [N + 3, 1]>""",
        dynamic="M, N",
    )
    m, n = 19, 6
    a, c = floats(n, m), np.full((m, n + 3), 55, np.float32)
    reference.run(module, [a.T, c[:, :n]], symbols={"M": m, "N": n})
    np.testing.assert_array_equal(c[:, :n], a.T)
    assert (c[:, n:] == 55).all()


# --- ops that change the shape, and the order of workgroups ---


def test_permute_and_reshape() -> None:
    module = kernel(
        "%a: !wave.memory<[M, A, B], f32, global>, %c: !wave.memory<[M, B, A], f32, global>, "
        "%d: !wave.memory<[M, L], f32, global>",
        """%x = wave.read %a : !wave.memory<[M, A, B], f32, global> -> !wave.tile<[M, A, B], f32>
    %p = wave.permute %x : !wave.tile<[M, A, B], f32> -> !wave.tile<[M, B, A], f32>
    wave.write %p, %c : !wave.tile<[M, B, A], f32>, !wave.memory<[M, B, A], f32, global>
    %r = wave.reshape %p : !wave.tile<[M, B, A], f32> -> !wave.tile<[M, L], f32>
    wave.write %r, %d : !wave.tile<[M, L], f32>, !wave.memory<[M, L], f32, global>""",
        symbols=", A = 3, B = 5, L = 15",
        dynamic="M",
    )
    a = floats(21, 3, 5)
    c, d = np.full((21, 5, 3), np.nan, np.float32), np.full((21, 15), np.nan, np.float32)
    reference.run(module, [a, c, d])
    np.testing.assert_array_equal(c, a.transpose(0, 2, 1))
    np.testing.assert_array_equal(d, a.transpose(0, 2, 1).reshape(21, 15))


@pytest.mark.parametrize("equation", ["wg.x", "(M ceildiv BM) - 1 - wg.x", "wg.x xor 1"])
def test_reordered_workgroups_write_the_same(equation: str) -> None:
    module = kernel(
        f"%a: {VECTOR}, %c: {VECTOR}",
        f"""%x = wave.read %a : {VECTOR} -> {ROW}
    %y = wave.add %x, %x : {ROW}
    wave.write %y, %c : {ROW}, {VECTOR}""",
        dynamic="M",
        constraints=f"#wave.reordering<{equation}, x>, ",
    )
    a, c = floats(61), np.full(61, np.nan, np.float32)
    reference.run(module, [a, c])
    np.testing.assert_array_equal(c, a + a)


def test_a_reordering_decides_which_part_a_workgroup_has() -> None:
    module = kernel(
        "%c: !wave.memory<[M], i32, global>",
        """%x = wave.scalar [wg.x] : i32
    %t = wave.register %x : !wave.tile<[M], i32>
    wave.write %t, %c : !wave.tile<[M], i32>, !wave.memory<[M], i32, global>""",
        dynamic="M",
        constraints="#wave.reordering<3 - wg.x, x>, ",
    )
    c = np.full(64, -1, np.int32)
    reference.run(module, [c])
    np.testing.assert_array_equal(c, np.arange(64) // 16)  # ids are those of the program, not of the hardware
