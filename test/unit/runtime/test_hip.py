"""Launches through HIP, against a stand-in library that records what it is called with."""

from __future__ import annotations

import gc
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from runtime_kernels import GLOBAL, ROWS, K, M, N, compiled_add, compiled_gemm, scaled
from wave_mlir.compiler.abi import AbiError
from wave_mlir.runtime import gpu, hip, tensors
from wave_mlir.wave.compile import CompiledKernel, WaveCompileOptions, wave_compile

SOURCE = Path(__file__).parent / "Inputs" / "recording_hip.cpp"
STREAM = 0xABC0


@dataclass(frozen=True)
class Device:
    type: str
    index: int


class GpuTensor:
    """A tensor on a GPU, as far as a launch can see it: torch's names."""

    def __init__(self, address: int, shape: tuple[int, ...], dtype: str, device: int = 0, strides=None) -> None:
        self.shape, self.dtype, self.device = shape, f"torch.{dtype}", Device("cuda", device)
        self._address, self._strides = address, strides or tensors.row_major(shape)

    def stride(self) -> tuple[int, ...]:
        return self._strides

    def data_ptr(self) -> int:
        return self._address


class OnStream(tensors.TorchLike):
    def stream(self, device: tuple[str, int]) -> int:
        return STREAM + device[1]


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The stand-in, compiled."""
    path = tmp_path_factory.mktemp("hip") / "libamdhip64.so"
    subprocess.run(["g++", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", str(SOURCE), "-o", str(path)], check=True)
    return path


@pytest.fixture
def record(library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The stand-in in use; the file it writes to."""
    monkeypatch.setenv(hip.ENVIRONMENT, str(library))
    monkeypatch.setenv("RECORDING_HIP", str(tmp_path / "calls"))
    monkeypatch.setitem(tensors._libraries, GpuTensor, OnStream())
    yield tmp_path / "calls"


def calls(record: Path) -> list[list[str]]:
    return [line.split() for line in record.read_text().splitlines()]


def gemm_arguments(m: int = 64, n: int = 64, k: int = 32, device: int = 0) -> list[GpuTensor]:
    shapes = [((m, k), "float16"), ((n, k), "float16"), ((m, n), "float32")]
    return [GpuTensor(0x7F0000001000 * (i + 1), s, d, device) for i, (s, d) in enumerate(shapes)]


def test_a_launch(record: Path) -> None:
    made = compiled_gemm(m=96)
    made(*gemm_arguments(m=96))
    load, function, launch = calls(record)
    assert load == ["load", "0", str(len(made.hsaco)), str(sum(made.hsaco))]
    assert function == ["function", "0x1000", "multiply"]
    kernargs = struct.pack("<QQQ", 0x7F0000001000, 0xFE0000002000, 0x17D0000003000)
    assert launch[1:] == ["0", "0x2000", "3,2,1", "128,2,1", "0", hex(STREAM), "(nil)", kernargs.hex()]
    plan = made.plan(*gemm_arguments(m=96))
    assert (plan.grid, plan.block, plan.kernargs) == ((3, 2, 1), (128, 2, 1), kernargs) and plan.lds_bytes > 0


def test_loaded_once_a_device(record: Path) -> None:
    made = compiled_gemm()
    for device in (0, 1, 0, 1):
        made(*gemm_arguments(device=device))
    made_calls = calls(record)
    assert [c[1] for c in made_calls if c[0] == "load"] == ["0", "1"]
    launches = [c for c in made_calls if c[0] == "launch"]
    assert [(c[1], c[6]) for c in launches] == [(str(d), hex(STREAM + d)) for d in (0, 1, 0, 1)]
    sets = [c[1] for c in made_calls if c[0] == "set_device"]
    assert sets == ["1", "0"] * (len(sets) // 2)  # the current device is as before after each call


def test_scalars_and_their_alignment(record: Path) -> None:
    made = wave_compile(WaveCompileOptions(subs={M: 128}, target="gfx942"), scaled())
    a, c = GpuTensor(0x1000, (128,), "float32"), GpuTensor(0x2000, (128,), "float32")
    made(a, c, 2.5, -3)
    assert calls(record)[-1][-1] == struct.pack("<QQfi", 0x1000, 0x2000, 2.5, -3).hex()
    made(a, c, np.float32(0.5), np.int64(7))
    assert calls(record)[-1][-1] == struct.pack("<QQfi", 0x1000, 0x2000, 0.5, 7).hex()


def mixed() -> CompiledKernel:
    """Scalars of every size, a dynamic symbol, run-time strides."""
    layout = tkl.MemoryLayout(strides=(None,))

    @tkw.wave(ROWS)
    def kernel(
        x: tkl.i16, a: tkl.Memory[M, GLOBAL, tkl.f32, layout], h: tkl.f16,
        c: tkl.Memory[M, GLOBAL, tkl.f32], y: tkl.i64, b: tkl.bf16,
    ):  # fmt: skip
        total = tkw.cast(x, tkl.f32) + tkw.cast(h, tkl.f32) + tkw.cast(tkw.cast(y, tkl.i32), tkl.f32)
        tkw.write(tkw.read(a) + tkw.broadcast(total + tkw.cast(b, tkl.f32), [M]), c)

    return wave_compile(WaveCompileOptions(dynamic_symbols=[M], target="gfx942"), kernel)


def test_order_of_the_arguments(record: Path) -> None:
    """Memories, scalars, symbols, strides: each at its natural alignment."""
    made = mixed()
    a, c = GpuTensor(0x1000, (100,), "float32", strides=(3,)), GpuTensor(0x2000, (100,), "float32")
    made(-2, a, 1.5, c, 1 << 40, 2.0)
    expected = struct.pack("<QQhexxxxqHxxiq", 0x1000, 0x2000, -2, 1.5, 1 << 40, 0x4000, 100, 3)
    launch = calls(record)[-1]
    assert launch[-1] == expected.hex() and launch[3] == "2,1,1"
    values = np.arange(300, dtype=np.float32)[::3]
    result = np.zeros(100, np.float32)
    made(-2, values, 1.5, result, 5, 2.0)  # and the simulator agrees on what they mean
    assert np.array_equal(result, values + np.float32(6.5))


def test_nothing_to_do(record: Path) -> None:
    made = compiled_gemm(dynamic=(M, N, K))
    made(*gemm_arguments(m=0))
    assert not record.exists()


@pytest.mark.parametrize(
    ("call", "code", "text"),
    [
        (
            "hipModuleLoadData",
            209,
            r"hipErrorNoBinaryForGpu \(no kernel image\); .*compile with target=get_default_arch",
        ),
        ("hipModuleGetFunction", 500, "hipModuleGetFunction failed with hipErrorSomething"),
        ("hipModuleLaunchKernel", 700, "memory out of bounds.*the simulator finds where"),
        ("hipSetDevice", 101, "HIP_VISIBLE_DEVICES"),
        ("hipGetDevice", 100, "there is no GPU"),
    ],
)
def test_errors_of_hip(record: Path, monkeypatch: pytest.MonkeyPatch, call: str, code: int, text: str) -> None:
    made = compiled_add()
    args = [GpuTensor(0x1000 * (i + 1), (128,), "float32", device=1) for i in range(2)]
    monkeypatch.setenv("RECORDING_HIP_FAILS", f"{call}:{code}")
    with pytest.raises(hip.HipError, match=rf"kernel 'add'.*{call} failed.*{text}|kernel 'add'.*{text}") as caught:
        made(*args)
    assert (caught.value.code, caught.value.call) == (code, call)
    monkeypatch.delenv("RECORDING_HIP_FAILS")
    hip.runtime()._lib.hipSetDevice(0)
    made(*args)  # a failure leaves nothing behind
    assert calls(record)[-2][0] == "launch"


def test_modules_are_unloaded(record: Path) -> None:
    made = compiled_add()
    made(*[GpuTensor(0x1000 * (i + 1), (128,), "float32") for i in range(2)])
    del made
    gc.collect()
    assert calls(record)[-1] == ["unload", "0x1000"]


def test_addresses_that_are_no_dword(record: Path) -> None:
    with pytest.raises(AbiError, match="argument 'a' starts at an address that 4 does not divide.*pass a copy"):
        compiled_gemm()(GpuTensor(0x1002, (64, 32), "float16"), *gemm_arguments()[1:])


def test_more_threads_than_a_launch_has(record: Path) -> None:
    made = compiled_add()
    made._launcher._fits_hardware(((1 << 26) - 1, 1, 1))
    with pytest.raises(AbiError, match="along x are 2.32 threads or more; take larger tiles"):
        made._launcher._fits_hardware((1 << 26, 1, 1))


def test_tensors_on_several_devices(record: Path) -> None:
    a, b, c = gemm_arguments()
    other = gemm_arguments(device=1)[2]
    with pytest.raises(
        AbiError, match=r"test_hip.py:\d+:\d+: kernel.*\(a, b on cuda:0; c on cuda:1\); move them to one"
    ):
        compiled_gemm()(a, b, other)
    with pytest.raises(AbiError, match=r"\(a, b on cuda:0; c on cpu\)"):
        compiled_gemm()(a, b, np.zeros((64, 64), np.float32))


def test_no_runtime(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made = compiled_add()
    args = [GpuTensor(0x1000, (128,), "float32")] * 2
    monkeypatch.setenv(hip.ENVIRONMENT, str(tmp_path / "absent.so"))
    with pytest.raises(hip.HipError, match="absent.so cannot be loaded.*install ROCm, or name.*WAVE_HIP_LIBRARY"):
        made(*args)
    monkeypatch.setenv(hip.ENVIRONMENT, "libc.so.6")
    with pytest.raises(hip.HipError, match="has no hipGetDevice; it is no HIP runtime"):
        made(*args)


def test_where_the_runtime_is_looked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(hip.ENVIRONMENT, raising=False)
    monkeypatch.setenv("ROCM_PATH", "/opt/elsewhere")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libamdhip64.so").write_text("")
    torch = SimpleNamespace(version=SimpleNamespace(hip="6.4"), __file__=str(tmp_path / "__init__.py"))
    monkeypatch.setitem(hip.sys.modules, "torch", torch)
    first, second, *rest = hip._candidates()
    assert first == str(tmp_path / "lib" / "libamdhip64.so") and second == "/opt/elsewhere/lib/libamdhip64.so"
    assert rest[0] == "libamdhip64.so"
    torch.version.hip = None  # a torch for another kind of GPU
    assert next(iter(hip._candidates())) == second


def test_torch_current_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    asked = []

    def current_stream(device: int) -> SimpleNamespace:
        asked.append(device)
        return SimpleNamespace(cuda_stream=77)

    monkeypatch.setattr(torch.cuda, "current_stream", current_stream)
    library = tensors.library_of(torch.zeros(1))
    assert library is not None and library.stream(("cuda", 3)) == 77 and asked == [3]


@pytest.mark.parametrize(
    ("versions", "name"),
    [
        ((), ""),
        ((0,), ""),
        ((0, 90402), "gfx942"),
        ((0, 90010, 90500), "gfx90a"),
        ((90500,), "gfx950"),
        ((120001,), "gfx1201"),
    ],
)
def test_gpu_at_hand(tmp_path: Path, versions: tuple[int, ...], name: str) -> None:
    for number, version in enumerate(versions):
        node = tmp_path / str(number)
        node.mkdir()
        (node / "properties").write_text(f"cpu_cores_count 8\ngfx_target_version {version}\nvendor_id 4098\n")
    assert gpu.gpu_arch(tmp_path) == name
    assert gpu.gpu_arch(tmp_path / "absent") == ""
