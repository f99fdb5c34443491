"""Calls of compiled kernels"""

from __future__ import annotations

import numpy as np
from catalogue import *

GOOD = np.zeros((4, 64), np.float32)


@mistake("kernel 'double' takes 2 arguments (x, y); 1 were given: y is missing (outputs are passed too)")
def too_few_arguments():
    """A call with an argument less."""
    a_copy()(GOOD)


@mistake("kernel 'double' takes 2 arguments (x, y); 3 were given")
def too_many_arguments():
    """A call with an argument more."""
    a_copy()(GOOD, GOOD.copy(), GOOD)


@mistake(
    "kernel 'double': argument 'x' holds f32; an array of float16 was given; convert it to float32, or change the element type in the kernel's annotation"
)
def tensor_of_wrong_dtype():
    """A tensor of another dtype."""
    a_copy()(GOOD.astype(np.float16), GOOD.copy())


@mistake(
    "kernel 'double': argument 'x' has 2 dims [4, 64]; an array of 1 dims was given, [256]; reshape it to the kernel's dims"
)
def tensor_of_wrong_rank():
    """A tensor of another rank."""
    a_copy()(GOOD.reshape(-1), GOOD.copy())


@mistake("kernel 'double': argument 'x' has extent 32 in dim 1, but the kernel is compiled for 64")
def tensor_of_wrong_shape():
    """A tensor of another shape."""
    a_copy()(np.zeros((4, 32), np.float32), GOOD.copy())


@mistake(
    "kernel 'double': the array of argument 'x' is not contiguous: its strides are [1, 4], and the kernel is compiled for [64, 1]; pass a contiguous copy (and copy the result back), or declare its strides: strides = [?, …] in the memory type, MemoryLayout(strides=(None, …)) in Python"
)
def tensor_that_is_not_contiguous():
    """A view where the kernel takes contiguous memory."""
    a_copy()(np.zeros((64, 4), np.float32).T, GOOD.copy())


@mistake("kernel 'double': argument 'x' is a memory; give a tensor (of numpy, torch, or with DLPack), not float")
def number_for_a_tensor():
    """A number where a tensor is wanted."""
    a_copy()(3.0, GOOD.copy())


@mistake("kernel 'double': argument 'y' is written, but the array is read-only; pass a copy")
def output_that_cannot_be_written():
    """An output that is read-only."""
    result = GOOD.copy()
    result.flags.writeable = False
    a_copy()(GOOD, result)


@mistake("kernel 'double': argument 'y' has extent 5 in dim 0, but M is 4")
def sizes_that_disagree():
    """Two tensors that give one run-time size two values."""

    @tkw.wave(ROWS)
    def double(x: X, y: X):
        tkw.write(tkw.read(x) * 2.0, y)

    made = compile_(double, {N: 64}, dynamic=[M])
    made(np.zeros((4, 64), np.float32), np.zeros((5, 64), np.float32))


@mistake("kernel 'scale': argument 'factor' is a number; ndarray was given; pass x.item()")
def tensor_for_a_number():
    """A tensor where a number is wanted."""

    @tkw.wave(ROWS)
    def scale(x: X, y: X, factor: tkl.f32):
        tkw.write(tkw.read(x) * tkw.broadcast(factor, [M, N]), y)

    compile_(scale, {M: 4, N: 64})(GOOD, GOOD.copy(), GOOD)


@mistake(
    "kernel 'gemm': argument 'b' is [128, 64] = [128, 64]; [64, 128] was given, with the last two dims exchanged; pass its transpose, made contiguous"
)
def tensor_with_its_dims_in_another_order():
    """The second operand given as [K, N], where the kernel takes [N, K]."""

    @tkw.wave(GEMM)
    def gemm(a: A, b: BT, c: C):
        @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
        def loop(acc):
            return tkw.mma(tkw.read(a), tkw.read(b), acc)

        tkw.write(loop, c)

    made = compile_(gemm)
    made(np.zeros((128, 64), np.float16), np.zeros((64, 128), np.float16), np.zeros((128, 128), np.float32))


@mistake(
    "kernel 'double': its remap of workgroups is no bijection of the grid 5 x 1 x 1: workgroups (0, 0, 0) and (4, 0, 0) compute the same tile"
)
def remap_that_fits_other_sizes():
    """A remap that is right for multiples of 4 rows alone, called with 5; tkw.reordered_workgroups fits every grid."""

    @tkw.wave([*ROWS, tkw.ReorderingConstraint(WORKGROUP_0 % 4 + WORKGROUP_0 // 4 * 4 % (M // 4 * 4), 0)])
    def double(x: X, y: X):
        tkw.write(tkw.read(x) * 2.0, y)

    made = compile_(double, {N: 64}, dynamic=[M])
    made(np.zeros((8, 64), np.float32), np.zeros((8, 64), np.float32))
    made(np.zeros((5, 64), np.float32), np.zeros((5, 64), np.float32))
