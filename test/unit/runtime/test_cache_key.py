"""Everything that changes what is made changes the key; what does not, does not."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from runtime_kernels import BM, BN, GEMM_SUBS, ROWS, SPACE, K, M, N, added, gemm
from wave_mlir.compiler import cache_key, cached, linking
from wave_mlir.wave.compile import WaveCompileOptions, wave_compile
from wave_mlir.wave.kernel import WaveKernel
from wave_mlir.wave.scheduling import SchedulingType


def key(kernel: WaveKernel | None = None, **options) -> str:
    """The key of a compilation; nothing is compiled."""
    options = {"subs": {M: 128}, "target": "gfx942", **options}
    given = WaveCompileOptions(**options)
    kernel = kernel or added()
    module = kernel.trace(given.subs, given.dynamic_symbols, given.target, given.func_name)
    return cache_key.key_of(cached.program_text(module), given.in_key())


FLIPPED: dict[str, dict] = {
    "subs": {"subs": {M: 192}},
    "dynamic_symbols": {"subs": {}, "dynamic_symbols": [M]},
    "target": {"target": "gfx950"},
    "func_name": {"func_name": "other"},
    "debug": {"debug": True},
    "use_fast_math": {"use_fast_math": True},
    "use_global_to_shared": {"use_global_to_shared": True},
    "schedule": {"schedule": SchedulingType.PREFETCH},
    "multi_buffer_count": {"multi_buffer_count": 2},
    "eliminate_epilogue": {"eliminate_epilogue": True},
    "override_schedule": {"override_schedule": __file__},
}
SAME = {"cache", "dump_intermediates", "dump_binaries", "dump_schedule"}
"""Options that change nothing of what is made."""


def test_each_option_is_known_here() -> None:
    """An option added to WaveCompileOptions needs a case above."""
    assert {f.name for f in dataclasses.fields(WaveCompileOptions)} == set(FLIPPED) | SAME


@pytest.mark.parametrize("name", FLIPPED)
def test_options(name: str) -> None:
    assert key(**FLIPPED[name]) != key()


def test_options_without_effect_share_the_key() -> None:
    assert key(cache=False) == key()
    with pytest.warns(UserWarning, match="no effect"):
        assert key(print_grid=True) == key()


def test_the_same_twice() -> None:
    assert key() == key() and key(gemm(), subs=GEMM_SUBS | {M: 64, N: 64, K: 32}) == key(
        gemm(), subs=GEMM_SUBS | {K: 32, N: 64, M: 64}
    )


@pytest.mark.parametrize(
    "kernel",
    [
        lambda: added(2.0),  # a value of the closure
        lambda: added(dtype=tkl.f16),
        lambda: added(layout=tkl.MemoryLayout(shape=(160,))),
        lambda: added(layout=tkl.MemoryLayout(strides=(None,))),
        lambda: added(constraints=[tkw.WorkgroupConstraint(M, 128, 0), ROWS[1]]),
        lambda: added(constraints=[tkw.WorkgroupConstraint(M, 64, 1), ROWS[1]]),
        lambda: added(constraints=[*ROWS, tkw.WaveConstraint(M, 64)]),
        lambda: added(constraints=[*ROWS, tkw.ReorderingConstraint(1 - tkl.global_symbols.WORKGROUP_0, 0)]),
        lambda: added(constraints=[*ROWS, tkw.GridConstraint((3, 1, 1))]),
        lambda: added(constraints=[*ROWS, tkw.Assumption(M > 3)]),
        lambda: added(constraints=[ROWS[0], tkw.HardwareConstraint(64, vector_shapes={M: 32})]),
        lambda: added(constraints=[ROWS[0], tkw.HardwareConstraint(64, vector_shapes={M: 64}, max_bits_per_load=32)]),
        lambda: added(constraints=[ROWS[0], tkw.HardwareConstraint(64, (2, 1, 1), vector_shapes={M: 64})]),
    ],
)
def test_the_kernel(kernel: Callable[[], WaveKernel], request: pytest.FixtureRequest) -> None:
    assert key(kernel()) != key()


@pytest.mark.parametrize(
    "changed",
    [{BM: 64}, {BN: 64}, {M: 128}, {SPACE: tkl.AddressSpace.GLOBAL_MEMORY}, {"$MMA_DELAY": 3}],
    ids=["BM", "BN", "M", "space", "parameter of a schedule"],
)
def test_substitutions(changed: dict) -> None:
    subs = GEMM_SUBS | {M: 64, N: 64, K: 32}
    assert key(gemm(), subs=subs | changed) != key(gemm(), subs=subs)


def test_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    before = key()
    for name in cache_key.SWITCHES:
        with monkeypatch.context() as patched:
            patched.setenv(name, "0" if os.environ.get(name) == "1" else "1")
            assert key() != before, name
    monkeypatch.setenv(linking.ENVIRONMENT, "builtin")
    assert key() != before


def test_the_linker_itself(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "ld.lld"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv(linking.ENVIRONMENT, str(program))
    before = key()
    program.write_text("#!/bin/sh\nexit 1\n")
    assert key() != before


@pytest.mark.parametrize("tool", ["wave_mlir", "mlir", "llvmlite", "python"])
def test_versions_of_tools(monkeypatch: pytest.MonkeyPatch, tool: str) -> None:
    before, tools = key(), cache_key.tools()
    monkeypatch.setattr(cache_key, "tools", lambda: {**tools, tool: "another"})
    assert key() != before


def test_files_of_tools(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Own sources count by what they say, libraries by size and time."""
    source, library = tmp_path / "promote.py", tmp_path / "libMLIR.so.22"
    source.write_text("a = 1"), library.write_bytes(b"1")
    monkeypatch.setattr(cache_key, "_own_files", lambda: iter([source]))
    first = cache_key._own_sources()
    source.write_text("a = 2")
    assert cache_key._own_sources() != first
    monkeypatch.setattr(cache_key.importlib.util, "find_spec", lambda name: _Spec(str(tmp_path)))
    first = cache_key._installed("mlir")
    library.write_bytes(b"22")
    assert cache_key._installed("mlir") != first


class _Spec:
    def __init__(self, folder: str) -> None:
        self.submodule_search_locations = [folder]


def test_what_compiles_is_found() -> None:
    names = {p.name for p in cache_key._own_files()}
    assert {"driver.py", "expand.py", "builders.py"} <= names and any(n.startswith("_wave.") for n in names)
    empty = cache_key.hashlib.sha256().hexdigest()
    assert empty not in cache_key.tools().values()


def test_kernels_of_one_name() -> None:
    first, second = added(), added(3.0)
    assert first.name == second.name and key(first) != key(second)
    one = wave_compile(WaveCompileOptions(subs={M: 64}, target="gfx942"), first)
    other = wave_compile(WaveCompileOptions(subs={M: 64}, target="gfx942"), second)
    assert one.isa != other.isa
