"""Block-scaled 4-bit floats (OCP MX): values in e2m1, two to a byte, and one e8m0 scale for 32 of them along K."""

from wave_mlir.runtime.torch_mxfp import (
    SCALE_GROUP_SIZE,
    b_preshuffle,
    e8m0_shuffle,
    e8m0_to_f32,
    generate_gemm_afp4wfp4_inputs,
    mxfp4_to_f32,
    torchScaledGemmMXFP4,
)

__all__ = [
    "SCALE_GROUP_SIZE",
    "b_preshuffle",
    "e8m0_shuffle",
    "e8m0_to_f32",
    "generate_gemm_afp4wfp4_inputs",
    "mxfp4_to_f32",
    "torchScaledGemmMXFP4",
]
