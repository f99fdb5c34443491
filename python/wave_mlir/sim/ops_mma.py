"""Matrix instructions: mfma, scaled_mfma, wmma. Layouts come from the ISA's formulas, apart from the compiler's tables.

mfma MxNxK with B blocks, wave of 64: a lane holds KL = K*M*B/64 elements of A; element r of lane l is row i = l mod M
of block b = (l div M) mod B at k = KL*(l div (M*B)) + r. B likewise with columns. The accumulator keeps H = 4 rows
together (1 for f64): element (i, j) of block b is register (i mod H) + H*(i div (H*G') + G*(b div P)) of lane
j + N*((i div H) mod G' + G'*(b mod P)) with P = blocks side by side = ceil(64*H/(M*N)), G' = 64/(P*N), G = M/(H*G').
The order of K is of no consequence to a sum except for scales. Products and sums are f32 (i32 for i8, f64 for f64).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from mlir import ir

from .cohort import Cohort
from .dtypes import DType
from .program import Compiler, handles


@dataclass(frozen=True)
class Shape:
    """One matrix instruction: extents, blocks, lanes, and rows the accumulator keeps together."""

    m: int
    n: int
    k: int
    blocks: int
    lanes: int
    together: int

    def operand(self, values: np.ndarray, rows: int) -> np.ndarray:
        """(waves, lanes, elements) to (waves, blocks, rows, k)."""
        waves, _, held = values.shape
        chunks = self.lanes // (rows * self.blocks)
        split = values.reshape(waves, chunks, self.blocks, rows, held)
        return split.transpose(0, 2, 3, 1, 4).reshape(waves, self.blocks, rows, chunks * held)

    def _accumulator_view(self, values: np.ndarray) -> np.ndarray:
        """A view of (waves, lanes, registers) as (waves, block high, block low, row high, row mid, row low, column)."""
        side = -(-self.lanes * self.together // (self.m * self.n))
        mid = self.lanes // (side * self.n)
        high = self.m // (self.together * mid)
        waves = values.shape[0]
        parts = values.reshape(waves, side, mid, self.n, self.blocks // side, high, self.together)
        return parts.transpose(0, 4, 1, 5, 2, 6, 3)

    def add(self, product: np.ndarray, accumulator: np.ndarray) -> np.ndarray:
        """product (waves, blocks, m, n) + accumulator (waves, lanes, registers), laid out as the accumulator."""
        waves = max(product.shape[0], accumulator.shape[0])
        product = np.broadcast_to(product, (waves, *product.shape[1:]))
        accumulator = np.broadcast_to(accumulator, (waves, self.lanes, accumulator.shape[2]))
        out = np.empty(accumulator.shape, dtype=product.dtype)
        target = self._accumulator_view(out)
        source = self._accumulator_view(np.ascontiguousarray(accumulator))
        np.add(product.reshape(target.shape), source, out=target)
        return out


def _full(values: np.ndarray, waves: int, lanes: int) -> np.ndarray:
    return np.broadcast_to(values, (waves, lanes, *values.shape[2:]))


class _Operand:
    """Turns a lane-held operand into a matrix, remembering the last few: unrolled code uses each several times."""

    KEEP = 16

    def __init__(self) -> None:
        self._kept: dict[tuple[int, Shape, int, object], tuple[np.ndarray, np.ndarray]] = {}

    def matrix(
        self,
        values: np.ndarray,
        shape: Shape,
        rows: int,
        waves: int,
        compute: np.dtype,
        prepare: Callable[[np.ndarray], np.ndarray] | None,
        key: object,
    ) -> np.ndarray:
        name = (id(values), shape, rows, key)
        found = self._kept.get(name)
        if found is not None and found[0] is values:
            return found[1]
        full = _full(values, values.shape[0] if values.shape[1] == 1 else waves, shape.lanes)
        if full.shape[0] not in (1, waves):
            full = _full(values, waves, shape.lanes)
        if prepare is not None:
            full = prepare(full)
        matrix = shape.operand(full.astype(compute), rows)
        if len(self._kept) >= self.KEEP:
            del self._kept[next(iter(self._kept))]
        self._kept[name] = (values, matrix)
        return matrix


def _cache(c: Compiler) -> _Operand:
    for item in c.program.keep_alive:
        if isinstance(item, _Operand):
            return item
    c.program.keep_alive.append(_Operand())
    return _cache(c)


def _compute_type(accumulator: DType, operand: DType) -> np.dtype:
    """Type products and sums are computed in. i8 goes through f64, which is exact for every K there is."""
    if accumulator.kind == "int":
        return np.dtype(np.float64)
    if accumulator.np == np.float64 or operand.np == np.float64:
        return np.dtype(np.float64)
    return np.dtype(np.float32)


def _vector(c: Compiler, value: ir.Value, slot: int) -> Callable[[Cohort], np.ndarray]:
    """Reads a value as (…, …, n): a scalar is a vector of one; an integer that packs i8 elements is cut into them."""
    if c.shape(value):
        return lambda cohort: cohort.env[slot]
    return lambda cohort: cohort.env[slot][..., None]


def _packed_bytes(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values).view(np.int8)


def truncate_xf32(values: np.ndarray) -> np.ndarray:
    """f32 to the xf32 that matrix units multiply: round the mantissa to 10 bits, to nearest even."""
    bits = np.ascontiguousarray(values).view(np.uint32)
    rounded = bits + np.uint32(0xFFF) + ((bits >> 13) & 1)
    return np.where(np.isfinite(values), rounded & np.uint32(0xFFFFE000), bits).astype(np.uint32).view(np.float32)


def _lane_permutation(blgp: str, lanes: int) -> np.ndarray | None:
    """Lane that each lane's B comes from."""
    lane = np.arange(lanes)
    table = {
        "bcast_first_32": lane % 32,
        "bcast_second_32": lane % 32 + 32,
        "rotate_16_right": (lane + 16) % lanes,
        "bcast_first_16": lane % 16,
        "bcast_second_16": lane % 16 + 16,
        "bcast_third_16": lane % 16 + 32,
        "bcast_fourth_16": lane % 16 + 48,
    }
    return table.get(blgp)


@handles("amdgpu.mfma")
def _mfma(c: Compiler, op: ir.Operation) -> None:
    a_in, b_in, acc_in = op.operands
    acc_type, operand_type = c.dtype(acc_in), c.dtype(a_in)
    m, n, k = (c.integer(op, name) for name in "mnk")
    shape = Shape(m, n, k, c.integer(op, "blocks", 1), c.lanes, 1 if acc_type.np == np.float64 else 4)
    if c.lanes != 64:
        raise c.unsupported("mfma needs waves of 64 lanes")
    bytes_packed = operand_type.kind == "int" and operand_type.bits > 8
    reads = [_vector(c, v, c.use(v)) for v in (a_in, b_in, acc_in)]
    result, scalar = c.define(op.results[0]), not c.shape(acc_in)
    compute = _compute_type(acc_type, operand_type)
    cbsz, abid = c.integer(op, "cbsz", 0), c.integer(op, "abid", 0)
    blgp = str(op.attributes["blgp"]).removesuffix(">").split()[-1] if "blgp" in op.attributes else "none"
    lanes_of_b = _lane_permutation(blgp, c.lanes)
    block_of_a = [(b & ~((1 << cbsz) - 1)) + abid for b in range(shape.blocks)] if cbsz else None
    negate = [c.flag(op, f"negate{n}") for n in "ABC"]
    reduce_precision = c.flag(op, "reducePrecision")
    cache = _cache(c)

    def prepare(values: np.ndarray) -> np.ndarray:
        if bytes_packed:
            values = _packed_bytes(values)
        return truncate_xf32(values) if reduce_precision else values

    simple = None if not (bytes_packed or reduce_precision) else prepare

    def prepare_b(values: np.ndarray) -> np.ndarray:
        values = prepare(values)
        return values if lanes_of_b is None else values[:, lanes_of_b]

    prepare_second = simple if lanes_of_b is None else prepare_b
    keys = ((bytes_packed, reduce_precision), (bytes_packed, reduce_precision, blgp))

    def step(cohort: Cohort) -> None:
        first, second, accumulator = (read(cohort) for read in reads)
        waves = max(first.shape[0], second.shape[0], accumulator.shape[0])
        a = cache.matrix(first, shape, shape.m, waves, compute, simple, keys[0])
        b = cache.matrix(second, shape, shape.n, waves, compute, prepare_second, keys[1])
        if block_of_a is not None:
            a = a[:, block_of_a]
        if negate[0] != negate[1]:
            a = -a
        product = np.matmul(a, b.swapaxes(2, 3))
        if acc_type.kind == "int":
            product = product.astype(np.int64).astype(acc_type.np)
        out = shape.add(product, -accumulator if negate[2] else accumulator)
        cohort.env[result] = out[..., 0] if scalar else out

    c.emit(step)


# ------------------------------------------------------------------------------------------------------------- scaled

SCALE_BLOCK = 32  # elements along K that share a scale


def _scaled_positions(shape: Shape, bits: int) -> np.ndarray:
    """K of element r of lane l, (lanes, 32): f8 lanes hold two halves of 16, narrower types one run of 32."""
    lane, r = np.arange(64)[:, None], np.arange(32)[None, :]
    group = lane // shape.m
    if bits == 8:
        return shape.k // 2 * (r // 16) + 16 * group + r % 16
    return 32 * group + r


@handles("amdgpu.scaled_mfma")
def _scaled_mfma(c: Compiler, op: ir.Operation) -> None:
    a_in, b_in, acc_in, scale_a, scale_b = op.operands
    m, n, k = (c.integer(op, name) for name in "mnk")
    shape = Shape(m, n, k, 1, c.lanes, 4)
    reads = [_vector(c, v, c.use(v)) for v in (a_in, b_in, acc_in, scale_a, scale_b)]
    choose = [c.integer(op, "scalesIdxA"), c.integer(op, "scalesIdxB")]
    result = c.define(op.results[0])
    positions = [_scaled_positions(shape, c.dtype(v).bits) for v in (a_in, b_in)]
    if c.lanes != 64:
        raise c.unsupported("scaled_mfma needs waves of 64 lanes")

    def matrix(
        values: np.ndarray, scales: np.ndarray, rows: int, place: np.ndarray, byte: int, waves: int
    ) -> np.ndarray:
        values = _full(values, waves, 64).astype(np.float32)
        factor = _full(scales, waves, 64)[..., byte if scales.shape[2] > 1 else 0].astype(np.float32)
        lane = np.arange(64)[:, None]
        row = np.broadcast_to(lane % rows, place.shape)
        out = np.empty((waves, rows, shape.k), dtype=np.float32)
        out[:, row, place] = values
        by_block = factor.reshape(waves, 64 // rows, rows).transpose(
            0, 2, 1
        )  # lane l: row l mod rows, block l div rows
        return out * np.repeat(by_block, SCALE_BLOCK, axis=2)

    def step(cohort: Cohort) -> None:
        first, second, accumulator, sa, sb = (read(cohort) for read in reads)
        waves = max(v.shape[0] for v in (first, second, accumulator, sa, sb))
        a = matrix(first, sa, shape.m, positions[0], choose[0], waves)
        b = matrix(second, sb, shape.n, positions[1], choose[1], waves)
        cohort.env[result] = shape.add(np.matmul(a, b.swapaxes(1, 2))[:, None], accumulator)

    c.emit(step)


# --------------------------------------------------------------------------------------------------------------- wmma


@handles("amdgpu.wmma")
def _wmma(c: Compiler, op: ir.Operation) -> None:
    a_in, b_in, acc_in = op.operands
    m, n, k = (c.integer(op, name) for name in "mnk")
    acc_type, types = c.dtype(acc_in), [c.dtype(v) for v in (a_in, b_in)]
    held = c.shape(a_in)[0]
    if c.lanes != 32 or held * 2 != k or c.shape(acc_in) != (8,):
        raise c.unsupported("only the wave32 layouts of RDNA4 (16x16x16; 16x16x32 for i4) are modelled")
    shape = Shape(m, n, k, 1, 32, 8)
    reads = [_vector(c, v, c.use(v)) for v in op.operands]
    result = c.define(op.results[0])
    compute = _compute_type(acc_type, types[0])
    is_unsigned = [
        c.flag(op, "unsignedA") or str(ir.VectorType(a_in.type).element_type).startswith("u"),
        c.flag(op, "unsignedB") or str(ir.VectorType(b_in.type).element_type).startswith("u"),
    ]
    clamp = c.flag(op, "clamp")

    def plain(values: np.ndarray, number: int) -> np.ndarray:
        if types[number].kind == "int" and is_unsigned[number]:
            return np.where(values < 0, values.astype(np.int16) + (1 << types[number].bits), values)
        return values

    def step(cohort: Cohort) -> None:
        first, second, accumulator = (read(cohort) for read in reads)
        waves = max(first.shape[0], second.shape[0], accumulator.shape[0])
        a, b = (
            shape.operand(_full(plain(v, i), waves, 32).astype(compute), rows)
            for i, (v, rows) in enumerate(((first, m), (second, n)))
        )
        out = shape.add(np.matmul(a, b.swapaxes(2, 3)), accumulator.astype(compute))
        if acc_type.kind == "int":
            whole = out.astype(np.int64)
            out = np.clip(whole, -(1 << 31), (1 << 31) - 1) if clamp else whole
        cohort.env[result] = out.astype(acc_type.np)

    c.emit(step)
