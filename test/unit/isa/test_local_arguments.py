"""LDS whose size the launch gives: pointers to it among a kernel's arguments (OpenCL's `local`)."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from wave_mlir import isa

import machine

BODY = """
target triple = "amdgcn-amd-amdhsa"
@own = internal addrspace(3) global [3 x i32] poison, align 4
declare i32 @llvm.amdgcn.workitem.id.x()
define amdgpu_kernel void @k(ptr addrspace(1) noalias %out, ptr addrspace(3) noalias align 64 %a, i32 %n,
                             ptr addrspace(3) noalias align 8 %b) {
  %x = call i32 @llvm.amdgcn.workitem.id.x()
  %pa = getelementptr i32, ptr addrspace(3) %a, i32 %x
  %pb = getelementptr i64, ptr addrspace(3) %b, i32 %x
  %m = urem i32 %x, 3
  %po = getelementptr i32, ptr addrspace(3) @own, i32 %m
  store volatile i32 %m, ptr addrspace(3) %po
  %ia = ptrtoint ptr addrspace(3) %a to i32
  %ib = ptrtoint ptr addrspace(3) %b to i32
  %sum = add i32 %ia, %n
  store volatile i32 %sum, ptr addrspace(3) %pa
  %wide = zext i32 %ib to i64
  store volatile i64 %wide, ptr addrspace(3) %pb
  %va = load volatile i32, ptr addrspace(3) %pa
  %vb = load volatile i64, ptr addrspace(3) %pb
  %vb32 = trunc i64 %vb to i32
  %p0 = getelementptr [64 x i32], ptr addrspace(1) %out, i32 0, i32 %x
  %p1 = getelementptr [64 x i32], ptr addrspace(1) %out, i32 1, i32 %x
  store i32 %va, ptr addrspace(1) %p0
  store i32 %vb32, ptr addrspace(1) %p1
  ret void
}
!llvm.module.flags = !{!0}
!0 = !{i32 1, !"amdhsa_code_object_version", i32 500}
"""


@functools.cache
def _text() -> str:
    return machine.assembly_and_object(BODY, "gfx942")[0]


def test_local_arguments_lie_behind_the_kernels_own() -> None:
    out = np.zeros((2, 64), np.int32)
    isa.run(_text(), [out, 4 * 64, 7, 8 * 64], 1, 64)
    assert (out[0] == 64 + 7).all() and (out[1] == 64 + 4 * 64).all()


def test_accesses_outside_of_them_are_found() -> None:
    with pytest.raises(isa.IsaError, match="bounds: an access of 8 bytes at offset 824 of LDS"):
        isa.run(_text(), [np.zeros((2, 64), np.int32), 4 * 64, 7, 8 * 63], 1, 64)


@pytest.mark.parametrize("given", [None, 1.5, np.zeros(4, np.float32), -8, True])
def test_what_is_no_size(given: object) -> None:
    with pytest.raises(isa.IsaError, match="argument 1 points to LDS .* give the size in bytes"):
        isa.run(_text(), [np.zeros((2, 64), np.int32), given, 7, 8], 1, 64)


def test_more_than_there_is() -> None:
    with pytest.raises(isa.IsaError, match="bytes of LDS a workgroup; gfx942 has 65536"):
        isa.run(_text(), [np.zeros((2, 64), np.int32), 1 << 16, 7, 8], 1, 64)
