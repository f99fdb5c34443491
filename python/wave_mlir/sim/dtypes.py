"""Element types: how MLIR's scalar types are held in numpy arrays and in memory.

An integer of a width numpy lacks lives in the next wider signed type, kept sign extended; i1 is bool. Floats below 32
bits are numpy's or ml_dtypes' types, whose arithmetic rounds each result to nearest even as the hardware does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

import ml_dtypes
import numpy as np
from mlir import ir

from .errors import SimError


@dataclass(frozen=True)
class DType:
    """An element type. kind: "int", "index" or "float". bits: width; a packed type has fewer than 8."""

    name: str
    np: np.dtype
    bits: int
    kind: str

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    @property
    def size(self) -> int:
        """Bytes of one element in memory; a packed type has no size of its own and takes a whole byte."""
        return (self.bits + 7) // 8

    @property
    def packed(self) -> bool:
        return self.bits < 8 and self.name != "i1"


_FLOATS: dict[str, tuple[object, int]] = {
    "f16": (np.float16, 16),
    "bf16": (ml_dtypes.bfloat16, 16),
    "f32": (np.float32, 32),
    "f64": (np.float64, 64),
    "f8E4M3FN": (ml_dtypes.float8_e4m3fn, 8),
    "f8E5M2": (ml_dtypes.float8_e5m2, 8),
    "f8E4M3FNUZ": (ml_dtypes.float8_e4m3fnuz, 8),
    "f8E5M2FNUZ": (ml_dtypes.float8_e5m2fnuz, 8),
    "f8E8M0FNU": (ml_dtypes.float8_e8m0fnu, 8),
    "f4E2M1FN": (ml_dtypes.float4_e2m1fn, 4),
    "f6E2M3FN": (ml_dtypes.float6_e2m3fn, 6),
    "f6E3M2FN": (ml_dtypes.float6_e3m2fn, 6),
}
_INT_CONTAINERS = ((8, np.int8), (16, np.int16), (32, np.int32), (64, np.int64))


@cache
def dtype_named(name: str) -> DType:
    """The element type MLIR prints as `name`. Raises SimError(unsupported)."""
    if name in _FLOATS:
        kind, bits = _FLOATS[name]
        return DType(name, np.dtype(kind), bits, "float")  # type: ignore[call-overload]
    if name == "index":
        return DType(name, np.dtype(np.int64), 64, "index")
    found = re.fullmatch(r"[su]?i(\d+)", name)
    if found:
        bits = int(found.group(1))
        if bits == 1:
            return DType("i1", np.dtype(bool), 1, "int")
        for width, container in _INT_CONTAINERS:
            if bits <= width:
                return DType(f"i{bits}", np.dtype(container), bits, "int")
    raise SimError("unsupported", f"element type {name} is not modelled")


def element_type(kind: ir.Type) -> DType:
    """Element type of a scalar, vector or memref type."""
    if isinstance(kind, ir.ShapedType):
        kind = kind.element_type
    return dtype_named(str(kind))


def vector_shape(kind: ir.Type) -> tuple[int, ...]:
    """Trailing dims a value of this type adds to (waves, lanes): () for a scalar."""
    if isinstance(kind, ir.VectorType):
        if any(kind.scalable_dims):
            raise SimError("unsupported", f"scalable vector {kind} is not modelled")
        return tuple(kind.shape)
    return ()


def unsigned(values: np.ndarray, dtype: DType) -> np.ndarray:
    """The unsigned reading of integers: same bits, zero extended into the unsigned container."""
    if dtype.np == np.bool_:
        return values.view(np.uint8) if values.flags.c_contiguous else values.astype(np.uint8)
    raw = values.view(np.dtype(f"u{dtype.np.itemsize}"))
    if dtype.bits != dtype.np.itemsize * 8:
        raw = raw & raw.dtype.type((1 << dtype.bits) - 1)
    return raw


def wrap(values: np.ndarray, dtype: DType) -> np.ndarray:
    """Reduce integers of any numpy type modulo 2**bits into `dtype`'s container, sign extended."""
    if dtype.np == np.bool_:
        return (values & values.dtype.type(1)).astype(bool) if values.dtype != np.bool_ else values
    out = values.astype(dtype.np, copy=False)
    spare = dtype.np.itemsize * 8 - dtype.bits
    if spare:
        shift = dtype.np.type(spare)
        out = np.right_shift(np.left_shift(out, shift), shift)
    return out


def to_bytes(values: np.ndarray, dtype: DType) -> np.ndarray:
    """Bytes of vectors: shape (…, n) of `dtype` to (…, n*bits/8) uint8, little endian, packed types packed."""
    if dtype.bits % 8 == 0 and dtype.bits == dtype.np.itemsize * 8:
        return np.ascontiguousarray(values).view(np.uint8)
    lead, count = values.shape[:-1], values.shape[-1]
    raw = np.ascontiguousarray(values).view(np.dtype(f"u{dtype.np.itemsize}"))
    bits = (raw[..., None] >> np.arange(dtype.bits, dtype=raw.dtype)) & 1
    return np.packbits(bits.astype(np.uint8).reshape(*lead, count * dtype.bits), axis=-1, bitorder="little")


def from_bytes(raw: np.ndarray, dtype: DType) -> np.ndarray:
    """The inverse of `to_bytes`: (…, n) uint8 to (…, n*8/bits) of `dtype`."""
    if dtype.bits % 8 == 0 and dtype.bits == dtype.np.itemsize * 8:
        return np.ascontiguousarray(raw).view(dtype.np)
    lead, count = raw.shape[:-1], raw.shape[-1] * 8 // dtype.bits
    bits = np.unpackbits(np.ascontiguousarray(raw), axis=-1, bitorder="little")
    bits = bits[..., : count * dtype.bits].reshape(*lead, count, dtype.bits)
    container = np.dtype(f"u{dtype.np.itemsize}")
    total = np.zeros((*lead, count), dtype=container)
    for place in range(dtype.bits):
        total |= bits[..., place].astype(container) << container.type(place)
    if dtype.np == np.bool_:
        return total.astype(bool)
    return total.view(dtype.np) if dtype.is_float else wrap(total.view(dtype.np), dtype)


def constant_array(attribute: ir.Attribute, kind: ir.Type) -> np.ndarray:
    """Value of an `arith.constant`: shape (1, 1, *vector dims)."""
    dtype, shape = element_type(kind), vector_shape(kind)
    if isinstance(attribute, ir.IntegerAttr):
        flat = wrap(np.array([int(attribute.value) & ((1 << 64) - 1)], dtype=np.uint64), dtype)
    elif isinstance(attribute, ir.BoolAttr):
        flat = np.array([bool(attribute.value)])
    elif isinstance(attribute, ir.FloatAttr):
        flat = _float_word(str(attribute).split(":")[0].strip(), dtype)
    elif isinstance(attribute, ir.DenseElementsAttr):
        count = int(np.prod(shape))
        if attribute.is_splat:
            return np.broadcast_to(
                constant_array(attribute.get_splat_value(), ir.ShapedType(kind).element_type)[..., None], (1, 1, count)
            ).reshape(1, 1, *shape)
        flat = _dense_constant(attribute, dtype, count)
    else:
        raise SimError("unsupported", f"constant {attribute} is not modelled")
    return flat.reshape(1, 1, *shape)


_NUMBER = re.compile(r"true|false|[-+]?0[xX][0-9A-Fa-f]+|[-+]?[0-9][0-9.eE+-]*")


def _dense_constant(attribute: ir.DenseElementsAttr, dtype: DType, count: int) -> np.ndarray:
    """The elements from the attribute's text: the bindings give no access to elements of narrow types."""
    text = str(attribute).split(">", 1)[0].removeprefix("dense<").strip()
    if text.startswith('"0x'):
        raw = np.frombuffer(bytes.fromhex(text[3:-1]), dtype=np.uint8)
        if dtype.np == np.bool_:
            return np.unpackbits(raw, bitorder="little")[:count].astype(bool)
        return wrap(raw.view(dtype.np), dtype) if not dtype.is_float else raw.view(dtype.np)
    words = _NUMBER.findall(text)
    if dtype.is_float:
        return np.concatenate([_float_word(word, dtype) for word in words])
    special = {"true": 1, "false": 0}
    values = [special[w] if w in special else int(w, 0) & ((1 << 64) - 1) for w in words]
    return wrap(np.array(values, dtype=np.uint64), dtype)


def _float_word(word: str, dtype: DType) -> np.ndarray:
    if word[:2] in ("0x", "0X"):
        return np.array([int(word, 16)], dtype=np.dtype(f"u{dtype.np.itemsize}")).view(dtype.np)
    return np.array([float(word)], dtype=np.float64).astype(dtype.np)
