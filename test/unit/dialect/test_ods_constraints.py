"""Each operand and result of each op has a type constraint that holds: a type that no op takes is refused, located.

The ops are those of the round-trip tests in test/dialect; a test sees to it that they are all there.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from mlir import ir
from wave_mlir.dialect import wave

DIALECT = Path(__file__).resolve().parents[2] / "dialect"
FILES = ("compute", "elementwise", "kernel", "memory", "sync")
OPS = sorted(
    cls.OPERATION_NAME for cls in vars(wave).values() if isinstance(cls, type) and hasattr(cls, "OPERATION_NAME")
)


def _parts() -> Iterator[str]:
    for name in FILES:
        yield from (DIALECT / f"{name}.mlir").read_text().split("// -----")


def _walk(op: ir.Operation) -> Iterator[ir.Operation]:
    for region in op.regions:
        for block in region:
            for inner in block.operations:
                yield inner.operation
                yield from _walk(inner.operation)


@pytest.fixture(scope="module")
def modules() -> Iterator[list[ir.Module]]:
    with ir.Context() as context, ir.Location.unknown():
        context.allow_unregistered_dialects = True
        yield [ir.Module.parse(part) for part in _parts()]


def _ops(modules: list[ir.Module]) -> Iterator[ir.Operation]:
    for module in modules:
        yield from (op for op in _walk(module.operation) if op.name.startswith("wave."))


def _refused(op: ir.Operation, what: str) -> None:
    """The verifier says what is wrong, at `op` or at the yield of its region (a loop verifies its own)."""
    verified = op.parent.operation if op.name == "wave.yield" and op.parent is not None else op
    try:
        verified.verify()
    except ir.MLIRError as error:  # pyright: ignore[reportAttributeAccessIssue]
        (found, *_) = error.error_diagnostics
        assert found.message.startswith((f"'{op.name}' op ", "'wave.yield' op ")), found.message
        assert found.location == op.location or found.message.startswith("'wave.yield'")
    else:
        pytest.fail(f"{what} of {op.name} may be anything: {op}")


def test_all_ops_are_tried(modules: list[ir.Module]) -> None:
    assert sorted({op.name for op in _ops(modules)}) == OPS


def test_operands(modules: list[ir.Module]) -> None:
    nonsense = ir.Type.parse("tuple<>")
    for op in _ops(modules):
        for i, value in enumerate(list(op.operands)):
            with ir.InsertionPoint(op):
                wrong = ir.Operation.create("test.nonsense", [nonsense])
            op.operands[i] = wrong.results[0]
            _refused(op, f"operand {i}")
            op.operands[i] = value
            assert op.verify()
            wrong.erase()


def test_results(modules: list[ir.Module]) -> None:
    nonsense = ir.Type.parse("tuple<>")
    for op in _ops(modules):
        for i, result in enumerate(op.results):
            right = result.type
            result.set_type(nonsense)
            _refused(op, f"result {i}")
            result.set_type(right)
