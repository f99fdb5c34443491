"""wave-fold-conditions: what it makes of random comparisons is what every lane, wave, workgroup and trip computes."""

from __future__ import annotations

import operator
import random
from dataclasses import dataclass

import numpy as np
import pytest
from mlir import ir
from wave_mlir.compiler import driver
from wave_mlir.compiler.lane_conditions import operations
from wave_mlir.compiler.pass_registry import run_passes
from wave_mlir.dialect import Expr

GROUPS, WAVES, TRIPS, SIZES = 3, 2, 4, (0, 1, 63, 64, 65, 130, 300)
CASES = 60
COMPARE = {"slt": "lt", "sle": "le", "sgt": "gt", "sge": "ge", "eq": "eq", "ne": "ne"}
HEAD = """module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%o: !wave.memory<[O], i8, global>) symbols {O = 8192, M = 192} dynamic [N]
      constraints [#wave.workgroup<M, 64, x>, #wave.wave<M, 32>, #wave.tiling<N, 64>,
                   #wave.hardware<threads_per_wave = 64>] {
"""


@dataclass(frozen=True)
class Case:
    """A comparison. known: in the loop of so many trips, rather than in that of whole tiles."""

    lhs: str
    predicate: str
    rhs: str
    known: bool

    def text(self, number: int) -> list[str]:
        """Stores of what it gives at elements 4 * number …."""
        sides = [
            f"%{name}{number} = wave.apply_expr [{side}] symbols(iv.N = %i) : vector<4xi32>"
            for name, side in (("l", self.lhs), ("r", self.rhs))
        ]
        return [
            *sides,
            f"%c{number} = arith.cmpi {self.predicate}, %l{number}, %r{number} : vector<4xi32>",
            f"%e{number} = arith.extui %c{number} : vector<4xi1> to vector<4xi8>",
            f"wave.write %e{number}, %o index [{number * 4} + el] : vector<4xi8>, !wave.memory<[O], i8, global>",
        ]

    def gives(self) -> set[bool]:
        """All that it gives, over what its symbols can be."""
        found: set[bool] = set()
        for size in SIZES:
            trips = np.arange(TRIPS if self.known else size // 64)
            counts = (trips, np.arange(GROUPS), np.arange(WAVES), np.arange(64), np.arange(4))
            grids = np.meshgrid(*counts, indexing="ij")
            names = dict(zip(("iv_N", "wg_x", "wave_x", "lane", "el"), grids, strict=True)) | {"N": size}
            sides = [eval(_python(side), names) for side in (self.lhs, self.rhs)]
            values = np.broadcast_to(getattr(operator, COMPARE[self.predicate])(*sides), grids[0].shape)
            found |= set(np.unique(values).tolist())
        return found


def _python(expr: str) -> str:
    return (
        expr.replace("floordiv", "//")
        .replace("mod", "%")
        .replace("iv.", "iv_")
        .replace("wg.", "wg_")
        .replace("wave.", "wave_")
    )


def _side(rng: random.Random) -> str:
    """An expression of the lane's element, or a number, or a size."""
    if rng.random() < 0.5:
        return rng.choice(["N", "N - 1", "0", "7", "63", "64", "127", "128", "255", "256", "300"])
    terms = ["iv.N * 64", "wave.x * 32", "wg.x * 64", "lane", "lane floordiv 16 * 4", "lane mod 8", "el * 2", "el"]
    return " + ".join([*rng.sample(terms, rng.choice([1, 2, 3])), rng.choice(["0", "1", "60", "-3"])])


def _kernel(cases: list[Case]) -> str:
    lines: list[str] = []
    for known, loop in (
        (False, "trips(N floordiv 64) attributes {wave.full = {N = 64 : i64}}"),
        (True, f"trips({TRIPS})"),
    ):
        lines.append(f"wave.iterate N iv(%i) {loop} {{")
        lines += [line for n, case in enumerate(cases) if case.known is known for line in case.text(n)]
        lines += ["wave.yield", "}"]
    return HEAD + "\n".join([*lines, "wave.return", "}", "}"])


def _folded(module: ir.Module) -> dict[int, bool]:
    """Comparisons that became constants, by number, and which."""
    found: dict[int, bool] = {}
    for op in operations(module.body.operations[0].operation.regions[0].blocks[0]):
        if op.name == "wave.write":
            condition = op.operands[0].owner.operation.operands[0].owner.operation
            if condition.name == "arith.constant":
                number = Expr(op.attributes["index"][0]).eval({"el": 0}) // 4
                found[number] = bool(ir.DenseElementsAttr(condition.attributes["value"]).get_splat_value().value)
    return found


@pytest.mark.parametrize("seed", range(4))
def test_what_is_folded_always_holds(seed: int) -> None:
    rng = random.Random(seed)
    cases = [Case(_side(rng), rng.choice(list(COMPARE)), _side(rng), rng.random() < 0.5) for _ in range(CASES)]
    module = driver.parse(_kernel(cases))
    run_passes(module, "wave-fold-conditions")
    folded = _folded(module)
    constant = {n: found.pop() for n, case in enumerate(cases) if len(found := case.gives()) == 1}
    wrong = [case for n, case in enumerate(cases) if n in folded and constant.get(n) is not folded[n]]
    assert not wrong
    # Where it takes no more than that ranges do not meet nothing is missed.
    apart = [n for n, case in enumerate(cases) if n in constant and case.known and case.predicate not in ("eq", "ne")]
    missed = [cases[n] for n in apart if n not in folded and "N" not in {cases[n].lhs[:1], cases[n].rhs[:1]}]
    assert not missed
    assert len(folded) >= CASES // 5
