"""Operations"""

from __future__ import annotations

import math

from catalogue import *


@mistake("mma: operands of f16 and bf16; make them equal with tkw.cast")
def mma_of_two_dtypes():
    """mma of f16 and bf16."""

    @tkw.wave(GEMM)
    def gemm(a: A, b: tkl.Memory[N, K, SHARED, tkl.bf16], c: C):
        @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
        def loop(acc):
            return tkw.mma(tkw.read(a), tkw.read(b), acc)  # <- here

        tkw.write(loop, c)

    compile_(gemm)


@mistake(
    "MMA kind f32_16x16x16_f16 wants accumulator of f32, but it has f16; wave.cast the operands to f16, f16 and f32"
)
def accumulator_of_wrong_dtype():
    """An accumulator of f16 where the MMA gives f32."""

    @tkw.wave(GEMM)
    def gemm(a: A, b: BT, c: tkl.Memory[M, N, GLOBAL, tkl.f16]):
        @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f16](0.0)])
        def loop(acc):
            return tkw.mma(tkw.read(a), tkw.read(b), acc)  # <- here

        tkw.write(loop, c)

    compile_(gemm)


@mistake("write: a tile of f32 into memory y of f16; convert it: tkw.cast(x, tkl.f16)")
def write_of_another_dtype():
    """A tile of f32 written into memory of f16."""

    @tkw.wave(ROWS)
    def double(x: X, y: tkl.Memory[M, N, GLOBAL, tkl.f16]):
        tkw.write(tkw.read(x) * 2.0, y)  # <- here

    compile_(double, {M: 4, N: 64})


@mistake("write: a tile [M, N] does not fit memory y [M]; reduce or permute it, or give a mapping")
def write_of_another_shape():
    """A tile written into memory that lacks one of its dims."""

    @tkw.wave(ROWS)
    def double(x: X, y: tkl.Memory[M, GLOBAL, tkl.f32]):
        tkw.write(tkw.read(x) * 2.0, y)  # <- here

    compile_(double, {M: 4, N: 64})


@mistake("+: operands of f32 and f16; make them equal with tkw.cast(x, tkl.f32)")
def operands_of_two_dtypes():
    """The sum of a tile of f32 and one of f16."""

    @tkw.wave(ROWS)
    def add(x: X, z: tkl.Memory[M, N, GLOBAL, tkl.f16], y: X):
        tkw.write(tkw.read(x) + tkw.read(z), y)  # <- here

    compile_(add, {M: 4, N: 64})


@mistake("+: shapes [M, K] and [N, K] do not fit: the wider has no dim N; broadcast one first")
def operands_of_unrelated_dims():
    """The sum of tiles neither of whose dims contain the other's."""

    @tkw.wave(GEMM)
    def add(x: tkl.Memory[M, K, GLOBAL, tkl.f32], z: tkl.Memory[N, K, GLOBAL, tkl.f32], y: X):
        tkw.write(tkw.read(x) + tkw.read(z), y)  # <- here

    compile_(add)


@mistake("/ of i32 would round; take // for the floor, or cast to a float type")
def division_of_integers():
    """The true division of integers."""
    memory = tkl.Memory[M, N, GLOBAL, tkl.i32]

    @tkw.wave(ROWS)
    def half(x: memory, y: memory):
        tkw.write(tkw.read(x) / 2, y)  # <- here

    compile_(half, {M: 4, N: 64})


@mistake("sqrt needs floats; the operand is of i32: cast it first")
def root_of_integers():
    """A function of floats, applied to integers."""
    memory = tkl.Memory[M, N, GLOBAL, tkl.i32]

    @tkw.wave(ROWS)
    def root(x: memory, y: memory):
        tkw.write(tkw.sqrt(tkw.read(x)), y)  # <- here

    compile_(root, {M: 4, N: 64})


@mistake("& needs integers; the operands are of f32")
def bits_of_floats():
    """A bit operation of floats."""

    @tkw.wave(ROWS)
    def mask(x: X, y: X):
        tkw.write(tkw.read(x) & tkw.read(x), y)  # <- here

    compile_(mask, {M: 4, N: 64})


@mistake("x is a memory, not a tile; read it first: tkw.read(x)")
def memory_in_arithmetic():
    """Arithmetic of a memory that was not read."""

    @tkw.wave(ROWS)
    def double(x: X, y: X):
        tkw.write(x * 2.0, y)  # <- here

    compile_(double, {M: 4, N: 64})


@mistake(
    "a tile is no Python number while the kernel is traced; take the functions of tkw, such as tkw.sqrt(x) or tkw.cast(x, tkl.i32)"
)
def function_of_python():
    """A function of Python's math, applied to a tile."""

    @tkw.wave(ROWS)
    def root(x: X, y: X):
        tkw.write(math.sqrt(tkw.read(x)), y)  # <- here

    compile_(root, {M: 4, N: 64})


@mistake("300 does not fit i8")
def number_that_does_not_fit():
    """A literal that the dtype cannot hold."""
    memory = tkl.Memory[M, N, GLOBAL, tkl.i8]

    @tkw.wave(ROWS)
    def add(x: memory, y: memory):
        tkw.write(tkw.read(x) + 300, y)  # <- here

    compile_(add, {M: 4, N: 64})


@mistake("sum: say along which dim: dim=… one of M, N")
def reduction_without_a_dim():
    """A reduction that does not say along which dim."""

    @tkw.wave(ROWS)
    def total(x: X, y: tkl.Memory[M, GLOBAL, tkl.f32]):
        tkw.write(tkw.sum(tkw.read(x)), y)  # <- here

    compile_(total, {M: 4, N: 64})


@mistake("sum: the tile [M, N] has no dim K")
def reduction_of_an_absent_dim():
    """A reduction along a dim that the tile lacks."""

    @tkw.wave(ROWS)
    def total(x: X, y: tkl.Memory[M, GLOBAL, tkl.f32]):
        tkw.write(tkw.sum(tkw.read(x), dim=K), y)  # <- here

    compile_(total, {M: 4, N: 64, K: 1})


@mistake("permute: [N, K] is no order of the dims [M, N]")
def permutation_that_is_none():
    """A permutation to other dims."""

    @tkw.wave(ROWS)
    def turn(x: X, y: X):
        tkw.write(tkw.permute(tkw.read(x), target_shape=[N, K]), y)  # <- here

    compile_(turn, {M: 4, N: 64, K: 1})


@mistake("broadcast: the target [M] lacks dim N of the tile")
def broadcast_that_drops_a_dim():
    """A broadcast to a shape that lacks a dim of the tile."""

    @tkw.wave(ROWS)
    def spread(x: X, y: tkl.Memory[M, GLOBAL, tkl.f32]):
        tkw.write(tkw.broadcast(tkw.read(x), [M]), y)  # <- here

    compile_(spread, {M: 4, N: 64})


@mistake("mapping: two dims of the tile have the same iterator; give each of ['M', 'N'] its own")
def mapping_that_names_a_dim_twice():
    """A mapping in which one iterator stands for two dims."""
    i = tkw.IndexMapping.iterator(0)
    mapping = tkw.IndexMapping(num_iterators=2, inputs={M: i, N: i}, outputs={M: i, N: i})

    @tkw.wave(ROWS)
    def copy(x: X, y: X):
        tkw.write(tkw.read(x, mapping=mapping), y)  # <- here

    compile_(copy, {M: 4, N: 64})


@mistake("mapping: memory x has dims M, N, and no dim K")
def mapping_of_other_dims():
    """A mapping for a memory of other dims."""
    i, j = tkw.IndexMapping.iterator(0), tkw.IndexMapping.iterator(1)
    mapping = tkw.IndexMapping(num_iterators=2, inputs={K: i, N: j}, outputs={M: i, N: j})

    @tkw.wave(ROWS)
    def copy(x: X, y: X):
        tkw.write(tkw.read(x, mapping=mapping), y)  # <- here

    compile_(copy, {M: 4, N: 64, K: 4})


@mistake("mapping: 1 dynamic_val_mappings and 0 mapping_dynamic_vals; give one mapping for each value")
def mapping_without_its_values():
    """A mapping with a dynamic value that is not given."""
    i, j, d = tkw.IndexMapping.iterator(0), tkw.IndexMapping.iterator(1), tkw.IndexMapping.dynamic_val(0)
    mapping = tkw.IndexMapping(2, inputs={M: d, N: j}, outputs={M: i, N: j}, dynamic_val_mappings={M: i})

    @tkw.wave(ROWS)
    def gather(x: X, y: X):
        tkw.write(tkw.read(x, mapping=mapping), y)  # <- here

    compile_(gather, {M: 4, N: 64})


@mistake("select: the condition is of f32; compare it to get a condition of i1")
def select_by_a_number():
    """select by a tile that is no condition."""

    @tkw.wave(ROWS)
    def choose(x: X, y: X):
        v = tkw.read(x)
        tkw.write(tkw.select(v, v, 0.0), y)  # <- here

    compile_(choose, {M: 4, N: 64})


@mistake("set_wave_prio: a priority is 0, 1, 2 or 3, not 7")
def priority_out_of_range():
    """A wave priority beyond 3."""

    @tkw.wave(ROWS)
    def copy(x: X, y: X):
        tkw.set_wave_prio(7)  # <- here
        tkw.write(tkw.read(x), y)

    compile_(copy, {M: 4, N: 64})


@mistake("sqrt takes a tile; 2.0 was given")
def operation_outside_of_a_kernel():
    """An operation called outside of a kernel."""
    tkw.sqrt(2.0)
