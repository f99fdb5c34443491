"""Scalars, conditions and loops whose course depends on data.

python examples/control_flow.py
"""

from __future__ import annotations

import numpy as np
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.lang.global_symbols import WORKGROUP_0
from wave_mlir.wave.compile import WaveCompileOptions, wave_compile

M, N, K = tkl.sym.M, tkl.sym.N, tkl.sym.K
LIMIT, LINK = tkl.sym.LIMIT, tkl.sym.LINK
ROW = tkw.IndexMapping.iterator(0)


def rows(*more: object) -> list:
    """Two rows a workgroup, 64 columns a wave."""
    return [
        tkw.WorkgroupConstraint(M, 2, 0),
        tkw.WorkgroupConstraint(N, 64, 1),
        tkw.HardwareConstraint(threads_per_wave=64, vector_shapes={M: 1, N: 64}),
        *more,
    ]


@tkw.wave(rows())
def clamp(
    a: tkl.Memory[M, N, GLOBAL, tkl.f32],
    out: tkl.Memory[M, N, GLOBAL, tkl.f32],
    factor: tkl.f32,
    LIMIT: tkl.SymbolBind[tkl.i32],
):
    """A scalar argument is a value; one of type SymbolBind is a symbol too, for indices and conditions."""
    scaled = tkw.read(a) * factor
    inside = tkw.self_index(N, tkl.i32) < tkw.scalar(LIMIT, tkl.i32)
    tkw.write(tkw.select(inside, scaled, scaled * 0.0), out)


@tkw.wave(rows())
def halves(a: tkl.Memory[M, N, GLOBAL, tkl.f32], out: tkl.Memory[M, N, GLOBAL, tkl.f32]):
    """A condition that all lanes share is a branch: workgroups with an odd number negate."""
    value = tkw.read(a)

    @tkw.conditional(WORKGROUP_0 % 2 > 0)
    def odd():
        tkw.write(-value, out)

    @tkw.conditional(WORKGROUP_0 % 2 < 1)
    def even():
        tkw.write(value, out)


@tkw.wave(
    [tkw.WorkgroupConstraint(M, 1, 0), tkw.HardwareConstraint(64, vector_shapes={M: 1}), tkw.TilingConstraint(LINK)]
)
def last_of_chain(
    first: tkl.Memory[M, GLOBAL, tkl.i32],
    following: tkl.Memory[K, GLOBAL, tkl.i32],
    out: tkl.Memory[M, GLOBAL, tkl.i32],
):
    """Follows links until one is not greater than 0: `set_symbol` says where the mapping of the next trip looks."""
    at_link = tkw.IndexMapping(1, inputs={K: LINK}, outputs={M: ROW})

    @tkw.iterate(LINK, start=tkw.read(first), condition=LINK > 0, init_args=[])
    def walk():
        link = tkw.read(following, mapping=at_link)
        tkw.write(link, out)
        tkw.set_symbol(LINK, link)


def compiled(kernel: tkw.WaveKernel, **sizes: int) -> object:
    """The kernel for sizes by name."""
    subs = {getattr(tkl.sym, name): size for name, size in sizes.items()}
    return wave_compile(WaveCompileOptions(subs=subs, target="gfx942"), kernel)


def main() -> None:
    a = np.random.default_rng(0).integers(-9, 9, (7, 100)).astype(np.float32)

    out = np.full_like(a, np.nan)
    compiled(clamp, M=7, N=100)(a, out, 2.5, 30)
    print("clamp:         greatest error", np.abs(out - np.where(np.arange(100) < 30, a * 2.5, 0)).max())

    out = np.full_like(a, np.nan)
    compiled(halves, M=7, N=100)(a, out)
    print("halves:        greatest error", np.abs(out - a * np.where(np.arange(7) // 2 % 2, -1, 1)[:, None]).max())

    following = np.array([0, 3, 5, 4, 0, -7, 2, 1, -1, 6], np.int32)  # 3 → 4 → 0; 2 → 5 → -7; 9 → 6 → 2 → …
    first, ends = np.array([1, 3, 2, 9, 8], np.int32), np.zeros(5, np.int32)
    compiled(last_of_chain, M=5, K=10)(first, following, ends)
    print("last_of_chain: greatest error", np.abs(ends - [0, 0, -7, -7, -1]).max())


if __name__ == "__main__":
    main()
