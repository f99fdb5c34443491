"""What it costs to gather a tile straight from global memory, and by way of LDS, in clocks of one wave.

Straight: each lane loads the runs of its own layout that are contiguous in memory. By LDS: all lanes load whole vectors
along the memory's contiguous dim, whoever needs them, store them, and read what they need from LDS. A load of global
memory is taken for 32 clocks whatever its width (a wave's addresses take 16, and the cache serves 64 bytes a clock), an
LDS access for the phases in the target's table.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from wave_mlir.dialect import Layout

from .kernel_info import KernelInfo

LOAD_CLOCKS = 32


@dataclass(frozen=True)
class GatherCost:
    """Clocks of both ways; `straight_bits`, `shared_bits`: the widths of their loads."""

    straight: int
    shared: int
    straight_bits: int
    shared_bits: int

    @property
    def pays(self) -> bool:
        """Whether the way by LDS is not the longer one."""
        return self.shared <= self.straight

    def __str__(self) -> str:
        way = "by way of LDS" if self.pays else "straight from global memory"
        return (
            f"this gather goes {way}: {self.straight} clocks straight (loads of {self.straight_bits} bits), "
            f"{self.shared} by way of LDS (loads of {self.shared_bits} bits)"
        )


def gather_cost(info: KernelInfo, layout: Layout, contiguous: str, bits: int) -> GatherCost:
    """The cost of a tile with this layout whose dim `contiguous` is so in memory too; `bits`: of an element."""
    extents = layout.extents
    run = _power(layout.widest_access(contiguous), 128 // bits)
    loads = -(-layout.registers // run)
    vector = _power(extents[contiguous], 128 // bits)
    copies = -(-prod(extents.values()) // (vector * info.threads))
    write = len(info.target.lds_access("write", vector * bits).phases)
    read = len(info.target.lds_access("read", run * bits).phases)
    by_shared = copies * (LOAD_CLOCKS + write) + loads * read
    return GatherCost(loads * LOAD_CLOCKS, by_shared, run * bits, vector * bits)


def _power(divides: int, most: int) -> int:
    """The greatest power of two up to `most` that divides a number."""
    width = 1
    while 2 * width <= most and divides % (2 * width) == 0:
        width *= 2
    return width
