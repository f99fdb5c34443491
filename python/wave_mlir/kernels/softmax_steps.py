"""What kernels of attention share: a softmax that goes on from tile to tile of the keys, weights in base 2."""

# pyright: reportInvalidTypeForm=false

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import sympy

import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.wave.constraints import MMAType
from wave_mlir.wave.values import Value

LOG2_E = math.log2(math.e)
Dims = tuple[sympy.Symbol, ...]
State = tuple[Value, Value, Value]
"""Greatest logit, sum of weights and weighted values so far."""


def rows_of(mma: MMAType) -> int:
    """Rows and columns of a product of this kind."""
    return 16 if "16x16" in mma.name else 32


def start(rows: Dims, values: Dims) -> list:
    """The state before the first key: `rows` are the dims of the sums, `values` those of the output."""
    return [
        tkl.Register[*rows, tkl.f32](float("-inf")),
        tkl.Register[*rows, tkl.f32](0.0),
        tkl.Register[*values, tkl.f32](0.0),
    ]


def step(
    state: Sequence[Value], logits: Value, rows: Dims, keys: sympy.Symbol, product: Callable[[Value, Value], Value]
) -> State:
    """The state with a tile of logits (in base 2, -inf for keys that are not seen) of `rows` by `keys`.

    product: what gives the new weighted values, of weights in f32 and the old ones rescaled.
    """
    old_max, old_sum, acc = state
    new_max = tkw.max(logits, old_max, dim=keys)
    base = finite(new_max, rows)
    rescale, weights = tkw.exp2(old_max - base), tkw.exp2(logits - base)
    new_sum = tkw.sum(weights, old_sum * rescale, dim=keys)
    return new_max, new_sum, product(weights, acc * rescale)


def finite(value: Value, dims: Dims) -> Value:
    """Zero in place of -inf: -inf - -inf is no number."""
    return tkw.select(value > float("-inf"), value, tkl.Register[*dims, tkl.f32](0.0))


def divisor(total: Value, dims: Dims) -> Value:
    """The sum of weights, 1 where no key was seen."""
    return tkw.select(total > 0.0, total, tkl.Register[*dims, tkl.f32](1.0))


def scaled(products: Value, scale: float, cap: float) -> Value:
    """Logits in base 2 of products of Q and K; cap > 0: cap * tanh(x / cap) of them."""
    if cap > 0.0:
        return tkw.tanh(products * (scale / cap)) * (cap * LOG2_E)
    return products * (scale * LOG2_E)


def hidden(logits: Value, seen: Value, dims: Dims) -> Value:
    """The logits, -inf where `seen` (of some of the dims) does not hold."""
    nothing = tkl.Register[*dims, tkl.f32](float("-inf"))
    return tkw.select(tkw.broadcast(seen, target_shape=list(dims)), logits, nothing)


def scale_of(what: str, given: float | None, head_size: int) -> float:
    """The factor of the products: one over the root of a head's size unless another is given. Raises ValueError."""
    if given is not None and not given > 0.0:
        raise ValueError(f"{what}: layer_scaling is {given}; it is a positive factor, or None")
    return head_size**-0.5 if given is None else float(given)
