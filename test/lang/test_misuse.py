"""Operations and constraints given what they cannot take: an error at the user's line, no traceback of this package."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import numpy as np
import pytest
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.compiler.diagnostics import CompileError
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.wave.compile import WaveCompileOptions, wave_compile

M, N = tkl.sym.M, tkl.sym.N
X = tkl.Memory[M, N, GLOBAL, tkl.f32]
GRID, SHAPES = tkw.WorkgroupConstraint(M, 1, 0), {M: 1, N: 64}
ROWS = [GRID, tkw.HardwareConstraint(64, vector_shapes=SHAPES)]


def compile_(body: Callable, rules: object = ROWS, subs: object = None) -> None:
    @tkw.wave(rules)
    def kernel(x: X, y: X):
        body(x, y)

    options = WaveCompileOptions(subs={M: 4, N: 64} if subs is None else subs, target="gfx942", cache=False)
    wave_compile(options, kernel)


def error_of(body: Callable) -> str:
    with pytest.raises(CompileError) as caught:
        compile_(body)
    return str(caught.value)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (lambda x, y: np.exp(tkw.read(x)), "numpy.exp is no function of tiles; take the functions of tkw"),
        (lambda x, y: tkw.read(x) + np.ones(64), "a kernel cannot compute with an array; pass it as an argument"),
        (lambda x, y: np.ones(64) * tkw.read(x), "a kernel cannot compute with an array; pass it as an argument"),
        (lambda x, y: np.add.reduce(tkw.read(x)), "numpy.add is no function of tiles"),
        (lambda x, y: tkw.read(x, y), "y is a memory, not a tile; read it first"),
    ],
    ids=["function", "right", "left", "reduce", "memory for a number"],
)
def test_other_libraries_are_told_apart(body: Callable, text: str) -> None:
    """The error is at the user's line, whoever asked."""
    message = error_of(body)
    assert text in message and message.partition(":")[0].endswith("test_misuse.py")


def test_any_number_of_arguments() -> None:
    with pytest.raises(CompileError, match="kernel kernel: \\*x.* stands for any number of arguments; name each one"):

        @tkw.wave(ROWS)
        def kernel(*x: X):
            pass


def test_numbers_of_numpy() -> None:
    x, y = np.arange(256, dtype=np.float32).reshape(4, 64), np.zeros((4, 64), np.float32)

    @tkw.wave(ROWS)
    def kernel(x: X, y: X):
        inside = np.float32(7) < tkw.read(x)
        bits = 2.0 ** tkw.minimum(tkw.read(x), 4.0)
        tkw.write(tkw.select(inside, np.float32(2) * tkw.read(x) - np.int64(1), np.float64(0) - bits), y)

    wave_compile(WaveCompileOptions(subs={M: 4, N: 64}, target="gfx942"), kernel)(x, y)
    np.testing.assert_array_equal(y, np.where(x > 7, 2 * x - 1, -(2 ** np.minimum(x, 4))))


BODIES = {
    "permute": lambda x, y: tkw.permute(tkw.read(x), None),
    "broadcast": lambda x, y: tkw.broadcast(tkw.read(x), 3),
    "read": lambda x, y: tkw.read(x, mapping=3),
    "conditional": lambda x, y: tkw.conditional("x")(lambda: None),
    "apply_expr": lambda x, y: tkw.apply_expr(tkw.self_index(N, tkl.i32), 3),
    "shuffle": lambda x, y: tkw.shuffle(tkw.read(x), "a", 64),
}


@pytest.mark.parametrize("name", list(BODIES))
def test_operations(name: str) -> None:
    line = inspect.getsourcelines(BODIES[name])[1]
    text = rf"test_misuse.py:{line}:\d+: error: {name}: .*see its documentation .WAVE_TRACEBACK=1 shows the Python"
    with pytest.raises(CompileError, match=text):
        compile_(BODIES[name])


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (None, "wave: a list of constraints is needed; None was given"),
        ([tkw.WorkgroupConstraint(M, -1, 0), ROWS[1]], "a tile size is positive, not -1"),
        ([tkw.WorkgroupConstraint(M, 0, 0), ROWS[1]], "a tile size is positive, not 0"),
        ([GRID, tkw.HardwareConstraint(0, vector_shapes=SHAPES)], "threads_per_wave is a power of two, not 0"),
        ([GRID, tkw.HardwareConstraint(64, (1,), vector_shapes=SHAPES)], "waves_per_block has three numbers, not 1"),
        ([GRID, tkw.HardwareConstraint(64, vector_shapes=[1, 64])], "kernel kernel: it cannot take one of"),
    ],
)
def test_constraints(rules: object, message: str) -> None:
    with pytest.raises(CompileError, match=rf"test_misuse.py:\d+:\d+: error: .*{message}"):
        compile_(lambda x, y: tkw.write(tkw.read(x), y), rules)


def test_substitutions() -> None:
    with pytest.raises(CompileError, match=r"test_misuse.py:\d+:\d+: error: subs: values by symbol are needed"):
        compile_(lambda x, y: None, subs=[1])


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyError, TypeError, AttributeError])
def test_exceptions_of_the_user_pass(error: type[Exception]) -> None:
    def body(x, y):
        raise error("mine")

    with pytest.raises(error, match="mine"):
        compile_(body)


def test_exceptions_in_loops_and_libraries_of_the_user_pass() -> None:
    def body(x, y):
        @tkw.conditional(M > 2)
        def inner():
            np.zeros(3).reshape(2)

    with pytest.raises(ValueError, match="cannot reshape"):
        compile_(body)
