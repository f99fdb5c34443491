"""Schedules by hand of kernels for the existing package: what cannot be followed is left to the compiler, and said."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import wave_mlir.compat  # noqa: F401
import wave_mlir.lang as tkl
from wave_lang.kernel import wave as tkw  # type: ignore[import-not-found]
from wave_lang.kernel.wave.wave_schedule import wave_schedule  # type: ignore[import-not-found]
from wave_mlir.compiler.diagnostics import CompileError
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE, SHARED_ADDRESS_SPACE
from wave_mlir.wave import wave as own_wave
from wave_mlir.wave.compile import CompiledKernel, WaveCompileOptions, wave_compile
from wave_mlir.wave.scheduling import SchedulingType

M, N, K = tkl.sym.M, tkl.sym.N, tkl.sym.K
CONSTRAINTS = [
    tkw.WorkgroupConstraint(M, 32, 0),
    tkw.WorkgroupConstraint(N, 32, 1),
    tkw.TilingConstraint(K, 32),
    tkw.WaveConstraint(M, 16),
    tkw.WaveConstraint(N, 16),
    tkw.HardwareConstraint(threads_per_wave=64, mma_type=tkw.MMAType.F32_16x16x16_F16),
]


def product(
    a: tkl.Memory[M, K, SHARED_ADDRESS_SPACE, tkl.f16],
    b: tkl.Memory[N, K, SHARED_ADDRESS_SPACE, tkl.f16],
    c: tkl.Memory[M, N, GLOBAL_ADDRESS_SPACE, tkl.f32],
):
    zero = tkl.Register[M, N, tkl.f32](0.0)

    @tkw.iterate(K, init_args=[zero], tag="k_loop")
    def total(acc: tkl.Register[M, N, tkl.f32]) -> tkl.Register[M, N, tkl.f32]:
        return tkw.mma(tkw.read(a, tag="read"), tkw.read(b, tag="read"), acc, tag="mma")

    tkw.write(total, c)


def compiled(body: Callable[[], object], wave: Callable = tkw.wave) -> CompiledKernel:
    options = WaveCompileOptions(
        subs={M: 32, N: 64, K: 160}, target="gfx942", schedule=SchedulingType.MANUAL, cache=False
    )
    return wave_compile(options, wave(CONSTRAINTS)(product), wave_schedule()(body))


def exact(kernel: CompiledKernel) -> None:
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-4, 5, (n, 160)).astype(np.float16) for n in (32, 64))
    c = np.zeros((32, 64), np.float32)
    kernel(a, b, c)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.T.astype(np.float32))


def body_of(kernel: CompiledKernel) -> str:
    """The steady loop."""
    return kernel.ir("scheduled").split("wave.steady", 1)[1].split("wave.yield", 1)[0]


def counted() -> None:
    loads = tkw.get_node_by_tag_and_type("read", tkw.Read)
    tkw.reorder_graph(tkw.get_node_by_tag("k_loop"), [tkw.cluster(loads[: len(loads) // 2])])


def unplaced() -> None:
    tkw.reorder_graph(tkw.get_node_by_tag("k_loop"), [tkw.cluster([tkw.get_node_by_tag("mma")])])


def unknown() -> None:
    tkw.no_such_name(tkw.get_node_by_tag("k_loop"))


REASONS = [
    (counted, "TypeError: object of type 'Nodes' has no len()"),
    (unplaced, "this op has no place in the schedule"),
    (unknown, "wave_mlir has no counterpart of no_such_name"),
]


@pytest.mark.parametrize("body, reason", REASONS)
def test_left_to_the_compiler(body: Callable[[], None], reason: str) -> None:
    with pytest.warns(UserWarning) as found:
        exact(compiled(body))
    (text,) = [str(w.message) for w in found if "cannot be followed" in str(w.message)]
    assert reason in text and f"schedule '{body.__name__}'" in text


def test_of_other_kernels_an_error() -> None:
    with pytest.raises(CompileError, match="has no place in the schedule"):
        _ = compiled(unplaced, own_wave).abi


@pytest.mark.filterwarnings("error")
def test_unrolled_only() -> None:
    """Nothing is said of the order, so it is that of the program."""
    kernel = compiled(lambda: tkw.unroll(tkw.get_node_by_tag("k_loop"), 2), own_wave)
    exact(kernel)
    loop = body_of(kernel)
    assert loop.count("wave.mma") == 4  # two of 16x16x16 for each of two trips


@pytest.mark.filterwarnings("error")
def test_waits_with_a_barrier_added() -> None:
    def body() -> None:
        loop, mma = tkw.get_node_by_tag("k_loop"), tkw.get_node_by_tag("mma")
        tkw.unroll(loop, 1)
        tkw.insert_after(mma, tkw.MemoryCounterWaitBarrier(load=0))

    kernel = compiled(body, own_wave)
    exact(kernel)
    text = body_of(kernel)
    wait = text.index("wave.memory_counter_wait")
    assert text.rindex("wave.mma") < wait < text.index("wave.workgroup_barrier", wait)
