"""Arguments of a call: what does not fit is one located error that says what to pass."""

from __future__ import annotations

import struct
import subprocess
import sys
import time
import timeit

import ml_dtypes
import numpy as np
import pytest
import torch
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from runtime_kernels import GLOBAL, ROWS, K, M, N, compiled_add, compiled_gemm, scaled
from wave_mlir.compiler.abi import AbiError
from wave_mlir.runtime import tensors
from wave_mlir.wave.compile import CompiledKernel, WaveCompileOptions, wave_compile


@pytest.fixture(scope="module")
def gemm() -> CompiledKernel:
    return compiled_gemm()


@pytest.fixture(scope="module")
def dynamic_gemm() -> CompiledKernel:
    return compiled_gemm(dynamic=(M, N, K))


def arrays(m: int = 64, n: int = 64, k: int = 32) -> list[np.ndarray]:
    return [np.ones((m, k), np.float16), np.ones((n, k), np.float16), np.full((m, n), np.nan, np.float32)]


def replaced(number: int, value: object) -> list[object]:
    args: list[object] = list(arrays())
    args[number] = value
    return args


HERE = r"test_arguments.py:\d+:\d+: kernel 'multiply'"

MISTAKES = {
    "one too few": (
        arrays()[:2],
        r" takes 3 arguments \(a, b, c\); 2 were given: c is missing \(outputs are passed too\)",
    ),
    "none": ([], "0 were given: a, b, c are missing"),
    "one too many": ([*arrays(), 1], r"takes 3 arguments \(a, b, c\); 4 were given"),
    "a number": (replaced(0, 3.5), "argument 'a' is a memory; give a tensor .*, not float"),
    "a list": (replaced(1, [[1.0]]), "argument 'b' is a memory; give a tensor .*, not list"),
    "rank": (
        replaced(0, np.ones(64, np.float16)),
        r"argument 'a' has 2 dims .*; an array of 1 dims was given, \[64\]; resh",
    ),
    "rank 0": (replaced(0, torch.tensor(1.0).half()), "argument 'a' has 2 dims"),
    "dtype": (
        replaced(0, np.ones((64, 32), np.float32)),
        "'a' holds f16; an array of float32 .*; convert it to float16, or",
    ),
    "dtype of torch": (
        replaced(2, torch.zeros(64, 64).half()),
        "'c' holds f32; an array of float16 .*convert it to float32",
    ),
    "another 16 bits": (replaced(0, torch.ones(64, 32).bfloat16()), "'a' holds f16; an array of bfloat16"),
    "extent": (
        replaced(2, np.zeros((64, 65), np.float32)),
        "argument 'c' has extent 65 in dim 1, but the kernel is compiled for 64",
    ),
    "transposed": (
        replaced(1, np.ones((32, 64), np.float16)),
        r"argument 'b' is .* = \[64, 32\]; \[32, 64\] was given, with the last two dims exchanged; pass its transpose",
    ),
    "columns apart": (
        replaced(2, np.zeros((64, 128), np.float32)[:, ::2]),
        r"argument 'c' is not contiguous: its strides are \[128, 2\].*pass a contiguous copy .* declare its strides",
    ),
    "padded rows": (
        replaced(0, torch.zeros(64, 40).half()[:, :32]),
        r"argument 'a' is not contiguous: its strides are \[40, 1\]",
    ),
    "backwards": (
        replaced(0, np.ones((64, 32), np.float16)[::-1]),
        r"argument 'a' is not contiguous: its strides are \[-32, 1\]",
    ),
    "column-major": (
        replaced(2, np.zeros((64, 64), np.float32).T),
        r"argument 'c' is not contiguous: its strides are \[1, 64\]",
    ),
    "broadcast": (
        replaced(0, torch.ones(1, 32).half().expand(64, 32)),
        r"argument 'a' is not contiguous: its strides are \[0, 1\]",
    ),
    "another device": (
        replaced(0, torch.empty(64, 32, device="meta").half()),
        r"\(a on meta:0; b, c on cpu\); move them",
    ),
    "read-only": (
        replaced(2, np.broadcast_to(np.float32(0), (64, 64)).copy()),
        "argument 'c' is written, but .* read-only",
    ),
}
MISTAKES["read-only"][0][2].setflags(write=False)  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", MISTAKES)
@pytest.mark.parametrize("call", ["plan", "__call__"])
def test_mistakes(gemm: CompiledKernel, name: str, call: str) -> None:
    args, message = MISTAKES[name]
    with pytest.raises(AbiError, match=HERE + ".*" + message) as caught:
        getattr(gemm, call)(*args)
    (note,) = caught.value.__notes__
    assert note.endswith("note: the kernel is here") and "runtime_kernels.py:" in note


@pytest.mark.parametrize("name", [n for n in MISTAKES if n not in ("extent", "transposed")])
def test_mistakes_with_dynamic_shapes(dynamic_gemm: CompiledKernel, name: str) -> None:
    args, message = MISTAKES[name]
    if name == "one too many":
        args = [*args, 64, 32, 0]
        message += "; only values of M, N, K may follow"
        message = message.replace("4", "7")
    with pytest.raises(AbiError, match=HERE + ".*" + message):
        dynamic_gemm.plan(*args)


def test_shapes_that_disagree(dynamic_gemm: CompiledKernel) -> None:
    with pytest.raises(AbiError, match=r"'b' has extent 16 in dim 1, but K is 32"):
        dynamic_gemm.plan(*replaced(1, np.ones((64, 16), np.float16)))
    with pytest.raises(AbiError, match="argument 'a' has extent 64 in dim 0, but M is 3"):
        dynamic_gemm.plan(*arrays(), 3, 64, 32)


def test_all_on_a_device_without_kernels(gemm: CompiledKernel) -> None:
    args = [torch.empty(a.shape, dtype=getattr(torch, str(a.dtype)), device="meta") for a in arrays()]
    with pytest.raises(AbiError, match="tensors are on meta:0; kernels run on AMD GPUs .* on the CPU"):
        gemm.plan(*args)


@pytest.mark.parametrize(
    ("x", "n", "message"),
    [
        (1.0, "3", "argument 'n' is a number; str was given"),
        (np.ones(2), 1, r"argument 'x' is a number; ndarray was given; pass x.item\(\)"),
        (1.0, 1.5, "argument 'n': 1.5 is no i32"),
        (1.0, 1 << 32, "argument 'n': 4294967296 is no i32"),
        (1.0, float("nan"), "argument 'n': nan is no i32"),
        (1e39, 1, r"argument 'x': 1e\+39 is no f32"),
    ],
)
def test_scalars(x: object, n: object, message: str) -> None:
    made = wave_compile(WaveCompileOptions(subs={M: 64}, target="gfx942"), scaled())
    a = np.zeros(64, np.float32)
    with pytest.raises(AbiError, match=message):
        made(a, a.copy(), x, n)


def test_scalars_of_libraries() -> None:
    made = wave_compile(WaveCompileOptions(subs={M: 64}, target="gfx942"), scaled())
    a = np.arange(64, dtype=np.float32)
    for x, n in ((2.0, 3), (np.float32(2), np.int64(3)), (torch.tensor(2.0), torch.tensor(3)), (2, True)):
        c = np.zeros(64, np.float32)
        made(a, c, x, n)
        assert np.array_equal(c, 2 * a + int(n))


def strided(layout: tkl.MemoryLayout) -> CompiledKernel:
    """c = a + 1, with `a` laid out like that."""
    R = tkl.sym.R

    @tkw.wave([tkw.WorkgroupConstraint(R, 1, 1), *ROWS])
    def add(a: tkl.Memory[R, M, GLOBAL, tkl.f32, layout], c: tkl.Memory[R, M, GLOBAL, tkl.f32]):
        tkw.write(tkw.read(a) + 1.0, c)

    constraints = [tkw.WorkgroupConstraint(R, 1, 1), ROWS[0], tkw.HardwareConstraint(64, vector_shapes={R: 0, M: 64})]
    kernel = tkw.wave(constraints)(add.function)
    return wave_compile(WaveCompileOptions(subs={R: 5, M: 64}, target="gfx942"), kernel)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_run_time_strides(library: str, isa) -> None:
    made = strided(tkl.MemoryLayout(strides=(None, None)))
    base = np.arange(5 * 200, dtype=np.float32).reshape(5, 200)
    for view in (base[:, :64], base[:, 7:71], base[:, ::3][:, :64], np.ascontiguousarray(base[:, :64].T).T):
        c = np.zeros((5, 64), np.float32)
        tensor = torch.from_numpy(view) if library == "torch" else view
        made(tensor, c)
        assert np.array_equal(c, view + 1)
        steps = [s // 4 for s in view.strides]
        assert made.plan(tensor, c).kernargs[-16:] == struct.pack("<qq", *steps)
        c[:] = 0
        isa(made._compiled, view, c)
        assert np.array_equal(c, view + 1)


def test_static_strides() -> None:
    """Padded rows: 80 floats for 64."""
    made = strided(tkl.MemoryLayout(shape=(5, 80)))
    assert made.abi.memories[0].strides == ("80", "1") and made.abi.memories[1].strides == ()
    base = np.arange(5 * 90, dtype=np.float32)
    view = base[10 : 10 + 400].reshape(5, 80)[:, :64]
    c = np.zeros((5, 64), np.float32)
    made(view, c)
    assert np.array_equal(c, view + 1)
    with pytest.raises(AbiError, match=r"'a' has stride 64 in dim 0; the kernel is compiled for \[80, 1\]"):
        made(np.ascontiguousarray(view), c)
    again = type(made.abi).from_json(made.abi.to_json())
    assert again == made.abi


def test_strides_of_dims_of_one_element_do_not_count(dynamic_gemm: CompiledKernel) -> None:
    a = torch.ones(1, 32).half().expand(1, 32).as_strided((1, 32), (77, 1))
    b, c = torch.ones(64, 32).half(), torch.full((1, 64), float("nan"))
    dynamic_gemm(a, b, c)
    assert (c == 32).all()


def test_negative_strides_of_a_strided_memory() -> None:
    made = strided(tkl.MemoryLayout(strides=(None, None)))
    with pytest.raises(AbiError, match=r"'a' has a negative stride: \[-64, 1\]; pass a copy"):
        made(np.zeros((5, 64), np.float32)[::-1], np.zeros((5, 64), np.float32))


class Exporter:
    """An array of a library that nobody knows, with DLPack."""

    def __init__(self, array: np.ndarray) -> None:
        self.array, self.shape = array, array.shape

    def __dlpack__(self, **options: object) -> object:
        return self.array.__dlpack__(**options)  # type: ignore[arg-type]

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


def test_dlpack() -> None:
    made = compiled_add()
    a, c = np.arange(128, dtype=np.float32), np.zeros(128, np.float32)
    made(Exporter(a), Exporter(c))
    assert np.array_equal(c, a + 1)
    plan = made.plan(Exporter(a), Exporter(c))
    assert plan == made.plan(a, c) and struct.unpack("<QQ", plan.kernargs) == (a.ctypes.data, c.ctypes.data)
    with pytest.raises(AbiError, match="argument 'c' holds f32; an array of int32"):
        made(Exporter(a), Exporter(c.astype(np.int32)))


class OnRocm:
    """CuPy's way to say where an array on a GPU is."""

    shape = (128,)

    def __dlpack__(self) -> object:
        raise BufferError("on a GPU")

    def __dlpack_device__(self) -> tuple[int, int]:
        return 10, 2

    @property
    def __cuda_array_interface__(self) -> dict[str, object]:
        return {"shape": (128,), "typestr": "<f4", "data": (0x1000, False), "strides": None, "version": 3}


def test_array_interface_of_gpus() -> None:
    library = tensors.library_of(OnRocm())
    assert library is not None and library.pointer(OnRocm()) == 0x1000
    assert library.describe(OnRocm()) == tensors.Description((128,), "float32", (1,), ("cuda", 2))


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fnuz"])
def test_torch_dtypes_that_numpy_lacks(name: str) -> None:
    wave_type = {"bfloat16": tkl.bf16, "float8_e4m3fnuz": tkl.f8e4m3fnuz}[name]

    @tkw.wave(ROWS)
    def copy(a: tkl.Memory[M, GLOBAL, wave_type], c: tkl.Memory[M, GLOBAL, wave_type]):  # type: ignore[valid-type]
        tkw.write(tkw.read(a), c)

    made = wave_compile(WaveCompileOptions(subs={M: 64}, target="gfx942"), copy)
    a = torch.randn(64).to(getattr(torch, name))
    c = torch.zeros(64).to(getattr(torch, name))
    made(a, c)
    assert torch.equal(a.view(torch.uint8), c.view(torch.uint8))
    b = a.view(torch.uint8).numpy().view(getattr(ml_dtypes, name))
    d = np.zeros(64, b.dtype)
    made(b, d)
    assert np.array_equal(b.view(np.uint8), d.view(np.uint8))


def test_outputs_are_seen_by_torch() -> None:
    """Autograd sees that a tensor it saved was written since."""
    made = compiled_add()
    a, c = torch.ones(128), torch.zeros(128)
    x = torch.ones(128, requires_grad=True)
    product = x * c
    before = a._version
    made(a, c)
    assert (c == 2).all() and a._version == before
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.sum().backward()
    with torch.inference_mode():
        c = torch.zeros(128)
        made(a, c)
        assert (c == 2).all()


def test_torch_is_not_imported_for_others() -> None:
    code = (
        "import sys, numpy as np\nfrom runtime_kernels import compiled_add\nmade = compiled_add()\n"
        "made(np.zeros(128, np.float32), np.zeros(128, np.float32))\nprint('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=__file__.rpartition("/")[0], capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr


def test_a_plan_is_quick(gemm: CompiledKernel, dynamic_gemm: CompiledKernel) -> None:
    """Under 20 µs on a machine where this sum takes about 10; loosely, for busy machines (benchmarks/launch.py)."""

    def seconds(call) -> float:
        return min(timeit.repeat(call, number=300, repeat=7, timer=time.process_time))

    unit = seconds(lambda: sum(range(1000)))
    for kernel in (gemm, dynamic_gemm):
        for args in (arrays(), [torch.from_numpy(a) for a in arrays()]):
            assert seconds(lambda k=kernel, a=args: k.plan(*a)) < 5 * unit


def test_symbol_bound_by_an_argument() -> None:
    """An argument that is a symbol decides the grid."""
    LIMIT = tkl.sym.LIMIT

    @tkw.wave([tkw.WorkgroupConstraint(M, 64, 0, iters=LIMIT), ROWS[1]])
    def fill(LIMIT: tkl.SymbolBind[tkl.i32], c: tkl.Memory[M, GLOBAL, tkl.f32]):  # type: ignore[valid-type]
        tkw.write(tkl.Register[M, tkl.f32](1.0), c)

    made = wave_compile(WaveCompileOptions(subs={M: 256}, target="gfx942"), fill)
    for limit in (1, 3):
        c = np.zeros(256, np.float32)
        made(limit, c)
        assert c.sum() == 64 * limit and made.plan(limit, c).grid == (limit, 1, 1)
    with pytest.raises(AbiError, match="symbol 'LIMIT' is an integer; 1.5 was given"):
        made(1.5, np.zeros(256, np.float32))
    with pytest.raises(AbiError, match="symbol 'LIMIT' = -1 is not within"):
        made(-1, np.zeros(256, np.float32))


def test_elements_that_are_no_whole_number_apart(gemm: CompiledKernel) -> None:
    record = np.zeros(64 * 32, np.dtype([("x", np.float16), ("flag", np.int8)]))["x"].reshape(64, 32)
    with pytest.raises(AbiError, match="argument 'a': its elements are no whole number of elements apart; pass a copy"):
        gemm.plan(*replaced(0, record))
