"""LDS that the kernel places itself: `allocate`, and barriers where the author wants them.

An argument in shared memory (`gemm_any_size.py`) is the usual way: the compiler makes the buffer, the copy and the
barriers. By hand, tiles can be put there that come from a computation, and be read in another layout or order. Barriers
that the author leaves out are added; a race stays an error in the simulator whoever placed them.

python examples/lds_by_hand.py
"""

from __future__ import annotations

import numpy as np
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.wave.compile import WaveCompileOptions, wave_compile

M, R = tkl.sym.M, tkl.sym.R
HERE = tkw.IndexMapping.iterator(0)


@tkw.wave(
    [
        tkw.WorkgroupConstraint(M, 256, 0),
        tkw.WaveConstraint(M, 64),
        tkw.HardwareConstraint(threads_per_wave=64, vector_shapes={M: 64}),
    ]
)
def reverse(a: tkl.Memory[M, GLOBAL, tkl.f32], out: tkl.Memory[M, GLOBAL, tkl.f32]):
    """out[256 * w + i] = a[256 * w + 255 - i]: what a lane reads was written by another wave."""
    buffer = tkw.allocate((M,), (256,), tkl.f32)
    tkw.write(tkw.read(a), buffer)
    tkw.shared_memory_barrier()
    backwards = tkw.IndexMapping(1, inputs={M: 255 - HERE % 256}, outputs={M: HERE})
    tkw.write(tkw.read(buffer, mapping=backwards), out)


@tkw.wave([tkw.WorkgroupConstraint(M, 512, 0), tkw.WaveConstraint(M, 128), tkw.HardwareConstraint(threads_per_wave=64)])
def histogram(bins: tkl.Memory[M, GLOBAL, tkl.i32], counts: tkl.Memory[R, GLOBAL, tkl.i32]):
    """How often each number is there. The counters are in LDS, where atomics are cheap; one workgroup counts all."""
    counters = tkw.allocate((R,), (R,), tkl.i32)
    tkw.write(tkl.Register[R, tkl.i32](0), counters)
    tkw.scatter_add(tkl.Register[M, tkl.i32](1), tkw.read(bins), M, counters)
    tkw.write(tkw.read(counters), counts)


def main() -> None:
    a, out = np.arange(1024, dtype=np.float32), np.zeros(1024, np.float32)
    kernel = wave_compile(WaveCompileOptions(subs={M: 1024}, target="gfx942"), reverse)
    kernel(a, out)
    print("reverse:   greatest error", np.abs(out - a.reshape(4, 256)[:, ::-1].reshape(-1)).max())

    bins, counts = np.random.default_rng(0).integers(0, 32, 512).astype(np.int32), np.zeros(32, np.int32)
    kernel = wave_compile(WaveCompileOptions(subs={M: 512, R: 32}, target="gfx942"), histogram)
    kernel(bins, counts)
    print("histogram: greatest error", np.abs(counts - np.bincount(bins, minlength=32)).max())


if __name__ == "__main__":
    main()
