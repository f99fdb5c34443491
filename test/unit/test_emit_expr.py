"""Expressions as arith ops: what they compute, simulated and folded, against Python integers; where they stand."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from exprgen import NoValue, Tree, build, text, trees, value
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from mlir import ir
from mlir.dialects import arith
from wave_mlir import sim
from wave_mlir.compiler.diagnostics import PassError
from wave_mlir.compiler.emit_expr import ExprEmitter
from wave_mlir.compiler.pass_registry import run_passes
from wave_mlir.dialect import Expr, Facts

RANGES = {"lane": (0, 63), "wg.x": (0, 1000), "M": (-70, 70), "K": (-9, 9)}
"""Symbols and their values: the first two are never negative, as the emitter is told."""
FACTS = {"lane": (0, 63), "wg.x": (0, 1000)}
LANES = 64
KERNEL = """
module attributes {wave.target = "gfx942", gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%in: memref<?xi64, #gpu.address_space<global>>, %out: memref<?xi64, #gpu.address_space<global>>)
        kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %lane = gpu.thread_id x
      %four = arith.constant 4 : index
      %at = arith.muli %lane, %four : index
      gpu.return
    }
  }
}
"""
Environment = dict[str, int]
ENVIRONMENTS = st.lists(
    st.fixed_dictionaries({name: st.integers(*ends) for name, ends in RANGES.items()}), min_size=4, max_size=4
)


@pytest.fixture(autouse=True, scope="module")
def context() -> Iterator[ir.Context]:
    with ir.Context() as context, ir.Location.unknown():
        yield context


def _has_value(tree: Tree, env: Environment) -> bool:
    """Whether the tree divides by zero nowhere but in the arm of a select that is not taken."""
    try:
        value(tree, env)
    except NoValue:
        return False
    return True


def _expression(tree: Tree, envs: list[Environment]) -> tuple[Expr, list[Environment]]:
    """The tree as an expression, and the environments in which it has a value."""
    kept = [env for env in envs if _has_value(tree, env)]
    assume(kept)
    try:
        return build(tree), kept
    except ZeroDivisionError:
        assume(False)
        raise


def _as_i64(value: ir.Value) -> ir.Value:
    i64 = ir.IntegerType.get_signless(64)
    return arith.extui(i64, value) if value.type == ir.IntegerType.get_signless(1) else arith.index_cast(i64, value)


def _simulated(expr: Expr, envs: list[Environment], facts: Facts) -> list[int]:
    """The values that the emitted ops have in the simulator, one environment a lane."""
    module = ir.Module.parse(KERNEL)
    function = module.body.operations[0].regions[0].blocks[0].operations[0]
    block = function.regions[0].blocks[0]
    source, target = block.arguments
    lane, _, at, end = (op.operation for op in block.operations)
    emitter = ExprEmitter(facts)
    emitter.enter(block)
    with ir.InsertionPoint(end):
        for number, name in enumerate(RANGES):
            place = arith.addi(at.results[0], arith.constant(ir.IndexType.get(), number))
            loaded = ir.Operation.create("memref.load", [ir.IntegerType.get_signless(64)], [source, place])
            emitter.bind(name, arith.index_cast(ir.IndexType.get(), loaded.results[0]))
    emitted = emitter.emit(expr, end)
    with ir.InsertionPoint(end):
        ir.Operation.create("memref.store", [], [_as_i64(emitted), target, lane.results[0]])
    assert module.operation.verify()
    inputs = np.array([[envs[i % len(envs)][name] for name in RANGES] for i in range(LANES)], np.int64)
    outputs = np.zeros(LANES, np.int64)
    sim.run(module, [inputs.reshape(-1), outputs], grid=(1, 1, 1))
    return [int(x) for x in outputs[: len(envs)]]


def _folded(expr: Expr, env: Environment, facts: Facts) -> int:
    """The value that MLIR folds the emitted ops to when all symbols are constants."""
    module = ir.Module.parse("func.func @f() -> i64 {\n  %0 = arith.constant 0 : i64\n  return %0 : i64\n}")
    block = module.body.operations[0].regions[0].blocks[0]
    end = block.operations[1].operation
    emitter = ExprEmitter(facts)
    emitter.enter(block)
    with ir.InsertionPoint(end):
        for name, number in env.items():
            emitter.bind(name, arith.constant(ir.IndexType.get(), number))
    emitted = emitter.emit(expr, end)
    with ir.InsertionPoint(end):
        end.operands[0] = _as_i64(emitted)
    run_passes(module, "canonicalize")
    constant, _ = block.operations
    assert constant.operation.name == "arith.constant", str(module)
    return ir.IntegerAttr(constant.operation.attributes["value"]).value


@settings(deadline=None, max_examples=60)
@given(trees(tuple(RANGES)), ENVIRONMENTS, st.booleans())
def test_simulator(tree: Tree, envs: list[Environment], told: bool) -> None:
    expr, kept = _expression(tree, envs)
    wanted = [value(tree, env) for env in kept]
    assert _simulated(expr, kept, Facts(FACTS) if told else Facts({})) == wanted, (text(tree), kept)


@settings(deadline=None, max_examples=100)
@given(trees(tuple(RANGES)), ENVIRONMENTS)
def test_folding(tree: Tree, envs: list[Environment]) -> None:
    expr, kept = _expression(tree, envs)
    for env in kept:
        assert _folded(expr, env, Facts(FACTS)) == value(tree, env), (text(tree), env)


@pytest.mark.parametrize("divisor", [1, 2, 3, 7, 64, -1, -2, -3, -8])
@pytest.mark.parametrize("kind", ["floordiv", "ceildiv", "mod"])
def test_divisions_of_negative_numbers(kind: str, divisor: int) -> None:
    """Every dividend around zero, by a constant and by a symbol of that value."""
    envs = [{"lane": i, "wg.x": 0, "M": i - 32, "K": divisor} for i in range(LANES)]
    for tree in ((kind, "M", divisor), (kind, "M", "K")):
        wanted = [value(tree, env) for env in envs]
        assert _simulated(build(tree), envs, Facts(FACTS)) == wanted, tree


@pytest.mark.parametrize(
    ("expression", "signed", "unsigned"),
    [
        ("lane floordiv 8 + M floordiv 8", ["arith.floordivsi"], ["arith.divui"]),
        ("M mod 16", ["arith.floordivsi", "arith.subi"], []),
        ("lane mod M", ["arith.floordivsi"], []),
        ("(lane + 3) mod 16", [], ["arith.remui"]),
        ("wg.x ceildiv 3", [], ["arith.ceildivui"]),
        ("wg.x ceildiv M", ["arith.ceildivsi"], []),
    ],
)
def test_unsigned_where_it_is_proven(expression: str, signed: list[str], unsigned: list[str]) -> None:
    module = ir.Module.parse("func.func @f(%l: index, %w: index, %m: index) {\n  return\n}")
    block = module.body.operations[0].regions[0].blocks[0]
    emitter = ExprEmitter(Facts(FACTS))
    emitter.enter(block)
    for name, argument in zip(("lane", "wg.x", "M"), block.arguments, strict=True):
        emitter.bind(name, argument)
    emitter.emit(Expr.parse(expression), block.operations[0].operation)
    names = [op.operation.name for op in block.operations]
    division = ("arith.divui", "arith.remui", "arith.ceildivui", "arith.floordivsi", "arith.ceildivsi")
    assert sorted(n for n in names if n in division) == sorted(n for n in (*signed, *unsigned) if n in division)


LOOP = """
func.func @f(%lane: index, %low: index, %high: index) {
  %one = arith.constant 1 : index
  scf.for %k = %low to %high step %one {
    %use = arith.constant 0 : index
  }
  return
}
"""


def test_what_a_loop_does_not_change_stands_before_it_and_once() -> None:
    module = ir.Module.parse(LOOP)
    block = module.body.operations[0].regions[0].blocks[0]
    loop = block.operations[1].operation
    body = loop.regions[0].blocks[0]
    use = body.operations[0].operation
    emitter = ExprEmitter(Facts(FACTS))
    emitter.enter(block)
    emitter.bind("lane", block.arguments[0])
    emitter.enter(body, loop)
    emitter.bind("iv.K", body.arguments[0])
    first = emitter.emit(Expr.parse("lane * 64 + iv.K * 32"), use)
    again = emitter.emit(Expr.parse("lane * 64 + iv.K * 32"), use)
    other = emitter.emit(Expr.parse("lane * 64 + 1"), use)
    emitter.leave()
    assert module.operation.verify()
    assert first == again
    assert first.owner.operation.block == body and other.owner.operation.block == block
    outside = [op.operation.name for op in block.operations]
    assert outside.count("arith.muli") == 1 and outside.index("arith.muli") < outside.index("scf.for")
    assert [op.operation.name for op in body.operations].count("arith.muli") == 1


def test_a_value_known_to_one_user_only_is_not_kept() -> None:
    module = ir.Module.parse(LOOP)
    block = module.body.operations[0].regions[0].blocks[0]
    loop = block.operations[1].operation
    emitter = ExprEmitter(Facts(FACTS))
    emitter.enter(block)
    emitter.bind("lane", block.arguments[0])
    expr = Expr.parse("lane + T")
    one, other = (emitter.emit(expr, loop, {"T": block.arguments[i]}) for i in (1, 2))
    assert one != other
    for sum, own in ((one, block.arguments[1]), (other, block.arguments[2])):
        operands = list(sum.owner.operation.operands)
        assert len(operands) == 2 and block.arguments[0] in operands and own in operands
    with pytest.raises(PassError, match="symbol T has no value here; bind it in"):
        emitter.emit(expr, loop)


@pytest.mark.parametrize("expression", ["lane lt 3", "lane * 3", "lane eq M and M ne 2", "7"])
def test_as_number_and_as_truth(expression: str) -> None:
    module = ir.Module.parse(LOOP)
    block = module.body.operations[0].regions[0].blocks[0]
    loop = block.operations[1].operation
    emitter = ExprEmitter(Facts(FACTS))
    emitter.enter(block)
    emitter.bind("lane", block.arguments[0])
    emitter.bind("M", block.arguments[1])
    assert isinstance(emitter.emit_number(Expr.parse(expression), loop).type, ir.IndexType)
    assert str(emitter.emit_truth(Expr.parse(expression), loop).type) == "i1"
    assert module.operation.verify()


GUARDED = {
    "select(K eq 0, 5, M floordiv K)": lambda m, k: 5 if k == 0 else m // k,
    "select(K ne 0 and M mod K eq 1, M ceildiv K, K)": lambda m, k: -(-m // k) if k and m % k == 1 else k,
    "K eq 0 or M mod K eq 0": lambda m, k: int(k == 0 or m % k == 0),
}


@pytest.mark.parametrize("expression", GUARDED)
def test_divisions_that_a_condition_guards(expression: str) -> None:
    """Every lane divides, also where the divisor is 0: by something else."""
    envs = [{"lane": i, "wg.x": 0, "M": i - 32, "K": i % 7 - 3} for i in range(LANES)]
    wanted = [GUARDED[expression](env["M"], env["K"]) for env in envs]
    assert _simulated(Expr.parse(expression), envs, Facts(FACTS)) == wanted
    for env in envs[:8]:
        assert _folded(Expr.parse(expression), env, Facts(FACTS)) == GUARDED[expression](env["M"], env["K"])


@pytest.mark.parametrize(("facts", "checked"), [((1, None), False), ((None, -1), False), ((0, 5), True)])
def test_divisors_that_cannot_be_zero_are_not_checked(facts: tuple, checked: bool) -> None:
    module = ir.Module.parse(LOOP)
    block = module.body.operations[0].regions[0].blocks[0]
    emitter = ExprEmitter(Facts({"K": facts}))
    emitter.enter(block)
    emitter.bind("K", block.arguments[0])
    emitter.bind("M", block.arguments[1])
    emitter.emit(Expr.parse("M floordiv K"), block.operations[1].operation)
    assert any(op.operation.name == "arith.select" for op in block.operations) == checked


def test_a_symbol_that_an_inner_loop_binds_again() -> None:
    """What was made of the outer loop's trip is not taken for the inner one's."""
    module = ir.Module.parse(LOOP)
    block = module.body.operations[0].regions[0].blocks[0]
    loop = block.operations[1].operation
    body = loop.regions[0].blocks[0]
    emitter = ExprEmitter(Facts(FACTS))
    emitter.enter(block)
    emitter.bind("lane", block.arguments[0])
    emitter.bind("iv.K", block.arguments[0])
    outer, same = (emitter.emit(Expr.parse(e), loop) for e in ("iv.K * 32 + 1", "lane * 64"))
    emitter.enter(body, loop)
    emitter.bind("iv.K", body.arguments[0])
    use = body.operations[0].operation
    inner, again = (emitter.emit(Expr.parse(e), use) for e in ("iv.K * 32 + 1", "lane * 64"))
    emitter.leave()
    assert emitter.emit(Expr.parse("iv.K * 32 + 1"), loop) == outer != inner
    assert inner.owner.operation.block == body and again == same
