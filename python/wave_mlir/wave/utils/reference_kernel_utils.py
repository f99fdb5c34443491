"""What kernels should compute, in torch."""

from wave_mlir.runtime.torch_tensors import scaled_dot_product_attention_bhsd

__all__ = ["scaled_dot_product_attention_bhsd"]
