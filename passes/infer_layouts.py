"""wave-infer-layouts."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from wave_mlir.compiler.access_index import place_access, resolve_expressions, settle_allocations
from wave_mlir.compiler.bitcasts import is_repacking, repacked
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.layout_solver import FREE, LayoutSolver, Requirement
from wave_mlir.compiler.layout_spec import Spec
from wave_mlir.compiler.pass_registry import ModuleOp, Pass, PassError, register_pass
from wave_mlir.compiler.tile_ir import body_of, kernels, walk
from wave_mlir.dialect import TileType


@register_pass("wave-infer-layouts", requires="typed", establishes="placed")
@dataclass(frozen=True)
class InferLayouts(Pass):
    """Give every tile a layout and every access an index.

    Before and after (K walked by a loop with counter %k, 2 x 2 waves):

        %x = wave.read %a symbols(iv.K = %k) : !wave.memory<[M, K], f16, shared> -> !wave.tile<[M, K], f16>

        %x = wave.read %a index [wg.x * 64 + at.M, iv.K * 32 + at.K] symbols(iv.K = %k)
               : !wave.memory<[M, K], f16, shared> -> !wave.tile<[M, K], f16, #lhs>

    Values that one op wants alike form a class with one layout: that of an MMA's accumulator, else of an MMA's operand,
    else what follows through reductions and broadcasts, else one for wide accesses to the memory read or written
    (`vector_shapes` permitting). Loads feed MMAs directly this way. Where an op wants another layout than the value has
    (chained MMAs, one tensor in two roles), a `wave.relayout` stands between; constants are made again instead.
    MMA tiles larger than the wave's tile, and tiles that waves divide unevenly, are clipped by the layout.

    The index of an access has one expression per memory dim, with static symbols replaced by their values: position of
    the workgroup (reordering and `fn` applied) and of the loop, plus `at.DIM`. Mappings are folded into it; a dynamic
    value becomes the symbol `d0`, `d1` …, whose value is a tile with the layout of the access restricted to its dims.
    In a buffer that holds one tile of a dim (`distributed`) the position is that in the tile, and the buffer's type
    becomes what is allocated. Where the memory's extents do not imply that a point is inside the dims' extents, the
    access gets a mask.
    `self_index` becomes `apply_expr`. `trips`, conditions and other expressions get their static symbols replaced too.

    Requires typed form, establishes placed form. Selects for operands of MMAs and reductions are inserted by
    wave-guard-domains.
    """

    def run(self, module: ModuleOp) -> None:
        """Raises PassError where a tile can have no layout."""
        for kernel in kernels(module):
            info = KernelInfo.of(kernel)
            ops = list(walk(body_of(kernel)))
            solver = LayoutSolver(info, ops)
            solver.solve()
            _Placer(solver).run()
            for op in list(walk(body_of(kernel))):
                if op.name in ("wave.read", "wave.write", "wave.atomic", "wave.scatter_add"):
                    place_access(info, op)
                else:
                    resolve_expressions(info, op)
            settle_allocations(info, list(walk(body_of(kernel))))


class _Placer:
    """Sets the types of all tiles and inserts relayouts."""

    def __init__(self, solver: LayoutSolver) -> None:
        self.solver = solver
        self.actual: dict[ir.Value, Spec] = {}
        self._types: dict[tuple[Spec, tuple[str, ...], str], ir.Type] = {}
        self._moved: dict[tuple[ir.Value, Spec, ir.Block], ir.Value] = {}

    def run(self) -> None:
        """Place the kernel's values."""
        for op in self.solver.ops:
            for region in op.regions:
                for block in region:
                    for argument in block.arguments:
                        self._place(argument)
            for result in op.results:
                self._place(result)
        for op in self.solver.ops:
            natural = self._natural(op)
            if natural is not None:
                for result in op.results:
                    self._correct(result, natural)
                if op.name == "wave.reduce" and op.opview.acc is not None:
                    self._satisfy(Requirement(op, len(op.opview.sources), natural))
        for requirement in self.solver.requirements:
            self._satisfy(requirement)

    def _type(self, spec: Spec, tile: TileType) -> ir.Type:
        dims = tuple(tile.dims)
        key = (spec, dims, str(tile.element_type))
        if key not in self._types:
            self._types[key] = TileType.get(list(dims), tile.element_type, spec.attribute(dims))
        return self._types[key]

    def _place(self, value: ir.Value) -> None:
        if isinstance(value.type, TileType):
            spec = self.actual[value] = self.solver.spec(value)
            value.set_type(self._type(spec, value.type))

    def _natural(self, op: ir.Operation) -> Spec | None:
        """The layout that an op's result has by its nature, where it need not be that of its class."""
        if op.name in ("wave.mma", "wave.scaled_mma"):
            return self.solver.mma[op.results[0]].acc
        if op.name == "wave.reduce":
            return self.actual[op.operands[0]].drop([op.attributes["dim"].value])
        if op.name == "wave.extract":
            return self.actual[op.operands[0]].drop(op.operands[0].type.dims)
        if op.name == "wave.topk":
            return self.solver.topk_spec(op, self.actual[op.operands[0]])
        if is_repacking(op):
            return self._of_bitcast(op)
        return None

    def _of_bitcast(self, op: ir.Operation) -> Spec:
        """The layout of a bitcast's result; its operand gets the one that goes with it where there is one."""
        source, result = op.operands[0], op.results[0]
        wanted = repacked(op, self.actual[result], backward=True)
        if wanted is not None:
            self._satisfy(Requirement(op, 0, wanted))
            return self.actual[result]
        natural = repacked(op, self.actual[source])
        if natural is None:
            raise PassError(
                op,
                f"this bitcast from {source.type.element_type} to {result.type.element_type} needs lanes that hold "
                f"whole groups of elements along {source.type.dims[-1]}; ask for it with elements_per_thread or "
                "vector_shapes",
            )
        return natural

    def _correct(self, result: ir.Value, natural: Spec) -> None:
        wanted = self.actual.get(result)
        if wanted is None or wanted == natural:
            return
        wanted_type = result.type
        result.set_type(self._type(natural, result.type))
        op = result.owner.operation
        with ir.InsertionPoint.after(op), op.location:
            moved = ir.Operation.create("wave.relayout", [wanted_type], [result], loc=op.location)
        result.replace_all_uses_except(moved.results[0], moved)
        self.actual[result] = natural
        self.actual[moved.results[0]] = wanted

    def _satisfy(self, requirement: Requirement) -> None:
        op, number = requirement.op, requirement.number
        value = op.operands[number]
        like = requirement.like if isinstance(requirement.like, Spec) else self.actual[requirement.like]
        if requirement.change is not None:
            like = requirement.change(like)
        spec = like.fit(value.type.dims)
        if self.actual[value] == spec:
            return
        key = (value, spec, op.block)
        if key not in self._moved:
            self._moved[key] = self._move(op, value, spec)
        op.operands[number] = self._moved[key]

    def _move(self, op: ir.Operation, value: ir.Value, spec: Spec) -> ir.Value:
        source = value.owner.operation if isinstance(value, ir.OpResult) else None
        with ir.InsertionPoint(op), op.location:
            if source is not None and source.name in FREE:
                moved = source.clone()
                moved.results[0].set_type(self._type(spec, value.type))
            else:
                moved = ir.Operation.create("wave.relayout", [self._type(spec, value.type)], [value], loc=op.location)
        result = moved.operation.results[0]
        self.actual[result] = spec
        return result
