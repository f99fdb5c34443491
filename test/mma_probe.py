"""A kernel that does one MMA per workgroup, and the packing of matrices into registers as a target's table says."""

from __future__ import annotations

import ml_dtypes
import numpy as np
from wave_mlir.compiler.targets import DTYPE_BITS, Fragment, MmaKind, Target

NUMPY = {
    "f64": np.dtype(np.float64), "f32": np.dtype(np.float32), "i32": np.dtype(np.int32), "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16), "i8": np.dtype(np.int8),
    "f8E4M3FNUZ": np.dtype(ml_dtypes.float8_e4m3fnuz), "f8E5M2FNUZ": np.dtype(ml_dtypes.float8_e5m2fnuz),
    "f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn), "f8E5M2": np.dtype(ml_dtypes.float8_e5m2),
    "f8E8M0FNU": np.dtype(ml_dtypes.float8_e8m0fnu), "f6E2M3FN": np.dtype(ml_dtypes.float6_e2m3fn),
    "f6E3M2FN": np.dtype(ml_dtypes.float6_e3m2fn), "f4E2M1FN": np.dtype(ml_dtypes.float4_e2m1fn),
}  # fmt: skip

# The three dims of a batch of matrices are (matrix, first, second); these are first and second of each operand.
LHS, RHS, ACC = ("row", "k"), ("col", "k"), ("row", "col")


def _positions(fragment: Fragment, wave: int, axes: tuple[str, str]) -> tuple[np.ndarray, np.ndarray]:
    """Indices [lane, element] along both axes."""
    coordinates = [[fragment.coordinates(r, lane) for r in range(fragment.elements)] for lane in range(wave)]
    first, second = (np.array([[c.get(axis, 0) for c in row] for row in coordinates]) for axis in axes)
    return first, second


def pack(matrices: np.ndarray, fragment: Fragment, wave: int, axes: tuple[str, str]) -> np.ndarray:
    """Registers [matrix, lane, register] (uint32) that hold the matrices as `fragment` says; little-endian."""
    first, second = _positions(fragment, wave, axes)
    values = np.ascontiguousarray(matrices[:, first, second].astype(NUMPY[fragment.dtype]))
    bits = DTYPE_BITS[fragment.dtype]
    codes = values.view(np.dtype(f"u{values.dtype.itemsize}"))
    planes = (codes[..., None] >> np.arange(bits, dtype=codes.dtype)) & codes.dtype.type(1)
    flat = planes.astype(np.uint8).reshape(*codes.shape[:2], -1)
    whole = np.zeros((*flat.shape[:2], fragment.registers * 32), np.uint8)
    whole[..., : flat.shape[-1]] = flat
    return np.packbits(whole, axis=-1, bitorder="little").view(np.uint32)


def unpack(registers: np.ndarray, fragment: Fragment, wave: int, axes: tuple[str, str]) -> np.ndarray:
    """Matrices from registers [matrix, lane, register]; every element must be held exactly once."""
    first, second = _positions(fragment, wave, axes)
    values = registers.view(NUMPY[fragment.dtype])[..., : fragment.elements]
    out = np.empty((len(registers), fragment.extent(axes[0]), fragment.extent(axes[1])), values.dtype)
    out[:, first, second] = values
    return out


def _vector(fragment: Fragment, count: int | None = None) -> str:
    """The type of `count` elements of the operand, of all of a lane's without it."""
    return f"vector<{count or fragment.elements}x{fragment.dtype}>"


def _load(name: str, fragment: Fragment) -> str:
    return f"""
      %{name}_stride = arith.constant {fragment.registers} : index
      %{name}_at = arith.muli %slot, %{name}_stride : index
      %{name}_raw = vector.load %{name}_mem[%{name}_at]
        : memref<1048576xi32, #gpu.address_space<global>>, vector<{fragment.registers}xi32>"""


def _cast(name: str, fragment: Fragment) -> str:
    registers = f"vector<{fragment.registers}xi32>"
    return f"""
      %{name} = vector.bitcast %{name}_raw : {registers} to {_vector(fragment)}"""


def _part(name: str, fragment: Fragment, index: int, count: int) -> tuple[str, str, str]:
    """(text, value, type) of the elements that instruction `index` of `count` uses; a single one is a scalar."""
    size = fragment.elements // count
    if size == 1:
        text = f"\n      %{name}_s{index} = vector.extract %{name}[{index}] : {fragment.dtype} from {_vector(fragment)}"
        return text, f"%{name}_s{index}", fragment.dtype
    if count == 1:
        return "", f"%{name}", _vector(fragment)
    where = f"{{offsets = [{index * size}], sizes = [{size}], strides = [1]}}"
    text = f"""
      %{name}{index} = vector.extract_strided_slice %{name} {where}
        : {_vector(fragment)} to {_vector(fragment, size)}"""
    return text, f"%{name}{index}", _vector(fragment, size)


def kernel(kind: MmaKind, target: Target, scale_byte: tuple[int, int] = (0, 0)) -> str:
    """gpu-form text: each workgroup loads its registers of A, B, C (and scales), does the MMA and stores C.

    Arguments are memrefs of i32 laid out [workgroup, lane, register]. A lane's scale register has four bytes, of which
    `scale_byte` picks the one for lhs and for rhs.
    """
    memref = "memref<1048576xi32, #gpu.address_space<global>>"
    names = ["lhs", "rhs", "acc"] + (["sl", "sr"] if kind.is_scaled else [])
    body = []
    for name, fragment in (("lhs", kind.lhs), ("rhs", kind.rhs), ("acc", kind.acc)):
        body += [_load(name, fragment), _cast(name, fragment)]
    for name, fragment in (("sl", kind.lhs_scale), ("sr", kind.rhs_scale)):
        if fragment is not None:
            body.append(_load(name, fragment))
            body.append(f"\n      %{name} = vector.bitcast %{name}_raw : vector<1xi32> to vector<4xf8E8M0FNU>")
    acc_type = _vector(kind.acc)
    result = "%acc"
    for index in range(kind.instruction.count):
        texts = [_part(n, f, index, kind.instruction.count) for n, f in (("lhs", kind.lhs), ("rhs", kind.rhs))]
        (lhs_text, lhs, lhs_type), (rhs_text, rhs, rhs_type) = texts
        body += [lhs_text, rhs_text]
        body.append(_operation(kind, f"%d{index}", (lhs, lhs_type), (rhs, rhs_type), (result, acc_type), scale_byte))
        result = f"%d{index}"
    registers = f"vector<{kind.acc.registers}xi32>"
    arguments = ", ".join(f"%{n}_mem: {memref}" for n in names)
    return f"""
module attributes {{gpu.container_module}} {{
  gpu.module @probe {{
    gpu.func @mma({arguments}) kernel attributes {{known_block_size = array<i32: {target.wave_size}, 1, 1>}} {{
      %wave = arith.constant {target.wave_size} : index
      %lane = gpu.thread_id x
      %wg = gpu.block_id x
      %base = arith.muli %wg, %wave : index
      %slot = arith.addi %base, %lane : index{"".join(body)}
      %out = vector.bitcast {result} : {acc_type} to {registers}
      vector.store %out, %acc_mem[%acc_at] : {memref}, {registers}
      gpu.return
    }}
  }}
}}
"""


Typed = tuple[str, str]  # a value and its type


def _operation(kind: MmaKind, result: str, lhs: Typed, rhs: Typed, acc: Typed, scale_byte: tuple[int, int]) -> str:
    what = kind.instruction
    shape = f"{what.m}x{what.n}x{what.k}"
    attributes = ", ".join(n if v == "unit" else f"{n} = {v}" for n, v in what.attributes)
    attributes = f" {{{attributes}}}" if attributes else ""
    types = f"{lhs[1]}, {rhs[1]}, {acc[1]}"
    if what.op == "amdgpu.scaled_mfma":
        operands = f"(%sl[{scale_byte[0]}] * {lhs[0]}) * (%sr[{scale_byte[1]}] * {rhs[0]}) + {acc[0]}"
        return f"""
      {result} = amdgpu.scaled_mfma {shape} {operands}
        : vector<4xf8E8M0FNU>, {lhs[1]}, vector<4xf8E8M0FNU>, {rhs[1]}, {acc[1]}"""
    blgp = " blgp = none" if what.op == "amdgpu.mfma" else ""
    return f"""
      {result} = {what.op} {shape} {lhs[0]} * {rhs[0]} + {acc[0]}{attributes}{blgp} : {types}"""
