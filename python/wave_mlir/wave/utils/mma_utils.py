"""Shapes of MMA operands."""

from __future__ import annotations

import enum
import math

from wave_mlir.compiler import targets
from wave_mlir.compiler.targets import MmaKind, TargetError, resolve_alias


def get_mfma_load_elems_per_thread(mfma_variant: enum.Enum) -> int:
    """Elements of an operand that a lane holds."""
    return math.prod(digit.extent for digit in _kind(mfma_variant).lhs.reg)


def get_mfma_store_elems_per_thread(mfma_variant: enum.Enum) -> int:
    """Elements of the result that a lane holds."""
    return math.prod(digit.extent for digit in _kind(mfma_variant).acc.reg)


def _kind(variant: enum.Enum) -> MmaKind:
    """The kind, of the first target that has it with the wave size that its name says."""
    lanes = 32 if "WAVE32" in variant.name else 64
    for target in targets.all_targets():
        if target.wave_size != lanes:
            continue
        try:
            return resolve_alias(target, variant.name)
        except TargetError:
            continue
    raise ValueError(f"{variant} is an MMA kind of no target")
