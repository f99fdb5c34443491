"""Types and symbols of the language: `import wave_mlir.lang as tkl`."""

from . import global_symbols
from .dtypes import (
    DataType,
    bf16,
    bool,  # noqa: A004
    f4e2m1fn,
    f6e2m3fn,
    f8e4m3fn,
    f8e4m3fnuz,
    f8e5m2,
    f8e5m2fnuz,
    f8e8m0fnu,
    f16,
    f32,
    f64,
    i1,
    i4,
    i8,
    i16,
    i32,
    i64,
    index,
)
from .mapping import IndexMapping
from .symbols import ExpressionError, IndexExpr, IndexSymbol, index_symbol, sym
from .types import AddressSpace, Memory, MemoryLayout, Register, SymbolBind

__all__ = [
    "AddressSpace",
    "DataType",
    "ExpressionError",
    "IndexExpr",
    "IndexMapping",
    "IndexSymbol",
    "Memory",
    "MemoryLayout",
    "Register",
    "SymbolBind",
    "bf16",
    "bool",
    "f4e2m1fn",
    "f6e2m3fn",
    "f8e4m3fn",
    "f8e4m3fnuz",
    "f8e5m2",
    "f8e5m2fnuz",
    "f8e8m0fnu",
    "f16",
    "f32",
    "f64",
    "global_symbols",
    "i1",
    "i4",
    "i8",
    "i16",
    "i32",
    "i64",
    "index",
    "index_symbol",
    "sym",
]
