"""debug_log: what a call leaves behind."""

from __future__ import annotations

import numpy as np
import pytest
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.compiler.diagnostics import CompileError
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.wave.compile import CompiledKernel, WaveCompileOptions, wave_compile

M, N, K, TRIP = tkl.sym.M, tkl.sym.N, tkl.sym.K, tkl.sym.TRIP
SHAPES = tkw.HardwareConstraint(64, vector_shapes={M: 1, N: 64})
ROWS = [tkw.WorkgroupConstraint(M, 1, 0), tkw.WorkgroupConstraint(N, 64, 1), SHAPES]
X = tkl.Memory[M, N, GLOBAL, tkl.f32]


def made(kernel: tkw.WaveKernel, subs: dict, dynamic: tuple = ()) -> CompiledKernel:
    return wave_compile(WaveCompileOptions(subs=subs, dynamic_symbols=dynamic, target="gfx942"), kernel)


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
def test_values(dynamic: bool) -> None:
    """Two logs, with and without a label; printers and handlers get them after the call. Arrays are of the library of
    the arguments."""
    torch = pytest.importorskip("torch")
    heard: list = []

    @tkw.wave(ROWS)
    def doubled(x: X, y: X):
        value = tkw.read(x)
        tkw.debug_log(value, printer=lambda *given: heard.append(given))
        tkw.debug_log(value > 0.0, label="positive", handler=lambda logs: heard.append(sorted(logs)))
        tkw.write(value + value, y)

    x, y, logs = torch.randn(3, 70), torch.zeros(3, 70), {}
    kernel = made(doubled, {} if dynamic else {M: 3, N: 70}, (M, N) if dynamic else ())
    kernel(x, y, debug_logs=logs)
    assert torch.equal(y, x + x) and list(logs) == ["debug_log_output_0", "positive"]
    assert torch.equal(logs["debug_log_output_0"]["value"], x)
    assert torch.equal(logs["positive"]["value"], x > 0)
    assert logs["positive"]["symbolic_shape"] == (M, N) and logs["positive"]["iteration_dimensions"] == []
    assert heard[0][0] == "debug_log_output_0" and heard[0][1] is logs["debug_log_output_0"]["value"]
    assert heard[1] == ["debug_log_output_0", "positive"]
    kernel(x, y)  # the logs of a call that nobody looks at


@pytest.mark.parametrize("label", ["x", "of x, halved", "debug_log.0", 'a"b\\'])
def test_labels_are_any_text(label: str) -> None:
    """A label is no name in the program: neither that of another argument nor one at all."""

    @tkw.wave(ROWS)
    def kernel(x_log: X, y: X):
        value = tkw.read(x_log)
        tkw.debug_log(value, label)
        tkw.debug_log(value + value, label + "_log")
        tkw.write(value, y)

    compiled, logs = made(kernel, {M: 2, N: 64}), {}
    x, y = np.arange(128, dtype=np.float32).reshape(2, 64), np.zeros((2, 64), np.float32)
    compiled(x, y, debug_logs=logs)
    assert list(logs) == [label, label + "_log"] and (logs[label]["value"] == x).all()
    assert (logs[label + "_log"]["value"] == 2 * x).all()
    compiled.run_isa(x, y)
    assert compiled.hsaco


def test_trips_of_a_loop_and_a_mapping() -> None:
    """The running sum after each trip, and the last one with its dims exchanged."""

    @tkw.wave([*ROWS[:2], tkw.TilingConstraint(K, 1), SHAPES])
    def powers(x: X, y: X):
        @tkw.iterate(K, init_args=[tkw.read(x)])
        def loop(value):
            value = value + value
            tkw.debug_log(value, "value", extra_iteration_dimensions=[(TRIP, K, 3)])
            return value

        i, j = tkw.IndexMapping.iterator(0), tkw.IndexMapping.iterator(1)
        tkw.debug_log(loop, "exchanged", mapping=tkw.IndexMapping(2, {M: i, N: j}, {N: j, M: i}))
        tkw.write(loop, y)

    x = np.arange(2 * 64, dtype=np.float32).reshape(2, 64)
    logs: dict = {}
    kernel = made(powers, {M: 2, N: 64, K: 3})
    y = np.zeros_like(x)
    kernel(x, y, debug_logs=logs)
    np.testing.assert_array_equal(logs["value"]["value"], np.stack([2 * x, 4 * x, 8 * x]))
    assert logs["value"]["iteration_dimensions"] == [TRIP]
    np.testing.assert_array_equal(logs["exchanged"]["value"], 8 * x.T)
    y[:] = 0
    kernel.run_isa(x, y)
    np.testing.assert_array_equal(y, 8 * x)


def test_two_logs_of_one_label() -> None:
    @tkw.wave(ROWS)
    def twice(x: X):
        tkw.debug_log(tkw.read(x), "x")
        tkw.debug_log(tkw.read(x), "x")

    with pytest.raises(CompileError, match=r"test_debug_log.py:\d+:\d+: error: debug_log: there is another log 'x'"):
        made(twice, {M: 2, N: 64})


def test_a_dim_that_the_kernel_sets() -> None:
    @tkw.wave([*ROWS, tkw.TilingConstraint(K, 1)])
    def ragged(x: X, lengths: tkl.Memory[M, GLOBAL, tkl.i32], table: tkl.Memory[K, GLOBAL, tkl.i32]):
        length = tkw.read(lengths)
        tkw.set_symbol(TRIP, length)
        tkw.debug_log(tkl.Register[M, TRIP, tkl.i32](0), "x")

    with pytest.raises(CompileError, match=r"error: debug_log: dim TRIP has no size at the launch"):
        made(ragged, {M: 2, N: 64, K: 5})
