"""Launching compiled kernels: on CPU tensors in the simulator, on a GPU through HIP."""
