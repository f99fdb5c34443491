"""Exchanges between the lanes of a wave as a graph of operations on words.

A *word* is what an operation moves at once: 32 bits of a lane, which are several elements of 8 or 16 bits, or one wider
element. Equal nodes are one, and what moves nothing is no node, so the operations of a graph can be counted before any
is emitted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["word", "pick", "xor", "lanes", "select", "blend", "swap"]
Slot = tuple[int, int]
"""An element: the node of its word, and its number in it."""


@dataclass(frozen=True)
class Node:
    """One operation; what it gives is a word of every lane.

    kind   operands  detail                     gives
    ------ --------- -------------------------- -----------------------------------------------------------------
    word             number                     a word of the source
    pick   words     slots (operand, element)   a word of elements of other words
    xor    word      mask                       the word of lane `lane xor mask`
    lanes  word      source lane of each lane   the word of that lane
    select a, b      bits by lane               b where the lane's bit is set, else a
    blend  a, b      bits by lane, elements     element by element: a's where its bit is that of the lane, else b's
    swap   a, b      rows of lanes, which       a with its odd rows and b's even rows exchanged (0), and that b (1)
    """

    kind: Kind
    operands: tuple[int, ...]
    detail: tuple[int, ...]


@dataclass
class Graph:
    """Nodes in an order in which each comes after its operands. `packed`: elements of a word; `lanes`: of a wave."""

    packed: int
    lanes: int
    nodes: list[Node] = field(default_factory=list)
    _known: dict[Node, int] = field(default_factory=dict)

    def _add(self, kind: Kind, operands: Sequence[int], detail: Sequence[int]) -> int:
        node = Node(kind, tuple(operands), tuple(detail))
        if node not in self._known:
            self._known[node] = len(self.nodes)
            self.nodes.append(node)
        return self._known[node]

    def word(self, number: int) -> int:
        """A word of the source: elements from `number * packed` on."""
        return self._add("word", (), (number,))

    def pick(self, slots: Sequence[Slot | None]) -> int:
        """A word of these elements; None: any."""
        first = next(s for s in slots if s is not None)
        node = first[0]
        if all(s is None or s == (node, i) for i, s in enumerate(slots)):
            return node
        flat = [self._origin(s if s is not None else first) for s in slots]
        if all(s == (flat[0][0], i) for i, s in enumerate(flat)):
            return flat[0][0]
        words = list(dict.fromkeys(n for n, _ in flat))
        return self._add("pick", words, [x for n, e in flat for x in (words.index(n), e)])

    def _origin(self, slot: Slot) -> Slot:
        """The element that a pick has taken."""
        node = self.nodes[slot[0]]
        if node.kind != "pick":
            return slot
        return node.operands[node.detail[2 * slot[1]]], node.detail[2 * slot[1] + 1]

    def xor(self, word: int, mask: int) -> int:
        """The word of lane `lane xor mask`."""
        return self._add("xor", [word], [mask]) if mask else word

    def from_lanes(self, word: int, table: Sequence[int]) -> int:
        """The word of lane `table[lane]`."""
        masks = {source ^ lane for lane, source in enumerate(table)}
        if len(masks) == 1:
            return self.xor(word, masks.pop())
        return self._add("lanes", [word], table)

    def select(self, a: int, b: int, where: Sequence[bool]) -> int:
        """b in the lanes `where`, a in the others."""
        if a == b or not any(where):
            return a
        return b if all(where) else self._add("select", [a, b], [int(w) for w in where])

    def blend(self, a: int, b: int, where: Sequence[bool], elements: Sequence[bool]) -> int:
        """a's elements whose bit in `elements` is that of the lane in `where`, and b's others."""
        return a if a == b else self._add("blend", [a, b], [*(int(w) for w in where), *(int(e) for e in elements)])

    def swap(self, a: int, b: int, rows: int) -> tuple[int, int]:
        """a and b with the odd rows of a (of so many lanes) and the even rows of b exchanged."""
        return self._add("swap", [a, b], [rows, 0]), self._add("swap", [a, b], [rows, 1])

    def bit(self, number: int) -> list[bool]:
        """The lanes in whose number a bit is set."""
        return [bool(lane >> number & 1) for lane in range(self.lanes)]

    def used(self, results: Sequence[int]) -> list[int]:
        """The nodes that these results need, in order."""
        seen, left = set(results), list(results)
        while left:
            for operand in self.nodes[left.pop()].operands:
                if operand not in seen:
                    seen.add(operand)
                    left.append(operand)
        return sorted(seen)

    def operations(self, results: Sequence[int]) -> list[Node]:
        """The nodes that are an operation each: of the two halves of a swap one."""
        used = [self.nodes[number] for number in self.used(results)]
        halves = dict.fromkeys((n.operands, n.detail[0]) for n in used if n.kind == "swap")
        others = [n for n in used if n.kind not in ("word", "swap")]
        return others + [Node("swap", operands, (rows, 0)) for operands, rows in halves]

    def depth(self, results: Sequence[int], kinds: Mapping[Node, bool]) -> int:
        """The most nodes for which `kinds` holds that come one after the other."""
        steps: dict[int, int] = {}
        for number in self.used(results):
            node = self.nodes[number]
            steps[number] = max((steps[o] for o in node.operands), default=0) + kinds.get(node, False)
        return max((steps[r] for r in results), default=0)
