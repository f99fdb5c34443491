"""Along a dim: running sums, the k greatest with their positions, parts of what lanes hold.

python examples/scans.py
"""

from __future__ import annotations

import numpy as np
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.wave.compile import WaveCompileOptions, wave_compile

M, N, TOP = tkl.sym.M, tkl.sym.N, tkl.sym.TOP


def constraints(waves: int = 1) -> list:
    """Four rows a workgroup, of which each is held by `waves` waves."""
    return [
        tkw.WorkgroupConstraint(M, 4, 0),
        tkw.WorkgroupConstraint(N, 256, 1),
        tkw.WaveConstraint(N, 256 // waves),
        tkw.HardwareConstraint(threads_per_wave=64, vector_shapes={M: 1, N: 256 // waves}),
    ]


@tkw.wave(constraints(waves=2))
def running_sum(a: tkl.Memory[M, N, GLOBAL, tkl.f32], out: tkl.Memory[M, N, GLOBAL, tkl.f32]):
    """out[m, n] = a[m, 0] + … + a[m, n]: within a lane, then among lanes, then among the waves of a row."""
    tkw.write(tkw.cumsum(tkw.read(a), dim=N), out)


@tkw.wave([*constraints(), tkw.TilingConstraint(TOP)])
def greatest(
    a: tkl.Memory[M, N, GLOBAL, tkl.f32],
    values: tkl.Memory[M, TOP, GLOBAL, tkl.f32],
    positions: tkl.Memory[M, TOP, GLOBAL, tkl.i32],
):
    """The TOP greatest of each row, in descending order; of equal values the one of the lower position comes first."""
    found, where = tkw.topk(tkw.read(a), TOP, N)
    tkw.write(found, values)
    tkw.write(where, positions)


def compiled(kernel: tkw.WaveKernel, m: int, n: int, **more: int) -> object:
    """The kernel for sizes M and N, and TOP."""
    subs = {M: m, N: n, **{getattr(tkl.sym, name): size for name, size in more.items()}}
    return wave_compile(WaveCompileOptions(subs=subs, target="gfx942"), kernel)


def main() -> None:
    a = np.random.default_rng(0).permutation(6 * 200).reshape(6, 200).astype(np.float32)

    out = np.zeros_like(a)
    compiled(running_sum, 6, 200)(a, out)
    print("running_sum: greatest error", np.abs(out - a.cumsum(1)).max())

    values, positions = np.zeros((6, 5), np.float32), np.zeros((6, 5), np.int32)
    compiled(greatest, 6, 200, TOP=5)(a, values, positions)
    order = np.argsort(-a, axis=1, kind="stable")[:, :5]
    error = max(np.abs(values - np.take_along_axis(a, order, 1)).max(), np.abs(positions - order).max())
    print("greatest:    greatest error", error)


if __name__ == "__main__":
    main()
