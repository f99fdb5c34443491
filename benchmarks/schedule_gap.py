"""How far the intervals of strategy `modulo` are from the shortest ones: `python benchmarks/schedule_gap.py [SECONDS]`.

For every innermost loop of the kernel library: clocks of the lower bound, of our schedule, and of the shortest one.
Where ours is at the bound there is none shorter. Else CP-SAT (package `ortools`, of the test requirements) looks for
one, for so many SECONDS (60) an interval; without an answer in that time the bound stands, marked `>=`. Loops are taken
to make many trips: the examples' own shapes are small, and there no more trips are overlapped than a loop makes.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace

from exact_schedule import shortest
from loop_library import problems
from wave_mlir.scheduling import NoSchedule, minimum_interval, one_trip_ahead, pipelined, verify


def main(seconds: float) -> None:
    """Print the table, then how many loops have no gap and the greatest gap."""
    gaps: list[float] = []
    print("| loop | ops | lower bound | ours | shortest | gap | ms |\n|---|---|---|---|---|---|---|")
    for name, problem, copies in problems():
        if isinstance(problem, str):
            print(f"| {name} | not scheduled: {problem} | | | | | |")
            continue
        problem = replace(problem, attributes={})
        start = time.process_time()
        try:
            solved, schedule = pipelined(problem, copies)
        except NoSchedule as error:
            print(f"| {name} | {len(problem.operations)} | | {error} | | | |")
            continue
        spent = (time.process_time() - start) * 1000
        verify(solved, schedule)
        asked = one_trip_ahead(problem).with_copies(copies)
        bound = minimum_interval(asked)
        best, proven = shortest(asked, bound, schedule.interval, seconds)
        gaps.append(schedule.interval / best - 1)
        mark = "" if proven else ">= "
        row = (
            name,
            len(problem.operations),
            bound,
            schedule.interval,
            f"{mark}{best}",
            f"{gaps[-1]:.1%}",
            f"{spent:.0f}",
        )
        print(f"| {' | '.join(map(str, row))} |", flush=True)
    none = sum(g <= 0 for g in gaps)
    print(f"\n{none} of {len(gaps)} loops have no gap; the greatest is {max(gaps):.1%}")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 60)
