"""`wave run`: compile a module, run it on generated data, and compare with the reference evaluator.

It runs in the simulator, or with --isa as machine code.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from wave_mlir import sim
from wave_mlir.compiler import abi, driver, exprtext, forms, outputs
from wave_mlir.compiler.array_strides import RUN_TIME, element_strides, span
from wave_mlir.compiler.diagnostics import CompileError, Diagnostic
from wave_mlir.passes.pipelines import PipelineOptions
from wave_mlir.sim.dtypes import dtype_named

from . import wave_isa, wave_python
from .wave_isa import Choices

_REFERENCE = "wave_mlir.sim.reference"
GAP = 3
"""Elements left out between rows whose stride is given at run time."""
LARGEST = 4
"""Generated elements are integers of at most this size: sums of their products are exact in f32 up to K = 2^20."""


def run_file(
    path: str,
    target: str | None,
    symbols: Mapping[str, int | str],
    kernel: str | None,
    seed: int,
    machine: Choices | None = None,
    options: PipelineOptions | None = None,
) -> int:
    """Compile and run all kernels (or `kernel`); returns the exit code: 1 when a check or the comparison fails.

    machine: run machine code, in this way; None: the simulator. options: of
    the pipelines. A file of machine code is run as it is.
    """
    if path.endswith(wave_isa.MACHINE_CODE):
        if target:
            message = f"machine code is for one target; compile the module again for {target}"
            raise CompileError([Diagnostic("error", path, message)])
        if options is not None and options != PipelineOptions():
            message = "--options are for the compiler; this is machine code: compile the module again with them"
            raise CompileError([Diagnostic("error", path, message)])
        return _run_machine_code(path, wave_python.integers(path, symbols), kernel, seed, machine or Choices(seed=seed))
    if machine is not None and machine.trace:
        outputs.check_can_write(machine.trace)
    module, values, kernel = wave_python.read_module(path, target, symbols, kernel)
    source = str(module)
    form = forms.form_of(module.operation)
    static, dynamic = _split_symbols(module, values)
    debug = machine is not None
    compiled = driver.compile_module(module, target, static, kernel=kernel, debug=debug, options=options)
    failed = False
    _check_trace(path, machine, compiled.kernels)
    for found in compiled.kernels:
        failed |= not _run_kernel(compiled, found, dynamic, seed, source if form == "tile" else None, static, machine)
    return 1 if failed else 0


def _check_trace(path: str, machine: Choices | None, kernels: Sequence[abi.KernelABI]) -> None:
    if machine is not None and machine.trace and len(kernels) > 1:
        names = ", ".join(k.name for k in kernels)
        raise CompileError([Diagnostic("error", path, f"--trace takes one kernel; name one with --kernel: {names}")])


def _check_symbols(path: str, symbols: Mapping[str, int], kernels: Sequence[abi.KernelABI]) -> None:
    """Machine code takes values of run-time symbols only."""
    known = {name for kernel in kernels for name in kernel.dynamic_symbols}
    for name in symbols:
        if name not in known:
            there = f"its run-time symbols are {', '.join(sorted(known))}" if known else "it has no run-time symbols"
            message = f"machine code takes no value for '{name}': {there}; compile the module again with --set {name}=…"
            raise CompileError([Diagnostic("error", path, message)])


def _run_machine_code(path: str, symbols: Mapping[str, int], kernel: str | None, seed: int, machine: Choices) -> int:
    """Run the kernels of an assembly file or code object; there is nothing to compare them with."""
    if machine.trace:
        outputs.check_can_write(machine.trace)
    kernels = wave_isa.read_kernels(path, kernel)
    _check_trace(path, machine, kernels)
    _check_symbols(path, symbols, kernels)
    for found in kernels:
        arrays, scalars, values = _inputs(found, symbols, seed)
        _print_kernel(found, arrays, values)
        wave_isa.run_kernel(Path(path), found, arrays, scalars, _dynamic(found, values), machine)
        print("  no comparison: the reference evaluates tile form, and the input is machine code")
    return 0


def _split_symbols(module, symbols: Mapping[str, int]) -> tuple[dict[str, int], dict[str, int]]:
    """Values for static symbols (compiled in) and for dynamic ones (given at the run)."""
    names: set[str] = set()
    for op in module.body.operations:
        if op.operation.name == "wave.kernel":
            names.update(e.value for e in op.operation.attributes["dynamic"])
    for function in abi.kernel_functions(module):
        names.update(abi.read_abi(function).dynamic_symbols)
    static = {n: v for n, v in symbols.items() if n not in names}
    return static, {n: v for n, v in symbols.items() if n in names}


def _run_kernel(
    compiled: driver.Compiled,
    kernel: abi.KernelABI,
    dynamic: Mapping[str, int],
    seed: int,
    tile_text: str | None,
    static: Mapping[str, int],
    machine: Choices | None,
) -> bool:
    arrays, scalars, values = _inputs(kernel, dynamic, seed)
    expected = [_like(a) for a in arrays]
    if machine is None:
        _simulate(compiled, kernel, arrays, scalars, values)
    else:
        _print_kernel(kernel, arrays, values)
        wave_isa.run_kernel(compiled.isa, kernel, arrays, scalars, _dynamic(kernel, values), machine)
    if tile_text is None:
        print("  no comparison: the reference evaluates tile form, and the input is past it")
        return True
    if find_spec(_REFERENCE) is None:
        print("  no comparison: this build has no reference evaluator")
        return True
    reference = import_module(_REFERENCE)
    try:
        reference.run(driver.parse(tile_text), [*expected, *scalars], kernel=kernel.name, symbols={**static, **dynamic})
    except sim.SimError as error:
        if error.kind == "unsupported":
            print(f"  no comparison: the reference evaluator has no {error.message}")
            return True
        message = f"kernel '{kernel.name}': the reference evaluator: {error.kind}: {error.message}"
        raise CompileError([Diagnostic("error", error.location or "<run>", message)]) from None
    return _compare(kernel, arrays, expected)


def _inputs(
    kernel: abi.KernelABI, dynamic: Mapping[str, int], seed: int
) -> tuple[list[np.ndarray], list[int], dict[str, int]]:
    """(arrays, scalars, values of all symbols). Raises CompileError when a symbol has no or a wrong value."""
    for name in kernel.dynamic_symbols:
        if name not in dynamic:
            raise _failure(f"kernel '{kernel.name}': dynamic symbol '{name}' has no value; give --set {name}=…")
    try:
        values = kernel.values({n: v for n, v in dynamic.items() if n in kernel.dynamic_symbols})
        kernel.grid_for(_dynamic(kernel, values))
        return *generate(kernel, values, np.random.default_rng(seed)), values
    except abi.AbiError as error:
        raise _failure(str(error)) from None
    except (MemoryError, ValueError) as error:  # numpy raises either for an array that cannot be
        text = f"the arrays do not fit in this machine's memory ({error}); give smaller sizes with --set"
        raise _failure(f"kernel '{kernel.name}': {text}") from None


def _print_kernel(kernel: abi.KernelABI, arrays: list[np.ndarray], values: Mapping[str, int]) -> None:
    grid = kernel.grid_for(_dynamic(kernel, values))
    print(f"{kernel.name}: grid {_times(grid)}, block {_times(kernel.block)}, target {kernel.target}")
    for arg, array in zip(kernel.memories, arrays, strict=True):
        print(f"  {arg.name}: {arg.dtype}[{', '.join(map(str, array.shape))}] {arg.access}")


def _simulate(
    compiled: driver.Compiled,
    kernel: abi.KernelABI,
    arrays: list[np.ndarray],
    scalars: list[int],
    values: Mapping[str, int],
) -> None:
    try:
        result = sim.run(compiled.module, [*arrays, *scalars], symbols=_dynamic(kernel, values), kernel=kernel.name)
    except sim.SimError as error:
        message = f"kernel '{kernel.name}': {error.kind}: {error.message}"
        raise CompileError([Diagnostic("error", error.location or "<run>", message)]) from None
    _print_kernel(kernel, arrays, values)
    print(f"  simulated {result.counts['waves']} waves in {result.seconds:.2f} s; no fault by the checks:")
    print(f"    {', '.join(sim.CHECKS)}")


def _dynamic(kernel: abi.KernelABI, values: Mapping[str, int]) -> dict[str, int]:
    return {n: values[n] for n in kernel.dynamic_symbols}


def generate(
    kernel: abi.KernelABI, values: Mapping[str, int], rng: np.random.Generator
) -> tuple[list[np.ndarray], list[int]]:
    """Arrays of small integers for the memories and integers for the scalars; what is only written starts as NaN or 99.

    Raises abi.AbiError when an extent cannot be evaluated.
    """
    arrays = []
    for arg in kernel.memories:
        dtype = dtype_named(arg.dtype).np
        shape = arg.extents(values)
        is_float = dtype_named(arg.dtype).is_float
        if arg.access == "write":
            array = np.full(shape, np.nan if is_float else 99).astype(dtype)
        else:
            low = 0 if dtype == np.bool_ else -LARGEST
            high = 1 if dtype == np.bool_ else LARGEST
            array = rng.integers(low, high, shape, endpoint=True).astype(np.float32).astype(dtype)
        arrays.append(_placed(array, _strides(arg, shape, values)) if arg.strides else array)
    return arrays, [int(rng.integers(1, LARGEST, endpoint=True)) for _ in kernel.scalars]


def _strides(arg: abi.KernelArg, shape: tuple[int, ...], values: Mapping[str, int]) -> tuple[int, ...]:
    """Strides in elements as the memory declares them; those given at run time leave gaps of `GAP` elements."""
    strides, room = [0] * len(shape), 1
    for dim in reversed(range(len(shape))):
        declared = arg.strides[dim]
        strides[dim] = room + GAP if declared == RUN_TIME else exprtext.evaluate(declared, values)
        room = max(room, span(shape[dim:], strides[dim:]))
    return tuple(strides)


def _placed(array: np.ndarray, strides: Sequence[int]) -> np.ndarray:
    """A copy of an array with these strides (in elements)."""
    size = array.itemsize
    room = np.zeros(span(array.shape, strides) * size, np.uint8).view(array.dtype)
    placed = np.lib.stride_tricks.as_strided(room, array.shape, [s * size for s in strides])
    placed[...] = array
    return placed


def _like(array: np.ndarray) -> np.ndarray:
    """A copy with the strides of the array."""
    return _placed(array, element_strides(array) or ())


def _compare(kernel: abi.KernelABI, arrays: list[np.ndarray], expected: list[np.ndarray]) -> bool:
    """Print how each written memory compares with the reference; true when all are equal."""
    good = True
    for arg, got, want in zip(kernel.memories, arrays, expected, strict=True):
        if arg.access == "read":
            continue
        a, b = got.astype(np.float64), want.astype(np.float64)
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        if same.all():
            print(f"  {arg.name}: {same.size} elements equal the reference")
            continue
        good = False
        where = tuple(int(i) for i in np.argwhere(~same)[0])
        print(
            f"  {arg.name}: {int((~same).sum())} of {same.size} elements differ from the reference; "
            f"the first at {list(where)}: {got[where]}, not {want[where]}",
            file=sys.stderr,
        )
    return good


def _times(sizes: tuple[int, ...]) -> str:
    return " x ".join(map(str, sizes))


def _failure(message: str) -> CompileError:
    return CompileError([Diagnostic("error", "<run>", message)])
