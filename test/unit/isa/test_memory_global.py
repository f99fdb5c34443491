"""GLOBAL, FLAT and SCRATCH instructions against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from atomic_formulas import FLOATS, Formula, float_operands, integers, operands
from snippet import Registers, buffer_address, run_lines
from wave_mlir.isa.errors import IsaError

L = np.arange(64, dtype=np.uint32)
A0 = buffer_address(0)
SHARED, PRIVATE = 1 << 48, 2 << 48
EVEN = 0x5555_5555_5555_5555
WIDTHS = {"dword": 1, "dwordx2": 2, "dwordx3": 3, "dwordx4": 4}
DONE = "s_waitcnt vmcnt(0) lgkmcnt(0)"


def addresses(offsets: np.ndarray, base: int = A0) -> np.ndarray:
    return offsets.astype(np.uint64) + np.uint64(base)


def active(mask: int) -> np.ndarray:
    return np.array([mask >> i & 1 for i in range(64)], bool)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("form", ["off", "saddr", "negative"])
def test_load_dwords(width: str, form: str) -> None:
    n = WIDTHS[width]
    data = np.random.default_rng(1).integers(0, 1 << 32, 1024, np.uint32)
    at = (L * 7 % 64) * 16
    dst = "v4" if n == 1 else f"v[4:{3 + n}]"
    address, offset, saddr = "v[2:3]", 32, "off"
    if form == "saddr":
        address, saddr = "v2", "s[0:1]"
    if form == "negative":
        offset = -16
    at = at + (16 if form == "negative" else 0)
    r = run_lines(
        [f"global_load_{width} {dst}, {address}, {saddr} offset:{offset}", DONE],
        {2: L * 0 + at if form == "saddr" else addresses(at)},
        {0: A0},
        buffers=[data],
        exec=EVEN,
    )
    want = data[((at.astype(int) + offset) // 4)[:, None] + np.arange(n)]
    np.testing.assert_array_equal(r.v[4 : 4 + n].T[active(EVEN)], want[active(EVEN)])
    assert (r.v[4][~active(EVEN)] == 0xFFBADBAD).all()


def test_unsigned_lane_offset_of_saddr() -> None:
    """The lane's 32-bit offset is unsigned: 0x80000000 is far ahead, not behind."""
    data = np.arange(64, dtype=np.uint32)
    r = run_lines(
        ["global_load_dword v4, v2, s[0:1]", DONE], {2: L * 4 + np.uint32(1 << 31)}, {0: A0 - (1 << 31)}, buffers=[data]
    )
    np.testing.assert_array_equal(r.v[4], data)


SUB_DWORD = [
    ("ubyte", np.uint8, np.uint32, None),
    ("sbyte", np.int8, np.int32, None),
    ("ushort", np.uint16, np.uint32, None),
    ("sshort", np.int16, np.int32, None),
    ("ubyte_d16", np.uint8, np.uint16, 0),
    ("ubyte_d16_hi", np.uint8, np.uint16, 1),
    ("sbyte_d16", np.int8, np.int16, 0),
    ("sbyte_d16_hi", np.int8, np.int16, 1),
    ("short_d16", np.uint16, np.uint16, 0),
    ("short_d16_hi", np.uint16, np.uint16, 1),
]


@pytest.mark.parametrize("family", ["global", "flat", "scratch"])
@pytest.mark.parametrize("name,element,result,half", SUB_DWORD)
def test_load_sub_dword(family: str, name: str, element: type, result: type, half: int | None) -> None:
    raw = np.random.default_rng(2).integers(0, 256, 256, np.uint8)
    size = np.dtype(element).itemsize
    old = np.uint32(0x1234ABCD)
    if family == "scratch":  # fill the lane's part first
        words = raw.view(np.uint32)
        lines = ["scratch_store_dword off, v6, off", f"scratch_load_{name} v4, off, off offset:{size}", DONE]
        r = run_lines(lines, {4: int(old), 6: words}, scratch=16)
        values = raw.reshape(64, 4)[:, size : 2 * size].copy().view(element)[:, 0]
    else:
        tail = ", off" if family == "global" else ""
        at = L * 2
        r = run_lines([f"{family}_load_{name} v4, v[2:3]{tail}", DONE], {2: addresses(at), 4: int(old)}, buffers=[raw])
        values = raw.view(element)[at // size]
    extended = values.astype(result)
    if half is None:
        np.testing.assert_array_equal(r.v[4].view(result), extended)
    else:
        halves = r.v[4].view(np.uint16).reshape(64, 2)
        np.testing.assert_array_equal(halves[:, half].view(result), extended)
        assert (halves[:, 1 - half] == (0x1234, 0xABCD)[half]).all()


STORES = [
    ("byte", 1, 0),
    ("byte_d16_hi", 1, 16),
    ("short", 2, 0),
    ("short_d16_hi", 2, 16),
    ("dword", 4, 0),
    ("dwordx2", 8, 0),
    ("dwordx3", 12, 0),
    ("dwordx4", 16, 0),
]


@pytest.mark.parametrize("family", ["global", "saddr", "flat"])
@pytest.mark.parametrize("name,size,shift", STORES)
def test_store(family: str, name: str, size: int, shift: int) -> None:
    values = np.random.default_rng(3).integers(0, 1 << 32, (64, 4), np.uint32)
    out = np.full(64 * 16 + 32, 0xEE, np.uint8)
    n = max(1, size // 4)
    src = "v4" if n == 1 else f"v[4:{3 + n}]"
    at = (L * 5 % 64) * 16
    line = {
        "global": f"global_store_{name} v[2:3], {src}, off offset:16",
        "saddr": f"global_store_{name} v2, {src}, s[0:1] offset:16",
        "flat": f"flat_store_{name} v[2:3], {src} offset:16",
    }[family]
    address = at if family == "saddr" else addresses(at)
    run_lines([line], {2: address, 4: values}, {0: A0}, buffers=[out], exec=EVEN)
    want = np.full_like(out, 0xEE)
    for lane in np.flatnonzero(active(EVEN)):
        raw = (values[lane] >> np.uint32(shift)).tobytes()[:size]
        want[at[lane] + 16 : at[lane] + 16 + size] = np.frombuffer(raw, np.uint8)
    np.testing.assert_array_equal(out, want)


def expect_atomic(formula: Formula, memory: np.ndarray, at: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Applies the lanes in order to `memory` (in place); the old values."""
    old = np.zeros_like(a)
    for lane in range(64):
        old[lane] = memory[at[lane]]
        memory[at[lane]] = formula(int(old[lane]), int(a[lane]), int(b[lane]))
    return old


def run_atomic(family: str, name: str, bits: int, memory: np.ndarray, at: np.ndarray, data: np.ndarray) -> Registers:
    """`data`: words of the operand [64, n]."""
    n, size = data.shape[1], bits // 32
    src = "v8" if n == 1 else f"v[8:{7 + n}]"
    dst = "v4" if size == 1 else "v[4:5]"
    tail = ", off sc0" if family == "global" else " sc0"
    lines = [f"{family}_atomic_{name} {dst}, v[2:3], {src}{tail}", DONE]
    return run_lines(lines, {2: addresses(at * bits // 8), 8: data}, buffers=[memory], target="gfx950")


@pytest.mark.parametrize("family", ["global", "flat"])
@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("stem", integers(32))
def test_integer_atomics(family: str, bits: int, stem: str) -> None:
    rng = np.random.default_rng(4)
    memory, a = operands(rng, bits, 16), operands(rng, bits, 64)
    at = rng.integers(0, 16, 64)
    b = np.where(rng.random(64) < 0.5, memory[at], a)
    words = np.stack([a, b], 1) if stem == "cmpswap" else a[:, None]
    want = memory.copy()
    old = expect_atomic(integers(bits)[stem], want, at, a, b)
    r = run_atomic(family, stem + ("_x2" if bits == 64 else ""), bits, memory, at, words.view(np.uint32))
    np.testing.assert_array_equal(memory, want)
    np.testing.assert_array_equal(r.v[4] if bits == 32 else r.v64(4), old)


@pytest.mark.parametrize("family", ["global", "flat"])
@pytest.mark.parametrize("stem", FLOATS)
def test_float_atomics(family: str, stem: str) -> None:
    formula, bits, dtype = FLOATS[stem]
    rng = np.random.default_rng(5)
    memory, a = float_operands(rng, dtype, 16), float_operands(rng, dtype, 64)
    at = rng.integers(0, 16, 64)
    want = memory.copy()
    old = expect_atomic(formula, want, at, a, a)
    r = run_atomic(family, stem, bits, memory, at, a[:, None].view(np.uint32))
    np.testing.assert_array_equal(memory, want)
    np.testing.assert_array_equal(r.v[4] if bits == 32 else r.v64(4), old)


def test_atomic_without_return_leaves_registers() -> None:
    memory = np.zeros(4, np.uint32)
    r = run_lines(["global_atomic_add v4, v5, s[0:1]", DONE], {4: 4, 5: L}, {0: A0}, buffers=[memory])
    assert memory.tolist() == [0, int(L.sum()), 0, 0] and (r.v[4] == 4).all()


def test_flat_goes_where_the_address_lies() -> None:
    """A third of the lanes each in memory, LDS and scratch, in one instruction."""
    memory = np.zeros(64, np.uint32)
    base = np.select([L % 3 == 0, L % 3 == 1], [np.uint64(A0), np.uint64(SHARED)], np.uint64(PRIVATE)).astype(np.uint64)
    at = base + np.where(L % 3 == 2, 4, L * 4).astype(np.uint64)
    lines = ["flat_store_dword v[2:3], v4", DONE, "flat_load_dword v5, v[2:3]", DONE]
    r = run_lines(lines, {2: at, 4: L + 100}, buffers=[memory], lds=256, scratch=16)
    np.testing.assert_array_equal(r.v[5], L + 100)
    np.testing.assert_array_equal(memory, np.where(L % 3 == 0, L + 100, 0))
    np.testing.assert_array_equal(r.lds.view(np.uint32)[L % 3 == 1], (L + 100)[L % 3 == 1])


def test_flat_atomic_in_lds() -> None:
    lines = [
        "ds_write_b32 v6, v7",
        DONE,
        "flat_atomic_add v4, v[2:3], v5 sc0",
        DONE,
    ]
    at = np.full(64, SHARED + 8, np.uint64)
    r = run_lines(lines, {2: at, 5: 1, 6: 8, 7: 5}, lds=64)
    np.testing.assert_array_equal(r.v[4], L + 5)
    assert r.lds.view(np.uint32)[2] == 69


@pytest.mark.parametrize("address,saddr", [("v2", "s3"), ("v2", "off"), ("off", "s3"), ("off", "off")])
@pytest.mark.parametrize("width", WIDTHS)
def test_scratch_forms(address: str, saddr: str, width: str) -> None:
    n = WIDTHS[width]
    values = np.random.default_rng(6).integers(0, 1 << 32, (64, n), np.uint32)
    src = "v4" if n == 1 else f"v[4:{3 + n}]"
    dst = "v8" if n == 1 else f"v[8:{7 + n}]"
    where = 16 + (L % 4 * 16 if address == "v2" else 0) + (32 if saddr == "s3" else 0)
    lines = [
        f"scratch_store_{width} {address}, {src}, {saddr} offset:16",
        f"scratch_load_{width} {dst}, v3, off",
        DONE,
    ]
    r = run_lines(lines, {2: L % 4 * 16, 3: L * 0 + where, 4: values}, {3: 32}, scratch=128)
    np.testing.assert_array_equal(r.v[8 : 8 + n].T, values)


@pytest.mark.parametrize("width,bytes", [("dword", 4), ("dwordx3", 12), ("dwordx4", 16)])
def test_copy_to_lds(width: str, bytes: int) -> None:
    """Lane i's data go to M0 + offset + i * size; the offset also counts for the address read."""
    data = np.random.default_rng(7).integers(0, 256, 4096, np.uint8)
    at = (L * 3 % 64) * 16
    target = "gfx942" if bytes == 4 else "gfx950"
    lines = [f"global_load_lds_{width} v[2:3], off offset:16", DONE]
    r = run_lines(lines, {2: addresses(at)}, m0=64, lds=2048, buffers=[data], exec=EVEN, target=target)
    for lane in np.flatnonzero(active(EVEN)):
        got = r.lds[80 + lane * bytes : 80 + (lane + 1) * bytes]
        np.testing.assert_array_equal(got, data[at[lane] + 16 : at[lane] + 16 + bytes])


@pytest.mark.parametrize("name,element,result,half", SUB_DWORD[:4])
def test_copy_of_sub_dwords_fills_dwords(name: str, element: type, result: type, half: None) -> None:
    data = np.random.default_rng(8).integers(0, 256, 256, np.uint8)
    lines = [f"global_load_lds_{name} v2, s[0:1]", DONE]
    r = run_lines(lines, {2: L * 2}, {0: A0}, m0=0, lds=256, buffers=[data])
    np.testing.assert_array_equal(r.lds.view(result), data.view(element)[L * 2 // np.dtype(element).itemsize])


def test_scratch_copy_to_lds() -> None:
    lines = ["scratch_store_dword off, v4, off offset:8", "scratch_load_lds_dword off, s3", DONE]
    r = run_lines(lines, {4: L + 7}, {3: 8}, m0=0, lds=256, scratch=16)
    np.testing.assert_array_equal(r.lds.view(np.uint32), L + 7)


# --- checks ---


def fails(kind: str, lines: list[str], *args: object, **options: object) -> IsaError:
    with pytest.raises(IsaError) as caught:
        run_lines(lines, *args, **options)  # type: ignore[arg-type]
    assert caught.value.kind == kind, str(caught.value)
    return caught.value


@pytest.mark.parametrize("family", ["load", "store"])
def test_out_of_bounds(family: str) -> None:
    data = np.zeros(64, np.uint32)
    line = "global_load_dwordx2 v[4:5], v2, s[0:1]" if family == "load" else "global_store_dwordx2 v2, v[4:5], s[0:1]"
    vgprs = {2: L * 4, 4: np.zeros((64, 2), np.uint32)}
    run_lines([line], {**vgprs, 2: L // 2 * 8}, {0: A0}, buffers=[data])
    error = fails("bounds", [line], vgprs, {0: A0}, buffers=[data])
    assert error.finding.lane == 63 and "offset 252 of the buffer of argument 0, which ends at 256" in str(error)
    error = fails("bounds", [line], {**vgprs, 2: L * 0}, {0: A0 - 8}, buffers=[data])
    assert "8 bytes before the start of the buffer of argument 0" in str(error)
    error = fails("bounds", [line], {**vgprs, 2: L * 0}, {0: 64}, buffers=[data])
    assert "far from every buffer" in str(error)


def test_unwritten() -> None:
    data, mask = np.zeros(64, np.uint32), np.ones(256, np.uint8)
    load = ["global_load_dword v4, v2, s[0:1]"]
    run_lines(load, {2: L * 4}, {0: A0}, buffers=[data], written=[mask])
    mask[41] = 0
    error = fails("unwritten", load, {2: L * 4}, {0: A0}, buffers=[data], written=[mask])
    assert error.finding.lane == 10 and "byte 41 of the buffer of argument 0" in str(error)
    store = "global_store_byte v2, v3, s[2:3]"
    run_lines([store, *load], {2: L * 4, 3: 0}, {0: A0, 2: A0 + 1}, buffers=[data], written=[mask])
    fails("unwritten", ["scratch_load_dword v4, off, off"], scratch=16)


def test_atomics_are_aligned() -> None:
    data = np.zeros(64, np.uint32)
    run_lines(
        ["global_atomic_add_x2 v2, v[4:5], s[0:1]"], {2: 8, 4: np.zeros((64, 2), np.uint32)}, {0: A0}, buffers=[data]
    )
    line = ["global_atomic_add_x2 v2, v[4:5], s[0:1]"]
    error = fails("alignment", line, {2: 4, 4: np.zeros((64, 2), np.uint32)}, {0: A0}, buffers=[data])
    assert "a multiple of 8" in str(error)


def test_scratch_bounds() -> None:
    run_lines(["scratch_store_dwordx2 off, v[4:5], off offset:8"], {4: np.zeros((64, 2), np.uint32)}, scratch=16)
    error = fails(
        "bounds", ["scratch_store_dwordx2 off, v[4:5], off offset:12"], {4: np.zeros((64, 2), np.uint32)}, scratch=16
    )
    assert "offset 12 of scratch, of which a lane has 16" in str(error)


def test_profile_counts_segments() -> None:
    data = np.zeros(4096, np.uint32)
    lines = ["global_load_dwordx4 v[4:7], v2, s[0:1]", "global_load_dword v8, v3, s[0:1]"]
    r = run_lines(lines, {2: L * 16, 3: L * 128}, {0: A0}, buffers=[data])
    assert r.session.counts("bytes")[:2].tolist() == [1024, 256]
    assert r.session.counts("segments")[:2].tolist() == [16, 64]


@pytest.mark.parametrize("width,store", [("dword", "byte"), ("dwordx2", "short"), ("dwordx4", "dword")])
def test_padding_of_a_vector_of_three(width: str, store: str) -> None:
    """Compilers store three elements and load four: the fourth, alone, need not be written."""
    step = {"byte": 1, "short": 2, "dword": 4}[store]
    lines = [f"scratch_store_{store} off, v2, off offset:{16 + i * step}" for i in range(3)]
    load = (
        f"scratch_load_{width} v[4:{3 + step}], off, off offset:16"
        if step > 1
        else "scratch_load_dword v4, off, off offset:16"
    )
    run_lines([*lines, DONE, load, DONE], {2: 1}, scratch=64)
    with pytest.raises(IsaError, match="nothing has written byte"):
        run_lines([*lines[:2], DONE, load], {2: 1}, scratch=64)
    with pytest.raises(IsaError, match=f"nothing has written byte {16 + 2 * step}"):  # the third, not the fourth
        last = f"scratch_store_{store} off, v2, off offset:{16 + 3 * step}"
        run_lines([*lines[:2], last, DONE, load], {2: 1}, scratch=64)
