"""Casts that the code generator has not, or not as the language means them, in ops that it has.

Floats become integers by saturation, NaN becomes 0; every cast rounds once; 8-bit floats of a flavor that the target
has no instructions for are taken apart and put together in integers.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir, rewrite
from mlir.dialects import arith, llvm
from mlir.dialects.builtin import ModuleOp

from .elementary.numbers import FORMATS, Bool, Constants, Int, Kind, Real, choose, choose_int
from .targets import Target


@dataclass(frozen=True)
class Flavor:
    """An 8-bit float: a sign, exponent and mantissa. greatest: code of the greatest finite number. nan: its code.

    finite: there is no infinity. unsigned_zero: 0x80 is NaN, and there is no other.
    """

    mantissa: int
    bias: int
    greatest: int
    nan: int
    finite: bool
    unsigned_zero: bool


# OCP 8-bit floating point specification; the FNUZ kinds as in LLVM's APFloat.
FLAVORS = {
    "f8E4M3FN": Flavor(3, 7, 0x7E, 0x7F, True, False),
    "f8E4M3FNUZ": Flavor(3, 8, 0x7F, 0x80, True, True),
    "f8E5M2": Flavor(2, 15, 0x7B, 0x7E, False, False),
    "f8E5M2FNUZ": Flavor(2, 16, 0x7F, 0x80, True, True),
}
_NATIVE = {"FNUZ": ("f8E4M3FNUZ", "f8E5M2FNUZ"), "OCP": ("f8E4M3FN", "f8E5M2")}
_OPS = ("extf", "truncf", "fptosi", "fptoui", "sitofp", "uitofp")


def expand(module: ModuleOp, target: Target) -> None:
    """Rewrite the casts of all kernels in place."""
    constants: dict[ir.Block, Constants] = {}
    for op in _collected(module):
        rewriter = _Casts(op, _NATIVE.get(target.f8_flavor or "", ()), constants)
        with ir.InsertionPoint(op), op.location:
            result = rewriter.rewritten()
        if result is not None:
            op.results[0].replace_all_uses_with(result)
            op.erase()


def _collected(module: ModuleOp) -> list[ir.Operation]:
    """The casts that may have to be rewritten, in order; the walk is MLIR's own."""
    found: list[ir.Operation] = []

    def collect(op: ir.OpView | ir.Operation, _: object) -> bool:
        found.append(op.operation)
        return True  # no match

    patterns = rewrite.RewritePatternSet()
    for name in _OPS:
        patterns.add(f"arith.{name}", collect)
    rewrite.walk_and_apply_patterns(module.operation, patterns.freeze())
    return found


def _element(kind: ir.Type) -> ir.Type:
    return kind.element_type if isinstance(kind, ir.VectorType) else kind


class _Casts:
    """Rewrites one cast; ops are made at the insertion point."""

    def __init__(self, op: ir.Operation, native: tuple[str, ...], constants: dict[ir.Block, Constants]):
        self.op, self.native, self.constants = op, native, constants
        self.value: ir.Value = op.operands[0]
        self.result: ir.Type = op.results[0].type
        self.source, self.target = str(_element(self.value.type)), str(_element(self.result))

    def rewritten(self) -> ir.Value | None:
        """The result; None: the op stays."""
        name = self.op.name.removeprefix("arith.")
        if name in ("fptosi", "fptoui"):
            return self._to_integer(name)
        if name in ("sitofp", "uitofp"):
            return self._from_integer(name == "sitofp")
        if name == "extf":
            return self._from_8_bits() if self.source in FLAVORS and self.source not in self.native else None
        if self.target in FLAVORS and (self.source == "f64" or self.target not in self.native):
            return self._to_8_bits()
        return None

    def _of(self, element: ir.Type) -> ir.Type:
        """The result's type with other elements."""
        kind = self.result
        return ir.VectorType.get(kind.shape, element) if isinstance(kind, ir.VectorType) else element

    def _kind(self, name: str) -> Kind:
        parent = self.op
        while parent.parent is not None and parent.name != "gpu.func":
            parent = parent.parent.operation
        block = parent.regions[0].blocks[0]
        shape = tuple(self.result.shape) if isinstance(self.result, ir.VectorType) else None
        return Kind(FORMATS[name], shape, self.constants.setdefault(block, Constants(block)))

    # --- integers ---

    def _to_integer(self, name: str) -> ir.Value | None:
        """To 32 bits the instruction saturates, and f16 to 16; of that less is cut in integers, and 64 is LLVM's."""
        width = ir.IntegerType(_element(self.result)).width
        foreign = self.source in FLAVORS
        if width == 1 or (not foreign and (width == 32 or (width == 16 and self.source == "f16"))):
            return None
        value = self._widened(self.value) if foreign or self.source == "bf16" else self.value
        if width == 64:
            return llvm.CallIntrinsicOp(self.result, f"llvm.{name}.sat", [value], [], []).results_
        kind = self._kind("f32")
        make = arith.FPToSIOp if name == "fptosi" else arith.FPToUIOp
        word = make(kind.int_type(), value).result
        if width == 32:
            return word
        if name == "fptosi":
            word = arith.MaxSIOp(word, kind.integer(-1 << (width - 1)).ir).result
            word = arith.MinSIOp(word, kind.integer((1 << (width - 1)) - 1).ir).result
        else:
            word = arith.MinUIOp(word, kind.integer((1 << width) - 1).ir).result
        return arith.TruncIOp(self.result, word).result

    def _widened(self, value: ir.Value) -> ir.Value:
        """As f32."""
        if self.source in FLAVORS and self.source not in self.native:
            return self._decoded(value).ir
        return arith.ExtFOp(self._of(ir.F32Type.get()), value).result

    def _from_integer(self, signed: bool) -> ir.Value | None:
        make = arith.SIToFPOp if signed else arith.UIToFPOp
        if self.target in FLAVORS:  # what f32 rounds is past the greatest 8-bit float anyway
            single = make(self._of(ir.F32Type.get()), self.value).result
            if self.target in self.native:
                return arith.TruncFOp(self.result, single).result
            return self._encoded(Real(single, self._kind("f32")))
        width = ir.IntegerType(_element(self.value.type)).width
        if self.target != "bf16" or width < 32:
            return None
        wide = self._kind("f32" if width == 32 else "f64")
        exact = self._sticky(Int(self.value, wide), signed)
        return arith.TruncFOp(self.result, make(wide.float_type, exact.ir).result).result

    def _sticky(self, value: Int, signed: bool) -> Int:
        """The integer, or one near it that the float of its width has exactly and that rounds to bf16 alike: bits past
        that float's precision are joined in one."""
        kind, form = value.kind, value.kind.format
        size = value
        if signed:
            sign = value.signed_shift(form.width - 1)
            size = (value ^ sign) - sign
        spare = form.width - form.mantissa - 1
        low = value & ((1 << spare) - 1)
        joined = (value - low) | choose_int(low.differs(0), kind.integer(1 << spare), kind.integer(0))
        return choose_int((size >> (form.mantissa + 1)).differs(0), joined, value)

    # --- 8-bit floats ---

    def _from_8_bits(self) -> ir.Value:
        single = self._decoded(self.value).ir
        if self.target == "f32":
            return single
        convert = arith.ExtFOp if self.target == "f64" else arith.TruncFOp  # exact: there are 4 bits at most
        return convert(self.result, single).result

    def _decoded(self, value: ir.Value) -> Real:
        """An 8-bit float as f32: its bits at f32's place, times a power of 2 for the other bias."""
        flavor, kind = FLAVORS[self.source], self._kind("f32")
        bits = Int(arith.ExtUIOp(kind.int_type(), arith.BitcastOp(kind.int_type(8), value).result).result, kind)
        size = bits & 0x7F
        number = kind.from_bits(size << (23 - flavor.mantissa)) * 2.0 ** (127 - flavor.bias)
        number = kind.from_bits(number.bits() | ((bits & 0x80) << 24))
        nan = kind.real(float("nan"))
        if flavor.unsigned_zero:
            return choose(bits.differs(0x80), number, nan)
        if flavor.finite:
            return choose(size.differs(0x7F), number, nan)
        special = kind.from_bits((bits & 0x80) << 24 | (size << 21) | 0x7F800000)
        return choose(size.below(flavor.greatest + 1), number, special)

    def _to_8_bits(self) -> ir.Value:
        single = self.value
        if self.source == "f64":
            single = self._to_odd().ir
        elif self.source != "f32":
            single = arith.ExtFOp(self._of(ir.F32Type.get()), single).result
        if self.target in self.native:
            return arith.TruncFOp(self.result, single).result
        return self._encoded(Real(single, self._kind("f32")))

    def _to_odd(self) -> Real:
        """f64 as f32, with the last bit set where it is inexact: rounding that again is rounding once."""
        kind, double = self._kind("f32"), self._kind("f64")
        single = Real(arith.TruncFOp(kind.float_type, self.value).result, kind)
        exact = Real(self.value, double)
        back = Real(arith.ExtFOp(double.float_type, single.ir).result, double)
        bits = single.bits()
        # Toward zero, then one bit; where it overflowed the greatest finite number does.
        over = Bool((abs(back) > abs(exact)).ir, kind)
        bits = choose_int(over, bits - 1, bits)
        inexact = Bool((back.differs(exact)).ir, kind) & Bool(exact.equals(exact).ir, kind)
        return kind.from_bits(choose_int(inexact, bits | 1, bits))

    def _encoded(self, value: Real) -> ir.Value:
        """An f32 as an 8-bit float, to nearest even."""
        flavor, kind = FLAVORS[self.target], value.kind
        size = abs(value)
        shift = 23 - flavor.mantissa
        bits = size.bits()
        rounded = (bits + ((1 << (shift - 1)) - 1) + ((bits >> shift) & 1)) >> shift
        normal = rounded - ((127 - flavor.bias) << flavor.mantissa)
        # A denormal number is a multiple of the least one: adding a large float rounds to such, in its last bits.
        large = kind.real(2.0 ** (1 - flavor.bias - flavor.mantissa + 23))
        denormal = (size + large).bits() - large.bits()
        code = choose_int((size < 2.0 ** (1 - flavor.bias)), denormal, normal)
        overflow = kind.integer(flavor.nan if flavor.finite else 0x7C)
        code = choose_int(code.below(flavor.greatest + 1), code, overflow)
        code = choose_int(size < float("inf"), code, overflow)
        sign = value.bits() >> 24 & 0x80
        if flavor.unsigned_zero:
            sign = choose_int(code.differs(0), sign, kind.integer(0))
        code = choose_int(size.is_nan(), kind.integer(flavor.nan), code)
        code = (code | sign).truncated(8)
        return arith.BitcastOp(self.result, code.ir).result
