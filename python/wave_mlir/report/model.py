"""The static model of a hot loop: what bounds it, how long its loads fly, and a replay of a trip.

docs/report.md explains each figure. All times are clocks of one SIMD for one trip of every resident wave.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wave_mlir.compiler.targets import Target
from wave_mlir.compiler.targets.rates import TURN

from .demand import Demand, LdsClocks, demands
from .flight import Flight, flights
from .instructions import Instruction
from .replay import Replay, is_serving, replay

_GLOBAL_LOADS = ("load", "direct_to_lds", "scratch")
_LDS_BYTES_AT_ONCE = 128  # what every CDNA LDS moves in a clock, reads and writes together (ISA)


@dataclass(frozen=True)
class LoopModel:
    """What the model says of one loop.

    waves: resident on a SIMD. bounds: resource -> clocks it is needed for, most first; the first is `limit`.
    utilisation: part of the time the matrix unit is busy if only `limit` counts (0 to 1). serial: the same if nothing
    overlaps. replay: with all waits, dependences and queues. per_mfma: instructions per MFMA, None without one.
    global_flight, lds_flight: clocks between loads and the waits that cover them. drains: waits for vmcnt(0).
    memory_bytes: that a compute unit loads in a trip. unshared: clocks that memory needs for these if no cache helps.
    lds_known: whether the clocks of LDS accesses come from their addresses. serving: further waves, whose trip is
    `service`; `waves` are those whose trip is `loop`.
    """

    waves: int
    bounds: dict[str, float]
    utilisation: float
    serial: float
    per_mfma: float | None
    global_flight: Flight | None
    lds_flight: Flight | None
    drains: int
    waits: int
    barriers: int
    memory_bytes: int
    unshared: float
    lds_known: bool
    replay: Replay
    loop: list[Demand]
    serving: int = 0
    service: Sequence[Demand] = ()

    def demand(self, wave: int, index: int) -> Demand:
        """Instruction number `index` of a wave's trip."""
        serves = bool(self.service) and is_serving(wave, self.replay.waves_per_group)
        return (self.service if serves else self.loop)[index]

    @property
    def limit(self) -> str:
        """The resource that bounds the loop."""
        return next(iter(self.bounds))

    def to_json(self) -> dict[str, object]:
        """Plain data."""
        return {
            "waves_per_simd": self.waves,
            "serving_waves_per_simd": self.serving,
            "bounds": {k: round(v, 1) for k, v in self.bounds.items()},
            "limit": self.limit,
            "mfma_utilisation": round(self.utilisation, 4),
            "mfma_utilisation_serial": round(self.serial, 4),
            "mfma_utilisation_replayed": round(self.replay.utilisation, 4),
            "replayed_clocks": round(self.replay.clocks, 1),
            "stalls": {k: round(v, 1) for k, v in self.replay.stalls.items()},
            "instructions_per_mfma": None if self.per_mfma is None else round(self.per_mfma, 3),
            "global_load_flight": self.global_flight.to_json() if self.global_flight else None,
            "lds_read_flight": self.lds_flight.to_json() if self.lds_flight else None,
            "vmcnt_0": self.drains,
            "waits": self.waits,
            "barriers": self.barriers,
            "memory_bytes": self.memory_bytes,
            "memory_clocks_without_reuse": round(self.unshared, 1),
            "lds_conflicts_known": self.lds_known,
        }


def model(
    body: Sequence[Instruction],
    target: Target,
    waves: int,
    waves_per_group: int,
    lds: LdsClocks | None = None,
    service: Sequence[Instruction] = (),
) -> LoopModel | None:
    """The model of a trip's instructions for `waves` waves on each SIMD; None for a target without rates (no MFMA).

    waves_per_group: waves of one workgroup on a SIMD. lds: clocks of LDS accesses whose addresses are known. service:
    the trip of every other wave of a group, which copies to LDS, where the waves have two programs.
    """
    if not body or not any(k.instruction.mnemonic.startswith("v_mfma") for k in target.kinds):
        return None
    loop = demands(body, target, lds)
    other = demands(service, target, lds)
    waves = max(1, waves)
    serving = waves // 2 if other else 0
    waves -= serving
    matrix = waves * sum(d.clocks for d in loop if d.unit == "mfma")
    bounds = _bounds(loop, target, waves)
    for name, clocks in _bounds(other, target, serving).items():
        bounds[name] = max(bounds[name], clocks) if name == "issue of one wave" else bounds[name] + clocks
    count = sum(d.unit == "mfma" for d in loop)
    longest = max(bounds.values())
    own_issue = sum(d.issue for d in loop if d.unit != "mfma")
    serial = matrix / waves + own_issue + bounds["LDS"] / waves
    loads = sum(
        d.data * number
        for trip, number in ((loop, waves), (other, serving))
        for d in trip
        if d.kind in ("load", "direct_to_lds")
    )
    loads *= target.simds_per_compute_unit
    return LoopModel(
        waves=waves,
        bounds=dict(sorted(bounds.items(), key=lambda item: -item[1])),
        utilisation=matrix / longest if longest else 0.0,
        serial=matrix / waves / serial if serial else 0.0,
        per_mfma=len(loop) / count if count else None,
        global_flight=flights(loop, "vm", _GLOBAL_LOADS),
        lds_flight=flights(loop, "lgkm", ("lds_read",)),
        drains=sum(d.waits[0] == 0 for d in (*loop, *other)),
        waits=sum(d.kind == "wait" for d in loop),
        barriers=sum(d.kind == "barrier" for d in loop),
        memory_bytes=loads,
        unshared=loads / _memory_bytes_per_clock(target),
        lds_known=bool(lds),
        replay=replay(loop, target, waves + serving, waves_per_group, other),
        loop=loop,
        serving=serving,
        service=other,
    )


def _bounds(loop: Sequence[Demand], target: Target, waves: int) -> dict[str, float]:
    """Clocks of each resource, in the order in which equals are named."""
    simds = target.simds_per_compute_unit
    matrix = sum(d.clocks for d in loop if d.unit == "mfma")
    turns = TURN * sum(d.unit == "mfma" for d in loop)
    vmem = [d for d in loop if d.unit == "vmem"]
    direct = sum(d.data for d in vmem if d.kind == "direct_to_lds") / _LDS_BYTES_AT_ONCE
    return {
        "MFMA": waves * matrix,
        "issue of one wave": sum(d.issue for d in loop if d.unit != "mfma") + turns,
        "VALU": waves * (sum(d.clocks for d in loop if d.unit == "valu") + turns),
        "SALU": waves * sum(d.clocks for d in loop if d.unit == "salu"),
        "LDS": waves * simds * (sum(d.clocks for d in loop if d.unit == "lds") + direct),
        "VMEM issue": waves * TURN * len(vmem),
        "VMEM bytes": waves * simds * sum(d.data for d in vmem) / target.vector_memory_bytes_per_clock,
    }


def _memory_bytes_per_clock(target: Target) -> float:
    """A compute unit's share of the memory bandwidth, in bytes a clock."""
    return target.memory_tb_per_s * 1e12 / (target.compute_units * target.clock_ghz * 1e9)
