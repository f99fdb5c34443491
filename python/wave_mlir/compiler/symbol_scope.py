"""Which values the symbols mean at a point of a program in tile form, and which of them an op depends on."""

from __future__ import annotations

from collections.abc import Collection

from mlir import ir

from wave_mlir.dialect import Expr, MappingAttr

from .diagnostics import PassError
from .kernel_info import KernelInfo
from .mma_shape import shape_of
from .tile_ir import segments, tile_dims


class Scope:
    """Values of set symbols and loop positions. `nested` gives the scope of a region inside; it starts as a copy."""

    def __init__(self, info: KernelInfo, values: dict[str, ir.Value] | None = None) -> None:
        self.info = info
        self._values = dict(values or {})
        self._affected: dict[str, bool] = {}

    def nested(self) -> Scope:
        """The scope of a region; what is set there ends with it."""
        return Scope(self.info, self._values)

    def set(self, symbol: str, value: ir.Value) -> None:
        """From here on `symbol` means `value`."""
        self._values[symbol] = value
        self._affected.clear()

    def enter(self, axis: str, position: ir.Value) -> None:
        """Inside a loop over `axis` whose trip counter is `position`."""
        self._values[f"iv.{axis}"] = position

    def value(self, name: str) -> ir.Value:
        """The value of a name that `needs` or `expand` gave."""
        return self._values[name]

    def expand(self, expr: Expr, exclude: Collection[str] = ()) -> tuple[Expr, list[str]]:
        """The expression with definitions that depend on set symbols written out, and the names it takes values for."""
        while True:
            derived = {
                s: self.info.definitions[s]
                for s in expr.symbols
                if s not in exclude and s not in self._values and self._depends(s)
            }
            if not derived:
                break
            expr = expr.subs(derived)
        return expr, [s for s in expr.symbols if s in self._values and s not in exclude]

    def _depends(self, symbol: str) -> bool:
        """Whether the definition of a symbol that is not set itself uses set ones."""
        if symbol not in self._affected:
            self._affected[symbol] = False  # ends a cycle; KernelInfo reports it
            definition = self.info.definitions.get(symbol)
            uses = definition.symbols if definition is not None else []
            self._affected[symbol] = any(s in self._values or self._depends(s) for s in uses)
        return self._affected[symbol]

    def needs(self, op: ir.Operation, own: Collection[str]) -> tuple[list[str], dict[str, ir.Attribute | None]]:
        """Names the op needs values for, beyond its `own`, and the attributes that change on the way."""
        names: dict[str, None] = {}
        changed: dict[str, ir.Attribute | None] = {}
        for name, attribute in op.attributes.items():
            new, used = self._attribute(attribute, own)
            names.update(dict.fromkeys(used))
            if new is not None:
                changed[name] = new
        for dim in domain_dims(op, self.info):
            names.update(dict.fromkeys(self._dim(op, dim)))
        needed = [n for n in names if n not in own]
        self._check_visible(op, own, changed)
        needed.sort(key=lambda n: (not n.startswith("iv."), n))
        return needed, changed

    def _attribute(self, attribute: ir.Attribute, own: Collection[str]) -> tuple[ir.Attribute | None, list[str]]:
        if isinstance(attribute, Expr):
            new, names = self.expand(attribute, own)
            return (new if new != attribute else None), names
        if isinstance(attribute, ir.ArrayAttr) and len(attribute) and isinstance(attribute[0], Expr):
            parts = [self.expand(e, own) for e in attribute]
            new = ir.ArrayAttr.get([e for e, _ in parts])
            return (new if new != attribute else None), [n for _, names in parts for n in names]
        if isinstance(attribute, MappingAttr):
            return self._mapping(attribute, own)
        return None, []

    def _mapping(self, mapping: MappingAttr, own: Collection[str]) -> tuple[ir.Attribute | None, list[str]]:
        local = {*own, *mapping.iterators.values(), *(f"d{i}" for i in range(len(mapping.dynamic)))}
        names: list[str] = []

        def expand(expr: Expr) -> Expr:
            new, used = self.expand(expr, local)
            names.extend(used)
            return new

        memory = [expand(e) for e in mapping.memory]
        dynamic = [{dim: expand(e) for dim, e in position.items()} for position in mapping.dynamic]
        if memory == mapping.memory and dynamic == mapping.dynamic:
            return None, names
        return MappingAttr.get(mapping.iterators, memory, dynamic), names

    def _dim(self, op: ir.Operation, dim: str) -> list[str]:
        """Names that the position and size of a dim depend on."""
        names = [f"iv.{dim}"]
        if derived := self.info.derived(dim):
            names.append(f"iv.{derived[0]}")
        for symbol in self.info.dim_symbols(dim):
            expr, used = self.expand(Expr.symbol(symbol))
            self.require(op, expr)
            names += used
        return [n for n in names if n in self._values]

    def require(self, op: ir.Operation, expr: Expr, own: Collection[str] = ()) -> None:
        """PassError unless every symbol of an expression of `op` has a value there; `own` are the op's own."""
        known = self._known(own)
        for symbol in expr.symbols:
            if "." not in symbol and symbol not in ("lane", "el") and symbol not in known:
                raise PassError(
                    op,
                    f"symbol {symbol} has no value here; put wave.set_symbol {symbol} = … before this op, in its "
                    f"region or one around it (in Python: tkw.set_symbol)",
                )

    def _known(self, own: Collection[str]) -> set[str]:
        return self.info.definitions.keys() | set(self.info.dynamic) | self._values.keys() | set(own)

    def _check_visible(self, op: ir.Operation, own: Collection[str], changed: dict) -> None:
        for name, original in op.attributes.items():
            attribute = changed.get(name, original)
            exprs: list[Expr] = []
            local: set[str] = set()
            if isinstance(attribute, Expr):
                exprs = [attribute]
            elif isinstance(attribute, ir.ArrayAttr) and len(attribute) and isinstance(attribute[0], Expr):
                exprs = list(attribute)
            elif isinstance(attribute, MappingAttr):
                exprs = list(attribute.memory)
                local = {*attribute.iterators.values(), *(f"d{i}" for i in range(len(attribute.dynamic)))}
            for expr in exprs:
                self.require(op, expr, {*own, *local})


def domain_dims(op: ir.Operation, info: KernelInfo) -> list[str]:
    """Dims whose positions or sizes the op depends on."""
    name = op.name
    if name == "wave.read":
        return tile_dims(op.results[0].type)
    if name in ("wave.write", "wave.atomic", "wave.scatter_add"):
        return tile_dims(op.operands[0].type)
    if name in ("wave.reduce", "wave.cumsum", "wave.topk", "wave.self_index"):
        return [op.attributes["dim"].value]
    if name in ("wave.mma", "wave.scaled_mma"):
        return list(shape_of(op, info).contracted)
    if name == "wave.mask":
        return tile_dims(op.results[0].type)
    return []


def dynamic_values(op: ir.Operation) -> list[ir.Value]:
    """The dynamic values of an access with a mapping."""
    group = {"wave.read": 2, "wave.write": 3, "wave.atomic": 3}.get(op.name)
    return [] if group is None else segments(op)[group]
