"""The instructions of one trip of a loop, in the order they run."""

from __future__ import annotations

from collections.abc import Callable

from .assembly import Block
from .instructions import Instruction

Weight = Callable[[Instruction], int]


def body(blocks: list[Block], loop: set[int], weight: Weight) -> tuple[Instruction, ...]:
    """The heaviest way round a natural loop: most `weight`, then fewest instructions.

    `loop`: numbers of its blocks; the first in the text is its head. Blocks that a trip may leave out (a conditional,
    another version of a part) are on the way only where they add weight.
    """
    head = min(loop)
    path = _heaviest(blocks, loop, head, weight)
    return tuple(i for number in path for i in blocks[number].instructions)


def _heaviest(blocks: list[Block], loop: set[int], head: int, weight: Weight) -> list[int]:
    """Longest path from the head to a block that jumps back, over the loop's edges but those to the head.

    An innermost natural loop has no other cycle; should a text have one (irreducible control flow), edges to a block
    that is on the way already are not followed.
    """
    best: dict[int, tuple[int, int, list[int]] | None] = {}
    for block in _leaves_first(blocks, loop, head):
        own_weight = sum(weight(i) for i in blocks[block].instructions)
        own_length = len(blocks[block].instructions)
        ways: list[tuple[int, int, list[int]]] = []
        for successor in blocks[block].successors:
            if successor == head:
                ways.append((own_weight, -own_length, [block]))
            elif (rest := best.get(successor)) is not None:
                ways.append((own_weight + rest[0], rest[1] - own_length, [block, *rest[2]]))
        best[block] = max(ways, key=lambda way: way[:2], default=None)
    found = best[head]
    return found[2] if found else [head]


def _leaves_first(blocks: list[Block], loop: set[int], head: int) -> list[int]:
    """Blocks of the loop in postorder: a block after all that follow it."""
    order: list[int] = []
    seen = {head}
    stack = [(head, iter(blocks[head].successors))]
    while stack:
        block, successors = stack[-1]
        following = next((s for s in successors if s in loop and s not in seen), None)
        if following is None:
            order.append(block)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(blocks[following].successors)))
    return order
