"""Times of layout operations, in microseconds each: `python benchmarks/layout.py`.

A 128x64 MMA operand of f16 with 4 waves, and what passes ask of it. The last group works on whole tables and is not
meant to be cheap.
"""

from __future__ import annotations

import timeit
from collections.abc import Callable

from mlir import ir
from wave_mlir.dialect import (
    Layout,
    LdsLayout,
    bank_conflicts,
    block_sizes,
    consecutive_phases,
    cooperative_layout,
    plan,
)

LHS = (
    "#wave.layout<[M = 128, K = 64], reg = [4 : K * 1, 4 : K * 16, 4 : M * 16], lane = [16 : M * 1, 4 : K * 4], "
    "wave.x = [2 : M * 64]>"
)


def operations(context: ir.Context) -> dict[str, Callable[[], object]]:
    """The operations by name."""
    lhs = Layout(ir.Attribute.parse(LHS, context))
    same = lhs.permute(["K", "M"]).permute(["M", "K"])
    sizes = block_sizes(64, (2, 2, 1))
    coop = cooperative_layout({"M": 128, "K": 64}, "K", 8, 64, (2, 2, 1), context)
    at = {d: ir.Attribute.parse(f"#wave.expr<at.{d}>", context) for d in lhs.dims}
    digits = lhs.digits
    lds = LdsLayout.get([128, 64], chunk=8, phases=8, context=context)
    addresses = [lds.offset([lane % 16, lane // 16 * 8]) * 2 for lane in range(64)]
    phases = consecutive_phases(64, 16)
    offset = list(at.values())
    transposed = lhs.rename({"M": "K", "K": "M"}).permute(["M", "K"]).slice("M", 0, 64)[0].slice("K", 0, 64)[0]
    square = lhs.slice("M", 0, 64)[0]
    return {
        "parse": lambda: ir.Attribute.parse(LHS, context),
        "get (verified)": lambda: Layout.get(
            {"M": 128, "K": 64}, reg=digits["reg"], lane=digits["lane"], wave_x=digits["wave.x"], context=context
        ),
        "canonical": lhs.canonical,
        "same_map": lambda: lhs.same_map(same),
        "coord_expr": lambda: lhs.coord_expr("M", 3, sizes),
        "owner_expr": lambda: lhs.owner_expr(0, sizes),
        "inverse_expr": lambda: lhs.inverse_expr("lane", at),
        "permute": lambda: lhs.permute(["K", "M"]),
        "drop": lambda: lhs.drop("K"),
        "split": lambda: lhs.split("M", "A", "B", 16),
        "slice": lambda: lhs.slice("M", 16, 16),
        "widest_access": lambda: lhs.widest_access("K"),
        "register_runs": lambda: lhs.register_runs({"M": 64, "K": 1}),
        "LDS offset_expr": lambda: lds.offset_expr(offset),
        "bank_conflicts": lambda: bank_conflicts(addresses, 16, 32, phases),
        "cooperative_layout": lambda: cooperative_layout({"M": 128, "K": 64}, "K", 8, 64, (2, 2, 1), context),
        "table": lambda: lhs.table(sizes),
        "plan to LDS": lambda: plan(coop, lhs, sizes),
        "plan of a transpose": lambda: plan(square, transposed, sizes),
    }


def main() -> None:
    """Prints a table."""
    for name, run in operations(ir.Context()).items():
        timer = timeit.Timer(run)
        count, _ = timer.autorange(lambda *_: None)
        best = min(timer.repeat(3, max(1, count // 5))) / max(1, count // 5)
        print(f"{name:22} {best * 1e6:9.2f} us")


if __name__ == "__main__":
    main()
