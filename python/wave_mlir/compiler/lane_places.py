"""Accesses where the lane's own number is a part of the place in memory."""

from __future__ import annotations

from mlir import ir

from .tile_ir import bound_values, expressions, tile_dims


def by_lane(op: ir.Operation) -> list[str]:
    """Dims along which each lane has a place of its own in memory: the mapping does not use their positions, and has
    a scalar that is made of the lane's number. Lanes that held one element of these would access different ones."""
    if "mapping" not in op.attributes or not any(_of_lane(v) for v in bound_values(op).values()):
        return []
    mapping = op.attributes["mapping"]
    used = {s for e in mapping.memory for s in e.symbols}
    return [d for d, iterator in mapping.iterators.items() if iterator not in used]


def _of_lane(value: ir.Value) -> bool:
    """Whether a scalar is computed from the lane's number, without other tiles or loops."""
    if isinstance(value, ir.BlockArgument) or tile_dims(value.type):
        return False
    op = value.owner.operation
    if any("lane" in e.symbols for _, e in expressions(op)):
        return True
    return not len(op.regions) and any(_of_lane(v) for v in op.operands)


def apart(op: ir.Operation) -> bool:
    """Whether lanes access different places for sure: the lane's number itself is one coordinate, as it is."""
    alone = [e.name for n, e in expressions(op) if n == "index"]
    return any(name in alone and _is_number(value) for name, value in bound_values(op).items())


def _is_number(value: ir.Value) -> bool:
    """Whether a scalar is the lane's number, plus what all lanes have alike."""
    while not isinstance(value, ir.BlockArgument) and value.owner.operation.name == "wave.register":
        value = value.owner.operation.operands[0]
    if isinstance(value, ir.BlockArgument) or value.owner.operation.name != "wave.scalar":
        return False
    return any(
        (factor := e.coefficient("lane")) is not None and factor.constant_value == 1
        for _, e in expressions(value.owner.operation)
    )
