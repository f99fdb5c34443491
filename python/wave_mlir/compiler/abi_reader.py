"""Reads the kernel ABI from the attributes of a `gpu.func` (see `abi.read_abi`)."""

from __future__ import annotations

import math
from dataclasses import replace

from mlir import ir

from . import array_strides, exprtext
from .abi import ACCESSES, KINDS, SCALAR_BYTES, AbiError, KernelABI, KernelArg, expression_text


class Reader:
    """Reads one gpu.func; every failure carries its location."""

    def __init__(self, op: ir.Operation):
        self.op = op
        self.attributes = op.attributes
        self.name = str(self._string("sym_name"))

    def fail(self, message: str) -> AbiError:
        return AbiError(message, str(self.op.location).removeprefix("loc(").removesuffix(")").replace('"', ""))

    def read(self) -> KernelABI:
        block = self._block()
        args = self._args()
        self._check_signature(args)
        strided = {a.memory for a in args if a.kind == "stride"}
        args = tuple(
            replace(a, strides=(array_strides.RUN_TIME,) * len(a.shape)) if a.name in strided and not a.strides else a
            for a in args
        )
        symbols = self._symbols()
        lds, assumptions = self._lds_bytes(), self._expressions("wave.assume")
        remap, program = self._expressions("wave.remap"), self._expressions("wave.program_grid")
        if len(remap) != len(program):
            raise self.fail(f"kernel '{self.name}': wave.remap and wave.program_grid differ in length")
        return KernelABI(
            self.name, self._target(), args, self._grid(), symbols, block, lds, assumptions, remap, program
        )

    def _expressions(self, key: str) -> tuple[str, ...]:
        """The expressions of an attribute that need not be there."""
        if key not in self.attributes:
            return ()
        return tuple(self._expression(e) for e in ir.ArrayAttr(self.attributes[key]))

    def _string(self, key: str) -> str:
        return ir.StringAttr(self.attributes[key]).value

    def _target(self) -> str:
        op = self.op
        while op is not None:
            if "wave.target" in op.attributes:
                return ir.StringAttr(op.attributes["wave.target"]).value
            parent = op.parent
            op = parent.operation if parent is not None else None
        return ""

    def _block(self) -> tuple[int, int, int]:
        if "known_block_size" not in self.attributes:
            raise self.fail(f"kernel '{self.name}' lacks known_block_size = array<i32: X, Y, Z>")
        sizes = tuple(ir.DenseI32ArrayAttr(self.attributes["known_block_size"]))
        if len(sizes) != 3 or min(sizes) < 1:
            raise self.fail(f"kernel '{self.name}': known_block_size must be three positive sizes, not {list(sizes)}")
        return sizes[0], sizes[1], sizes[2]

    def _grid(self) -> tuple[str, str, str]:
        if "wave.grid" not in self.attributes:
            raise self.fail(f"kernel '{self.name}' lacks wave.grid = [X, Y, Z] (expressions)")
        texts = tuple(self._expression(e) for e in ir.ArrayAttr(self.attributes["wave.grid"]))
        if len(texts) != 3:
            raise self.fail(f"kernel '{self.name}': wave.grid must have three expressions, not {len(texts)}")
        return texts[0], texts[1], texts[2]

    def _expression(self, attribute: ir.Attribute) -> str:
        text = expression_text(attribute)
        try:
            exprtext.symbols(text)
        except exprtext.ExprError as error:
            raise self.fail(f"kernel '{self.name}': {error}") from None
        return text

    def _symbols(self) -> dict[str, int]:
        if "wave.symbols" not in self.attributes:
            return {}
        return {e.name: ir.IntegerAttr(e.attr).value for e in ir.DictAttr(self.attributes["wave.symbols"])}

    def _args(self) -> tuple[KernelArg, ...]:
        if "wave.args" not in self.attributes:
            raise self.fail(f"kernel '{self.name}' lacks wave.args = [{{kind = ..., name = ...}}, ...]")
        return tuple(self._arg(i, ir.DictAttr(d)) for i, d in enumerate(ir.ArrayAttr(self.attributes["wave.args"])))

    def _arg(self, index: int, data: ir.DictAttr) -> KernelArg:
        def text(key: str) -> str:
            if key not in data:
                raise self.fail(f"kernel '{self.name}': wave.args[{index}] lacks '{key}'")
            return ir.StringAttr(data[key]).value

        kind = text("kind")
        if kind not in KINDS:
            raise self.fail(f"kernel '{self.name}': wave.args[{index}] has kind '{kind}'; kinds are {', '.join(KINDS)}")
        if kind == "stride":
            memory = text("memory")
            dim = ir.IntegerAttr(data["dim"]).value if "dim" in data else -1
            if dim < 0:
                raise self.fail(f"kernel '{self.name}': wave.args[{index}] lacks 'dim'")
            return KernelArg(kind, f"{memory}.stride{dim}", "i64", memory=memory, dim=dim)
        name = text("name")
        if kind == "symbol":
            return KernelArg(kind, name, "i32")
        if "dtype" not in data:
            raise self.fail(f"kernel '{self.name}': wave.args[{index}] ('{name}') lacks 'dtype'")
        dtype = str(ir.TypeAttr(data["dtype"]).value)
        if kind == "scalar":
            if dtype not in SCALAR_BYTES:
                raise self.fail(f"kernel '{self.name}': scalar '{name}' cannot be a {dtype}")
            return KernelArg(kind, name, dtype)
        shape = tuple(self._expression(e) for e in ir.ArrayAttr(data["shape"])) if "shape" in data else ()
        access = ir.StringAttr(data["access"]).value if "access" in data else "readwrite"
        if access not in ACCESSES:
            raise self.fail(f"kernel '{self.name}': memory '{name}' has access '{access}'; use {', '.join(ACCESSES)}")
        return KernelArg(kind, name, dtype, shape, access, strides=self._strides(data, name, len(shape)))

    def _strides(self, data: ir.DictAttr, name: str, dims: int) -> tuple[str, ...]:
        if "strides" not in data:
            return ()
        given = list(ir.ArrayAttr(data["strides"]))
        if len(given) != dims:
            raise self.fail(f"kernel '{self.name}': memory '{name}' has {dims} dims and {len(given)} strides")
        return tuple(array_strides.RUN_TIME if isinstance(s, ir.UnitAttr) else self._expression(s) for s in given)

    def _check_signature(self, args: tuple[KernelArg, ...]) -> None:
        inputs = ir.FunctionType(ir.TypeAttr(self.attributes["function_type"]).value).inputs
        if len(inputs) != len(args):
            raise self.fail(f"kernel '{self.name}' has {len(inputs)} arguments, but wave.args describes {len(args)}")
        order = [KINDS.index(a.kind) for a in args]
        if order != sorted(order):
            raise self.fail(
                f"kernel '{self.name}': arguments must be memories, scalars, symbols, strides, in this order"
            )
        for arg, got in zip(args, inputs, strict=True):
            is_memory = isinstance(got, ir.MemRefType)
            element = str(got.element_type) if is_memory else str(got)
            # A stride may be written as `index`: it is an i64 in the argument segment then. An i1 is a byte in memory.
            if is_memory != (arg.kind == "memory") or element not in (
                arg.dtype,
                {"stride": "index", "memory": "i8" if arg.dtype == "i1" else ""}.get(arg.kind, ""),
            ):
                raise self.fail(
                    f"kernel '{self.name}': argument '{arg.name}' is a {arg.kind} of {arg.dtype}, its type is {got}"
                )

    def _lds_bytes(self) -> int:
        count = 0
        if "workgroup_attributions" in self.attributes:
            count = ir.IntegerAttr(self.attributes["workgroup_attributions"]).value
        inputs = len(ir.FunctionType(ir.TypeAttr(self.attributes["function_type"]).value).inputs)
        total = 0
        for value in list(self.op.regions[0].blocks[0].arguments)[inputs : inputs + count]:
            memref = ir.MemRefType(value.type)
            bits = _element_bits(memref.element_type)
            total = (total + 15) // 16 * 16 + math.prod(memref.shape) * bits // 8
        return total


def _element_bits(element: ir.Type) -> int:
    if isinstance(element, ir.VectorType):
        return math.prod(element.shape) * _element_bits(element.element_type)
    return getattr(element, "width", 64)
