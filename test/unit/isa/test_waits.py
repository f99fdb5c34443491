"""Registers used before the wait that fills them: each fault with its clean twin."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from snippet import Registers, buffer_address, run_lines
from wave_mlir.isa.errors import IsaError

L = np.arange(64, dtype=np.uint32)
SHARED = 1 << 48
V: dict[int, object] = {2: L * 4, 3: L * 4 + 1024, 30: 7, 31: 8}
FILL = ["ds_write_b32 v2, v30", "s_waitcnt lgkmcnt(0)"]
GLOBAL = "global_load_dword v4, v2, s[0:1]"
BUFFER = "buffer_load_dword v4, v2, s[8:11], 0 offen"
SCRATCH = "scratch_load_dword v4, off, off"
LDS = "ds_read_b32 v4, v2"
SCALAR = "s_load_dword s4, s[0:1], 0x0"
USE = "global_store_dword v2, v4, s[2:3]"
USE_SCALAR = "s_store_dword s4, s[2:3], 0x0"


def run(lines: list[str], vgprs: Mapping[int, object] | None = None, **options: object) -> Registers:
    a, b = buffer_address(0), buffer_address(1)
    sgprs: dict[int, object] = {0: a, 2: b, 8: np.array([a & 0xFFFFFFFF, a >> 32, 4096, 0x27000], np.uint32)}
    buffers = [np.arange(1024, dtype=np.uint32), np.zeros(1024, np.uint32)]
    scratch = ["scratch_store_dword off, v30, off", "s_waitcnt vmcnt(0)"]
    body = [*FILL, *scratch, *lines]
    every = {**V, **(vgprs or {})}
    return run_lines(body, every, sgprs, buffers=buffers, lds=4096, scratch=16, m0=0, **options)  # type: ignore[arg-type]


def fails(lines: list[str], vgprs: Mapping[int, object] | None = None, **options: object) -> IsaError:
    with pytest.raises(IsaError) as caught:
        run(lines, vgprs, **options)
    assert caught.value.kind == "wait", str(caught.value)
    return caught.value


@pytest.mark.parametrize("load,wait", [(GLOBAL, "vmcnt"), (BUFFER, "vmcnt"), (SCRATCH, "vmcnt"), (LDS, "lgkmcnt")])
def test_use_needs_the_wait(load: str, wait: str) -> None:
    run([load, f"s_waitcnt {wait}(0)", USE])
    error = fails([load, USE])
    assert f"v4 is read before {load.split()[0]} has filled it" in str(error) and wait in str(error)
    other = "lgkmcnt" if wait == "vmcnt" else "vmcnt"
    fails([load, f"s_waitcnt {other}(0)", USE])


def test_scalar_load() -> None:
    run([SCALAR, "s_waitcnt lgkmcnt(0)", USE_SCALAR])
    error = fails([SCALAR, USE_SCALAR])
    assert "s4 is read before s_load_dword has filled it" in str(error)
    assert "s5" in str(fails(["s_load_dwordx2 s[4:5], s[0:1], 0x0", "s_store_dword s5, s[2:3], 0x0"]))


def test_without_strict_everything_arrives_at_once() -> None:
    for load in (GLOBAL, LDS):
        run([load, USE], strict=False)
    run([SCALAR, USE_SCALAR], strict=False)


def test_counts_in_order() -> None:
    """vmcnt(1) covers all but the last one: stores count too."""
    two = [GLOBAL, "global_load_dword v5, v2, s[0:1]"]
    run([*two, "s_waitcnt vmcnt(1)", USE])
    fails([*two, "s_waitcnt vmcnt(2)", USE])
    fails([*two, "s_waitcnt vmcnt(1)", USE.replace("v4", "v5")])
    stored = [GLOBAL, "global_store_dword v2, v31, s[2:3]", "global_store_dword v2, v31, s[2:3]"]
    run([*stored, "s_waitcnt vmcnt(2)", USE])
    fails([*stored, "s_waitcnt vmcnt(3)", USE])
    reads = [LDS, "ds_write_b32 v3, v31", "ds_read_b32 v5, v2"]
    run([*reads, "s_waitcnt lgkmcnt(2)", USE])
    fails([*reads, "s_waitcnt lgkmcnt(3)", USE])


@pytest.mark.parametrize("first,second", [("buffer_inv sc1", GLOBAL), (GLOBAL, "buffer_wbl2 sc1")])
def test_cache_control_counts(first: str, second: str) -> None:
    lines = [first, second]
    (run if first == GLOBAL else fails)([*lines, "s_waitcnt vmcnt(1)", USE])
    run([*lines, "s_waitcnt vmcnt(0)", USE])


def test_scalar_loads_come_in_any_order() -> None:
    two = [SCALAR, "s_load_dword s5, s[0:1], 0x4"]
    fails([*two, "s_waitcnt lgkmcnt(1)", USE_SCALAR])
    run([*two, "s_waitcnt lgkmcnt(0)", USE_SCALAR])
    mixed = [LDS, SCALAR]  # the counter may say 1 because the scalar load came first
    fails([*mixed, "s_waitcnt lgkmcnt(1)", USE])
    run([*mixed, "ds_read_b32 v5, v2", "s_waitcnt lgkmcnt(1)", USE])
    fails([*mixed, "ds_read_b32 v5, v2", "s_waitcnt lgkmcnt(1)", USE_SCALAR])


def test_overwriting_a_pending_register() -> None:
    """Loads that come in order may follow each other into one register; anything else may not write it."""
    run([GLOBAL, "global_load_dword v4, v3, s[0:1]", "s_waitcnt vmcnt(0)", USE])
    fails([GLOBAL, "global_load_dword v4, v3, s[0:1]", "s_waitcnt vmcnt(1)", USE])
    run([LDS, "ds_read_b32 v4, v2", "s_waitcnt lgkmcnt(0)", USE])
    error = fails([GLOBAL, LDS])
    assert "v4 is overwritten before global_load_dword has filled it" in str(error)
    fails([LDS, GLOBAL])
    fails([SCALAR, "s_load_dword s4, s[0:1], 0x4"])
    run([GLOBAL, "s_waitcnt vmcnt(0)", LDS])


def test_halves_of_a_register_in_order() -> None:
    lines = ["global_load_short_d16 v4, v2, s[0:1]", "global_load_short_d16_hi v4, v3, s[0:1]"]
    r = run([*lines, "s_waitcnt vmcnt(0)", USE])
    np.testing.assert_array_equal(r.v[4], L | (L + 256) << 16)
    fails([*lines, "s_waitcnt vmcnt(1)", USE])


def test_store_data_may_be_overwritten_at_once() -> None:
    run(["global_store_dword v2, v31, s[2:3]", "ds_read_b32 v31, v2"])


def test_addresses_of_a_load_are_read_when_it_is_issued() -> None:
    run(["global_load_dword v5, v2, s[0:1]", "ds_read_b32 v2, v3"], {3: L * 4})


def test_atomic_with_return() -> None:
    add = "global_atomic_add v4, v2, v30, s[2:3] sc0"
    run([add, "s_waitcnt vmcnt(0)", USE])
    fails([add, USE])
    run(["ds_add_rtn_u32 v4, v2, v30", "s_waitcnt lgkmcnt(0)", USE])
    fails(["ds_add_rtn_u32 v4, v2, v30", USE])
    swap = "buffer_atomic_swap v4, v2, s[8:11], 0 offen"
    run([swap, USE], {4: 9})
    fails([swap + " sc0", USE], {4: 9})


def test_flat() -> None:
    """A flat load of memory is covered by vmcnt, one with lanes in LDS by both counters at 0."""
    load = "flat_load_dword v4, v[6:7]"
    memory = {6: L.astype(np.uint64) * np.uint64(4) + np.uint64(buffer_address(0))}
    lds = {6: L.astype(np.uint64) * np.uint64(4) + np.uint64(SHARED)}
    run([load, "s_waitcnt vmcnt(0)", USE], memory)
    run([load, "global_load_dword v5, v2, s[0:1]", "s_waitcnt vmcnt(1)", USE], memory)
    fails([load, "s_waitcnt lgkmcnt(0)", USE], memory)
    run([load, "s_waitcnt vmcnt(0) lgkmcnt(0)", USE], lds)
    run([load, "s_waitcnt lgkmcnt(0)", "s_waitcnt vmcnt(0)", USE], lds)
    fails([load, "s_waitcnt vmcnt(0)", USE], lds)
    fails([load, "s_waitcnt lgkmcnt(0)", USE], lds)


def test_lane_exchange_counts() -> None:
    for line in ("ds_bpermute_b32 v4, v2, v30", "ds_permute_b32 v4, v2, v30", "ds_swizzle_b32 v4, v30 offset:0x1f"):
        run([line, "s_waitcnt lgkmcnt(0)", USE])
        fails([line, USE])


def test_accumulation_registers() -> None:
    run(["global_load_dwordx2 a[2:3], v2, s[0:1]", "s_waitcnt vmcnt(0)", "global_store_dword v2, a3, s[2:3]"])
    assert "a3" in str(fails(["global_load_dwordx2 a[2:3], v2, s[0:1]", "global_store_dword v2, a3, s[2:3]"]))


def test_copies_to_lds() -> None:
    """The wave that copies reads the bytes only after vmcnt."""
    copy = "global_load_lds_dword v2, s[0:1]"
    run([copy, "s_waitcnt vmcnt(0)", LDS])
    error = fails([copy, LDS])
    assert "byte 0 of LDS is read before the copy that fills it has been waited for" in str(error)
    fails([copy, "s_waitcnt lgkmcnt(0)", LDS])
    fails([copy, "ds_write_b32 v2, v31"])
    run([copy, "ds_write_b32 v3, v31"])
    twice = [copy, copy]
    fails([*twice, "s_waitcnt vmcnt(1)", LDS])
    run([*twice, "s_waitcnt vmcnt(0)", LDS])
    apart = [copy, "global_load_lds_dword v2, s[0:1] offset:2048"]
    run([*apart, "s_waitcnt vmcnt(1)", LDS])


def test_the_end_waits_for_nothing() -> None:
    run([GLOBAL, "ds_read_b32 v5, v2", SCALAR, "global_load_lds_dword v2, s[0:1]"])


def test_collecting_goes_on() -> None:
    r = run([GLOBAL, USE, USE, "ds_write_b32 v2, v4"], collect=True)
    found = r.session.findings()
    assert [f.kind for f in found] == ["wait"] * 3
    assert all(f.other == 4 and f.other_wave == 0 for f in found)


@pytest.mark.parametrize(
    "use",
    [
        "v_cndmask_b32_e32 v6, v30, v31, vcc",
        "v_cndmask_b32_e64 v6, v30, v31, vcc",
        "v_div_fmas_f32 v6, v30, v31, v30",
        "v_addc_co_u32_e32 v6, vcc, v30, v31, vcc",
        "s_cbranch_vccnz 0",
        "v_cndmask_b32_dpp v6, v30, v31, vcc quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf",
        "s_add_u32 s4, s4, src_vccz",
    ],
)
def test_vcc_that_a_load_fills(use: str) -> None:
    """VCC counts as read where the text does not name it, too."""
    load = "s_load_dwordx2 vcc, s[0:1], 0x0"
    run([load, "s_waitcnt lgkmcnt(0)", use])
    error = fails([load, use])
    assert "vcc_lo is read before s_load_dwordx2 has filled it" in str(error)
