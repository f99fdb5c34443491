"""Kernels for wave-python.test."""

import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE, SHARED_ADDRESS_SPACE
from wave_mlir.wave.compile import WaveCompileOptions
from wave_mlir.wave.constraints import MMAType

M, N, K = tkl.sym.M, tkl.sym.N, tkl.sym.K
BLOCK, SPACE = tkl.sym.BLOCK, tkl.sym.SPACE
constraints = [
    tkw.WorkgroupConstraint(M, BLOCK, 0),
    tkw.WorkgroupConstraint(N, BLOCK, 1),
    tkw.TilingConstraint(K, 16),
    tkw.HardwareConstraint(64, mma_type=MMAType.F32_16x16x16_F16),
]
options = WaveCompileOptions(subs={BLOCK: 32, SPACE: SHARED_ADDRESS_SPACE, N: 48}, dynamic_symbols=[K], target="gfx942")


@tkw.wave(constraints)
def matmul(
    a: tkl.Memory[M, K, SPACE, tkl.f16],
    b: tkl.Memory[N, K, SPACE, tkl.f16],
    c: tkl.Memory[M, N, GLOBAL_ADDRESS_SPACE, tkl.f32],
):
    @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
    def loop(acc):
        return tkw.mma(tkw.read(a), tkw.read(b), acc)

    tkw.write(loop, c)


def get_doubled(dtype=tkl.f32):
    """A factory: kernel, substitutions, dynamic symbols."""

    @tkw.wave([tkw.WorkgroupConstraint(M, 64, 0), tkw.HardwareConstraint(64, vector_shapes={M: 64})])
    def doubled(a: tkl.Memory[M, GLOBAL_ADDRESS_SPACE, dtype], c: tkl.Memory[M, GLOBAL_ADDRESS_SPACE, dtype]):
        x = tkw.read(a)
        tkw.write(x + x, c)

    return doubled, {M: 100}, []


def broken():
    return 1 // 0


if __name__ == "__main__":
    raise SystemExit("this does not run")
