"""wave-choose-mma: the form of each MMA that makes the accesses around it widest."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.lane_access import element_bits
from wave_mlir.compiler.mma_shape import COLUMNS, TRANSPOSED, MmaShape, kind_of, operands, shape_of
from wave_mlir.compiler.pass_registry import ModuleOp, Pass, option, register_pass
from wave_mlir.compiler.tile_ir import ELEMENTWISE, body_of, kernels, walk
from wave_mlir.dialect import MemoryType


@register_pass("wave-choose-mma", requires="typed", establishes="typed")
@dataclass(frozen=True)
class ChooseMma(Pass):
    """Widen the K of MMAs whose operands are read for them, and transpose accumulators that are only written.

    A sum over K does not care for order. So where both operands of an MMA are reads that serve MMAs only, and K is
    contiguous in memory, or in the LDS that they go through, the kind becomes the target's virtual kind of twice the
    K: the same instructions, but a lane reads 16 consecutive bytes where it read 8.

    A lane of an accumulator holds consecutive rows of one column. Where it only goes, through loops and
    elementwise ops, to writes of memories in which the columns are contiguous, lhs and rhs change places in the
    instruction (`wave.transposed`): then the lane holds consecutive columns of a row and stores them at once. Where
    these are elements of 16 or 8 bits, neighbouring columns belong to 2 or 4 instructions in turn (`wave.columns`), so
    that a lane still has 16 consecutive bytes.

    Before:

        %z = wave.mma %x, %y, %acc kind f32_16x16x16_f16 : …

    After:

        %z = wave.mma %x, %y, %acc kind f32_16x16x32_k8_f16 {wave.transposed} : …

    It leaves scaled MMAs alone, and MMAs whose result is an operand of another MMA, of a reduction or of anything that
    is not elementwise.
    """

    widen: bool = option(True, help="widen K")
    transpose: bool = option(True, help="transpose accumulators")

    def run(self, module: ModuleOp) -> None:
        """Choose for the MMAs of every kernel of the module."""
        for kernel in kernels(module):
            info = KernelInfo.of(kernel)
            mmas = [op for op in walk(body_of(kernel)) if op.name == "wave.mma"]
            if self.widen:
                _widen(info, mmas)
            if self.transpose:
                _transpose(info, mmas)


# --- K -------------------------------------------------------------------------------------------
def _widen(info: KernelInfo, mmas: list[ir.Operation]) -> None:
    """An MMA is widened with all others that its operands serve, so that none needs them in another layout."""
    wider: dict[ir.Operation, str] = {}
    for op in mmas:
        kind, shape = info.target.widened_mma(kind_of(info, op)), shape_of(op, info)
        if kind is not None and info.wave_extent(shape.k) % kind.k == 0 and _reads_along(op, shape.k):
            wider[op] = kind.name
    left = len(wider) + 1
    while len(wider) < left:
        left = len(wider)
        wider = {op: name for op, name in wider.items() if _serves_only(op, wider)}
    for op, name in wider.items():
        op.attributes["kind"] = ir.StringAttr.get(name)


def _reads_along(op: ir.Operation, dim: str) -> bool:
    """Whether lhs and rhs are reads, of memories in which `dim` is contiguous, or which go through LDS, transposed."""
    return all(_is_read(v) and _is_or_becomes_contiguous(v.owner.operation, dim) for v in operands(op)[:2])


def _is_or_becomes_contiguous(read: ir.Operation, dim: str) -> bool:
    memory = read.operands[0]
    through_lds = isinstance(memory, ir.BlockArgument) and MemoryType(memory.type).space == "shared"
    return _is_contiguous(read, dim) or (through_lds and "mapping" not in read.attributes)


def _is_read(value: ir.Value) -> bool:
    return not isinstance(value.owner, ir.Block) and value.owner.operation.name == "wave.read"


def _serves_only(op: ir.Operation, chosen: dict[ir.Operation, str]) -> bool:
    """Whether the operands of a chosen MMA are used by MMAs with the same new kind only."""
    users = [use.owner.operation for value in operands(op)[:2] for use in value.uses]
    return all(chosen.get(user) == chosen[op] for user in users)


def _is_contiguous(access: ir.Operation, dim: str) -> bool:
    """Whether `dim` of the tile is the memory's last, contiguous dim."""
    memory = next(MemoryType(v.type) for v in access.operands if isinstance(v.type, MemoryType))
    strides = memory.element_strides
    last = strides[-1] if strides else None
    return (
        "mapping" not in access.attributes
        and last is not None
        and last.constant_value == 1
        and memory.shape[-1].name == dim
    )


# --- accumulators --------------------------------------------------------------------------------
STORE_BITS = 128
"""What a lane stores at once, at most."""


def _transpose(info: KernelInfo, mmas: list[ir.Operation]) -> None:
    columns: dict[ir.Operation, int] = {}
    for op in mmas:
        shape = shape_of(op, info)
        bits = _bits_written(op, shape.col)
        if bits is not None:
            op.attributes[TRANSPOSED] = ir.UnitAttr.get()
            columns[op] = _columns(info, op, shape, bits)
    left = len(columns) + 1
    while len(columns) < left:  # rhs must be wanted so by all that use it
        left = len(columns)
        columns = {op: n for op, n in columns.items() if n > 1 and _rhs_serves(op, n, columns)}
    for op, number in columns.items():
        op.attributes[COLUMNS] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)


def _columns(info: KernelInfo, op: ir.Operation, shape: MmaShape, bits: int) -> int:
    """How many instructions' columns make one wide store of elements of `bits` bits."""
    kind = kind_of(info, op)
    consecutive = next((d.extent for d in kind.acc.reg if d.dim == "col" and d.stride == 1), 1)
    copies, rest = divmod(info.wave_extent(shape.col), kind.n)
    wanted = max(1, STORE_BITS // (bits * consecutive))
    while not rest and wanted > 1 and copies % wanted:
        wanted //= 2
    return 1 if rest else wanted


def _rhs_serves(op: ir.Operation, number: int, columns: dict[ir.Operation, int]) -> bool:
    """Whether rhs is a read that serves only MMAs, as rhs, with the columns so interleaved."""
    rhs = operands(op)[1]
    if not _is_read(rhs):
        return False
    return all(columns.get(use.owner.operation) == number and use.operand_number == 1 for use in rhs.uses)


def _bits_written(op: ir.Operation, column: str) -> int | None:
    """The bits of the smallest elements written of an MMA's result, where all that comes of it is written and `column`
    is contiguous there; else None."""
    seen: set[ir.Value] = set()
    work, bits = [op.results[0]], 0
    while work:
        value = work.pop()
        if value in seen:
            continue
        seen.add(value)
        for use in value.uses:
            user = use.owner.operation
            if user.name == "wave.write" and use.operand_number == 0:
                if not _is_contiguous(user, column):
                    return None
                written = element_bits(MemoryType(user.operands[1].type).element_type)
                bits = min(bits or written, written)
                continue
            followed = _follow(user, value, use.operand_number)
            if followed is None:
                return None
            work += followed
    return bits or None


def _follow(user: ir.Operation, value: ir.Value, number: int) -> list[ir.Value] | None:
    """What a use of an accumulator becomes; None where the layout would matter."""
    if user.name in ELEMENTWISE or user.name in ("wave.cast", "wave.select"):
        return list(user.results)
    if user.name == "wave.mma":
        return list(user.results) if number == 2 else None
    if user.name == "wave.yield":
        loop = user.parent.operation
        if loop.name != "wave.iterate":
            return None
        return [loop.results[number], _carried(loop, number)]
    if user.name == "wave.iterate":
        inits = list(user.opview.init_args)
        return [_carried(user, i) for i, init in enumerate(inits) if init == value]
    return None


def _carried(loop: ir.Operation, number: int) -> ir.Value:
    """The block argument of a loop's carried value."""
    arguments = list(body_of(loop).arguments)
    return arguments[len(arguments) - len(loop.results) + number]
