"""Runs lines of gpu form on whole arrays, as machine code or in the simulator, and measures errors in ulps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import ml_dtypes
import numpy as np
from mlir import ir
from wave_mlir import isa, sim
from wave_mlir.compiler import codegen
from wave_mlir.compiler.pass_registry import run_passes
from wave_mlir.isa.compiled import run_abi

NUMPY = {
    "i1": np.int8,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
}
_BLOCK = 256
_SPACE = "#gpu.address_space<global>"


def kernel_text(body: str, inputs: Sequence[str], output: str, *, vector: int = 1, target: str = "gfx942") -> str:
    """gpu form of a kernel over N elements, N a multiple of 256 · vector: `body` makes %y of %x0, %x1 … (scalars, or
    vectors of `vector` elements)."""
    types = [*inputs, output]
    names = [f"a{i}" for i in range(len(inputs))] + ["o"]
    arguments = ", ".join(f"%{n}: memref<?x{t}, {_SPACE}>" for n, t in zip(names, types, strict=True))
    access_of = {n: "write" if n == "o" else "read" for n in names}
    described = ", ".join(
        f'{{kind = "memory", name = "{n}", dtype = {t}, shape = [#wave.expr<N>], access = "{access_of[n]}"}}'
        for n, t in zip(names, types, strict=True)
    )

    def access(op: str, name: str, kind: str) -> str:
        suffix = f", vector<{vector}x{kind}>" if vector > 1 else ""
        return f"{'vector' if vector > 1 else 'memref'}.{op}[%i] : memref<?x{kind}, {_SPACE}>{suffix}".replace(
            "[", f" %{name}[", 1
        )

    loads = [f"      %x{i} = {access('load', names[i], t)}" for i, t in enumerate(inputs)]
    store = access("store", "o", output).replace(" %o", " %y, %o", 1)
    return f"""module attributes {{wave.form = "gpu", wave.target = "{target}", gpu.container_module}} {{
  gpu.module @m {{
    gpu.func @k({arguments}, %N: i32) kernel attributes {{known_block_size = array<i32: {_BLOCK}, 1, 1>,
        wave.grid = [#wave.expr<N floordiv {_BLOCK * vector}>, #wave.expr<1>, #wave.expr<1>],
        wave.args = [{described}, {{kind = "symbol", name = "N"}}]}} {{
      %tid = gpu.thread_id x
      %bid = gpu.block_id x
      %block = arith.constant {_BLOCK} : index
      %width = arith.constant {vector} : index
      %b = arith.muli %bid, %block : index
      %n = arith.addi %b, %tid : index
      %i = arith.muli %n, %width : index
{chr(10).join(loads)}
{body}
{store}
      gpu.return
    }}
  }}
}}
"""


def _padded(arrays: Sequence[np.ndarray], step: int) -> list[np.ndarray]:
    count = len(arrays[0])
    return [np.concatenate([a, np.repeat(a[:1], -count % step)]) for a in arrays]


@lru_cache(maxsize=64)
def _code(text: str) -> tuple:
    with ir.Context():
        made = codegen.generate(ir.Module.parse(text), emit=("isa",))
    return made.isa, made.kernels[0]


def assembly_of(text: str) -> str:
    """Assembly of gpu form's text."""
    return _code(text)[0]


def assembly(body: str, inputs: Sequence[str], output: str, *, vector: int = 1, target: str = "gfx942") -> str:
    """Assembly of the kernel."""
    return assembly_of(kernel_text(body, inputs, output, vector=vector, target=target))


def machine(
    body: str,
    inputs: Sequence[str],
    output: str,
    arrays: Sequence[np.ndarray],
    *,
    vector: int = 1,
    target: str = "gfx942",
    edit: Callable[[str], str] | None = None,
) -> np.ndarray:
    """%y of machine code, one element for each of the arrays'. edit: changes the assembly first."""
    code, kernel = _code(kernel_text(body, inputs, output, vector=vector, target=target))
    given = _padded(arrays, _BLOCK * vector)
    result = np.zeros(len(given[0]), NUMPY[output])
    loaded = isa.load(edit(code) if edit else code, kernel.name)
    run_abi(loaded, kernel, [*given, result], limit=1 << 40)
    return result[: len(arrays[0])]


def simulated(
    body: str, inputs: Sequence[str], output: str, arrays: Sequence[np.ndarray], *, passes: str = "", vector: int = 1
) -> np.ndarray:
    """%y of the simulator, after `passes`."""
    given = _padded(arrays, _BLOCK * vector)
    result = np.zeros(len(given[0]), NUMPY[output])
    with ir.Context():
        module = ir.Module.parse(kernel_text(body, inputs, output, vector=vector))
        if passes:
            run_passes(module, passes)
        sim.run(module, [*given, result], symbols={"N": len(given[0])})
    return result[: len(arrays[0])]


_FORMATS = {  # mantissa, least exponent, greatest number
    "f16": (10, -14, 65504.0),
    "bf16": (7, -126, 3.3895313892515355e38),
    "f32": (23, -126, 3.4028234663852886e38),
    "f64": (52, -1022, 1.7976931348623157e308),
}


def ulps(got: np.ndarray, want: np.ndarray, kind: str) -> np.ndarray:
    """Distance of results from exact values (of a wider type) in ulps of `kind` at the exact value.

    Infinite where one is NaN and the other is not, the signs of zeros differ, or one is infinite and the other is
    neither that nor rounds to it.
    """
    mantissa, least, greatest = _FORMATS[kind]
    exact = want.astype(np.longdouble)
    result = got.astype(np.longdouble)
    _, exponent = np.frexp(np.where(np.isfinite(exact), exact, 1))
    unit = np.ldexp(np.longdouble(1), np.maximum(exponent - 1, least) - mantissa)
    top = np.longdouble(greatest) + np.ldexp(np.longdouble(1), int(np.frexp(greatest)[1]) - mantissa - 1)
    # An infinite result is one step past the greatest value.
    bounded = np.where(np.isinf(result), np.copysign(top, result), result)
    limit = np.where(np.abs(exact) > top, np.copysign(top, exact), exact)
    with np.errstate(invalid="ignore"):
        error = np.abs(bounded - limit) / unit
    error = np.where(np.isnan(exact) & np.isnan(result), 0, error)
    error = np.where(np.isnan(exact) != np.isnan(result), np.inf, error)
    zeros = (exact == 0) & ((result != 0) | (np.signbit(exact) != np.signbit(result)))
    return np.where(zeros, np.inf, error).astype(np.float64)


def all_values(kind: str) -> np.ndarray:
    """All 2^16 values of f16 or bf16."""
    return np.arange(1 << 16, dtype=np.uint16).view(NUMPY[kind])
