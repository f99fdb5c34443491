"""Memories with declared strides: in the simulator and as machine code, from text and from Python, against numpy."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir import isa, sim
from wave_mlir.compiler import driver
from wave_mlir.compiler.abi import AbiError, KernelABI
from wave_mlir.isa.compiled import run_compiled
from wave_mlir.lang.types import MemoryLayout
from wave_mlir.sim import reference
from wave_mlir.wave.compile import WaveCompileOptions, wave_compile

RNG = np.random.default_rng(8)
ROWS, COLUMNS = 37, 70


def numbers(*shape: int, dtype: type = np.float16) -> np.ndarray:
    return RNG.integers(-8, 8, shape).astype(dtype)


def doubling(a: str, c: str, dtype: str = "f16", dynamic: str = "") -> str:
    """c = a + a with these strides of the memories."""
    sizes = ", ".join(f"{n} = {v}" for n, v in (("M", ROWS), ("N", COLUMNS)) if n not in dynamic)
    space, tile = f"{dtype}, global", f"!wave.tile<[M, N], {dtype}>"
    of_a, of_c = (f"!wave.memory<[M, N], {space}, strides = {s}>" for s in (a, c))
    return f"""module attributes {{wave.form = "tile", wave.target = "gfx942"}} {{
  wave.kernel @k(%a: {of_a}, %c: {of_c}) symbols {{{", ".join(filter(None, [sizes, "BM = 16, BN = 64"]))}}}
      dynamic [{dynamic}]
      constraints [#wave.workgroup<M, BM, x>, #wave.workgroup<N, BN, y>,
                   #wave.hardware<threads_per_wave = 64, vector_shapes = {{M = 1, N = 64}}>] {{
    %x = wave.read %a : {of_a} -> {tile}
    %y = wave.add %x, %x : {tile}
    wave.write %y, %c : {tile}, {of_c}
    wave.return
  }}
}}"""


# Views of one shape: (name, the view of some base array).
VIEWS = {
    "dense": lambda: numbers(ROWS, COLUMNS),
    "padded": lambda: numbers(ROWS, COLUMNS + 10)[:, :COLUMNS],
    "odd-rows": lambda: numbers(ROWS, COLUMNS + 7)[:, 3 : 3 + COLUMNS],
    "every-other": lambda: numbers(2 * ROWS, 3 * COLUMNS)[::2, 1::3],
    "transposed": lambda: numbers(COLUMNS, ROWS).T,
    "offset": lambda: numbers(4, ROWS + 5, COLUMNS)[2, 5:],
    "one-row": lambda: np.lib.stride_tricks.as_strided(numbers(1, COLUMNS), (ROWS, COLUMNS), (0, 2)),
}
RUN_TIME = [n for n in VIEWS if n not in ("every-other", "transposed")]  # those with columns one after the other


def run_everywhere(text: str, a: np.ndarray, c: np.ndarray, base: np.ndarray) -> None:
    """c, a view of base, gets a + a; nothing else of base changes."""
    compiled = driver.compile_module(text)
    before = base.copy()
    clean = c.copy()
    want = base.copy()
    c[...] = a + a
    want, base[...] = base.copy(), want
    for way in ("reference", "forward", "reverse", "machine code"):
        base[...] = before
        np.testing.assert_array_equal(c, clean)
        if way == "reference":
            reference.run(driver.parse(text), [a, c])
        elif way == "machine code":
            run_compiled(compiled, [a, c])
        else:
            sim.run(compiled.module, [a, c], order=way)
        np.testing.assert_array_equal(base, want, err_msg=way)


@pytest.mark.parametrize("view", RUN_TIME)
def test_rows_at_run_time(view: str) -> None:
    base = numbers(ROWS + 3, COLUMNS + 9)
    run_everywhere(doubling("[?, 1]", "[?, 1]"), VIEWS[view](), base[2 : 2 + ROWS, 4 : 4 + COLUMNS], base)


@pytest.mark.parametrize("view", VIEWS)
def test_all_at_run_time(view: str) -> None:
    base = numbers(COLUMNS + 9, 2 * ROWS)
    run_everywhere(doubling("[?, ?]", "[?, ?]"), VIEWS[view](), base[4 : 4 + COLUMNS, 1::2].T, base)


def test_sizes_at_run_time_too() -> None:
    base = numbers(ROWS + 3, COLUMNS + 9)
    text = doubling("[?, 1]", "[?, ?]", dynamic="M, N")
    run_everywhere(text, VIEWS["odd-rows"](), base[2 : 2 + ROWS, 4 : 4 + COLUMNS], base)


@pytest.mark.parametrize("dtype", ["i8", "i64"])
def test_static_gaps_and_transposed(dtype: str) -> None:
    numpy_type = np.dtype(f"int{dtype[1:]}").type
    base = numbers(ROWS, COLUMNS + 11, dtype=numpy_type)
    a = numbers(COLUMNS, ROWS, dtype=numpy_type).T
    run_everywhere(doubling("[1, M]", "[N + 11, 1]", dtype), a, base[:, 4 : 4 + COLUMNS], base)


GEMM = """module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @gemm(%a: !wave.memory<[M, K], f16, shared, strides = [?, 1]>,
                    %b: !wave.memory<[N, K], f16, shared, strides = [1, ?]>,
                    %c: !wave.memory<[M, N], f32, global, strides = [N + 5, 1]>)
      symbols {N = 75, K = 70, BLOCK_M = 64, BLOCK_N = 64, BLOCK_K = 32} dynamic [M]
      constraints [#wave.workgroup<M, BLOCK_M, x>, #wave.workgroup<N, BLOCK_N, y>, #wave.tiling<K, BLOCK_K>,
                   #wave.wave<M, BLOCK_M floordiv 2>, #wave.wave<N, BLOCK_N floordiv 2>,
                   #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
    %zero = wave.register 0.0 : !wave.tile<[M, N], f32>
    %sum = wave.iterate K iter_args(%acc = %zero : !wave.tile<[M, N], f32>) {
      %x = wave.read %a : !wave.memory<[M, K], f16, shared, strides = [?, 1]> -> !wave.tile<[M, K], f16>
      %y = wave.read %b : !wave.memory<[N, K], f16, shared, strides = [1, ?]> -> !wave.tile<[N, K], f16>
      %z = wave.mma %x, %y, %acc : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
      wave.yield %z : !wave.tile<[M, N], f32>
    }
    wave.write %sum, %c : !wave.tile<[M, N], f32>, !wave.memory<[M, N], f32, global, strides = [N + 5, 1]>
    wave.return
  }
}"""


@pytest.mark.parametrize("how", ["simulator", "machine code"])
def test_gemm_of_views(how: str) -> None:
    """Operands through LDS: rows with gaps, and a K x N operand seen as N x K."""
    compiled = driver.compile_module(GEMM)
    a, b = numbers(67, 81)[:, 5:75], numbers(70, 90)[:, 2:77].T
    base = np.full((67, 80), 7, np.float32)
    c = base[:, :75]
    run = sim.run if how == "simulator" else run_compiled
    run(compiled.module if how == "simulator" else compiled, [a, b, c])  # type: ignore[operator]
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32).T)
    assert (base[:, 75:] == 7).all()


def test_abi_says_the_strides() -> None:
    (kernel,) = driver.compile_module(doubling("[?, 1]", "[N + 11, 1]")).kernels
    assert [a.strides for a in kernel.memories] == [("?", "1"), (f"{COLUMNS + 11}", "1")]
    assert KernelABI.from_json(kernel.to_json()) == kernel


# --- arrays that do not fit ---

WRONG = {
    "not-dense": (numbers(ROWS, 80)[:, :COLUMNS], "[81, 1]", r"argument 'a' has stride 80 in dim 0.*\[81, 1\]"),
    "negative": (numbers(ROWS, COLUMNS)[::-1], "[?, ?]", "negative stride.*pass a copy"),
    "no-columns": (numbers(ROWS, 2 * COLUMNS)[:, ::2], "[?, 1]", "has stride 2 in dim 1"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_strides(name: str) -> None:
    array, strides, message = WRONG[name]
    compiled = driver.compile_module(doubling(strides, "[?, 1]"))
    c = numbers(ROWS, COLUMNS)
    with pytest.raises(sim.SimError, match=message):
        sim.run(compiled.module, [array, c])
    with pytest.raises(isa.IsaError, match=message):
        run_compiled(compiled, [array, c])


def test_result_whose_elements_share_places() -> None:
    compiled = driver.compile_module(doubling("[?, 1]", "[?, 1]"))
    c = np.lib.stride_tricks.as_strided(numbers(1, COLUMNS), (ROWS, COLUMNS), (0, 2))
    with pytest.raises(sim.SimError, match="is written, and its elements share places"):
        sim.run(compiled.module, [numbers(ROWS, COLUMNS), c])


def test_bytes_between_elements() -> None:
    compiled = driver.compile_module(doubling("[?, 1]", "[?, 1]"))
    record = np.zeros(ROWS * COLUMNS, np.dtype([("x", np.float16), ("y", np.int8)]))["x"].reshape(ROWS, COLUMNS)
    with pytest.raises(sim.SimError, match="no whole number of elements apart; pass a copy"):
        sim.run(compiled.module, [record, numbers(ROWS, COLUMNS)])


# --- from Python ---

M, N = tkl.sym.M, tkl.sym.N
SUBS = {M: ROWS, N: COLUMNS}


def python_kernel(a: MemoryLayout | None, c: MemoryLayout | None):
    constraints = [
        tkw.WorkgroupConstraint(M, 16, 0),
        tkw.WorkgroupConstraint(N, 64, 1),
        tkw.HardwareConstraint(64, vector_shapes={M: 1, N: 64}),
    ]
    shared, layouts = tkl.AddressSpace.GLOBAL_MEMORY, [[] if x is None else [x] for x in (a, c)]
    of_a, of_c = (tkl.Memory[(M, N, shared, tkl.f16, *x)] for x in layouts)

    @tkw.wave(constraints)
    def kernel(a: of_a, c: of_c):  # type: ignore[valid-type]
        x = tkw.read(a)
        tkw.write(x + x, c)

    return wave_compile(WaveCompileOptions(subs=SUBS), kernel)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("library", ["torch", "numpy"])
def test_views_from_python(library: str, view: str) -> None:
    kernel = python_kernel(MemoryLayout(strides=(None, None)), MemoryLayout(shape=(ROWS, 80)))
    a, base = VIEWS[view](), np.zeros((ROWS, 80), np.float16)
    args = [a, base[:, 4 : 4 + COLUMNS]]
    if library == "torch":
        args = [torch.from_numpy(x) for x in args]
    kernel(*args)
    np.testing.assert_array_equal(base[:, 4 : 4 + COLUMNS], a + a)
    assert not base[:, :4].any() and not base[:, 4 + COLUMNS :].any()
    plan = kernel.plan(*args)
    assert np.frombuffer(plan.kernargs[-16:], np.int64).tolist() == [s // 2 for s in a.strides]


@pytest.mark.parametrize("library", ["torch", "numpy"])
def test_view_where_none_is_declared(library: str) -> None:
    """Neither a call nor a launch plan takes a view for a dense tensor."""
    kernel = python_kernel(None, None)
    args = [numbers(ROWS, 80)[:, :COLUMNS], numbers(ROWS, COLUMNS)]
    if library == "torch":
        args = [torch.from_numpy(x) for x in args]
    for call in (kernel, kernel.plan):
        with pytest.raises(AbiError, match="'a' is not contiguous: its strides are .80, 1.*MemoryLayout"):
            call(*args)


def test_start_that_is_not_aligned() -> None:
    kernel = python_kernel(None, None)
    shifted = numbers(ROWS * COLUMNS + 1)[1:].reshape(ROWS, COLUMNS)
    with pytest.raises(AbiError, match="argument 'a' starts at an address that 4 does not divide"):
        kernel(shifted, numbers(ROWS, COLUMNS))
