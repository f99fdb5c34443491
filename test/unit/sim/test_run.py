"""The interface of a run: kernels chosen by name, progress, cheap import."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from mlir import ir
from sim_harness import GLOBAL, kernel
from wave_mlir import sim
from wave_mlir.sim import progress
from wave_mlir.sim.program import known_operations

ARGS = f"%o: memref<?xi32, {GLOBAL}>"
LOOP = f"""
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c9 = arith.constant 9 : index
      %t = gpu.thread_id x
      scf.for %i = %c0 to %c9 step %c1 {{
        %v = arith.index_cast %i : index to i32
        memref.store %v, %o[%t] : memref<?xi32, {GLOBAL}>
      }}"""


def test_import_is_lazy():
    code = "import sys, wave_mlir.sim; print('numpy' in sys.modules or 'mlir' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"
    with pytest.raises(AttributeError):
        _ = sim.nothing


def test_progress(monkeypatch, capsys):
    monkeypatch.setattr(progress, "FIRST_AFTER", 0.0)
    monkeypatch.setattr(progress, "EVERY", 0.0)
    seen: list[tuple[float, int, float]] = []
    o = np.zeros(64, np.int32)
    with ir.Context():
        module = ir.Module.parse(kernel(LOOP, ARGS))
        sim.run(module, [o], grid=(1,), progress=lambda *now: seen.append(now))
        assert len(seen) >= 9 and seen[-1][1] > 0
        sim.run(module, [o], grid=(1,), progress=True)
        assert "wave operations" in capsys.readouterr().err
        sim.run(module, [o], grid=(1,))
        assert capsys.readouterr().err == ""  # not a terminal


def test_choice_of_kernel():
    o = np.zeros(64, np.int32)
    body = kernel(LOOP, ARGS)
    two = body.replace(
        "gpu.module @m {",
        "gpu.module @m {\n"
        + body.split("gpu.module @m {")[1]
        .rsplit("}", 2)[0]
        .rsplit("}", 1)[0]
        .replace("@k", "@other")
        .replace("%c9 = arith.constant 9", "%c9 = arith.constant 5")
        + "}\n",
        1,
    )
    with ir.Context():
        module = ir.Module.parse(two)
        with pytest.raises(sim.SimError, match="name it with kernel="):
            sim.run(module, [o], grid=(1,))
        sim.run(module, [o], grid=(1,), kernel="other")
        assert (o == 4).all()
        sim.run(module, [o], grid=(1,), kernel="k")
        assert (o == 8).all()


def test_operations_are_known():
    names = known_operations()
    assert names == sorted(names) and "amdgpu.mfma" in names and len(names) > 250


def test_own_failures_have_a_location(monkeypatch):
    from wave_mlir.sim import access

    def broken(*_: object) -> None:
        raise KeyError("x")

    o = np.zeros(64, np.int32)
    with ir.Context():
        module = ir.Module.parse(kernel(LOOP, ARGS))
        monkeypatch.setattr(access, "store", broken)
        with pytest.raises(sim.SimError, match="the simulator failed at memref.store: KeyError") as caught:
            sim.run(module, [o], grid=(1,))
    assert caught.value.kind == "internal" and caught.value.location
