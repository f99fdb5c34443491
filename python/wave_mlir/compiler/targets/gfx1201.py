"""gfx1201: AMD Radeon RX 9070 (RDNA4), with waves of 32 lanes."""

from __future__ import annotations

from . import cdna
from .base import (
    ASSUMED,
    Buffers,
    Exchanges,
    Latencies,
    Lds,
    LdsAccess,
    OffsetRange,
    Registers,
    Target,
    WaitCounter,
    runs,
)
from .mfma import f8_pairs
from .mma import F8_FLAVORS
from .wmma import wmma

# Clocks: data sheet (195 TFLOP/s f16, 389 f8 and i8 on 64 CUs of 2 SIMDs at 2.97 GHz).
_KINDS = (
    *(wmma("f32", t, t, 16) for t in ("f16", "bf16")),
    *(wmma(t, t, t, 16) for t in ("f16", "bf16")),
    *(wmma("f32", a, b, 8) for a, b in f8_pairs(F8_FLAVORS["OCP"])),
    wmma("i32", "i8", "i8", 8),
)

# 32 banks serve a compute unit; which lanes go together is not published.
_ACCESSES = tuple(
    LdsAccess(op, bits, runs(32, lanes), ASSUMED)
    for op in ("read", "write")
    for bits, lanes in ((32, 32), (64, 16), (96, 8), (128, 8))
)

TARGET = Target(
    name="gfx1201",
    description="AMD Radeon RX 9070 (RDNA4)",
    triple=cdna.TRIPLE,
    wave_size=32,  # the WMMA layouts and the code generation are those of wave32
    max_threads_per_workgroup=1024,  # LLVM
    compute_units=64,  # data sheet, RX 9070 XT
    simds_per_compute_unit=2,  # ISA
    max_waves_per_simd=16,  # LLVM
    clock_ghz=2.97,  # data sheet, boost
    memory_tb_per_s=0.64,  # data sheet
    xcds=1, l2_bytes=8 << 20,  # data sheet
    vector_memory_bytes_per_clock=64,  # assumed: what the vector L1 cache of a compute unit gives
    lds=Lds(
        bytes=65536, granule=512, banks=32, bank_bytes=4,  # ISA; granule: LLVM
        read_bytes_per_clock=128, write_bytes_per_clock=128,  # ISA
        accesses=_ACCESSES,
    ),
    # ISA: 1536 registers a SIMD for wave32, in granules of 24; a wave can use 256. There are no accumulators apart.
    registers=Registers(
        file=1536, addressable=256, general=256, accumulator=0, granule=24, scalar=106, max_mma_accumulators=256
    ),
    # ISA (RDNA4): 24 bits signed, for buffers 23 bits unsigned, LDS 16 bits unsigned.
    offsets={
        "global": OffsetRange(-(1 << 23), (1 << 23) - 1),
        "buffer": OffsetRange(0, (1 << 23) - 1),
        "lds": OffsetRange(0, 65535),
        "scalar": OffsetRange(-(1 << 23), (1 << 23) - 1),
    },
    max_load_bits=cdna.MAX_LOAD_BITS,  # ISA
    buffers=Buffers(flags=cdna.BUFFER_FLAGS | 1 << 24 | 3 << 28, nontemporal=1),  # LLVM: bounds of raw buffers; th 1
    direct_to_lds_bits=(),  # ISA: none
    transposed_lds_bits=(),  # ISA: only global loads transpose
    f8_flavor="OCP",  # ISA
    # ISA: each kind of access has its own counter.
    counters=(
        WaitCounter("loadcnt", 63, ("global load",)),
        WaitCounter("storecnt", 63, ("global store",)),
        WaitCounter("dscnt", 63, ("LDS",)),
        WaitCounter("kmcnt", 31, ("scalar load",)),
    ),
    # Orders of magnitude, assumed.
    latencies=Latencies(vector=5, lds=64, l2=300, memory=800, mma_extra=16, mma_to_vector_extra=0),
    # ISA (RDNA4, "DPP16"): row_xmask has any mask below 16. Clocks: a wave of 32 lanes issues in one; barrier assumed.
    exchanges=Exchanges(
        dpp_xors=tuple(range(1, 16)), row_xmask=True, swapped_rows=(), vector=1, swap=0, barrier=32
    ),
    has_split_barrier=True,  # ISA: s_barrier_signal, s_barrier_wait
    kinds=_KINDS,
)  # fmt: skip
