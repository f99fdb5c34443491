"""DS instructions against numpy: reads, writes, atomics, lane exchange, transposed reads, bounds, phases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from atomic_formulas import FLOATS, Formula, float_operands, float_pick, integers, operands
from snippet import Registers, run_lines
from wave_mlir.compiler.targets import get as get_target
from wave_mlir.isa.errors import IsaError

L = np.arange(64, dtype=np.uint32)
DONE = "s_waitcnt lgkmcnt(0)"
EVEN = 0x5555_5555_5555_5555
ALL = (1 << 64) - 1
FILL = [f"ds_write_b128 v250, v[{220 + 4 * i}:{223 + 4 * i}] offset:{1024 * i}" for i in range(4)]


def words(register: int, count: int) -> str:
    return f"v{register}" if count == 1 else f"v[{register}:{register + count - 1}]"


def run_filled(lines: Sequence[str], vgprs: Mapping[int, object], lds: np.ndarray, **options: object) -> Registers:
    """Runs the lines with 4096 bytes of LDS (u8[4096]) filled."""
    rows = lds.view(np.uint32).reshape(4, 64, 4)
    fill = {220 + 4 * i: rows[i] for i in range(4)} | {250: L * 16}
    whole, rest = ["s_mov_b64 s[90:91], exec", "s_mov_b64 exec, -1", *FILL, "s_mov_b64 exec, s[90:91]"], [*lines, DONE]
    return run_lines([*whole, *rest], {**fill, **vgprs}, lds=4096, **options)  # type: ignore[arg-type]


def contents(seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, 4096, np.uint8)


def gather(lds: np.ndarray, at: np.ndarray, size: int) -> np.ndarray:
    """u8[lanes, size]"""
    return lds[at.astype(int)[:, None] + np.arange(size)]


READS = [
    ("u8", np.uint8, np.uint32, None),
    ("i8", np.int8, np.int32, None),
    ("u16", np.uint16, np.uint32, None),
    ("i16", np.int16, np.int32, None),
    ("u8_d16", np.uint8, np.uint16, 0),
    ("u8_d16_hi", np.uint8, np.uint16, 1),
    ("i8_d16", np.int8, np.int16, 0),
    ("i8_d16_hi", np.int8, np.int16, 1),
    ("u16_d16", np.uint16, np.uint16, 0),
    ("u16_d16_hi", np.uint16, np.uint16, 1),
]


@pytest.mark.parametrize("name,element,result,half", READS)
def test_read_sub_dword(name: str, element: type, result: type, half: int | None) -> None:
    lds, at = contents(), (L * 6) % 128
    size = np.dtype(element).itemsize
    r = run_filled([f"ds_read_{name} v4, v2 offset:1030"], {2: at, 4: 0x1234ABCD}, lds)
    values = gather(lds, at + 1030, size).view(element)[:, 0].astype(result)
    if half is None:
        np.testing.assert_array_equal(r.v[4].view(result), values)
        return
    halves = r.v[4].view(np.uint16).reshape(64, 2)
    np.testing.assert_array_equal(halves[:, half].view(result), values)
    assert (halves[:, 1 - half] == (0x1234, 0xABCD)[half]).all()


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("mask", [ALL, EVEN])
def test_read_and_write(n: int, mask: int) -> None:
    lds, at = contents(2), (L * 11 % 64) * 16
    values = np.random.default_rng(3).integers(0, 1 << 32, (64, n), np.uint32)
    lines = [f"ds_read_b{32 * n} {words(4, n)}, v2 offset:64", f"ds_write_b{32 * n} v2, {words(8, n)} offset:2048"]
    r = run_filled(lines, {2: at, 8: values}, lds, exec=mask)
    on = np.array([mask >> i & 1 for i in range(64)], bool)
    np.testing.assert_array_equal(r.v[4 : 4 + n].T[on], gather(lds, at + 64, 4 * n).view(np.uint32)[on])
    want = lds.copy()
    for lane in np.flatnonzero(on):
        want[at[lane] + 2048 : at[lane] + 2048 + 4 * n] = values[lane].view(np.uint8)
    np.testing.assert_array_equal(r.lds, want)


@pytest.mark.parametrize("stride,unit", [("", 1), ("st64", 64)])
@pytest.mark.parametrize("bits", [32, 64])
def test_two_accesses(stride: str, unit: int, bits: int) -> None:
    lds, n, size = contents(4), bits // 32, bits // 8
    at = (L * 8) % 512
    o0, o1 = (1, 3) if stride else (2, 200)
    a, b = (np.random.default_rng(s).integers(0, 1 << 32, (64, n), np.uint32) for s in (5, 6))
    lines = [f"ds_read2{stride}_b{bits} {words(4, 2 * n)}, v2 offset0:{o0} offset1:{o1}"]
    r = run_filled(lines, {2: at}, lds)
    both = [gather(lds, at + o * size * unit, size).view(np.uint32) for o in (o0, o1)]
    np.testing.assert_array_equal(r.v[4 : 4 + 2 * n].T, np.concatenate(both, 1))
    lines = [f"ds_write2{stride}_b{bits} v2, {words(8, n)}, {words(12, n)} offset0:{o0} offset1:{o1}"]
    r = run_filled(lines, {2: L * size, 8: a, 12: b}, lds)
    want = lds.copy()
    for o, values in ((o0, a), (o1, b)):
        for lane in range(64):
            start = lane * size + o * size * unit
            want[start : start + size] = values[lane].view(np.uint8)
    np.testing.assert_array_equal(r.lds, want)


@pytest.mark.parametrize("name,size,shift", [("b8", 1, 0), ("b16", 2, 0), ("b8_d16_hi", 1, 16), ("b16_d16_hi", 2, 16)])
def test_write_sub_dword(name: str, size: int, shift: int) -> None:
    lds = contents(7)
    values = np.random.default_rng(8).integers(0, 1 << 32, 64, np.uint32)
    r = run_filled([f"ds_write_{name} v2, v4 offset:{3 * size}"], {2: L * 4, 4: values}, lds)
    want = lds.copy()
    for lane in range(64):
        at = lane * 4 + 3 * size
        want[at : at + size] = np.frombuffer((values[lane] >> np.uint32(shift)).tobytes()[:size], np.uint8)
    np.testing.assert_array_equal(r.lds, want)


def test_thread_addresses() -> None:
    lds, values = contents(9), L * 3 + 1
    lines = ["ds_read_addtid_b32 v4 offset:8", "ds_write_addtid_b32 v5 offset:2048"]
    r = run_filled(lines, {5: values}, lds, m0=0x70010)
    np.testing.assert_array_equal(r.v[4], gather(lds, L * 4 + 24, 4).view(np.uint32)[:, 0])
    np.testing.assert_array_equal(r.lds[2064 : 2064 + 256].view(np.uint32), values)


def ds_formulas(bits: int) -> dict[str, Formula]:
    base, mask = integers(bits), (1 << bits) - 1
    names = {"smin": f"min_i{bits}", "smax": f"max_i{bits}", "umin": f"min_u{bits}", "umax": f"max_u{bits}"}
    names |= {n: f"{n}_u{bits}" for n in ("add", "sub", "inc", "dec")} | {
        n: f"{n}_b{bits}" for n in ("and", "or", "xor")
    }
    found = {ds: base[n] for n, ds in names.items()}
    found[f"rsub_u{bits}"] = lambda old, a, b: (a - old) & mask
    floats = np.float32 if bits == 32 else np.float64
    found |= {f"min_f{bits}": float_pick(floats, True), f"max_f{bits}": float_pick(floats, False)}
    return found


def two_operands(bits: int) -> dict[str, Formula]:
    mask = (1 << bits) - 1
    return {
        f"mskor_b{bits}": lambda old, a, b: (old & ~a & mask) | b,
        f"cmpst_b{bits}": lambda old, a, b: b if old == a else old,
    }


def check_atomic(name: str, formula: Formula, memory: np.ndarray, a: np.ndarray, b: np.ndarray | None) -> None:
    """With and without the old value returned; 16 places that all lanes share."""
    bits, rng = memory.itemsize * 8, np.random.default_rng(10)
    n, places = bits // 32, rng.integers(0, 16, 64)
    want, old = memory.copy(), np.zeros_like(a)
    for lane in range(64):
        old[lane] = want[places[lane]]
        want[places[lane]] = formula(int(old[lane]), int(a[lane]), 0 if b is None else int(b[lane]))
    lds = np.zeros(4096, np.uint8)
    lds[64 : 64 + memory.nbytes] = memory.view(np.uint8)
    stem, type = name.rsplit("_", 1)
    sources = words(8, n) + ("" if b is None else ", " + words(12, n))
    vgprs: Mapping[int, object] = {2: (places * memory.itemsize).astype(np.uint32), 8: a, 12: a if b is None else b}
    for line in (
        f"ds_{stem}_{type} v2, {sources} offset:64",
        f"ds_{stem}_rtn_{type} {words(4, n)}, v2, {sources} offset:64",
    ):
        r = run_filled([line], vgprs, lds)
        np.testing.assert_array_equal(r.lds[64 : 64 + memory.nbytes].view(memory.dtype), want, err_msg=line)
        if "_rtn_" in line:
            np.testing.assert_array_equal(r.v[4] if n == 1 else r.v64(4), old)


@pytest.mark.parametrize("bits,name", [(bits, name) for bits in (32, 64) for name in ds_formulas(bits)])
def test_atomics(bits: int, name: str) -> None:
    rng = np.random.default_rng(11)
    make = float_operands if name.startswith(("min_f", "max_f")) else operands
    kind = {32: np.float32, 64: np.float64}[bits] if make is float_operands else bits
    check_atomic(name, ds_formulas(bits)[name], make(rng, kind, 16), make(rng, kind, 64), None)  # type: ignore[operator]


@pytest.mark.parametrize("bits,name", [(bits, name) for bits in (32, 64) for name in two_operands(bits)])
def test_atomics_of_two_operands(bits: int, name: str) -> None:
    rng = np.random.default_rng(12)
    memory, a, b = (operands(rng, bits, n) for n in (16, 64, 64))
    a[::2] = memory[rng.integers(0, 16, 32)]
    check_atomic(name, two_operands(bits)[name], memory, a, b)


@pytest.mark.parametrize("name", ["add_f32", "add_f64", "pk_add_f16", "pk_add_bf16"])
def test_float_atomics(name: str) -> None:
    formula, _, dtype = FLOATS[name]
    rng = np.random.default_rng(13)
    check_atomic(name, formula, float_operands(rng, dtype, 16), float_operands(rng, dtype, 64), None)


@pytest.mark.parametrize("bits", [32, 64])
def test_compare_floats_and_store(bits: int) -> None:
    """-0 equals 0, a NaN nothing."""
    dtype = np.float32 if bits == 32 else np.float64
    raw = np.uint32 if bits == 32 else np.uint64
    old = np.resize(np.array([0.0, -0.0, 1.5, np.nan], dtype), 64)
    compared = np.resize(np.array([-0.0, 0.0, 2.5, np.nan], dtype), 64)
    new = np.full(64, 7, dtype)
    lds, n = np.zeros(4096, np.uint8), bits // 32
    lds[: 64 * bits // 8] = old.view(np.uint8)
    vgprs = {2: L * np.uint32(bits // 8), 8: compared.view(raw), 12: new.view(raw)}
    r = run_filled([f"ds_cmpst_rtn_f{bits} {words(4, n)}, v2, {words(8, n)}, {words(12, n)}"], vgprs, lds)
    want = np.where(old == compared, new, old)
    np.testing.assert_array_equal(r.lds[: 64 * bits // 8].view(raw), want.view(raw))


def test_exchanges() -> None:
    lds = contents(14)
    memory, a = lds[:2048].view(np.uint32), np.random.default_rng(15).integers(0, 1 << 32, (64, 4), np.uint32)
    r = run_filled(["ds_wrxchg_rtn_b32 v4, v2, v8"], {2: L * 4, 8: a}, lds)
    np.testing.assert_array_equal(r.v[4], memory[:64])
    np.testing.assert_array_equal(r.lds[:256].view(np.uint32), a[:, 0])
    r = run_filled(["ds_wrxchg2_rtn_b64 v[4:7], v2, v[8:9], v[10:11] offset0:1 offset1:70"], {2: L * 8, 8: a}, lds)
    at = L.astype(int) * 2
    np.testing.assert_array_equal(r.v[4:6].T, np.stack([memory[at + 2], memory[at + 3]], 1))
    after = r.lds.view(np.uint32)
    np.testing.assert_array_equal(after[(at + 140)[:, None] + np.arange(2)], a[:, 2:])
    r = run_filled(["ds_wrxchg2st64_rtn_b32 v[4:5], v2, v8, v9 offset1:1"], {2: L * 4, 8: a}, lds)
    np.testing.assert_array_equal(r.v[4:6].T, np.stack([memory[:64], memory[64:128]], 1))
    r = run_filled(["ds_wrap_rtn_b32 v4, v2, v8, v9"], {2: L * 4, 8: a}, lds)
    b, old = a.astype(np.uint64), memory[:64].astype(np.uint64)
    want = np.where(old >= b[:, 0], old - b[:, 0], old + b[:, 1]).astype(np.uint32)
    np.testing.assert_array_equal(r.lds[:256].view(np.uint32), want)
    r = run_filled(["ds_condxchg32_rtn_b64 v[4:5], v2, v[8:9]"], {2: L * 8, 8: a}, lds)
    old, top = memory[:128].reshape(64, 2), np.uint32(1 << 31)
    np.testing.assert_array_equal(
        r.lds[:512].view(np.uint32).reshape(64, 2), np.where(a[:, :2] & top, a[:, :2] & ~top, old)
    )


def test_append_and_consume() -> None:
    lds = np.zeros(4096, np.uint8)
    lds[16] = 100
    r = run_filled(
        ["ds_append v4 offset:8", "ds_append v5 offset:8", "ds_consume v6 offset:8"], {}, lds, m0=8, exec=EVEN
    )
    assert (r.v[4][0], r.v[5][0], r.v[6][0], r.lds[16]) == (100, 132, 164, 132)


# --- lane exchange ---


def test_permutes() -> None:
    values = np.random.default_rng(16).integers(0, 1 << 32, 64, np.uint32)
    to = np.random.default_rng(17).integers(0, 1 << 32, 64, np.uint32)
    r = run_lines(
        ["ds_permute_b32 v4, v2, v3 offset:12", "ds_bpermute_b32 v5, v2, v3 offset:12", DONE],
        {2: to, 3: values},
        exec=EVEN,
    )
    place = ((to + np.uint32(12)) // 4 % 64).astype(int)
    sent = np.zeros(64, np.uint32)
    for lane in range(0, 64, 2):
        sent[place[lane]] = values[lane]
    np.testing.assert_array_equal(r.v[4][::2], sent[::2])
    np.testing.assert_array_equal(r.v[5][::2], np.where(place % 2 == 0, values[place], 0)[::2])
    assert (r.v[4][1::2] == 0xFFBADBAD).all()


FFT_0 = "1 11 9 19 5 15 d 1d 3 13 b 1b 7 17 f 1f 2 12 a 1a 6 16 e 1e 4 14 c 1c 8 18 10 20"
FFT_10 = "1 9 5 d 3 b 7 f 2 a 6 e 4 c 8 10 11 19 15 1d 13 1b 17 1f 12 1a 16 1e 14 1c 18 20"


def table(text: str) -> list[int]:
    return [int(w, 16) - 1 for w in text.split()]


SWIZZLES = [
    ('swizzle(BITMASK_PERM,"01pip")', [(i & 0b00111 | 0b01000) ^ 0b00010 for i in range(32)]),
    ("swizzle(BROADCAST,8,3)", [i // 8 * 8 + 3 for i in range(32)]),
    ("swizzle(SWAP,4)", [i ^ 4 for i in range(32)]),
    ("swizzle(REVERSE,8)", [i ^ 7 for i in range(32)]),
    ("swizzle(QUAD_PERM,3,1,0,2)", [i // 4 * 4 + (3, 1, 0, 2)[i % 4] for i in range(32)]),
    ("swizzle(ROTATE,0,3)", [(i + 3) % 32 for i in range(32)]),
    ("swizzle(ROTATE,1,3)", [(i - 3) % 32 for i in range(32)]),
    ("swizzle(FFT,0)", table(FFT_0)),
    ("swizzle(FFT,16)", table(FFT_10)),
    ("swizzle(FFT,31)", list(range(32))),
]


@pytest.mark.parametrize("offset,source", SWIZZLES)
def test_swizzle(offset: str, source: list[int]) -> None:
    values = np.random.default_rng(18).integers(0, 1 << 32, 64, np.uint32)
    mask = ALL & ~(1 << 5)
    r = run_lines([f"ds_swizzle_b32 v4, v2 offset:{offset}", DONE], {2: values}, exec=mask)
    lanes = np.concatenate([source, np.array(source) + 32])
    want = np.where(lanes == 5, 0, values[lanes])
    keep = L != 5
    np.testing.assert_array_equal(r.v[4][keep], want[keep])


@pytest.mark.parametrize("bits", [16, 8, 4, 6])
def test_transposed_reads(bits: int) -> None:
    """Each 16 lanes: a matrix of rows of 16 elements, whose columns the lanes get."""
    each, size = (16, 12) if bits == 6 else (64 // bits, 8)
    rng = np.random.default_rng(19)
    matrix = rng.integers(0, 1 << bits, (4, each, 16))  # group, row, column
    lds = np.zeros(4096, np.uint8)
    stride = 16
    for lane in range(64):
        i = lane % 16
        row, first = i // (16 // each), i % (16 // each) * each
        raw = sum(int(v) << bits * k for k, v in enumerate(matrix[lane // 16, row, first : first + each]))
        lds[lane * stride : lane * stride + size] = np.frombuffer(raw.to_bytes(size, "little"), np.uint8)
    r = run_filled(
        [f"ds_read_b{8 * size}_tr_b{bits} {words(4, size // 4)}, v2 offset:16"],
        {2: L * stride - 16},
        lds,
        target="gfx950",
    )
    for lane in range(64):
        raw = int.from_bytes(r.v[4 : 4 + size // 4, lane].tobytes(), "little")
        got = [raw >> bits * k & ((1 << bits) - 1) for k in range(each)]
        assert got == matrix[lane // 16, :, lane % 16].tolist()


# --- checks ---


def fails(kind: str, lines: list[str], vgprs: Mapping[int, object], **options: object) -> IsaError:
    with pytest.raises(IsaError) as caught:
        run_lines(lines, vgprs, **options)  # type: ignore[arg-type]
    assert caught.value.kind == kind, str(caught.value)
    return caught.value


def test_bounds() -> None:
    run_lines(["ds_write_b64 v2, v[4:5] offset:8"], {2: L * 8, 4: np.zeros((64, 2), np.uint32)}, lds=520)
    error = fails("bounds", ["ds_write_b64 v2, v[4:5] offset:9"], {2: L * 8, 4: np.zeros((64, 2), np.uint32)}, lds=520)
    assert error.finding.lane == 63 and "offset 513 of LDS, of which the workgroup has 520" in str(error)


def test_unwritten() -> None:
    store = "ds_write_b32 v2, v3"
    run_lines([store, "ds_read_b32 v4, v2"], {2: L * 4, 3: 0}, lds=512)
    error = fails("unwritten", [store, "ds_read_b32 v4, v2 offset:4"], {2: L * 4, 3: 0}, lds=512)
    assert error.finding.lane == 63 and "byte 256 of LDS" in str(error)


def test_atomics_are_aligned() -> None:
    fill = "ds_write_b64 v2, v[4:5]"
    vgprs: Mapping[int, object] = {2: L * 8, 3: L * 8 + 4, 4: np.zeros((64, 2), np.uint32)}
    run_lines([fill, "ds_add_u64 v2, v[4:5]"], vgprs, lds=1024)
    fails("alignment", [fill, "ds_add_u64 v3, v[4:5]"], vgprs, lds=1024)


@pytest.mark.parametrize("target", ["gfx942", "gfx950"])
@pytest.mark.parametrize("bits", [32, 64, 128])
@pytest.mark.parametrize("op", ["read", "write"])
@pytest.mark.parametrize("pattern", ["linear", "rows", "same", "xor", "padded"])
def test_phases(target: str, bits: int, op: str, pattern: str) -> None:
    """Clocks by the lanes of a phase that the target table names: the most rows that a bank is asked for."""
    size = bits // 8
    lane = np.arange(64)
    at = {
        "linear": lane * size,
        "rows": lane % 16 * 256 + lane // 16 * size,
        "same": lane * 0,
        "xor": lane // 8 * 256 + (lane % 8 ^ lane // 8) * 16,
        "padded": lane % 8 * 272 + lane // 8 * 16,
    }[pattern]
    line = (
        f"ds_read_b{bits} {words(4, bits // 32)}, v2"
        if op == "read"
        else f"ds_write_b{bits} v2, {words(4, bits // 32)}"
    )
    lds = contents(20)
    r = run_filled(
        [line], {2: at.astype(np.uint32), 4: np.zeros((64, 4), np.uint32)}, np.resize(lds, 4096), target=target
    )
    index = next(i for i, one in enumerate(r.program.lines) if one.text == line)
    info = get_target(target)
    phases = info.lds_access(op, bits).phases
    cycles = 0
    for lanes in phases:
        rows: dict[int, set[int]] = {}
        for i in lanes:
            for word in range(at[i] // 4, (at[i] + size) // 4):
                rows.setdefault(word % info.lds_banks, set()).add(word // info.lds_banks)
        cycles += max(len(r) for r in rows.values())
    assert (r.session.counts("phases")[index], r.session.counts("segments")[index]) == (cycles, len(phases))
