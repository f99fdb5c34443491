"""Loops whose work is products: an order of the MMAs, and which fragments may share registers.

Such a loop has chains of MMAs, one for each accumulator; MMA i of a chain reads a fragment of each operand. The MMAs at
one depth of the chains and the fragments they read form a *set*. Sets follow each other; within a set all MMAs of one
fragment of the *outer* operand are together, so that it dies soon, and the fragments of the other, the *inner* operand
are used by each of these groups.

A fragment's registers are used again by the fragment of the same accumulators in the next set (one copy) or in the set
after next (two copies). As dependences this is what spreads the reads over the trip: each is issued as soon as its
registers are free, a set ahead of its use where there are two copies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from .problem import ORDER, VALUE, Dependence, Problem

_FRAGMENTS = ("lds_read", "global_load")


@dataclass(frozen=True)
class Fragment:
    """What an operation reads for MMAs: its set, its operand, and which of that operand's fragments of a set it is."""

    name: str
    set: int
    operand: int
    number: int
    users: tuple[str, ...]  # MMAs in the order of the sequence


@dataclass(frozen=True)
class Products:
    """The products of a loop: all its MMAs in a good order, and their fragments."""

    problem: Problem
    sequence: tuple[str, ...]
    fragments: tuple[Fragment, ...]
    sets: int
    outer: int

    @staticmethod
    def of(problem: Problem) -> Products | None:
        """The products of a loop; None where its MMAs are of another shape: of one chain, or of what was computed."""
        return _Finder(problem).find()

    @property
    def inner(self) -> int:
        """The operand whose fragments each group of MMAs goes through."""
        return 1 - self.outer

    def ordered(self, copies: Mapping[int, int]) -> Problem:
        """The problem with the sequence kept, and with so many copies of each operand's fragments."""
        added = [*self._sequence(), *self._reuse(copies), *self._staging()]
        return replace(self.problem, dependences=(*self.problem.dependences, *added))

    def _sequence(self) -> list[Dependence]:
        clocks = {n: _matrix_clocks(self.problem, n) for n in self.sequence}
        pairs = zip(self.sequence, (*self.sequence[1:], self.sequence[0]), strict=True)
        last = len(self.sequence) - 1
        return [Dependence(a, b, int(i == last), clocks[a], ORDER, "order of MMAs") for i, (a, b) in enumerate(pairs)]

    def _reuse(self, copies: Mapping[int, int]) -> list[Dependence]:
        """A fragment is read when the one whose registers it gets has had its last use."""
        at = {(f.operand, f.number, f.set): f for f in self.fragments}
        found = []
        for f in self.fragments:
            back = self.sets if self.problem.by_name[f.name].kind == "global_load" else copies[f.operand]
            trips, before = divmod(f.set - back, self.sets)
            previous = at[f.operand, f.number, before]
            found.append(Dependence(previous.users[-1], f.name, -trips, 4, ORDER, "its registers are free"))
        return found

    def _staging(self) -> list[Dependence]:
        """A load that LDS writes take is issued when those of the trip before have taken theirs."""
        found = []
        for load in self.problem.of_kind("global_load"):
            users = [d.target for d in self.problem.outgoing[load.name] if d.kind == VALUE and d.distance == 0]
            if users and all(self.problem.by_name[u].kind == "lds_write" for u in users):
                clocks = _matrix_clocks(self.problem, self.sequence[0])
                found += [Dependence(u, load.name, 1, clocks, ORDER, "its registers are free") for u in users]
        return found


def _matrix_clocks(problem: Problem, name: str) -> int:
    return max((u.clocks for u in problem.by_name[name].uses if u.resource == "matrix"), default=0)


@dataclass
class _Finder:
    """Finds chains, depths, fragments, and puts them in order."""

    problem: Problem
    depth: dict[str, int] = field(default_factory=dict)
    chain: dict[str, str] = field(default_factory=dict)
    reads: dict[str, list[str]] = field(default_factory=dict)

    def find(self) -> Products | None:
        mmas = [o.name for o in self.problem.of_kind("mma")]
        if not mmas or not self._chains(mmas):
            return None
        sets = self._sets(mmas)
        numbers = self._operands(mmas, sets)
        if numbers is None:
            return None
        outer = self._outer(numbers)
        sequence = tuple(sorted(mmas, key=lambda m: self._key(m, sets, numbers, outer)))
        place = {m: i for i, m in enumerate(sequence)}
        fragments = tuple(
            Fragment(r, sets[users[0]], *numbers[r], tuple(sorted(users, key=place.__getitem__)))
            for r, users in self._users(mmas).items()
        )
        count = 1 + max(sets.values())
        if not _regular(fragments, count):
            return None
        return Products(self.problem, sequence, fragments, count, outer)

    def _chains(self, mmas: list[str]) -> bool:
        """The chain and depth of each MMA, and the two fragments it reads."""
        among = set(mmas)
        for name in sorted(mmas, key=self.problem.sequence.__getitem__):
            sources = [d for d in self.problem.incoming[name] if d.kind == VALUE]
            before = [d.source for d in sources if d.source in among and d.distance == 0]
            reads = [d.source for d in sources if d.distance == 0 and d.source not in among]
            if len(before) > 1 or not 1 <= len(reads) <= 2:
                return False
            if any(self.problem.by_name[r].kind not in _FRAGMENTS for r in reads):
                return False
            self.depth[name] = self.depth[before[0]] + 1 if before else 0
            self.chain[name] = self.chain[before[0]] if before else name
            self.reads[name] = reads
        return True

    def _users(self, mmas: list[str]) -> dict[str, list[str]]:
        users: dict[str, list[str]] = {}
        for name in mmas:
            for read in self.reads[name]:
                users.setdefault(read, []).append(name)
        return users

    def _sets(self, mmas: list[str]) -> dict[str, int]:
        """The set of each MMA: depths that share fragments are one set."""
        first = {r: min(self.depth[u] for u in users) for r, users in self._users(mmas).items()}
        starts = sorted(set(first.values()))
        return {m: starts.index(min(first[r] for r in self.reads[m])) for m in mmas}

    def _operands(self, mmas: list[str], sets: Mapping[str, int]) -> dict[str, tuple[int, int]] | None:
        """(operand, number within its operand and set) of each fragment; None if one is both operands."""
        found: dict[str, tuple[int, int]] = {}
        by_chains: dict[tuple[int, frozenset[str]], int] = {}
        counts = [0, 0]
        users = self._users(mmas)
        position = self.problem.position
        for name in sorted(mmas, key=lambda m: (sets[m], position[m])):
            for side, read in enumerate(self._sides(name, found)):
                if read is None:
                    continue
                key = side, frozenset(self.chain[u] for u in users[read])
                if key not in by_chains:
                    by_chains[key] = counts[side]
                    counts[side] += 1
                if found.setdefault(read, (side, by_chains[key])) != (side, by_chains[key]):
                    return None
        return found

    def _sides(self, name: str, found: Mapping[str, tuple[int, int]]) -> list[str | None]:
        """The fragments of an MMA by operand. Which is which is said by those known, else by program order."""
        reads: list[str | None] = [*self.reads[name]]
        if len(reads) == 1:
            side = found[self.reads[name][0]][0] if self.reads[name][0] in found else 0
            return [*reads, None] if side == 0 else [None, *reads]
        first, second = self.reads[name]
        swapped = (first in found and found[first][0] == 1) or (second in found and found[second][0] == 0)
        return [second, first] if swapped else [first, second]

    def _outer(self, numbers: Mapping[str, tuple[int, int]]) -> int:
        """The operand that goes straight to registers, else that of more fragments."""
        direct = [side for r, (side, _) in numbers.items() if self.problem.by_name[r].kind == "global_load"]
        if direct and len(set(direct)) == 1:
            return direct[0]
        counts = [1 + max((n for s, n in numbers.values() if s == side), default=-1) for side in (0, 1)]
        return int(counts[1] > counts[0])

    def _key(
        self, name: str, sets: Mapping[str, int], numbers: Mapping[str, tuple[int, int]], outer: int
    ) -> tuple[int, int, int, int]:
        """Sets, groups of an outer fragment, halves, inner fragments; halves first if a group is too small for them."""
        place = {numbers[r][0]: numbers[r][1] for r in self.reads[name]}
        inner = 1 + max((n for s, n in numbers.values() if s != outer), default=0)
        latency = self.problem.by_name[name].latency
        depth, group = self.depth[name], place.get(outer, 0)
        wide = inner * _matrix_clocks(self.problem, name) >= latency
        return sets[name], *((group, depth) if wide else (depth, group)), place.get(1 - outer, 0)


def _regular(fragments: tuple[Fragment, ...], sets: int) -> bool:
    """Whether each set has the same fragments."""
    have = {(f.operand, f.number, f.set) for f in fragments}
    return len(have) == len(fragments) and all((o, n, s) in have for o, n, _ in have for s in range(sets))
