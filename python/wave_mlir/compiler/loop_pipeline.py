"""Prologue, steady loop and epilogue of a scheduled loop.

At time t the op of stage s runs for tile t - s. With S stages and T tiles, times 0 … S - 2 are the prologue, the steady
loop runs U times a trip, and the S - 1 times after it are the epilogue. A part numbers tiles by its own origin: the
prologue from tile 0, the steady loop from the tile that stage 0 takes up when a trip begins, the epilogue from the
first tile that the steady loop did not take up.

Where the epilogue is eliminated the steady loop runs on instead, and loads of tiles that are not there read the last
one (`loop_overrun`).

A value that a later time uses is carried by the steady loop, keyed by the value of the body and the tile's number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from mlir import ir

from wave_mlir.dialect import Expr, Facts

from .direct_copies import COPY
from .loop_overrun import LOADS, Last
from .loop_slots import FIRST, SLOT, STEADY, STEADY_ALONE, Schedule
from .loop_values import Plan, Plans, Source, inside_of
from .stagger import barrier_of_some
from .tile_ir import bound_values, with_symbols

Key = tuple[Source, int]
"""A value of the body, and the number of a tile."""


@dataclass(frozen=True)
class Numbers:
    """What tile number 0 of a part is: a constant, or `expr` over the trip counter `counter` or `symbols`.

    In the steady loop tile r is `expr + r` in which the symbol of the loop's axis is the new counter.
    """

    constant: int | None
    expr: Expr | None = None
    symbols: tuple[tuple[str, ir.Value], ...] = ()
    counter: ir.Value | None = None


@dataclass
class Part:
    """One part under construction, or a rehearsal of it that only finds out what it needs from before it.

    first: the number of tile 0 of the loop, where it is in this part. phase: what is added to a number for the copy
    of a rotating buffer that the tile has. inherit: the value from before. last: the tile that loads of tiles behind it
    read instead.
    """

    schedule: Schedule
    numbers: Numbers
    facts: Facts
    phase: int
    first: int | None
    inherit: Callable[[Source, int], ir.Value | None]
    rehearsal: bool = False
    steady: bool = False
    last: Last | None = None
    known: dict[Key, ir.Value | None] = field(default_factory=dict)
    _counters: dict[int, ir.Value] = field(default_factory=dict)

    # --- values --------------------------------------------------------------------------------
    def resolve(self, source: Source, tile: int) -> ir.Value | None:
        """What a value of the body is for a tile (None in a rehearsal)."""
        if source.maker is not None:
            if (source, tile) not in self.known:
                if source.maker.again:
                    self.emit(source.maker, tile)
                else:
                    self.known[source, tile] = self.inherit(source, tile)
            return self.known[source, tile]
        if source.yielded is not None:
            return self._carried(source, source.yielded, tile)
        if source.copies is not None:
            return source.copies[(tile + self.phase) % len(source.copies)]
        if source.counter:
            return None if self.rehearsal else self._counter(tile)
        return source.value

    def _carried(self, argument: Source, yielded: Source, tile: int) -> ir.Value | None:
        """An argument of the body: the initial value for the first tile, else what the tile before yields."""
        if self.first is not None:
            return argument.init if tile == self.first else self.resolve(yielded, tile - 1)
        if (argument, tile) not in self.known:
            if (yielded, tile - 1) in self.known:
                return self.known[yielded, tile - 1]
            self.known[argument, tile] = self.inherit(argument, tile)
        return self.known[argument, tile]

    def _counter(self, tile: int) -> ir.Value:
        """The trip counter's value for a tile, as a value."""
        if tile not in self._counters:
            numbers, index = self.numbers, ir.IndexType.get()
            if numbers.constant is not None:
                attributes: dict[str, ir.Attribute] = {"value": ir.IntegerAttr.get(index, numbers.constant + tile)}
                return ir.Operation.create("arith.constant", [index], [], attributes).results[0]
            assert numbers.expr is not None
            symbols = dict(numbers.symbols)
            if numbers.counter is not None:
                symbols[_counter_name(self.schedule.loop)] = numbers.counter
            attributes = {"expr": (numbers.expr + tile).simplify(self.facts)}
            if symbols:
                attributes["symbol_names"] = ir.ArrayAttr.get([ir.StringAttr.get(n) for n in symbols])
            made = ir.Operation.create("wave.apply_expr", [index], list(symbols.values()), attributes)
            if numbers.counter is not None:
                return made.results[0]
            self._counters[tile] = made.results[0]
        return self._counters[tile]

    # --- ops -----------------------------------------------------------------------------------
    def emit(self, plan: Plan, tile: int) -> None:
        """The op for a tile, at the insertion point."""
        if plan.alone and not (self.steady or self.rehearsal):
            return
        with plan.location:
            operands = self._resolved(plan.operands, tile)
            inner = [self._resolved(child, tile) for child in plan.inner]
            if self.rehearsal:
                self.known.update(dict.fromkeys([(result, tile) for result in plan.results]))
                return
            if plan.counted and self.numbers.constant is None and self.numbers.counter is None:
                self._counter(tile)  # before its user
            new = self._made(plan)
            _set_operands(new, operands)
            for child, values in zip(inside_of(new) if inner else (), inner, strict=True):
                _set_operands(child, values)
            if plan.counted:
                new = self._renumber(new, plan.counted, tile)
            if plan.results:
                self.known.update(zip([(result, tile) for result in plan.results], new.results, strict=True))
            if plan.placed:
                ir.Operation.create("wave.scheduling_barrier", [], [], {"allow": ir.ArrayAttr.get([])})

    def _made(self, plan: Plan) -> ir.Operation:
        """A copy of an op; between waves that are a barrier apart every barrier orders LDS."""
        if plan.op.name == "wave.workgroup_barrier" and self.steady and self.schedule.stagger is not None:
            return ir.Operation.create("wave.shared_memory_barrier", [], [], {})
        new = plan.op.clone().operation
        if plan.moved:
            new.location = plan.location
        if plan.alone:
            del new.attributes[STEADY_ALONE]
        return new

    def _resolved(self, operands: Sequence[tuple[int, Source]], tile: int) -> list[tuple[int, ir.Value | None]]:
        return [(number, self.resolve(source, tile)) for number, source in operands]

    def _renumber(self, op: ir.Operation, names: list[str], tile: int) -> ir.Operation:
        """A fresh clone, whose symbols `names` were the loop's counter, for a tile of this part."""
        values = bound_values(op)
        numbers = self.numbers
        known = numbers.constant is not None
        if not known and numbers.counter is None:
            values |= {name: self._counter(tile) for name in names}
            return with_symbols(op, values)
        replacement = {}
        for name in names:
            if known:
                assert numbers.constant is not None
                del values[name]
                replacement[name] = self._there(op, Expr.constant(numbers.constant + tile), values)
            else:
                assert numbers.expr is not None and numbers.counter is not None
                values[name] = numbers.counter
                one = self._there(op, numbers.expr + tile, values)
                replacement[name] = one.subs({_counter_name(self.schedule.loop): Expr.symbol(name)})
        attributes: dict[str, ir.Attribute | None] = dict(_substituted(op, replacement, self.facts))
        return with_symbols(op, values, attributes)


    def _there(self, op: ir.Operation, tile: Expr, values: dict[str, ir.Value]) -> Expr:
        """The number of a tile, or for loads of the last one where it may be behind that."""
        if self.last is None or op.name not in LOADS:
            return tile
        renamed = {}
        for name, value in self.last.symbols:
            own = name if values.get(name, value) == value else f"{name}_of_loop"
            values[own] = value
            renamed[name] = Expr.symbol(own)
        return Expr.min(tile, self.last.expr.subs(renamed)).simplify(self.facts)


def _counter_name(loop: ir.Operation) -> str:
    return f"iv.{loop.attributes['axis'].value}"


def _set_operands(op: ir.Operation, values: list[tuple[int, ir.Value | None]]) -> None:
    if values:
        operands = op.operands
        for number, value in values:
            if value is not None:
                operands[number] = value


def _substituted(op: ir.Operation, values: dict[str, Expr], facts: Facts) -> dict[str, ir.Attribute]:
    """The attributes of an op that have expressions, with symbols replaced."""
    found: dict[str, ir.Attribute] = {}
    for name, attribute in op.attributes.items():
        if isinstance(attribute, Expr):
            found[name] = _replaced(attribute, values, facts)
        elif isinstance(attribute, ir.ArrayAttr) and any(isinstance(e, Expr) for e in attribute):
            entries = [_replaced(e, values, facts) if isinstance(e, Expr) else e for e in attribute]
            found[name] = ir.ArrayAttr.get(entries)
    return found


def _replaced(expr: Expr, values: dict[str, Expr], facts: Facts) -> Expr:
    if not any(s in values for s in expr.symbols):
        return expr
    return expr.subs(values).expand().simplify(facts)


@dataclass
class Pipeline:
    """The parts of one loop; `build` makes them before the loop."""

    schedule: Schedule
    buffers: dict[ir.Value, list[ir.Value]]
    facts: Facts
    last: Last | None = None

    @cached_property
    def _plans(self) -> Plans:
        return Plans(self.schedule, self.buffers)

    def _part(self, numbers: Numbers, inherit: Callable[[Source, int], ir.Value | None], **options: bool) -> Part:
        start = self.schedule.stages - 1
        in_prologue = not options.pop("end", False) and numbers.constant == 0
        phase = 0 if in_prologue else start
        first = 0 if in_prologue else None
        return Part(self.schedule, numbers, self.facts, phase, first, inherit, last=self.last, **options)

    def _run_steady(self, part: Part) -> None:
        for step in range(self.schedule.unroll):
            for plan in self._plans.ops:
                part.emit(plan, step - plan.stage)

    def _run_epilogue(self, part: Part) -> list[ir.Value | None]:
        for time in range(self.schedule.stages - 1):
            for plan in self._plans.ops:
                if plan.stage > time:
                    part.emit(plan, time - plan.stage)
        return [part.resolve(argument, 0) for argument in self._plans.arguments]

    def _run_end(self, part: Part) -> list[ir.Value | None]:
        """What is behind the steady loop: the epilogue, or where that is eliminated only what is there already."""
        if self.last is None:
            return self._run_epilogue(part)
        return [part.resolve(argument, 1 - self.schedule.stages) for argument in self._plans.arguments]

    def _needs(self) -> list[Key]:
        """What the steady loop has to carry: what its ops and the epilogue use of earlier times, and so on."""
        needed: list[Key] = []
        seen: dict[Key, None] = {}

        def ask(source: Source, tile: int) -> None:
            if (source, tile) not in seen:
                seen[source, tile] = None
                needed.append((source, tile))

        nothing = Numbers(None)
        steady = self._part(nothing, ask, rehearsal=True)
        self._run_steady(steady)
        self._run_end(self._part(nothing, ask, rehearsal=True, end=True))
        for source, tile in needed:  # which grows
            steady.resolve(source, tile + self.schedule.unroll)
        return needed

    def build(self, trips: Expr, end: Numbers) -> list[ir.Value]:
        """The parts, at the insertion point. `trips`: of the steady loop. `end`: the first tile it does not take up.

        Returns the results of the loop up to the end.
        """
        schedule, start = self.schedule, self.schedule.stages - 1
        loop = schedule.loop
        needed = self._needs()
        for plan in self._plans.ops:
            if plan.placed:
                del plan.op.attributes[SLOT]  # copies are to have none
        prologue = self._part(Numbers(0), _nothing)
        for time in range(start):
            for plan in self._plans.ops:
                if plan.stage <= time:
                    prologue.emit(plan, time - plan.stage)
        inits = [prologue.resolve(value, start + tile) for value, tile in needed]
        self._move_first()
        if schedule.stagger is not None:
            barrier_of_some(schedule.stagger, loop.location)
        steady = self._open_steady(trips, [v for v in inits if v is not None])
        body = steady.regions[0].blocks[0]
        arguments = list(body.arguments)[1 if "has_iv" in loop.attributes else 0 :]
        name = _counter_name(loop)
        counter = body.arguments[0] if "has_iv" in loop.attributes else None
        numbers = Numbers(None, Expr.symbol(name) * schedule.unroll + start, (), counter)
        part = self._part(numbers, _nothing, steady=True)
        part.known.update(zip(needed, arguments, strict=True))
        with loop.location, ir.InsertionPoint(body):
            self._run_steady(part)
            ends = [part.resolve(value, tile + schedule.unroll) for value, tile in needed]
            ir.Operation.create("wave.yield", [], [v for v in ends if v is not None])
        if schedule.stagger is not None:
            barrier_of_some(schedule.stagger.eq(0).simplify(self.facts), loop.location)
        epilogue = self._part(end, _nothing, end=True)
        epilogue.known.update(zip(needed, steady.results, strict=True))
        if self.last is not None and any(plan.op.name == COPY for plan in self._plans.ops):
            zero = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 0)
            with loop.location:  # copies of tiles that are not there end before their LDS may be another workgroup's
                ir.Operation.create("wave.memory_counter_wait", [], [], {"load": zero})
                ir.Operation.create("wave.wave_fence", [], [])
        return [v for v in self._run_end(epilogue) if v is not None]

    def _move_first(self) -> None:
        """Ops that stand before the loop and belong between prologue and steady loop, to the insertion point."""
        block = self.schedule.loop.block
        for op in [view.operation for view in block.operations]:
            if op == self.schedule.loop:
                break
            if FIRST in op.attributes and not op.results:
                with op.location:
                    new = op.clone().operation
                del new.attributes[FIRST]
                op.erase()

    def _open_steady(self, trips: Expr, inits: list[ir.Value]) -> ir.Operation:
        """The steady loop with an empty body."""
        loop = self.schedule.loop
        values = bound_values(loop)
        attributes = {n: a for n, a in loop.attributes.items() if n not in ("operandSegmentSizes", "wave.pipeline")}
        attributes["trips"] = trips
        attributes[STEADY] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), self.schedule.unroll)
        attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([0, len(inits), len(values)])
        types = [v.type for v in inits]
        with loop.location:
            new = ir.Operation.create("wave.iterate", types, [*inits, *values.values()], attributes, regions=1)
        arguments = ([ir.IndexType.get()] if "has_iv" in attributes else []) + types
        new.regions[0].blocks.append(*arguments, arg_locs=[loop.location] * len(arguments))
        return new


def _nothing(source: Source, tile: int) -> ir.Value:
    raise AssertionError(f"a verified schedule uses {source.value} of tile {tile} before it is there")


def shift(loop: ir.Operation, by: Expr) -> None:
    """Let a loop begin with trip `by`, over the loop's own symbols; its trip count is up to the caller."""
    if "has_iv" not in loop.attributes or by.constant_value == 0:
        return
    body = loop.regions[0].blocks[0]
    counter, name = body.arguments[0], _counter_name(loop)
    used = {name: counter, **{n: v for n, v in bound_values(loop).items() if n in by.symbols}}
    attributes: dict[str, ir.Attribute] = {"expr": Expr.symbol(name) + by}
    attributes["symbol_names"] = ir.ArrayAttr.get([ir.StringAttr.get(n) for n in used])
    with loop.location, ir.InsertionPoint.at_block_begin(body):
        made = ir.Operation.create("wave.apply_expr", [ir.IndexType.get()], list(used.values()), attributes)
    counter.replace_all_uses_except(made.results[0], made)
