"""The gpu.func of a kernel: signature in ABI order, LDS attribution, attributes, and its symbols as values."""

from __future__ import annotations

from dataclasses import dataclass, field

from mlir import ir
from mlir.dialects import arith, gpu

from wave_mlir.dialect import Expr, MemoryType

from . import gpu_remap
from .emit_expr import ExprEmitter
from .kernel_info import KernelInfo, stride_symbol

AXES = ("x", "y", "z")


@dataclass
class GpuFunction:
    """A gpu.func under construction and what lowering asks about the kernel behind it.

    `strides` are those of each memory in elements, by the memory's value: expressions, where a run-time stride is a
    reserved symbol bound to its ABI argument. `extents` are those of memory arguments. `spans` has the place and the
    valid bytes of descriptors. `lds_places` are the byte offset and the elements of LDS buffers, `lds_shifted` views of
    them from an element on. `copies`: there are asynchronous copies to LDS; `counted`: some may stay in
    flight at a barrier.
    """

    op: ir.Operation
    info: KernelInfo
    emitter: ExprEmitter
    lds: ir.Value | None
    strides: dict[ir.Value, tuple[Expr, ...]] = field(default_factory=dict)
    extents: dict[ir.Value, tuple[Expr, ...]] = field(default_factory=dict)
    lds_places: dict[ir.Value, tuple[int, int]] = field(default_factory=dict)
    lds_shifted: dict[tuple[ir.Value, int], ir.Value] = field(default_factory=dict)
    spans: dict[tuple[str, ir.Value, Expr], tuple[Expr, Expr]] = field(default_factory=dict)
    copies: bool = False
    counted: bool = False

    def total_elements(self, memory: ir.Value) -> Expr:
        """Elements that a memory argument spans, as the ABI counts them; 0 or less when an extent is 0."""
        total = Expr.constant(1)
        for extent, stride in zip(self.extents[memory], self.strides[memory], strict=True):
            total = total + (extent - 1) * stride
        return total.expand().simplify(self.info.facts)

    @property
    def block(self) -> ir.Block:
        """The entry block."""
        return self.op.regions[0].blocks[0]


def address_space(name: str) -> ir.Attribute:
    """`#gpu.address_space<name>`."""
    return ir.Attribute.parse(f"#gpu.address_space<{name}>")


def stored_element(element: ir.Type) -> ir.Type:
    """The element type in memory: i8 of an i1, which has a byte there."""
    is_bit = isinstance(element, ir.IntegerType) and element.width == 1
    return ir.IntegerType.get_signless(8) if is_bit else element


def flat_memref(element: ir.Type, space: str, size: int | None = None) -> ir.Type:
    """`memref<?xT>` (or of `size` elements) in a gpu address space."""
    extent = ir.ShapedType.get_dynamic_size() if size is None else size
    return ir.MemRefType.get([extent], stored_element(element), memory_space=address_space(space))


@dataclass(frozen=True)
class _Argument:
    """One argument of the ABI: its gpu type, what `wave.args` says of it, and the kernel argument it stands for."""

    type: ir.Type
    entry: ir.Attribute
    source: int | None = None
    symbol: str | None = None


def _entry(**fields: ir.Attribute) -> ir.Attribute:
    return ir.DictAttr.get(fields)


def _string(text: str) -> ir.Attribute:
    return ir.StringAttr.get(text)


def _access_of(value: ir.Value) -> str:
    """How a kernel uses a memory argument: "read", "write" or "readwrite"."""
    seen = {"read": False, "write": False}
    for use in value.uses:
        name = use.owner.operation.name
        if name in ("wave.read", "wave.buffer_load", "wave.gather_to_shared"):
            seen["read"] = True
        elif name in ("wave.write", "wave.buffer_store"):
            seen["write"] = True
        else:
            seen["read"] = seen["write"] = True
    return "readwrite" if all(seen.values()) else "write" if seen["write"] else "read"


def _stride_entry(memory: MemoryType, info: KernelInfo) -> dict[str, ir.Attribute]:
    """What `wave.args` says of declared strides: an expression each, a unit for one given at run time."""
    if memory.strides is None:
        return {}
    strides = [ir.UnitAttr.get() if s is None else info.resolve(s) for s in memory.strides]
    return {"strides": ir.ArrayAttr.get(strides)}


def _arguments(kernel: ir.Operation, info: KernelInfo) -> list[_Argument]:
    names = [a.value for a in ir.ArrayAttr(kernel.attributes["arg_names"])]
    values = list(kernel.regions[0].blocks[0].arguments)
    memories, scalars, strides = [], [], []
    index64 = ir.IntegerType.get_signless(64)
    for number, (name, value) in enumerate(zip(names, values, strict=True)):
        if not isinstance(value.type, MemoryType):
            entry = _entry(kind=_string("scalar"), name=_string(name), dtype=ir.TypeAttr.get(value.type))
            scalars.append(_Argument(value.type, entry, source=number))
            continue
        memory = MemoryType(value.type)
        shape = ir.ArrayAttr.get([info.resolve(e) for e in memory.shape])
        entry = _entry(kind=_string("memory"), name=_string(name), dtype=ir.TypeAttr.get(memory.element_type),
                       shape=shape, access=_string(_access_of(value)), **_stride_entry(memory, info))  # fmt: skip
        memories.append(_Argument(flat_memref(memory.element_type, "global"), entry, source=number))
        for dim, stride in enumerate(memory.strides or ()):
            if stride is None:
                entry = _entry(kind=_string("stride"), memory=_string(name),
                               dim=ir.IntegerAttr.get(index64, dim))  # fmt: skip
                strides.append(_Argument(index64, entry, symbol=stride_symbol(number, dim).symbols[0]))
    i32 = ir.IntegerType.get_signless(32)
    symbols = [_Argument(i32, _entry(kind=_string("symbol"), name=_string(s)), symbol=s) for s in info.dynamic]
    return memories + scalars + symbols + strides


def _attributes(kernel: ir.Operation, info: KernelInfo, arguments: list[_Argument], lds_bytes: int) -> dict:
    i64 = ir.IntegerType.get_signless(64)
    values = {name: expr.constant_value for name, expr in info.environment().items()}
    static = {name: ir.IntegerAttr.get(i64, value) for name, value in values.items() if value is not None}
    assumed = {} if not info.launch_assumptions else {"wave.assume": ir.ArrayAttr.get(list(info.launch_assumptions))}
    return {
        "sym_name": kernel.attributes["sym_name"],
        "function_type": ir.TypeAttr.get(ir.FunctionType.get([a.type for a in arguments], [])),
        "gpu.kernel": ir.UnitAttr.get(),
        "workgroup_attributions": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), int(lds_bytes > 0)),
        "known_block_size": ir.DenseI32ArrayAttr.get(list(info.block)),
        "wave.grid": ir.ArrayAttr.get(list(info.grid)),
        "wave.symbols": ir.DictAttr.get(static),
        "wave.args": ir.ArrayAttr.get([a.entry for a in arguments]),
        **assumed,
        **gpu_remap.attributes(info),
    }


def create_function(kernel: ir.Operation, info: KernelInfo, lds_bytes: int, into: ir.Block) -> GpuFunction:
    """An empty gpu.func for `kernel` at the end of `into`, with its arguments in ABI order.

    Uses of the kernel's arguments are replaced by those of the function; the caller moves the body in.
    """
    with kernel.location, ir.InsertionPoint(into):
        arguments = _arguments(kernel, info)
        op = ir.Operation.create("gpu.func", regions=1, attributes=_attributes(kernel, info, arguments, lds_bytes))
        types = [a.type for a in arguments]
        if lds_bytes:
            types.append(flat_memref(ir.IntegerType.get_signless(8), "workgroup", lds_bytes))
        block = op.regions[0].blocks.append(*types, arg_locs=[kernel.location] * len(types))
    lds = block.arguments[len(arguments)] if lds_bytes else None
    function = GpuFunction(op, info, ExprEmitter(info.facts_inside(frozenset()), info.facts_for), lds)
    function.emitter.enter(block)
    _bind_arguments(kernel, function, arguments)
    with kernel.location:
        _bind_ids(function)
    return function


def _bind_arguments(kernel: ir.Operation, function: GpuFunction, arguments: list[_Argument]) -> None:
    sources = list(kernel.regions[0].blocks[0].arguments)
    index = ir.IndexType.get()
    with kernel.location, ir.InsertionPoint(function.block):
        for argument, value in zip(arguments, function.block.arguments, strict=False):
            if argument.source is not None:
                source = sources[argument.source]
                if isinstance(source.type, MemoryType):
                    function.strides[value] = function.info.strides_of(source)
                    shape = MemoryType(source.type).shape
                    function.extents[value] = tuple(function.info.resolve(e) for e in shape)
                source.replace_all_uses_with(value)
            elif argument.symbol is not None:
                # Extents and strides are not negative.
                function.emitter.bind(argument.symbol, arith.IndexCastUIOp(index, value).result)


def _bind_ids(function: GpuFunction) -> None:
    """Workgroup, wave and lane ids: wave.x is tid.x div the wave size, wave.y and wave.z are tid.y and tid.z."""
    emitter, size = function.emitter, function.info.wave_size
    index = ir.IndexType.get()
    with ir.InsertionPoint(function.block):
        for number, axis in enumerate(AXES):
            dimension = ir.Attribute.parse(f"#gpu<dim {axis}>")
            emitter.bind(f"wg.{axis}", gpu.BlockIdOp(dimension).result)
            if function.info.block[number] == (size if axis == "x" else 1):
                emitter.bind(f"wave.{axis}", arith.ConstantOp(index, 0).result)
                if axis == "x":
                    emitter.bind("lane", gpu.ThreadIdOp(dimension).result)
                continue
            thread = gpu.ThreadIdOp(dimension).result
            if axis != "x":
                emitter.bind(f"wave.{axis}", thread)
                continue
            width = arith.ConstantOp(index, size).result
            emitter.bind("lane", arith.RemUIOp(thread, width).result)
            emitter.bind("wave.x", arith.DivUIOp(thread, width).result)
    if function.info.binds_remap:
        _bind_remapped_ids(function)


def _bind_remapped_ids(function: GpuFunction) -> None:
    """From here on `wg.*` are the program's workgroup ids. What is made of the hardware's is known to no one else."""
    info = function.info
    hardware = ExprEmitter(function.emitter.facts, info.facts_for)
    hardware.enter(function.block)
    for name in (*(f"wg.{axis}" for axis in AXES), *info.dynamic):
        hardware.bind(name, function.emitter.emit(Expr.symbol(name), None))
    for axis, expr in zip(AXES, info.remapped_ids, strict=True):
        function.emitter.bind(f"wg.{axis}", hardware.emit(expr, None))
