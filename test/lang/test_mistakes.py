"""Mistakes in calls and options: one clear message each, nothing ignored in silence."""

from __future__ import annotations

import numpy as np
import pytest
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.compiler.abi import AbiError
from wave_mlir.compiler.diagnostics import CompileError
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.wave.compile import WaveCompileOptions, wave_compile

M, N = tkl.sym.M, tkl.sym.N
CONSTRAINTS = [tkw.WorkgroupConstraint(M, 64, 0), tkw.HardwareConstraint(64, vector_shapes={M: 64})]


def scaled(constraints: list):
    @tkw.wave(constraints)
    def kernel(a: tkl.Memory[M, GLOBAL, tkl.f32], c: tkl.Memory[M, GLOBAL, tkl.f32], n: tkl.i32):
        tkw.write(tkw.read(a) + tkw.cast(tkw.broadcast(n, [M]), tkl.f32), c)

    return kernel


@pytest.mark.parametrize(
    ("constraint", "message"),
    [
        (tkw.WaveConstraint(M, 64, wave_id=1), "wave_id has no meaning"),
    ],
)
def test_constraints_without_a_meaning(constraint, message: str) -> None:
    with pytest.raises(CompileError, match=rf"test_mistakes.py:\d+:\d+: error: .*{message}"):
        scaled([*CONSTRAINTS, constraint]).trace({M: 64, N: 8})


def test_copy_to_what_is_not_lds() -> None:
    @tkw.wave(CONSTRAINTS)
    def kernel(a: tkl.Memory[M, GLOBAL, tkl.f32], c: tkl.Memory[M, GLOBAL, tkl.f32]):
        tkw.gather_to_shared(a, c)

    with pytest.raises(CompileError, match=r"test_mistakes.py:\d+:\d+: error: gather_to_shared: c is not in LDS"):
        kernel.trace({M: 64})


def test_options() -> None:
    with pytest.warns(UserWarning, match="'waves_per_eu' has no effect here"):
        WaveCompileOptions(waves_per_eu=2)
    with pytest.raises(CompileError, match="did you mean 'dynamic_symbols'"):
        WaveCompileOptions(dynamic_symbol=[M])


def test_service_waves() -> None:
    """A number of waves that only load is accepted, and changes nothing."""
    with pytest.warns(UserWarning, match="n_service_waves=1 has no effect here: all waves load") as seen:
        hardware = tkw.HardwareConstraint(64, n_service_waves=1)
    assert seen[0].filename == __file__
    made = wave_compile(WaveCompileOptions(subs={M: 64}, target="gfx942"), scaled([CONSTRAINTS[0], hardware]))
    assert made.abi.block == (64, 1, 1)


def test_name_of_the_function() -> None:
    made = wave_compile(WaveCompileOptions(subs={M: 64}, target="gfx942", func_name="other"), scaled(CONSTRAINTS))
    assert made.name == made.abi.name == "other" and "other" in made.isa


@pytest.mark.parametrize("value", [1 << 40, 2.5])
def test_scalars_that_do_not_fit(value: float) -> None:
    made = wave_compile(WaveCompileOptions(subs={M: 64}, target="gfx942"), scaled(CONSTRAINTS))
    a = np.zeros(64, np.float32)
    with pytest.raises(AbiError, match="argument 'n'.* is no i32"):
        made.plan(a, a, value)
