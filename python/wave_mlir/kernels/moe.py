"""What layers of a mixture of experts are made of: a product, and the gate of its first half by the second."""

# Annotations of kernels are types of the language, and MMAType is an enumeration made from the tables of the targets.
# pyright: reportInvalidTypeForm=false

from __future__ import annotations

import math

import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE
from wave_mlir.wave.constraints import MMAType

from . import gemm
from .common import Dtype, Subs, dtype_of, positive

__all__ = ["get_gemm_kernel", "get_silu_and_mul_kernel"]

M, N = gemm.M, gemm.N


def get_gemm_kernel(m: int, k: int, n: int, mfma_variant: MMAType, datatype: Dtype) -> tuple[tkw.WaveKernel, Subs]:
    """gemm(a[M, K], b[N, K], c[M, N]): C = A Bᵀ."""
    kernel, subs, _ = gemm.get_gemm_kernel((m, n, k), False, mfma_variant, datatype)
    return kernel, subs


def get_silu_and_mul_kernel(m: int, n: int, datatype: Dtype) -> tuple[tkw.WaveKernel, Subs]:
    """silu_and_mul(x1[M, N], x2[M, N], out[M, N]): out = x1 / (1 + exp(-x1)) * x2, computed in f32."""
    positive("get_silu_and_mul_kernel", {"m": m, "n": n})
    dtype = dtype_of(datatype)
    if not dtype.is_float:
        raise ValueError(f"get_silu_and_mul_kernel: datatype is {dtype}; it takes floats")
    wave = 64
    constraints = [
        tkw.WorkgroupConstraint(M, 1, 0),
        tkw.WorkgroupConstraint(N, wave, 1),
        tkw.HardwareConstraint(wave, vector_shapes={M: 1, N: wave}),
    ]
    kind = tkl.Memory[M, N, GLOBAL_ADDRESS_SPACE, dtype]

    @tkw.wave(constraints, compat=True)
    def silu_and_mul(x1: kind, x2: kind, out: kind):
        gate, value = tkw.cast(tkw.read(x1), tkl.f32), tkw.cast(tkw.read(x2), tkl.f32)
        sigmoid = tkw.reciprocal(tkw.exp2(gate * -math.log2(math.e)) + 1.0)
        tkw.write(tkw.cast(gate * sigmoid * value, dtype), out)

    return silu_and_mul, {M: m, N: n}
