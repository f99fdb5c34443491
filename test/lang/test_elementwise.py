"""Elementwise operations of the language, in the simulator, against numpy."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import sympy
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from running import check
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL

M, N, BM, BN = tkl.sym.M, tkl.sym.N, tkl.sym.BLOCK_M, tkl.sym.BLOCK_N
CONSTRAINTS = [
    tkw.WorkgroupConstraint(M, BM, 0),
    tkw.WorkgroupConstraint(N, BN, 1),
    tkw.HardwareConstraint(64, vector_shapes={M: 1, N: BN}),
]
SUBS = {M: 13, N: 70, BM: 4, BN: 64}
RNG = np.random.default_rng(3)
INTS = RNG.integers(-9, 9, (13, 70)).astype(np.float32)
FLOATS = (RNG.standard_normal((13, 70)) * 2).astype(np.float32)


def unary(function, dtype=tkl.f32, result=None):
    @tkw.wave(CONSTRAINTS)
    def kernel(a: tkl.Memory[M, N, GLOBAL, dtype], c: tkl.Memory[M, N, GLOBAL, result or dtype]):
        tkw.write(function(tkw.read(a)), c)

    return kernel


EXACT = {
    "add": (lambda x: x + 1, lambda x: x + 1),
    "radd": (lambda x: 2 + x, lambda x: 2 + x),
    "sub": (lambda x: 3 - x, lambda x: 3 - x),
    "mul": (lambda x: x * -2, lambda x: x * -2),
    "div": (lambda x: x / 4, lambda x: x / 4),
    "floordiv": (lambda x: x // 4, lambda x: np.floor(x / 4)),
    "mod": (lambda x: x % 4, lambda x: np.mod(x, 4)),
    "neg": (lambda x: -x, lambda x: -x),
    "abs": (tkw.abs, np.abs),
    "minimum": (lambda x: tkw.minimum(x, 1.0), lambda x: np.minimum(x, 1)),
    "maximum": (lambda x: tkw.maximum(x, 1.0), lambda x: np.maximum(x, 1)),
    "select": (lambda x: tkw.select(x > 0, x, -x * 2), lambda x: np.where(x > 0, x, -x * 2)),
    "roundeven": (lambda x: tkw.roundeven(x / 2), lambda x: np.rint(x / 2)),
    "round": (lambda x: tkw.round(x / 2), lambda x: np.trunc(x / 2 + np.copysign(0.5, x))),
    "floor": (lambda x: tkw.floor(x / 4), lambda x: np.floor(x / 4)),
    "remf": (lambda x: tkw.remf(x, 4.0), lambda x: np.fmod(x, 4)),
}


@pytest.mark.parametrize("name", EXACT)
def test_exact(name: str) -> None:
    function, reference = EXACT[name]
    check(unary(function), SUBS, [INTS, np.zeros_like(INTS)], {1: reference(INTS).astype(np.float32)})


FUNCTIONS = {
    "exp2": np.exp2,
    "exp": np.exp,
    "sin": np.sin,
    "cos": np.cos,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "reciprocal": lambda x: 1 / x,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    data = np.abs(FLOATS) + np.float32(0.5)
    want = FUNCTIONS[name](data.astype(np.float64))
    check(unary(getattr(tkw, name)), SUBS, [data, np.zeros_like(data)], {1: want}, tolerance=1e-4)


DTYPES = {
    "f16": (tkl.f16, np.float16),
    "bf16": (tkl.bf16, ml_dtypes.bfloat16),
    "f64": (tkl.f64, np.float64),
    "i8": (tkl.i8, np.int8),
    "i16": (tkl.i16, np.int16),
    "i32": (tkl.i32, np.int32),
    "i64": (tkl.i64, np.int64),
}


@pytest.mark.parametrize("name", DTYPES)
def test_cast(name: str) -> None:
    dtype, array = DTYPES[name]
    kernel = unary(lambda x: tkw.cast(x * 3, dtype) + 1, result=dtype)
    check(kernel, SUBS, [INTS, np.zeros((13, 70), array)], {1: (INTS * 3 + 1).astype(array)})


INTEGER = {
    "and": (lambda x: x & 6, lambda x: x & 6),
    "or": (lambda x: x | 5, lambda x: x | 5),
    "xor": (lambda x: x ^ 3, lambda x: x ^ 3),
    "floordiv": (lambda x: x // 4, lambda x: x // 4),
    "mod": (lambda x: x % 5, lambda x: x % 5),
    "shl": (lambda x: x << 2, lambda x: x << 2),
    "shr": (lambda x: x >> 1, lambda x: x >> 1),
}


@pytest.mark.parametrize("name", INTEGER)
def test_integers(name: str) -> None:
    function, reference = INTEGER[name]
    data = INTS.astype(np.int32)
    check(unary(function, tkl.i32), SUBS, [data, np.zeros_like(data)], {1: reference(data)})


@pytest.mark.parametrize("name", ["gt", "ge", "lt", "le", "eq", "ne"])
def test_compare(name: str) -> None:
    numpy_name = {"gt": "greater", "ge": "greater_equal", "lt": "less", "le": "less_equal", "eq": "equal"}
    reference = getattr(np, numpy_name.get(name, "not_equal"))
    kernel = unary(lambda x: tkw.cast(getattr(tkw, name)(x, 2.0), tkl.f32))
    check(kernel, SUBS, [INTS, np.zeros_like(INTS)], {1: reference(INTS, 2).astype(np.float32)})


def test_scalar_arguments() -> None:
    @tkw.wave(CONSTRAINTS)
    def kernel(a: tkl.Memory[M, N, GLOBAL, tkl.f32], c: tkl.Memory[M, N, GLOBAL, tkl.f32], s: tkl.f32, n: tkl.i32):
        x = tkw.read(a)
        tkw.write(tkw.select(x > 0, x * s, x + tkw.cast(tkw.broadcast(n, [M, N]), tkl.f32)), c)

    want = np.where(INTS > 0, INTS * 3, INTS + 7)
    check(kernel, SUBS, [INTS, np.zeros_like(INTS), 3.0, 7], {1: want})


def test_self_index() -> None:
    @tkw.wave(CONSTRAINTS)
    def kernel(c: tkl.Memory[M, N, GLOBAL, tkl.i32]):
        i, j = tkw.self_index(M, tkl.i32), tkw.self_index(N, tkl.i32)
        tkw.write(tkw.broadcast(i, [M, N]) * 1000 + j, c)

    i, j = np.mgrid[:13, :70].astype(np.int32)
    check(kernel, SUBS, [np.zeros((13, 70), np.int32)], {0: i * 1000 + j})


def test_apply_expr() -> None:
    @tkw.wave(CONSTRAINTS)
    def kernel(a: tkl.Memory[M, N, GLOBAL, tkl.i32], c: tkl.Memory[M, N, GLOBAL, tkl.i32]):
        x = tkw.apply_expr(tkw.read(a), lambda v: (v // 4) * 3 + v % 5 + M)
        tkw.write(tkw.cast(x, tkl.i32), c)

    data = INTS.astype(np.int32)
    check(kernel, SUBS, [data, np.zeros_like(data)], {1: data // 4 * 3 + data % 5 + 13})


def test_apply_expr_of_negative_values() -> None:
    """Values may be negative, whatever sympy would conclude of sizes."""

    @tkw.wave(CONSTRAINTS)
    def kernel(a: tkl.Memory[M, N, GLOBAL, tkl.i32], c: tkl.Memory[M, N, GLOBAL, tkl.i32]):
        x = tkw.read(a)
        clipped = tkw.apply_expr(x, lambda v: sympy.Max(v, 0) * 100 + sympy.Abs(v))
        chosen = tkw.apply_expr(x, lambda v: sympy.Piecewise((v, v >= 0), (1000, True)))
        positive = tkw.cast(tkw.apply_expr(x, lambda v: v >= 0), tkl.i32)
        tkw.write(tkw.cast(clipped, tkl.i32) + tkw.cast(chosen, tkl.i32) + positive, c)

    data = INTS.astype(np.int32)
    assert data.min() < 0
    want = np.maximum(data, 0) * 100 + np.abs(data) + np.where(data >= 0, data, 1000) + (data >= 0)
    check(kernel, SUBS, [data, np.zeros_like(data)], {1: want})


def test_transpose_by_permute() -> None:
    @tkw.wave(CONSTRAINTS)
    def kernel(a: tkl.Memory[M, N, GLOBAL, tkl.f32], c: tkl.Memory[N, M, GLOBAL, tkl.f32]):
        tkw.write(tkw.permute(tkw.read(a), [N, M]), c)

    check(kernel, SUBS, [INTS, np.zeros((70, 13), np.float32)], {1: INTS.T})
