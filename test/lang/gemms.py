"""GEMM kernels of the language for tests: factories, integer-valued inputs, runs in both runners."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import ml_dtypes
import numpy as np
import sympy
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from running import check
from wave_mlir.lang.dtypes import DataType
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.lang.global_symbols import SHARED_ADDRESS_SPACE as SHARED
from wave_mlir.wave.compile import CompiledKernel
from wave_mlir.wave.constraints import MMAType
from wave_mlir.wave.kernel import WaveKernel

B, M, N, K = tkl.sym.B, tkl.sym.M, tkl.sym.N, tkl.sym.K
BM, BN, BK, SPACE = tkl.sym.BLOCK_M, tkl.sym.BLOCK_N, tkl.sym.BLOCK_K, tkl.sym.ADDRESS_SPACE

NUMPY: Mapping[DataType, np.dtype] = {
    tkl.f16: np.dtype(np.float16),
    tkl.bf16: np.dtype(ml_dtypes.bfloat16),
    tkl.f32: np.dtype(np.float32),
    tkl.i8: np.dtype(np.int8),
    tkl.i32: np.dtype(np.int32),
    tkl.f8e4m3fnuz: np.dtype(ml_dtypes.float8_e4m3fnuz),
    tkl.f8e5m2fnuz: np.dtype(ml_dtypes.float8_e5m2fnuz),
    tkl.f8e4m3fn: np.dtype(ml_dtypes.float8_e4m3fn),
    tkl.f8e5m2: np.dtype(ml_dtypes.float8_e5m2),
}


def constraints(
    mma: object = MMAType.F32_16x16x16_F16,
    waves: tuple[int, int] = (1, 1),
    *,
    threads: int = 64,
    extra: Sequence[object] = (),
    **hardware: object,
) -> list:
    """Those of a GEMM: M and N by workgroups along x and y and by `waves`, K by a loop; then `extra` ones."""
    divided = [tkw.WaveConstraint(d, t / w) for d, t, w in zip((M, N), (BM, BN), waves, strict=True) if w > 1]
    return [
        tkw.WorkgroupConstraint(M, BM, 0),
        tkw.WorkgroupConstraint(N, BN, 1),
        tkw.TilingConstraint(K, BK),
        *divided,
        *extra,
        tkw.HardwareConstraint(threads, mma_type=mma, **hardware),  # type: ignore[arg-type]
    ]


def plain(dtype: DataType, rules: Sequence, out: DataType | None = None) -> WaveKernel:
    """C[M, N] = A[M, K] · B[N, K]ᵀ, f32 (i32 for i8), in one loop over K."""
    acc_type = out or (tkl.i32 if dtype is tkl.i8 else tkl.f32)

    @tkw.wave(rules)
    def gemm(
        a: tkl.Memory[M, K, SPACE, dtype], b: tkl.Memory[N, K, SPACE, dtype], c: tkl.Memory[M, N, GLOBAL, acc_type]
    ):
        zero = tkl.Register[M, N, acc_type](0)

        @tkw.iterate(K, init_args=[zero])
        def loop(acc: tkl.Register[M, N, acc_type]) -> tkl.Register[M, N, acc_type]:
            return tkw.mma(tkw.read(a), tkw.read(b), acc)

        tkw.write(loop, c)

    return gemm


def integers(shape: Sequence[int], dtype: DataType, seed: int = 0, most: int = 3) -> np.ndarray:
    """Integers from -most to most: products and sums of them are exact in every type."""
    rng = np.random.default_rng([seed, *shape])
    return rng.integers(-most, most + 1, tuple(shape)).astype(np.float32).astype(NUMPY[dtype])


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a · bᵀ of the last two dims, exact."""
    return a.astype(np.int64) @ np.swapaxes(b.astype(np.int64), -1, -2)


def tiles(m: int, n: int, k: int, space: sympy.Symbol = SHARED) -> dict:
    """Values for the tile sizes and the operands' space."""
    return {BM: m, BN: n, BK: k, SPACE: space}


def run(
    kernel: WaveKernel,
    subs: Mapping,
    args: Sequence,
    want: np.ndarray,
    *,
    target: str = "gfx942",
    dynamic: Sequence = (),
    machine: bool = False,
    tolerance: float = 0.0,
) -> CompiledKernel:
    """Run with the result as one more argument, after `args`, in the simulator; with `machine` as machine code too.

    The result's dtype is that of `want`; it starts with what must be overwritten.
    """
    out = np.full(want.shape, 77, want.dtype)
    expected = {len(args): want}
    return check(kernel, subs, [*args, out], expected, target=target, dynamic=dynamic, tolerance=tolerance, isa=machine)
