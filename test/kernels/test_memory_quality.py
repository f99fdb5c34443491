"""What the memory passes must reach on GEMMs, read off the machine code and counted in the machine-code runner."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import gemm_cases
import numpy as np
import pytest
from gemm_cases import GemmCase
from wave_mlir import sim
from wave_mlir.compiler import driver
from wave_mlir.compiler.driver import Compiled

TILE, WAVES, SIZE = (128, 128, 64), (2, 2), (4096, 4096, 4096)
CASES = [GemmCase(target, dtype, 16, "shared", TILE, WAVES, *SIZE)
         for target in gemm_cases.TARGETS for dtype in ("f16", "bf16", "f8")]  # fmt: skip
LARGE = GemmCase("gfx942", "f16", 16, "shared", (256, 256, 64), (2, 4), *SIZE)
INSTRUCTIONS_PER_64_MFMA = 142


def _instructions(lines: list[str]) -> Counter[str]:
    return Counter(re.sub(r"_e(32|64)$", "", m[1]) for m in (re.match(r"\t([a-z]\w+)", line) for line in lines) if m)


def _loop(isa: str) -> Counter[str]:
    """Instructions of the loop with the MFMAs; of the loop over whole tiles where there is one more for the rest."""
    lines = isa.splitlines()
    labels = {m[1]: i for i, m in ((i, re.match(r"(\.LBB\w+):", line)) for i, line in enumerate(lines)) if m}
    found = []
    for i, line in enumerate(lines):
        back = re.search(r"s_cbranch_\w+ (\.LBB\w+)", line)
        if back and labels.get(back[1], i) < i:
            found.append(_instructions(lines[labels[back[1]] : i + 1]))
    return min((f for f in found if any(name.startswith("v_mfma") for name in f)), key=Counter.total)


def _compile(case: GemmCase, dynamic: tuple[str, ...] = (), assume: str = "") -> Compiled:
    text = gemm_cases.gemm_text(case, dynamic).replace("#wave.hardware", f"{assume}#wave.hardware")
    return driver.compile_module(text, keep=["scheduled"])


def _only(found: Counter[str], stem: str, wanted: str) -> int:
    """The instructions that begin with `stem`, which must all be `wanted`."""
    names = {name for name in found if name.startswith(stem)}
    assert names == {wanted}, names
    return found[wanted]


@pytest.mark.parametrize("case", [*CASES, LARGE], ids=str)
def test_gemm(case: GemmCase) -> None:
    """Every LDS access has 128 bits and no conflict, every global one 16 bytes; two barriers, no spills, few others."""
    compiled = _compile(case)
    loop, whole = _loop(compiled.isa), _instructions(compiled.isa.splitlines())
    products = sum(n for name, n in loop.items() if name.startswith("v_mfma"))
    assert _only(loop, "ds_read", "ds_read_b128") + _only(loop, "ds_write", "ds_write_b128") > 0
    _only(loop, "buffer_load", "buffer_load_dwordx4")
    _only(whole, "buffer_store", "buffer_store_dwordx4")
    assert not any(name.startswith(("global_", "flat_", "scratch_", "v_accvgpr")) for name in whole)
    assert loop["s_barrier"] == 2
    assert re.search(r"vgpr_spill_count: +0\n", compiled.isa) and re.search(r"sgpr_spill_count: +0\n", compiled.isa)
    assert not any(name.startswith("v_") and not name.startswith("v_mfma") for name in loop), loop
    work = products * case.kind.flops / (64 * case.kind.flops)
    if compiled.isa.count("v_mfma_f32_16x16x32_f16") or compiled.isa.count("v_mfma_f32_16x16x32_bf16"):
        work *= 2  # one instruction for two of the kind that the kernel names
    assert loop.total() < INSTRUCTIONS_PER_64_MFMA * work
    assert re.findall(r"lds_conflicts = (\d+)", compiled.ir("scheduled")) == ["1", "1"]
    assert case != LARGE or "group_segment_fixed_size: 65536" in compiled.isa


@pytest.mark.parametrize("case", CASES, ids=str)
def test_no_conflicts_when_run(case: GemmCase, isa: Callable[..., object]) -> None:
    """The runner, which counts banks by itself, sees no clock lost."""
    small = replace(case, m=128, n=128, k=128)
    a, b, c = gemm_cases.inputs(small)
    run = isa(_compile(small), a, b, c, trace=1)
    np.testing.assert_array_equal(c, gemm_cases.expected(a, b, c.dtype))
    assert run.profile().lds_accesses() and run.profile().conflict_clocks == 0  # type: ignore[attr-defined]


ASSUME = "".join(f"#wave.assume<{p}>, " for p in ("K lt 65536", "N lt 65536", "K mod 16 eq 0", "N mod 4 eq 0"))
"""Rows that keep a tile below 2 GiB and start at multiples of 16 bytes."""


@pytest.mark.thin(5)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_dynamic_sizes(case: GemmCase) -> None:
    """With run-time sizes the loop is at most 1.3 times as long; accesses are as wide, and no mask is a branch."""
    static, compiled = _compile(case), _compile(case, ("M", "N", "K"), ASSUME)
    loop, whole = _loop(compiled.isa), _instructions(compiled.isa.splitlines())
    assert loop.total() <= 1.3 * _loop(static.isa).total(), loop
    _only(loop, "ds_read", "ds_read_b128")
    _only(loop, "ds_write", "ds_write_b128")
    _only(loop, "buffer_load", "buffer_load_dwordx4")
    _only(whole, "buffer_store", "buffer_store_dwordx4")
    assert not any("saveexec" in name or name.startswith(("global_", "flat_")) for name in whole)
    assert loop["s_barrier"] == 2
    assert re.search(r"vgpr_spill_count: +0\n", compiled.isa)


@pytest.mark.parametrize("case", CASES[::2], ids=str)
def test_dynamic_sizes_when_run(case: GemmCase, isa: Callable[..., object]) -> None:
    """Exact for sizes that are no multiples of the tile, in the simulator and as machine code."""
    compiled = _compile(case, ("M", "N", "K"), ASSUME)
    for m, n, k in ((1, 4, 16), (100, 68, 80), (129, 260, 144)):
        a, b, c = gemm_cases.inputs(replace(case, m=m, n=n, k=k))
        sizes = {"M": m, "N": n, "K": k}
        simulated = c.copy()
        sim.run(compiled.module, [a, b, simulated], symbols=sizes)
        np.testing.assert_array_equal(simulated, gemm_cases.expected(a, b, c.dtype), err_msg=str(sizes))
        isa(compiled, a, b, c, symbols=sizes)
        np.testing.assert_array_equal(c, gemm_cases.expected(a, b, c.dtype), err_msg=str(sizes))
