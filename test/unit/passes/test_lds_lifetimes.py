"""Places of LDS buffers by their lifetimes: never common bytes at one time, and no more of them than need be."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wave_mlir.compiler.lds import ALIGNMENT
from wave_mlir.compiler.lds_places import Lifetime, end_of, least, places

LIFETIMES = st.one_of(
    st.none(), st.tuples(st.integers(0, 9), st.integers(0, 5)).map(lambda pair: (pair[0], pair[0] + pair[1]))
)
BUFFERS = st.lists(st.tuples(st.integers(1, 80), LIFETIMES), max_size=9)


def _points(lifetime: Lifetime) -> set[int]:
    return set() if lifetime is None else set(range(lifetime[0], lifetime[1] + 1))


@settings(max_examples=150, deadline=None)
@given(BUFFERS)
def test_no_byte_is_needed_twice_at_a_time(buffers: list[tuple[int, Lifetime]]) -> None:
    sizes, lifetimes = [b[0] for b in buffers], [b[1] for b in buffers]
    offsets = places(sizes, lifetimes)
    assert all(o % ALIGNMENT == 0 for o in offsets)
    for a, b in itertools.combinations(range(len(buffers)), 2):
        if _points(lifetimes[a]) & _points(lifetimes[b]):
            bytes_a, bytes_b = (set(range(offsets[n], offsets[n] + sizes[n])) for n in (a, b))
            assert not bytes_a & bytes_b


def _least(sizes: list[int], lifetimes: list[Lifetime]) -> int:
    """The least end of all ways to place buffers at multiples of the alignment, all tried."""
    top = sum(-(-s // ALIGNMENT) for s in sizes)
    best = top * ALIGNMENT
    for way in itertools.product(range(top), repeat=len(sizes)):
        taken: set[tuple[int, int]] = set()
        end = max((w * ALIGNMENT + s for w, s in zip(way, sizes, strict=True)), default=0)
        for w, size, lifetime in zip(way, sizes, lifetimes, strict=True):
            own = {(p, u) for p in _points(lifetime) for u in range(w, w + -(-size // ALIGNMENT))}
            if end >= best or own & taken:
                break
            taken |= own
        else:
            best = end
    return best


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 40), LIFETIMES), min_size=1, max_size=4))
def test_the_end_is_the_least(buffers: list[tuple[int, Lifetime]]) -> None:
    sizes, lifetimes = [b[0] for b in buffers], [b[1] for b in buffers]
    best = _least(sizes, lifetimes)
    assert end_of(sizes, places(sizes, lifetimes)) == best
    assert least(sizes, lifetimes) <= best


def test_many_buffers_take_little_more_than_is_needed() -> None:
    """Of 7 to 14 buffers: nearly always as many bytes as are needed at one time, and never a fifth more."""
    rng, exact = random.Random(5), 0
    for _ in range(40):
        count = rng.randint(7, 14)
        sizes = [16 * rng.randint(1, 64) for _ in range(count)]
        starts = [rng.randint(0, 12) for _ in range(count)]
        lifetimes = [(s, s + rng.randint(0, 6)) for s in starts]
        end, bound = end_of(sizes, places(sizes, lifetimes)), least(sizes, lifetimes)
        assert bound <= end <= 1.2 * bound
        exact += end == bound
    assert exact >= 30


@pytest.mark.parametrize("count", [0, 1, 12])
def test_any_number_of_buffers(count: int) -> None:
    sizes = [32] * count
    assert end_of(sizes, places(sizes, [(0, 0)] * count)) == 32 * count
    assert end_of(sizes, places(sizes, [(n, n) for n in range(count)])) == min(32, 32 * count)
