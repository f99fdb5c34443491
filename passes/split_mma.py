"""wave-split-mma: one MMA for each instruction."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from mlir.dialects import vector
from wave_mlir.compiler.buffer_split import in_loop
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.pass_registry import ModuleOp, Pass, PassError, register_pass
from wave_mlir.compiler.targets import MmaKind, Target, TargetError
from wave_mlir.compiler.tile_ir import body_of, kernels, walk


@register_pass("wave-split-mma", requires="lane", establishes="lane")
@dataclass(frozen=True)
class SplitMma(Pass):
    """Split each MMA in a loop whose kind is a chain of several instructions into MMAs of one instruction.

    So a schedule can put other work between the instructions of a chain, and interleave several chains.

    Before (gfx942):

        %z = wave.mma %x, %y, %acc kind f32_16x16x32_k8_f16 : vector<8xf16>, vector<8xf16>, vector<4xf32>

    After:

        %x0 = vector.extract_strided_slice %x {offsets = [0], sizes = [4], strides = [1]} : …
        %y0 = vector.extract_strided_slice %y {offsets = [0], sizes = [4], strides = [1]} : …
        %p = wave.mma %x0, %y0, %acc kind f32_16x16x16_f16 : vector<4xf16>, vector<4xf16>, vector<4xf32>
        …
        %z = wave.mma %x1, %y1, %p kind f32_16x16x16_f16 : vector<4xf16>, vector<4xf16>, vector<4xf32>

    MMAs outside of loops, scaled MMAs and kinds whose instruction has no kind of its own on the target stay.
    """

    def run(self, module: ModuleOp) -> None:
        """Split the MMAs of every kernel of the module."""
        for kernel in kernels(module):
            target = KernelInfo.of(kernel).target
            for op in list(walk(body_of(kernel))):
                if op.name == "wave.mma" and "kind" in op.attributes and in_loop(op):
                    _split(target, op)


def _split(target: Target, op: ir.Operation) -> None:
    try:
        kind = target.mma(op.attributes["kind"].value)
    except TargetError as error:
        raise PassError(op, str(error)) from None
    count = kind.instruction.count
    single = _single(target, kind) if count > 1 else None
    if single is None:
        return
    lhs, rhs, acc = list(op.operands)[:3]
    attributes = dict(op.attributes.items())
    attributes["kind"] = ir.StringAttr.get(single.name)
    with op.location, ir.InsertionPoint(op):
        for part in range(count):
            operands = [_slice(lhs, part, count), _slice(rhs, part, count), acc, *list(op.operands)[3:]]
            acc = ir.Operation.create("wave.mma", [op.results[0].type], operands, attributes).results[0]
    op.results[0].replace_all_uses_with(acc)
    op.erase()


def _single(target: Target, kind: MmaKind) -> MmaKind | None:
    """The kind that is one of the instructions that `kind` chains."""
    want = kind.instruction
    for other in target.mma_kinds(kind.lhs_dtype):
        has = other.instruction
        same = (has.op, has.m, has.n, has.k, has.attributes) == (want.op, want.m, want.n, want.k, want.attributes)
        types = all(getattr(other, n) == getattr(kind, n) for n in ("lhs_dtype", "rhs_dtype", "acc_dtype"))
        if has.count == 1 and same and types and not other.is_scaled:
            return other
    return None


def _slice(value: ir.Value, part: int, count: int) -> ir.Value:
    """The part of an operand's vector that an instruction of the chain takes."""
    size = value.type.shape[0] // count
    kind = ir.VectorType.get([size], value.type.element_type)
    return vector.ExtractStridedSliceOp(kind, value, [part * size], [size], [1]).result
