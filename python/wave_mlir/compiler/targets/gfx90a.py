"""gfx90a: AMD Instinct MI200 (CDNA2)."""

from __future__ import annotations

from . import cdna
from .base import ASSUMED, Latencies, Lds, Target, runs
from .mfma import dense, virtual

# Clocks: data sheet (383 TFLOP/s f16, bf16 and i8; 95.7 for f32 and f64, on 220 CUs of 4 SIMDs at 1.7 GHz) and the pass
# counts of the ISA document, "Dependency resolution: required independent instructions".
_F16 = dense(16, 16, "f16", 32)
_F16_32 = dense(32, 8, "f16", 64)
_BF16 = dense(16, 16, "bf16", 32, suffix="_1k")
_BF16_32 = dense(32, 8, "bf16", 64, suffix="_1k")

_KINDS = (
    _F16, _F16_32, virtual(_F16, 2), virtual(_F16_32, 2),
    _BF16, _BF16_32, virtual(_BF16, 2), virtual(_BF16_32, 2),
    dense(16, 8, "bf16", 32), dense(32, 4, "bf16", 64),
    dense(16, 16, "i8", 32), dense(32, 8, "i8", 64),
    dense(16, 4, "f32", 32), dense(32, 2, "f32", 64),
    dense(16, 4, "f64", 32),
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
    lds=Lds(
        bytes=65536, granule=512, banks=32, bank_bytes=4,  # ISA; granule: LLVM
        read_bytes_per_clock=128, write_bytes_per_clock=128,  # ISA
        accesses=cdna.lds_accesses(runs(64, 8), ASSUMED, 32, ASSUMED),
    ),
    registers=cdna.REGISTERS,
    offsets=cdna.OFFSETS,
    max_load_bits=cdna.MAX_LOAD_BITS,
    direct_to_lds_bits=(32,),  # ISA: buffer_load_dword ... lds
    transposed_lds_bits=(),
    f8_flavor=None,
    counters=cdna.COUNTERS,
    # Orders of magnitude, assumed as on gfx942. MMA: ISA, rounded.
    latencies=Latencies(vector=4, lds=128, l2=500, memory=1000, mma_extra=16, mma_to_vector_extra=3),
    has_split_barrier=False,
    kinds=_KINDS,
)  # fmt: skip
