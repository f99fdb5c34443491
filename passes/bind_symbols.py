"""wave-bind-symbols."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.pass_registry import ModuleOp, Pass, PassError, register_pass
from wave_mlir.compiler.symbol_scope import Scope
from wave_mlir.compiler.tile_ir import body_of, bound_values, has_symbols, kernels, with_symbols
from wave_mlir.dialect import Expr


@register_pass("wave-bind-symbols", requires="tile")
@dataclass(frozen=True)
class BindSymbols(Pass):
    """Turn set symbols and loop positions into operands of the ops that use them.

    Before and after:

        wave.set_symbol T = %n : !wave.tile<[], i32>
        wave.iterate K {
          %x = wave.read %a mapping <[K = i] -> [T + i]> : …
          wave.yield
        }

        wave.iterate K iv(%k) trips(K ceildiv BLOCK_K) {
          %x = wave.read %a mapping <[K = i] -> [T + i]> symbols(iv.K = %k, T = %n : !wave.tile<[], i32>) : …
          wave.yield
        }

    Like promotion of memory to registers: a `set_symbol` is visible after it, in its region and those nested in it; a
    later one replaces it; leaving a region restores what was before. An op gets an operand for each such symbol in its
    expressions, in the sizes and positions of the dims it touches, or in the definition of a symbol it uses (which is
    then written out). `iterate` gets its trip counter `iv` and `trips`; with a step, positions get `iv * step`. In the
    while form the axis is the carried index: `set_symbol` of it in the body gives the next value.

    Requires tile form with known shapes (wave-infer-types); the module stays in tile form until wave-check-constraints.
    """

    def run(self, module: ModuleOp) -> None:
        """Raises PassError for a symbol used before it is set and for while loops that never set their axis."""
        for kernel in kernels(module):
            _Binder(KernelInfo.of(kernel)).block(body_of(kernel), Scope(KernelInfo.of(kernel)))


class _Binder:
    def __init__(self, info: KernelInfo) -> None:
        self.info = info

    def block(self, block: ir.Block, scope: Scope) -> None:
        """Bind all ops of a block; `scope` is changed by the block's own set_symbols."""
        for view in list(block.operations):
            op = view.operation
            if op.name == "wave.set_symbol":
                scope.set(op.attributes["symbol"].value, op.operands[0])
                op.erase()
            elif op.name == "wave.iterate":
                self._iterate(op, scope)
            elif op.name == "wave.conditional":
                bound = self._bind(op, scope)
                for region in bound.regions:
                    for inner in region:
                        self.block(inner, scope.nested())
            elif has_symbols(op):
                self._bind(op, scope)

    def _bind(self, op: ir.Operation, scope: Scope) -> ir.Operation:
        own = bound_values(op)
        needed, attributes = scope.needs(op, set(own))
        values = dict(own)
        for name in needed:
            values[name] = scope.value(name)
        if not needed and not attributes:
            return op
        return with_symbols(op, values, attributes)

    # --- loops ---

    def _iterate(self, op: ir.Operation, scope: Scope) -> None:
        axis = op.attributes["axis"].value
        if "has_iv" in op.attributes:
            inner = scope.nested()
            inner.enter(axis, body_of(op).arguments[0])
            self.block(body_of(op), inner)
        elif "condition" in op.attributes:
            self._while(op, axis, scope)
        else:
            self._counted(op, axis, scope)

    def _counted(self, op: ir.Operation, axis: str, scope: Scope) -> None:
        tiling = self.info.tiling_of(axis)
        if tiling is None or (tiling.tile is None and tiling.iters is None):
            raise PassError(
                op,
                f"this loop walks dim {axis}, but no tiling constraint says in which steps; add "
                f"#wave.tiling<{axis}, tile> to the kernel's constraints (in Python: TilingConstraint({axis}, tile))",
            )
        trips = tiling.iters
        if trips is None:
            trips = Expr.ceildiv(Expr.symbol(axis), tiling.tile)  # type: ignore[arg-type]
        step = op.attributes.get("step", None)
        if step is not None:
            trips = Expr.ceildiv(trips, step)
        trips, names = scope.expand(trips)
        scope.require(op, trips)
        attributes: dict[str, ir.Attribute | None] = {"trips": trips, "has_iv": ir.UnitAttr.get(), "step": None}
        loop = with_symbols(op, {n: scope.value(n) for n in names}, attributes)
        position = _add_counter(loop)
        body = body_of(loop)
        inner = scope.nested()
        if step is not None:
            with ir.InsertionPoint.at_block_begin(body), loop.location:
                position = _apply(Expr.symbol(f"iv.{axis}") * step, {f"iv.{axis}": position})
        inner.enter(axis, position)
        self.block(body, inner)

    def _while(self, op: ir.Operation, axis: str, scope: Scope) -> None:
        condition, names = scope.expand(op.attributes["condition"], exclude={axis})
        attributes: dict[str, ir.Attribute | None] = {
            "condition": condition, "has_iv": ir.UnitAttr.get(), "step": None,
        }  # fmt: skip
        step = op.attributes.get("step", None)
        loop = with_symbols(op, {n: scope.value(n) for n in names if n != axis}, attributes)
        position = _add_counter(loop)
        inner = scope.nested()
        inner.enter(axis, position)
        inner.set(axis, position)
        body = body_of(loop)
        self.block(body, inner)
        following = inner.value(axis)
        terminator = body.operations[len(body.operations) - 1].operation
        with ir.InsertionPoint(terminator), terminator.location:
            if following == position:
                if step is None:
                    raise PassError(
                        loop,
                        f"this loop never changes {axis} and would not end; set its next value in the body: "
                        f"wave.set_symbol {axis} = …, or give a step",
                    )
                following = _apply(Expr.symbol(axis) + step, {axis: position})
            elif not isinstance(following.type, ir.IndexType):
                following = _apply(Expr.symbol(axis), {axis: following})
            ir.Operation.create("wave.yield", [], [following, *terminator.operands], loc=terminator.location)
        terminator.erase()


def _add_counter(loop: ir.Operation) -> ir.Value:
    """Give the body an induction variable before its other arguments."""
    body = body_of(loop)
    count = len(body.arguments)
    for type, location in [(ir.IndexType.get(), loop.location), *((a.type, a.location) for a in body.arguments)]:
        body.add_argument(type, location)
    for i in range(count):
        body.arguments[i].replace_all_uses_with(body.arguments[count + 1 + i])
    for _ in range(count):
        body.erase_argument(0)
    return body.arguments[0]


def _apply(expr: Expr, values: dict[str, ir.Value]) -> ir.Value:
    names = ir.ArrayAttr.get([ir.StringAttr.get(n) for n in values])
    op = ir.Operation.create(
        "wave.apply_expr", [ir.IndexType.get()], list(values.values()), {"expr": expr, "symbol_names": names}
    )
    return op.results[0]
