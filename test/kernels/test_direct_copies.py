"""GEMMs whose tiles go to LDS without registers: exact in the simulator and as machine code, and what the code is."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import gemm_cases
import numpy as np
import pytest
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from gemm_cases import GemmCase
from wave_mlir import sim
from wave_mlir.compiler import driver
from wave_mlir.compiler.driver import Compiled
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.passes.pipelines import PipelineOptions
from wave_mlir.wave.compile import WaveCompileOptions, wave_compile

DIRECT = PipelineOptions(global_to_shared=True)
ASSUME = "".join(f"#wave.assume<{p}>, " for p in ("K lt 65536", "N lt 65536", "K mod 16 eq 0", "N mod 4 eq 0"))
CASES = [
    GemmCase(target, dtype, 16, "shared", (128, 128, 64), (2, 2), 128, 128, 128)
    for target, dtype in (("gfx942", "f16"), ("gfx942", "f8"), ("gfx950", "bf16"), ("gfx950", "f8"))
]
OTHERS = [
    GemmCase("gfx950", "f16", 32, "shared", (128, 128, 64), (2, 2), 128, 128, 128),  # swizzle on both sides
    GemmCase("gfx950", "f16", 16, "shared", (64, 64, 32), (2, 2), 64, 64, 96),  # two chunks of rows a phase
    GemmCase("gfx942", "f16", 16, "shared", (64, 64, 32), (1, 1), 64, 64, 96),  # one wave: no barriers, but waits
    GemmCase("gfx950", "f16", 16, "shared", (8, 64, 32), (1, 4), 17, 64, 100),  # a tile smaller than the block
]


def _compile(case: GemmCase, dynamic: tuple[str, ...] = ()) -> Compiled:
    text = gemm_cases.gemm_text(case, dynamic)
    if dynamic:
        text = text.replace("#wave.hardware", f"{ASSUME}#wave.hardware")
    return driver.compile_module(text, keep=["lane"], options=DIRECT)


def _check(compiled: Compiled, case: GemmCase, isa: Callable[..., object], symbols: dict[str, int] | None = None):
    a, b, c = gemm_cases.inputs(case)
    want = gemm_cases.expected(a, b, c.dtype)
    simulated = c.copy()
    sim.run(compiled.module, [a, b, simulated], symbols=symbols or {})
    np.testing.assert_array_equal(simulated, want)
    run = isa(compiled, a, b, c, symbols=symbols, order="random", trace=1)
    np.testing.assert_array_equal(c, want)
    return run


def _loop(isa: str) -> list[str]:
    """The instructions of the loop with the MFMAs."""
    lines = [line.strip() for line in isa.splitlines()]
    starts = {line.split(":")[0]: i for i, line in enumerate(lines) if line.startswith(".LBB")}
    for i, line in enumerate(lines):
        back = re.match(r"s_cbranch_\w+ (\.LBB\w+)", line)
        if back and starts.get(back[1], i) < i:
            body = lines[starts[back[1]] : i + 1]
            if any("v_mfma" in x for x in body):
                return [x for x in body if re.match(r"[a-z]", x)]
    raise AssertionError("no loop with MFMAs")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_gemm(case: GemmCase, isa: Callable[..., object]) -> None:
    """Tiles pass through no register; an LDS read waits for no copy, only barriers do; no bank conflicts."""
    compiled = _compile(case)
    run = _check(compiled, case, isa)
    assert run.profile().conflict_clocks == 0
    loop = _loop(compiled.isa)
    loads = [x for x in loop if x.startswith(("buffer_load", "global_load"))]
    width = "buffer_load_dwordx4 " if case.target == "gfx950" else "buffer_load_dword "
    assert loads and all(x.startswith(width) and x.endswith(" lds") for x in loads)
    assert not any(x.startswith("ds_write") for x in loop)
    assert not any(x.startswith("v_") and not x.startswith("v_mfma") for x in loop)
    waits = [i for i, x in enumerate(loop) if "vmcnt" in x]
    barriers = [i for i, x in enumerate(loop) if x == "s_barrier"]
    assert len(barriers) == 2 and waits and all(i + 1 in barriers for i in waits)
    assert re.findall(r"lds_conflicts = (\d+)", compiled.ir("lane")) == ["1", "1"]


@pytest.mark.parametrize("case", OTHERS, ids=str)
def test_other_tiles(case: GemmCase, isa: Callable[..., object]) -> None:
    """Exact whatever the tile is; where a copy cannot be direct it passes through registers."""
    _check(_compile(case), case, isa)


@pytest.mark.parametrize("case", CASES[1:3], ids=str)
def test_masked_lanes_copy_zeros(case: GemmCase, isa: Callable[..., object]) -> None:
    """Sizes of run time that are no multiples of the tile: what lies beyond is zero in LDS."""
    compiled = _compile(case, ("M", "N", "K"))
    assert "wave.gather_to_shared" in compiled.ir("lane")
    for m, n, k in ((1, 4, 16), (129, 68, 80)):
        _check(compiled, replace(case, m=m, n=n, k=k), isa, {"M": m, "N": n, "K": k})


def test_missing_waits_are_found() -> None:
    """Without the wait in front of a barrier a wave reads what is still in flight: the simulator sees it."""
    compiled = _compile(CASES[2])
    text = compiled.ir("gpu")
    without = re.sub(r"rocdl\.s\.waitcnt -?\d+", "rocdl.s.waitcnt 49279", text)  # lgkmcnt(0) alone
    assert without != text
    a, b, c = gemm_cases.inputs(CASES[2])
    with pytest.raises(sim.SimError) as error:
        sim.run(driver.compile_module(without).module, [a, b, c])
    assert error.value.kind == "async"


@pytest.mark.parametrize("target", ["gfx942", "gfx950"])
def test_split_barrier(target: str) -> None:
    """The signal waits for the copies of its wave; the read is of what the other wave copied."""
    m, row = tkl.sym.M, tkw.IndexMapping.iterator(0)
    other = tkw.IndexMapping(1, inputs={m: (row + 64) % 128}, outputs={m: row})

    @tkw.wave([tkw.WorkgroupConstraint(m, 128, 0), tkw.WaveConstraint(m, 64), tkw.HardwareConstraint(64)])
    def exchange(a: tkl.Memory[m, GLOBAL, tkl.f32], c: tkl.Memory[m, GLOBAL, tkl.f32]):
        buffer = tkw.allocate((m,), (m,), tkl.f32)
        tkw.gather_to_shared(a, buffer)
        tkw.shared_memory_barrier_signal()
        tkw.shared_memory_barrier_wait()
        tkw.write(tkw.read(buffer, mapping=other), c)

    a = np.arange(128, dtype=np.float32)
    compiled = wave_compile(WaveCompileOptions(subs={m: 128}, target=target), exchange)
    for run in (compiled, compiled.run_isa):
        c = np.zeros_like(a)
        run(a, c)
        np.testing.assert_array_equal(c, np.roll(a, 64))
