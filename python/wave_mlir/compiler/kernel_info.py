"""What the constraints and symbols of a kernel say: tiles, waves, grid, positions, facts for the simplifier.

Every pass asks `KernelInfo.of(kernel)`; nothing else reads constraints. Extents and positions count elements.

Symbols of an op: an expression of an op may have symbols whose values are operands (`symbols(iv.K = %k, T = %n)`).
Functions that build expressions for an op take the names of these as `bound`; a bound symbol is left alone, even when
the kernel gives it a value, and `iv.K` appears in a position only where it is bound.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from mlir import ir

from wave_mlir.dialect import Expr, Facts, MemoryType

from . import targets
from .constraints import Constraints, Hardware, Tiling, Wave, Workgroup
from .diagnostics import ExpressionError, PassError

AXES = ("x", "y", "z")
"""Names of the grid and block dims."""

MAX_SYMBOL = 2**31 - 1
"""A dynamic symbol is an i32 at run time and never negative."""

Names = Iterable[str]


class KernelInfo:
    """Facts of one kernel. Make it with `of`; it is valid while symbols and constraints of the kernel do not change."""

    def __init__(self, kernel: ir.OpView, target: targets.Target) -> None:
        self.kernel = kernel
        self.target = target
        self.constraints = Constraints.of(kernel)
        self.definitions: dict[str, Expr] = {n.name: n.attr for n in kernel.operation.attributes["symbols"]}
        self.dynamic: tuple[str, ...] = tuple(a.value for a in kernel.operation.attributes["dynamic"])
        self._workgroup = _first_by_dim(self.constraints.workgroup)
        self._tiling = _first_by_dim(self.constraints.tiling)
        self._wave = _first_by_dim(self.constraints.wave)
        self._environments: dict[tuple[str, ...], dict[str, Expr]] = {}
        self._resolved: dict[tuple[Expr, tuple[str, ...]], Expr] = {}
        self._extents: dict[str, int] = {}
        self._waves: dict[str, int] = {}
        self._facts: dict[frozenset[str], Facts] = {}
        self._inside: dict[frozenset[str], Facts] = {}

    @staticmethod
    def of(kernel: ir.OpView) -> KernelInfo:
        """The facts of a `wave.kernel`. Raises PassError when its module names no known target."""
        return KernelInfo(kernel, target_of(kernel))

    def _error(self, message: str) -> PassError:
        return PassError(self.kernel, message)

    # --- symbols ---

    def environment(self, bound: Names = ()) -> dict[str, Expr]:
        """The definitions of all symbols but the bound ones, substituted into each other to a fixpoint."""
        key = tuple(sorted(set(bound) & self.definitions.keys()))
        if key not in self._environments:
            self._environments[key] = self._fixpoint({n: e for n, e in self.definitions.items() if n not in key})
        return self._environments[key]

    def _fixpoint(self, raw: dict[str, Expr]) -> dict[str, Expr]:
        done = {n: e for n, e in raw.items() if e.constant_value is not None}
        left = {n: e for n, e in raw.items() if e.constant_value is None}
        while left:
            ready = {n: e for n, e in left.items() if not any(s in left for s in e.symbols)}
            if not ready:
                cycle = ", ".join(sorted(left))
                raise self._error(f"the symbols {cycle} are defined by each other; give one of them a value")
            for name, expr in ready.items():
                done[name] = substituted(expr, done)
                del left[name]
        return done

    def resolve(self, expr: Expr, bound: Names = ()) -> Expr:
        """`expr` with every static symbol replaced by its value."""
        key = (expr, tuple(bound))  # accesses share most of their expressions
        known = self._resolved.get(key)
        if known is None:
            known = expr if expr.constant_value is not None else substituted(expr, self.environment(key[1]))
            self._resolved[key] = known
        return known

    def check_expressions(self) -> None:
        """Raises PassError at the kernel for an expression of its symbols, shapes or constraints that has no value."""
        try:
            self.environment()
            for expr in self.constraints.expressions():
                self.resolve(expr)
            for argument in self.kernel.operation.regions[0].blocks[0].arguments:
                if isinstance(argument.type, MemoryType):
                    for extent in (*argument.type.shape, *(s for s in argument.type.element_strides if s is not None)):
                        self.resolve(extent)
        except ExpressionError as error:
            raise self._error(str(error)) from None

    def symbol_value(self, expr: Expr | str, bound: Names = ()) -> int | Expr:
        """The value of an expression or symbol: a number where it is known, else an expression of dynamic symbols."""
        resolved = self.resolve(Expr.symbol(expr) if isinstance(expr, str) else expr, bound)
        value = resolved.constant_value
        return resolved if value is None else value

    def static_value(self, expr: Expr, what: str) -> int:
        """The value of an expression that must be known at compile time. `what` says in an error what it is."""
        value = self.symbol_value(expr)
        if isinstance(value, int):
            return value
        names = ", ".join(value.symbols)
        raise self._error(
            f"{what} is {expr}, which is known at run time only ({names}); bind it in 'symbols {{…}}' (in Python: subs)"
        )

    # --- constraints of a dim ---

    def workgroup_of(self, dim: str) -> Workgroup | None:
        """The workgroup constraint of a dim."""
        return self._workgroup.get(dim)

    def tiling_of(self, dim: str) -> Tiling | None:
        """The tiling constraint of a dim."""
        return self._tiling.get(dim)

    def wave_of(self, dim: str) -> Wave | None:
        """The wave constraint of a dim."""
        return self._wave.get(dim)

    @cached_property
    def hardware(self) -> Hardware:
        """The hardware constraint."""
        if len(self.constraints.hardware) != 1:
            count = len(self.constraints.hardware) or "no"
            raise self._error(
                f"the kernel has {count} hardware constraint{'s' if count != 'no' else ''}; give exactly one: "
                f"#wave.hardware<threads_per_wave = {self.target.wave_size}>"
            )
        return self.constraints.hardware[0]

    def derived(self, dim: str) -> tuple[str, int, int] | None:
        """(D, p, q) where `dim` has no constraint and is D * p floordiv q (or ceildiv) of a constrained D."""
        if dim in self._workgroup or dim in self._tiling:
            return None
        definition = self.definitions.get(dim)
        ratio = None if definition is None else self._ratio(definition)
        if ratio is None or (ratio[0] not in self._workgroup and ratio[0] not in self._tiling):
            return None
        return ratio

    def _ratio(self, definition: Expr) -> tuple[str, int, int] | None:
        """(D, p, q) of a definition `D * p floordiv q`."""
        divisor = 1
        if definition.kind in ("floordiv", "ceildiv"):
            definition, by = definition.operands
            number = self.resolve(by).constant_value
            if number is None or number < 1:
                return None
            divisor = number
        names = definition.symbols
        if len(names) != 1 or definition.kind not in ("symbol", "mul"):
            return None
        factor = definition.coefficient(names[0])
        number = None if factor is None else factor.constant_value
        if number is None or number < 1 or (number == 1 and divisor == 1):
            return None
        return names[0], number, divisor

    # --- extents ---

    def dim_extent(self, dim: str, bound: Names = ()) -> Expr:
        """The size of the whole dim."""
        return self.resolve(Expr.symbol(dim), self.without_axes(bound))

    def without_axes(self, bound: Names) -> tuple[str, ...]:
        """Bound names for expressions of extents: the axis of a while loop, where it has a size too, means that."""
        return tuple(n for n in bound if n not in self.while_axes or n not in self.definitions)

    @cached_property
    def while_axes(self) -> frozenset[str]:
        """Dims that while loops walk, an element at a time."""
        found: set[str] = set()

        def visit(block: ir.Block) -> None:
            for view in block.operations:
                op = view.operation
                if op.name == "wave.iterate" and "condition" in op.attributes:
                    found.add(op.attributes["axis"].value)
                for region in op.regions:
                    for inner in region.blocks:
                        visit(inner)

        visit(self.kernel.operation.regions[0].blocks[0])
        return frozenset(found)

    def tile_extent(self, dim: str) -> int:
        """Elements of the workgroup's tile along a dim; inside a loop over the dim, of one trip's tile.

        A dim under no constraint is whole. Raises PassError when the number is not known at compile time.
        """
        if dim not in self._extents:
            self._extents[dim] = self._tile_extent(dim)
        return self._extents[dim]

    def _tile_extent(self, dim: str) -> int:
        tiling, workgroup = self._tiling.get(dim), self._workgroup.get(dim)
        tile = tiling.tile if tiling and tiling.tile is not None else workgroup.tile if workgroup else None
        if tile is not None:
            extent = self.static_value(tile, f"the tile of dim {dim}")
        elif tiling is not None and dim in self.while_axes:
            extent = 1
        elif derived := self.derived(dim):
            name, times, divisor = derived
            whole = self.tile_extent(name) * times
            if whole % divisor:
                raise self._error(
                    f"dim {dim} = {self.definitions[dim]} needs tiles of {name} that make whole elements of it; they "
                    f"have {whole // times}"
                )
            extent = whole // divisor
        else:
            value = self.symbol_value(dim)
            if not isinstance(value, int):
                raise self._error(
                    f"dim {dim} is under no constraint and its size is known at run time only; add "
                    f"#wave.workgroup<{dim}, tile, axis> or #wave.tiling<{dim}, tile>, or bind {dim}"
                )
            extent = value
        if extent <= 0:
            raise self._error(f"the tile of dim {dim} has {extent} elements; it must have at least one")
        return extent

    def wave_extent(self, dim: str) -> int:
        """Elements of one wave's part of the workgroup's tile along a dim."""
        return -(-self.tile_extent(dim) // self.waves_of(dim))

    def vector_shape(self, dim: str) -> int | None:
        """`vector_shapes[dim]`: the extent one op of one wave covers, 0 for a batch dim, None when not given."""
        expr = self.hardware.vector_shapes.get(dim)
        return None if expr is None else self.static_value(expr, f"the vector shape of dim {dim}")

    # --- waves ---

    def waves_of(self, dim: str) -> int:
        """Waves that divide the workgroup's tile along a dim."""
        if dim not in self._waves:
            wave = self._wave.get(dim)
            derived = self.derived(dim) if wave is None else None
            if derived is not None:
                self._waves[dim] = self._divide_derived(dim, *derived)
            else:
                self._waves[dim] = 1 if wave is None else self._divide_among_waves(dim, wave)
        return self._waves[dim]

    def _divide_derived(self, dim: str, whole: str, times: int, divisor: int) -> int:
        waves = self.waves_of(whole)
        if waves > 1 and self.wave_extent(whole) * times % divisor:
            raise self._error(
                f"dim {dim} = {self.definitions[dim]} needs wave tiles of {whole} that {divisor} divides; they have "
                f"{self.wave_extent(whole)}"
            )
        return waves

    def _divide_among_waves(self, dim: str, wave: Wave) -> int:
        part = self.static_value(wave.tile, f"the wave's tile of dim {dim}")
        whole = self.tile_extent(dim)
        if part <= 0:
            raise self._error(
                f"the wave's tile of dim {dim} is {wave.tile}, which is {part}; the workgroup's has {whole} elements: "
                f"use fewer waves or a larger tile"
            )
        if whole % part:
            raise self._error(
                f"the workgroup's tile of dim {dim} has {whole} elements, which waves of {part} do not divide; "
                f"choose tiles so that the wave's divides the workgroup's"
            )
        return whole // part

    def wave_axis(self, dim: str) -> int | None:
        """The block dim (0 = x) whose waves divide a dim; None when one wave has all of it."""
        if self.waves_of(dim) == 1:
            return None
        wave = self._wave.get(dim)
        if wave is None:
            derived = self.derived(dim)
            return None if derived is None else self.wave_axis(derived[0])
        if wave.axis is not None:
            return wave.axis
        workgroup = self._workgroup.get(dim)
        if workgroup is None and dim in self._tiling:
            return self._free_wave_axis(dim)
        if workgroup is None:
            raise self._error(
                f"dim {dim} is divided among waves but no workgroup constraint says along which block dim; "
                f"write #wave.wave<{dim}, {wave.tile}, x>"
            )
        if workgroup.axis > 2:
            raise self._error(
                f"dim {dim} is divided among waves, but its grid dim {workgroup.axis} is no block dim; write "
                f"#wave.wave<{dim}, {wave.tile}, x> with the block dim (x, y, z) whose waves divide it"
            )
        return workgroup.axis

    def _free_wave_axis(self, dim: str) -> int:
        """For a dim that a loop walks: the first block dim whose waves divide no other dim, and are as many."""
        others = [w for w in self._wave.values() if w.dim != dim and self.waves_of(w.dim) > 1]
        taken = {w.axis for w in others} | {self._workgroup[w.dim].axis for w in others if w.dim in self._workgroup}
        dims = list(self._wave)
        before = [d for d in dims[: dims.index(dim)] if self.waves_of(d) > 1 and self._wave[d].axis is None]
        taken |= {self._free_wave_axis(d) for d in before if d not in self._workgroup and d in self._tiling}
        given = self.hardware.waves_per_block
        for axis in range(len(AXES)):
            if axis not in taken and (not given or given[axis] == self.waves_of(dim)):
                return axis
        raise self._error(
            f"dim {dim} is divided among {self.waves_of(dim)} waves, but no block dim (x, y, z) has that many that "
            "divide no other dim; drop a wave constraint, or make waves_per_block agree"
        )

    @cached_property
    def block_waves(self) -> tuple[int, int, int]:
        """Waves along the block dims x, y, z."""
        counts = list((*self.hardware.waves_per_block, 1, 1, 1)[:3])
        for dim in self._wave:
            axis = self.wave_axis(dim)
            if axis is not None:
                counts[axis] = max(counts[axis], self.waves_of(dim))
        return counts[0], counts[1], counts[2]

    def waves(self, axis: str | int) -> int:
        """Waves along a block dim, by name ("x") or number."""
        return self.block_waves[AXES.index(axis) if isinstance(axis, str) else axis]

    @property
    def wave_size(self) -> int:
        """Lanes of a wave."""
        return self.target.wave_size

    @property
    def block(self) -> tuple[int, int, int]:
        """Threads of a workgroup along x, y, z."""
        x, y, z = self.block_waves
        return x * self.wave_size, y, z

    @property
    def threads(self) -> int:
        """Threads of a workgroup."""
        x, y, z = self.block
        return x * y * z

    # --- grid ---

    @cached_property
    def program_grid(self) -> list[Expr]:
        """Workgroups along each grid dim of the program, which may be more than three."""
        owners = {w.axis: w for w in reversed(self.constraints.workgroup) if not w.secondary}
        count = 1 + max([2, *owners])
        if self.constraints.grid:
            sizes = [self.resolve(size) for size in self.constraints.grid[0]]
            return sizes + [Expr.constant(1)] * (count - len(sizes))
        grid = []
        for axis in range(count):
            owner = owners.get(axis)
            if owner is None:
                grid.append(Expr.constant(1))
            elif owner.iters is not None:
                grid.append(self.resolve(owner.iters))
            else:
                grid.append(Expr.ceildiv(self.dim_extent(owner.dim), self.resolve(owner.tile)))
        return grid

    @cached_property
    def grid(self) -> list[Expr]:
        """Workgroups along x, y, z: dims from the third on are folded into z."""
        x, y, *rest = self.program_grid
        z = rest[0]
        for size in rest[1:]:
            z = z * size
        return [x, y, z]

    @property
    def binds_remap(self) -> bool:
        """Whether `wg.*` are bound to remapped ids in gpu form; grids of more dims have the remap in indices."""
        return bool(self.constraints.reordering) and len(self.program_grid) <= len(AXES)

    @property
    def workgroup_ids(self) -> list[Expr]:
        """The program's workgroup id along each of its grid dims, over `wg.*` as placed form has them."""
        return [Expr.symbol(f"wg.{axis}") for axis in AXES] if self.binds_remap else self.remapped_ids

    @cached_property
    def remapped_ids(self) -> list[Expr]:
        """The program's workgroup id along each of its grid dims, over the hardware's `wg.x`, `wg.y`, `wg.z`."""
        program = self.program_grid
        ids = [Expr.symbol(f"wg.{axis}") for axis in AXES]
        if len(program) > 3:
            rest = ids.pop()
            for size in program[2:-1]:
                ids.append(rest % size)
                rest = rest // size
            ids.append(rest)
        remapped = list(ids)
        own = {f"wg.{name}": ids[i] for i, name in enumerate(AXES)}
        for equation, axis in self.constraints.reordering:
            if axis >= len(ids):
                raise self._error(f"a reordering constraint remaps grid dim {axis}; the grid has {len(ids)} dims")
            remapped[axis] = self.resolve(equation).subs(own)
        return remapped

    def on_hardware(self, expr: Expr) -> Expr:
        """An expression of the program, whose `wg.*` are the program's workgroup ids, over those of the hardware."""
        if not any(s.startswith("wg.") for s in expr.symbols):
            return expr
        return expr.subs({f"wg.{name}": self.workgroup_ids[i] for i, name in enumerate(AXES)})

    # --- positions ---

    def trips(self, dim: str, bound: Names = ()) -> Expr:
        """Trips of a loop over a tiled dim."""
        tiling = self._tiling.get(dim)
        if tiling is None or (tiling.tile is None and tiling.iters is None):
            raise self._error(
                f"no tiling constraint says how a loop walks dim {dim}; add #wave.tiling<{dim}, tile> "
                f"(in Python: TilingConstraint({dim}, tile))"
            )
        if tiling.iters is not None:
            return self.resolve(tiling.iters, bound)
        assert tiling.tile is not None  # by the check above
        return Expr.ceildiv(self.dim_extent(dim, bound), self.resolve(tiling.tile, bound))

    def dim_base(self, dim: str, bound: Names = ()) -> Expr:
        """Where the tile starts along a dim, over `wg.*` and, where it is bound, `iv.DIM`."""
        bound = tuple(bound)
        if derived := self.derived(dim):
            name, times, divisor = derived
            return self.dim_base(name, bound) * times // divisor
        base = Expr.constant(0)
        if workgroup := self._workgroup.get(dim):
            position = self.workgroup_ids[workgroup.axis]
            if workgroup.fn is not None:
                position = self.on_hardware(self.resolve(workgroup.fn, bound))
            base = position * self.resolve(workgroup.tile, bound)
        if tiling := self._tiling.get(dim):
            if tiling.start is not None:
                base = base + self.on_hardware(self.resolve(tiling.start, bound))
            if f"iv.{dim}" in bound:
                base = base + Expr.symbol(f"iv.{dim}") * self.tile_extent(dim)
        return base

    def dim_symbols(self, dim: str) -> list[str]:
        """User symbols that the dim's size and position depend on, the dim's own first."""
        names = [dim]
        for constraint in (self._workgroup.get(dim), self._tiling.get(dim), self._wave.get(dim)):
            if constraint is None:
                continue
            for field in ("tile", "fn", "iters", "start"):
                expr = getattr(constraint, field, None)
                if expr is not None:
                    names += [s for s in expr.symbols if "." not in s]
        if derived := self.derived(dim):
            names += self.dim_symbols(derived[0])
        return list(dict.fromkeys(names))

    # --- facts ---

    @cached_property
    def facts(self) -> Facts:
        """What holds of `lane`, `wave.*`, `wg.*`, `iv.*` (of tiled dims), `at.*` and dynamic symbols anywhere."""
        return Facts(self._ranges, {}, self._assumptions)

    @cached_property
    def _assumptions(self) -> list[Expr]:
        return [self.resolve(e) for e in self.constraints.assume]

    @property
    def launch_assumptions(self) -> tuple[Expr, ...]:
        """Assumptions that a launch can check: those over dynamic symbols alone."""
        found = [e for e in self._assumptions if e.symbols and set(e.symbols) <= set(self.dynamic)]
        return tuple(dict.fromkeys(found))

    @cached_property
    def _ranges(self) -> dict[str, tuple[int | None, int | None]]:
        ranges: dict[str, tuple[int | None, int | None]] = {"lane": (0, self.wave_size - 1)}
        sizes = Facts({name: (0, MAX_SYMBOL) for name in self.dynamic}, {}, self._assumptions)
        for i, axis in enumerate(AXES):
            ranges[f"wave.{axis}"] = (0, self.block_waves[i] - 1)
            ranges[f"wg.{axis}"] = (0, _below(self.grid[i], sizes))
        for dim, tiling in self._tiling.items():
            if tiling.tile is not None or tiling.iters is not None:
                ranges[f"iv.{dim}"] = (0, _below(self.trips(dim), sizes))
        for name in self.dynamic:
            ranges[name] = (0, MAX_SYMBOL)
        for dim in self.tile_dims:
            ranges[f"at.{dim}"] = (0, self.tile_extent(dim) - 1)
        return ranges

    def strides_of(self, memory: ir.Value) -> tuple[Expr, ...]:
        """Strides of a memory in elements, static symbols resolved; a run-time stride is a reserved symbol."""
        strides = MemoryType(memory.type).element_strides
        number = memory.arg_number if isinstance(memory, ir.BlockArgument) else 0
        return tuple(stride_symbol(number, d) if s is None else self.resolve(s) for d, s in enumerate(strides))

    @cached_property
    def facts_without_assumptions(self) -> Facts:
        """What holds whatever the user assumes."""
        return Facts(self._ranges, {}, [])

    def facts_inside(self, loops: frozenset[str]) -> Facts:
        """The facts in a workgroup, in loops over these dims: dims that workgroups and trips divide are not empty."""
        if loops not in self._inside:
            tilings = [t for t in self.constraints.tiling if t.dim in loops]
            found: list[Workgroup | Tiling] = [t for t in tilings if t.iters is None]
            if not self.constraints.grid:
                found += [w for w in self.constraints.workgroup if w.iters is None and not w.secondary]
            self._inside[loops] = self.facts.extended({c.dim: (1, None) for c in found if c.dim in self.dynamic})
        return self._inside[loops]

    def facts_for(self, bound: Names) -> Facts:
        """The facts for expressions of an op: without those on symbols, and on loops, that its set symbols change."""
        symbols = frozenset(n for n in bound if "." not in n)
        if not symbols:
            return self.facts
        if symbols not in self._facts:
            self._facts[symbols] = self._facts_without(symbols)
        return self._facts[symbols]

    def _facts_without(self, symbols: frozenset[str]) -> Facts:
        ranges = dict(self._ranges)
        for name in list(ranges):
            prefix, _, dim = name.partition(".")
            if name in symbols or (prefix == "iv" and symbols.intersection(self._definition_symbols(dim))):
                del ranges[name]
        kept = [e for e in self._assumptions if not symbols.intersection(e.symbols)]
        return Facts(ranges, {}, kept)

    def _definition_symbols(self, dim: str) -> set[str]:
        """All symbols that a dim's size and position depend on, through definitions too."""
        found: set[str] = set()
        work = self.dim_symbols(dim)
        while work:
            name = work.pop()
            if name not in found:
                found.add(name)
                definition = self.definitions.get(name)
                work += definition.symbols if definition is not None else []
        return found

    @cached_property
    def tile_dims(self) -> list[str]:
        """Dims that tiles can have: constrained ones, and static or derived symbols in the shapes of memories."""
        dims = [d for d in (*self._workgroup, *self._tiling) if self._has_tile(d)]
        dims += [d for d in self.definitions if self.derived(d)]
        static = {n for n, value in self.environment().items() if (value.constant_value or 0) > 0}
        for argument in self.kernel.operation.regions[0].blocks[0].arguments:
            if isinstance(argument.type, MemoryType):
                shape = [symbol for extent in argument.type.shape for symbol in extent.symbols]
                dims += [s for s in shape if s in static or self.derived(s)]
        return list(dict.fromkeys(dims))

    def _has_tile(self, dim: str) -> bool:
        tiling = self._tiling.get(dim)
        return dim in self._workgroup or (tiling is not None and tiling.tile is not None)


def substituted(expr: Expr, values: dict[str, Expr]) -> Expr:
    """`expr.subs(values)`. Raises ExpressionError where that has no value."""
    try:
        return expr.subs(values)
    except ZeroDivisionError:
        used = ", ".join(f"{s} = {values[s]}" for s in expr.symbols if s in values)
        raise ExpressionError(
            f"{expr} divides by 0 where {used}; give them other values, or say with select(…) what it is then"
        ) from None


def is_stride_symbol(name: str) -> bool:
    """Whether a symbol is the run-time stride of a memory."""
    return name.startswith("stride.")


def stride_symbol(argument: int, dim: int) -> Expr:
    """The symbol of a run-time stride: of dim `dim` of the kernel's argument `argument`, from 0."""
    return Expr.symbol(f"stride.a{argument}_{dim}")


def _below(count: Expr, sizes: Facts) -> int | None:
    """The greatest number below a count of what the sizes are known to be; at least 0."""
    most = count.range(sizes)[1]
    return None if most is None else max(most - 1, 0)


def _first_by_dim(constraints: list) -> dict:
    result: dict = {}
    for constraint in constraints:
        result.setdefault(constraint.dim, constraint)
    return result


def target_of(op: ir.OpView | ir.Operation) -> targets.Target:
    """The target table of the module that `op` is in, from its `wave.target`. Raises PassError."""
    current = op.operation
    while current is not None:
        if "wave.target" in current.attributes:
            attribute = current.attributes["wave.target"]
            name = attribute.value if isinstance(attribute, ir.StringAttr) else str(attribute)
            try:
                return targets.get(name)
            except targets.TargetError as e:
                raise PassError(current, str(e)) from None
        parent = current.parent
        current = parent.operation if parent is not None else None
    raise PassError(op, f'the module names no target; give it wave.target = "{targets.names()[0]}" or another of '
                        f"{', '.join(targets.names())}")
