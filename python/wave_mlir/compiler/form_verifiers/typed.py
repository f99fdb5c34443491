"""What tile and typed form promise."""

from __future__ import annotations

from mlir import ir

from wave_mlir.compiler.diagnostics import PassError
from wave_mlir.compiler.forms import form_verifier
from wave_mlir.compiler.symbol_scope import domain_dims
from wave_mlir.compiler.tile_ir import ancestors, body_of, bound_names, expressions, kernels, walk
from wave_mlir.dialect import TileType
from wave_mlir.dialect.expr import Expr

_NOT_IN_TILE_FORM = {
    "wave.relayout": "layouts come with placed form",
    "wave.buffer_load": "it belongs to lane form",
    "wave.buffer_store": "it belongs to lane form",
    "wave.gather_to_shared": "it belongs to staged form",
    "wave.wave_fence": "it belongs to scheduled form",
}


@form_verifier("tile")
def verify_tile(module: ir.Operation) -> None:
    """Tile form: kernels over tiles without layouts; accesses have mappings, not indices."""
    for kernel in kernels(module):
        for op in walk(body_of(kernel)):
            check_tiles(op, placed=False)


@form_verifier("typed")
def verify_typed(module: ir.Operation) -> None:
    """Typed form: all shapes known, no set_symbol, loops with counters, no symbol without a value."""
    for kernel in kernels(module):
        for op in walk(body_of(kernel)):
            check_tiles(op, placed=False)
        verify_typed_kernel(kernel)


def verify_typed_kernel(kernel: ir.OpView) -> None:
    """What typed form adds to tile form, but for `wave.form`."""
    from wave_mlir.compiler.kernel_info import KernelInfo

    info = KernelInfo.of(kernel)
    known = info.definitions.keys() | set(info.dynamic)
    for op in walk(body_of(kernel)):
        for value in defined(op):
            if isinstance(value.type, TileType) and not value.type.known:
                raise PassError(op, f"a value of type {value.type} is left; wave-infer-types finds the shapes")
        check_bound(op, known)
        check_positions(op, domain_dims(op, info), info)


def check_tiles(op: ir.Operation, placed: bool) -> None:
    """Values are tiles with or without layouts as the form wants; accesses have an index in placed form only."""
    if not placed and op.name in _NOT_IN_TILE_FORM:
        raise PassError(op, f"{op.name} in tile or typed form; {_NOT_IN_TILE_FORM[op.name]}")
    for value in defined(op):
        type = value.type
        if isinstance(type, ir.VectorType):
            raise PassError(op, f"a value of type {type}; vectors come with lane form, here values are tiles")
        if isinstance(type, TileType) and (type.layout is not None) != placed:
            text = "no layout; wave-infer-layouts gives one" if placed else "a layout; layouts come with placed form"
            raise PassError(op, f"a value of type {type} has {text}")
    if op.name in ("wave.read", "wave.write", "wave.atomic", "wave.scatter_add"):
        has_index = "index" in op.attributes
        if has_index != placed:
            text = "no index; wave-infer-layouts gives one" if placed else "an index; indices come with placed form"
            raise PassError(op, f"this access has {text}")


def check_bound(op: ir.Operation, known: set[str], *, coordinates: bool = True) -> None:
    """No set_symbol is left, and no expression depends on a symbol or position without an operand for it.

    coordinates: expressions, but for those of a mapping, may depend on a tile's.
    """
    if op.name == "wave.set_symbol":
        raise PassError(op, "a set_symbol is left; wave-bind-symbols makes its value an operand of the ops that use it")
    if op.name == "wave.iterate" and "has_iv" not in op.attributes:
        raise PassError(op, "this loop has no induction variable; wave-bind-symbols gives it iv(…) and trips(…)")
    names = set(bound_names(op))
    local = set(names)
    if op.name == "wave.iterate":
        local.add(op.attributes["axis"].value)  # the condition of a while loop is on the carried value
    exprs = [e for _, e in expressions(op)]
    if not coordinates:
        _check_no_coordinates(op, exprs)
    if "mapping" in op.attributes:
        mapping = op.attributes["mapping"]
        local.update(mapping.iterators.values(), (f"d{i}" for i in range(len(mapping.dynamic))))
        exprs += mapping.memory
    for expr in exprs:
        for name in expr.symbols:
            if name.startswith("iv.") and name not in names:
                raise PassError(op, f"this op uses {name} in {expr} but names no value for it: symbols({name} = …)")
            if "." not in name and name not in ("lane", "el") and name not in known and name not in local:
                raise PassError(op, f"symbol {name} in {expr} is neither static nor dynamic nor an operand of this op")


def _check_no_coordinates(op: ir.Operation, exprs: list[Expr]) -> None:
    for expr in exprs:
        for name in expr.symbols:
            if name.startswith("at."):
                raise PassError(op, f"{name} in {expr} is a coordinate of a tile; wave-expand replaces it")


def check_positions(op: ir.Operation, dims: list[str], info) -> None:
    """An op on a dim that a loop around it walks has the loop's position as an operand."""
    if not dims:
        return
    names = bound_names(op)
    walked = {a.attributes["axis"].value for a in ancestors(op) if a.name == "wave.iterate"}
    for dim in dims:
        source = (info.derived(dim) or (dim, 1, 1))[0]
        if source in walked and f"iv.{source}" not in names:
            raise PassError(
                op,
                f"dim {source} is walked by a loop around this op, which has no operand for its position: "
                f"symbols(iv.{source} = …)",
            )


def defined(op: ir.Operation) -> list[ir.Value]:
    """The op's results and the arguments of its blocks."""
    return [*op.results, *(a for region in op.regions for block in region for a in block.arguments)]
