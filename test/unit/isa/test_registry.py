"""The table of instructions as a whole."""

from __future__ import annotations

from wave_mlir.isa import signature
from wave_mlir.isa.native import library, opcodes


def test_names_are_unique() -> None:
    assert len(opcodes()) == library().machine_op_count()


def test_signatures_parse() -> None:
    for op in opcodes().values():
        parsed = signature.parse(op.signature)
        assert len(parsed.dst) <= 2 and len(parsed.src) <= 5, op.name
        assert op.targets, op.name
