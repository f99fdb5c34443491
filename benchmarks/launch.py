"""Time of a launch plan (checking the arguments, grid, kernel argument bytes), in microseconds of CPU time.

    python benchmarks/launch.py

Target: under 20 µs a call. "first" is a call with shapes not seen before, "again" with shapes seen before. torch is
measured when it is installed.
"""

from __future__ import annotations

import importlib.util
import time
import timeit
from collections.abc import Callable, Sequence
from itertools import count

import numpy as np
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.wave.compile import CompiledKernel, WaveCompileOptions, wave_compile

M, N, K = tkl.sym.M, tkl.sym.N, tkl.sym.K
Shape = tuple[int, int, int]


def gemm(dynamic: bool) -> CompiledKernel:
    """A GEMM for one shape, or for all."""
    constraints = [
        tkw.WorkgroupConstraint(M, 32, 0),
        tkw.WorkgroupConstraint(N, 32, 1),
        tkw.TilingConstraint(K, 16),
        tkw.HardwareConstraint(64, mma_type=tkw.MMAType.F32_16x16x16_F16),
    ]

    @tkw.wave(constraints)
    def multiply(
        a: tkl.Memory[M, K, GLOBAL, tkl.f16], b: tkl.Memory[N, K, GLOBAL, tkl.f16], c: tkl.Memory[M, N, GLOBAL, tkl.f32]
    ):
        @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
        def loop(acc):
            return tkw.mma(tkw.read(a), tkw.read(b), acc)

        tkw.write(loop, c)

    symbols = {"dynamic_symbols": [M, N, K]} if dynamic else {"subs": {M: 64, N: 64, K: 32}}
    return wave_compile(WaveCompileOptions(target="gfx942", **symbols), multiply)


def numpy_tensors(shape: Shape) -> Sequence[object]:
    """numpy arrays."""
    m, n, k = shape
    return np.zeros((m, k), np.float16), np.zeros((n, k), np.float16), np.zeros((m, n), np.float32)


def torch_tensors(shape: Shape) -> Sequence[object]:
    """torch tensors on the CPU."""
    import torch

    m, n, k = shape
    return torch.zeros(m, k).half(), torch.zeros(n, k).half(), torch.zeros(m, n)


def microseconds(call: Callable[[], object], number: int = 3000) -> float:
    """CPU time of a call: the least of several rounds."""
    call()
    return min(timeit.repeat(call, number=number, repeat=7, timer=time.process_time)) / number * 1e6


def first_call(kernel: CompiledKernel, make: Callable[[Shape], Sequence[object]]) -> float:
    """CPU time of a plan for a shape that is new each time."""
    sizes = count(65)
    arguments = [make((next(sizes), 64, 32)) for _ in range(300)]
    start = time.process_time()
    for args in arguments:
        kernel.plan(*args)
    return (time.process_time() - start) / len(arguments) * 1e6


def main() -> None:
    """Print a table."""
    makers = {"numpy": numpy_tensors}
    if importlib.util.find_spec("torch"):
        makers["torch"] = torch_tensors
    static, dynamic = gemm(False), gemm(True)
    print(f"{'arguments':<10}{'kernel':<18}{'again':>8}{'first':>8}  (µs)")
    for name, make in makers.items():
        args = make((64, 64, 32))
        print(f"{name:<10}{'one shape':<18}{microseconds(lambda a=args: static.plan(*a)):8.1f}{'':>8}")
        again = microseconds(lambda a=args: dynamic.plan(*a))
        print(f"{name:<10}{'dynamic M, N, K':<18}{again:8.1f}{first_call(dynamic, make):8.1f}")


if __name__ == "__main__":
    main()
