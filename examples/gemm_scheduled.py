"""One GEMM, its loop scheduled in several ways: by a strategy of the compiler, and by hand.

The kernel does not change. A strategy is an option; a schedule by hand is a function that names the kernel's ops by
their tags and says which run together. The compiler verifies either: a broken dependence is an error that names it.

python examples/gemm_scheduled.py
"""

from __future__ import annotations

import numpy as np
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.lang.global_symbols import SHARED_ADDRESS_SPACE as SHARED
from wave_mlir.wave.compile import CompiledKernel, WaveCompileOptions, wave_compile
from wave_mlir.wave.scheduling import SchedulingType

M, N, K = tkl.sym.M, tkl.sym.N, tkl.sym.K
SIZES = {M: 256, N: 128, K: 512}


@tkw.wave(
    [
        tkw.WorkgroupConstraint(M, 128, 0),
        tkw.WorkgroupConstraint(N, 128, 1),
        tkw.TilingConstraint(K, 64),
        tkw.WaveConstraint(M, 64),
        tkw.WaveConstraint(N, 64),
        tkw.HardwareConstraint(threads_per_wave=64, mma_type=tkw.MMAType.F32_16x16x16_F16),
    ]
)
def gemm(
    a: tkl.Memory[M, K, SHARED, tkl.f16],
    b: tkl.Memory[N, K, SHARED, tkl.f16],
    c: tkl.Memory[M, N, GLOBAL, tkl.f32],
):
    @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)], tag="loop")
    def loop(acc: tkl.Register[M, N, tkl.f32]) -> tkl.Register[M, N, tkl.f32]:
        return tkw.mma(tkw.read(a, tag="a"), tkw.read(b, tag="b"), acc, tag="mma")

    tkw.write(loop, c)


@tkw.wave_schedule()
def by_hand() -> None:
    """Two stages: a step's tiles are loaded and stored to LDS while the MMAs work on those of the step before.

    A read of a matrix in LDS is three ops by the time that schedules are made: a load from global memory, a write to
    LDS and a read of it. All have the tag of the read; the address space and the type tell them apart.
    """
    loads, writes, reads = [], [], []
    for tag in ("a", "b"):
        from_global, from_lds = tkw.partition_by_address_space(tkw.get_node_by_tag_and_type(tag, tkw.Read), GLOBAL)
        loads.append(from_global)
        reads.append(from_lds)
        writes.append(tkw.get_node_by_tag_and_type(tag, tkw.Write))
    mma = tkw.get_node_by_tag("mma")
    pipelined = tkw.pipeline(tkw.get_node_by_tag("loop"))
    with pipelined as stages:
        stages.set_stage([loads, writes])
        stages.set_stage([reads, (mma,)])
    # The steady loop: loads first, MMAs while they are under way, what they bring to LDS last. The first half of K can
    # start when its operands are there.
    steady = tkw.filter_nodes(mma, subgraph=pipelined.KERNEL, node_type=tkw.MMA)
    first, second = tkw.partition_by_dim(steady, dim=K, num_partitions=2)
    halves = [tkw.partition_by_dim(r, dim=K, num_partitions=2) for r in reads]
    tkw.reorder_graph(
        pipelined.KERNEL,
        [
            tkw.cluster([loads, [half[0] for half in halves], [half[1] for half in halves]]),
            tkw.cluster([tkw.SetWavePrio(1), first, second, tkw.SetWavePrio(0)]),
            tkw.cluster([writes]),
        ],
    )


def compiled(schedule: SchedulingType = SchedulingType.NONE, manual: tkw.WaveSchedule | None = None) -> CompiledKernel:
    """The kernel for SIZES under a strategy, or under a schedule by hand."""
    return wave_compile(WaveCompileOptions(subs=SIZES, target="gfx942", schedule=schedule), gemm, manual)


def main() -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-4, 5, (SIZES[d], SIZES[K])).astype(np.float16) for d in (M, N))
    want = a.astype(np.float32) @ b.astype(np.float32).T
    ways = {
        "none": compiled(),
        "prefetch": compiled(SchedulingType.PREFETCH),
        "modulo": compiled(SchedulingType.MODULO),
    }
    ways["by hand"] = compiled(SchedulingType.MANUAL, by_hand)
    for name, kernel in ways.items():
        c = np.full(want.shape, np.nan, np.float32)
        kernel(a, b, c)
        hot = kernel.report.kernels[0].hot_loop
        assert hot is not None
        counts = hot.counts.by_class
        print(
            f"{name:9} greatest error {np.abs(c - want).max():.0f}; in the loop {hot.counts.instructions} "
            f"instructions, {counts['mfma']} of them MFMA, {counts['barrier']} barriers"
        )


if __name__ == "__main__":
    main()
