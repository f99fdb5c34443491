"""A modelled timeline as JSON of Chrome's "Trace Event Format", which ui.perfetto.dev and chrome://tracing open.

One process a kind of track, one thread a track: waves (issues and waits), matrix units by SIMD, LDS, memory. A clock is
shown as a microsecond: the format has no clocks.
"""

from __future__ import annotations

from .timeline_result import TRACKS, Timeline

_PROCESSES = {"wave": "waves", "mfma": "matrix units", "lds": "LDS pipeline", "memory": "memory path"}
_THREADS = {"wave": "wave", "mfma": "SIMD", "lds": "LDS", "memory": "memory"}


def trace_events(timeline: Timeline) -> dict[str, object]:
    """The whole document: json.dump it to a file."""
    events: list[dict[str, object]] = []
    tracks = sorted({(s.track, s.index) for s in timeline.slices}, key=lambda t: (TRACKS.index(t[0]), t[1]))
    for track in dict.fromkeys(track for track, _ in tracks):
        events.append(_metadata("process_name", track, 0, _PROCESSES[track]))
    for track, index in tracks:
        alone = track in ("lds", "memory")
        events.append(_metadata("thread_name", track, index, _THREADS[track] + ("" if alone else f" {index}")))
    for item in timeline.slices:
        event = _slice(timeline, item.track, item.index, item.instruction, item.start, item.clocks)
        event["args"] = {"instruction": timeline.text(item.instruction), "wave": item.wave}
        event["args"]["source"] = timeline.program.source(item.instruction)
        events.append(event)
    for stall in timeline.stalls:
        event = _slice(timeline, "wave", stall.wave, stall.instruction, stall.start, stall.clocks)
        event |= {"name": f"wait: {stall.reason}", "cat": "stall", "args": {"for": timeline.text(stall.instruction)}}
        events.append(event)
    about = {"target": timeline.target, "unit": "1 us is 1 clock of the compute unit", "kind": "modelled, not measured"}
    about |= {"latency": str(timeline.latency), "bytes_per_clock": f"{timeline.bytes_per_clock:g}"}
    return {"traceEvents": events, "displayTimeUnit": "ns", "otherData": about}


def _metadata(kind: str, track: str, index: int, name: str) -> dict[str, object]:
    return {"ph": "M", "name": kind, "pid": TRACKS.index(track), "tid": index, "ts": 0, "args": {"name": name}}


def _slice(
    timeline: Timeline, track: str, index: int, instruction: int, start: float, clocks: float
) -> dict[str, object]:
    name = timeline.program.lines[instruction].mnemonic
    times = {"ts": start, "dur": clocks}
    return {"ph": "X", "name": name, "cat": track, "pid": TRACKS.index(track), "tid": index, **times}
