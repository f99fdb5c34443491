"""Launches of kernels that LLVM made from LLVM IR: registers at the start, arguments, data, scratch, calls, LDS.

Each kernel runs from assembly text and from its code object; both must give what plain numpy says.
"""

from __future__ import annotations

import functools
import os
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from wave_mlir import isa
from wave_mlir.report import codeobject

import machine

HEADER = """
target triple = "amdgcn-amd-amdhsa"
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workitem.id.y()
declare i32 @llvm.amdgcn.workitem.id.z()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.workgroup.id.y()
declare i32 @llvm.amdgcn.workgroup.id.z()
declare ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
declare ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
declare void @llvm.amdgcn.s.barrier()
"""
FLAGS = '!llvm.module.flags = !{!0}\n!0 = !{i32 1, !"amdhsa_code_object_version", i32 500}\n'
TARGETS = ("gfx942", "gfx950")
FORMS = ("assembly", "code object") if codeobject.find_objdump("", os.environ.get("PATH", "")) else ("assembly",)


@functools.cache
def _compiled(body: str, chip: str) -> tuple[str, bytes]:
    return machine.assembly_and_object(HEADER + body + FLAGS, chip)


@pytest.fixture(params=FORMS)
def form(request: pytest.FixtureRequest) -> str:
    """How the kernel is given."""
    return request.param


def _code(body: str, chip: str, form: str, folder: Path) -> str | bytes:
    text, obj = _compiled(body, chip)
    return text if form == "assembly" else machine.link(obj, folder / "k.hsaco").read_bytes()


IDS = """
define amdgpu_kernel void @k(ptr addrspace(1) noalias %out) {
  %x = call i32 @llvm.amdgcn.workitem.id.x()
  %y = call i32 @llvm.amdgcn.workitem.id.y()
  %z = call i32 @llvm.amdgcn.workitem.id.z()
  %gx = call i32 @llvm.amdgcn.workgroup.id.x()
  %gy = call i32 @llvm.amdgcn.workgroup.id.y()
  %gz = call i32 @llvm.amdgcn.workgroup.id.z()
  ; item = x + 10 y + 30 z; group = gx + 2 gy + 6 gz
  %y1 = mul i32 %y, 10
  %z1 = mul i32 %z, 30
  %xy = add i32 %x, %y1
  %item = add i32 %xy, %z1
  %gy1 = mul i32 %gy, 2
  %gz1 = mul i32 %gz, 6
  %gxy = add i32 %gx, %gy1
  %group = add i32 %gxy, %gz1
  %at0 = mul i32 %group, 120
  %at = add i32 %at0, %item
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %at
  %v0 = shl i32 %group, 16
  %v = or i32 %v0, %item
  store i32 %v, ptr addrspace(1) %p
  ret void
}
"""


@pytest.mark.parametrize("chip", TARGETS)
@pytest.mark.parametrize("order", ["forward", "reverse", "round-robin", "random"])
def test_ids(form: str, chip: str, order: str, tmp_path: Path) -> None:
    out = np.zeros((24, 120), np.int32)
    run = isa.run(_code(IDS, chip, form, tmp_path), [out], (2, 3, 4), (10, 3, 4), order=order, undefined=[0])
    np.testing.assert_array_equal(out, np.arange(24)[:, None] << 16 | np.arange(120)[None])
    assert (run.grid, run.block, run.target) == ((2, 3, 4), (10, 3, 4), chip)
    assert run.executed == sum(run.counts.values()) == run.executions.sum() == run.waves.sum()
    assert run.counts["s_endpgm"] == 48


def _hidden() -> str:
    """Stores block counts, group sizes and dims of the implicit arguments, then sizes of the dispatch packet."""
    lines = [
        "define amdgpu_kernel void @k(ptr addrspace(1) noalias %out) {",
        "%base = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()",
        "%packet = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()",
    ]
    reads = [("base", 0, "i32"), ("base", 4, "i32"), ("base", 8, "i32"), ("base", 12, "i16"), ("base", 14, "i16")]
    reads += [("base", 16, "i16"), ("base", 18, "i16"), ("base", 64, "i16"), ("base", 40, "i64")]
    reads += [("packet", 4, "i16"), ("packet", 6, "i16"), ("packet", 12, "i32"), ("packet", 16, "i32")]
    for i, (pointer, offset, type) in enumerate(reads):
        lines += [
            f"%p{i} = getelementptr i8, ptr addrspace(4) %{pointer}, i32 {offset}",
            f"%v{i} = load {type}, ptr addrspace(4) %p{i}",
            f"%w{i} = {'add i64 0, %v' + str(i) if type == 'i64' else f'zext {type} %v{i} to i64'}",
            f"%q{i} = getelementptr i64, ptr addrspace(1) %out, i32 {i}",
            f"store i64 %w{i}, ptr addrspace(1) %q{i}",
        ]
    return "\n".join([*lines, "ret void", "}", ""])


def test_hidden_arguments_and_packet(form: str, tmp_path: Path) -> None:
    out = np.full(13, -1, np.int64)
    isa.run(_code(_hidden(), "gfx942", form, tmp_path), [out], (5, 3, 1), (64, 2, 1))
    assert out.tolist() == [5, 3, 1, 64, 2, 1, 0, 2, 0, 64, 2, 320, 6]


PACKED = """
define amdgpu_kernel void @k(ptr addrspace(1) %out, i8 %a, i16 %b, float %c, double %d, i64 %e, half %f, i32 %g) {
  %a1 = sext i8 %a to i64
  %b1 = sext i16 %b to i64
  %c1 = fpext float %c to double
  %c2 = bitcast double %c1 to i64
  %d1 = bitcast double %d to i64
  %f0 = fpext half %f to double
  %f1 = bitcast double %f0 to i64
  %g1 = sext i32 %g to i64
  store i64 %a1, ptr addrspace(1) %out
  %p1 = getelementptr i64, ptr addrspace(1) %out, i32 1
  store i64 %b1, ptr addrspace(1) %p1
  %p2 = getelementptr i64, ptr addrspace(1) %out, i32 2
  store i64 %c2, ptr addrspace(1) %p2
  %p3 = getelementptr i64, ptr addrspace(1) %out, i32 3
  store i64 %d1, ptr addrspace(1) %p3
  %p4 = getelementptr i64, ptr addrspace(1) %out, i32 4
  store i64 %e, ptr addrspace(1) %p4
  %p5 = getelementptr i64, ptr addrspace(1) %out, i32 5
  store i64 %f1, ptr addrspace(1) %p5
  %p6 = getelementptr i64, ptr addrspace(1) %out, i32 6
  store i64 %g1, ptr addrspace(1) %p6
  ret void
}
"""


@pytest.mark.parametrize("preload", [False, True])
def test_scalars(form: str, preload: bool, tmp_path: Path) -> None:
    body = PACKED
    if preload:
        body = body.replace("(ptr addrspace(1) %out, i8 %a,", "(ptr addrspace(1) inreg %out, i8 inreg %a,")
    code = _code(body, "gfx942", form, tmp_path)
    assert isa.load(code).kernel.preload[0] == (3 if preload else 0)
    out = np.zeros(7, np.int64)
    isa.run(code, [out, -3, np.int16(-300), 1.5, -2.25, -(1 << 40), np.float16(0.125), 7], 1, 64)
    floats = out.view(np.float64)
    assert out[[0, 1, 4, 6]].tolist() == [-3, -300, -(1 << 40), 7]
    assert floats[[2, 3, 5]].tolist() == [1.5, -2.25, 0.125]


DATA = """
@table = internal unnamed_addr addrspace(4) constant [64 x i32] [TABLE]
@state = addrspace(1) global i32 41
@pointer = addrspace(4) constant ptr addrspace(1) @state
define amdgpu_kernel void @k(ptr addrspace(1) %out) {
  %x = call i32 @llvm.amdgcn.workitem.id.x()
  %t = getelementptr i32, ptr addrspace(4) @table, i32 %x
  %v = load i32, ptr addrspace(4) %t
  %where = load volatile ptr addrspace(1), ptr addrspace(4) @pointer
  %s = load i32, ptr addrspace(1) %where
  %w = add i32 %v, %s
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %x
  store i32 %w, ptr addrspace(1) %p
  %first = icmp eq i32 %x, 0
  br i1 %first, label %add, label %end
add:
  store i32 100, ptr addrspace(1) @state
  br label %end
end:
  ret void
}
"""


def test_data_sections(form: str, tmp_path: Path) -> None:
    body = DATA.replace("TABLE", ", ".join(f"i32 {i * i}" for i in range(64)))
    code = _code(body, "gfx942", form, tmp_path)
    for _ in range(2):  # the program's data are as in the file at each launch
        out = np.zeros(64, np.int32)
        isa.run(code, [out], 1, 64)
        np.testing.assert_array_equal(out, np.arange(64) ** 2 + 41)


SCRATCH = """
define amdgpu_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %array = alloca [16 x i32], addrspace(5)
  %x = call i32 @llvm.amdgcn.workitem.id.x()
  br label %fill
fill:
  %i = phi i32 [ 0, %0 ], [ %j, %fill ]
  %v = mul i32 %i, %x
  %q = getelementptr i32, ptr addrspace(5) %array, i32 %i
  store volatile i32 %v, ptr addrspace(5) %q
  %j = add i32 %i, 1
  %more = icmp ult i32 %j, 16
  br i1 %more, label %fill, label %read
read:
  %p = getelementptr i32, ptr addrspace(1) %in, i32 %x
  %k = load i32, ptr addrspace(1) %p
  %r = getelementptr i32, ptr addrspace(5) %array, i32 %k
  %w = load volatile i32, ptr addrspace(5) %r
  %o = getelementptr i32, ptr addrspace(1) %out, i32 %x
  store i32 %w, ptr addrspace(1) %o
  ret void
}
"""


def test_scratch(form: str, tmp_path: Path) -> None:
    code = _code(SCRATCH, "gfx942", form, tmp_path)
    assert isa.load(code).kernel.scratch >= 64
    index = np.random.default_rng(1).integers(0, 16, 64).astype(np.int32)
    out = np.zeros(64, np.int32)
    isa.run(code, [index, out], 1, 64)
    np.testing.assert_array_equal(out, index * np.arange(64))


CALL = """
define internal i32 @square(i32 %v) noinline { %w = mul i32 %v, %v
  ret i32 %w
}
define amdgpu_kernel void @k(ptr addrspace(1) %out) {
  %x = call i32 @llvm.amdgcn.workitem.id.x()
  %v = call i32 @square(i32 %x)
  %w = call i32 @square(i32 %v)
  %o = getelementptr i32, ptr addrspace(1) %out, i32 %x
  store i32 %w, ptr addrspace(1) %o
  ret void
}
"""


@pytest.mark.parametrize("linkage", ["internal", ""])
def test_call(form: str, linkage: str, tmp_path: Path) -> None:
    code = _code(CALL.replace("internal", linkage), "gfx942", form, tmp_path)
    out = np.zeros(64, np.int32)
    isa.run(code, [out], 1, 64)
    np.testing.assert_array_equal(out, np.arange(64) ** 4)


LDS = """
@own = internal addrspace(3) global [128 x i32] poison
@more = external addrspace(3) global [0 x i32]
define amdgpu_kernel void @k(ptr addrspace(1) %out) {
  %x = call i32 @llvm.amdgcn.workitem.id.x()
  %a = getelementptr i32, ptr addrspace(3) @own, i32 %x
  %b = getelementptr i32, ptr addrspace(3) @more, i32 %x
  %v = mul i32 %x, 3
  store i32 %x, ptr addrspace(3) %a
  store i32 %v, ptr addrspace(3) %b
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  fence syncscope("workgroup") acquire
  %y = xor i32 %x, 127
  %c = getelementptr i32, ptr addrspace(3) @own, i32 %y
  %d = getelementptr i32, ptr addrspace(3) @more, i32 %y
  %e = load i32, ptr addrspace(3) %c
  %f = load i32, ptr addrspace(3) %d
  %g = mul i32 %f, 1000
  %h = add i32 %e, %g
  %o = getelementptr i32, ptr addrspace(1) %out, i32 %x
  store i32 %h, ptr addrspace(1) %o
  ret void
}
"""


def test_dynamic_lds(form: str, tmp_path: Path) -> None:
    code = _code(LDS, "gfx942", form, tmp_path)
    out = np.zeros(128, np.int32)
    isa.run(code, [out], 1, 128, dynamic_lds=512)
    np.testing.assert_array_equal(out, (127 - np.arange(128)) * 3001)
    with pytest.raises(isa.IsaError, match="bounds"):
        isa.run(code, [out], 1, 128, dynamic_lds=508)
    with pytest.raises(isa.IsaError, match=r"arguments: \d+ bytes of LDS a workgroup; gfx942 has 65536"):
        isa.run(code, [out], 1, 128, dynamic_lds=65536)


COPY = """
define amdgpu_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %x = call i32 @llvm.amdgcn.workitem.id.x()
  %p = getelementptr i32, ptr addrspace(1) %in, i32 %x
  %v = load i32, ptr addrspace(1) %p
  %o = getelementptr i32, ptr addrspace(1) %out, i32 %x
  store i32 %v, ptr addrspace(1) %o
  ret void
}
"""


@pytest.mark.parametrize("dtype", [torch.int32, torch.float32, torch.bfloat16, torch.float8_e4m3fnuz])
def test_torch_tensors(dtype: torch.dtype) -> None:
    text = _compiled(COPY, "gfx942")[0]
    raw = torch.arange(256, dtype=torch.uint8).view(dtype)
    out = torch.zeros_like(raw)
    run = isa.run(text, [raw, out], 1, 64)
    assert torch.equal(out.view(torch.uint8), raw.view(torch.uint8))
    assert run.outputs[1] is out


def test_same_array_twice() -> None:
    a = np.arange(64, dtype=np.int32)
    isa.run(_compiled(COPY, "gfx942")[0], [a, a], 1, 64)
    np.testing.assert_array_equal(a, np.arange(64))


def test_empty_grid_runs_nothing() -> None:
    a = np.zeros(4, np.int32)
    assert isa.run(_compiled(COPY, "gfx942")[0], [a, a], (0, 1, 1), 64).executed == 0


@pytest.mark.parametrize("form", FORMS)
def test_sizes_of_instructions(form: str, tmp_path: Path) -> None:
    """Addresses in text are the assembler's: all kernels above have theirs in the code object too."""
    if form == "assembly":
        return
    for body in (IDS, _hidden(), PACKED, SCRATCH, CALL, LDS):
        text = isa.load(_code(body, "gfx942", "assembly", tmp_path)).program
        code = isa.load(_code(body, "gfx942", "code object", tmp_path)).program
        mine = text.instructions["address"] - text.instructions["address"][0]
        theirs = code.instructions["address"] - code.instructions["address"][0]
        kernel = next(i for i, line in enumerate(text.lines) if line.mnemonic == "s_endpgm")
        np.testing.assert_array_equal(mine[: kernel + 1], theirs[: kernel + 1])


# --- errors ---

A, B = np.zeros(64, np.int32), np.zeros(64, np.int32)


@pytest.mark.parametrize(
    "args, options, message",
    [
        ([A], {}, r"takes 2 arguments \(.*\); 1 were given"),
        ([A, 3], {}, "argument 1 is a pointer; give a numpy array or a torch tensor, not int"),
        ([A, np.zeros((64, 2), np.int32)[:, 0]], {}, "argument 1 is not C-contiguous; pass numpy.ascontiguousarray"),
        ([A, torch.zeros(64, 2)[:, 0]], {}, r"argument 1 is not C-contiguous; pass \.contiguous\(\)"),
        ([A[:40], A[20:]], {}, "arguments 0 and 1 overlap in part"),
        ([A, B], {"order": "sideways"}, "order 'sideways' is none of forward, reverse"),
        ([A, B], {"block": 2048}, "a workgroup of 2048 work-items"),
        ([A, B], {"block": None}, "does not say its workgroup size; give block="),
        ([A, B], {"grid": (1, 2, 3, 4)}, "grid must be one to three sizes"),
        ([A, B], {"grid": None}, "grid must be one to three sizes .*, not None"),
        ([A, B], {"grid": (1.5, 1)}, r"grid must be one to three sizes .*, not \(1\.5, 1\)"),
        ([A, B], {"block": "64"}, "block must be one to three sizes .*, not '64'"),
        ([A, B], {"seed": -1}, "seed must be a whole number from 0, not -1"),
        ([A, B], {"limit": 2.5}, "limit must be a whole number from 0, not 2.5"),
        ([A, B], {"trace": -1}, "trace must be a whole number from 0, not -1"),
        ([A, B], {"dynamic_lds": "x"}, "dynamic_lds must be a whole number from 0, not 'x'"),
        ([A, B], {"undefined": 1}, "undefined must be a list of the numbers of arguments"),
        ([A, B], {"read_only": ["a"]}, "read_only must be a list of the numbers of arguments"),
        ([A, B.astype(">i4")], {}, "argument 1 has another byte order; pass .astype"),
        ([A, np.ma.masked_array(B, mask=True)], {}, r"argument 1 is a masked array; pass its \.data"),
        ([A, torch.zeros(64, dtype=torch.complex64).conj()], {}, r"argument 1 is a tensor .*; pass \.resolve_conj\(\)"),
        ([A, B], {"undefined": [2]}, "undefined names argument 2"),
        ([A, B], {"kernel": "other"}, "there is no kernel 'other'; the file has: k"),
        ([A, B], {"target": "gfx1100"}, "the code is for gfx1100; the runner has gfx942 and gfx950"),
    ],
)
def test_wrong_calls(args: list[object], options: dict[str, object], message: str) -> None:
    call = {"grid": 1, "block": 64, **options}
    with pytest.raises(isa.IsaError, match=message):
        isa.run(_compiled(COPY, "gfx942")[0], args, **call)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "value, message",
    [
        (300, "300 does not fit in 1 bytes"),
        (1.5, "has 1 bytes, which is no float"),
        (np.int32(1), "has 1 bytes; a value of 4 bytes"),
        ("x", "is a value of 1 bytes; give a number, not str"),
    ],
)
def test_wrong_scalars(value: object, message: str) -> None:
    with pytest.raises(isa.IsaError, match=message):
        isa.run(_compiled(PACKED, "gfx942")[0], [A, value, 0, 0, 0.0, 0, 0.0, 0], 1, 64)


def test_faults_are_located() -> None:
    text = _compiled(COPY, "gfx942")[0]
    with pytest.raises(isa.IsaError) as caught:
        isa.run(text, [A[:60].copy(), B], 1, 64, order="forward")
    found = caught.value.finding
    assert (found.kind, found.workgroup, found.wave, found.lane) == ("bounds", (0, 0, 0), 0, 60)
    assert "global_load_dword" in found.instruction and found.source.startswith("kernel.s:")
    assert found.address is not None and f"{found.address:#x}" in str(caught.value)


def test_misaligned() -> None:
    """An error unless the caller says that the code relies on the unaligned mode."""
    code = re.sub(r"(global_load_dword .*)", r"\1 offset:2", _compiled(COPY, "gfx942")[0])
    given = np.arange(65, dtype=np.uint32)
    with pytest.raises(isa.IsaError, match=r"a multiple of 4 \(code that relies on .* alignment=False\)") as caught:
        isa.run(code, [given, B], 1, 64)
    assert caught.value.kind == "alignment" and "global_load_dword" in str(caught.value)
    out = np.zeros(64, np.uint32)
    isa.run(code, [given, out], 1, 64, alignment=False)
    np.testing.assert_array_equal(out, np.frombuffer(given.tobytes()[2:-2], np.uint32))


def test_read_only() -> None:
    text = _compiled(COPY, "gfx942")[0]
    fixed = B.copy()
    fixed.flags.writeable = False
    for args, options in (([A, fixed], {}), ([A, B], {"read_only": [1]})):
        with pytest.raises(isa.IsaError, match="global_store_dword"):
            isa.run(text, args, 1, 64, **options)  # type: ignore[arg-type]


def test_undefined() -> None:
    text = _compiled(COPY, "gfx942")[0]
    isa.run(text, [A, B], 1, 64, undefined=[1])
    with pytest.raises(isa.IsaError) as caught:
        isa.run(text, [A, B], 1, 64, undefined=[0])
    assert caught.value.kind == "unwritten"


def test_limit_and_progress() -> None:
    loop = "k:\n s_branch k\n s_endpgm\n .amdhsa_kernel k\n .end_amdhsa_kernel\n"
    seen: list[int] = []
    with pytest.raises(isa.IsaError, match="limit: more than 100000 instructions"):
        isa.run(loop, [], 1, 64, target="gfx942", limit=100_000, progress=lambda _, executed: seen.append(executed))


def test_interrupt_ends_a_run() -> None:
    loop = "k:\n s_branch k\n s_endpgm\n .amdhsa_kernel k\n .end_amdhsa_kernel\n"

    def stop(_seconds: float, _executed: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        isa.run(loop, [], 1, 64, target="gfx942", progress=stop)


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "no AMDGPU instruction in the text"),
        ("k:\n s_endpgm\n", "no kernel in the file"),
        ("k:\n s_endpgm\n .amdhsa_kernel j\n .end_amdhsa_kernel\n", "the kernel 'j' has no code"),
        ("k:\n s_endpgm\n .amdhsa_kernel k\n .end_amdhsa_kernel\n", "does not name its target"),
        ("k:\n s_endpgm\n .amdhsa_kernel k\n .amdhsa_uses_dynamic_stack 1\n .end_amdhsa_kernel\n", "needs a stack"),
        ("k:\n s_endpgm\nj:\n s_endpgm\n .amdhsa_kernel k\n .end_amdhsa_kernel\n .amdhsa_kernel j\n"
         " .end_amdhsa_kernel\n", "several kernels; name one with kernel=: k, j"),
    ],
)  # fmt: skip
def test_wrong_files(text: str, message: str) -> None:
    target = None if "target" in message else "gfx942"
    with pytest.raises(isa.IsaError, match=message):
        isa.load(text, target=target)


REGISTERS = """k:
 LINE
 s_endpgm
 .amdhsa_kernel k
 .amdhsa_next_free_vgpr 14
 .amdhsa_accum_offset 12
 .end_amdhsa_kernel
"""


@pytest.mark.parametrize(
    "line, message",
    [
        ("v_mov_b32 v11, v9", ""),
        ("v_accvgpr_write_b32 a3, v11", ""),
        ("v_mov_b32 v1, v12", "v12 is used, but the kernel's descriptor allocates 12 registers v"),
        ("v_mov_b64 v[12:13], v[0:1]", "v13 is used, but the kernel's descriptor allocates 12 registers v"),
        ("v_accvgpr_write_b32 a4, v0", "a4 is used, but the kernel's descriptor allocates 4 registers a"),
    ],
)
def test_registers_that_the_descriptor_does_not_allocate(line: str, message: str) -> None:
    code = REGISTERS.replace("LINE", line)
    if not message:
        isa.run(code, [], 1, 64, target="gfx942")
        return
    with pytest.raises(isa.IsaError, match=message) as caught:
        isa.run(code, [], 1, 64, target="gfx942")
    found = caught.value.finding
    assert (found.kind, found.source, found.instruction) == ("program", "kernel.s:2", line)


@pytest.mark.parametrize("body", [IDS, SCRATCH])
def test_allocated_registers(form: str, body: str, tmp_path: Path) -> None:
    vectors, accumulators = isa.load(_code(body, "gfx942", form, tmp_path)).kernel.allocated or (0, 0)
    text = _compiled(body, "gfx942")[0]
    assert f".amdhsa_accum_offset {vectors}\n" in text
    assert (vectors + accumulators) % 8 == 0 and accumulators < 8


def test_damaged_code_object() -> None:
    with pytest.raises(isa.IsaError, match="damaged code object"):
        isa.load(b"\x7fELF" + bytes(100))


def test_no_objdump(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    content = machine.link(_compiled(COPY, "gfx950")[1], tmp_path / "k.hsaco").read_bytes()
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("WAVE_OBJDUMP", raising=False)
    with pytest.raises(isa.IsaError, match="no llvm-objdump of LLVM 20 or later .* or give the .s"):
        isa.load(content)
