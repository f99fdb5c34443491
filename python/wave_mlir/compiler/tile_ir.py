"""Walking and changing wave IR: what the passes on tiles share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from mlir import ir

from wave_mlir.dialect import Expr, TileType

ELEMENTWISE = frozenset(
    f"wave.{name}"
    for name in (
        "add", "sub", "mul", "div", "mod", "rem", "minimum", "maximum", "pow", "atan2", "and", "or", "xor", "shl",
        "shr",
        "neg", "abs", "not", "exp", "exp2", "log", "log2", "log10", "sqrt", "rsqrt", "cbrt", "reciprocal", "sin", "cos",
        "tan", "sinh", "cosh", "tanh", "tanh_approx", "softsign", "round", "roundeven", "floor", "ceil", "trunc",
    )
)  # fmt: skip
"""Ops whose operands and result have one type."""

# Position of the symbol values among the operand groups of each op that has them; None: all operands.
_SYMBOL_GROUP: dict[str, int | None] = {
    "wave.read": 3, "wave.write": 4, "wave.atomic": 4, "wave.scatter_add": 4, "wave.mma": 3, "wave.scaled_mma": 5,
    "wave.reduce": 2, "wave.cumsum": 1, "wave.topk": 1, "wave.iterate": 2, "wave.conditional": 1,
    "wave.apply_expr": None, "wave.scalar": None, "wave.mask": None, "wave.self_index": None,
    "wave.extract": 1, "wave.extract_slice": 1, "wave.bounds_check": 1, "wave.buffer_load": 2, "wave.buffer_store": 3,
    "wave.gather_to_shared": 3,
}  # fmt: skip
DIRECT = "wave.direct"
"""Attribute of a write to LDS: with the read of what it writes it is a copy that is to pass through no register."""
_SEGMENTS = "operandSegmentSizes"
_NAMES = "symbol_names"


def kernels(module: ir.OpView | ir.Operation) -> list[ir.OpView]:
    """The `wave.kernel` ops of a module (or the op itself, if it is one)."""
    op = module.operation
    if op.name == "wave.kernel":
        return [op.opview]
    found = [inner for region in op.regions for block in region for inner in block]
    return [inner for inner in found if inner.operation.name == "wave.kernel"]


def walk(block: ir.Block) -> Iterator[ir.Operation]:
    """All ops of a block in the order of the program, an op before those in its regions."""
    for view in block.operations:
        op = view.operation
        yield op
        for region in op.regions:
            for inner in region:
                yield from walk(inner)


def body_of(op: ir.OpView | ir.Operation) -> ir.Block:
    """The only block of the first region."""
    return op.operation.regions[0].blocks[0]


def ancestors(op: ir.Operation) -> Iterator[ir.Operation]:
    """The ops around an op, from the inside out."""
    parent = op.parent
    while parent is not None:
        yield parent.operation
        parent = parent.operation.parent


def tile_dims(type: ir.Type) -> list[str]:
    """The dims of a tile; none of any other type."""
    return (type.dims or []) if isinstance(type, TileType) else []


def element_type(type: ir.Type) -> ir.Type:
    """The element type of a tile or vector; another type itself."""
    return type.element_type if isinstance(type, TileType | ir.VectorType) else type


def has_symbols(op: ir.Operation) -> bool:
    """Whether the op can name values for symbols."""
    return op.name in _SYMBOL_GROUP


def segments(op: ir.Operation) -> list[list[ir.Value]]:
    """The operands by group, in the order of the op's definition."""
    operands = list(op.operands)
    if _SEGMENTS not in op.attributes:
        group = _SYMBOL_GROUP.get(op.name, 0)
        return [operands] if group in (None, 0) else [operands[:group], operands[group:]]
    groups, start = [], 0
    for size in op.attributes[_SEGMENTS]:
        groups.append(operands[start : start + size])
        start += size
    return groups


def bound_names(op: ir.Operation) -> list[str]:
    """Names of the symbols whose values are operands."""
    return [a.value for a in op.attributes[_NAMES]] if _NAMES in op.attributes else []


def bound_values(op: ir.Operation) -> dict[str, ir.Value]:
    """The values of symbols that are operands, by name."""
    names = bound_names(op)
    if not names:
        return {}
    group = _SYMBOL_GROUP[op.name]
    return dict(zip(names, segments(op)[-1 if group is None or _SEGMENTS not in op.attributes else group], strict=True))


def with_symbols(
    op: ir.Operation,
    values: Mapping[str, ir.Value],
    attributes: Mapping[str, ir.Attribute | None] | None = None,
    groups: Mapping[int, Sequence[ir.Value]] | None = None,
    result_types: Sequence[ir.Type] | None = None,
) -> ir.Operation:
    """The op made anew with these values for symbols, in its place; the old one is erased.

    attributes: to set, or to remove where None. groups: operand groups to replace, by number. Regions move over.
    """
    parts = segments(op)
    group = _SYMBOL_GROUP[op.name]
    sized = _SEGMENTS in op.attributes
    parts[group if sized and group is not None else -1] = list(values.values())
    for number, operands in (groups or {}).items():
        parts[number] = list(operands)
    named = dict(op.attributes.items())
    named.pop(_NAMES, None)
    if values:
        named[_NAMES] = ir.ArrayAttr.get([ir.StringAttr.get(n) for n in values])
    if sized:
        named[_SEGMENTS] = ir.DenseI32ArrayAttr.get([len(p) for p in parts])
    for name, attribute in (attributes or {}).items():
        if attribute is None:
            named.pop(name, None)
        else:
            named[name] = attribute
    return replace(op, [v for p in parts for v in p], named, result_types)


def replace(
    op: ir.Operation,
    operands: Sequence[ir.Value],
    attributes: Mapping[str, ir.Attribute],
    result_types: Sequence[ir.Type] | None = None,
) -> ir.Operation:
    """A new op of the same name in the op's place, with its regions and uses; the old one is erased."""
    types = list(result_types) if result_types is not None else [r.type for r in op.results]
    with ir.InsertionPoint(op), op.location:
        new = ir.Operation.create(
            op.name, types, list(operands), dict(attributes), regions=len(op.regions), loc=op.location
        )
    for old_region, new_region in zip(op.regions, new.regions, strict=True):
        for block in list(old_region.blocks):
            block.append_to(new_region)
    for old, fresh in zip(op.results, new.results, strict=True):
        old.replace_all_uses_with(fresh)
    op.erase()
    return new


def expressions(op: ir.Operation) -> Iterator[tuple[str, Expr]]:
    """The expressions in the op's attributes with the attribute's name; those of a mapping are not among them."""
    for name, attribute in op.attributes.items():
        if isinstance(attribute, Expr):
            yield name, attribute
        elif isinstance(attribute, ir.ArrayAttr):
            for entry in attribute:
                if isinstance(entry, Expr):
                    yield name, entry


def symbols_of(exprs: Iterable[Expr]) -> list[str]:
    """Symbols of several expressions, each once, in order of appearance."""
    return list(dict.fromkeys(s for e in exprs for s in e.symbols))
