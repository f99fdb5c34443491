"""Helpers around kernels: devices and tensors, MMA shapes, packed formats, references."""
