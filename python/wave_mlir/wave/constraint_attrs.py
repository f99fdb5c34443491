"""The user's constraints as the attributes of the dialect."""

from __future__ import annotations

from collections.abc import Sequence

import sympy
from mlir import ir

from wave_mlir.compiler.diagnostics import CompileError
from wave_mlir.compiler.targets import TargetError, resolve_alias
from wave_mlir.dialect import Expr
from wave_mlir.dialect import wave as d
from wave_mlir.lang.global_symbols import WORKGROUP_0, WORKGROUP_1, WORKGROUP_2
from wave_mlir.lang.symbols import ExprLike

from . import constraints as c
from . import source
from .trace import Trace, WavePart

_WORKGROUPS = (WORKGROUP_0, WORKGROUP_1, WORKGROUP_2)


class ConstraintWriter:
    """Turns constraints into attributes; errors are at the line of the kernel."""

    def __init__(self, trace: Trace, constraints: Sequence[c.Constraint], where: tuple[str, int, int]) -> None:
        self.trace = trace
        self.where = where
        self.constraints = list(constraints)
        for item in self.constraints:
            if not isinstance(item, c.Constraint):
                raise source.error(f"{item!r} is no constraint", where)
        self.constraints += self._of_aliases()
        for item in self.constraints:
            if isinstance(item, c.IteratorBindings):
                self._bind_iterators(item)
            elif isinstance(item, c.TilingConstraint) and item.induction_var is not None:
                trace.aliases[item.induction_var.name] = Expr.symbol(f"iv.{self._dim(item.dim)}")

    def _bind_iterators(self, item: c.IteratorBindings) -> None:
        for iterator, dim in item.bindings.items():
            if not isinstance(iterator, sympy.Symbol) or not isinstance(dim, sympy.Expr) or dim.is_number:
                message = f"IteratorBindings({{{iterator}: {dim}}}): a symbol for a dim: {{m: M}}"
                raise source.error(message, self.where)
            if self.trace.bound_iterators.setdefault(iterator, dim) != dim:
                raise source.error(f"IteratorBindings: iterator {iterator} is bound to two dims", self.where)

    def hardware(self) -> c.HardwareConstraint:
        """The one hardware constraint. Its MMA kind may be a tuple of kinds, where every MMA names its own."""
        found = [h for h in self.constraints if isinstance(h, c.HardwareConstraint)]
        if len(found) != 1:
            what = "no HardwareConstraint" if not found else f"{len(found)} HardwareConstraints"
            raise source.error(
                f"the kernel has {what}; give one, such as HardwareConstraint(threads_per_wave=64)", self.where
            )
        return found[0]

    def unit_dims(self) -> frozenset[str]:
        """Dims whose tiles have one element; a loop's tile counts more than a workgroup's."""
        sizes: dict[str, object] = {}
        for kind in (c.WorkgroupConstraint, c.TilingConstraint):
            for item in self.constraints:
                if isinstance(item, kind) and item.tile_size is not None and isinstance(item.dim, sympy.Symbol):
                    sizes[item.dim.name] = item.tile_size
        return frozenset(d for d, size in sizes.items() if self._is_one(size))

    def wave_parts(self) -> dict[str, WavePart]:
        """Dims whose parts for each wave another dim counts: a SymbolicAlias with one element for a wave's part."""
        found: dict[str, WavePart] = {}
        for alias in (a for a in self.constraints if isinstance(a, c.SymbolicAlias)):
            group = self._tile_of(c.WorkgroupConstraint, alias.target)
            wave = self._tile_of(c.WaveConstraint, alias.target)
            if group is None or wave is None:
                continue
            size, length = self._number(group), self._number(wave)
            if size is None or length is None or length >= size or self._number(alias.apply_fn(wave)) != 1:
                continue
            whole, number = self._dim(alias.target), self._dim(alias.source)
            inner = f"{whole}_of_a_wave"
            self.trace.derived[inner] = Expr.constant(length)
            self.trace.used.setdefault(inner, self.where)
            found[whole] = WavePart(whole, number, inner, length)
        return found

    def _tile_of(self, kind: type, dim: sympy.Symbol) -> ExprLike | None:
        return next((i.tile_size for i in self.constraints if isinstance(i, kind) and i.dim == dim), None)

    def _number(self, size: ExprLike) -> int | None:
        expr = self.trace.expr(size, exact=True)
        values = {s: self.trace.bindings.integer(s) for s in expr.symbols}
        known = {s: v for s, v in values.items() if v is not None}
        return expr.eval(known) if len(known) == len(values) else None

    def _is_one(self, size: object) -> bool:
        if isinstance(size, sympy.Symbol):
            return self.trace.bindings.integer(size.name) == 1
        return size == 1

    def attributes(self) -> list[ir.Attribute]:
        """All attributes, in the order given."""
        made: list[ir.Attribute] = []
        for item in self.constraints:
            if self._of_unused_dim(item):
                continue
            try:
                attribute = self._attribute(item)
            except CompileError as error:  # at the kernel, not at the line that compiles it
                message, name = error.diagnostics[0].message, type(item).__name__
                raise source.error(message if name in message else f"{name}: {message}", self.where) from None
            if attribute is not None:
                made.append(attribute)
        return made + self._of_derived_dims()

    def _refuse_unknown(self, item: c.Constraint) -> None:
        """What has no meaning yet is an error: ignored, it would change what the kernel computes."""
        if isinstance(item, c.WaveConstraint) and item.wave_id is not None:
            message = f"WaveConstraint({item.dim}): wave_id has no meaning in this version; waves are numbered by dim"
            raise source.error(message, self.where)

    def _attribute(self, item: c.Constraint) -> ir.Attribute | None:
        self._refuse_unknown(item)
        expr = self.trace.expr
        match item:
            case c.WorkgroupConstraint():
                return self._workgroup(item)
            case c.TilingConstraint():
                return self._tiling(item)
            case c.WaveConstraint():
                axis = item.wg_constraint.workgroup_dim if item.wg_constraint else None
                return d.WaveConstraintAttr.get(self._dim(item.dim), expr(item.tile_size, exact=True), axis)
            case c.HardwareConstraint():
                return self._hardware(item)
            case c.ReorderingConstraint():
                return d.ReorderingConstraintAttr.get(expr(item.reordered_equation), item.workgroup_dim)
            case c.GridConstraint():
                return d.GridConstraintAttr.get([expr(s) for s in item.sizes])
            case c.Assumption():
                return d.AssumeConstraintAttr.get(expr(item.expr))
        return None  # a DeviceConstraint too: the tensors' one device does the parts of all

    def _of_unused_dim(self, item: c.Constraint) -> bool:
        """Whether it divides, for a loop that the kernel lacks, a dim that occurs nowhere and has no value."""
        if not isinstance(item, c.TilingConstraint) or not isinstance(item.dim, sympy.Symbol):
            return False
        return not self._occurs(item.dim.name)

    def _dim(self, dim: sympy.Symbol) -> str:
        return self.trace.dim(dim, "constraint")

    def _workgroup(self, item: c.WorkgroupConstraint) -> ir.Attribute:
        number = item.workgroup_dim
        function = None
        if item.apply_fn is not None:
            if not 0 <= number < 3:
                raise source.error(f"apply_fn needs a grid dim of 0, 1 or 2; {item.dim} is on {number}", self.where)
            function = self.trace.expr(item.apply_fn(_WORKGROUPS[number]))
        elif any(isinstance(other, c.GridConstraint) for other in self.constraints):
            function = Expr.constant(0)
        return d.WorkgroupConstraintAttr.get(
            self._dim(item.dim),
            self.trace.expr(item.tile_size, exact=True),
            number,
            fn=function,
            iters=None if item.iters is None else self.trace.expr(item.iters),
            secondary=not item.primary,
        )

    def _tiling(self, item: c.TilingConstraint) -> ir.Attribute:
        expr = self.trace.expr
        name, tile = self._dim(item.dim), item.tile_size
        if tile is None and item.iters is None and name in self.trace.counted_axes:
            tile = 1
        return d.TilingConstraintAttr.get(
            name,
            None if tile is None else expr(tile, exact=True),
            iters=None if item.iters is None else expr(item.iters),
            start=None if isinstance(item.start, (int, sympy.Integer)) and item.start == 0 else expr(item.start),
        )

    def _hardware(self, item: c.HardwareConstraint) -> ir.Attribute:
        shapes = {
            self._dim(dim): self.trace.expr(size, exact=True)
            for dim, size in (item.vector_shapes or {}).items()
            if not isinstance(dim, sympy.Symbol) or self._occurs(dim.name)
        }
        return d.HardwareConstraintAttr.get(
            item.threads_per_wave,
            self._default_kind(item),
            shapes,
            waves_per_block=list(item.waves_per_block) if item.waves_per_block else None,
            max_bits_per_load=item.max_bits_per_load,
        )

    def _occurs(self, name: str) -> bool:
        """Whether the kernel uses a symbol or it has a value: shapes of dims that do not occur are left out."""
        bindings = self.trace.bindings
        return name in self.trace.used or name in bindings.values or name in bindings.dynamic

    def _default_kind(self, item: c.HardwareConstraint) -> str | None:
        """The kind of the first MMA, which the others without a kind of their own share; what is asked for if there
        is no MMA but the vector shapes leave dims to it."""
        if self.trace.mma_kinds:
            return self.trace.mma_kinds[0]
        if item.mma_type is None or isinstance(item.mma_type, (c.GenericDot, tuple, list)) or item.vector_shapes:
            return None
        try:
            return resolve_alias(self.trace.target, getattr(item.mma_type, "name", str(item.mma_type))).name
        except TargetError as error:
            raise source.error(f"HardwareConstraint: {error}", self.where) from None

    def _of_aliases(self) -> list[c.Constraint]:
        """Constraints of `SymbolicAlias.source`, from those of its target."""
        made: list[c.Constraint] = []
        for alias in (a for a in self.constraints if isinstance(a, c.SymbolicAlias)):
            for item in self.constraints:
                derived = _scaled(item, alias)
                if derived is not None:
                    made.append(derived)
        return made

    def _of_derived_dims(self) -> list[ir.Attribute]:
        """Constraints of dims that are expressions of one symbol, with sizes mapped.

        Fixed parts and multiples of a dim (K // 32) need none: the compiler sees what they are.
        """
        made: list[ir.Attribute] = []
        for name, expr in list(self.trace.derived.items()):
            if _is_fixed_part(expr):
                continue
            for item in self.constraints:
                if not isinstance(item, (c.WorkgroupConstraint, c.TilingConstraint, c.WaveConstraint)):
                    continue
                base = self._dim(item.dim)
                if base not in expr.symbols or item.tile_size is None:
                    continue
                tile = expr.subs({base: self.trace.expr(item.tile_size, exact=True)})
                if isinstance(item, c.WorkgroupConstraint):
                    made.append(d.WorkgroupConstraintAttr.get(name, tile, item.workgroup_dim, secondary=True))
                elif isinstance(item, c.TilingConstraint):
                    made.append(d.TilingConstraintAttr.get(name, tile))
                else:
                    axis = item.wg_constraint.workgroup_dim if item.wg_constraint else None
                    made.append(d.WaveConstraintAttr.get(name, tile, axis))
        return made


def _is_fixed_part(expr: Expr) -> bool:
    """Is it `K * p floordiv q`, p and q numbers?"""
    whole = expr
    if expr.kind in ("floordiv", "ceildiv"):
        whole, divisor = expr.operands
        if divisor.constant_value is None:
            return False
    return whole.kind in ("symbol", "mul") and len(whole.symbols) == 1


def _scaled(item: c.Constraint, alias: c.SymbolicAlias) -> c.Constraint | None:
    """The constraint of the alias's target as one of its source."""
    if not isinstance(item, (c.WorkgroupConstraint, c.TilingConstraint, c.WaveConstraint)) or item.dim != alias.target:
        return None
    if item.tile_size is None:
        return None
    tile = alias.apply_fn(item.tile_size)
    if isinstance(item, c.WorkgroupConstraint):
        return c.WorkgroupConstraint(alias.source, tile, item.workgroup_dim, item.apply_fn, primary=False)
    if isinstance(item, c.TilingConstraint):
        return c.TilingConstraint(alias.source, tile, iters=item.iters, start=item.start)
    return c.WaveConstraint(alias.source, tile, item.wave_id, item.wg_constraint)
