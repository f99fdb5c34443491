"""SMEM instructions against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from atomic_formulas import integers, operands
from snippet import buffer_address, run_lines
from wave_mlir.isa.errors import IsaError

A0 = buffer_address(0)
DONE = "s_waitcnt lgkmcnt(0)"
WIDTHS = {"dword": 1, "dwordx2": 2, "dwordx4": 4, "dwordx8": 8, "dwordx16": 16}


def registers(first: int, count: int) -> str:
    return f"s{first}" if count == 1 else f"s[{first}:{first + count - 1}]"


def data(count: int = 256) -> np.ndarray:
    return np.random.default_rng(1).integers(0, 1 << 32, count, np.uint32)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("offset,at", [("0x40", 64), ("-16", -16), ("s3", 32), ("s3 offset:0x8", 40)])
def test_load(width: str, offset: str, at: int) -> None:
    n, memory = WIDTHS[width], data()
    line = f"s_load_{width} {registers(16, n)}, s[0:1], {offset}"
    r = run_lines([line, DONE], {}, {0: A0 + 64, 3: 32}, buffers=[memory])
    np.testing.assert_array_equal(r.s[16 : 16 + n], memory[16 + at // 4 :][:n])


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("stride,records", [(0, 100), (8, 13)])
def test_buffer_load_range(width: str, stride: int, records: int) -> None:
    """Dwords out of range read 0; with a stride num_records counts elements."""
    n, memory, size = WIDTHS[width], data(), records * (stride or 1)
    rsrc = np.array([A0 & 0xFFFFFFFF, A0 >> 32 | stride << 16, records, 0x27000], np.uint32)
    for offset in (0, 72, 96, 400):
        r = run_lines(
            [f"s_buffer_load_{width} {registers(16, n)}, s[8:11], {offset:#x}", DONE], {}, {8: rsrc}, buffers=[memory]
        )
        at = offset + np.arange(n) * 4
        np.testing.assert_array_equal(r.s[16 : 16 + n], np.where(at + 4 <= size, memory[at // 4], 0))


@pytest.mark.parametrize("width", ["dword", "dwordx2", "dwordx4"])
def test_store(width: str) -> None:
    n, memory, values = WIDTHS[width], np.zeros(16, np.uint32), data(4)
    run_lines([f"s_store_{width} {registers(16, n)}, s[0:1], 0x8"], {}, {0: A0, 16: values}, buffers=[memory])
    want = np.zeros(16, np.uint32)
    want[2 : 2 + n] = values[:n]
    np.testing.assert_array_equal(memory, want)


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("stem", integers(32))
def test_atomics(stem: str, bits: int) -> None:
    rng = np.random.default_rng(2)
    memory, (a,) = operands(rng, bits, 4), operands(rng, bits, 1)
    for compared in (int(memory[1]), 5):
        here = memory.copy()
        value = np.array([a, compared], here.dtype) if stem == "cmpswap" else np.array([a], here.dtype)
        n = value.nbytes // 4
        name = stem + ("_x2" if bits == 64 else "")
        line = f"s_atomic_{name} {registers(16, n)}, s[0:1], {here.itemsize:#x} glc"
        r = run_lines([line, DONE], {}, {0: A0, 16: value.view(np.uint32)}, buffers=[here])
        want = memory.copy()
        want[1] = integers(bits)[stem](int(memory[1]), int(a), compared)
        np.testing.assert_array_equal(here, want)
        assert (int(r.s[16]) if bits == 32 else r.pair(16)) == memory[1]


def test_clocks_go_on() -> None:
    r = run_lines(["s_memtime s[16:17]", "s_nop 0", "s_nop 0", "s_memtime s[18:19]", "s_memrealtime s[20:21]", DONE])
    assert r.pair(16) < r.pair(18) - 2 and r.pair(18) < r.pair(20)


def test_cache_control() -> None:
    run_lines(["s_dcache_inv", "s_dcache_wb", "s_dcache_inv_vol", "s_dcache_wb_vol", DONE])


def test_checks() -> None:
    memory = np.zeros(4, np.uint32)
    run_lines(["s_load_dwordx2 s[16:17], s[0:1], 0x8"], {}, {0: A0}, buffers=[memory])
    for line, kind, text in (
        ("s_load_dwordx2 s[16:17], s[0:1], 0x10", "bounds", "8 bytes at offset 16 of the buffer of argument 0"),
        ("s_load_dword s16, s[0:1], 0x2", "alignment", "a multiple of 4"),
        ("s_load_dword s16, s[0:1], -4", "bounds", "4 bytes before the start"),
    ):
        with pytest.raises(IsaError, match=text) as caught:
            run_lines([line], {}, {0: A0}, buffers=[memory])
        assert caught.value.kind == kind
    mask = np.array([1] * 15 + [0], np.uint8)
    with pytest.raises(IsaError, match="nothing has written byte 15"):
        run_lines(["s_load_dwordx4 s[16:19], s[0:1], 0x0"], {}, {0: A0}, buffers=[memory], written=[mask])


WIDENED = ["s_load_dwordx4 s[16:19], s[0:1], 0x8", DONE]  # of four dwords: two are behind the end


@pytest.mark.parametrize(
    "lines",
    [
        ["s_add_u32 s20, s16, s17"],
        ["s_mov_b64 s[20:21], s[18:19]", "s_mov_b64 s[18:19], 0", "s_add_u32 s20, s18, s19"],
        ["s_mov_b32 s18, 1", "s_lshl_b32 s20, s18, 2"],
        ["v_writelane_b32 v3, s18, 0"],  # a spill
        ["s_load_dwordx4 s[16:19], s[0:1], 0x0", DONE, "s_add_u32 s20, s18, s19"],
    ],
)
def test_what_is_behind_the_end_may_be_loaded(lines: list[str]) -> None:
    """LLVM widens scalar loads where the alignment shows that the page goes on."""
    r = run_lines([*WIDENED, *lines], {}, {0: A0}, buffers=[np.arange(4, dtype=np.uint32)])
    assert r.s[16] in (0, 2)


@pytest.mark.parametrize(
    "lines",
    [
        ["s_add_u32 s20, s17, s18"],
        ["s_mov_b64 s[20:21], s[18:19]", "s_cmp_eq_u32 s20, 0"],
        ["s_mov_b32 s20, s18", "v_mov_b32_e32 v3, s20"],
        ["global_load_dword v3, v0, s[18:19]"],
        ["s_mov_b64 vcc, s[18:19]", "s_cbranch_vccz 0"],
    ],
)
def test_what_is_behind_the_end_may_not_be_used(lines: list[str]) -> None:
    with pytest.raises(IsaError, match="took it from behind the end of a buffer") as caught:
        run_lines([*WIDENED, *lines], {0: 0}, {0: A0}, buffers=[np.arange(4, dtype=np.uint32)])
    assert caught.value.kind == "unwritten"
