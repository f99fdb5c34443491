"""Runs kernels of the language and compares them with what numpy gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from wave_mlir import sim
from wave_mlir.compiler import targets
from wave_mlir.wave.compile import CompiledKernel, WaveCompileOptions, wave_compile
from wave_mlir.wave.kernel import WaveKernel


def compiled(kernel: WaveKernel, subs: Mapping, target: str = "gfx942", dynamic: Sequence = ()) -> CompiledKernel:
    """The kernel, compiled to machine code too, so that code generation is tested with every kernel."""
    made = wave_compile(WaveCompileOptions(subs=subs, target=target, dynamic_symbols=dynamic), kernel)
    assert made.hsaco[:4] == b"\x7fELF"
    return made


def check(
    kernel: WaveKernel,
    subs: Mapping,
    args: Sequence,
    expected: Mapping[int, np.ndarray],
    *,
    target: str = "gfx942",
    dynamic: Sequence = (),
    tolerance: float = 0.0,
    orders: Sequence[str] = ("forward", "reverse"),
    isa: bool = True,
) -> CompiledKernel:
    """Run in the simulator, all checks on, in several wave orders. expected: results by argument number.

    tolerance: greatest absolute error; 0: equal bits (NaN equals NaN). isa: run the machine code too, waves in random
    order.
    """
    made = compiled(kernel, subs, target, dynamic)
    for order in orders:
        given = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
        bound = made._launcher.bind(given)
        symbols = {n: bound.symbols[n] for n in made.abi.dynamic_symbols}
        sim.run(made._compiled.module, [*bound.memories, *bound.scalars], symbols=symbols, order=order)
        _compare(given, expected, tolerance)
    if isa and targets.get(target).wave_size == 64:  # the runner is of these targets
        given = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
        bound = made._launcher.bind(given)
        symbols = {n: bound.symbols[n] for n in made.abi.dynamic_symbols}
        made._compiled.run_isa(*bound.memories, *bound.scalars, symbols=symbols)
        _compare(given, expected, tolerance)
    return made


def check_machine(
    made: CompiledKernel, args: Sequence, expected: Mapping[int, np.ndarray], tolerance: float, seed: int
):
    """Run the machine code, all checks on, waves in an order drawn from `seed`. expected: by argument number."""
    given = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    made._compiled.run_isa(*given, seed=seed)
    for number, want in expected.items():
        np.testing.assert_allclose(given[number].astype(np.float64), want, rtol=0, atol=tolerance)


def _compare(given: Sequence, expected: Mapping[int, np.ndarray], tolerance: float) -> None:
    for number, want in expected.items():
        if tolerance:
            np.testing.assert_allclose(given[number].astype(np.float64), want, rtol=0, atol=tolerance)
        else:
            np.testing.assert_array_equal(given[number], want)
