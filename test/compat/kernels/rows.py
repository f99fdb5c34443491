"""Row softmax, gathered rows, selected elements, in the existing package's style."""

import sympy
import torch
import wave_lang.kernel.lang as tkl
import wave_lang.kernel.wave as tkw
from wave_lang.kernel.lang.global_symbols import *
from wave_lang.kernel.lang.wave_types import *
from wave_lang.kernel.wave.compile import WaveCompileOptions, wave_compile
from wave_lang.kernel.wave.utils.general_utils import torch_dtype_to_wave
from wave_lang.kernel.wave.utils.run_utils import get_default_arch, set_default_run_config
from wave_lang.kernel.wave.utils.torch_utils import device_arange, device_empty, device_randn, device_zeros

M, N, S = tkl.sym.M, tkl.sym.N, tkl.sym.S
BLOCK_M, BLOCK_N = tkl.sym.BLOCK_M, tkl.sym.BLOCK_N


def compiled(kernel, **subs):
    options = WaveCompileOptions(subs={tkl.sym.__getattr__(k): v for k, v in subs.items()}, target=get_default_arch())
    return wave_compile(set_default_run_config(options), kernel)


def softmax(rows: int = 5, columns: int = 128, dtype: torch.dtype = torch.float32) -> None:
    wave_type = torch_dtype_to_wave(dtype)
    constraints = [
        tkw.HardwareConstraint(threads_per_wave=64, vector_shapes={M: 1, N: BLOCK_N}),
        tkw.WorkgroupConstraint(M, 1, 1),
        tkw.WorkgroupConstraint(N, N, 0),
        tkw.WaveConstraint(N, N),
    ]

    @tkw.wave(constraints)
    def kernel(a: Memory[M, N, GLOBAL_ADDRESS_SPACE, wave_type], c: Memory[M, N, GLOBAL_ADDRESS_SPACE, tkl.f32]):
        log2e = tkl.Register[M, N, tkl.f32](1.44269504089)
        x = tkw.cast(tkw.read(a), tkl.f32)
        peak = tkw.max(x, dim=N)
        e = tkw.exp2((x - tkw.broadcast(peak, [M, N])) * log2e)
        total = tkw.sum(e, dim=N)
        tkw.write(e / tkw.broadcast(total, [M, N]), c)

    a = device_randn(rows, columns).to(dtype)
    c = device_zeros(rows, columns)
    compiled(kernel, M=rows, N=columns, BLOCK_N=columns)(a, c)
    torch.testing.assert_close(c, torch.softmax(a.float(), -1), atol=1e-5, rtol=1e-4)


def gather(rows: int = 24, columns: int = 64) -> None:
    i, j, d0 = tkw.IndexMapping.iterator(0), tkw.IndexMapping.iterator(1), tkw.IndexMapping.dynamic_val(0)
    mapping = tkw.IndexMapping(num_iterators=2, inputs={S: d0, N: j}, outputs={M: i, N: j}, dynamic_val_mappings={M: i})
    constraints = [
        tkw.HardwareConstraint(threads_per_wave=64, waves_per_block=(1, 1, 1), vector_shapes={M: 1, N: 64}),
        tkw.WorkgroupConstraint(M, BLOCK_M, 1),
        tkw.WorkgroupConstraint(N, BLOCK_N, 0),
        tkw.WaveConstraint(M, BLOCK_M),
        tkw.WaveConstraint(N, BLOCK_N),
    ]

    @tkw.wave(constraints)
    def kernel(
        x: tkl.Memory[S, N, GLOBAL_ADDRESS_SPACE, tkl.f32],
        picked: tkl.Memory[M, GLOBAL_ADDRESS_SPACE, tkl.i32],
        out: tkl.Memory[M, N, GLOBAL_ADDRESS_SPACE, tkl.f32],
    ):
        row = tkw.read(picked, elements_per_thread=1)
        tkw.write(tkw.read(x, mapping=mapping, mapping_dynamic_vals=(row,), elements_per_thread=1), out)

    x = device_randn(10, columns)
    picked = (device_arange(rows) * 7 % 10).to(torch.int32)
    out = device_empty(rows, columns)
    compiled(kernel, M=rows, N=columns, S=10, BLOCK_M=1, BLOCK_N=columns)(x, picked, out)
    torch.testing.assert_close(out, x[picked.long()])


def halves(size: int = 100) -> None:
    """Elements of the first half are doubled: symbols in sympy expressions, indices as values."""
    limit = sympy.ceiling(M / 2)
    constraints = [
        tkw.HardwareConstraint(threads_per_wave=64, vector_shapes={M: 64}),
        tkw.WorkgroupConstraint(M, BLOCK_M, 0),
        tkw.WaveConstraint(M, BLOCK_M),
    ]

    @tkw.wave(constraints)
    def kernel(a: tkl.Memory[M, GLOBAL_ADDRESS_SPACE, tkl.f32], c: tkl.Memory[M, GLOBAL_ADDRESS_SPACE, tkl.f32]):
        x = tkw.read(a)
        place = tkw.self_index(M, tkl.i32)
        first = place < tkw.broadcast(tkw.scalar(limit, tkl.i32), [M])
        tkw.write(tkw.select(first, x + x, x), c)

    a, c = device_randn(size), device_zeros(size)
    compiled(kernel, M=size, BLOCK_M=64)(a, c)
    torch.testing.assert_close(c, torch.cat((2 * a[: size // 2], a[size // 2 :])), atol=0, rtol=0)
