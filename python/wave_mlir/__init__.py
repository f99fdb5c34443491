"""wave-mlir: a compiler for AMD GPU kernels written as tile programs over symbolic shapes."""
