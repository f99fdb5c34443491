"""Places that come from memory or from another order of dims: gathers, scatters, transposes, histograms.

A *mapping* says where an access goes: for each dim of the memory (`inputs` of a read, `outputs` of a write) an
expression of the iterators, which count the dims of the tile, and of dynamic values, which another read brought.

python examples/tables.py
"""

from __future__ import annotations

import numpy as np
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.wave.compile import WaveCompileOptions, wave_compile

M, N, R, BLOCK_M, BLOCK_N = tkl.sym.M, tkl.sym.N, tkl.sym.R, tkl.sym.BLOCK_M, tkl.sym.BLOCK_N
ROW, COLUMN = tkw.IndexMapping.iterator(0), tkw.IndexMapping.iterator(1)
CHOSEN = tkw.IndexMapping.dynamic_val(0)
CONSTRAINTS = [
    tkw.WorkgroupConstraint(M, BLOCK_M, 0),
    tkw.WorkgroupConstraint(N, BLOCK_N, 1),
    tkw.HardwareConstraint(threads_per_wave=64, vector_shapes={M: 4, N: 64}),
]


@tkw.wave(CONSTRAINTS)
def gather(
    rows: tkl.Memory[M, GLOBAL, tkl.i32],
    table: tkl.Memory[R, N, GLOBAL, tkl.f16],
    out: tkl.Memory[M, N, GLOBAL, tkl.f16],
):
    """out[m, n] = table[rows[m], n]: rows are read in wide loads, as N is contiguous in both."""
    mapping = tkw.IndexMapping(
        2, inputs={R: CHOSEN, N: COLUMN}, outputs={M: ROW, N: COLUMN}, dynamic_val_mappings={M: ROW}
    )
    tkw.write(tkw.read(table, mapping=mapping, mapping_dynamic_vals=(tkw.read(rows),)), out)


@tkw.wave(CONSTRAINTS)
def scatter(
    rows: tkl.Memory[M, GLOBAL, tkl.i32],
    values: tkl.Memory[M, N, GLOBAL, tkl.f16],
    out: tkl.Memory[R, N, GLOBAL, tkl.f16],
):
    """out[rows[m], n] = values[m, n]. Rows must differ: two stores to one place are a race."""
    mapping = tkw.IndexMapping(
        2, inputs={M: ROW, N: COLUMN}, outputs={R: CHOSEN, N: COLUMN}, dynamic_val_mappings={M: ROW}
    )
    tkw.write(tkw.read(values), out, mapping=mapping, mapping_dynamic_vals=(tkw.read(rows),))


@tkw.wave(CONSTRAINTS)
def add_rows(
    rows: tkl.Memory[M, GLOBAL, tkl.i32],
    values: tkl.Memory[M, N, GLOBAL, tkl.f32],
    out: tkl.Memory[R, N, GLOBAL, tkl.f32],
):
    """out[rows[m], n] += values[m, n], atomically: rows may be the same."""
    tkw.scatter_add(tkw.read(values), tkw.read(rows), M, out)


@tkw.wave(CONSTRAINTS)
def transpose(a: tkl.Memory[M, N, GLOBAL, tkl.f16], out: tkl.Memory[N, M, GLOBAL, tkl.f16]):
    """out[n, m] = a[m, n]: loads and stores are wide on both sides, the tile is turned in between."""
    tkw.write(tkw.permute(tkw.read(a), target_shape=[N, M]), out)


def compiled(kernel: tkw.WaveKernel, m: int, n: int, r: int = 0) -> object:
    """The kernel for sizes M, N and R."""
    subs = {M: m, N: n, BLOCK_M: 16, BLOCK_N: 64, **({R: r} if r else {})}
    return wave_compile(WaveCompileOptions(subs=subs, target="gfx942"), kernel)


def main() -> None:
    rng = np.random.default_rng(0)
    m, n, r = 50, 100, 70
    table = rng.integers(-99, 99, (r, n)).astype(np.float16)
    values = rng.integers(-99, 99, (m, n)).astype(np.float16)
    rows, distinct = rng.integers(0, r, m).astype(np.int32), rng.permutation(r)[:m].astype(np.int32)

    out = np.zeros_like(values)
    compiled(gather, m, n, r)(rows, table, out)
    print("gather:    greatest error", np.abs(out - table[rows]).max())

    out, want = table.copy(), table.copy()
    want[distinct] = values
    compiled(scatter, m, n, r)(distinct, values, out)
    print("scatter:   greatest error", np.abs(out - want).max())

    sums, want = np.zeros((r, n), np.float32), np.zeros((r, n), np.float32)
    np.add.at(want, rows, values)
    compiled(add_rows, m, n, r)(rows, values.astype(np.float32), sums)
    print("add_rows:  greatest error", np.abs(sums - want).max())

    out = np.zeros((n, m), np.float16)
    compiled(transpose, m, n)(values, out)
    print("transpose: greatest error", np.abs(out - values.T).max())


if __name__ == "__main__":
    main()
