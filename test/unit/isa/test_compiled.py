"""Running kernels by their ABI: symbols, strides, scalars and access from the description, mistakes named."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from wave_mlir.compiler.abi import KernelABI, KernelArg
from wave_mlir.compiler.runnable import Runnable
from wave_mlir.isa import IsaError

import machine

# b[i] = a[i * stride] * factor for i < N, one work-item an element
KERNEL = """
target triple = "amdgcn-amd-amdhsa"
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
define amdgpu_kernel void @scale(ptr addrspace(1) %a, ptr addrspace(1) %b, float %factor, i32 %n, i64 %stride) {
  %x = call i32 @llvm.amdgcn.workitem.id.x()
  %g = call i32 @llvm.amdgcn.workgroup.id.x()
  %base = shl i32 %g, 6
  %i = or i32 %base, %x
  %in = icmp slt i32 %i, %n
  br i1 %in, label %work, label %end
work:
  %i64 = zext i32 %i to i64
  %at = mul i64 %i64, %stride
  %p = getelementptr float, ptr addrspace(1) %a, i64 %at
  %v = load float, ptr addrspace(1) %p
  %w = fmul float %v, %factor
  %q = getelementptr float, ptr addrspace(1) %b, i64 %i64
  store float %w, ptr addrspace(1) %q
  br label %end
end:
  ret void
}
"""
ABI = KernelABI(
    name="scale",
    target="gfx942",
    args=(
        KernelArg("memory", "a", "f32", ("N",), "read", strides=("?",)),
        KernelArg("memory", "b", "f32", ("N",), "write"),
        KernelArg("scalar", "factor", "f32"),
        KernelArg("symbol", "N", "i32"),
        KernelArg("stride", "a.stride0", "i64", memory="a", dim=0),
    ),
    grid=("N ceildiv 64", "1", "1"),
    block=(64, 1, 1),
)


@dataclass(frozen=True)
class Compiled(Runnable):
    """What a compiler gives, as far as `run_isa` looks at it."""

    isa: str
    kernels: tuple[KernelABI, ...]


@functools.cache
def _compiled(*kernels: KernelABI) -> Compiled:
    return Compiled(machine.assembly_and_object(KERNEL, "gfx942")[0], kernels or (ABI,))


@pytest.mark.parametrize("n", [1, 64, 100])
@pytest.mark.parametrize("step", [1, 3])
def test_numpy(n: int, step: int) -> None:
    whole = np.arange(3 * n, dtype=np.float32)
    b = np.zeros(n, np.float32)
    run = _compiled().run_isa(whole[: n * step : step], b, 2.5, seed=n)
    np.testing.assert_array_equal(b, whole[: n * step : step] * 2.5)
    assert run.executed == sum(run.counts.values())


def test_torch() -> None:
    whole, b = torch.arange(200, dtype=torch.float32), torch.zeros(100)
    _compiled().run_isa(whole[::2], b, -1)
    assert torch.equal(b, -whole[::2])


A, B = np.ones(8, np.float32), np.zeros(8, np.float32)


@pytest.mark.parametrize(
    "args, options, message",
    [
        ((A, B), {}, r"takes 3 arguments \(a, b, factor\); 2 were given"),
        ((A, [0.0], 1.0), {}, "argument 'b' is a memory; give a numpy array or a torch tensor, not list"),
        ((A, B[:4], 1.0), {}, "argument 'b' has extent 4 in dim 0, but N is 8"),
        ((A, B.astype(np.float16), 1.0), {}, "argument 'b' holds f32; an array of float16"),
        ((A, B, "one"), {}, "argument 'factor': 'one' is no f32"),
        ((A[::-1], B, 1.0), {}, "a negative stride: \\[-1\\]; pass a copy"),
        ((A, B, 1.0), {"symbols": {"M": 3}}, "unknown symbol 'M'"),
        ((A, B, 1.0), {"kernel": "other"}, "there is no kernel 'other'; the module has: scale"),
        ((A, B[::2], 1.0), {}, "argument 'b' has extent 4"),
    ],
)
def test_mistakes(args: tuple[object, ...], options: dict[str, object], message: str) -> None:
    with pytest.raises(IsaError, match=message) as caught:
        _compiled().run_isa(*args, **options)  # type: ignore[arg-type]
    assert caught.value.kind == "arguments"


def test_several_kernels() -> None:
    other = KernelABI("other", "gfx942", (), ("1", "1", "1"))
    with pytest.raises(IsaError, match="the kernels scale, other; name one with kernel="):
        _compiled(ABI, other).run_isa(A, B, 1.0)
    _compiled(ABI, other).run_isa(A, B, 1.0, kernel="scale")


def _with_access(a: str, b: str) -> KernelABI:
    first, second, *rest = ABI.args
    args = (KernelArg("memory", "a", "f32", ("N",), a), KernelArg("memory", "b", "f32", ("N",), b), *rest)
    assert (first.name, second.name) == ("a", "b")
    return KernelABI(ABI.name, ABI.target, args, ABI.grid, block=ABI.block)


def test_access_is_checked() -> None:
    with pytest.raises(IsaError) as caught:
        _compiled(_with_access("write", "write")).run_isa(A, B, 1.0)
    assert caught.value.kind == "unwritten"
    with pytest.raises(IsaError) as caught:
        _compiled(_with_access("read", "read")).run_isa(A, B, 1.0)
    assert "global_store" in caught.value.finding.instruction
    b = A.copy()
    _compiled().run_isa(b, b, 2.0)  # the same array for both: neither is checked
    np.testing.assert_array_equal(b, 2 * A)
