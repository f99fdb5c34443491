"""The fewest barriers for a set of intervals, against brute force."""

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st
from wave_mlir.compiler.stabbing import Points, stab

POINTS = 8


def brute_force(intervals: list[Points], given_points: set[int], allowed: set[int]) -> int | None:
    for size in range(POINTS + 1):
        for chosen in combinations(sorted(allowed), size):
            if all(set(i) & (given_points | set(chosen)) for i in intervals):
                return size
    return None


def arcs() -> st.SearchStrategy[Points]:
    """An interval on a circle of points: what a hazard around a loop needs."""
    def make(first: int, length: int) -> Points:
        return tuple((first + n) % POINTS for n in range(length))

    return st.builds(make, st.integers(0, POINTS - 1), st.integers(1, POINTS))


@settings(max_examples=300, deadline=None)
@given(st.lists(arcs(), max_size=7), st.sets(st.integers(0, POINTS - 1), max_size=2),
       st.sets(st.integers(0, POINTS - 1), min_size=4))  # fmt: skip
def test_fewest_points(intervals, given_points, allowed):
    want = brute_force(intervals, given_points, allowed)
    points = stab(intervals, given_points, allowed)
    if want is None:
        assert points is None
        return
    assert points is not None and set(points) <= allowed
    assert all(set(i) & (given_points | set(points)) for i in intervals)
    assert len(points) == want


def test_no_intervals_need_no_barrier():
    assert stab([], set(), {1, 2, 3}) == []


def test_a_barrier_that_is_there_counts():
    assert stab([(1, 2, 3)], {2}, {1, 2, 3}) == []
