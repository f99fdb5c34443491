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


def test_one_kernel_object(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a compilation reads and writes counts although the same kernel object was compiled before: the text of the
    file is what matters, and a file asked for is written."""
    monkeypatch.setenv("WAVE_CACHE", "1")
    monkeypatch.setenv("WAVE_CACHE_DIR", str(tmp_path / "cache"))
    kernel, subs = gemm(), GEMM_SUBS | {M: 64, N: 64, K: 256}
    modulo = {"subs": subs, "target": "gfx942", "schedule": SchedulingType.MODULO}
    path, later = tmp_path / "gemm.txt", tmp_path / "later.txt"
    first = wave_compile(WaveCompileOptions(**modulo), kernel)
    for file in (path, later):
        assert wave_compile(WaveCompileOptions(**modulo, dump_schedule=file), kernel).isa == first.isa
    assert later.read_text() == path.read_text() != ""

    def by_file(file: str) -> CompiledKernel:
        return wave_compile(WaveCompileOptions(subs=subs, target="gfx942", override_schedule=file), kernel)

    read = by_file(str(path))
    assert by_file(str(path)) is read and read.ir("scheduled") == first.ir("scheduled")
    path.write_text(path.read_text().replace("lds.0 2", "lds.0 4"))
    assert by_file(str(path)).ir("scheduled") != read.ir("scheduled")
    path.write_text("")
    plain = by_file(str(path))
    assert "wave.steady" not in plain.ir("scheduled")
    path.unlink()
    with pytest.raises(CompileError, match=r"cannot read the schedules of .*gemm\.txt"):
        by_file(str(path))
