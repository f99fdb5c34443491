"""Elementary functions of the language: the simulator and machine code, against numpy."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from elementwise_machine import ulps
from running import compiled
from wave_mlir import sim
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.wave.compile import WaveCompileOptions, wave_compile

M, N, BM, BN = tkl.sym.M, tkl.sym.N, tkl.sym.BLOCK_M, tkl.sym.BLOCK_N
CONSTRAINTS = [
    tkw.WorkgroupConstraint(M, BM, 0),
    tkw.WorkgroupConstraint(N, BN, 1),
    tkw.HardwareConstraint(64, vector_shapes={M: 1, N: BN}),
]
SHAPE = (3, 100)
SUBS = {M: SHAPE[0], N: SHAPE[1], BM: 2, BN: 128}
DTYPES = {
    "f32": (tkl.f32, np.float32),
    "f16": (tkl.f16, np.float16),
    "bf16": (tkl.bf16, ml_dtypes.bfloat16),
    "f64": (tkl.f64, np.float64),
}
UNARY = {
    "exp": np.exp, "exp2": np.exp2, "sin": np.sin, "cos": np.cos, "tan": np.tan, "sinh": np.sinh, "cosh": np.cosh,
    "tanh": np.tanh, "cbrt": np.cbrt, "reciprocal": lambda x: 1 / x,
}  # fmt: skip
OF_POSITIVE = {
    "log": np.log, "log2": np.log2, "log10": np.log10, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x),
}  # fmt: skip


def data(kind: str, seed: int = 1) -> np.ndarray:
    return (np.random.default_rng(seed).standard_normal(SHAPE) * 3).astype(DTYPES[kind][1])


def one_argument(name: str, kind: str, negative: bool = True):
    dtype = DTYPES[kind][0]

    @tkw.wave(CONSTRAINTS)
    def kernel(a: tkl.Memory[M, N, GLOBAL, dtype], c: tkl.Memory[M, N, GLOBAL, dtype]):
        x = tkw.read(a)
        tkw.write(getattr(tkw, name)(x if negative else tkw.abs(x)), c)

    return kernel


def two_arguments(name: str, kind: str):
    dtype = DTYPES[kind][0]

    @tkw.wave(CONSTRAINTS)
    def kernel(
        a: tkl.Memory[M, N, GLOBAL, dtype], b: tkl.Memory[M, N, GLOBAL, dtype], c: tkl.Memory[M, N, GLOBAL, dtype]
    ):
        tkw.write(getattr(tkw, name)(tkw.read(a), tkw.read(b)), c)

    return kernel


def check(kernel, args, want: np.ndarray, kind: str, bound: float, isa) -> None:
    """Both the simulator's and machine code's results are within the bound, that of f16 and bf16 being 0.501."""
    made = compiled(kernel, SUBS)._compiled
    for run in (lambda *given: sim.run(made.module, given), lambda *given: isa(made, *given)):
        got = np.zeros_like(args[0])
        run(*args, got)
        assert ulps(got, want, kind).max() <= (min(bound, 0.501) if "16" in kind else bound)


@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str, isa) -> None:
    kind = "f16" if len(name) % 2 else "f32"
    x = data(kind)
    check(one_argument(name, kind), [x], UNARY[name](x.astype(np.longdouble)), kind, 2, isa)


@pytest.mark.parametrize("name", OF_POSITIVE)
def test_of_positive(name: str, isa) -> None:
    x = data("f32")
    want = OF_POSITIVE[name](np.abs(x).astype(np.longdouble))
    check(one_argument(name, "f32", negative=False), [x], want, "f32", 2, isa)


@pytest.mark.parametrize("kind", ["bf16", "f64"])
def test_other_dtypes(kind: str, isa) -> None:
    x = data(kind)
    check(one_argument("tanh", kind), [x], np.tanh(x.astype(np.longdouble)), kind, 2, isa)


def test_tanh_approx(isa) -> None:
    x = data("f32")
    made = compiled(one_argument("tanh_approx", "f32"), SUBS)._compiled
    got = np.zeros_like(x)
    isa(made, x, got)
    np.testing.assert_allclose(got, np.tanh(x), rtol=2.0**-14)
    assert "v_exp_f32" in made.isa and "v_rcp_f32" in made.isa


def test_fast_math(isa) -> None:
    @tkw.wave(CONSTRAINTS)
    def kernel(a: tkl.Memory[M, N, GLOBAL, tkl.f32], c: tkl.Memory[M, N, GLOBAL, tkl.f32]):
        x = tkw.read(a)
        tkw.write(tkw.exp2(x) / (tkw.sqrt(tkw.abs(x)) + 1.5), c)

    x = data("f32")
    want = np.exp2(x) / (np.sqrt(np.abs(x)) + 1.5)
    codes = []
    for fast in (False, True):
        made = wave_compile(WaveCompileOptions(subs=SUBS, target="gfx942", use_fast_math=fast), kernel)
        got = np.zeros_like(x)
        isa(made._compiled, x, got)
        np.testing.assert_allclose(got, want, rtol=1e-6)
        codes.append(made.isa)
    assert "v_div_scale_f32" in codes[0] and "v_div_scale_f32" not in codes[1]
    assert codes[1].count("v_cmp") < codes[0].count("v_cmp")  # nothing is done for denormal numbers


@pytest.mark.parametrize("name,kind,bound", [
    ("powf", "f32", 1.0), ("atan2", "f32", 2.0), ("remf", "bf16", 0.0), ("mod", "f32", 0.501), ("powf", "bf16", 0.501),
])  # fmt: skip
def test_binary(name: str, kind: str, bound: float, isa) -> None:
    x, y = data(kind), data(kind, 2)
    if name == "powf":  # half of the bases are negative, with integer exponents
        x = np.abs(x)
        y[:, ::2] = np.rint(y[:, ::2].astype(np.float32)).astype(y.dtype)
        x[:, ::2] = -x[:, ::2]
    reference = {"powf": np.power, "atan2": np.arctan2, "mod": np.mod, "remf": np.fmod}[name]
    check(
        two_arguments(name, kind), [x, y], reference(x.astype(np.longdouble), y.astype(np.longdouble)), kind, bound, isa
    )
