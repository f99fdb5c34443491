"""Kernels made by `wave_sim` run with the sizes of their tensors, and the other helpers of kernels' tests there."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import wave_mlir.compat  # noqa: F401
import wave_mlir.lang as tkl
from wave_lang.kernel import wave as tkw  # type: ignore[import-not-found]
from wave_lang.kernel.wave import cache as compat_cache  # type: ignore[import-not-found]
from wave_lang.kernel.wave.iree_utils import generate_iree_ref  # type: ignore[import-not-found]
from wave_lang.kernel.wave.wave_sim import wave_sim  # type: ignore[import-not-found]
from wave_lang.support.detect_water import is_water_available  # type: ignore[import-not-found]
from wave_mlir.compat import backends
from wave_mlir.compiler import cache
from wave_mlir.compiler.diagnostics import CompileError

M, N, K, SPACE = tkl.sym.M, tkl.sym.N, tkl.sym.K, tkl.sym.SPACE
TILE_M, TILE_N, TILE_K, COUNT = tkl.sym.TILE_M, tkl.sym.TILE_N, tkl.sym.TILE_K, tkl.sym.COUNT
TILED = [
    tkw.WorkgroupConstraint(M, TILE_M, 0),
    tkw.WorkgroupConstraint(N, TILE_N, 1),
    tkw.HardwareConstraint(threads_per_wave=64),
]


@wave_sim(TILED)
def added(a: tkl.Memory[M, N, SPACE, tkl.f32], b: tkl.Memory[N, SPACE, tkl.f32], c: tkl.Memory[M, N, SPACE, tkl.f32]):
    """Adds a row to all rows."""
    tkw.write(tkw.read(a, elements_per_thread=COUNT) + tkw.read(b), c, elements_per_thread=COUNT)


@wave_sim([*TILED, tkw.TilingConstraint(K, TILE_K)])
def product(
    a: tkl.Memory[M, K, SPACE, tkl.f16], b: tkl.Memory[N, K, SPACE, tkl.f16], c: tkl.Memory[M, N, SPACE, tkl.f32]
):
    start = tkl.Register[M, N, tkl.f32](0.0)

    @tkw.iterate(K, init_args=[start])
    def total(acc: tkl.Register[M, N, tkl.f32]) -> tkl.Register[M, N, tkl.f32]:
        return tkw.mma(tkw.read(a, elements_per_thread=COUNT), tkw.read(b, elements_per_thread=COUNT), acc)

    tkw.write(total, c, elements_per_thread=COUNT)


@pytest.mark.parametrize("shape", [(3, 70), (64, 32), (1, 1)])
def test_sizes_are_those_of_the_tensors(shape: tuple[int, int]) -> None:
    a, b, c = torch.randn(shape), torch.randn(shape[1]), torch.zeros(shape)
    added(a, b, c)
    assert torch.equal(c, a + b) and added.__doc__ == "Adds a row to all rows."


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
@pytest.mark.parametrize("m, n, k", [(5, 7, 12), (40, 32, 16)])
def test_products_in_the_dtype_of_the_tensors(m: int, n: int, k: int, dtype: torch.dtype) -> None:
    """2049 is no f16: the kernel's annotation says f16, and f32 tensors are taken as they are."""
    a, b, c = torch.randint(-4, 5, (m, k)).to(dtype), torch.randint(-4, 5, (n, k)).to(dtype), torch.zeros(m, n)
    if dtype is torch.float32:
        a[0, 0], b[0, 0] = 2049, 1
    product(a, b, c)
    assert torch.equal(c, a.float() @ b.float().T)


def test_of_numpy() -> None:
    a, b, c = np.ones((4, 8), np.float32), np.arange(8, dtype=np.float32), np.zeros((4, 8), np.float32)
    added(a, b, c)
    np.testing.assert_array_equal(c, a + b)


@pytest.mark.parametrize(
    "shapes, text",
    [
        (((4, 8), (8,)), "kernel added has 3 arguments; 2 were given"),
        (((4, 8), (9,), (4, 8)), "kernel added: N is 8 in one argument and 9 in argument b"),
        (((4, 8), (8, 1), (4, 8)), "kernel added: argument b has 1 dims; a tensor of 2 was given"),
    ],
)
def test_tensors_that_do_not_fit(shapes: tuple[tuple[int, ...], ...], text: str) -> None:
    with pytest.raises(CompileError, match=text):
        added(*(torch.zeros(s) for s in shapes))


def integers(*shape: int, dtype: torch.dtype = torch.float16) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(sum(shape)).integers(-3, 4, shape)).to(dtype)


def test_references_of_products() -> None:
    a, b = integers(2, 5, 6), integers(2, 4, 6)
    out = torch.zeros(2, 5, 4)
    generate_iree_ref("bmmt", [a, b], [out])
    assert torch.equal(out, torch.from_numpy(np.einsum("bmk,bnk->bmn", a.float(), b.float())))
    whole = torch.zeros(5, 4, dtype=torch.int32)
    generate_iree_ref("mmt", [a[0].to(torch.int8), b[0].to(torch.int8)], [whole], None)
    assert torch.equal(whole, out[0].to(torch.int32))
    generate_iree_ref("mmt_f8", [a[0] * 1.01, b[0]], [rounded := torch.zeros(5, 4)])
    assert torch.equal(rounded, out[0])


def test_references_of_chains_and_convolutions() -> None:
    q, k, v = integers(1, 3, 6), integers(1, 4, 6), integers(1, 5, 4)
    generate_iree_ref("chain_mmt", [q, k, v], [out := torch.zeros(1, 5, 3)])
    wanted = np.einsum("bmk,bsk,bns->bnm", q.float(), k.float(), v.float())
    assert torch.equal(out, torch.from_numpy(wanted))
    x, w = integers(1, 3, 5, 4), integers(2, 3, 2, 2)
    generate_iree_ref("conv_2d_nchw_fchw", [x, w], [out := torch.zeros(1, 2, 2, 2)], stride=2)
    assert torch.equal(out, torch.nn.functional.conv2d(x.float(), w.float(), stride=2)[:, :, :2, :2])
    last = [x.permute(0, 2, 3, 1), w.permute(2, 3, 1, 0)]
    generate_iree_ref("conv_2d_nhwc_hwcf", last, [other := torch.zeros(1, 2, 2, 2)], stride=2)
    assert torch.equal(other.permute(0, 3, 1, 2), out)
    with pytest.raises(CompileError, match="there is no 'softmax'; the kinds are mmt"):
        generate_iree_ref("softmax", [x], [out])


def test_what_is_said_of_cache_and_backends(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not (is_water_available() or backends.is_waveasm_available() or backends.is_execution_engine_available())
    assert compat_cache.get_cache_base_dir() == cache.default_folder()
    monkeypatch.setenv("WAVE_CACHE", "off")
    assert not compat_cache.is_cache_enabled()
