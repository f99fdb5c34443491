"""Loops, conditions and symbols that are set"""

from __future__ import annotations

from catalogue import *


@mistake("the body of iterate(K) takes 2 values, and 1 are carried; give one parameter for each of init_args")
def loop_body_of_wrong_arity():
    """A loop body takes another number of values than init_args has."""

    @tkw.wave(GEMM)
    def gemm(a: A, b: BT, c: C):
        @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])  # <- here
        def loop(acc, more):
            return tkw.mma(tkw.read(a), tkw.read(b), acc)

        tkw.write(loop, c)

    compile_(gemm)


@mistake("iterate(K): the body returns 0 values and 1 are carried; return one for each")
def loop_body_that_returns_nothing():
    """A loop body that carries a value and returns none."""

    @tkw.wave(GEMM)
    def gemm(a: A, b: BT, c: C):
        @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])  # <- here
        def loop(acc):
            tkw.mma(tkw.read(a), tkw.read(b), acc)

        tkw.write(loop, c)

    compile_(gemm)


@mistake(
    "iterate(K): result 0 is <tile [M, N] of f16> and the carried value <tile [M, N] of f32>; cast, broadcast or reduce it"
)
def loop_that_changes_the_dtype():
    """A carried value that changes its dtype."""

    @tkw.wave(GEMM)
    def gemm(a: A, b: BT, c: tkl.Memory[M, N, GLOBAL, tkl.f16]):
        @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])  # <- here
        def loop(acc):
            return tkw.cast(tkw.mma(tkw.read(a), tkw.read(b), acc), tkl.f16)

        tkw.write(loop, c)

    compile_(gemm)


@mistake(
    "<tile [M, N] of f32> was computed in the body of a loop or conditional and is used outside of it; return it from the body (a loop carries it in init_args), and use the result"
)
def value_of_a_loop_used_outside():
    """A value computed inside a loop and used after it."""

    @tkw.wave(GEMM)
    def gemm(a: A, b: BT, c: C):
        kept = []

        @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
        def loop(acc):
            kept.append(tkw.mma(tkw.read(a), tkw.read(b), acc))
            return kept[0]

        tkw.write(kept[0], c)  # <- here

    compile_(gemm)


@mistake("iterate: a while loop needs both start and condition")
def while_loop_without_start():
    """A while loop without start."""

    @tkw.wave(GEMM)
    def gemm(a: A, b: BT, c: C):
        @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)], condition=K < 64)  # <- here
        def loop(acc):
            return tkw.mma(tkw.read(a), tkw.read(b), acc)

        tkw.write(loop, c)

    compile_(gemm)


@mistake(
    "a tile has no truth value while the kernel is traced; for a run-time decision use tkw.conditional or tkw.select"
)
def python_if_on_a_tile():
    """Python's `if` on a tile."""

    @tkw.wave(ROWS)
    def relu(x: X, y: X):
        v = tkw.read(x)
        if v > 0.0:  # <- here
            tkw.write(v, y)

    compile_(relu, {M: 4, N: 64})


@mistake(
    "a tile has no elements while the kernel is traced, and cannot be unpacked; operations work on all of it, and an operation with several results gives a tuple"
)
def python_loop_over_a_tile():
    """Python's `for` over a tile."""

    @tkw.wave(ROWS)
    def total(x: X, y: X):
        for value in tkw.read(x):  # <- here
            tkw.write(value, y)

    compile_(total, {M: 4, N: 64})


@mistake("conditional: the body returns values; say in else_return what they are elsewhere")
def result_of_a_condition_without_else():
    """A conditional with a result that does not say what it is otherwise."""

    @tkw.wave(ROWS)
    def pick(x: X, y: X):
        @tkw.conditional(M > 2)  # <- here
        def chosen():
            return tkw.read(x)

        tkw.write(chosen, y)

    compile_(pick, {M: 4, N: 64})


@mistake("set_symbol: N is bound in subs to 64; drop it there")
def set_symbol_of_a_bound_symbol():
    """set_symbol of a symbol that has a value already."""

    @tkw.wave(ROWS)
    def cut(n: tkl.Memory[B, GLOBAL, tkl.i32], x: X, y: X):
        tkw.set_symbol(N, tkw.read(n))  # <- here
        tkw.write(tkw.read(x), y)

    compile_(cut, {M: 4, N: 64, B: 1})


@mistake("set_symbol: T is an integer and the value of f32; cast it first")
def set_symbol_of_a_float():
    """set_symbol to a float."""
    T = tkl.sym.T

    @tkw.wave([*ROWS, tkw.TilingConstraint(T, 1)])
    def cut(n: tkl.Memory[M, GLOBAL, tkl.f32], y: X):
        tkw.set_symbol(T, tkw.read(n))  # <- here

        @tkw.iterate(T, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
        def total(acc):
            return acc + 1.0

        tkw.write(total, y)

    compile_(cut, {M: 4, N: 64})


@mistake(
    "symbol T has no value here; put wave.set_symbol T = … before this op, in its region or one around it (in Python: tkw.set_symbol)"
)
def symbol_used_before_it_is_set():
    """A loop over a symbol that is set only after it."""
    T = tkl.sym.T

    @tkw.wave([*ROWS, tkw.TilingConstraint(T, 1)])
    def count(n: tkl.Memory[M, GLOBAL, tkl.i32], y: X):
        @tkw.iterate(T, init_args=[tkl.Register[M, N, tkl.f32](0.0)])  # <- here
        def total(acc):
            return acc + 1.0

        tkw.set_symbol(T, tkw.read(n))
        tkw.write(total, y)

    compile_(count, {M: 4, N: 64})


@mistake(
    "symbol T has no value here; put wave.set_symbol T = … before this op, in its region or one around it (in Python: tkw.set_symbol)"
)
def symbol_set_in_one_branch():
    """A symbol that is set in a conditional and used after it."""
    T = tkl.sym.T

    @tkw.wave([*ROWS, tkw.TilingConstraint(T, 1)])
    def count(n: tkl.Memory[M, GLOBAL, tkl.i32], y: X):
        @tkw.conditional(M > 2)
        def some():
            tkw.set_symbol(T, tkw.read(n))

        @tkw.iterate(T, init_args=[tkl.Register[M, N, tkl.f32](0.0)])  # <- here
        def total(acc):
            return acc + 1.0

        tkw.write(total, y)

    compile_(count, {M: 4, N: 64})


@mistake("kernel double returns a value; write results with tkw.write")
def kernel_that_returns_a_value():
    """A kernel that returns its result instead of writing it."""

    @tkw.wave(ROWS)  # <- here
    def double(x: X):
        return tkw.read(x) * 2.0

    compile_(double, {M: 4, N: 64})


@mistake(
    "kernel double: argument y needs an annotation: tkl.Memory[…], an element type for a scalar, or tkl.SymbolBind[…]"
)
def argument_without_annotation():
    """An argument whose type is not given."""

    @tkw.wave(ROWS)  # <- here
    def double(x: X, y):
        tkw.write(tkw.read(x) * 2.0, y)

    compile_(double, {M: 4, N: 64})


@mistake(
    "this barrier is in a conditional that waves may enter differently, and a wave that stays out would leave the others waiting; move it out, or decide by a value that all lanes of the workgroup share"
)
def barrier_in_a_condition():
    """A barrier under a condition that waves decide differently."""

    @tkw.wave([ROWS[0], tkw.WorkgroupConstraint(N, 128, 1), tkw.WaveConstraint(N, 64), ROWS[2]])
    def sync(x: X, y: X):
        @tkw.conditional(tkw.self_index(N, tkl.i32) > 64)
        def some():
            tkw.workgroup_barrier()  # <- here

        tkw.write(tkw.read(x), y)

    compile_(sync, {M: 4, N: 128})
