"""A factory for matrix products, as kernel authors write them for the existing package."""

import torch
import wave_lang.kernel.lang as tkl
import wave_lang.kernel.wave as tkw
from wave_lang.kernel.lang.global_symbols import *
from wave_lang.kernel.wave.compile import WaveCompileOptions, wave_compile
from wave_lang.kernel.wave.constraints import MMAType
from wave_lang.kernel.wave.scheduling.schedule import SchedulingType
from wave_lang.kernel.wave.utils.general_utils import get_default_scheduling_params
from wave_lang.kernel.wave.utils.run_utils import set_default_run_config
from wave_lang.kernel.wave.utils.torch_utils import device_randint, device_zeros


def get_matmul(shape: tuple[int, int, int], dynamic: bool, mfma: MMAType, dtype=tkl.f16):
    M, N, K = tkl.sym.M, tkl.sym.N, tkl.sym.K
    BLOCK_M, BLOCK_N, BLOCK_K = tkl.sym.BLOCK_M, tkl.sym.BLOCK_N, tkl.sym.BLOCK_K
    ADDRESS_SPACE = tkl.sym.ADDRESS_SPACE

    constraints: list[tkw.Constraint] = [tkw.WorkgroupConstraint(M, BLOCK_M, 0)]
    constraints += [tkw.WorkgroupConstraint(N, BLOCK_N, 1)]
    constraints += [tkw.TilingConstraint(K, BLOCK_K)]
    constraints += [tkw.WaveConstraint(M, BLOCK_M / 2)]
    constraints += [tkw.WaveConstraint(N, BLOCK_N / 2)]
    constraints += [tkw.HardwareConstraint(threads_per_wave=64, mma_type=mfma)]
    if dynamic:
        constraints += [tkw.Assumption(K > BLOCK_K * 2)]

    @tkw.wave(constraints)
    def matmul(
        a: tkl.Memory[M, K, ADDRESS_SPACE, dtype],
        b: tkl.Memory[N, K, ADDRESS_SPACE, dtype],
        c: tkl.Memory[M, N, GLOBAL_ADDRESS_SPACE, tkl.f32],
    ):
        c_reg = tkl.Register[M, N, tkl.f32](0.0)

        @tkw.iterate(K, init_args=[c_reg])
        def repeat(acc: tkl.Register[M, N, tkl.f32]) -> tkl.Register[M, N, tkl.f32]:
            a_reg = tkw.read(a)
            b_reg = tkw.read(b)
            acc = tkw.mma(a_reg, b_reg, acc)
            return acc

        tkw.write(repeat, c)

    hyperparams = {
        ADDRESS_SPACE: SHARED_ADDRESS_SPACE,
        BLOCK_M: 32,
        BLOCK_N: 32,
        BLOCK_K: 16,
        M: shape[0],
        N: shape[1],
        K: shape[2],
    }
    hyperparams.update(get_default_scheduling_params())
    dynamic_symbols = []
    if dynamic:
        dynamic_symbols = [M, N, K]
        for symbol in dynamic_symbols:
            del hyperparams[symbol]
    return matmul, hyperparams, dynamic_symbols


def run(shape=(64, 96, 80), dynamic=False, mfma=MMAType.F32_16x16x16_F16) -> None:
    kernel, hyperparams, dynamic_symbols = get_matmul(shape, dynamic, mfma)
    options = WaveCompileOptions(
        subs=hyperparams,
        canonicalize=True,
        run_bench=False,
        schedule=SchedulingType.NONE,
        use_scheduling_barriers=False,
        dynamic_symbols=dynamic_symbols,
        wave_runtime=True,
    )
    options = set_default_run_config(options)
    compiled = wave_compile(options, kernel)
    m, n, k = shape
    a = device_randint(-3, 4, (m, k)).to(torch.float16)
    b = device_randint(-3, 4, (n, k)).to(torch.float16)
    c = device_zeros(m, n, dtype=torch.float32)
    compiled(a, b, c)
    torch.testing.assert_close(c, a.float() @ b.float().T, rtol=0, atol=0)
    assert "gpu.func" in compiled.asm
