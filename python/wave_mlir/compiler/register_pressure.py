"""What a kernel in the LLVM dialect carries in registers from trip to trip, and how LLVM orders code because of it."""

from __future__ import annotations

import math

from mlir import ir

from . import targets

# With this share of a wave's registers carried round a loop, LLVM's own order (which puts loads far ahead of their
# uses) leaves no room, so that accumulators are moved between the two halves of the register file or spilled. Measured
# over GEMMs with 64 to 256 accumulator registers: docs/report.md.
_TIGHT = 0.75
_STRATEGY = "amdgpu-sched-strategy"
_ORDER = (_STRATEGY, "iterative-minreg")
_OTHERS = ("iterative-ilp", "max-occupancy")  # the last one is what LLVM takes by itself
_REGISTER_BITS = 32


def llvm_attributes(function: ir.Operation, target: targets.Target) -> list[tuple[str, str]]:
    """Function attributes that keep the values a loop carries where they are."""
    threads = math.prod(ir.DenseI32ArrayAttr(function.attributes["gpu.known_block_size"]))
    tight = carried_registers(function) >= _TIGHT * budget(threads, target)
    return [_ORDER] if tight else []


def orders(llvm_ir: str) -> list[str]:
    """LLVM IR as it is, and with other orders for its tight kernels, to be tried where one loses registers or LLVM dies
    of it."""
    first = f'"{_STRATEGY}"="{_ORDER[1]}"'
    others = [llvm_ir.replace(first, f'"{_STRATEGY}"="{other}"') for other in _OTHERS if first in llvm_ir]
    return [llvm_ir, *others]


def budget(threads: int, target: targets.Target) -> int:
    """Registers a lane that any instruction can use, in a workgroup of `threads`, which must fit a compute unit."""
    waves = -(-threads // target.wave_size)
    together = -(-waves // target.simds_per_compute_unit)
    return min(target.registers.general, target.registers.file // together)


def carried_registers(function: ir.Operation) -> int:
    """Most vector registers (32 bits a lane) that vectors passed to one block take: what a loop carries.

    Scalars are left out: counters and offsets of a loop are uniform and live in scalar registers.
    """
    blocks = list(function.regions[0].blocks)[1:]
    return max((sum(registers_of(a.type) for a in block.arguments) for block in blocks), default=0)


def registers_of(kind: ir.Type) -> int:
    """Vector registers (32 bits a lane) of a vector; 0 of anything else."""
    if not isinstance(kind, ir.VectorType):
        return 0
    element = kind.element_type
    if not isinstance(element, (ir.IntegerType, ir.FloatType)):
        return 0
    bits = element.width
    for extent in kind.shape:
        bits *= extent
    return -(-bits // _REGISTER_BITS)
