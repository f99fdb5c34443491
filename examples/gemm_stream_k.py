"""A GEMM that deals out steps along K instead of tiles (Stream-K): workgroups of equal work for every shape.

All steps along K of all tiles of C are numbered, and each workgroup takes an equal run of them. Where a run ends inside
a tile, several workgroups have a part of its sum: the one that has the beginning waits for the others, by a flag for
each in memory, and adds what they wrote. All workgroups must be on the device at once, so that none waits for one that
cannot start; the flags are 0 before the launch.

python examples/gemm_stream_k.py
"""

from __future__ import annotations

import numpy as np
import sympy
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.lang.global_symbols import SHARED_ADDRESS_SPACE as SHARED
from wave_mlir.lang.global_symbols import WORKGROUP_0
from wave_mlir.wave.compile import WaveCompileOptions, wave_compile

M, N, K = tkl.sym.M, tkl.sym.N, tkl.sym.K
BLOCK_M, BLOCK_N, BLOCK_K = tkl.sym.BLOCK_M, tkl.sym.BLOCK_N, tkl.sym.BLOCK_K
GROUPS, ONE = tkl.sym.GROUPS, tkl.sym.ONE  # workgroups; the one element of a flag
STEP, END = tkl.sym.STEP, tkl.sym.END  # the step that a workgroup is at, and where its run ends
FIRST, COUNT = tkl.sym.FIRST, tkl.sym.COUNT  # of the steps of the tile at hand
ROW, COLUMN = tkl.sym.ROW, tkl.sym.COLUMN  # where that tile is
OTHER, LAST, READY = tkl.sym.OTHER, tkl.sym.LAST, tkl.sym.READY  # the workgroup waited for, behind the last, its flag


def stream_k(shape: tuple[int, int, int], block: tuple[int, int, int], groups: int):
    """The kernel and its symbols, for tiles that divide M, N and K, and at most as many workgroups as steps.

    Arguments: a[M, K] and b[N, K] of f16, parts[groups, BLOCK_M, BLOCK_N] of f32, flags[groups, 1] of i32, which are 0,
    and c[M, N] of f32.
    """
    m, n, k = shape
    rows, columns, depth = block
    per_tile, across = k // depth, n // columns
    steps = m // rows * across * per_tile

    def start(group):
        """The first step of a workgroup's run."""
        return sympy.floor(group * steps / groups)

    i, j = tkw.IndexMapping.iterator(0), tkw.IndexMapping.iterator(1)
    from_a = tkw.IndexMapping(2, {M: i + ROW, K: j}, {M: i, K: j})
    from_b = tkw.IndexMapping(2, {N: i + COLUMN, K: j}, {N: i, K: j})
    to_c = tkw.IndexMapping(2, {M: i, N: j}, {M: i + ROW, N: j + COLUMN})
    to_part = tkw.IndexMapping(2, {M: i, N: j}, {GROUPS: WORKGROUP_0, M: i, N: j})
    of_other = tkw.IndexMapping(2, {GROUPS: OTHER, M: i, N: j}, {M: i, N: j})
    to_flag = tkw.IndexMapping(1, {ONE: i}, {GROUPS: WORKGROUP_0, ONE: i})
    flag_of_other = tkw.IndexMapping(1, {GROUPS: OTHER, ONE: i}, {ONE: i})
    volatile = tkw.MemoryAccessFlags.VOLATILE
    constraints = [
        tkw.GridConstraint(GROUPS),
        tkw.WorkgroupConstraint(M, BLOCK_M, 0),
        tkw.WorkgroupConstraint(N, BLOCK_N, 1),
        tkw.TilingConstraint(K, BLOCK_K, iters=COUNT, start=FIRST * BLOCK_K),
        *(tkw.TilingConstraint(axis) for axis in (STEP, OTHER, READY)),
        tkw.WaveConstraint(M, BLOCK_M / 2),
        tkw.WaveConstraint(N, BLOCK_N / 2),
        tkw.HardwareConstraint(threads_per_wave=64, mma_type=tkw.MMAType.F32_16x16x16_F16, vector_shapes={ONE: 1}),
    ]
    tile = tkl.MemoryLayout(shape=(GROUPS, BLOCK_M, BLOCK_N))

    def add_others(sums, parts, flags):
        """The sum over all workgroups that have a part of the tile, which come one after the other."""

        @tkw.iterate(OTHER, start=tkw.scalar(WORKGROUP_0 + 1, tkl.i32), condition=OTHER < LAST, init_args=[sums])
        def total(acc):
            @tkw.iterate(READY, start=tkw.scalar(0, tkl.i32), condition=sympy.Eq(READY, 0), init_args=[])
            def wait():
                tkw.set_symbol(READY, tkw.read(flags, mapping=flag_of_other, flags=volatile))

            del wait
            more = tkw.read(parts, mapping=of_other, flags=volatile)
            tkw.set_symbol(OTHER, tkw.scalar(OTHER + 1, tkl.i32))
            return acc + more

        return total

    @tkw.wave(constraints)
    def gemm(
        a: tkl.Memory[M, K, SHARED, tkl.f16],
        b: tkl.Memory[N, K, SHARED, tkl.f16],
        parts: tkl.Memory[GROUPS, M, N, GLOBAL, tkl.f32, tile],
        flags: tkl.Memory[GROUPS, ONE, GLOBAL, tkl.i32],
        c: tkl.Memory[M, N, GLOBAL, tkl.f32],
    ):
        tkw.set_symbol(END, tkw.scalar(start(WORKGROUP_0 + 1), tkl.i32))

        @tkw.iterate(STEP, start=tkw.scalar(start(WORKGROUP_0), tkl.i32), condition=STEP < END, init_args=[])
        def run():
            number = sympy.floor(STEP / per_tile)
            tkw.set_symbol(FIRST, tkw.scalar(STEP % per_tile, tkl.i32))
            tkw.set_symbol(COUNT, tkw.scalar(sympy.Min(END - STEP, per_tile - STEP % per_tile), tkl.i32))
            tkw.set_symbol(ROW, tkw.scalar(sympy.floor(number / across) * rows, tkl.i32))
            tkw.set_symbol(COLUMN, tkw.scalar(number % across * columns, tkl.i32))

            @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
            def sums(acc):
                return tkw.mma(tkw.read(a, mapping=from_a), tkw.read(b, mapping=from_b), acc)

            @tkw.conditional(FIRST > 0)
            def hand_over():
                tkw.write(sums, parts, mapping=to_part, flags=volatile)
                tkw.workgroup_barrier()
                tkw.write(tkl.Register[ONE, tkl.i32](1), flags, mapping=to_flag, flags=volatile)

            @tkw.conditional(sympy.Eq(FIRST, 0))
            def finish():
                # the workgroup behind the last with a part of this tile: the first that starts at its end or later
                end = STEP - STEP % per_tile + per_tile
                tkw.set_symbol(LAST, tkw.scalar(sympy.ceiling(end * groups / steps), tkl.i32))
                tkw.write(add_others(sums, parts, flags), c, mapping=to_c)

            tkw.set_symbol(STEP, tkw.scalar(STEP + COUNT, tkl.i32))

    symbols = {M: m, N: n, K: k, BLOCK_M: rows, BLOCK_N: columns, BLOCK_K: depth, GROUPS: groups, ONE: 1}
    return gemm, symbols


def main() -> None:
    rng = np.random.default_rng(0)
    m, n, k = shape = 64, 32, 96
    a, b = (rng.integers(-4, 5, size).astype(np.float16) for size in ((m, k), (n, k)))
    want = a.astype(np.float32) @ b.T.astype(np.float32)
    for groups in (2, 4, 5):
        gemm, symbols = stream_k(shape, (32, 32, 32), groups)
        kernel = wave_compile(WaveCompileOptions(subs=symbols, target="gfx942"), gemm)
        parts, flags = np.zeros((groups, 32, 32), np.float32), np.zeros((groups, 1), np.int32)
        kernel(a, b, parts, flags, c := np.zeros((m, n), np.float32))
        assert (c == want).all()
        print(f"2 tiles of 3 steps by {groups} workgroups: equal to numpy's; {int(flags.sum())} handed over a part")


if __name__ == "__main__":
    main()
