"""The innermost loops of the kernel library (examples/ and GEMMs of many tiles) as scheduling problems."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from mlir import ir
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.loop_problem import CannotSchedule, LoopProblem
from wave_mlir.compiler.loop_schedule import copies_for, loops, spare_lds
from wave_mlir.compiler.pass_registry import run_passes
from wave_mlir.passes import pipelines
from wave_mlir.scheduling import Problem
from wave_mlir.wave.kernel import WaveKernel

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))

GEMM = """
module attributes {{wave.form = "tile", wave.target = "{target}"}} {{
  wave.kernel @gemm(%a: !wave.memory<[M, K], {dtype}, shared>, %b: !wave.memory<[N, K], {dtype}, shared>,
                    %c: !wave.memory<[M, N], {acc}, global>)
      symbols {{M = 4032, N = 4032, K = 4096, BM = {m}, BN = {n}, BK = {k}}} dynamic []
      constraints [#wave.workgroup<M, BM, x>, #wave.workgroup<N, BN, y>, #wave.tiling<K, BK>,
                   #wave.wave<M, BM floordiv {rows}>, #wave.wave<N, BN floordiv {columns}>,
                   #wave.hardware<threads_per_wave = 64, mma = {mma}>] {{
    %zero = wave.register 0{point} : !wave.tile<[M, N], {acc}>
    %sum = wave.iterate K iter_args(%acc = %zero : !wave.tile<[M, N], {acc}>) {{
      %x = wave.read %a : !wave.memory<[M, K], {dtype}, shared> -> !wave.tile<[M, K], {dtype}>
      %y = wave.read %b : !wave.memory<[N, K], {dtype}, shared> -> !wave.tile<[N, K], {dtype}>
      %z = wave.mma %x, %y, %acc : !wave.tile<[M, K], {dtype}>, !wave.tile<[N, K], {dtype}>, !wave.tile<[M, N], {acc}>
      wave.yield %z : !wave.tile<[M, N], {acc}>
    }}
    wave.write %sum, %c : !wave.tile<[M, N], {acc}>, !wave.memory<[M, N], {acc}, global>
    wave.return
  }}
}}
"""


@dataclass(frozen=True)
class Gemm:
    """A GEMM of the library: target, workgroup tile, waves, MMA kind, dtype."""

    target: str
    tile: tuple[int, int, int]
    waves: tuple[int, int]
    mma: str
    dtype: str = "f16"

    @property
    def name(self) -> str:
        """Short, for tables."""
        return f"{self.target} {'x'.join(map(str, self.tile))} {self.dtype} {self.mma.split('_', 1)[1]}"

    def text(self) -> str:
        """The kernel in tile form."""
        (m, n, k), (rows, columns) = self.tile, self.waves
        acc, point = ("i32", "") if self.dtype == "i8" else ("f32", ".0")
        return GEMM.format(
            target=self.target, dtype=self.dtype, acc=acc, point=point, m=m, n=n, k=k, rows=rows, columns=columns,
            mma=self.mma,
        )  # fmt: skip


GEMMS = (
    Gemm("gfx942", (64, 64, 32), (2, 2), "f32_16x16x16_f16"),
    Gemm("gfx942", (128, 128, 64), (2, 2), "f32_16x16x32_k8_f16"),
    Gemm("gfx942", (128, 128, 32), (2, 2), "f32_16x16x16_f16"),
    Gemm("gfx942", (256, 256, 64), (2, 4), "f32_16x16x32_k8_f16"),
    Gemm("gfx942", (128, 256, 32), (2, 2), "f32_16x16x32_k8_f16"),
    Gemm("gfx942", (192, 128, 64), (2, 2), "f32_16x16x32_k8_f16"),
    Gemm("gfx942", (64, 256, 64), (1, 4), "f32_16x16x32_k8_f16"),
    Gemm("gfx942", (96, 96, 64), (2, 2), "f32_16x16x32_k8_f16"),
    Gemm("gfx942", (128, 128, 64), (2, 2), "f32_32x32x16_k8_f16"),
    Gemm("gfx942", (128, 128, 64), (2, 2), "f32_16x16x32_k8_bf16", "bf16"),
    Gemm("gfx942", (128, 128, 128), (2, 2), "i32_16x16x64_k16_i8", "i8"),
    Gemm("gfx942", (256, 256, 128), (2, 4), "f32_16x16x64_k16_f8e4m3fnuz", "f8E4M3FNUZ"),
    Gemm("gfx950", (128, 128, 64), (2, 2), "f32_16x16x32_f16"),
    Gemm("gfx950", (256, 256, 64), (2, 4), "f32_16x16x32_f16"),
    Gemm("gfx90a", (128, 128, 32), (2, 2), "f32_16x16x32_k8_f16"),
)


def _traced() -> Iterator[tuple[str, WaveKernel, Mapping, str]]:
    """(name, kernel, substitutions, target) of the examples whose kernels have loops."""
    import attention_backward as backward
    import attention_decode as decode
    import attention_forward as forward
    import attention_fp8 as fp8
    import attention_ragged as ragged
    import convolution
    import gemm_batched
    import gemm_fp8
    import moe

    def attention(name: str, made: tuple[WaveKernel, dict], target: str = "gfx942"):
        return name, made[0], made[1], target

    shape = forward.Shape(heads=4, queries=256, keys=256, qk_size=64, v_size=64)
    for causal in (False, True):
        variant = forward.Variant(causal=causal)
        yield attention(f"attention causal={causal}", forward.attention_kernel(shape, variant))
    wide = forward.Shape(heads=4, queries=256, keys=256, qk_size=128, v_size=128)
    yield attention("attention 128", forward.attention_kernel(wide, block_m=128, block_k2=64))
    for target in fp8.F8:
        made = fp8.fp8_kernel(fp8.Shape(2, 64, 64, 64, 64), target)
        yield attention(f"attention fp8 {target}", made, target)
    back = backward.Shape(heads=2, queries=64, keys=64, qk_size=32, v_size=64)
    yield attention("attention dK dV", backward.keys_kernel(back))
    yield attention("attention dQ", backward.queries_kernel(back))
    paged = decode.Shape(heads=8, kv_heads=2, qk_size=64, v_size=64, rows=128, page=4)
    yield attention("decode 0", decode.phase_0_kernel(paged, 4, 64))
    yield attention("decode 1", decode.phase_1_kernel(paged, 4))
    yield attention("prefill", ragged.prefill_kernel(ragged.Shape((1, 37, 64, 9), 4, 2, 32, 64)))
    extend = ragged.Shape((1, 37, 64, 9), 4, 2, 32, 64, (7, 0, 64, 33), cache=128)
    yield attention("extend", ragged.extend_kernel(extend))
    c = convolution
    conv = {
        c.N: 8,
        c.H: 64,
        c.W: 64,
        c.C: 64,
        c.F: 64,
        c.HF: 3,
        c.WF: 3,
        c.HO: 64,
        c.WO: 64,
        c.M: 8 * 64 * 64,
        c.K: 576,
    }
    yield attention("convolution", (c.kernel(1, 1), {**conv, c.BM: 64, c.BN: 64, c.BK: 32}))
    b = gemm_batched
    sizes = {b.BM: 64, b.BN: 64, b.BK: 32, b.B: 3, b.M: 256, b.N: 256, b.K: 256}
    yield attention("batched GEMM", (b.gemm, sizes))
    f = gemm_fp8
    yield attention("fp8 layer", (f.layer, {f.BM: 32, f.BN: 64, f.BK: 64, f.M: 256, f.N: 256, f.K: 256}))
    experts = moe.Shape(tokens=64, experts=8, top=2, size=64, width=64)
    yield attention("experts", (moe.experts_kernel(), experts.subs))


def modules() -> Iterator[tuple[str, ir.Module]]:
    """Each kernel of the library in lane form, as wave-schedule gets it; its context is the current one meanwhile."""
    passes = (*pipelines.between("tile", "lane"), "wave-split-mma")
    makers: list[tuple[str, Callable[[], ir.Module]]] = [
        (gemm.name, lambda g=gemm: ir.Module.parse(g.text(), ir.Context())) for gemm in GEMMS
    ]
    makers += [(n, lambda k=k, s=s, t=t: k.trace(s, (), t)) for n, k, s, t in _traced()]
    for name, make in makers:
        module = make()
        with module.context, ir.Location.unknown():
            run_passes(module, ",".join(passes))
            yield name, module


def problems(strategy: str = "modulo") -> Iterator[tuple[str, Problem | str, Mapping[str, int]]]:
    """(name, problem, copies of LDS buffers) of each loop; instead of the problem the reason why there is none."""
    for name, module in modules():
        for view in module.body.operations:
            info = KernelInfo.of(view)
            for number, op in enumerate(loops(view.operation.regions[0].blocks[0])):
                title = f"{name} #{number}" if number else name
                try:
                    loop = LoopProblem(info, op, spare_lds(info))
                except CannotSchedule as error:
                    yield title, str(error), {}
                    continue
                copies = copies_for(loop, strategy, 0)
                yield title, loop.problem(copies), copies
