"""Kernels of the library, taken and run as users of the existing package do."""

import torch
import wave_lang.kernel.lang as tkl
from wave_lang.kernel.wave.compile import WaveCompileOptions, wave_compile
from wave_lang.kernel.wave.constraints import MMAType
from wave_lang.kernel.wave.templates import AttentionShape
from wave_lang.kernel.wave.templates.gemm import get_gemm_kernel
from wave_lang.kernel.wave.templates.vanilla_attention import get_vanilla_attention_kernel
from wave_lang.kernel.wave.utils.general_utils import get_default_scheduling_params
from wave_lang.kernel.wave.utils.run_utils import set_default_run_config
from wave_lang.kernel.wave.utils.torch_utils import device_randn, device_zeros


def run(kernel, hyperparams, dynamic_symbols, *tensors):
    hyperparams.update(get_default_scheduling_params())
    options = WaveCompileOptions(subs=hyperparams, dynamic_symbols=dynamic_symbols, canonicalize=True)
    wave_compile(set_default_run_config(options), kernel)(*tensors)


def gemm():
    kernel, hyperparams, dynamic = get_gemm_kernel((64, 128, 64), False, MMAType.F32_16x16x16_F16, torch.float16)
    hyperparams[tkl.sym.BLOCK_M] = 32
    a, b = device_randn(64, 64, dtype=torch.float16), device_randn(128, 64, dtype=torch.float16)
    c = device_zeros(64, 128, dtype=torch.float32)
    run(kernel, hyperparams, dynamic, a, b, c)
    torch.testing.assert_close(c, (a.float() @ b.float().T), atol=1e-4, rtol=1e-4)
    print("gemm")


def attention():
    shape = AttentionShape(
        num_query_heads=2, num_kv_heads=2, head_size=64, head_size_kv=64, query_seq_len=128, kv_seq_len=64
    )
    kinds = (MMAType.F32_32x32x8_F16, MMAType.F32_32x32x8_F16)
    kernel, hyperparams, dynamic = get_vanilla_attention_kernel(shape, kinds, False, is_causal=True)
    q = device_randn(2, 128, 64, dtype=torch.float16)
    k, v = (device_randn(2, 64, 64, dtype=torch.float16) for _ in "kv")
    out = device_zeros(2, 128, 64, dtype=torch.float32)
    run(kernel, hyperparams, dynamic, q, k, v, out)
    want = torch.nn.functional.scaled_dot_product_attention(q.float(), k.float(), v.float(), is_causal=True)
    torch.testing.assert_close(out, want, atol=2e-3, rtol=1e-3)
    print("attention")


if __name__ == "__main__":
    gemm()
    attention()
