"""What the CDNA targets have in common, and where it comes from.

Sources named in the tables: *ISA*: AMD's "Instruction Set Architecture" document of the generation; *LLVM*: the AMDGPU
backend of LLVM 22, from its user guide or from what it emits; *data sheet*: AMD's published peak figures, divided by
compute units, SIMDs and clock.
"""

from __future__ import annotations

from .base import ASSUMED, Buffers, Exchanges, LdsAccess, OffsetRange, Registers, WaitCounter, runs

TRIPLE = "amdgcn-amd-amdhsa"

# ISA (CDNA2..4, "Vector register allocation"); occupancy checked against what LLVM prints.
REGISTERS = Registers(
    file=512, addressable=512, general=256, accumulator=256, granule=8, scalar=102, max_mma_accumulators=256
)

# ISA (CDNA3, "Memory instruction formats"): buffer 12 bits unsigned, LDS 16 bits unsigned, global 13 bits signed,
# scalar 21 bits signed.
OFFSETS = {
    "global": OffsetRange(-4096, 4095),
    "buffer": OffsetRange(0, 4095),
    "lds": OffsetRange(0, 65535),
    "scalar": OffsetRange(-(1 << 20), (1 << 20) - 1),
}

# ISA (CDNA3, "Buffer Resource Descriptor"): number format 7 and data format 4, which raw accesses ignore but which
# must not be 0. Cache policy: LLVM's memory model; glc and slc together on CDNA2, nt on CDNA3 and 4.
BUFFER_FLAGS = 7 << 12 | 4 << 15
BUFFERS = Buffers(flags=BUFFER_FLAGS, nontemporal=2)

# ISA: dwordx4 and ds_read_b128.
MAX_LOAD_BITS = {"global": 128, "lds": 128}

# ISA ("S_WAITCNT"): widths of the fields.
COUNTERS = (
    WaitCounter("vmcnt", 63, ("global load", "global store", "direct to LDS")),
    WaitCounter("lgkmcnt", 15, ("LDS", "scalar load")),
    WaitCounter("expcnt", 7, ()),
)

# ISA (CDNA3, "DPP"): quad permutations do 1, 2, 3, a half-row mirror 7, a row rotation 8, a row mirror 15. A full-rate
# instruction takes a wave 4 clocks (ISA); the cost of a barrier is assumed.
DPP_XORS = (1, 2, 3, 7, 8, 15)
EXCHANGES = Exchanges(dpp_xors=DPP_XORS, row_xmask=False, swapped_rows=(), vector=4, swap=0, barrier=32)


def lds_accesses(
    read128: tuple[tuple[int, ...], ...], read128_source: str, read_lanes32: int, write128_source: str
) -> tuple[LdsAccess, ...]:
    """Rows of a CDNA table. `read_lanes32`: lanes that a 32-bit read serves in one clock (bytes a clock / 4).

    Only the 128-bit rows are published exactly; the others assume consecutive lanes, as many as the bytes a clock
    allow, and that 96 bits go as 128.
    """
    write128 = runs(64, 8)
    return (
        LdsAccess("read", 32, runs(64, read_lanes32), ASSUMED),
        LdsAccess("read", 64, runs(64, read_lanes32 // 2), ASSUMED),
        LdsAccess("read", 96, read128, ASSUMED),
        LdsAccess("read", 128, read128, read128_source),
        LdsAccess("write", 32, runs(64, 32), ASSUMED),
        LdsAccess("write", 64, runs(64, 16), ASSUMED),
        LdsAccess("write", 96, write128, ASSUMED),
        LdsAccess("write", 128, write128, write128_source),
    )
