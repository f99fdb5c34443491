"""Kernels written for the existing Wave package run unchanged under `import wave_mlir.compat`."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
import torch
import wave_mlir.compat
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.compat import finder
from wave_mlir.wave.compile import WaveCompileOptions
from wave_mlir.wave.constraints import MMAType

KERNELS = Path(__file__).parent / "kernels"


def loaded(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(KERNELS))
    return importlib.import_module(name)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("mfma", ["F32_16x16x16_F16", "F32_32x32x8_F16"])
def test_matmul(monkeypatch: pytest.MonkeyPatch, dynamic: bool, mfma: str) -> None:
    monkeypatch.setattr("wave_mlir.wave.compile_options._warned", set())
    with pytest.warns(UserWarning, match="option 'wave_runtime' has no effect"):
        loaded("matmul", monkeypatch).run(dynamic=dynamic, mfma=MMAType[mfma])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_softmax(monkeypatch: pytest.MonkeyPatch, dtype: torch.dtype) -> None:
    loaded("rows", monkeypatch).softmax(dtype=dtype)


@pytest.mark.parametrize("name", ["gather", "halves"])
def test_rows(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    getattr(loaded("rows", monkeypatch), name)()


@pytest.mark.parametrize("module", finder.MODULES)
def test_each_module(module: str) -> None:
    """Every name of ours is there, is the same object, and comes with a star."""
    shim = importlib.import_module(module)
    scope: dict[str, object] = {}
    exec(f"from {module} import *", scope)
    seen: set[str] = set()
    for source in finder.MODULES[module]:  # the first that has a name gives it
        ours = importlib.import_module(source)
        for name in finder._public(ours):
            if f"{module}.{name}" not in finder.MODULES and name not in seen:
                assert getattr(shim, name) is getattr(ours, name) is scope[name], name
            seen.add(name)


def test_ways_to_import() -> None:
    scope: dict[str, object] = {}
    exec("from wave_lang.kernel import lang as a, wave as b\nimport wave_lang.kernel.wave.utils.run_utils as c", scope)
    assert scope["a"].sym.M is tkl.sym.M or scope["a"].sym.M == tkl.sym.M  # type: ignore[attr-defined]
    assert scope["b"].read is tkw.read  # type: ignore[attr-defined]
    assert scope["c"].set_default_run_config.__module__ == "wave_mlir.wave.utils.run_utils"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (
            "from wave_lang.kernel.wave import reed",
            "no counterpart of reed in wave_lang.kernel.wave; did you mean read?",
        ),
        ("from wave_lang.kernel.lang import Grid5", "no counterpart of Grid5 in wave_lang.kernel.lang"),
        (
            "import wave_lang.kernel.wave.templates.speculative_decoding",
            "wave_lang.kernel.wave.templates.speculative_decoding has no .*copy this one's function",
        ),
        ("from wave_lang.kernel.wave.templates.gemm import get_streamk_gemm_kernel", "did you mean get_splitk_gemm"),
        (
            "import wave_lang.kernel.wave.constraint",
            "the module wave_lang.kernel.wave.constraint; did you mean .*constraints",
        ),
        ("import wave_lang.aot", "no counterpart of the module wave_lang.aot.*docs/compat.md"),
    ],
)
def test_what_is_lacking(statement: str, message: str) -> None:
    with pytest.raises(ImportError, match=message):
        exec(statement)


def test_an_installed_package_wins(tmp_path: Path) -> None:
    (tmp_path / "wave_lang").mkdir()
    (tmp_path / "wave_lang" / "__init__.py").write_text("real = True\n")
    code = (
        "import warnings; warnings.simplefilter('error')\n"
        "try:\n  import wave_mlir.compat\nexcept UserWarning as e: print(e)\n"
        "import wave_lang; print(wave_lang.real)\n"
        "try:\n  import wave_lang.kernel\nexcept ModuleNotFoundError as e: print(e)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    warning, real, missing = done.stdout.splitlines()
    assert "wave_lang is installed, so its imports are left to it" in warning and real == "True"
    assert missing == "No module named 'wave_lang.kernel'", done.stderr


def test_it_answers_only_when_asked() -> None:
    code = "import wave_mlir.wave\ntry:\n  import wave_lang\nexcept ModuleNotFoundError: print('not there')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "not there\n", done.stderr
    assert "torch" not in subprocess.run(
        [sys.executable, "-c", "import sys, wave_mlir.compat, wave_lang.kernel.wave.compile; print(*sys.modules)"],
        capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip


def test_options_of_the_language(monkeypatch: pytest.MonkeyPatch) -> None:
    """Options that ask for what is done anyway are silent, others say so once; all can be read back."""
    monkeypatch.setattr("wave_mlir.wave.compile_options._warned", set())
    import warnings

    from wave_mlir.wave.scheduling import SchedulingType

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = WaveCompileOptions(canonicalize=True, run_bench=False, schedule=SchedulingType.NONE, waves_per_eu=None)
    assert made.schedule is SchedulingType.NONE and made.canonicalize is True  # type: ignore[attr-defined]
    with pytest.warns(UserWarning, match="'specialize' has no effect here: all waves run the same code"):
        made = WaveCompileOptions(specialize=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        WaveCompileOptions(specialize=True)
        made = WaveCompileOptions(schedule=SchedulingType.MODULO, multi_buffer_count=2)
    assert made.pipeline().schedule == "modulo" and made.pipeline().buffer_copies == 2


def test_it_is_imported() -> None:
    assert wave_mlir.compat.MODULES is finder.MODULES
