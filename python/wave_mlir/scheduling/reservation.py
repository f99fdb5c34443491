"""Who uses which resource when, modulo the interval."""

from __future__ import annotations

from .problem import Operation, Problem, Use


class Reservation:
    """A modulo reservation table: for each resource and unit of it a set of clocks, as the bits of a number.

    Times are in steps of the problem's quantum.
    """

    def __init__(self, problem: Problem, interval: int, step: int) -> None:
        self.interval = interval
        self._step = step
        self._all = (1 << interval) - 1
        self._units = {r.name: [0] * r.capacity for r in problem.resources}
        self._placed: dict[str, list[tuple[str, int, int]]] = {}
        self._users: dict[str, dict[str, int]] = {r.name: {} for r in problem.resources}

    def _mask(self, length: int, start: int) -> int:
        """The clocks start … start + length - 1 modulo the interval."""
        start %= self.interval
        bits = ((1 << min(length, self.interval)) - 1) << start
        return (bits | bits >> self.interval) & self._all

    def _free(self, units: list[int], amount: int) -> int:
        """Clocks at which at least `amount` units are free."""
        if len(units) == 1:
            return ~units[0] & self._all
        at_least = [self._all] + [0] * amount  # at_least[n]: clocks at which n of the units so far are free
        for unit in units:
            free = ~unit & self._all
            for n in range(amount, 0, -1):
                at_least[n] |= at_least[n - 1] & free
        return at_least[amount]

    def starts(self, operation: Operation) -> int:
        """The clocks (bits) at which an operation can be issued without a conflict.

        With several units an operation may go from unit to unit; that is what counting users at each clock allows.
        """
        allowed = self._all
        for use in operation.uses:
            length = use.clocks // self._step
            if length > self.interval:
                return 0
            free = self._free(self._units[use.resource], use.amount)
            allowed &= self._rotate(self._runs(free, length), -(use.start // self._step))
        return allowed if len(operation.uses) < 2 or self._fits_itself(operation) else 0

    def _fits_itself(self, operation: Operation) -> bool:
        """Whether several uses of one resource by one operation do not meet, modulo the interval."""
        if len({u.resource for u in operation.uses}) == len(operation.uses):
            return True
        seen: dict[str, list[int]] = {}
        for use in operation.uses:
            seen.setdefault(use.resource, []).append(self._mask(use.clocks // self._step, use.start // self._step))
        return all(
            len(masks) == 1
            or len(self._units[name]) > 1
            or sum(m.bit_count() for m in masks) == _union(masks).bit_count()
            for name, masks in seen.items()
        )

    def _runs(self, free: int, length: int) -> int:
        """Clocks from which on `length` clocks in a row are in the set."""
        have = 1
        while have < length:
            more = min(have, length - have)
            free &= self._rotate(free, -more)
            have += more
        return free if length else self._all

    def _rotate(self, bits: int, by: int) -> int:
        by %= self.interval
        return (bits << by | bits >> (self.interval - by)) & self._all

    def place(self, operation: Operation, clock: int) -> None:
        """Issue an operation at a clock at which it fits."""
        mine: list[tuple[str, int, int]] = []
        for use in operation.uses:
            for bit in self._clocks(use, clock):
                wanted = use.amount
                for number, unit in enumerate(self._units[use.resource]):
                    if wanted and not unit & bit:
                        self._units[use.resource][number] |= bit
                        mine.append((use.resource, number, bit))
                        wanted -= 1
            users = self._users[use.resource]
            users[operation.name] = users.get(operation.name, 0) | self._mask(
                use.clocks // self._step, clock + use.start // self._step
            )
        self._placed[operation.name] = mine

    def _clocks(self, use: Use, clock: int) -> list[int]:
        """The clocks of a use: in one piece where there is one unit, else one by one."""
        start, length = clock + use.start // self._step, use.clocks // self._step
        if len(self._units[use.resource]) == 1:
            return [self._mask(length, start)] if length else []
        return [self._mask(1, start + i) for i in range(length)]

    def remove(self, name: str) -> None:
        """Take an operation out."""
        for resource, number, bits in self._placed.pop(name):
            self._units[resource][number] &= ~bits
            self._users[resource].pop(name, None)

    def in_the_way(self, operation: Operation, clock: int) -> list[str]:
        """Operations to take out so that another one can be issued at a clock."""
        return self.in_the_way_at(operation, [clock])[0]

    def in_the_way_at(self, operation: Operation, clocks: list[int]) -> list[list[str]]:
        """The same for each of several clocks."""
        found: list[dict[str, None]] = [{} for _ in clocks]
        for use in operation.uses:
            wanted = [self._mask(use.clocks // self._step, clock + use.start // self._step) for clock in clocks]
            any_of_them = _union(wanted)
            near = [(n, bits) for n, bits in self._users[use.resource].items() if bits & any_of_them]
            for names, mask in zip(found, wanted, strict=True):
                names.update(dict.fromkeys(n for n, bits in near if bits & mask))
        return [list(names) for names in found]


def _union(masks: list[int]) -> int:
    total = 0
    for mask in masks:
        total |= mask
    return total
