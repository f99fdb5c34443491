"""Branches, the program counter, EXEC, hardware registers, indexed registers."""

from __future__ import annotations

import numpy as np
import pytest
from alu import check_bits, words
from snippet import LANES, run_lines
from wave_mlir.isa.errors import IsaError

M64 = (1 << 64) - 1


@pytest.mark.parametrize(
    ("setup", "branch", "taken"),
    [
        ("s_cmp_eq_u32 s0, s0", "s_cbranch_scc1", True),
        ("s_cmp_eq_u32 s0, s0", "s_cbranch_scc0", False),
        ("s_cmp_lg_u32 s0, s0", "s_cbranch_scc0", True),
        ("s_mov_b64 vcc, 0", "s_cbranch_vccz", True),
        ("s_mov_b64 vcc, 0", "s_cbranch_vccnz", False),
        ("s_mov_b32 vcc_lo, 0\ns_mov_b32 vcc_hi, 4", "s_cbranch_vccnz", True),
        ("s_mov_b64 exec, 0", "s_cbranch_execz", True),
        ("s_mov_b64 exec, 2", "s_cbranch_execz", False),
        ("s_mov_b64 exec, 2", "s_cbranch_execnz", True),
        ("s_nop 3", "s_branch", True),
        ("s_nop 3", "s_cbranch_cdbgsys", False),
    ],
)
def test_branch(setup: str, branch: str, taken: bool) -> None:
    after = run_lines(
        f"s_mov_b32 s1, 1\n{setup}\n{branch} .Lend\ns_mov_b32 s1, 2\n.Lend:\ns_mov_b32 s2, 3", sgprs={0: 9}
    )
    assert (after.s[1] == 1) == taken and after.s[2] == 3


def test_loop() -> None:
    after = run_lines(
        "s_mov_b32 s0, 0\ns_mov_b32 s1, 0\n.Lloop:\ns_add_u32 s1, s1, s0\ns_add_u32 s0, s0, 1\n"
        "s_cmp_lt_u32 s0, 100\ns_cbranch_scc1 .Lloop"
    )
    assert after.s[1] == 4950


def test_calls() -> None:
    after = run_lines(
        "s_call_b64 s[0:1], .Lsub\ns_mov_b32 s8, 1\ns_getpc_b64 s[2:3]\ns_add_u32 s2, s2, 16\ns_addc_u32 s3, s3, 0\n"
        "s_swappc_b64 s[0:1], s[2:3]\ns_branch .Lend\n.Lsub:\ns_add_u32 s9, s9, 5\ns_setpc_b64 s[0:1]\n.Lend:\ns_nop 0",
        sgprs={9: 0},
    )
    assert after.s[8] == 1 and after.s[9] == 10


def test_jump_to_nowhere() -> None:
    with pytest.raises(IsaError, match="no instruction of the program is at the address"):
        run_lines("s_mov_b64 s[0:1], 0x1234\ns_setpc_b64 s[0:1]")


def test_trap_and_halt() -> None:
    with pytest.raises(IsaError, match="s_trap 2"):
        run_lines("s_trap 2")
    with pytest.raises(IsaError, match="s_sethalt"):
        run_lines("s_sethalt 1")
    hints = ["s_sethalt 0", "s_sleep 1", "s_setprio 3", "s_sendmsg sendmsg(MSG_INTERRUPT)", "s_icache_inv", "s_wakeup"]
    run_lines([*hints, "v_nop", "v_clrexcp"])


SAVES = {
    "and": lambda s, e: s & e,
    "or": lambda s, e: s | e,
    "xor": lambda s, e: s ^ e,
    "andn2": lambda s, e: s & ~e,
    "orn2": lambda s, e: s | ~e,
    "andn1": lambda s, e: ~s & e,
    "orn1": lambda s, e: ~s | e,
    "nand": lambda s, e: ~(s & e),
    "nor": lambda s, e: ~(s | e),
    "xnor": lambda s, e: ~(s ^ e),
}


@pytest.mark.parametrize("name", SAVES)
def test_save_exec(name: str) -> None:
    for source, exec in ((0x123456789ABCDEF0, 0xF0F0FFFF0000AAAA), (0, M64), (M64, 0), (5, 5)):
        after = run_lines(f"s_{name}_saveexec_b64 s[2:3], s[0:1]", sgprs={0: np.array([source], np.uint64)}, exec=exec)
        want = SAVES[name](source, exec) & M64
        assert (after.pair(2), after.pair(126), after.scc) == (exec, want, want != 0)
        after = run_lines(f"s_{name}_saveexec_b64 s[0:1], s[0:1]", sgprs={0: np.array([source], np.uint64)}, exec=exec)
        assert (after.pair(0), after.pair(126)) == (exec, want)


def test_write_exec() -> None:
    for name in ("andn1", "andn2"):
        source, exec = 0x123456789ABCDEF0, 0xF0F0FFFF0000AAAA
        after = run_lines(f"s_{name}_wrexec_b64 s[2:3], s[0:1]", sgprs={0: np.array([source], np.uint64)}, exec=exec)
        want = SAVES[name](source, exec) & M64
        assert after.pair(2) == after.pair(126) == want


def test_mode_register() -> None:
    after = run_lines(
        [
            "s_getreg_b32 s0, hwreg(HW_REG_MODE)",
            "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0",
            "s_getreg_b32 s1, hwreg(HW_REG_MODE, 0, 10)",
            "v_add_f32_e32 v1, v0, v0",
            "s_mov_b32 s8, 3",
            "s_setreg_b32 hwreg(HW_REG_MODE, 4, 2), s8",
            "v_add_f32_e32 v2, v0, v0",
            "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 3",
            "v_add_f32_e32 v3, 1.0, v4",
            "s_getreg_b32 s2, hwreg(HW_REG_MODE, 0, 2)",
        ],
        {0: 1, 4: 0x33C00000},
    )
    assert (after.s[0], after.s[1], after.s[2]) == (0x3F0, 0x3C0, 3)
    assert (after.v[1, 0], after.v[2, 0], after.v[3, 0]) == (0, 2, 0x3F800000)
    with pytest.raises(IsaError, match="hardware register 5"):
        run_lines("s_getreg_b32 s0, hwreg(HW_REG_GPR_ALLOC)")


def test_status_register() -> None:
    after = run_lines(
        "s_cmp_eq_u32 s0, s0\ns_mov_b64 vcc, 0\ns_getreg_b32 s1, hwreg(HW_REG_STATUS, 0, 11)", sgprs={0: 1}
    )
    assert after.s[1] == 1 | 1 << 10


def test_special_sources() -> None:
    after = run_lines(
        "s_mov_b64 s[0:1], src_shared_base\ns_mov_b64 s[2:3], src_private_base\ns_mov_b64 vcc, 0\n"
        "v_mov_b32_e32 v0, vcc_lo\ns_mov_b32 s4, src_shared_base"
    )
    assert after.pair(0) == 1 << 48 and after.pair(2) == 2 << 48 and after.s[4] == 0


def test_indexed_scalars() -> None:
    start = {i: 100 + i for i in range(16)}
    after = run_lines(
        [
            "s_mov_b32 m0, 4",
            "s_movrels_b32 s20, s1",
            "s_movrels_b64 s[22:23], s[2:3]",
            "s_movreld_b32 s8, s0",
            "s_movreld_b64 s[10:11], s[0:1]",
        ],
        sgprs=start,
    )
    assert [int(after.s[i]) for i in (20, 22, 23, 12, 14, 15)] == [105, 106, 107, 100, 100, 101]
    with pytest.raises(IsaError, match="no scalar register"):
        run_lines("s_mov_b32 m0, 200\ns_movrels_b32 s20, s1")


def test_indexed_vectors() -> None:
    rows = {i: words(LANES, i) for i in range(12)}
    after = run_lines(
        [
            "s_set_gpr_idx_on s0, gpr_idx(SRC0)",
            "v_mov_b32_e32 v20, v1",
            "v_add_u32_e32 v21, v2, v3",
            "s_set_gpr_idx_mode gpr_idx(DST)",
            "v_mov_b32_e32 v22, v1",
            "s_set_gpr_idx_idx s1",
            "v_mov_b32_e32 v22, v2",
            "v_cmp_eq_u32_e32 vcc, v0, v0",
            "s_set_gpr_idx_mode gpr_idx(SRC0,SRC1)",
            "v_pk_add_u16 v30, v0, v1",
            "v_cmp_gt_u32_e64 s[8:9], v0, v5",
            "s_set_gpr_idx_off",
            "v_mov_b32_e32 v31, v1",
        ],
        rows,
        {0: 5, 1: 6},
        m0=0,
    )
    check_bits(after.v[20], rows[6])
    check_bits(after.v[21], rows[7] + rows[3])
    check_bits(after.v[22 + 5], rows[1])
    check_bits(after.v[22 + 6], rows[2])
    check_bits(after.v[30], (rows[6].view(np.uint16) + rows[7].view(np.uint16)).view(np.uint32))
    assert after.vcc == M64 and after.pair(8) == sum(
        int(x > y) << i for i, (x, y) in enumerate(zip(rows[6], rows[11], strict=True))
    )
    check_bits(after.v[31], rows[1])
    with pytest.raises(IsaError, match="past the last register"):
        run_lines("s_set_gpr_idx_on s0, gpr_idx(SRC0)\nv_mov_b32_e32 v20, v1", {1: 0}, {0: 255}, m0=0)
