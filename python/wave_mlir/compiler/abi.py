"""The kernel ABI: what a caller of a compiled kernel has to know, read from gpu form.

Order of the arguments: one 64-bit pointer per memory in signature order, the scalars in signature order, one i32 per
dynamic symbol, one i64 per run-time stride.  `read_abi` reads it from the attributes of a `gpu.func`;
`KernelABI.to_json` is what stands beside a code object and `KernelABI.from_json` reads it back (without MLIR).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from . import array_strides, exprtext, remaps

if TYPE_CHECKING:
    from mlir import ir
    from mlir.dialects.builtin import ModuleOp

    AnyOp = ir.Operation | ir.OpView

KINDS = ("memory", "scalar", "symbol", "stride")
ACCESSES = ("read", "write", "readwrite")

# MLIR element type -> names numpy, ml_dtypes and torch give it (unsigned ones share the signless MLIR type).
ARRAY_DTYPES: dict[str, tuple[str, ...]] = {
    "i1": ("bool",),
    "i8": ("int8", "uint8"),
    "i16": ("int16", "uint16"),
    "i32": ("int32", "uint32"),
    "i64": ("int64", "uint64"),
    "f16": ("float16",),
    "bf16": ("bfloat16",),
    "f32": ("float32",),
    "f64": ("float64",),
    "f8E4M3FN": ("float8_e4m3fn",),
    "f8E4M3FNUZ": ("float8_e4m3fnuz",),
    "f8E5M2": ("float8_e5m2",),
    "f8E5M2FNUZ": ("float8_e5m2fnuz",),
    "f8E8M0FNU": ("float8_e8m0fnu",),
}
_KERNARG_BYTES = {"memory": 8, "symbol": 4, "stride": 8}
SCALAR_BYTES = {"i1": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "index": 8, "f16": 2, "bf16": 2, "f32": 4, "f64": 8}


class AbiError(ValueError):
    """The ABI attributes of a kernel are wrong, or a call does not fit the kernel. `location` is MLIR's, if known."""

    def __init__(self, message: str, location: str | None = None):
        super().__init__(f"{location}: {message}" if location else message)
        self.message = message
        self.location = location


class BrokenAssumption(AbiError):
    """A call with sizes that break what the kernel is compiled on."""


class HasShape(Protocol):
    """numpy arrays, torch tensors and everything else with a shape."""

    @property
    def shape(self) -> Sequence[int]: ...


@dataclass(frozen=True)
class KernelArg:
    """One kernel argument.

    kind: memory, scalar, symbol or stride.  name: of the argument (a stride's is `<memory>.stride<dim>`).
    dtype: MLIR element type ("f16"); of a symbol "i32", of a stride "i64".
    shape: extents of a memory, one expression each.  strides: those a memory was declared with, in elements, "?" where
    given at run time; empty for a dense row-major one.  access: read, write or readwrite (memories).
    memory, dim: the memory and the dim a stride belongs to.
    """

    kind: str
    name: str
    dtype: str
    shape: tuple[str, ...] = ()
    access: str = ""
    memory: str = ""
    dim: int = -1
    strides: tuple[str, ...] = ()

    @property
    def kernarg_bytes(self) -> int:
        """Bytes (and alignment) of the argument in the kernel argument segment."""
        return _KERNARG_BYTES.get(self.kind) or SCALAR_BYTES[self.dtype]

    def extents(self, symbols: Mapping[str, int]) -> tuple[int, ...]:
        """The shape under symbol values."""
        return tuple(exprtext.evaluate(e, symbols) for e in self.shape)

    def shape_symbols(self) -> tuple[str, ...]:
        """Symbols of the extents."""
        return tuple(s for e in self.shape for s in exprtext.symbols(e))

    def strides_under(self, symbols: Mapping[str, int]) -> tuple[int, ...]:
        """The declared strides under symbol values; none of them is given at run time."""
        return tuple(exprtext.evaluate(s, symbols) for s in self.strides)

    def element_count(self, symbols: Mapping[str, int], strides: Sequence[int] | None = None) -> int:
        """Elements the memory spans: the product of the extents, or 1 + sum((extent - 1) * stride) when strided."""
        extents = self.extents(symbols)
        return math.prod(extents) if strides is None else array_strides.span(extents, strides)


@dataclass(frozen=True)
class KernelABI:
    """How to launch one kernel.

    grid: workgroups along x, y, z, as expressions over `symbols` and the dynamic symbols.  symbols: static values.
    block: threads along x, y, z.  lds_bytes: workgroup memory declared by the kernel.  assumptions: predicates over the
    symbols that the kernel was compiled for; values for which one does not hold are an error.  remap: the program's
    workgroup ids over `wg.x`, `wg.y`, `wg.z`, on a grid of `program_grid`, where a launch has to check that they are a
    bijection (empty otherwise).
    """

    name: str
    target: str
    args: tuple[KernelArg, ...]
    grid: tuple[str, str, str]
    symbols: Mapping[str, int] = field(default_factory=dict)
    block: tuple[int, int, int] = (1, 1, 1)
    lds_bytes: int = 0
    assumptions: tuple[str, ...] = ()
    remap: tuple[str, ...] = ()
    program_grid: tuple[str, ...] = ()

    def __hash__(self) -> int:
        rest = (self.block, self.lds_bytes, self.assumptions, self.remap, self.program_grid)
        return hash((self.name, self.target, self.args, self.grid, tuple(self.symbols.items()), *rest))

    @property
    def memories(self) -> tuple[KernelArg, ...]:
        """The memory arguments in order."""
        return tuple(a for a in self.args if a.kind == "memory")

    @property
    def scalars(self) -> tuple[KernelArg, ...]:
        """The scalar arguments in order."""
        return tuple(a for a in self.args if a.kind == "scalar")

    @property
    def dynamic_symbols(self) -> tuple[str, ...]:
        """Names of the symbols given at launch, in order."""
        return tuple(a.name for a in self.args if a.kind == "symbol")

    @property
    def threads(self) -> int:
        """Threads of a workgroup."""
        return math.prod(self.block)

    def offsets(self) -> tuple[int, ...]:
        """Byte offset of each argument in the kernel argument segment: each naturally aligned."""
        offsets, at = [], 0
        for arg in self.args:
            size = arg.kernarg_bytes
            at = (at + size - 1) // size * size
            offsets.append(at)
            at += size
        return tuple(offsets)

    def values(self, symbols: Mapping[str, int] | None = None) -> dict[str, int]:
        """Static symbols and the given dynamic ones together. Raises AbiError on a missing, unknown or clashing one."""
        given = dict(symbols or {})
        merged = dict(self.symbols)
        dynamic = self.dynamic_symbols
        for name, value in given.items():
            if name in merged and merged[name] != value:
                raise AbiError(
                    f"kernel '{self.name}': symbol '{name}' is {merged[name]} at compile time; {value} was given"
                )
            if name not in merged and name not in dynamic:
                known = ", ".join([*merged, *dynamic]) or "none"
                raise AbiError(f"kernel '{self.name}': unknown symbol '{name}'; it has: {known}")
            merged[name] = _checked_extent(self.name, name, value)
        for name in dynamic:
            if name not in merged:
                raise AbiError(
                    f"kernel '{self.name}': dynamic symbol '{name}' has no value; give symbols={{'{name}': ...}}"
                )
        for text in self.assumptions:
            if not _evaluate(self.name, "assumption", text, merged):
                used = ", ".join(f"{s} = {merged[s]}" for s in exprtext.symbols(text))
                raise BrokenAssumption(
                    f"kernel '{self.name}' is compiled on the assumption that {text}; {used} breaks it"
                )
        return merged

    def grid_for(self, symbols: Mapping[str, int] | None = None) -> tuple[int, int, int]:
        """Workgroups along x, y and z for values of the dynamic symbols.

        Raises AbiError when a symbol is missing, an extent is negative, or remapped ids are no bijection of the grid.
        """
        values = self.values(symbols)
        x, y, z = (_evaluate(self.name, f"grid {axis}", e, values) for axis, e in zip("xyz", self.grid, strict=True))
        if self.remap:
            self._check_remap((x, y, z), values)
        return x, y, z

    def _check_remap(self, grid: tuple[int, int, int], values: Mapping[str, int]) -> None:
        program = tuple(_evaluate(self.name, "program grid", e, values) for e in self.program_grid)
        used = sorted({s for e in self.remap for s in exprtext.symbols(e) if not s.startswith("wg.")})
        try:
            remaps.check(self.remap, program, grid, tuple((s, values[s]) for s in used))
        except remaps.RemapError as error:
            raise AbiError(f"kernel '{self.name}': {error}") from None

    def bind(
        self,
        arrays: Mapping[str, HasShape | Sequence[int]] | Sequence[HasShape | Sequence[int]],
        scalars: Mapping[str, int | float] | Sequence[int | float] = (),
        symbols: Mapping[str, int] | None = None,
    ) -> dict[str, int]:
        """Values of all symbols (static and dynamic) for a call.

        arrays: arrays or shapes, in signature order or by name.  A dynamic symbol that is an extent of an array takes
        its value from there; others come from `symbols`.  Shapes, dtypes (of arrays that have one) and the number of
        scalars are checked.
        Raises AbiError that names the argument and the symbol.
        """
        shapes = self._named("array", [a.name for a in self.memories], arrays)
        self._named("scalar", [a.name for a in self.scalars], scalars)
        given = dict(symbols or {})
        for arg in self.memories:
            self._infer(arg, _shape_of(shapes[arg.name]), given)
        values = self.values(given)
        for arg in self.memories:
            self._check_array(arg, shapes[arg.name], values)
        return values

    def _named(self, what: str, names: Sequence[str], given: Mapping | Sequence) -> dict:
        if not isinstance(given, Mapping):
            if len(given) != len(names):
                listed = ", ".join(names) or "none"
                raise AbiError(f"kernel '{self.name}' takes {len(names)} {what}s ({listed}); {len(given)} were given")
            return dict(zip(names, given, strict=True))
        for name in given:
            if name not in names:
                raise AbiError(f"kernel '{self.name}' has no {what} '{name}'; it has: {', '.join(names) or 'none'}")
        for name in names:
            if name not in given:
                raise AbiError(f"kernel '{self.name}': {what} '{name}' is missing")
        return dict(given)

    def _infer(self, arg: KernelArg, shape: tuple[int, ...], given: dict[str, int]) -> None:
        """Take values of dynamic symbols that are an extent by themselves."""
        if len(shape) != len(arg.shape):
            raise AbiError(
                f"kernel '{self.name}': argument '{arg.name}' has {len(arg.shape)} dims [{', '.join(arg.shape)}]; "
                f"an array of {len(shape)} dims was given"
            )
        for text, extent in zip(arg.shape, shape, strict=True):
            if text in self.dynamic_symbols:
                given.setdefault(text, extent)

    def _check_array(self, arg: KernelArg, array: HasShape | Sequence[int], values: Mapping[str, int]) -> None:
        for dim, (text, extent) in enumerate(zip(arg.shape, _shape_of(array), strict=True)):
            want = _evaluate(self.name, f"argument '{arg.name}', dim {dim}", text, values)
            if want != extent:
                used = ", ".join(f"{s} = {values[s]}" for s in exprtext.symbols(text) if s != text)
                wanted = f"{text} is {want}" if text != str(want) else f"the kernel is compiled for {want}"
                raise AbiError(
                    f"kernel '{self.name}': argument '{arg.name}' has extent {extent} in dim {dim}, but {wanted}"
                    + (f" ({used})" if used else "")
                )
        dtype = getattr(array, "dtype", None)
        names = ARRAY_DTYPES.get(arg.dtype)
        if dtype is not None and names and str(dtype).removeprefix("torch.") not in names:
            raise AbiError(
                f"kernel '{self.name}': argument '{arg.name}' holds {arg.dtype}; an array of {dtype} was given"
            )
        try:
            fault = array_strides.fault(array, arg.strides, arg.access, values)
        except exprtext.ExprError as error:
            raise AbiError(f"kernel '{self.name}': argument '{arg.name}', strides: {error}") from None
        if fault:
            raise AbiError(f"kernel '{self.name}': the array of argument '{arg.name}' {fault}")

    def to_json(self) -> dict[str, object]:
        """Plain data for `json.dump`; the grid also by value when it needs no dynamic symbol (else null)."""
        dynamic = set(self.dynamic_symbols)
        static = not any(s in dynamic for e in self.grid for s in exprtext.symbols(e))
        values = [_evaluate(self.name, "grid", e, self.symbols) for e in self.grid] if static else None
        offsets = self.offsets()
        return {
            "name": self.name,
            "target": self.target,
            "block": list(self.block),
            "grid": {"expressions": list(self.grid), "values": values},
            "lds_bytes": self.lds_bytes,
            "symbols": dict(self.symbols),
            "assumptions": list(self.assumptions),
            "remap": {"ids": list(self.remap), "grid": list(self.program_grid)},
            "args": [_arg_to_json(a, o) for a, o in zip(self.args, offsets, strict=True)],
        }

    @staticmethod
    def from_json(data: Mapping) -> KernelABI:
        """The inverse of `to_json`. Raises AbiError when a field is missing."""
        try:
            return KernelABI(
                name=data["name"],
                target=data["target"],
                args=tuple(_arg_from_json(a) for a in data["args"]),
                grid=tuple(data["grid"]["expressions"]),
                symbols=dict(data["symbols"]),
                block=tuple(data["block"]),
                lds_bytes=data["lds_bytes"],
                assumptions=tuple(data.get("assumptions", ())),
                remap=tuple(data.get("remap", {}).get("ids", ())),
                program_grid=tuple(data.get("remap", {}).get("grid", ())),
            )
        except (KeyError, TypeError) as error:
            raise AbiError(f"kernel description lacks {error}") from None


def _arg_to_json(arg: KernelArg, offset: int) -> dict[str, object]:
    out: dict[str, object] = {"kind": arg.kind, "name": arg.name, "dtype": arg.dtype}
    if arg.kind == "memory":
        out |= {"shape": list(arg.shape), "access": arg.access}
        if arg.strides:
            out["strides"] = list(arg.strides)
    elif arg.kind == "symbol":
        out["symbol"] = arg.name
    elif arg.kind == "stride":
        out |= {"memory": arg.memory, "dim": arg.dim}
    return out | {"offset": offset, "bytes": arg.kernarg_bytes}


def _arg_from_json(data: Mapping) -> KernelArg:
    return KernelArg(
        kind=data["kind"],
        name=data["name"],
        dtype=data["dtype"],
        shape=tuple(data.get("shape", ())),
        access=data.get("access", ""),
        memory=data.get("memory", ""),
        dim=data.get("dim", -1),
        strides=tuple(data.get("strides", ())),
    )


def _shape_of(array: HasShape | Sequence[int]) -> tuple[int, ...]:
    shape: Sequence[int] = getattr(array, "shape", array)  # type: ignore[assignment]
    return tuple(int(e) for e in shape)


def _checked_extent(kernel: str, name: str, value: int) -> int:
    if not 0 <= value < 2**31:
        raise AbiError(f"kernel '{kernel}': symbol '{name}' = {value} is not within 0 .. 2^31 - 1")
    return int(value)


def _evaluate(kernel: str, what: str, text: str, values: Mapping[str, int]) -> int:
    try:
        value = exprtext.evaluate(text, values)
    except exprtext.ExprError as error:
        raise AbiError(f"kernel '{kernel}': {what}: {error}") from None
    if value < 0:
        raise AbiError(f"kernel '{kernel}': {what}: '{text}' is negative ({value})")
    return value


# ---------------------------------------------------------------------------------------------------------------------
# Reading the attributes of a gpu.func


def kernel_functions(module: ir.Module | ModuleOp) -> list[ir.Operation]:
    """The kernels (`gpu.func ... kernel`) of all gpu.modules, in order."""
    found = []
    for op in module.body.operations:
        if op.operation.name != "gpu.module":
            continue
        for inner in op.operation.regions[0].blocks[0].operations:
            if inner.operation.name == "gpu.func" and "gpu.kernel" in inner.operation.attributes:
                found.append(inner.operation)
    return found


def kernels(module: ir.Module | ModuleOp) -> list[KernelABI]:
    """The ABI of each kernel of a gpu-form module, in order. Raises AbiError."""
    return [read_abi(op) for op in kernel_functions(module)]


def read_abi(gpu_func_op: AnyOp) -> KernelABI:
    """The ABI of one kernel from its attributes (see the gpu form in docs/design.md).

    Raises AbiError, with the function's location, when an attribute is missing, malformed or unfit for the signature.
    """
    from .abi_reader import Reader  # it needs KernelABI

    return Reader(gpu_func_op.operation).read()


def expression_text(attribute: ir.Attribute) -> str:
    """The text of an expression attribute: `#wave.expr<...>`, a string, or an integer."""
    from mlir import ir

    if isinstance(attribute, ir.StringAttr):
        return exprtext.strip(attribute.value)
    if isinstance(attribute, ir.IntegerAttr):
        return str(attribute.value)
    return exprtext.strip(str(attribute))
