"""Order of a loop that feeds matrix operations from memory: each thing is fetched a little before it is needed.

The loop's interval is the time of its matrix operations; everything else is put between them. A trip's tile goes from
global memory to registers two trips ahead, to LDS one trip ahead, and from LDS to registers so many clocks before its
first use as the registers allow. Where LDS has two copies of the tile, one barrier a trip separates the writes of the
next tile from its reads; with one copy a second one separates the reads of this tile from those writes.

Two ways to order the matrix operations are tried, from the one that needs the fewest waits to the one that needs the
fewest registers: by steps of K, where all operands of a step, or of several, are read before it begins; and within a
step by rows, where an operand's registers are free after its row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import ceil, lcm

from .problem import VALUE, NoSchedule, Problem
from .schedule import Schedule

LDS_LATENCY = 128
"""Clocks from an LDS read to its result at least (100 to 150 without a queue)."""
GLOBAL_LATENCY = 512
"""Clocks that a global load is to be under way at least; a load of a longer trip is a whole trip."""
WRITE_LATENCY = 96
"""Clocks from the last LDS write to the barrier behind it, so that the barrier does not wait for it."""
LEADS = (512, 384, 256, 192, 144, 96, 64)
"""Clocks from an LDS read to its first use, from the best to the least."""
WRITE_DISTANCES = (32, 16)
"""Clocks from one LDS write to the next."""
OTHER_REGISTERS = 26
"""Registers that a lane needs for addresses and the like."""
ROTATED_REGISTERS = 44
"""Registers more where a chain has one operation a step: results then go to registers of their own, in turns (seen in
the code that LLVM 22 makes; of two operations one after the other the second keeps the place)."""
WRITE_LATENCY_OF_COPIES = 256
"""The same where LDS has two copies: there is time, and the writes of all waves queue."""
MOST_REGISTERS = 256
"""Registers that instructions can name of one kind."""

GROUPS = 2
"""Groups of steps of K whose operands are read together, if registers allow."""
STALL = 64
"""Clocks of waiting for LDS that make a difference."""
ROW_CLOCKS = 128
"""Rows of fewer clocks are grouped: one wait serves the reads of a group."""
SHORT = 256
"""Clocks of a trip in which the latency of LDS cannot be hidden."""
LEAST_MMAS = 32
"""A shorter loop is unrolled to so many matrix operations: its control is then little."""

_FETCHES = ("lds_read", "global_load")
_KINDS = ("mma", "lds_read", "lds_write", "global_load", "gather_to_lds", "barrier")


def prefetch(problem: Problem, copies: Mapping[str, int] | None = None) -> Schedule:
    """The schedule with the longest leads that the registers allow. Raises NoSchedule for a loop of another shape."""
    loop = _Loop(problem, dict(copies or {}))
    orders = [*dict.fromkeys((min(GROUPS, loop.steps), loop.steps)), 0]
    spreads = (True, False)
    choices = [(g, lead, d, s) for g in orders for s in spreads for lead in loop.leads for d in WRITE_DISTANCES]
    attempts: list[_Attempt] = []
    best: tuple[tuple[bool, bool, int], _Attempt] | None = None
    for choice in choices:
        attempt = _Attempt(loop, *choice)
        if attempt.place():
            attempts.append(attempt)
            faults = attempt.faults() if attempt.registers() <= loop.budget else None
            if faults is not None and (best is None or faults < best[0]):
                best = faults, attempt
            if faults is not None and not any(faults):
                break
    if not attempts:
        raise NoSchedule(
            f"problem '{problem.name}': a trip is too short for the LDS accesses between its matrix operations; use "
            "larger tiles, or the strategy modulo"
        )
    return (min(attempts, key=lambda a: a.registers()) if best is None else best[1]).schedule()


class _Loop:
    """What the operations of a problem are to this strategy."""

    def __init__(self, problem: Problem, copies: dict[str, int]) -> None:
        self.problem = problem
        self.copies = copies
        by_kind: dict[str, list[str]] = {kind: [] for kind in _KINDS}
        for operation in problem.operations:
            if operation.kind not in by_kind or (operation.kind == "barrier" and not self._to_come(operation.name)):
                raise NoSchedule(
                    f"problem '{problem.name}': the strategy prefetch takes loops of loads, LDS accesses and matrix "
                    f"operations, and '{operation.name}' is none; use the strategy modulo",
                    operations=(operation.name,),
                )
            by_kind[operation.kind].append(operation.name)
        self.mmas, self.writes, self.direct = by_kind["mma"], by_kind["lds_write"], by_kind["gather_to_lds"]
        self.barriers = by_kind["barrier"]
        if not self.mmas:
            raise NoSchedule(f"problem '{problem.name}': there is no matrix operation to fetch for; use modulo")
        self.sources = {m: self._fetched(m) for m in self.mmas}
        fed = {f for fetched in self.sources.values() for f in fetched}
        self.reads = [r for r in by_kind["lds_read"] if r in fed]
        self.straight = [g for g in by_kind["global_load"] if g in fed]
        self.loads = {w: self._only_source(w) for w in self.writes}
        placed = {*self.reads, *self.straight, *self.loads.values()}
        for name in (*by_kind["lds_read"], *by_kind["global_load"]):
            if name not in placed:
                raise NoSchedule(
                    f"problem '{problem.name}': '{name}' feeds neither a matrix operation nor an LDS write; use the "
                    "strategy modulo",
                    operations=(name,),
                )
        self.single = bool(self.reads) and any(copies.get(b.name, 1) < 2 for b in problem.buffers)
        if self.single and self.direct:
            raise NoSchedule(
                f"problem '{problem.name}': direct copies of the next tile need LDS buffers of their own in the "
                "strategy prefetch; give the buffers two copies, or use the strategy modulo",
                operations=tuple(self.direct[:1]),
            )
        self.budget = min(problem.registers or MOST_REGISTERS, MOST_REGISTERS) - OTHER_REGISTERS
        self.clocks = {m: self._clocks(m) for m in self.mmas}
        self.interval = sum(self.clocks.values())
        self.unroll = lcm(*copies.values())
        self.latency = min(LDS_LATENCY, self.interval // 4)
        longest = WRITE_LATENCY if self.single else WRITE_LATENCY_OF_COPIES
        self.write_latency = min(longest, self.interval // 8)
        self.trips = int(problem.attributes.get("trips", "0"))  # 0: not known
        self.ahead = ceil(GLOBAL_LATENCY / self.interval)
        while self.ahead > 1 and not self.long_enough(self.ahead + 3, lcm(self.unroll, self.ahead)):
            self.ahead -= 1
        # Direct copies fly for as many trips as there are LDS buffers besides the one that is read.
        self.flying = max(1, min((copies.get(b.name, 1) for b in problem.buffers), default=1) - 1)
        while self.flying > 1 and not self.long_enough(self.flying + 2, self.unroll):
            self.flying -= 1
        # A short trip's reads are a whole trip ahead: the barrier between waits for them.
        longest = self.interval if self.interval <= SHORT else self.interval // 2
        self.leads = tuple(dict.fromkeys(min(lead, longest) for lead in LEADS))
        self._number()
        if not any(self.part.values()):
            self.budget -= ROTATED_REGISTERS

    def long_enough(self, stages: int, unroll: int) -> bool:
        """Whether the loop makes enough trips for the steady loop to make one."""
        return not self.trips or stages - 1 + unroll <= self.trips

    def lds_clocks(self, name: str) -> int:
        """Clocks that LDS is busy with an access, and with those of the other SIMDs that come with it."""
        return sum(u.clocks for u in self.problem.by_name[name].uses if u.resource == "lds")

    def _to_come(self, name: str) -> bool:
        """Whether a barrier is one that a later pass places: it depends on accesses, and nothing keeps it in place."""
        return all(d.reason == "a barrier between waves" for d in self.problem.incoming[name])

    def _clocks(self, name: str) -> int:
        uses = self.problem.by_name[name].uses
        return max((u.clocks for u in uses), default=1)

    def _fetched(self, name: str) -> list[str]:
        """The loads and LDS reads that an operation uses directly, in the order of its operands."""
        deps = [d for d in self.problem.incoming[name] if d.kind == VALUE and d.distance == 0]
        return [d.source for d in deps if self.problem.by_name[d.source].kind in _FETCHES]

    def _only_source(self, write: str) -> str:
        found = self._fetched(write)
        if len(found) != 1 or self.problem.by_name[found[0]].kind != "global_load":
            raise NoSchedule(
                f"problem '{self.problem.name}': '{write}' does not write what one load gives; use the strategy modulo",
                operations=(write,),
            )
        return found[0]

    def _number(self) -> None:
        """Each matrix operation's step (of its chain), part (with the same operands), row and column."""
        depth: dict[str, int] = {}
        step: dict[str, int] = {}
        part: dict[str, int] = {}
        for m in self.mmas:
            before = [d.source for d in self.problem.incoming[m] if d.source in depth and d.distance == 0]
            depth[m] = max((depth[b] + 1 for b in before), default=0)
            same = [b for b in before if self.sources[b] == self.sources[m] and self.sources[m]]
            step[m] = step[same[0]] if same else max((step[b] + 1 for b in before), default=0)
            part[m] = part[same[0]] + 1 if same else 0
        sides = [{self.sources[m][i] for m in self.mmas if len(self.sources[m]) > i} for i in (0, 1)]
        row, column = (0, 1) if len(sides[0]) >= len(sides[1]) else (1, 0)
        position = self.problem.position

        def place(m: str, side: int) -> int:
            return position[self.sources[m][side]] if len(self.sources[m]) > side else -1

        self.step, self.part = step, part
        self.steps = max(step.values()) + 1
        self.by_step = sorted(self.mmas, key=lambda m: (step[m], part[m], position[m]))
        self.uses: dict[int, tuple[dict[str, int], dict[str, int]]] = {}
        self.row = {m: place(m, row) for m in self.mmas}
        self.by_row = sorted(self.mmas, key=lambda m: (step[m], place(m, row), part[m], place(m, column), position[m]))


@dataclass
class _Attempt:
    """One way to place everything. Times are places between matrix operations, of the frame in which the tile's own
    matrix operations are 0 … count - 1; a time below 0 is in an earlier trip."""

    loop: _Loop
    groups: int  # of steps of K, whose operands are read together; 0: by rows
    lead: int
    distance: int
    spread: bool  # reads are no denser than LDS serves them
    order: list[str] = field(default_factory=list)
    times: dict[str, int] = field(default_factory=dict)
    scattered: bool = False  # there are reads between the writes
    full: int = 0  # the barrier behind the writes
    empty: int = 0  # with one copy, the barrier before them

    def place(self) -> bool:
        """Place everything; False where there is no room."""
        loop = self.loop
        self.order = loop.by_step if self.groups else loop.by_row
        self.count = len(self.order)
        self.clocks = loop.interval / self.count
        self.apart = max(1, round(self.distance / self.clocks))
        served = round(max((self.loop.lds_clocks(r) for r in loop.reads), default=0) / self.clocks)
        self.reads_apart = max(1, served) if self.spread else 1
        self.density = 1 if self.spread else ceil((4 if loop.interval <= SHORT else 2) * len(loop.reads) / self.count)
        if self.groups not in loop.uses:
            loop.uses[self.groups] = self._uses({m: i for i, m in enumerate(self.order)})
        self.first, self.last = loop.uses[self.groups]
        if not self._place_reads() or not self._place_writes():
            return False
        self._place_loads()
        return True

    def _uses(self, at: Mapping[str, int]) -> tuple[dict[str, int], dict[str, int]]:
        """When each fetched value has to be there, and when it is used last."""
        begin = self._begins()
        first: dict[str, int] = {}
        last: dict[str, int] = {}
        for m in self.order:
            need = begin[m]
            for name in self.loop.sources[m]:
                first[name] = min(first.get(name, need), need)
                last[name] = max(last.get(name, 0), at[m])
        return first, last

    def _begins(self) -> dict[str, int]:
        """Where the group of each matrix operation begins, whose operands are there by then."""
        begins: dict[str, int] = {}
        begin, before = 0, self.order[0]
        for place, m in enumerate(self.order):
            if self._is_next_group(before, m, (place - begin) * self.clocks):
                begin = place
            begins[m], before = begin, m
        return begins

    def _is_next_group(self, before: str, mma: str, clocks: float) -> bool:
        """Whether a matrix operation behind `before` begins a group; the one there has lasted so many clocks."""
        step = self.loop.step
        if self.groups:
            parts = [step[m] * self.groups // self.loop.steps for m in (before, mma)]
            return parts[0] != parts[1]
        row = self.loop.row
        return step[before] != step[mma] or (row[before] != row[mma] and clocks >= ROW_CLOCKS)

    def _in_places(self, clocks: int) -> int:
        return ceil(clocks / self.clocks)

    def _place_reads(self) -> bool:
        """Each read its lead before its use, in the window between the barriers."""
        reads = sorted(self.loop.reads, key=lambda r: (self.first[r], self.loop.problem.position[r]))
        lead, least = self._in_places(self.lead), self._in_places(self.loop.latency)
        writing = (
            self._in_places(self.loop.write_latency) + self.apart * len(self.loop.writes) if self.loop.single else 0
        )
        barrier = self.count
        for _ in range(self.count):
            latest = barrier - writing - least
            times = self._backwards(reads, lead, latest)
            start = min(times.values(), default=0)
            # the reads of the next tile, which are the same a trip later, begin behind the barrier
            if start + self.count > barrier:
                break
            barrier = start + self.count - 1
        else:
            return False
        if any(self.first[r] - t < least for r, t in times.items()):
            return False
        self.times.update(times)
        self.full = barrier - self.count
        self.empty = self.full - writing
        return True

    def _backwards(self, reads: list[str], lead: int, latest: int) -> dict[str, int]:
        """From the last on: no more in a place than it takes to spread them over half a trip."""
        times: dict[str, int] = {}
        following, there = latest + self.reads_apart, self.density
        for read in reversed(reads):
            full = there >= self.density
            time = min(self.first[read] - lead, following - self.reads_apart if full else following)
            there = 1 if time != following else there + 1
            times[read] = following = time
        return times

    def _place_writes(self) -> bool:
        """Writes before the barrier: with one copy right behind the other barrier, else where no reads are."""
        count = len(self.loop.writes)
        latest = self.full - self._in_places(self.loop.write_latency)
        if self.loop.single:
            places = [latest - self.apart * i for i in range(count)]
        else:
            places = self._free_places(latest, self.full - self.count + 1)
        if len(places) < count:
            return False
        self.times.update(zip(reversed(self.loop.writes), places, strict=True))
        return True

    def _free_places(self, latest: int, earliest: int) -> list[int]:
        """The last places for the writes without reads between, or else without reads in them; from the last on."""
        count, taken = len(self.loop.writes), {t % self.count for t in self.times.values()}
        length = (count - 1) * self.apart
        for last in range(latest, earliest + length - 1, -1):
            if not any(t % self.count in taken for t in range(last - length, last + 1)):
                return [last - self.apart * i for i in range(count)]
        self.scattered = True
        places: list[int] = []
        time = latest
        while time >= earliest and len(places) < count:
            if time % self.count not in taken:
                places.append(time)
                time -= self.apart - 1
            time -= 1
        return places

    def _place_loads(self) -> None:
        for write, load in self.loop.loads.items():
            self.times[load] = self.times[write] - self.loop.ahead * self.count + 1
        for name in self.loop.straight:
            self.times[name] = self.last[name] - self.count + 1
        for number, name in enumerate(self.loop.direct):
            self.times[name] = self.full - self.loop.flying * self.count + 1 + number // 2
        for name in self.loop.barriers:
            is_empty = self._is_empty(name)
            self.times[name] = self.empty if is_empty else self.full

    def _is_empty(self, name: str) -> bool:
        """Whether a barrier waits for readers: that of writes waits for a write of its own trip."""
        kinds = {self.loop.problem.by_name[d.source].kind for d in self.loop.problem.incoming[name] if not d.distance}
        return not kinds & {"lds_write", "gather_to_lds"}

    # --- registers -----------------------------------------------------------------------------
    def registers(self) -> int:
        """Registers that values of the loop take of a lane at the worst place."""
        problem = self.loop.problem
        held = [0] * self.count
        for name, begin, end in self._lives():
            size = problem.by_name[name].registers
            for time in range(begin, end + 1):
                held[time % self.count] += size
        chains = sum(problem.by_name[m].registers for m in self.loop.mmas if not self._continues(m))
        return chains + max(held, default=0)

    def faults(self) -> tuple[bool, bool, int]:
        """What costs time, the worst first.

        Registers that two trips need at once are moved, or the loop is unrolled; loads of writes that are apart need
        waits of their own; LDS accesses that queue hold up a barrier, by so many times STALL.
        """
        return self.loop.unroll % self.turns() != 0, self.scattered, self.stall() // STALL

    def turns(self) -> int:
        """How many trips have values in registers of their own at once, at the most."""
        return max((ceil((end - begin) / self.count) for _, begin, end in self._lives()), default=1)

    def _continues(self, mma: str) -> bool:
        return any(d.distance == 0 and d.source in self.loop.step for d in self.loop.problem.incoming[mma])

    def _lives(self) -> Iterator[tuple[str, int, int]]:
        for name in (*self.loop.reads, *self.loop.straight):
            yield name, self.times[name], self.last[name]
        for write, load in self.loop.loads.items():
            yield load, self.times[load], self.times[write]

    # --- LDS -----------------------------------------------------------------------------------
    def stall(self) -> int:
        """Clocks that a trip waits for LDS, if accesses are served one after the other: at barriers and first uses."""
        loop, clock = self.loop, self.clocks
        accesses = sorted((self.times[n] % self.count, n) for n in (*loop.reads, *loop.writes))
        barriers = sorted({self.times[n] % self.count for n in loop.barriers})
        free = stall = 0.0
        for trip in range(2):
            done: list[tuple[int, float]] = []
            stall = 0.0
            for place, name in accesses:
                free = max(free, (trip * self.count + place) * clock) + loop.lds_clocks(name)
                done.append((place, free + self.loop.latency / 2))
                if name in self.first:
                    ahead = (self.first[name] - self.times[name] + place + trip * self.count) * clock
                    stall = max(stall, done[-1][1] - ahead)
            for barrier in barriers:
                last = max((d for place, d in done if place <= barrier), default=0.0)
                stall = max(stall, last - (trip * self.count + barrier) * clock)
        return max(0, round(stall))

    # --- result --------------------------------------------------------------------------------
    def schedule(self) -> Schedule:
        """The places as clocks: a matrix operation begins its place, what is put there follows."""
        loop = self.loop
        starts, now = [], 0
        for m in self.order:
            starts.append(now)
            now += loop.clocks[m]
        cycles = {m: starts[i] for i, m in enumerate(self.order)}
        for name, time in self.times.items():
            trip, place = divmod(time, self.count)
            rank = 3 if name in loop.barriers else 1 if name in loop.reads or name in loop.loads else 2
            cycles[name] = trip * loop.interval + starts[place] + rank
        unroll = lcm(loop.unroll, max(1, self.turns()))
        made = Schedule.of_cycles(loop.problem, "prefetch", loop.interval, cycles, loop.copies, unroll)
        longer = unroll * max(1, LEAST_MMAS // (self.count * unroll))
        return replace(made, unroll=longer) if loop.long_enough(made.stages, longer) else made
