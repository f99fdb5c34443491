"""Remaps of workgroups: bijections of all grids, errors where a user's is none, results in the simulator."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import sympy
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from mlir import ir
from wave_mlir.compiler import abi, remaps
from wave_mlir.compiler.driver import CompileError
from wave_mlir.dialect import Expr, Facts, prove
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE, SHARED_ADDRESS_SPACE, WORKGROUP_0, WORKGROUP_1
from wave_mlir.wave.compile import CompiledKernel, WaveCompileOptions, wave_compile

M, N = tkl.sym.M, tkl.sym.N
ROWS, COLS = sympy.ceiling(M / 4), sympy.ceiling(N / 64)
Matrix = tkl.Memory[M, N, GLOBAL_ADDRESS_SPACE, tkl.f32]


def copy(constraints: list, sizes: dict | None = None) -> CompiledKernel:
    """A copy of M x N elements in tiles of 4 x 64 under more constraints; sizes not given are known at run time."""

    @tkw.wave(
        [
            tkw.WorkgroupConstraint(M, 4, 0),
            tkw.WorkgroupConstraint(N, 64, 1),
            tkw.HardwareConstraint(threads_per_wave=64, vector_shapes={M: 1, N: 64}),
            *constraints,
        ]
    )
    def copy_tiles(x: Matrix, y: Matrix):
        tkw.write(tkw.read(x), y)

    given = sizes or {}
    dynamic = [s for s in (M, N) if s not in given]
    return wave_compile(WaveCompileOptions(subs=given, dynamic_symbols=dynamic, target="gfx942"), copy_tiles)


def check_copy(kernel: CompiledKernel, m: int, n: int) -> None:
    x = np.arange(m * n, dtype=np.float32).reshape(m, n)
    y = np.full_like(x, np.nan)
    kernel(x, y)
    np.testing.assert_array_equal(y, x)


@pytest.mark.parametrize("along", (0, 1))
@pytest.mark.parametrize("xcds", (1, 2, 3, 8))
def test_bijection_of_every_grid(along: int, xcds: int) -> None:
    """All grids up to 20 x 20 with groups of 1 to 9 (by arrays: 400 grids x 9 groups)."""
    for rows, cols in itertools.product(range(1, 21), repeat=2):
        y, x = (i.reshape(-1) for i in np.indices((cols, rows)))
        for group in range(1, 10):
            sizes = (np.int64(rows), np.int64(cols))
            a, b = remaps.remapped((x, y), sizes, group, along, xcds, np.minimum)
            assert a.min() >= 0 and a.max() < rows and b.min() >= 0 and b.max() < cols
            assert len(np.unique(a * cols + b)) == rows * cols, (rows, cols, group)


@pytest.mark.parametrize("xcds", (2, 3, 8))
def test_proof_for_xcds(xcds: int) -> None:
    """Step 1 of the argument in remaps.py, for n = q * X + r ids with any q: intervals of XCDs follow without a gap."""

    def start(chip: int, rest: int) -> str:
        return f"({chip} * q + {min(chip, rest)})"

    with ir.Context():
        for chip, rest in itertools.product(range(xcds), repeat=2):
            mine = [Expr.parse(f"i * {xcds} + {chip} lt q * {xcds} + {rest}")]
            facts = Facts({"q": (0, None), "i": (0, None)}, {}, mine)
            assert prove(Expr.parse(f"{start(chip, rest)} + i lt {start(chip + 1, rest)}"), facts) is True
            assert prove(Expr.parse(f"{start(xcds, rest)} eq q * {xcds} + {rest}"), facts) is True
            assert prove(Expr.parse(f"{start(0, rest)} eq 0"), facts) is True


def test_proof_for_groups() -> None:
    """Step 2, for any number of columns C: numbers k of a run of s rows are pairs (row, column), each once."""
    with ir.Context():
        for s in range(1, 17):
            facts = Facts({"k": (0, None), "C": (1, None)}, {}, [Expr.parse(f"k lt {s} * C")])
            inside = (f"k floordiv {s} lt C", f"k floordiv {s} ge 0", f"k mod {s} lt {s}", f"k mod {s} ge 0")
            for statement in (*inside, f"k floordiv {s} * {s} + k mod {s} eq k"):
                assert prove(Expr.parse(statement), facts) is True, statement


def test_the_expressions_mean_the_same() -> None:
    """What the compiler gets from Python has the values of the remap on arrays."""
    with ir.Context():
        x, y, rows, cols = (Expr.symbol(n) for n in ("wg.x", "wg.y", "R", "C"))
        mapped = remaps.remapped((x, y), (rows, cols), 4, 1, 8, Expr.min)
    for r, c in ((1, 1), (5, 7), (8, 8), (13, 3)):
        ys, xs = (i.reshape(-1) for i in np.indices((c, r)))
        want = remaps.remapped((xs, ys), (np.int64(r), np.int64(c)), 4, 1, 8, np.minimum)
        for expr, ids in zip(mapped, want, strict=True):
            assert np.array_equal(expr.eval_numpy({"wg.x": xs, "wg.y": ys, "R": r, "C": c}), ids)


def test_neighbours_share() -> None:
    """Eight workgroups in a row of the new order touch 4 rows and 2 columns of tiles; an XCD has a run of them."""
    rows = cols = 16
    y, x = (i.reshape(-1) for i in np.indices((cols, rows)))
    a, b = remaps.remapped((x, y), (np.int64(rows), np.int64(cols)), 4, 0, 1, np.minimum)
    assert (len(set(a[:8].tolist())), len(set(b[:8].tolist()))) == (4, 2)
    a, b = remaps.remapped((x, y), (np.int64(rows), np.int64(cols)), 4, 0, 8, np.minimum)
    first_chip = slice(0, None, 8)
    assert (len(set(a[first_chip].tolist())), len(set(b[first_chip].tolist()))) == (4, 8)


@pytest.mark.parametrize("m,n", ((36, 448), (4, 64), (41, 700)))
@pytest.mark.parametrize("run_time", (False, True))
def test_copies_are_complete(m: int, n: int, run_time: bool) -> None:
    """Groups of 4 of 9, 1 and 11 rows of tiles, over 8 XCDs."""
    remap = tkw.reordered_workgroups((ROWS, COLS), group=4, target="gfx942")
    check_copy(copy(remap, None if run_time else {M: m, N: n}), m, n)


def test_dims_in_other_order() -> None:
    check_copy(copy(tkw.reordered_workgroups((ROWS, COLS), group=3, along=1, xcds=2), {M: 20, N: 320}), 20, 320)


def test_no_bijection_at_compile_time() -> None:
    """The usual mistake: a group that does not divide the grid. Compiled for 12 rows of tiles, refused for 9."""
    number = WORKGROUP_1 * ROWS + WORKGROUP_0
    careless = [
        tkw.ReorderingConstraint(number // (4 * COLS) * 4 + number % 4, 0),
        tkw.ReorderingConstraint(number % (4 * COLS) // 4, 1),
    ]
    check_copy(copy(careless, {M: 48, N: 320}), 48, 320)
    with pytest.raises(
        CompileError, match=r"outside of 0 to 8; reorderings must be a bijection of the grid \[9, 5, 1\]"
    ):
        copy(careless, {M: 36, N: 320})
    kernel = copy(careless)
    check_copy(kernel, 48, 320)
    with pytest.raises(abi.AbiError, match=r"is from 0 to 11 on the grid 9 x 5 x 1, outside of 0 to 8"):
        check_copy(kernel, 36, 320)
    with pytest.raises(abi.AbiError, match="outside of"):
        kernel.abi.grid_for({"M": 36, "N": 320})


def test_two_workgroups_of_one_tile() -> None:
    kernel = copy([tkw.ReorderingConstraint(WORKGROUP_0 // 2 * 2, 0)])
    check_copy(kernel, 4, 64)
    wrong = r"no bijection of the grid 2 x 1 x 1: workgroups \(0, 0, 0\) and \(1, 0, 0\) compute the same tile"
    with pytest.raises(abi.AbiError, match=wrong):
        check_copy(kernel, 8, 64)
    with pytest.raises(abi.AbiError, match="divides by zero"):
        check_copy(copy([tkw.ReorderingConstraint(WORKGROUP_0 % (M // 8), 0)]), 4, 64)


def test_description_keeps_the_check() -> None:
    """Who launches by the JSON beside a code object has the check too; sizes known while compiling need none."""
    kernel = copy([tkw.ReorderingConstraint(WORKGROUP_0 // 2 * 2, 0)]).abi
    again = abi.KernelABI.from_json(kernel.to_json())
    assert again == kernel and again.remap[0] == "wg.x floordiv 2 * 2" and len(again.program_grid) == 3
    with pytest.raises(abi.AbiError, match="no bijection"):
        again.grid_for({"M": 8, "N": 64})
    assert copy(tkw.reordered_workgroups((ROWS, COLS)), {M: 8, N: 64}).abi.remap == ()


def test_too_many_to_check() -> None:
    with pytest.raises(remaps.RemapError, match="cannot be checked"):
        remaps.check(("wg.x", "wg.y", "wg.z"), (1 << 13, 1 << 13, 1), (1 << 13, 1 << 13, 1), ())
    remaps.check(("wg.x", "0", "0"), (0, 1, 1), (0, 1, 1), ())


@pytest.mark.parametrize(
    "options,message",
    (
        ({"group": 0}, "group is 0"),
        ({"along": 2}, "along is 2"),
        ({"xcds": -1}, "there are -1 XCDs"),
        ({"xcds": 8, "target": "gfx942"}, "not both"),
        ({"target": "gfx1"}, "gfx1"),
    ),
    ids=str,
)
def test_numbers_that_make_no_sense(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tkw.reordered_workgroups((ROWS, COLS), **options)


@pytest.mark.parametrize("run_time", (False, True))
def test_machine_code_of_a_gemm(run_time: bool) -> None:
    """10 x 7 tiles in groups of 8 over 8 XCDs, with a last row and column of parts of tiles."""
    k, tile = tkl.sym.K, 32
    remap = tkw.reordered_workgroups((sympy.ceiling(M / tile), sympy.ceiling(N / tile)), group=8, target="gfx942")

    @tkw.wave(
        [
            tkw.WorkgroupConstraint(M, tile, 0),
            tkw.WorkgroupConstraint(N, tile, 1),
            tkw.TilingConstraint(k, 32),
            tkw.WaveConstraint(M, tile // 2),
            tkw.WaveConstraint(N, tile // 2),
            tkw.HardwareConstraint(threads_per_wave=64, mma_type=tkw.MMAType.F32_16x16x16_F16),
            *remap,
        ]
    )
    def gemm(
        a: tkl.Memory[M, k, SHARED_ADDRESS_SPACE, tkl.f16],
        b: tkl.Memory[N, k, SHARED_ADDRESS_SPACE, tkl.f16],
        c: tkl.Memory[M, N, GLOBAL_ADDRESS_SPACE, tkl.f32],
    ):
        @tkw.iterate(k, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
        def total(sum: tkl.Register[M, N, tkl.f32]) -> tkl.Register[M, N, tkl.f32]:
            return tkw.mma(tkw.read(a), tkw.read(b), sum)

        tkw.write(total, c)

    sizes = {M: 300, N: 200, k: 40}
    options = {"subs": {}, "dynamic_symbols": list(sizes)} if run_time else {"subs": sizes}
    kernel = wave_compile(WaveCompileOptions(target="gfx942", **options), gemm)
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-4, 5, (rows, 40)).astype(np.float16) for rows in (300, 200))
    c = np.full((300, 200), np.nan, np.float32)
    kernel.run_isa(a, b, c, seed=3)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32).T)
