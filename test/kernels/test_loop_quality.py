"""Quality of scheduled GEMM loops by our own report: instructions, flight of loads, waits, barriers, registers.

The figures are of one K step. `flight` is the least time in clocks that a global load of the loop is under way before
the first wait that covers it, counted in series (docs/report.md); `floor` the instructions that no order can do
without: MMAs, LDS accesses, loads and one barrier a step, or two where LDS has room for one copy of the tile only.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import pytest
from wave_mlir import report
from wave_mlir.compiler import driver
from wave_mlir.passes.pipelines import PipelineOptions
from wave_mlir.report import KernelReport

SIZE = 4096


@dataclass(frozen=True)
class Loop:
    """A GEMM of 4096 (or the next multiple of the tile), and what its loop has to reach.

    most: instructions per MFMA; None: within a tenth of the floor. flight: part of the MFMA clocks of a step. drains:
    waits for vmcnt(0) a step.
    """

    kind: str
    tile: tuple[int, int, int]
    waves: tuple[int, int]
    most: float | None = None
    flight: float = 0.0
    barriers: int = 1
    target: str = "gfx942"
    direct: bool = False
    straight: bool = False  # rhs from memory to registers, not by way of LDS

    def __str__(self) -> str:
        return f"{self.target}-{self.kind}-{'x'.join(map(str, self.tile))}{'-straight' * self.straight}"

    @property
    def text(self) -> str:
        operand = self.kind.split("_", 2)[2]
        acc = self.kind.split("_")[0]
        m, n, k = (-(-SIZE // size) * size for size in self.tile)
        bm, bn, bk = self.tile
        zero = "0" if acc == "i32" else "0.0"
        ins = f"!wave.tile<[M, K], {operand}>", f"!wave.tile<[N, K], {operand}>"
        out = f"!wave.tile<[M, N], {acc}>"
        spaces = "shared", "global" if self.straight else "shared"
        memories = [f"!wave.memory<[{d}, K], {operand}, {s}>" for d, s in zip("MN", spaces, strict=True)]
        return f"""
module attributes {{wave.form = "tile", wave.target = "{self.target}"}} {{
  wave.kernel @gemm(%a: {memories[0]}, %b: {memories[1]}, %c: !wave.memory<[M, N], {acc}, global>)
      symbols {{M = {m}, N = {n}, K = {k}, BM = {bm}, BN = {bn}, BK = {bk}}} dynamic []
      constraints [#wave.workgroup<M, BM, x>, #wave.workgroup<N, BN, y>, #wave.tiling<K, BK>,
                   #wave.wave<M, BM floordiv {self.waves[0]}>, #wave.wave<N, BN floordiv {self.waves[1]}>,
                   #wave.hardware<threads_per_wave = 64, mma = {self.kind.lower()}>] {{
    %zero = wave.register {zero} : {out}
    %sum = wave.iterate K iter_args(%acc = %zero : {out}) {{
      %x = wave.read %a : {memories[0]} -> {ins[0]}
      %y = wave.read %b : {memories[1]} -> {ins[1]}
      %z = wave.mma %x, %y, %acc : {ins[0]}, {ins[1]}, {out}
      wave.yield %z : {out}
    }}
    wave.write %sum, %c : {out}, !wave.memory<[M, N], {acc}, global>
    wave.return
  }}
}}
"""


F16, F16_WIDE, BF16 = "f32_16x16x16_f16", "f32_32x32x8_f16", "f32_16x16x16_bf16"
F8, I8 = "f32_16x16x32_f8E4M3FNUZ", "i32_16x16x32_i8"
LOOPS = [
    Loop(F16, (128, 128, 64), (2, 2), 1.66, 1.0),
    Loop(F16, (256, 256, 64), (2, 4), 1.48, 1.0, barriers=2),
    Loop("f32_16x16x32_f16", (256, 256, 64), (2, 4), 1.75, 0.9, target="gfx950", direct=True),
    Loop(F16, (64, 64, 32), (2, 2), 2.5, 1.0),
]
MORE = [
    Loop(F8, (256, 256, 128), (2, 4), 1.45, 1.0, barriers=2),
    Loop(F16, (128, 128, 64), (2, 2), 1.60, 0.5, straight=True),
    Loop(F16, (96, 96, 64), (2, 2), flight=0.9),
    Loop(F16_WIDE, (128, 128, 64), (2, 2), flight=0.9),
    Loop(F16, (128, 256, 32), (2, 2), flight=0.9),
    Loop(F16, (192, 128, 64), (2, 2), flight=0.9, barriers=2),
    Loop(F16, (64, 256, 64), (2, 2), flight=0.9, barriers=2),
    Loop(BF16, (128, 128, 64), (2, 2), flight=0.9),
    Loop(I8, (128, 128, 128), (2, 2), flight=0.9),
]
"""As good, by the same rules: too long for every run."""


@functools.cache
def _report(loop: Loop) -> KernelReport:
    options = PipelineOptions(target=loop.target, schedule="prefetch", global_to_shared=loop.direct)
    return report.analyze(driver.compile_module(loop.text, options=options).isa).kernels[0]


def _check(loop: Loop) -> None:
    found = _report(loop)
    hot, model = found.hot_loop, found.model
    assert hot is not None and model is not None and model.global_flight is not None
    counts, mfma = hot.counts, sum(hot.counts.mfma.values())
    steps = sum(counts[k] for k in ("load", "direct_to_lds")) * 1024 // _loaded(loop)
    assert (found.vgpr_spills, found.scratch_bytes, counts["accvgpr_move"], counts["valu"]) == (0, 0, 0, 0)
    assert counts["barrier"] == loop.barriers * steps
    memory = sum(counts[k] for k in ("lds_read", "lds_write", "load", "direct_to_lds"))
    floor = (mfma + memory + counts["barrier"]) / mfma
    assert counts.instructions / mfma <= (1.1 * floor if loop.most is None else loop.most)
    clocks = model.bounds["MFMA"] / model.waves / steps
    assert model.global_flight.least_in_series >= loop.flight * clocks
    drained = [i for i, wait in enumerate(counts.waits) if "vmcnt(0)" in wait]
    assert len(drained) == (steps if loop.direct else 0)  # two copies and no registers: what flies is the next tile


def _loaded(loop: Loop) -> int:
    """Bytes of global memory that a wave loads in a step, 16 a lane at a time."""
    m, n, k = loop.tile
    size = 1 if "8" in loop.kind.split("_", 2)[2] else 2
    waves = loop.waves[0] * loop.waves[1]
    return (m // waves + n // (loop.waves[1] if loop.straight else waves)) * k * size


@pytest.mark.parametrize("loop", LOOPS, ids=str)
def test_loop(loop: Loop) -> None:
    _check(loop)


@pytest.mark.slow
@pytest.mark.parametrize("loop", MORE, ids=str)
def test_more_loops(loop: Loop) -> None:
    _check(loop)
