"""Compiled kernels come from the cache: the same ones, and only when they are the same."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from runtime_kernels import BM, GLOBAL, ROWS, K, M, added, compiled_gemm
from wave_mlir.compiler import cache, cached, driver
from wave_mlir.compiler.diagnostics import CompileError
from wave_mlir.wave.compile import WaveCompileOptions, wave_compile
from wave_mlir.wave.kernel import WaveKernel


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A fresh cache, on."""
    monkeypatch.setenv("WAVE_CACHE", "1")
    monkeypatch.setenv("WAVE_CACHE_DIR", str(tmp_path / "cache"))
    cached.forget()
    yield tmp_path / "cache"
    cached.forget()


class Counts:
    traces = 0
    compilations = 0


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Counts:
    """How often a kernel was traced, and a module lowered."""
    found = Counts()
    trace, lower = WaveKernel.trace_with_logs, driver._lower

    def counted_trace(*args, **kwargs):
        found.traces += 1
        return trace(*args, **kwargs)

    def counted_lower(*args, **kwargs):
        found.compilations += 1
        return lower(*args, **kwargs)

    monkeypatch.setattr(WaveKernel, "trace_with_logs", counted_trace)
    monkeypatch.setattr(driver, "_lower", counted_lower)
    return found


def options(size: int = 128, **more) -> WaveCompileOptions:
    return WaveCompileOptions(subs={M: size}, target="gfx942", **more)


def run_add(made, size: int = 128) -> np.ndarray:
    a, c = np.arange(size, dtype=np.float32), np.full(size, np.nan, np.float32)
    made(a, c)
    return c - a


def test_neither_traced_nor_compiled_again(folder: Path, counts: Counts) -> None:
    kernel = added()
    first = wave_compile(options(), kernel)
    run_add(first), run_add(first)
    assert wave_compile(options(), kernel) is first
    assert (counts.traces, counts.compilations) == (1, 1)
    other = wave_compile(options(192), kernel)  # another shape
    assert (counts.traces, counts.compilations) == (2, 2)
    assert (run_add(first) == 1).all() and (run_add(other, 192) == 1).all()
    again = wave_compile(options(), added())  # the same program from another function: traced, not compiled
    assert (counts.traces, counts.compilations) == (3, 2) and again.isa == first.isa


def test_another_process_finds_it_on_disk(folder: Path, counts: Counts) -> None:
    first = wave_compile(options(), added())
    texts = first.isa, first.hsaco, first.asm, first.abi
    cached.forget()
    again = wave_compile(options(), added())
    assert (again.isa, again.hsaco, again.asm, again.abi) == texts
    assert (run_add(again) == 1).all()
    assert counts.compilations == 1 and again._compiled.source == "disk"


def test_machine_code_from_stored_gpu_form_is_the_same(folder: Path) -> None:
    compiled_gemm()
    cached.forget()
    from_disk = compiled_gemm()
    assert from_disk._compiled.source == "disk"
    anew = compiled_gemm(cache=False)
    assert anew._compiled.source == "compiled"
    assert from_disk.isa == anew.isa and from_disk.hsaco == anew.hsaco


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "foreign"])
def test_damaged_files(folder: Path, damage: str) -> None:
    made = wave_compile(options(), added())
    good = made.hsaco
    for part in cache.Store(folder).parts():
        content = part.path.read_bytes()
        part.path.write_bytes(
            {"cut": content[:-7], "flip": content[:-1] + b"\0", "empty": b"", "foreign": b"\x7fELF" * 50}[damage]
        )
    cached.forget()
    again = wave_compile(options(), added())
    assert again.hsaco == good and (run_add(again) == 1).all() and again._compiled.source == "compiled"


def test_half_an_entry(folder: Path) -> None:
    """Parts are evicted one by one."""
    good = wave_compile(options(), added()).hsaco
    for name in ("abi", "gpu", "hsaco"):
        for part in cache.Store(folder).parts():
            if part.name == name:
                part.path.unlink()
        cached.forget()
        again = wave_compile(options(), added())
        assert again.hsaco == good and (run_add(again) == 1).all()


def test_off(folder: Path, counts: Counts, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = added()
    for _ in range(2):
        wave_compile(options(cache=False), kernel)
    monkeypatch.setenv("WAVE_CACHE", "off")
    for _ in range(2):
        wave_compile(options(), kernel)
    assert counts.compilations == 4 and not folder.exists()


NUMBER = 1.0


def by_helper(x):
    return x + NUMBER


def test_globals_and_helpers_are_part_of_the_kernel(folder: Path, counts: Counts, monkeypatch) -> None:
    @tkw.wave(ROWS)
    def kernel(a: tkl.Memory[M, GLOBAL, tkl.f32], c: tkl.Memory[M, GLOBAL, tkl.f32]):
        tkw.write(by_helper(tkw.read(a)), c)

    assert (run_add(wave_compile(options(), kernel)) == 1).all()
    monkeypatch.setitem(globals(), "NUMBER", 5.0)
    assert (run_add(wave_compile(options(), kernel)) == 5).all()
    monkeypatch.setitem(globals(), "by_helper", lambda x: x + 7.0)
    assert (run_add(wave_compile(options(), kernel)) == 7).all()
    assert counts.traces == 3


class Settings:
    number = 1.0


def test_what_may_change_unseen_is_traced_each_time(folder: Path, counts: Counts) -> None:
    settings = Settings()

    @tkw.wave(ROWS)
    def kernel(a: tkl.Memory[M, GLOBAL, tkl.f32], c: tkl.Memory[M, GLOBAL, tkl.f32]):
        tkw.write(tkw.read(a) + settings.number, c)

    assert (run_add(wave_compile(options(), kernel)) == 1).all()
    settings.number = 3.0
    assert (run_add(wave_compile(options(), kernel)) == 3).all()
    settings.number = 1.0
    wave_compile(options(), kernel)
    assert (counts.traces, counts.compilations) == (3, 2)


def test_errors_are_not_kept(folder: Path) -> None:
    kernel = added(constraints=[ROWS[0], tkw.HardwareConstraint(32, vector_shapes={M: 64})])
    messages = []
    for _ in range(2):
        with pytest.raises(CompileError) as caught:
            wave_compile(options(), kernel)
        messages.append(str(caught.value))
    assert messages[0] == messages[1] and not cache.Store(folder).parts()


def test_a_size_without_meaning_is_an_error_at_the_users_line(folder: Path, monkeypatch) -> None:
    monkeypatch.setenv("WAVE_CACHE_SIZE", "-1")
    with pytest.raises(CompileError, match=r"test_cache_kernels.py:\d+:\d+: error: WAVE_CACHE_SIZE=-1 is no size"):
        wave_compile(options(), added())


_WORKER = """
import sys
import numpy as np
from runtime_kernels import M, added, wave_compile, WaveCompileOptions
number = float(sys.argv[1])
made = wave_compile(WaveCompileOptions(subs={M: 128}, target="gfx942"), added(number))
assert made.hsaco[:4] == b"\\x7fELF"
a, c = np.zeros(128, np.float32), np.full(128, np.nan, np.float32)
made(a, c)
assert (c == number).all(), c
print(made.hsaco.hex())
"""


def test_eight_processes_with_kernels_of_one_name(folder: Path) -> None:
    """Two processes for each of four kernels, all into one fresh folder."""
    command = [sys.executable, "-c", _WORKER]
    here = str(Path(__file__).parent)
    started = [subprocess.Popen([*command, str(n // 2)], cwd=here, stdout=subprocess.PIPE, text=True) for n in range(8)]
    outputs = [p.communicate(timeout=300)[0] for p in started]
    assert [p.returncode for p in started] == [0] * 8
    assert outputs[::2] == outputs[1::2] and len(set(outputs)) == 4
    names = {p.key for p in cache.Store(folder).parts()}
    assert len(names) == 4


def test_block_sizes_and_dynamic_shapes(folder: Path, counts: Counts) -> None:
    """A kernel for any K is compiled once and runs for each."""
    made = compiled_gemm(dynamic=(K,))
    for k in (16, 40):
        a, b = np.ones((64, k), np.float16), np.ones((64, k), np.float16)
        c = np.full((64, 64), np.nan, np.float32)
        made(a, b, c)
        assert (c == k).all()
    assert counts.compilations == 1
    assert compiled_gemm().abi.symbols[BM.name] == 32
