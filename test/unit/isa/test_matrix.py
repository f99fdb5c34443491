"""Every matrix instruction of both targets against numpy, on integers that are exact in each type."""

from __future__ import annotations

import numpy as np
import pytest
from matrix_layout import (
    BITS,
    LANES,
    TYPES,
    Matrix,
    codes,
    numpy_type,
    pack,
    pack_accumulator,
    pack_operand,
    parse,
    unpack_accumulator,
)
from snippet import run_lines
from wave_mlir.compiler import targets
from wave_mlir.compiler.targets import Fragment, MmaKind
from wave_mlir.isa import native
from wave_mlir.isa.errors import IsaError

A, B, C, D, INDEX = 64, 80, 100, 0, 140  # first registers of the operands
MIXED = ("fp8", "bf8", "fp6", "bf6", "fp4")  # by CBSZ and BLGP
RNG = np.random.default_rng(7)


def instructions(kind: str) -> list[tuple[str, str]]:
    """(target, mnemonic) of the registry's matrix instructions whose name begins with `kind`."""
    ops = sorted(native.opcodes().values(), key=lambda op: op.name)
    return [(t, op.name) for op in ops if op.format == "mfma" and op.name.startswith(kind) for t in op.targets]


def integers(shape: tuple[int, ...], element: str = "f32") -> np.ndarray:
    """Random integers that the element type holds exactly."""
    return RNG.integers(-128, 128, shape) if element == "i8" else RNG.integers(-4, 5, shape)


def span(first: int, count: int, file: str = "v") -> str:
    return f"{file}{first}" if count == 1 else f"{file}[{first}:{first + count - 1}]"


def run(op: Matrix, target: str, a: np.ndarray, b: np.ndarray, c: np.ndarray, modifiers: str = "") -> np.ndarray:
    """D of values A [block, m, k], B [block, k, m], C [block, m, m]."""
    raw_a = pack_operand(op, op.a, codes(a, numpy_type(op.a, target)))
    raw_b = pack_operand(op, op.b, codes(b.transpose(0, 2, 1), numpy_type(op.b, target)))
    raw_c = pack_accumulator(op, c)
    n = raw_c.shape[1]
    line = f"{op.mnemonic} {span(D, n)}, {span(A, raw_a.shape[1])}, {span(B, raw_b.shape[1])}, {span(C, n)} {modifiers}"
    after = run_lines(line, {A: raw_a, B: raw_b, C: raw_c}, target=target)
    return unpack_accumulator(op, after.v[D : D + n])


def expected(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """A * B + C, in int64 or float64."""
    wide = np.int64 if c.dtype.kind == "i" else np.float64
    return np.einsum("bik,bkj->bij", a.astype(wide), b.astype(wide)) + c.astype(wide)


DENSE = [case for case in instructions("v_mfma_") if "f8f6f4" not in case[1]]


@pytest.mark.parametrize(("target", "mnemonic"), DENSE)
def test_dense(target: str, mnemonic: str) -> None:
    op = parse(mnemonic)
    a, b = integers((op.blocks, op.m, op.k), op.a), integers((op.blocks, op.k, op.m), op.b)
    c = integers((op.blocks, op.m, op.m)).astype(TYPES[op.acc])
    assert np.array_equal(run(op, target, a, b, c), expected(a, b, c))


@pytest.mark.parametrize("second", MIXED)
@pytest.mark.parametrize("first", MIXED)
@pytest.mark.parametrize("mnemonic", ["v_mfma_f32_16x16x128_f8f6f4", "v_mfma_f32_32x32x64_f8f6f4"])
def test_mixed_formats(mnemonic: str, first: str, second: str) -> None:
    op = parse(mnemonic, first, second)
    a, b = integers((1, op.m, op.k)), integers((1, op.k, op.m))
    c = integers((1, op.m, op.m)).astype(np.float32)
    modifiers = f"cbsz:{MIXED.index(first)} blgp:{MIXED.index(second)}"
    assert np.array_equal(run(op, "gfx950", a, b, c, modifiers), expected(a, b, c))


@pytest.mark.parametrize("bytes_", [(0, 0), (1, 2), (3, 1)])
@pytest.mark.parametrize("formats", [("fp8", "fp8"), ("fp4", "fp4"), ("bf8", "fp6"), ("bf6", "fp8")])
@pytest.mark.parametrize("mnemonic", ["v_mfma_scale_f32_16x16x128_f8f6f4", "v_mfma_scale_f32_32x32x64_f8f6f4"])
def test_scaled(mnemonic: str, formats: tuple[str, str], bytes_: tuple[int, int]) -> None:
    op = parse(mnemonic, *formats)
    a, b = integers((1, op.m, op.k)), integers((1, op.k, op.m))
    c = integers((1, op.m, op.m)).astype(np.float32)
    scales = RNG.integers(123, 132, (2, op.m, op.k // 32))  # by row (column) and block of 32
    scale_a, scale_b = np.repeat(np.exp2(scales - 127.0), 32, axis=2)
    registers = RNG.integers(0, 255, (2, LANES, 4), np.uint8)
    for i, byte in enumerate(bytes_):
        for lane in range(LANES):
            registers[i, lane, byte] = scales[i, lane % op.m, lane // op.m]
    low, high = [byte & 1 for byte in bytes_], [byte >> 1 for byte in bytes_]
    line = f"{mnemonic} {span(D, op.outputs)}, {{}}, {{}}, {span(C, op.outputs)}, v150, v151"
    raw_a = pack_operand(op, op.a, codes(a, TYPES[op.a]))
    raw_b = pack_operand(op, op.b, codes(b.transpose(0, 2, 1), TYPES[op.b]))
    line = line.format(span(A, raw_a.shape[1]), span(B, raw_b.shape[1]))
    line += f" op_sel:[{low[0]},{low[1]},0] op_sel_hi:[{high[0]},{high[1]},0]"
    line += f" cbsz:{MIXED.index(formats[0])} blgp:{MIXED.index(formats[1])}"
    start = {A: raw_a, B: raw_b, C: pack_accumulator(op, c), 150: registers[0], 151: registers[1]}
    after = run_lines(line, start, target="gfx950")
    out = unpack_accumulator(op, after.v[D : D + op.outputs])
    assert np.array_equal(out, expected(a * scale_a, b * scale_b.T, c))


def test_scale_nan() -> None:
    """E8M0 255 is NaN: it makes NaN of the rows whose scale it is."""
    scales = np.full(LANES, 127, np.uint32)
    scales[5] = 255
    start = {**dict.fromkeys(range(A, A + 16), 0), 150: scales, 151: 127}
    line = f"v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], {span(A, 8)}, {span(A + 8, 8)}, 1.0, v150, v151"
    after = run_lines(line, start, target="gfx950")
    out = unpack_accumulator(parse("v_mfma_f32_16x16x128_f8f6f4", "fp8", "fp8"), after.v[:4])[0]
    assert np.isnan(out[5]).all()
    assert np.array_equal(np.delete(out, 5, 0), np.ones((15, 16)))


# --- operands and modifiers ---

F16 = "v_mfma_f32_16x16x16_f16"


def random_start(op: Matrix, target: str = "gfx942") -> tuple[np.ndarray, np.ndarray, dict[int, np.ndarray]]:
    """Random A and B with their registers."""
    a, b = integers((op.blocks, op.m, op.k), op.a), integers((op.blocks, op.k, op.m), op.b)
    raw_a = pack_operand(op, op.a, codes(a, numpy_type(op.a, target)))
    raw_b = pack_operand(op, op.b, codes(b.transpose(0, 2, 1), numpy_type(op.b, target)))
    return a, b, {A: raw_a, B: raw_b}


@pytest.mark.parametrize(
    ("mnemonic", "constant", "value"),
    [
        (F16, "0", 0.0),
        (F16, "1.0", 1.0),
        (F16, "-4.0", -4.0),
        ("v_mfma_i32_16x16x32_i8", "-7", -7),
        ("v_mfma_i32_16x16x32_i8", "64", 64),
        ("v_mfma_f64_16x16x4_f64", "0.5", 0.5),
        ("v_mfma_f32_16x16x4_f32", "2.0", 2.0),
    ],
)
def test_constant_c(mnemonic: str, constant: str, value: float) -> None:
    op = parse(mnemonic)
    a, b, registers = random_start(op)
    a0, b0 = registers[A].shape[1], registers[B].shape[1]
    n = op.outputs * BITS[op.acc] // 32
    after = run_lines(f"{mnemonic} {span(D, n)}, {span(A, a0)}, {span(B, b0)}, {constant}", registers)
    c = np.full((1, op.m, op.m), value, np.int64 if op.acc == "i32" else np.float64)
    assert np.array_equal(unpack_accumulator(op, after.v[D : D + n]), expected(a, b, c).astype(TYPES[op.acc]))


def test_accumulation_registers_and_overlap() -> None:
    """A in AGPRs, D = C in AGPRs; then D over A and B."""
    op = parse(F16)
    a, b, registers = random_start(op)
    c = integers((1, 16, 16)).astype(np.float32)
    moved = {256 + 20: registers[A], B: registers[B], 256 + 4: pack_accumulator(op, c)}
    after = run_lines(f"{F16} a[4:7], a[20:21], {span(B, 2)}, a[4:7]", moved)
    assert np.array_equal(unpack_accumulator(op, after.v[260:264]), expected(a, b, c))
    both = {10: registers[A], 12: registers[B]}
    after = run_lines(f"{F16} v[10:13], v[10:11], v[12:13], 0", both)
    assert np.array_equal(unpack_accumulator(op, after.v[10:14]), expected(a, b, 0 * c))


def test_exec_is_ignored() -> None:
    op = parse(F16)
    a, b, registers = random_start(op)
    after = run_lines(f"{F16} v[0:3], {span(A, 2)}, {span(B, 2)}, 0", registers, exec=0)
    assert np.array_equal(unpack_accumulator(op, after.v[:4]), expected(a, b, np.zeros((1, 16, 16))))


BLOCKED = [
    "v_mfma_f32_4x4x4_16b_f16",
    "v_mfma_f32_16x16x4_4b_bf16",
    "v_mfma_f32_32x32x1_2b_f32",
    "v_mfma_i32_4x4x4_16b_i8",
]


@pytest.mark.parametrize("mnemonic", BLOCKED)
def test_broadcast_of_a(mnemonic: str) -> None:
    """CBSZ and ABID: each group of 2^cbsz blocks takes its block `abid` of A."""
    op = parse(mnemonic)
    for cbsz in range(op.blocks.bit_length()):
        abid = int(RNG.integers(0, 1 << cbsz))
        a, b = integers((op.blocks, op.m, op.k)), integers((op.blocks, op.k, op.m))
        c = integers((op.blocks, op.m, op.m)).astype(TYPES[op.acc])
        taken = a[[(block >> cbsz << cbsz) + (abid if cbsz else 0) for block in range(op.blocks)]]
        assert np.array_equal(run(op, "gfx942", a, b, c, f"cbsz:{cbsz} abid:{abid}"), expected(taken, b, c))


def test_broadcast_past_the_blocks() -> None:
    op = parse("v_mfma_f32_16x16x4_4b_f16")
    _, _, registers = random_start(op)
    with pytest.raises(IsaError, match="not among the 4 of A"):
        run_lines(f"{op.mnemonic} v[0:15], {span(A, 2)}, {span(B, 2)}, 0 cbsz:3", registers)


PATTERNS = {
    1: [*range(32), *range(32)],
    2: [*range(32, 64), *range(32, 64)],
    3: [*range(16, 64), *range(16)],
    **{4 + i: [*range(16 * i, 16 * i + 16)] * 4 for i in range(4)},
}


@pytest.mark.parametrize("pattern", sorted(PATTERNS))
@pytest.mark.parametrize("mnemonic", [F16, "v_mfma_f32_4x4x1_16b_f32", "v_mfma_i32_32x32x4_2b_i8"])
def test_lane_patterns_of_b(mnemonic: str, pattern: int) -> None:
    """BLGP: as if the registers of B had been moved between lanes before."""
    op = parse(mnemonic)
    _, _, registers = random_start(op)
    raw_b = registers[B]
    moved = {**registers, 120: raw_b[PATTERNS[pattern]]}
    a0, n = raw_b.shape[1], op.outputs
    text = [f"{mnemonic} {span(D, n)}, {span(A, a0)}, {span(B, a0)}, 0 blgp:{pattern}"]
    text += [f"{mnemonic} {span(160, n)}, {span(A, a0)}, {span(120, a0)}, 0"]
    after = run_lines(text, moved)
    assert np.array_equal(after.v[D : D + n], after.v[160 : 160 + n])


@pytest.mark.parametrize("signs", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)])
@pytest.mark.parametrize("mnemonic", ["v_mfma_f64_16x16x4_f64", "v_mfma_f64_4x4x4_4b_f64"])
def test_negation_of_f64(mnemonic: str, signs: tuple[int, int, int]) -> None:
    op = parse(mnemonic)
    a, b = integers((op.blocks, op.m, op.k)), integers((op.blocks, op.k, op.m))
    c = integers((op.blocks, op.m, op.m)).astype(np.float64)
    out = run(op, "gfx942", a, b, c, f"neg:[{signs[0]},{signs[1]},{signs[2]}]")
    flip = [1 - 2 * s for s in signs]
    assert np.array_equal(out, expected(a * flip[0], b * flip[1], c * flip[2]))


# --- sparse ---


@pytest.mark.parametrize(("target", "mnemonic"), instructions("v_smfmac_"))
def test_sparse(target: str, mnemonic: str) -> None:
    """Two of four elements of A are stored; each set of indices that fits in the register."""
    op = parse(mnemonic)
    stored, held = op.k // 2, op.held // 2
    sets = 32 // (2 * held)
    for index_set in range(sets):
        a, b = integers((1, op.m, stored), op.a), integers((1, op.k, op.m), op.b)
        c = integers((1, op.m, op.m)).astype(TYPES[op.acc])
        choices = np.array([sorted(RNG.choice(4, 2, replace=False)) for _ in range(op.m * stored // 2)])
        choices = choices.reshape(op.m, stored)
        full = np.zeros((1, op.m, op.k), a.dtype)
        for row in range(op.m):
            for k in range(stored):
                full[0, row, k // 2 * 4 + choices[row, k]] = a[0, row, k]
        lanes = np.array([choices[x % op.m, x // op.m * held : (x // op.m + 1) * held] for x in range(LANES)])
        all_sets = RNG.integers(0, 4, (LANES, sets, held))
        all_sets[:, index_set] = lanes
        registers = {
            A: pack_operand(op, op.a, codes(a, numpy_type(op.a, target)), held),
            B: pack_operand(op, op.b, codes(b.transpose(0, 2, 1), numpy_type(op.b, target))),
            D: pack_accumulator(op, c),
            INDEX: pack(all_sets.reshape(LANES, -1), 2),
        }
        spans = [span(r, registers[r].shape[1]) for r in (D, A, B)]
        line = f"{mnemonic} {', '.join(spans)}, v{INDEX} abid:{index_set}"
        after = run_lines(line, registers, target=target)
        assert np.array_equal(unpack_accumulator(op, after.v[D : D + op.outputs]), expected(full, b, c))


def test_sparse_sets_past_the_register() -> None:
    line = "v_smfmac_f32_16x16x64_fp8_fp8 v[0:3], v[4:5], v[8:11], v12 abid:2"
    with pytest.raises(IsaError, match="past the index register"):
        run_lines(line, dict.fromkeys(range(16), 0))


# --- the project's layouts ---

KINDS = [(t.name, kind) for t in targets.all_targets() if t.name in ("gfx942", "gfx950") for kind in t.kinds]
KINDS = [(name, kind) for name, kind in KINDS if not kind.is_virtual]


def by_fragment(fragment: Fragment, matrix: np.ndarray, dtype: np.dtype, bits: int) -> np.ndarray:
    """u32[64, registers] of the matrix [row or column, k]."""
    raw = codes(matrix, dtype)
    lanes = np.zeros((LANES, fragment.elements), np.uint64)
    for lane in range(LANES):
        for r in range(fragment.elements):
            lanes[lane, r] = raw[tuple(fragment.coordinates(r, lane).values())]
    return pack(lanes, bits)


@pytest.mark.parametrize(("target", "kind"), KINDS, ids=[f"{name}-{kind.name}" for name, kind in KINDS])
def test_layouts_of_the_compiler(target: str, kind: MmaKind) -> None:
    """The layouts that the compiler's tables say give the product, scales included."""
    names = {"f8E4M3FNUZ": "fp8", "f8E5M2FNUZ": "bf8", "f8E4M3FN": "fp8", "f8E5M2": "bf8"}
    names |= {"f6E2M3FN": "fp6", "f6E3M2FN": "bf6", "f4E2M1FN": "fp4"}
    first, second = (names.get(t, t) for t in (kind.lhs_dtype, kind.rhs_dtype))
    a, b = integers((kind.m, kind.k)), integers((kind.n, kind.k))
    registers = {
        A: by_fragment(kind.lhs, a, numpy_type(first, target), BITS[first]),
        B: by_fragment(kind.rhs, b, numpy_type(second, target), BITS[second]),
    }
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    modifiers, scales = "", ""
    if "f8f6f4" in kind.instruction.mnemonic:
        modifiers = f" cbsz:{MIXED.index(first)} blgp:{MIXED.index(second)}"
    if kind.lhs_scale and kind.rhs_scale:
        scales = ", v150, v151"
        codes_a, codes_b = RNG.integers(124, 130, (2, kind.m, kind.k // 32), np.uint8)
        registers[150] = by_fragment(kind.lhs_scale, codes_a, np.dtype(np.uint8), 32)
        registers[151] = by_fragment(kind.rhs_scale, codes_b, np.dtype(np.uint8), 32)
        wide_a *= np.repeat(np.exp2(codes_a - 127.0), 32, axis=1)
        wide_b *= np.repeat(np.exp2(codes_b - 127.0), 32, axis=1)
    n = kind.acc.registers
    spans = [span(D, n), *(span(r, registers[r].shape[1]) for r in (A, B))]
    after = run_lines(f"{kind.instruction.mnemonic} {', '.join(spans)}, 0{scales}{modifiers}", registers, target=target)
    lanes = np.ascontiguousarray(after.v[D : D + n].T).view(TYPES[kind.acc_dtype])
    want = wide_a @ wide_b.T
    for lane in range(LANES):
        for r in range(kind.acc.elements):
            assert lanes[lane, r] == want[tuple(kind.acc.coordinates(r, lane).values())]
