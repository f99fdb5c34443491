"""Kernels to compile: matrix products, attention, convolution, mixture-of-experts layers.

    from wave_mlir.kernels import get_gemm_kernel
    kernel, subs, dynamic = get_gemm_kernel((512, 512, 256), False, MMAType.F32_16x16x16_F16)
    gemm = wave_compile(WaveCompileOptions(subs=subs, dynamic_symbols=dynamic, target="gfx942"), kernel)

Each function gives the kernel and the values of its symbols, which a caller may change (tile sizes, `ADDRESS_SPACE`)
before it compiles; some also give the symbols whose values come with the arguments. The names and parameters are those
that users of the existing Wave package know (docs/compat.md). Tensors that are not dense are copied for the call.
"""

from __future__ import annotations

from .attention import (
    get_bhsd_attention_kernel,
    get_bshd_attention_kernel,
    get_gqa_bshd_attention_kernel,
    get_vanilla_attention_kernel,
)
from .attention_shape import AttentionShape
from .biased_attention import get_alibi_attention_kernel, get_evoformer_kernel, get_t5_rpe_attention_kernel
from .convolution import get_igemm_conv2d
from .decode_attention import get_decode_attention_kernels
from .gemm import get_gemm_kernel, get_gemm_kernel_transpose_a_b, get_splitk_gemm_kernel
from .gqa_decode_attention import get_gqa_decode_attention_kernels
from .moe import get_silu_and_mul_kernel
from .paged_decode_attention import (
    get_paged_decode_attention_kernels,
    get_paged_decode_intermediate_arrays_shapes,
    paged_decode_attention_shape,
)
from .persistent_gemm import get_persistent_gemm_kernel
from .quantized_attention import get_brevitas_pertensor_fp8_attention_kernel
from .ragged_attention import (
    get_extend_attention_kernel,
    get_extend_attention_rpe_kernel,
    get_prefill_attention_kernel,
)
from .reordered_gemm import get_reordered_matmul
from .scaled_gemm import get_scaled_gemm_kernel

__all__ = [
    "AttentionShape",
    "get_alibi_attention_kernel",
    "get_bhsd_attention_kernel",
    "get_brevitas_pertensor_fp8_attention_kernel",
    "get_bshd_attention_kernel",
    "get_decode_attention_kernels",
    "get_evoformer_kernel",
    "get_extend_attention_kernel",
    "get_extend_attention_rpe_kernel",
    "get_gemm_kernel",
    "get_gemm_kernel_transpose_a_b",
    "get_gqa_bshd_attention_kernel",
    "get_gqa_decode_attention_kernels",
    "get_igemm_conv2d",
    "get_paged_decode_attention_kernels",
    "get_paged_decode_intermediate_arrays_shapes",
    "get_persistent_gemm_kernel",
    "get_prefill_attention_kernel",
    "get_reordered_matmul",
    "get_scaled_gemm_kernel",
    "get_silu_and_mul_kernel",
    "get_splitk_gemm_kernel",
    "get_t5_rpe_attention_kernel",
    "get_vanilla_attention_kernel",
    "paged_decode_attention_shape",
]
