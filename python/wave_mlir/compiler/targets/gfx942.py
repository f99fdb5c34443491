"""gfx942: AMD Instinct MI300A, MI300X, MI325X (CDNA3)."""

from __future__ import annotations

from . import cdna
from .base import ASSUMED, Latencies, Lds, Target, lane_ranges
from .mfma import dense, f8_pairs, virtual
from .mma import F8_FLAVORS

# Clocks: pass counts of the ISA document (one pass = 4 clocks), which agree with the data sheet (1307 TFLOP/s f16 and
# bf16, 2615 f8 and i8, 654 xf32, 163 f32 and f64 on 304 CUs of 4 SIMDs at 2.1 GHz).
_F16 = dense(16, 16, "f16", 16)
_F16_32 = dense(32, 8, "f16", 32)
_BF16 = dense(16, 16, "bf16", 16)
_BF16_32 = dense(32, 8, "bf16", 32)
_PAIRS = f8_pairs(F8_FLAVORS["FNUZ"])
_F8 = [dense(wide, k, a, wide, b) for wide, k in ((16, 32), (32, 16)) for a, b in _PAIRS]
_I8 = [dense(16, 32, "i8", 16), dense(32, 16, "i8", 32)]
_F32 = [dense(16, 4, "f32", 32), dense(32, 2, "f32", 64)]

_KINDS = (
    _F16, _F16_32, virtual(_F16, 2), virtual(_F16_32, 2),
    _BF16, _BF16_32, virtual(_BF16, 2), virtual(_BF16_32, 2),
    *_F8, *(virtual(kind, 2) for kind in _F8),
    *(dense(16, 32, a, 16, b, variant="k4") for a, b in _PAIRS),
    *(dense(32, 16, a, 32, b, variant="k4") for a, b in _PAIRS),
    *_I8, *(virtual(kind, 2) for kind in _I8),
    dense(16, 32, "i8", 16, variant="k4"), dense(32, 16, "i8", 32, variant="k4"),
    *_F32, *(virtual(kind, 4) for kind in _F32),
    dense(16, 8, "xf32", 16), dense(32, 4, "xf32", 32),
    dense(16, 4, "f64", 32),
)  # fmt: skip

# Measured order of the lanes of ds_read_b128: eight phases of eight lanes, not consecutive.
_READ128 = lane_ranges(
    "0-3,20-23", "4-7,16-19", "8-11,28-31", "12-15,24-27",
    "32-35,52-55", "36-39,48-51", "40-43,60-63", "44-47,56-59",
)  # fmt: skip

TARGET = Target(
    name="gfx942",
    description="AMD Instinct MI300A, MI300X, MI325X (CDNA3)",
    triple=cdna.TRIPLE,
    wave_size=64,  # ISA
    max_threads_per_workgroup=1024,  # LLVM
    compute_units=304,  # data sheet, MI300X
    simds_per_compute_unit=4,  # ISA
    max_waves_per_simd=8,  # LLVM
    clock_ghz=2.1,  # data sheet
    memory_tb_per_s=5.3,  # data sheet, MI300X (MI325X: 6.0)
    xcds=8, l2_bytes=4 << 20,  # CDNA3 white paper, MI300X
    vector_memory_bytes_per_clock=64,  # assumed: what the vector L1 cache of a compute unit gives
    lds=Lds(
        bytes=65536, granule=512, banks=32, bank_bytes=4,  # ISA; granule: LLVM
        read_bytes_per_clock=128, write_bytes_per_clock=128,  # ISA
        accesses=cdna.lds_accesses(_READ128, "published measurement", 32, ASSUMED),
    ),
    registers=cdna.REGISTERS,
    offsets=cdna.OFFSETS,
    max_load_bits=cdna.MAX_LOAD_BITS,
    buffers=cdna.BUFFERS,
    direct_to_lds_bits=(32,),  # ISA: buffer_load_dword ... lds
    transposed_lds_bits=(),
    f8_flavor="FNUZ",  # ISA
    counters=cdna.COUNTERS,
    # Orders of magnitude. MMA: wait states that LLVM inserts.
    latencies=Latencies(vector=4, lds=128, l2=500, memory=1000, mma_extra=16, mma_to_vector_extra=3),
    exchanges=cdna.EXCHANGES,
    has_split_barrier=False,
    kinds=_KINDS,
)  # fmt: skip
