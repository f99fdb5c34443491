"""Runs a few operations on each lane of one wave: inputs are loaded, results stored, by generated gpu-form text."""

from __future__ import annotations

import ml_dtypes
import numpy as np
from mlir import ir
from wave_mlir import sim

NUMPY = {
    "i1": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "index": np.int64,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
}
GLOBAL = "#gpu.address_space<global>"


def split_type(kind: str) -> tuple[str, int, bool]:
    """Element type, elements, whether a vector, of `f32` or `vector<4xf32>` (one dim)."""
    if kind.startswith("vector<"):
        count, element = kind[7:-1].split("x", 1)
        return element, int(count), True
    return kind, 1, False


def run_text(text: str, args: list, *, grid=(1, 1, 1), block=None, **options):
    """Parse and run a module of one kernel."""
    with ir.Context():
        return sim.run(ir.Module.parse(text), args, grid=grid, block=block, **options)


def kernel(body: str, arguments: str, *, target: str = "gfx942", block=(64, 1, 1), lds: int = 0) -> str:
    """A module with one kernel @k."""
    shared = f"workgroup(%lds: memref<{lds}xi8, #gpu.address_space<workgroup>>)" if lds else ""
    size = ", ".join(map(str, block))
    return f"""module attributes {{wave.target = "{target}", gpu.container_module}} {{
  gpu.module @m {{
    gpu.func @k({arguments}) {shared} kernel attributes {{known_block_size = array<i32: {size}>}} {{
{body}
      gpu.return
    }}
  }}
}}
"""


def lanewise(
    body: str, inputs: list[tuple[str, np.ndarray]], outputs: list[str], *, target: str = "gfx942", lanes=64, **options
) -> list[np.ndarray]:
    """Run `body` on values %x0, %x1, … of each lane and give %y0, %y1, … as (lanes,) or (lanes, n) arrays.

    inputs: (type, array of (lanes,) or (lanes, n)); i1 and index travel as i8 and i64. %lane is the lane as index.
    """
    loads, stores, arguments, arrays, results = [], [], [], [], []
    for number, (kind, values) in enumerate(inputs):
        element, count, vector = split_type(kind)
        memory = {"i1": "i8", "index": "i64"}.get(element, element)
        array = np.ascontiguousarray(values, dtype=NUMPY[element]).reshape(-1)
        arrays.append(array.astype(np.int8) if element == "i1" else array)
        arguments.append(f"%i{number}: memref<?x{memory}, {GLOBAL}>")
        loaded = kind.replace(element, memory)
        loads.append(f"      %ci{number} = arith.constant {count} : index")
        loads.append(f"      %p{number} = arith.muli %lane, %ci{number} : index")
        access = "vector.load" if vector else "memref.load"
        suffix = f", {loaded}" if vector else ""
        name = f"%x{number}" if memory == element else f"%r{number}"
        loads.append(f"      {name} = {access} %i{number}[%p{number}] : memref<?x{memory}, {GLOBAL}>{suffix}")
        if memory != element:
            cast = "arith.trunci" if element == "i1" else "arith.index_cast"
            loads.append(f"      %x{number} = {cast} %r{number} : {loaded} to {kind}")
    for number, kind in enumerate(outputs):
        element, count, vector = split_type(kind)
        memory = {"i1": "i8", "index": "i64"}.get(element, element)
        results.append(np.zeros(lanes * count, dtype=np.int8 if element == "i1" else NUMPY[element]))
        arguments.append(f"%o{number}: memref<?x{memory}, {GLOBAL}>")
        stored, name = kind.replace(element, memory), f"%y{number}"
        if memory != element:
            cast = "arith.extui" if element == "i1" else "arith.index_cast"
            stores.append(f"      %s{number} = {cast} {name} : {kind} to {stored}")
            name = f"%s{number}"
        stores.append(f"      %co{number} = arith.constant {count} : index")
        stores.append(f"      %q{number} = arith.muli %lane, %co{number} : index")
        access = "vector.store" if vector else "memref.store"
        suffix = f", {stored}" if vector else ""
        stores.append(f"      {access} {name}, %o{number}[%q{number}] : memref<?x{memory}, {GLOBAL}>{suffix}")
    text = "\n".join(["      %lane = gpu.thread_id x", *loads, body, *stores])
    module = kernel(text, ", ".join(arguments), target=target, block=(lanes, 1, 1))
    run_text(module, arrays + results, **{"checks": ["alignment"], **options})
    shaped = []
    for kind, array in zip(outputs, results, strict=True):
        _, count, vector = split_type(kind)
        array = array.astype(bool) if kind.endswith("i1") or kind.endswith("i1>") else array
        shaped.append(array.reshape(lanes, count) if vector else array)
    return shaped


def bits(array: np.ndarray) -> np.ndarray:
    """Raw bits, to compare floats exactly."""
    return np.ascontiguousarray(array).view(np.dtype(f"u{array.dtype.itemsize}"))


def assert_same(got: np.ndarray, want: np.ndarray) -> None:
    """Equal values; NaNs are equal, and so are zeros only of the same sign."""
    assert got.dtype == want.dtype
    if np.issubdtype(want.dtype, np.integer) or want.dtype == np.bool_:
        np.testing.assert_array_equal(got, want)
        return
    a, b = got.astype(np.float64), want.astype(np.float64)
    np.testing.assert_array_equal(a, b)
    number = ~np.isnan(b)
    np.testing.assert_array_equal(np.signbit(a)[number], np.signbit(b)[number])
