"""Integer arithmetic and casts of the language: machine code, simulator and reference against numpy."""

from __future__ import annotations

import numpy as np
import pytest
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from running import compiled
from wave_mlir import sim
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.sim import reference

M, N, BM, BN = tkl.sym.M, tkl.sym.N, tkl.sym.BLOCK_M, tkl.sym.BLOCK_N
CONSTRAINTS = [
    tkw.WorkgroupConstraint(M, BM, 0),
    tkw.WorkgroupConstraint(N, BN, 1),
    tkw.HardwareConstraint(64, vector_shapes={M: 1, N: BN}),
]
SHAPE = (3, 130)
SUBS = {M: SHAPE[0], N: SHAPE[1], BM: 2, BN: 128}
DTYPES = {
    "i8": (tkl.i8, np.int8),
    "i16": (tkl.i16, np.int16),
    "i32": (tkl.i32, np.int32),
    "i64": (tkl.i64, np.int64),
}
OPERATIONS = {
    "floordiv": (lambda x, y: x // y, np.floor_divide),
    "mod": (lambda x, y: x % y, np.mod),
    "remf": (tkw.remf, np.fmod),
    "constant": (lambda x, y: x // -7 + x % 12, lambda x, y: x // -7 + x % 12),
    "minimum": (lambda x, y: tkw.minimum(x, y), np.minimum),
    "maximum": (lambda x, y: tkw.maximum(x, -y), lambda x, y: np.maximum(x, -y)),
    "abs": (lambda x, y: tkw.abs(x) - y, lambda x, y: np.abs(x) - y),
    "shifts": (lambda x, y: (x << 3) ^ (x >> (y & 7)), lambda x, y: (x << 3) ^ (x >> (y & 7))),
    "shl": (lambda x, y: x << y, np.left_shift),
    "shr": (lambda x, y: x >> y, np.right_shift),
    "shifts of constants": (
        lambda x, y: (3 << y) + (np.int64(-9) >> y),
        lambda x, y: (np.full_like(x, 3) << y) + (np.full_like(x, -9) >> y),
    ),
    "shifts by constants": (lambda x, y: (x << 70) + (x >> 70), lambda x, y: x >> 63),
}


def run_all(kernel, args: list[np.ndarray], result: np.ndarray, isa) -> list[np.ndarray]:
    """The result of machine code, the simulator and the reference evaluator."""
    made = compiled(kernel, SUBS)
    outputs = [result.copy() for _ in range(3)]
    isa(made._compiled, *args, outputs[0])
    sim.run(made._compiled.module, [*args, outputs[1]])
    reference.run(kernel.trace(SUBS, (), "gfx942", "k"), [*args, outputs[2]])
    return outputs


@pytest.mark.thin(3)
@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize("name", OPERATIONS)
def test_integers(name: str, kind: str, isa) -> None:
    dtype, array = DTYPES[kind]
    function, expected = OPERATIONS[name]

    @tkw.wave(CONSTRAINTS)
    def kernel(
        a: tkl.Memory[M, N, GLOBAL, dtype], b: tkl.Memory[M, N, GLOBAL, dtype], c: tkl.Memory[M, N, GLOBAL, dtype]
    ):
        tkw.write(function(tkw.read(a), tkw.read(b)), c)

    rng, info = np.random.default_rng(4), np.iinfo(array)
    x = rng.integers(info.min + 1, info.max, SHAPE, array, endpoint=True) >> rng.integers(0, info.bits, SHAPE, array)
    y = rng.integers(info.min + 1, info.max, SHAPE, array, endpoint=True) >> rng.integers(0, info.bits, SHAPE, array)
    y[y == 0] = 3
    with np.errstate(over="ignore"):
        want = expected(x, y).astype(array)
    for got in run_all(kernel, [x, y], np.zeros_like(x), isa):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("kind", DTYPES)
def test_division_by_zero(kind: str, isa) -> None:
    dtype, array = DTYPES[kind]

    @tkw.wave(CONSTRAINTS)
    def kernel(
        a: tkl.Memory[M, N, GLOBAL, dtype], b: tkl.Memory[M, N, GLOBAL, dtype], c: tkl.Memory[M, N, GLOBAL, dtype]
    ):
        x, y = tkw.read(a), tkw.read(b)
        tkw.write(x // y - x % y - x // 0, c)

    x, y = np.arange(-195, 195).astype(array).reshape(SHAPE), np.zeros(SHAPE, array)
    for got in run_all(kernel, [x, y], np.ones_like(x), isa):
        np.testing.assert_array_equal(got, 0)


@pytest.mark.parametrize("kind", DTYPES)
def test_casts_saturate(kind: str, isa) -> None:
    dtype, array = DTYPES[kind]

    @tkw.wave(CONSTRAINTS)
    def kernel(a: tkl.Memory[M, N, GLOBAL, tkl.f32], c: tkl.Memory[M, N, GLOBAL, dtype]):
        tkw.write(tkw.cast(tkw.read(a), dtype), c)

    rng, info = np.random.default_rng(5), np.iinfo(array)
    x = (rng.standard_normal(SHAPE) * 2.0 ** (info.bits - 1)).astype(np.float32)
    x[0, :8] = [np.nan, np.inf, -np.inf, -0.0, 0.9, -0.9, 1e30, -1e30]
    whole = np.where(np.isnan(x), 0, np.trunc(x)).astype(np.float64)
    values = [
        min(max(int(v), info.min), info.max) if np.isfinite(v) else info.max if v > 0 else info.min for v in whole.flat
    ]
    for got in run_all(kernel, [x], np.zeros(SHAPE, array), isa):
        np.testing.assert_array_equal(got, np.array(values, array).reshape(SHAPE))
