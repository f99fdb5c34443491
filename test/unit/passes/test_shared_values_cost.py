"""Questions about a value that many paths lead to are answered once: time does not double with each op."""

import time

from mlir import ir
from wave_mlir.compiler.same_elements import classes
from wave_mlir.compiler.uniform import Uniform

DEPTH = 40
CHAIN = "\n".join(f"    %v{n + 1} = arith.addi %v{n}, %v{n} : vector<4xi32>" for n in range(DEPTH))
TEXT = f"""
module {{
  func.func @f(%v0: vector<4xi32>, %i: i32) {{
{CHAIN}
    return
  }}
}}"""


def test_chains() -> None:
    with ir.Context() as context:
        context.allow_unregistered_dialects = True
        module = ir.Module.parse(TEXT)
        last = list(module.body.operations[0].regions[0].blocks[0].operations)[DEPTH - 1].result
        started = time.process_time()
        assert classes([last], 4) == (0, 1, 2, 3)
        assert not Uniform()._own(last)
        assert time.process_time() - started < 1
