"""Kernels whose workgroups wait for each other: flags and locks in memory, read in while loops."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from running import compiled
from wave_mlir import sim
from wave_mlir.isa.errors import IsaError
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.lang.global_symbols import WORKGROUP_0
from wave_mlir.wave.compile import CompiledKernel

M, N, K, G, ONE, AT, SPIN = (getattr(tkl.sym, n) for n in ("M", "N", "K", "G", "ONE", "AT", "SPIN"))
F32, I32 = tkl.f32, tkl.i32
VOLATILE = tkw.MemoryAccessFlags.VOLATILE
I, J = tkw.IndexMapping.iterator(0), tkw.IndexMapping.iterator(1)  # noqa: E741
FLAG = tkw.IndexMapping(1, {G: AT, ONE: I}, {ONE: I})
SET = tkw.IndexMapping(1, {ONE: I}, {G: WORKGROUP_0, ONE: I})
FLAGS = tkl.Memory[G, ONE, GLOBAL, I32]


def wait_for(flags, wanted: int = 1) -> None:
    """Spin until flag AT is what is wanted."""

    @tkw.iterate(SPIN, start=tkw.scalar(0, I32), condition=sympy.Eq(SPIN, 0), init_args=[])
    def spin():
        seen = tkw.read(flags, mapping=FLAG, flags=VOLATILE) == tkl.Register[ONE, I32](wanted)
        tkw.set_symbol(SPIN, tkw.select(seen, tkl.Register[ONE, I32](1), tkl.Register[ONE, I32](0)))

    del spin


def run(made: CompiledKernel, args: list, order: str = "forward", seed: int = 0) -> sim.SimResult:
    bound = made._launcher.bind(args)
    return sim.run(made._compiled.module, [*bound.memories, *bound.scalars], order=order, seed=seed)


def chain(waves: int, announces: bool = True):
    """Each workgroup adds its row to the sum of those after it, which come later in the launch."""
    rules = [tkw.WorkgroupConstraint(M, 1, 0), tkw.WorkgroupConstraint(N, N, 1), tkw.WaveConstraint(N, N / waves),
             tkw.TilingConstraint(SPIN), tkw.HardwareConstraint(64, vector_shapes={ONE: 1})]  # fmt: skip
    after = tkw.IndexMapping(2, {M: I + 1, N: J}, {M: I, N: J})

    @tkw.wave(rules)
    def sums(x: tkl.Memory[M, N, GLOBAL, F32], y: tkl.Memory[M, N, GLOBAL, F32], flags: FLAGS):
        own = tkw.read(x)

        @tkw.conditional(WORKGROUP_0 < M - 1, else_return=[own])
        def total():
            tkw.set_symbol(AT, tkw.scalar(WORKGROUP_0 + 1, I32))
            wait_for(flags)
            return own + tkw.read(y, mapping=after, flags=VOLATILE)

        tkw.write(total, y, flags=VOLATILE)
        tkw.workgroup_barrier()
        if announces:
            tkw.write(tkl.Register[ONE, I32](1), flags, mapping=SET, flags=VOLATILE)

    return sums


@pytest.mark.parametrize(("waves", "order"), [(1, "forward"), (2, "reverse"), (2, "random")])
def test_chain_of_workgroups(waves: int, order: str) -> None:
    made = compiled(chain(waves), {M: 5, N: 128, G: 5, ONE: 1})
    x = np.random.default_rng(0).integers(-9, 9, (5, 128)).astype(np.float32)
    args = [x, np.zeros_like(x), np.zeros((5, 1), np.int32)]
    run(made, args, order)
    np.testing.assert_array_equal(args[1], np.cumsum(x[::-1], 0)[::-1])


@pytest.mark.parametrize(("waves", "order"), [(1, "forward"), (2, "random"), (2, "reverse")])
def test_chain_in_machine_code(waves: int, order: str) -> None:
    made = compiled(chain(waves), {M: 5, N: 128, G: 5, ONE: 1})
    x = np.random.default_rng(0).integers(-9, 9, (5, 128)).astype(np.float32)
    args = [x, np.zeros_like(x), np.zeros((5, 1), np.int32)]
    made._compiled.run_isa(*args, order=order)
    np.testing.assert_array_equal(args[1], np.cumsum(x[::-1], 0)[::-1])


@pytest.mark.slow
def test_nobody_is_left_to_write_in_machine_code() -> None:
    made = compiled(chain(1, announces=False), {M: 3, N: 64, G: 3, ONE: 1})
    x = np.zeros((3, 64), np.float32)
    with pytest.raises(IsaError, match="workgroups run on without storing anything"):
        made._compiled.run_isa(x, x.copy(), np.zeros((3, 1), np.int32))


@pytest.mark.parametrize("count", [1, 4])
def test_nobody_is_left_to_write(count: int) -> None:
    """A flag that is never set is a fault at the line of the loop, not a run without end."""
    made = compiled(chain(1, announces=False), {M: count + 1, N: 64, G: count + 1, ONE: 1})
    x = np.zeros((count + 1, 64), np.float32)
    with pytest.raises(sim.SimError, match=r"waits for memory that nobody is left to write") as caught:
        run(made, [x, x.copy(), np.zeros((count + 1, 1), np.int32)])
    assert caught.value.kind == "deadlock" and "test_spinning.py" in caught.value.location
    assert "wave 0 of workgroup (0, 0, 0)" in caught.value.waves


def test_tickets() -> None:
    """Workgroups take turns by a counter that each waits for and then raises, the last first."""
    rules = [tkw.WorkgroupConstraint(M, 1, 0), tkw.TilingConstraint(SPIN),
             tkw.HardwareConstraint(64, vector_shapes={ONE: 1, M: 1})]  # fmt: skip

    @tkw.wave(rules)
    def turns(turn: tkl.Memory[ONE, GLOBAL, I32], list_: tkl.Memory[M, ONE, GLOBAL, I32]):
        mine = tkw.scalar(M - 1 - WORKGROUP_0, I32)

        @tkw.iterate(SPIN, start=tkw.scalar(0, I32), condition=sympy.Eq(SPIN, 0), init_args=[])
        def spin():
            seen = tkw.read(turn, flags=VOLATILE) == tkw.broadcast(mine, [ONE])
            tkw.set_symbol(SPIN, tkw.select(seen, tkl.Register[ONE, I32](1), tkl.Register[ONE, I32](0)))

        at = tkw.IndexMapping(1, {ONE: I}, {M: AT, ONE: I})
        tkw.set_symbol(AT, tkw.read(turn, flags=VOLATILE))
        tkw.write(tkw.broadcast(tkw.scalar(WORKGROUP_0, I32), [ONE]), list_, mapping=at)
        tkw.atomic_add(tkl.Register[ONE, I32](1), turn)
        del spin

    args = [np.zeros(1, np.int32), np.zeros((6, 1), np.int32)]
    run(compiled(turns, {M: 6, ONE: 1}), args)
    np.testing.assert_array_equal(args[1][:, 0], np.arange(6)[::-1])


@pytest.mark.parametrize("how", ["forward", "reverse", "machine code"])
def test_lock(how: str) -> None:
    """Each workgroup takes a ticket, waits for its turn, changes what all share, and lets the next one in."""
    rules = [tkw.WorkgroupConstraint(M, 1, 0), tkw.WorkgroupConstraint(N, N, 1), tkw.TilingConstraint(SPIN),
             tkw.HardwareConstraint(64, vector_shapes={M: 1, N: 64, ONE: 1})]  # fmt: skip
    shared, to_shared = tkw.IndexMapping(2, {G: 0, N: J}, {M: I, N: J}), tkw.IndexMapping(2, {M: I, N: J}, {G: 0, N: J})

    @tkw.wave(rules)
    def add(
        x: tkl.Memory[M, N, GLOBAL, F32], tickets: tkl.Memory[ONE, GLOBAL, I32], turn: tkl.Memory[ONE, GLOBAL, I32],
        y: tkl.Memory[G, N, GLOBAL, F32],
    ):  # fmt: skip
        mine = tkw.atomic_add(tkl.Register[ONE, I32](1), tickets)

        @tkw.iterate(SPIN, start=tkw.scalar(0, I32), condition=sympy.Eq(SPIN, 0), init_args=[])
        def spin():
            seen = tkw.read(turn, flags=VOLATILE) == mine
            tkw.set_symbol(SPIN, tkw.select(seen, tkl.Register[ONE, I32](1), tkl.Register[ONE, I32](0)))

        value = tkw.read(y, mapping=shared, flags=VOLATILE)
        tkw.write(value * 2.0 + tkw.read(x), y, mapping=to_shared, flags=VOLATILE)
        tkw.workgroup_barrier()
        tkw.atomic_add(tkl.Register[ONE, I32](1), turn)
        del spin

    made = compiled(add, {M: 4, N: 64, ONE: 1, G: 1})
    args = [np.ones((4, 64), np.float32), np.zeros(1, np.int32), np.zeros(1, np.int32), np.zeros((1, 64), np.float32)]
    if how == "machine code":
        made._compiled.run_isa(*args)
    else:
        run(made, args, how)
    np.testing.assert_array_equal(args[3], np.full((1, 64), 15, np.float32))
