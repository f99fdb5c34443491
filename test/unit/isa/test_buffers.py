"""MUBUF: descriptors, range checks, swizzled addresses, sub-dwords, atomics, copies to LDS; against numpy."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from atomic_formulas import FLOATS, float_operands, integers, operands
from snippet import Registers, buffer_address, run_lines
from wave_mlir.isa.errors import IsaError

L = np.arange(64, dtype=np.uint32)
A0 = buffer_address(0)
DONE = "s_waitcnt vmcnt(0) lgkmcnt(0)"
FLAGS = 0x27000  # 32-bit float: what LLVM and others put there
WIDTHS = {"dword": 1, "dwordx2": 2, "dwordx3": 3, "dwordx4": 4}


def words(register: int, count: int) -> str:
    return f"v{register}" if count == 1 else f"v[{register}:{register + count - 1}]"


def descriptor(
    records: int, stride: int = 0, *, swizzle: bool = False, flags: int = FLAGS, base: int = A0
) -> np.ndarray:
    """u32[4] for s[8:11]."""
    high = base >> 32 | stride << 16 | int(swizzle) << 31
    return np.array([base & 0xFFFFFFFF, high, records, flags], np.uint32)


def run(
    lines: list[str], vgprs: Mapping[int, object], rsrc: np.ndarray, data: np.ndarray, **options: object
) -> Registers:
    return run_lines([*lines, DONE], vgprs, {3: 32, 8: rsrc}, buffers=[data], **options)  # type: ignore[arg-type]


def random_words(count: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 1 << 32, count, np.uint32)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("form", ["off", "offen", "idxen", "idxen offen"])
@pytest.mark.parametrize("scalar", ["0", "s3", "16"])
def test_addresses(width: str, form: str, scalar: str) -> None:
    n, data = WIDTHS[width], random_words(4096)
    stride = 48 if "idxen" in form else 0
    index, offset = L * 7 % 64, L * 5 % 8 * 4
    vaddr, vgprs = {
        "off": ("off", {}),
        "offen": ("v2", {2: offset}),
        "idxen": ("v2", {2: index}),
        "idxen offen": ("v[2:3]", {2: index, 3: offset}),
    }[form]
    line = f"buffer_load_{width} {words(4, n)}, {vaddr}, s[8:11], {scalar} {form if form != 'off' else ''} offset:12"
    r = run([line], vgprs, descriptor(1 << 20, stride), data)
    at = 12 + {"0": 0, "s3": 32, "16": 16}[scalar] + L * 0
    at = at + (offset if "offen" in form else 0) + (index * stride if "idxen" in form else 0)
    np.testing.assert_array_equal(r.v[4 : 4 + n].T, data[at[:, None] // 4 + np.arange(n)])


@pytest.mark.parametrize("width", WIDTHS)
def test_raw_range_is_checked_by_dword(width: str) -> None:
    """Dwords beyond num_records read 0 and are not stored; a dword that is half inside counts as outside."""
    n, records = WIDTHS[width], 102
    data, values = random_words(64), np.random.default_rng(2).integers(0, 1 << 32, (64, n), np.uint32)
    load = f"buffer_load_{width} {words(4, n)}, v2, s[8:11], 0 offen"
    r = run([load], {2: L * 4}, descriptor(records), data)
    word = L[:, None].astype(int) + np.arange(n)
    inside = word * 4 + 4 <= records
    np.testing.assert_array_equal(r.v[4 : 4 + n].T, np.where(inside, np.resize(data, 128)[word], 0))
    out, stride = data.copy(), 4 * n
    run(
        [f"buffer_store_{width} {words(4, n)}, v2, s[8:11], 0 offen"],
        {2: L * stride, 4: values},
        descriptor(records),
        out,
    )
    want = data.copy()
    count = records // 4
    want[:count] = values.reshape(-1)[:count]
    np.testing.assert_array_equal(out, want)


@pytest.mark.parametrize("records", [64, 256, 0xFFFFFFFF - 3])
def test_an_offset_that_may_wrap(records: int) -> None:
    """Beyond 2^32 published texts saturate or wrap: a finding, unless both say that it is out of range."""
    line = "buffer_load_dword v4, v2, s[8:11], 0 offen offset:8"
    with pytest.raises(IsaError, match="depends on whether it wraps at 32 bits") as caught:
        run([line], {2: L * 0 - np.uint32(8)}, descriptor(records), random_words(64))
    assert caught.value.kind == "bounds"
    assert (run([line], {2: L * 0 - np.uint32(8)}, descriptor(0), random_words(64)).v[4] == 0).all()


def test_scalar_offset_in_range_by_both_readings() -> None:
    """The scalar offset moves the address; lanes that are out of range without it are so with it."""
    data = random_words(64)
    offsets = np.where(L < 8, L * 4, 1 << 31).astype(np.uint32)
    r = run(["buffer_load_dword v4, v2, s[8:11], s3 offen"], {2: offsets}, descriptor(64), data)
    np.testing.assert_array_equal(r.v[4], np.where(L < 8, data[(L + 8) % 64], 0))


@pytest.mark.parametrize("op", ["buffer_load_dword", "buffer_store_dword", "buffer_load_dwordx4", "buffer_atomic_add"])
def test_scalar_offset_out_of_range_by_one_reading(op: str) -> None:
    """Lane 8 is at 32 + 32 of 64 bytes: LLVM's text and AMD's have it in and out of range."""
    data, step = random_words(128), 16 if op.endswith("x4") else 4
    line = f"{op} {'v[4:7]' if step == 16 else 'v4'}, v2, s[8:11], s3 offen"
    with pytest.raises(IsaError, match="depends on whether the scalar offset 32 counts") as caught:
        run([line], {2: L * step}, descriptor(64), data)
    assert caught.value.kind == "bounds" and f"lane {32 // step}" in str(caught.value)


def test_structured_range_counts_elements() -> None:
    """With an index and a stride num_records counts elements, and the offset inside of one is not checked."""
    data = random_words(256)
    r = run(["buffer_load_dword v4, v2, s[8:11], 0 idxen offset:12"], {2: L}, descriptor(10, 8), data)
    np.testing.assert_array_equal(r.v[4], np.where(L < 10, data[L * 2 + 3], 0))
    r = run(["buffer_load_dword v4, v2, s[8:11], 0 offen"], {2: L * 4}, descriptor(40, 8), data)
    np.testing.assert_array_equal(r.v[4], np.where(L < 10, data[L], 0))


@pytest.mark.parametrize("code,index_stride", list(enumerate([8, 16, 32, 64])))
def test_swizzled(code: int, index_stride: int) -> None:
    """Elements of 4 bytes: index_stride of them, of neighbouring indices, lie together."""
    data, stride = random_words(4096), 16
    index, offset = L * 3 % 64, L % 4 * 4
    rsrc = descriptor(64, stride, swizzle=True, flags=FLAGS | code << 21)
    r = run(["buffer_load_dword v4, v[2:3], s[8:11], s3 idxen offen"], {2: index, 3: offset}, rsrc, data)
    block = index // index_stride * (stride * index_stride)
    at = block + offset // 4 * 4 * index_stride + index % index_stride * 4 + 32
    np.testing.assert_array_equal(r.v[4], data[at // 4])


def test_thread_is_added_to_the_index() -> None:
    data = random_words(512)
    rsrc = descriptor(4096, 24, flags=0x7000 | 1 << 23)
    r = run(["buffer_load_dword v4, off, s[8:11], 0 offset:4"], {}, rsrc, data)
    np.testing.assert_array_equal(r.v[4], data[L * 6 + 1])


@pytest.mark.parametrize("name,element,result", [
    ("ubyte", np.uint8, np.uint32), ("sbyte", np.int8, np.int32), ("ushort", np.uint16, np.uint32),
    ("sshort", np.int16, np.int32),
])  # fmt: skip
def test_sub_dword_loads(name: str, element: type, result: type) -> None:
    raw = np.random.default_rng(3).integers(0, 256, 256, np.uint8)
    size = np.dtype(element).itemsize
    records = 101  # a short at 100 is half inside: outside
    r = run([f"buffer_load_{name} v4, v2, s[8:11], 0 offen"], {2: L * 2}, descriptor(records), raw)
    want = np.where(L * 2 + size <= records, raw.view(element)[L * 2 // size].astype(result), 0)
    np.testing.assert_array_equal(r.v[4].view(result), want)


@pytest.mark.parametrize("name,element,half", [
    ("ubyte_d16", np.uint8, 0), ("ubyte_d16_hi", np.uint8, 1), ("sbyte_d16", np.int8, 0), ("sbyte_d16_hi", np.int8, 1),
    ("short_d16", np.int16, 0), ("short_d16_hi", np.int16, 1),
])  # fmt: skip
def test_half_loads_keep_the_other_half(name: str, element: type, half: int) -> None:
    raw = np.random.default_rng(4).integers(0, 256, 256, np.uint8)
    r = run([f"buffer_load_{name} v4, v2, s[8:11], 0 offen"], {2: L * 2, 4: 0x1234ABCD}, descriptor(256), raw)
    halves = r.v[4].view(np.int16).reshape(64, 2)
    np.testing.assert_array_equal(
        halves[:, half], raw.view(element)[L * 2 // np.dtype(element).itemsize].astype(np.int16)
    )
    assert (halves[:, 1 - half].view(np.uint16) == (0x1234, 0xABCD)[half]).all()


@pytest.mark.parametrize(
    "name,size,shift", [("byte", 1, 0), ("short", 2, 0), ("byte_d16_hi", 1, 16), ("short_d16_hi", 2, 16)]
)
def test_sub_dword_stores(name: str, size: int, shift: int) -> None:
    out, values = np.full(256, 0xEE, np.uint8), random_words(64, 5)
    run([f"buffer_store_{name} v4, v2, s[8:11], 0 offen"], {2: L * 4, 4: values}, descriptor(130), out)
    want = np.full(256, 0xEE, np.uint8)
    for lane in range(64):
        if lane * 4 + size <= 130:
            raw = (values[lane] >> np.uint32(shift)).tobytes()[:size]
            want[lane * 4 : lane * 4 + size] = np.frombuffer(raw, np.uint8)
    np.testing.assert_array_equal(out, want)


ATOMICS = [(stem, bits) for bits in (32, 64) for stem in integers(32)] + [(stem, FLOATS[stem][1]) for stem in FLOATS]


@pytest.mark.parametrize("stem,bits", ATOMICS)
def test_atomics(stem: str, bits: int) -> None:
    """The old value comes back in the data register; out of range 0 does and nothing changes."""
    rng = np.random.default_rng(6)
    formula = FLOATS[stem][0] if stem in FLOATS else integers(bits)[stem]
    make = (lambda n: float_operands(rng, FLOATS[stem][2], n)) if stem in FLOATS else lambda n: operands(rng, bits, n)
    memory, a = make(16), make(64)
    places, inside = rng.integers(0, 16, 64), 12
    b = np.where(rng.random(64) < 0.5, memory[places], a)
    data = (np.stack([a, b], 1) if stem == "cmpswap" else a[:, None]).view(np.uint32)
    want, old = memory.copy(), np.zeros_like(a)
    for lane in np.flatnonzero(places < inside):
        old[lane] = want[places[lane]]
        want[places[lane]] = formula(int(old[lane]), int(a[lane]), int(b[lane]))
    name = stem + ("_x2" if bits == 64 and stem not in FLOATS else "")
    line = f"buffer_atomic_{name} {words(4, data.shape[1])}, v2, s[8:11], 0 offen sc0"
    vgprs = {2: (places * memory.itemsize).astype(np.uint32), 4: data}
    r = run([line], vgprs, descriptor(inside * memory.itemsize), memory, target="gfx950")
    np.testing.assert_array_equal(memory, want)
    np.testing.assert_array_equal(r.v[4] if bits == 32 else r.v64(4), old)


@pytest.mark.parametrize("scalar,records", [("0", 16 * 40), ("s3", 4096)])
@pytest.mark.parametrize("width,bytes", [("dword", 4), ("dwordx3", 12), ("dwordx4", 16)])
def test_copy_to_lds(width: str, bytes: int, scalar: str, records: int) -> None:
    """Lane i's data go to M0 + offset + i * size; lanes out of range bring 0."""
    data, base = random_words(1024, 7).view(np.uint8), 8 + (32 if scalar == "s3" else 0)
    line = f"buffer_load_{width} v2, s[8:11], {scalar} offen offset:8 lds"
    target = "gfx942" if bytes == 4 else "gfx950"
    at = L * 13 % 64 * 16
    r = run([line], {2: at}, descriptor(records), data, m0=16, lds=2048, target=target)
    for lane in range(64):
        want = data[at[lane] + base : at[lane] + base + bytes].copy()
        first_outside = max(0, (records - int(at[lane]) - base) // 4 * 4)
        want[first_outside:] = 0
        np.testing.assert_array_equal(r.lds[24 + lane * bytes : 24 + (lane + 1) * bytes], want)


def test_copy_of_bytes_fills_dwords() -> None:
    data = np.random.default_rng(8).integers(0, 256, 64, np.uint8)
    r = run(["buffer_load_sbyte v2, s[8:11], 0 offen lds"], {2: L}, descriptor(64), data, m0=0, lds=256)
    np.testing.assert_array_equal(r.lds.view(np.int32), data.view(np.int8))


# --- checks ---


def fails(kind: str, line: str, vgprs: Mapping[int, object], rsrc: np.ndarray, **options: object) -> IsaError:
    with pytest.raises(IsaError) as caught:
        run([line], vgprs, rsrc, np.zeros(64, np.uint32), **options)
    assert caught.value.kind == kind, str(caught.value)
    return caught.value


def test_range_wider_than_the_buffer() -> None:
    line = "buffer_load_dword v4, v2, s[8:11], 0 offen"
    run([line], {2: L * 4 + 4}, descriptor(256), np.zeros(64, np.uint32))
    error = fails("bounds", line, {2: L * 4 + 4}, descriptor(260))
    assert error.finding.lane == 63 and "offset 256 of the buffer of argument 0, which ends at 256" in str(error)


def test_no_descriptor() -> None:
    error = fails(
        "program", "buffer_load_dword v4, v2, s[8:11], 0 offen", {2: L * 4}, descriptor(256, flags=FLAGS | 1 << 30)
    )
    assert "s[8:11] holds no buffer descriptor" in str(error)


def test_atomics_are_aligned() -> None:
    fails("alignment", "buffer_atomic_add v4, v2, s[8:11], 0 offen", {2: L * 2, 4: 1}, descriptor(256))
