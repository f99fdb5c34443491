"""How long loads have been under way when the first wait that covers them is met.

Time is counted for one wave alone, as if no result were ever late. It passes in two ways: overlapped, where an
instruction issues when the one before has, a matrix instruction also when the matrix unit is free; and in series, where
a matrix instruction keeps the wave for all its clocks. A load that flies longer than its latency costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .demand import Demand

_TRIPS = 8  # a load of the second trip is followed for six more


@dataclass(frozen=True)
class Flight:
    """Clocks of the loop's loads of one sort: how many there are, the least and the mean; the least in series."""

    loads: int
    least: int
    mean: float
    least_in_series: int

    def to_json(self) -> dict[str, object]:
        """Plain data."""
        least = {"least": self.least, "least_in_series": self.least_in_series}
        return {"loads": self.loads, "mean": round(self.mean, 1), **least}


def flights(loop: Sequence[Demand], counter: str, kinds: tuple[str, ...]) -> Flight | None:
    """Flight of the loads of `kinds` that `counter` ("vm" or "lgkm") counts; None when no wait covers any."""
    time = series = matrix_free = 0.0
    open_loads: list[tuple[int, bool, float, float]] = []  # trip, is it of the kinds, time of issue in both ways
    found: list[tuple[float, float]] = []
    for trip in range(_TRIPS):
        for demand in loop:
            if demand.unit == "mfma":
                time = max(time, matrix_free)
                matrix_free = time + demand.clocks
            count = demand.waits[0 if counter == "vm" else 1]
            while count is not None and len(open_loads) > count:
                started, wanted, issued, issued_in_series = open_loads.pop(0)
                if started == 1 and wanted:
                    found.append((time - issued, series - issued_in_series))
            if demand.counter == counter:
                open_loads.append((trip, demand.kind in kinds, time, series))
            time += demand.issue
            series += demand.clocks if demand.unit == "mfma" else demand.issue
    if not found:
        return None
    overlapped = [f[0] for f in found]
    return Flight(len(found), round(min(overlapped)), sum(overlapped) / len(found), round(min(f[1] for f in found)))
