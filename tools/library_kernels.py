"""One kernel of each kind in `wave_mlir.kernels`, to be compiled for generated pages."""

# MMAType is an enumeration made from the tables of the targets.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Callable

import wave_mlir.lang as tkl
from wave_mlir import kernels
from wave_mlir.kernels import AttentionShape, moe, paged_decode_attention_shape
from wave_mlir.wave.compile import WaveCompileOptions, wave_compile
from wave_mlir.wave.constraints import MMAType, ScaledMMAType

_SMALL, _TALL, _F8 = MMAType.F32_16x16x16_F16, MMAType.F32_32x32x8_F16, MMAType.F32_32x32x16_F8
_PAIR = (_TALL, _TALL)
_SIZES = (300, 260, 200)
_SHAPE = AttentionShape(2, 2, 64, 64, batch_size=1, num_seqs=1, query_seq_len=200, kv_seq_len=200)
_ROWS = ((60, 4, 64), (60, 2, 64), (60, 2, 64), (90, 2, 64), (90, 2, 64), (60, 4, 64))
_SEQUENCES = AttentionShape(4, 2, 64, 64, num_seqs=3, kv_seq_len=100, max_seq_len=40)
_PAGED = paged_decode_attention_shape(16, 1, 64, 64, 32, 3)
_PAIRS_OF_RESIDUES = ((1, 1), (2, 1), (100, 64), (2, 1), (32, 32), (70, 64), (32, 32))


def _decode(number: int, dynamic: bool) -> tuple:
    made = kernels.get_decode_attention_kernels((2, 70, 48, 64, 150), _PAIR, dynamic)
    return made[number], made[2 + number], made[4 + number]


def _paged(number: int) -> tuple:
    made = kernels.get_paged_decode_attention_kernels(_PAGED, (_SMALL, _SMALL), 4)
    return made[number], made[2 + number], made[4 + number]


def _grouped(number: int) -> tuple:
    shapes = (3, 100, 2, 64), (3, 100, 2, 64)
    made = kernels.get_gqa_decode_attention_kernels(_SEQUENCES, (_SMALL, _SMALL), 4, *shapes)
    return made[number], made[2 + number]


_LIBRARY: dict[str, Callable[[], tuple]] = {
    "gemm": lambda: kernels.get_gemm_kernel(_SIZES, False, _SMALL),
    "gemm, any size": lambda: kernels.get_gemm_kernel(_SIZES, True, _SMALL),
    "gemm, transposed": lambda: kernels.get_gemm_kernel_transpose_a_b(_SIZES, False, _SMALL),
    "gemm, split K": lambda: kernels.get_splitk_gemm_kernel(_SIZES, 3, _SMALL),
    "gemm, reordered": lambda: kernels.get_reordered_matmul(*_SIZES, 64, 64, 32, 2, _SMALL),
    "gemm, persistent": lambda: kernels.get_persistent_gemm_kernel(_SIZES, _SMALL, num_ctas=5),
    "gemm, experts": lambda: moe.get_gemm_kernel(*_SIZES, _SMALL, tkl.f16),
    "silu": lambda: kernels.get_silu_and_mul_kernel(5, 100, tkl.f16),
    "convolution, nhwc": lambda: kernels.get_igemm_conv2d("nhwc_hwcf", 2, 7, 9, 20, 3, 2, 40, 2, tkl.f16, tkl.f32),
    "convolution, nchw": lambda: kernels.get_igemm_conv2d("nchw_fchw", 2, 7, 9, 20, 3, 2, 40, 2, tkl.f16, tkl.f32),
    "attention": lambda: kernels.get_vanilla_attention_kernel(_SHAPE, _PAIR, False),
    "attention, any size": lambda: kernels.get_vanilla_attention_kernel(_SHAPE, _PAIR, True, True),
    "attention, bshd": lambda: kernels.get_bshd_attention_kernel(_SHAPE, _PAIR, False, True),
    "attention, bhsd": lambda: kernels.get_bhsd_attention_kernel(_SHAPE, _PAIR, False, True),
    "attention, grouped f8": lambda: kernels.get_gqa_bshd_attention_kernel(_SHAPE, (_F8, _F8), use_fp8=True),
    "attention, slopes": lambda: kernels.get_alibi_attention_kernel(_SHAPE, _SMALL, False),
    "attention, distances": lambda: kernels.get_t5_rpe_attention_kernel(_SHAPE, _PAIR, False, 16),
    "attention, pairs": lambda: kernels.get_evoformer_kernel(*_PAIRS_OF_RESIDUES, _TALL, tkl.bf16),
    "decode, parts": lambda: _decode(0, False),
    "decode, sum": lambda: _decode(1, False),
    "paged decode, parts": lambda: _paged(0),
    "paged decode, sum": lambda: _paged(1),
    "grouped decode, parts": lambda: _grouped(0),
    "grouped decode, sum": lambda: _grouped(1),
    "prefill": lambda: kernels.get_prefill_attention_kernel(_SEQUENCES, _PAIR, *_ROWS[:3], _ROWS[-1]),
    "extend": lambda: kernels.get_extend_attention_kernel(_SEQUENCES, _PAIR, *_ROWS, is_causal=True),
    "extend, masked": lambda: kernels.get_extend_attention_kernel(_SEQUENCES, _PAIR, *_ROWS, use_custom_mask=True),
    "extend, distances": lambda: kernels.get_extend_attention_rpe_kernel(
        _SEQUENCES, _PAIR, *_ROWS, is_causal=True, max_rpe_context_length=5
    ),
}
"""Each: the kernel, its symbols and, where there are any, the dynamic ones."""
_GFX950: dict[str, Callable[[], tuple]] = {
    "gemm, scaled": lambda: kernels.get_scaled_gemm_kernel(
        (64, 96, 288), ScaledMMAType["F32_16x16x128_F8F6F4"], block_shape=(64, 64, 256)
    ),
}


def names() -> list[str]:
    """Names of the kernels."""
    return [*_LIBRARY, *_GFX950]


def compile_kernel(name: str) -> None:
    """Compile one, up to machine code."""
    target = "gfx942" if name in _LIBRARY else "gfx950"
    kernel, subs, *dynamic = (_LIBRARY if name in _LIBRARY else _GFX950)[name]()
    symbols = dynamic[0] if dynamic else ()
    wave_compile(WaveCompileOptions(subs=subs, dynamic_symbols=symbols, target=target, cache=False), kernel)
