"""Schedules of kernels in Python, written to a text file, changed by hand, and read again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from runtime_kernels import GEMM_SUBS, K, M, N, gemm
from wave_mlir.compiler.diagnostics import CompileError
from wave_mlir.wave.compile import CompiledKernel, WaveCompileOptions, wave_compile
from wave_mlir.wave.scheduling import SchedulingType


def compiled(**options: object) -> CompiledKernel:
    subs = GEMM_SUBS | {M: 64, N: 64, K: 256}
    return wave_compile(WaveCompileOptions(subs=subs, target="gfx942", **options), gemm())


def test_there_and_back(tmp_path: Path) -> None:
    path = tmp_path / "gemm.txt"
    first = compiled(schedule=SchedulingType.MODULO, dump_schedule=path)
    text = path.read_text()
    assert text.startswith(f"schedule {first.name}.K\nstrategy modulo\ninterval ")
    again = compiled(override_schedule=path)
    assert again.ir("scheduled") == first.ir("scheduled")
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 4, (64, 256)).astype(np.float16) for _ in range(2))
    c = np.empty((64, 64), np.float32)
    again(a, b, c)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.T.astype(np.float32))
    lines = text.splitlines()
    mma = next(line for line in lines if " mma.0" in line)
    path.write_text(text.replace(mma, mma.replace(mma.split()[0], "0", 1)))
    with pytest.raises(CompileError, match="broken dependence: 'mma.0' in the same trip needs 'lds_read"):
        compiled(override_schedule=path)
