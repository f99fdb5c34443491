"""Exchanges between lanes: every way to make one gives each place its element; operations are counted."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest
from mlir import ir
from wave_mlir.compiler import exchanges
from wave_mlir.compiler.exchange_graph import Graph
from wave_mlir.dialect import Layout, block_sizes, plan

EXTENTS = {"M": 64, "K": 16}


def _evaluate(graph: Graph, results: tuple[int, ...], held: np.ndarray) -> np.ndarray:
    """What the operations make of registers of shape (lanes, registers)."""
    lanes, packed = graph.lanes, graph.packed
    lane, values = np.arange(lanes), []
    for node in graph.nodes:
        given, detail = [values[i] for i in node.operands], node.detail
        if node.kind == "word":
            value = np.full((lanes, packed), -7)
            own = held[:, detail[0] * packed : (detail[0] + 1) * packed]
            value[:, : own.shape[1]] = own
        elif node.kind == "pick":
            value = np.stack([given[w][:, e] for w, e in zip(detail[::2], detail[1::2], strict=True)], 1)
        elif node.kind == "xor":
            value = given[0][lane ^ detail[0]]
        elif node.kind == "lanes":
            value = given[0][list(detail)]
        elif node.kind == "select":
            value = np.where(np.array(detail, bool)[:, None], given[1], given[0])
        elif node.kind == "blend":
            value = np.where(np.array(detail[:lanes])[:, None] == np.array(detail[lanes:])[None], *given)
        else:
            odd = (lane // detail[0] % 2 == 1)[:, None]
            below, above = given[1][np.maximum(lane - detail[0], 0)], given[0][np.minimum(lane + detail[0], lanes - 1)]
            value = np.where(odd, given[1], above) if detail[1] else np.where(odd, below, given[0])
        values.append(value)
    return np.concatenate([values[r] for r in results], 1)


def _random_layout(rng: random.Random) -> Layout:
    """A permutation of the bits of registers and lanes, with bits that move nothing."""
    bits = [(2, dim, 1 << i) for dim, n in EXTENTS.items() for i in range(n.bit_length() - 1)]
    rng.shuffle(bits)
    count = rng.choice([4, 5, 6])
    lane, reg = bits[:count], bits[count:]
    for digits, wanted in ((lane, 6), (reg, len(reg) + rng.choice([0, 0, 1]))):
        while len(digits) < wanted:
            digits.insert(rng.randrange(len(digits) + 1), (2, None, 0))
    return Layout.get(EXTENTS, reg=reg, lane=lane)


@pytest.mark.parametrize("seed", range(4))
def test_all_ways_give_every_place_its_element(seed: int) -> None:
    rng, sizes = random.Random(seed), block_sizes(64)
    with ir.Context():
        for _ in range(3):
            before, after = _random_layout(rng), _random_layout(rng)
            found = plan(before, after, sizes)
            packed, rows = rng.choice([1, 2, 4]), rng.choice([(), (16, 32)])
            ways = [exchanges._by_moves(found, packed, 64), *exchanges._by_bits(before, after, packed, 64, rows)]
            assert len(ways) > 1
            for way in ways:
                made = _evaluate(way.graph, way.results, before.table(sizes)[0])
                np.testing.assert_array_equal(made[:, : after.registers], after.table(sizes)[0])


def _counts(before: Layout, after: Layout, packed: int, rows: tuple[int, ...] = ()) -> Counter[str]:
    found = plan(before, after, block_sizes(64))
    made = exchanges.exchange(before, after, found, packed, 64, rows, lambda e: len(e.graph.operations(e.results)))
    return Counter(node.kind for node in made.graph.operations(made.results))


def test_a_transpose_moves_half_of_the_registers_a_step() -> None:
    with ir.Context():
        acc = Layout.get({"M": 16, "N": 16}, reg=[(4, "M", 1)], lane=[(16, "N", 1), (4, "M", 4)])
        lhs = Layout.get({"M": 16, "N": 16}, reg=[(4, "N", 1)], lane=[(16, "M", 1), (4, "N", 4)])
        assert _counts(acc, lhs, 1) == {"xor": 4, "select": 12, "lanes": 4}
        assert _counts(acc, lhs, 2) == {"xor": 3, "select": 3, "pick": 2, "blend": 2, "lanes": 2}


def test_what_all_lanes_hold_is_not_moved() -> None:
    """A value of each row, which 16 lanes hold, comes to the lane of its row: selected there, then one exchange."""
    with ir.Context():
        rows = Layout.get({"M": 16}, reg=[(4, "M", 1)], lane=[(16, None, 0), (4, "M", 4)])
        lanes = Layout.get({"M": 16}, reg=[], lane=[(16, "M", 1), (4, None, 0)])
        assert _counts(rows, lanes, 1) == {"select": 3, "lanes": 1}


def test_rows_of_two_registers_swap_at_once() -> None:
    with ir.Context():
        before = Layout.get({"M": 256}, reg=[(4, "M", 64)], lane=[(64, "M", 1)])
        after = Layout.get({"M": 256}, reg=[(2, "M", 16), (2, "M", 32)],
                           lane=[(16, "M", 1), (2, "M", 64), (2, "M", 128)])  # fmt: skip
        assert _counts(before, after, 1, (16, 32)) == {"swap": 4}
