"""A kernel that runs many straight-line programs one after the other, each from registers and memory of its own.

A program starts from registers that it loads (v4 to v19, s16 to s31, VCC, EXEC, SCC from s31) and stores them at its
end. Its scalars s4 to s7 point to its row of the input and of the output; a row's memory lies behind the registers, and
the output's is the input's at the start. v0 is 16 bytes a lane, s12 to s15 are free.
"""

from __future__ import annotations

import subprocess
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
from wave_mlir import isa

VECTORS, FIRST_V = 16, 4
SCALARS, FIRST_S = 16, 16
_VECTOR_BYTES = VECTORS * 256
MEMORY = _VECTOR_BYTES + 256
"""Offset of a program's memory in its row."""
MEMORY_BYTES = 4096
STRIDE = MEMORY + MEMORY_BYTES
"""Bytes of a row: [4][64][4] vector dwords, then scalars, VCC and EXEC (stored: and SCC), then memory."""
WORDS = STRIDE // 4
LDS_BYTES = 8192


def differing(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """bool[rows, WORDS] of two arrays of rows: where they differ in what programs leave."""
    wrong = ours != theirs
    wrong[:, _VECTOR_BYTES // 4 + SCALARS + 5 : MEMORY // 4] = False
    return wrong


def assembler(target: str) -> list[str]:
    """The command of the assembler for a target."""
    return ["llvm-mc-22", "-triple=amdgcn-amd-amdhsa", f"-mcpu={target}"]


_KERNEL_PROLOGUE = 5  # instructions


def kernel(bodies: Sequence[Sequence[str]], target: str) -> str:
    """The assembly of a kernel `programs` (in, out) that runs each body from its registers."""
    lines = [
        "s_load_dwordx4 s[4:7], s[0:1], 0x0",
        "v_lshlrev_b32_e32 v2, 2, v0",
        "v_add_u32_e32 v2, 0x1000, v2",
        "v_lshlrev_b32_e32 v0, 4, v0",
        "s_waitcnt lgkmcnt(0)",
    ]
    for body in bodies:
        lines += [*_prologue(), *body, *_epilogue()]
    code = "\n".join(f"\t{line}" for line in (*lines, "s_endpgm"))
    return _FRAME.format(target=target, code=code, lds=LDS_BYTES)


def _prologue() -> list[str]:
    return [
        f"s_load_dwordx16 s[{FIRST_S}:{FIRST_S + 15}], s[4:5], {_VECTOR_BYTES:#x}",
        f"s_load_dwordx4 s[8:11], s[4:5], {_VECTOR_BYTES + 64:#x}",
        *(
            f"global_load_dwordx4 v[{FIRST_V + 4 * i}:{FIRST_V + 4 * i + 3}], v0, s[4:5] offset:{1024 * i}"
            for i in range(4)
        ),
        "s_waitcnt vmcnt(0) lgkmcnt(0)",
        "s_mov_b64 vcc, s[8:9]",
        "s_bitcmp1_b32 s31, 0",
        "s_mov_b64 exec, s[10:11]",
    ]


def _epilogue() -> list[str]:
    kept = [f"s{FIRST_S + i}" for i in range(SCALARS)] + ["vcc_lo", "vcc_hi", "s8", "s9", "s12"]
    return [
        "s_cselect_b32 s12, 1, 0",
        "s_mov_b64 s[8:9], exec",
        "s_mov_b64 exec, -1",
        "v_mov_b32_e32 v1, 0",
        *(f"v_writelane_b32 v1, {register}, {lane}" for lane, register in enumerate(kept)),
        *(
            f"global_store_dwordx4 v0, v[{FIRST_V + 4 * i}:{FIRST_V + 4 * i + 3}], s[6:7] offset:{1024 * i}"
            for i in range(4)
        ),
        "global_store_dword v2, v1, s[6:7]",
        f"s_add_u32 s4, s4, {STRIDE:#x}",
        "s_addc_u32 s5, s5, 0",
        f"s_add_u32 s6, s6, {STRIDE:#x}",
        "s_addc_u32 s7, s7, 0",
    ]


_FRAME = """\
	.amdgcn_target "amdgcn-amd-amdhsa--{target}"
	.text
	.p2align 8
	.globl programs
	.type programs,@function
programs:
{code}
.Lend:
	.size programs, .Lend-programs
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel programs
		.amdhsa_group_segment_fixed_size {lds}
		.amdhsa_kernarg_size 16
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_next_free_vgpr 192
		.amdhsa_next_free_sgpr 64
		.amdhsa_accum_offset 128
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
	.end_amdhsa_kernel
	.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: programs
    .symbol: programs.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: {lds}
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 64
    .vgpr_count: 192
    .max_flat_workgroup_size: 64
    .args:
      - {{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}}
      - {{.size: 8, .offset: 8, .value_kind: global_buffer, .address_space: global}}
...
	.end_amdgpu_metadata
"""

_SPECIAL = {
    np.uint16: [0, 0x8000, 1, 0x3FF, 0x400, 0x7BFF, 0x7C00, 0xFC00, 0x7E01, 0x3C00, 0xBC00, 0x3800, 0x7F80, 0xFFFF],
    np.uint32: [0, 1 << 31, 1, 0x7FFFFF, 0x800000, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00001, 0x3F800000]
    + [0xBF800000, 0x3F000000, 0x4F000000, 0xCF000000, 0x7FFFFFFF, 0xFFFFFFFF],
    np.uint64: [0, 1 << 63, 1, (1 << 52) - 1, 0x7FEFFFFFFFFFFFFF, 0x7FF << 52, 0xFFF << 52, 0x7FF8000000000001]
    + [0x3FF << 52, 0xBFF << 52, 0x41E << 52, (1 << 63) - 1, (1 << 64) - 1],
}


def registers(count: int, seed: int) -> np.ndarray:
    """u32[count, WORDS]: what the programs start with: bits, numbers of a type with its special values, small ones."""
    rng = np.random.default_rng(seed)
    out = rng.integers(0, 1 << 32, (count, WORDS), np.uint32)
    for row in out:
        kind = rng.integers(0, 6)
        if kind in (1, 2, 3):
            dtype = (np.uint16, np.uint32, np.uint64)[kind - 1]
            values = row.view(dtype)
            special = rng.random(len(values)) < 0.4
            values[special] = rng.choice(np.array(_SPECIAL[dtype], dtype), special.sum())
        elif kind == 4:
            row[:] = rng.standard_normal(WORDS).astype(np.float32).view(np.uint32)
        elif kind == 5:
            row[:] = rng.integers(-40, 40, WORDS).astype(np.int32).view(np.uint32)
        exec_mask = (1 << 64) - 1 if rng.random() < 0.5 else int(rng.integers(1, 1 << 63))
        row[_VECTOR_BYTES // 4 + 18 : _VECTOR_BYTES // 4 + 20] = [exec_mask & 0xFFFFFFFF, exec_mask >> 32]
    return out


def refused_of(lines: Sequence[str], target: str, refused: Collection[int]) -> list[str]:
    """Those of the lines, which are the programs of a kernel, that are at the byte offsets `refused` of its code."""
    loaded = isa.load(kernel([[line] for line in lines], target))
    address = loaded.program.instructions["address"]
    offsets = (address - address[loaded.start]).tolist()
    size = len(_prologue()) + 1 + len(_epilogue())
    first = _KERNEL_PROLOGUE + len(_prologue())
    return [line for i, line in enumerate(lines) if offsets[first + i * size] in refused]


def code_object(text: str, target: str, folder: Path) -> Path:
    """The kernel, assembled and linked."""
    source, made = folder / "programs.o", folder / "programs.hsaco"
    subprocess.run([*assembler(target), "-filetype=obj", "-o", str(source)], input=text, text=True, check=True)
    subprocess.run(["ld.lld-22", "-shared", str(source), "-o", str(made)], check=True)
    return made
