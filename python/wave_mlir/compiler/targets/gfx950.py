"""gfx950: AMD Instinct MI350X, MI355X (CDNA4)."""

from __future__ import annotations

from . import cdna
from .base import Exchanges, Latencies, Lds, Target, lane_ranges
from .mfma import dense, f8_pairs, f8f6f4, virtual
from .mma import F8_FLAVORS

_PAIRS = f8_pairs(F8_FLAVORS["OCP"])
_SMALL = (*F8_FLAVORS["OCP"], "f6E2M3FN", "f6E3M2FN", "f4E2M1FN")

# Without scales mlir's operation takes two f8 types, or one type of 6 or 4 bits for both.
_UNSCALED = (*_PAIRS, *((t, t) for t in _SMALL[2:]))

_F8 = [dense(wide, k, a, wide, b) for wide, k in ((16, 32), (32, 16)) for a, b in _PAIRS]
_I8 = [dense(16, 32, "i8", 16), dense(32, 16, "i8", 32)]
_F32 = [dense(16, 4, "f32", 32), dense(32, 2, "f32", 64)]

# Clocks: pass counts of the ISA document (one pass = 4 clocks), which agree with the data sheet (2516 TFLOP/s f16 and
# bf16, 5033 f8 and i8, 10066 f6 and f4, 157 f32, 79 f64 on 256 CUs of 4 SIMDs at 2.4 GHz). The shapes that CDNA3 has
# too run at half the rate of the new ones.
_KINDS = (
    *(dense(16, 16, t, 16) for t in ("f16", "bf16")),
    *(dense(32, 8, t, 32) for t in ("f16", "bf16")),
    *(dense(16, 32, t, 16) for t in ("f16", "bf16")),
    *(dense(32, 16, t, 32) for t in ("f16", "bf16")),
    # The virtual kinds of CDNA3 are one instruction here, with the same layouts.
    *(dense(16, 32, t, 16, variant="k8") for t in ("f16", "bf16")),
    *(dense(32, 16, t, 32, variant="k8") for t in ("f16", "bf16")),
    *(dense(16, 32, t, 16, variant="k4") for t in ("f16", "bf16")),
    *(dense(32, 16, t, 32, variant="k4") for t in ("f16", "bf16")),
    *_F8, *(virtual(kind, 2) for kind in _F8),
    *(dense(16, 32, a, 16, b, variant="k4") for a, b in _PAIRS),
    *(dense(32, 16, a, 32, b, variant="k4") for a, b in _PAIRS),
    *_I8, *(virtual(kind, 2) for kind in _I8),
    dense(16, 32, "i8", 16, variant="k4"), dense(32, 16, "i8", 32, variant="k4"),
    dense(16, 64, "i8", 16), dense(32, 32, "i8", 32),
    *_F32, *(virtual(kind, 4) for kind in _F32),
    dense(16, 4, "f64", 64),
    *(f8f6f4(wide, a, b, scaled=False) for wide in (16, 32) for a, b in _UNSCALED),
    *(f8f6f4(wide, a, b, scaled=True) for wide in (16, 32) for a in _SMALL for b in _SMALL),
)  # fmt: skip

# Measured order of the lanes of ds_read_b128: four phases of sixteen lanes, not consecutive.
_READ128 = lane_ranges(
    "0-3,12-15,20-27", "32-35,44-47,52-59", "4-11,16-19,28-31", "36-43,48-51,60-63",
)  # fmt: skip

TARGET = Target(
    name="gfx950",
    description="AMD Instinct MI350X, MI355X (CDNA4)",
    triple=cdna.TRIPLE,
    wave_size=64,  # ISA
    max_threads_per_workgroup=1024,  # LLVM
    compute_units=256,  # data sheet
    simds_per_compute_unit=4,  # ISA
    max_waves_per_simd=8,  # LLVM
    clock_ghz=2.4,  # data sheet, MI355X
    memory_tb_per_s=8.0,  # data sheet
    xcds=8, l2_bytes=4 << 20,  # CDNA4 white paper
    vector_memory_bytes_per_clock=64,  # assumed: what the vector L1 cache of a compute unit gives
    lds=Lds(
        bytes=163840, granule=1280, banks=64, bank_bytes=4,  # ISA; granule: LLVM
        read_bytes_per_clock=256, write_bytes_per_clock=128,  # ISA
        accesses=cdna.lds_accesses(_READ128, "published measurement", 64, "published measurement"),
    ),
    registers=cdna.REGISTERS,
    offsets=cdna.OFFSETS,
    max_load_bits=cdna.MAX_LOAD_BITS,
    buffers=cdna.BUFFERS,
    direct_to_lds_bits=(32, 96, 128),  # ISA: buffer_load_dword, dwordx3, dwordx4 ... lds
    transposed_lds_bits=(4, 6, 8, 16),  # ISA: ds_read_b64_tr_b4, ds_read_b96_tr_b6, ds_read_b64_tr_b8, _b16
    f8_flavor="OCP",  # ISA
    counters=cdna.COUNTERS,
    # Orders of magnitude. MMA: wait states that LLVM inserts.
    latencies=Latencies(vector=4, lds=128, l2=500, memory=1000, mma_extra=16, mma_to_vector_extra=4),
    # ISA: v_permlane16_swap_b32, v_permlane32_swap_b32; two registers written, so assumed to take two turns.
    exchanges=Exchanges(
        dpp_xors=cdna.DPP_XORS, row_xmask=False, swapped_rows=(16, 32), vector=4, swap=8,
        barrier=cdna.EXCHANGES.barrier,
    ),
    has_split_barrier=False,
    kinds=_KINDS,
)  # fmt: skip
