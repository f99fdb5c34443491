"""Races between waves in LDS and barriers that do not match: each fault with its clean twin, under all orders."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from snippet import Registers, buffer_address, run_lines
from wave_mlir.isa.errors import IsaError

L = np.arange(64, dtype=np.uint32)
WAIT = "s_waitcnt lgkmcnt(0)"
BARRIER = [WAIT, "s_barrier"]
ORDERS = ["forward", "reverse", "round-robin", "random"]


def run(lines: list[str], vgprs: Mapping[int, np.ndarray] | None = None, **options: object) -> Registers:
    """Two waves; `vgprs`: [128] by register; v2 is 4 * item of the workgroup, v3 the neighbour wave's."""
    every = {2: np.arange(128) * 4, 3: (np.arange(128) + 64) % 128 * 4, 30: np.arange(128) + 5, **(vgprs or {})}
    rows = {register: np.asarray(values, np.uint32) for register, values in every.items()}
    return run_lines(lines, rows, {0: buffer_address(0)}, lds=1024, waves=2, m0=0, **options)  # type: ignore[arg-type]


def fails(kind: str, lines: list[str], vgprs: Mapping[int, np.ndarray] | None = None, **options: object) -> IsaError:
    with pytest.raises(IsaError) as caught:
        run(lines, vgprs, **options)
    assert caught.value.kind == kind, str(caught.value)
    return caught.value


@pytest.mark.parametrize("order", ORDERS)
def test_exchange_through_lds(order: str) -> None:
    write, read = "ds_write_b32 v2, v30", "ds_read_b32 v4, v3"
    r = run([write, *BARRIER, read, WAIT], order=order)
    np.testing.assert_array_equal(r.v[4], np.arange(64) + 64 + 5)
    with pytest.raises(IsaError) as caught:
        run([write, WAIT, read, WAIT], order=order)
    assert caught.value.kind in ("race", "unwritten")  # who comes first sees that nothing is there yet


@pytest.mark.parametrize("order", ORDERS)
def test_reading_before_the_next_write(order: str) -> None:
    """Read, then overwrite what the other wave reads: a barrier in between, and a wait for the reads before it."""
    fill = ["ds_write_b32 v2, v30", *BARRIER]
    read, write = "ds_read_b32 v4, v3", "ds_write_b32 v2, v30"
    run([*fill, read, *BARRIER, write], order=order)
    error = fails("race", [*fill, read, WAIT, write], order=order)
    assert "no barrier between" in str(error)
    error = fails("race", [*fill, read, "s_barrier", write], order=order)
    assert "which has not been waited for" in str(error)


@pytest.mark.parametrize("order", ORDERS)
def test_write_must_be_complete_at_the_barrier(order: str) -> None:
    fails("race", ["ds_write_b32 v2, v30", "s_barrier", "ds_read_b32 v4, v3"], order=order)


@pytest.mark.parametrize("order", ORDERS)
def test_copy_must_be_complete_at_the_barrier(order: str) -> None:
    data = np.arange(128, dtype=np.uint32)
    copy, read = "global_load_lds_dword v2, s[0:1]", "ds_read_b32 v4, v3"
    m0 = {"buffers": [data]}
    shift = "s_lshl_b32 m0, s5, 8"  # each wave its own part of LDS
    which = ["v_readfirstlane_b32 s5, v31", shift]
    waves = {31: np.arange(128) // 64}
    r = run([*which, copy, "s_waitcnt vmcnt(0)", "s_barrier", read, WAIT], waves, order=order, **m0)
    np.testing.assert_array_equal(r.v[4], np.arange(64) + 64)
    fails("race", [*which, copy, "s_barrier", read, WAIT], waves, order=order, **m0)
    fails("race", [*which, copy, "s_barrier", "s_waitcnt vmcnt(0)", read, WAIT], waves, order=order, **m0)


@pytest.mark.parametrize("order", ORDERS)
def test_two_writers(order: str) -> None:
    same = {2: np.arange(128) % 64 * 4}
    error = fails("race", ["ds_write_b32 v2, v30"], same, order=order)
    assert "written here by wave" in str(error)
    run(["ds_write_b8 v2, v30"], {2: np.arange(128) % 64 * 4 + np.arange(128) // 64}, order=order)  # bytes of one dword
    fails("race", ["ds_write_b16 v2, v30"], {2: np.arange(128) % 64 * 4 + np.arange(128) // 64}, order=order)


def test_equal_writes_are_no_race() -> None:
    same = {2: np.arange(128) % 64 * 4, 30: np.arange(128) % 64}
    run(["ds_write_b32 v2, v30"], same)
    fails("race", ["ds_write_b32 v2, v30"], same | {30: np.arange(128) // 127})


@pytest.mark.parametrize("order", ORDERS)
def test_atomics(order: str) -> None:
    """Atomics do not race with each other, but with plain accesses."""
    same = {2: np.arange(128) * 0, 31: np.arange(128) // 64}
    fill = ["ds_write_b32 v5, v30", *BARRIER]
    own = same | {5: np.arange(128) * 4}
    run([*fill, "ds_add_u32 v2, v30", WAIT], own, order=order)
    r = run([*fill, "ds_add_u32 v2, v30", *BARRIER, "ds_read_b32 v4, v2", WAIT], own, order=order)
    assert r.v[4][0] == (np.arange(128) + 5).sum() + 5
    fails("race", [*fill, "ds_add_u32 v2, v30", WAIT, "ds_read_b32 v4, v2", WAIT], own, order=order)
    fails("race", [*fill, "ds_add_u32 v2, v30", WAIT, "ds_write_b32 v5, v30", WAIT], own, order=order)


def test_message_names_both_sides() -> None:
    lines = ["ds_write_b32 v2, v30", *BARRIER, "ds_read_b32 v4, v3", WAIT, "ds_write_b32 v2, v30"]
    r = run(lines, collect=True)
    read, write = r.session.findings()  # wave 1, the last at the barrier, goes on first
    assert (read.kind, read.instruction, read.wave, read.other, read.other_wave) == ("race", 3, 0, 5, 1)
    assert (write.kind, write.instruction, write.wave, write.other, write.other_wave) == ("race", 5, 0, 3, 1)
    end = "by wave 1 ({}) with no barrier between"
    assert read.text == "byte 256 of LDS is read here by wave 0 and written " + end.format("ds_write_b32")
    assert write.text == "byte 0 of LDS is written here by wave 0 and read " + end.format("ds_read_b32")


def test_races_can_be_left_out() -> None:
    run(["ds_write_b32 v2, v30"], {2: np.arange(128) % 64 * 4}, races=False)


def test_many_barriers() -> None:
    """The stamps' epochs start over after 65535 barriers: nothing old looks new, an open access stays open."""
    loop = ["s_mov_b32 s6, 0", "ds_write_b32 v2, v30", WAIT]
    body = ["again:", "s_barrier", "s_add_i32 s6, s6, 1", "s_cmp_lt_u32 s6, s7", "s_cbranch_scc1 again"]
    for count in (65534, 65535, 65536):
        lines = [f"s_mov_b32 s7, {count}", *loop, *body, "ds_read_b32 v4, v3", WAIT]
        run(lines)
    lines = ["s_mov_b32 s7, 65536", "s_mov_b32 s6, 0", "ds_write_b32 v2, v30", *body, "ds_read_b32 v4, v3"]
    fails("race", lines)


# --- barriers ---

FIRST_WAVE_ONLY = ["v_readfirstlane_b32 s5, v31", "s_cmp_eq_u32 s5, 0"]
WAVES = {31: np.arange(128) // 64}


@pytest.mark.parametrize("order", ORDERS)
def test_a_wave_that_ends_early(order: str) -> None:
    lines = [*FIRST_WAVE_ONLY, "s_cbranch_scc1 out", "s_barrier", "out:"]
    error = fails("barrier", lines, WAVES, order=order)
    assert "wave 1 waits at a barrier that wave 0 ended without reaching" in str(error)
    run([*FIRST_WAVE_ONLY, "s_cbranch_scc1 out", "out:", "s_barrier"], WAVES, order=order)


@pytest.mark.parametrize("order", ORDERS)
def test_different_numbers_of_barriers(order: str) -> None:
    twice = [*FIRST_WAVE_ONLY, "s_barrier", "s_cbranch_scc1 out", "s_barrier", "out:"]
    error = fails("barrier", twice, WAVES, order=order)
    assert error.finding.instruction == "s_barrier"


def test_barrier_finding_names_the_end() -> None:
    r = run([*FIRST_WAVE_ONLY, "s_cbranch_scc1 out", "s_barrier", "out:"], WAVES, collect=True)
    (found,) = r.session.findings()
    assert (found.instruction, found.other, found.other_wave) == (3, 4, 0)
