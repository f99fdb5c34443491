"""gfx90a: AMD Instinct MI200 (CDNA2)."""

from __future__ import annotations

from . import cdna
from .base import ASSUMED, Buffers, Latencies, Lds, Target, runs
from .mfma import dense, virtual

# How the mnemonics of the 16-bit kinds end.
_ENDS = {"f16": "f16", "bf16": "bf16_1k"}

# Clocks: data sheet (383 TFLOP/s f16, bf16 and i8; 95.7 for f32 and f64, on 220 CUs of 4 SIMDs at 1.7 GHz) and the pass
# counts of the ISA document, "Dependency resolution: required independent instructions".
_KINDS_16 = {t: dense(16, 16, t, 32, mnemonic=f"v_mfma_f32_16x16x16{end}") for t, end in _ENDS.items()}
_KINDS_32 = {t: dense(32, 8, t, 64, mnemonic=f"v_mfma_f32_32x32x8{end}") for t, end in _ENDS.items()}

_F32 = [
    dense(16, 4, "f32", 32, mnemonic="v_mfma_f32_16x16x4f32"),
    dense(32, 2, "f32", 64, mnemonic="v_mfma_f32_32x32x2f32"),
]

_KINDS = (
    *_KINDS_16.values(), *_KINDS_32.values(),
    *(virtual(kind, 2) for kind in _KINDS_16.values()), *(virtual(kind, 2) for kind in _KINDS_32.values()),
    dense(16, 8, "bf16", 32, mnemonic="v_mfma_f32_16x16x8bf16"),
    dense(32, 4, "bf16", 64, mnemonic="v_mfma_f32_32x32x4bf16"),
    dense(16, 16, "i8", 32, mnemonic="v_mfma_i32_16x16x16i8"),
    dense(32, 8, "i8", 64, mnemonic="v_mfma_i32_32x32x8i8"),
    *_F32, *(virtual(kind, 4) for kind in _F32),
    dense(16, 4, "f64", 32, mnemonic="v_mfma_f64_16x16x4f64"),
)  # fmt: skip

TARGET = Target(
    name="gfx90a",
    description="AMD Instinct MI200 (CDNA2), one of its two dies",
    triple=cdna.TRIPLE,
    wave_size=64,  # ISA
    max_threads_per_workgroup=1024,  # LLVM
    compute_units=110,  # data sheet, MI250X: 220 on two dies
    simds_per_compute_unit=4,  # ISA
    max_waves_per_simd=8,  # LLVM
    clock_ghz=1.7,  # data sheet
    memory_tb_per_s=1.6,  # data sheet, a die
    xcds=1, l2_bytes=8 << 20,  # ISA: a die has one
    vector_memory_bytes_per_clock=64,  # assumed: what the vector L1 cache of a compute unit gives
    lds=Lds(
        bytes=65536, granule=512, banks=32, bank_bytes=4,  # ISA; granule: LLVM
        read_bytes_per_clock=128, write_bytes_per_clock=128,  # ISA
        accesses=cdna.lds_accesses(runs(64, 8), ASSUMED, 32, ASSUMED),
    ),
    registers=cdna.REGISTERS,
    offsets=cdna.OFFSETS,
    max_load_bits=cdna.MAX_LOAD_BITS,
    buffers=Buffers(flags=cdna.BUFFER_FLAGS, nontemporal=3),  # LLVM: glc slc
    direct_to_lds_bits=(32,),  # ISA: buffer_load_dword ... lds
    transposed_lds_bits=(),
    f8_flavor=None,
    counters=cdna.COUNTERS,
    # Orders of magnitude, assumed as on gfx942. MMA: ISA, rounded.
    latencies=Latencies(vector=4, lds=128, l2=500, memory=1000, mma_extra=16, mma_to_vector_extra=3),
    exchanges=cdna.EXCHANGES,
    has_split_barrier=False,
    kinds=_KINDS,
)  # fmt: skip
