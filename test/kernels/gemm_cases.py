"""The matrix of GEMM cases: text, what must be refused, inputs, exact results, and selections.

A case computes C[M, N] = A[M, K] · B[N, K]ᵀ. `all_cases()` is the whole matrix; `covering()` a selection of valid cases
in which every pair of settings that some valid case has occurs, and every MMA kind; `refused()` the combinations that
are an error; `configurations()` every combination but of the sizes, which take turns.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import ml_dtypes
import numpy as np
from wave_mlir.compiler import targets
from wave_mlir.compiler.targets import DTYPE_BITS, MmaKind

TARGETS = ("gfx942", "gfx950")
SIZES = (1, 17, 64, 100, 256, 300)
TILES = ((64, 64, 32), (128, 128, 64), (256, 256, 64), (8, 64, 32))
WAVES = ((1, 1), (2, 2), (4, 1), (1, 4))
WIDTHS = (16, 32)
SPACES = ("shared", "global")
DTYPES = ("f16", "bf16", "f8", "bf8", "i8")

# K of the kinds the matrix names, by target and operand type, for 16 and for 32-wide ones.
_WIDE_K = (32, 16)
_KIND_K = {
    (target, dtype): (16, 8) if (target, dtype) in (("gfx942", "f16"), ("gfx942", "bf16")) else _WIDE_K
    for target in TARGETS
    for dtype in DTYPES
}

NUMPY = {
    "f16": np.dtype(np.float16), "bf16": np.dtype(ml_dtypes.bfloat16), "i8": np.dtype(np.int8),
    "f8E4M3FNUZ": np.dtype(ml_dtypes.float8_e4m3fnuz), "f8E5M2FNUZ": np.dtype(ml_dtypes.float8_e5m2fnuz),
    "f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn), "f8E5M2": np.dtype(ml_dtypes.float8_e5m2),
}  # fmt: skip


@dataclass(frozen=True)
class GemmCase:
    """One GEMM. `dtype`: f16, bf16, i8, f8 (e4m3) or bf8 (e5m2) of the target's flavour; `width`: the MMA's M and N."""

    target: str
    dtype: str
    width: int
    space: str  # where A and B are read from by the MMA
    tile: tuple[int, int, int]  # BLOCK_M, BLOCK_N, BLOCK_K
    waves: tuple[int, int]  # along M, N
    m: int
    n: int
    k: int

    def __str__(self) -> str:
        tile, waves = "x".join(map(str, self.tile)), "x".join(map(str, self.waves))
        return f"{self.target}-{self.kind.name}-{self.space}-{tile}-{waves}-{self.m}x{self.n}x{self.k}"

    @property
    def kind(self) -> MmaKind:
        """The MMA kind."""
        k = _KIND_K[self.target, self.dtype][WIDTHS.index(self.width)]
        acc = "i32" if self.dtype == "i8" else "f32"
        name = f"{acc}_{self.width}x{self.width}x{k}_{self.operand_type.lower()}"
        return targets.get(self.target).mma(name)

    @property
    def operand_type(self) -> str:
        """Element type of A and B as MLIR spells it."""
        flavor = targets.F8_FLAVORS[targets.get(self.target).f8_flavor or "OCP"]
        return {"f8": flavor[0], "bf8": flavor[1]}.get(self.dtype, self.dtype)

    @property
    def acc_registers(self) -> int:
        """Accumulator registers a lane needs: MMA tiles that stick out of the wave's tile count whole."""
        rows, cols = self.tile[0] // self.waves[0], self.tile[1] // self.waves[1]
        return -(-rows // self.kind.m) * -(-cols // self.kind.n) * self.kind.acc.registers

    @property
    def lds_bytes(self) -> int:
        """LDS the tiles of A and B need without padding."""
        bm, bn, bk = self.tile
        return (bm + bn) * bk * DTYPE_BITS[self.operand_type] // 8 if self.space == "shared" else 0


def expected_error(case: GemmCase) -> str | None:
    """A regular expression that the error of an illegal case matches, case ignored; None when it must compile."""
    target = targets.get(case.target)
    if case.tile[0] % case.waves[0] or case.tile[1] % case.waves[1]:
        return r"divi"
    if case.waves[0] * case.waves[1] > target.max_waves_per_workgroup:
        return r"threads|waves"
    if case.acc_registers > target.registers.max_mma_accumulators:
        return r"accumulator"
    if case.lds_bytes > target.lds_bytes:
        return r"LDS|shared"
    return None


def gemm_text(case: GemmCase, dynamic: tuple[str, ...] = ()) -> str:
    """The kernel `gemm` in tile form. `dynamic` names those of M, N, K that are arguments at run time."""
    dtype, acc = case.operand_type, case.kind.acc_dtype
    zero = "0" if acc == "i32" else "0.0"
    sizes = {"M": case.m, "N": case.n, "K": case.k}
    static = {name: value for name, value in sizes.items() if name not in dynamic}
    symbols = static | dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), case.tile, strict=True))
    bound = ", ".join(f"{name} = {value}" for name, value in symbols.items())
    lhs, rhs = (f"!wave.memory<[{dim}, K], {dtype}, {case.space}>" for dim in "MN")
    out = f"!wave.memory<[M, N], {acc}, global>"
    lhs_tile, rhs_tile, acc_tile = (
        f"!wave.tile<[{dims}], {element}>" for dims, element in (("M, K", dtype), ("N, K", dtype), ("M, N", acc))
    )
    wave_size = targets.get(case.target).wave_size
    return f"""
module attributes {{wave.form = "tile", wave.target = "{case.target}"}} {{
  wave.kernel @gemm(%a: {lhs}, %b: {rhs}, %c: {out})
      symbols {{{bound}}} dynamic [{", ".join(dynamic)}]
      constraints [#wave.workgroup<M, BLOCK_M, x>, #wave.workgroup<N, BLOCK_N, y>, #wave.tiling<K, BLOCK_K>,
                   #wave.wave<M, {_share("BLOCK_M", case.waves[0])}>, #wave.wave<N, {_share("BLOCK_N", case.waves[1])}>,
                   #wave.hardware<threads_per_wave = {wave_size}, mma = {case.kind.name}>] {{
    %zero = wave.register {zero} : {acc_tile}
    %sum = wave.iterate K iter_args(%acc = %zero : {acc_tile}) {{
      %x = wave.read %a : {lhs} -> {lhs_tile}
      %y = wave.read %b : {rhs} -> {rhs_tile}
      %z = wave.mma %x, %y, %acc : {lhs_tile}, {rhs_tile}, {acc_tile}
      wave.yield %z : {acc_tile}
    }}
    wave.write %sum, %c : {acc_tile}, {out}
    wave.return
  }}
}}
"""


def _share(tile: str, waves: int) -> str:
    return tile if waves == 1 else f"{tile} floordiv {waves}"


def inputs(case: GemmCase, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A, B of small integers, exact in their type, and a C whose every element is wrong."""
    rng = np.random.default_rng([seed, case.m, case.n, case.k])
    dtype = NUMPY[case.operand_type]
    a, b = (rng.integers(-4, 5, (rows, case.k)).astype(np.float32).astype(dtype) for rows in (case.m, case.n))
    acc = np.dtype(np.int32) if case.kind.acc_dtype == "i32" else np.dtype(np.float32)
    return a, b, np.full((case.m, case.n), -12345, acc)


def expected(a: np.ndarray, b: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """A · Bᵀ computed in integers; every partial sum is exact in f32, so it is what any order of adding gives."""
    return (a.astype(np.float64).astype(np.int64) @ b.astype(np.float64).astype(np.int64).T).astype(dtype)


Settings = tuple[str, str, int, str, tuple[int, int, int], tuple[int, int]]
_SETTINGS = (TARGETS, DTYPES, WIDTHS, SPACES, TILES, WAVES)


def _settings() -> Iterator[Settings]:
    return itertools.product(*_SETTINGS)


def all_cases() -> Iterator[GemmCase]:
    """The whole matrix, illegal combinations included."""
    for settings in _settings():
        for sizes in itertools.product(SIZES, repeat=3):
            yield GemmCase(*settings, *sizes)


def configurations(rounds: int = 1) -> list[GemmCase]:
    """Every combination of everything but the sizes, each `rounds` times with other sizes.

    The sizes run through all their combinations in an order that changes all three at each step.
    """
    triples = [(a, (a + b) % 6, (a + 2 * b + c) % 6) for c in range(6) for b in range(6) for a in range(6)]
    sizes = itertools.cycle(tuple(SIZES[i] for i in triple) for triple in triples)
    return [GemmCase(*settings, *next(sizes)) for _ in range(rounds) for settings in _settings()]


def refused() -> list[GemmCase]:
    """Cases that must be an error: each illegal combination of the matrix once for every kind, and some beyond it."""
    found = [GemmCase(*settings, 256, 256, 256) for settings in _settings()]
    beyond = [
        GemmCase("gfx942", "f16", 16, "shared", (64, 64, 32), (3, 1), 256, 256, 256),
        GemmCase("gfx950", "f16", 16, "global", (64, 60, 32), (1, 8), 256, 256, 256),
        GemmCase("gfx942", "f16", 16, "shared", (256, 256, 128), (2, 2), 256, 256, 256),
        GemmCase("gfx950", "bf16", 32, "shared", (256, 256, 256), (2, 2), 256, 256, 256),
    ]
    return [case for case in found + beyond if expected_error(case) is not None]


Goal = tuple[tuple[int, object], ...]


def covering() -> list[GemmCase]:
    """Valid cases in which all pairs of settings and sizes occur, and all (target, dtype, width).

    Greedy: each new case starts from a goal not covered yet and fills the other axes, one after the other, with the
    value that covers most; the result depends on nothing but the tables above.
    """
    axes: list[tuple[object, ...]] = [*_SETTINGS, SIZES, SIZES, SIZES]
    legal = {s for s in _settings() if expected_error(GemmCase(*s, 1, 1, 1)) is None}
    goals = _goals(axes, legal)
    open_goals = dict.fromkeys(goals)
    cases: list[GemmCase] = []
    while open_goals:
        chosen = _fill(axes, legal, next(iter(open_goals)), open_goals)
        for goal in [g for g in open_goals if all(chosen[axis] == value for axis, value in g)]:
            del open_goals[goal]
        cases.append(GemmCase(*chosen))
    return cases


def _goals(axes: list[tuple[object, ...]], legal: set[Settings]) -> list[Goal]:
    """The pairs that some legal case has, and the triples (target, dtype, width)."""
    groups = [*itertools.combinations(range(len(axes)), 2), (0, 1, 2)]
    goals = []
    for group in groups:
        for values in itertools.product(*(axes[axis] for axis in group)):
            goal = tuple(zip(group, values, strict=True))
            if _possible(dict(goal), legal):
                goals.append(goal)
    return goals


def _possible(chosen: dict[int, object], legal: set[Settings]) -> bool:
    """Whether a legal case has the chosen values; sizes never make one illegal."""
    fixed = [(axis, value) for axis, value in chosen.items() if axis < len(_SETTINGS)]
    return any(all(settings[axis] == value for axis, value in fixed) for settings in legal)


def _fill(axes: list[tuple[object, ...]], legal: set[Settings], start: Goal, goals: dict[Goal, None]) -> list:
    chosen = dict(start)
    for axis in range(len(axes)):
        if axis in chosen:
            continue
        best = None
        for value in axes[axis]:
            trial = {**chosen, axis: value}
            if not _possible(trial, legal):
                continue
            touched = [g for g in goals if any(a == axis and v == value for a, v in g)]
            # goals reached outright weigh most, then those that remain reachable
            reached = sum(all(a in trial and trial[a] == v for a, v in g) for g in touched)
            reachable = sum(all(a not in trial or trial[a] == v for a, v in g) for g in touched)
            if best is None or (reached, reachable) > best[0]:
                best = ((reached, reachable), value)
        if best is None:
            raise ValueError(f"no legal case has {start}")
        chosen[axis] = best[1]
    return [chosen[axis] for axis in range(len(axes))]
