"""The names that the Wave language gives MMA kinds, for front ends.

A name of the language may leave the 8-bit float open (`F32_16x16x32_F8`): it then means the target's own flavour, and
the type of the operands says which of its two types.
"""

from __future__ import annotations

from .base import Target, TargetError
from .mma import F8_FLAVORS, MmaKind

# Name in the language -> name of the kind. "{f8}" stands for a type of the target's flavour, "{small}" for the
# types of both operands, 8, 6 or 4 bits wide.
MMA_ALIASES: dict[str, str] = {
    "F32_16x16x16_F16": "f32_16x16x16_f16",
    "F32_32x32x8_F16": "f32_32x32x8_f16",
    "F32_16x16x16_BF16": "f32_16x16x16_bf16",
    "F32_32x32x8_BF16": "f32_32x32x8_bf16",
    "F32_16x16x32_K8_F16": "f32_16x16x32_k8_f16",
    "F32_32x32x16_K8_F16": "f32_32x32x16_k8_f16",
    "F32_16x16x32_F16": "f32_16x16x32_f16",
    "F32_32x32x16_F16": "f32_32x32x16_f16",
    "F32_16x16x32_BF16": "f32_16x16x32_bf16",
    "F32_32x32x16_BF16": "f32_32x32x16_bf16",
    "F32_16x16x32_F8": "f32_16x16x32_{f8}",
    "F32_32x32x16_F8": "f32_32x32x16_{f8}",
    "F32_16x16x32_K4_F8": "f32_16x16x32_k4_{f8}",
    "F32_32x32x16_K4_F8": "f32_32x32x16_k4_{f8}",
    "I32_16x16x16_I8": "i32_16x16x16_i8",
    "I32_32x32x8_I8": "i32_32x32x8_i8",
    "I32_16x16x32_I8": "i32_16x16x32_i8",
    "I32_32x32x16_I8": "i32_32x32x16_i8",
    "F64_16x16x4_F64": "f64_16x16x4_f64",
    "F32_16x16x128_F8F6F4": "f32_16x16x128_scaled_{small}",
    "F32_32x32x64_F8F6F4": "f32_32x32x64_scaled_{small}",
    "RDNA4_WAVE32_F32_16x16x16_F16": "f32_16x16x16_f16",
}


def resolve_alias(target: Target, name: str, lhs_dtype: str | None = None, rhs_dtype: str | None = None) -> MmaKind:
    """The kind of `target` that the language's name means, for operands of the given element types (MLIR spelling).

    Without types f16 stays f16, an open 8-bit float is e4m3 of the target's flavour, and an f8f6f4 kind takes f4.
    The language names kinds of 16-bit floats after f16; bf16 operands select the bf16 kind of the shape.
    Raises TargetError when the name is unknown or the target lacks the kind.
    """
    pattern = MMA_ALIASES.get(name)
    if pattern is None:
        raise TargetError(f"unknown MMA type '{name}'; known: {', '.join(MMA_ALIASES)}")
    lhs = lhs_dtype or rhs_dtype
    rhs = rhs_dtype or lhs
    if "{f8}" in pattern:
        if target.f8_flavor is None:
            raise TargetError(f"{name} needs 8-bit floats, which {target.name} does not have")
        default = F8_FLAVORS[target.f8_flavor][0]
        return target.mma(pattern.replace("{f8}", _operands(lhs or default, rhs or default)))
    if "{small}" in pattern:
        return target.mma(pattern.replace("{small}", _operands(lhs or "f4E2M1FN", rhs or "f4E2M1FN")))
    if lhs == rhs == "bf16" and pattern.endswith("_f16"):
        return target.mma(pattern.removesuffix("f16") + "bf16")
    return target.mma(pattern)


def _operands(lhs: str, rhs: str) -> str:
    return lhs.lower() if lhs == rhs else f"{lhs.lower()}_{rhs.lower()}"
