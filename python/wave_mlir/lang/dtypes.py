"""Element types of the language."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from dataclasses import dataclass

from mlir import ir


@dataclass(frozen=True)
class DataType:
    """An element type. name: as users write it (`tkl.f16`); mlir: its name in MLIR; bits: of one element."""

    name: str
    mlir: str
    bits: int
    kind: str  # float, int, bool or index

    @property
    def is_float(self) -> builtins.bool:
        """True for floats of any width."""
        return self.kind == "float"

    @property
    def is_integer(self) -> builtins.bool:
        """True for integers, bool and index."""
        return self.kind != "float"

    def is_float_asm(self) -> builtins.bool:
        """`is_float`, by the name it has in the Wave language."""
        return self.is_float

    def is_int_asm(self) -> builtins.bool:
        """True for integers and bool, by the name it has in the Wave language."""
        return self.kind in ("int", "bool")

    def is_index_asm(self) -> builtins.bool:
        """True for index, by the name it has in the Wave language."""
        return self.kind == "index"

    def bitwidth(self) -> int:
        """`bits`, by the name it has in the Wave language."""
        return self.bits

    def ir_type(self) -> ir.Type:
        """The MLIR type, in the current context."""
        return _BUILDERS[self.mlir]()

    def __repr__(self) -> str:
        return self.name

    def __str__(self) -> str:
        return self.name


def _integer(bits: int) -> Callable[[], ir.Type]:
    return lambda: ir.IntegerType.get_signless(bits)


_BUILDERS: dict[str, Callable[[], ir.Type]] = {
    "f64": ir.F64Type.get,
    "f32": ir.F32Type.get,
    "f16": ir.F16Type.get,
    "bf16": ir.BF16Type.get,
    "f8E4M3FN": ir.Float8E4M3FNType.get,
    "f8E4M3FNUZ": ir.Float8E4M3FNUZType.get,
    "f8E5M2": ir.Float8E5M2Type.get,
    "f8E5M2FNUZ": ir.Float8E5M2FNUZType.get,
    "f8E8M0FNU": ir.Float8E8M0FNUType.get,
    "f6E2M3FN": ir.Float6E2M3FNType.get,
    "f4E2M1FN": ir.Float4E2M1FNType.get,
    "index": ir.IndexType.get,
    **{f"i{n}": _integer(n) for n in (1, 4, 8, 16, 32, 64)},
}

f64 = DataType("f64", "f64", 64, "float")
f32 = DataType("f32", "f32", 32, "float")
f16 = DataType("f16", "f16", 16, "float")
bf16 = DataType("bf16", "bf16", 16, "float")
f8e4m3fn = DataType("f8e4m3fn", "f8E4M3FN", 8, "float")
f8e4m3fnuz = DataType("f8e4m3fnuz", "f8E4M3FNUZ", 8, "float")
f8e5m2 = DataType("f8e5m2", "f8E5M2", 8, "float")
f8e5m2fnuz = DataType("f8e5m2fnuz", "f8E5M2FNUZ", 8, "float")
f8e8m0fnu = DataType("f8e8m0fnu", "f8E8M0FNU", 8, "float")
f6e2m3fn = DataType("f6e2m3fn", "f6E2M3FN", 6, "float")
f4e2m1fn = DataType("f4e2m1fn", "f4E2M1FN", 4, "float")
i64 = DataType("i64", "i64", 64, "int")
i32 = DataType("i32", "i32", 32, "int")
i16 = DataType("i16", "i16", 16, "int")
i8 = DataType("i8", "i8", 8, "int")
i4 = DataType("i4", "i4", 4, "int")
i1 = DataType("i1", "i1", 1, "bool")
bool = DataType("bool", "i1", 1, "bool")
index = DataType("index", "index", 64, "index")

ALL = (f64, f32, f16, bf16, f8e4m3fn, f8e4m3fnuz, f8e5m2, f8e5m2fnuz, f8e8m0fnu, f6e2m3fn, f4e2m1fn)
ALL += (i64, i32, i16, i8, i4, i1, index)
_BY_MLIR = {t.mlir: t for t in ALL}


def of_mlir(element: ir.Type) -> DataType:
    """The data type of an MLIR element type. KeyError for one that the language does not have."""
    return _BY_MLIR[str(element)]
