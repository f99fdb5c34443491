"""LDS buffers with common bytes, executed: exact results, all checks of both runners; wrong passes are found."""

from __future__ import annotations

import re

import numpy as np
import pytest
from mutations import Mutation, must_find, run, unverified
from wave_mlir.compiler import driver, lds_hazards
from wave_mlir.compiler.diagnostics import CompileError
from wave_mlir.compiler.lds_hazards import Program
from wave_mlir.compiler.pass_registry import run_passes
from wave_mlir.passes import place_barriers, share_shared

KERNEL = """
module attributes {{wave.form = "lane", wave.target = "gfx942"}} {{
  wave.kernel @k(%a: !wave.memory<[1024], f32, global>, %c: !wave.memory<[256], f32, global>)
      symbols {{M = 128, K = 256, BK = 32}} dynamic []
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.tiling<K, BK>,
                   #wave.hardware<threads_per_wave = 64>] {{
    %z = arith.constant dense<0.0> : vector<1xf32>
{body}
    wave.return
  }}
}}"""
OWN, OTHER = "wave.x * 64 + lane", "127 - wave.x * 64 - lane"
LDS, V = "!wave.memory<[10240], f32, shared>", "vector<1xf32>"
A, C = "!wave.memory<[1024], f32, global>", "!wave.memory<[256], f32, global>"


def _exchange(value: str, buffer: str, result: str) -> str:
    """Waves exchange a value by way of a buffer."""
    return f"""
      wave.write {value}, {buffer} index [{OWN}] : {V}, {LDS}
      {result} = wave.read {buffer} index [{OTHER}] : {LDS} -> {V}"""


def _loop(name: str, buffers: list[str], start: str) -> str:
    """Four trips: a value of `a` is exchanged by way of each buffer in turn; the sum of what comes back."""
    body, value = "", f"%x{name}"
    for number, buffer in enumerate(buffers):
        body += _exchange(value, buffer, f"%{name}{number}")
        value = f"%{name}{number}"
    return f"""
    %s{name} = wave.iterate K iv(%k{name}) trips(4) iter_args(%t{name} = {start} : {V}) {{
      %x{name} = wave.read %a index [iv.K * 128 + {OWN}] symbols(iv.K = %k{name}) : {A} -> {V}{body}
      %n{name} = arith.addf {value}, %t{name} : {V}
      wave.yield %n{name} : {V}
    }}"""


ALLOCATED = f"    %l = wave.allocate : {LDS}\n    %m = wave.allocate : {LDS}"
STORED = f"\n    wave.write %s{{}}, %c index [{OWN}] : {V}, {C}"
IN_TURN = KERNEL.format(body=ALLOCATED + _loop("p", ["%l"], "%z") + _loop("q", ["%m"], "%sp") + STORED.format("q"))
"""Two loops, each with a buffer of 40 KiB: both do not fit, but they are needed in turn."""
IN_A_TRIP = KERNEL.format(body=ALLOCATED + _loop("p", ["%l", "%m"], "%z") + STORED.format("p"))
"""One loop, of which each trip uses one buffer and then the other."""

VALUES = np.arange(1024, dtype=np.float32)
TRIPS = VALUES[:512].reshape(4, 128)
WANT = {IN_TURN: 2 * TRIPS[:, ::-1].sum(0), IN_A_TRIP: TRIPS.sum(0)}


def _check(text: str, barriers: int, passes: str = "") -> str:
    """Run a kernel, after some passes; its scheduled form."""
    want = np.concatenate([WANT[text], np.zeros(128, np.float32)])
    module = driver.parse(text)
    with module.context:
        if passes:
            run_passes(module, passes)
        text = str(module)
    made = run(text, [VALUES, np.zeros(256, np.float32)], {1: want})
    scheduled = made.ir("scheduled")
    assert re.findall(r"allocate offset (\d+)", scheduled) == ["0", "0"]
    assert scheduled.count("wave.shared_memory_barrier") == barriers
    c = np.zeros(256, np.float32)
    made.run_isa(VALUES, c, seed=1)
    np.testing.assert_array_equal(c, want)
    return scheduled


def in_turn() -> None:
    """The barrier that ends the first loop's trips serves the second buffer's write, too."""
    _check(IN_TURN, 4)


def in_a_trip() -> None:
    """One barrier for each buffer's exchange and one for each change of buffers, around the loop too."""
    _check(IN_A_TRIP, 4)


def copied() -> None:
    """Direct copies to a buffer whose bytes another one had: after all reads of that one, and waited for."""
    made = _check(IN_TURN, 4, "wave-gather-to-shared")
    assert made.count("wave.gather_to_shared") == 2 == made.count("barrier wait_async")


RACE = "no barrier separates|race: "
LOST = "has overwritten|not equal|race: "


def _dropping(number: int):
    def wrong(intervals, given, allowed):
        points = stab(intervals, given, allowed)
        return points and [p for i, p in enumerate(points) if i != number]

    return wrong


def _all_at_any_time(kernel, found):
    return [(n, n) for n, _ in enumerate(found)]


stab = place_barriers.stab
HAZARDS = Mutation("hazards by buffer", lds_hazards, "families", lambda _: {}, RACE)
MUTATIONS = [
    *(pytest.param(in_a_trip, Mutation(f"barrier {n} dropped", place_barriers, "stab", _dropping(n), RACE), id=f"{n}")
      for n in range(4)),
    pytest.param(in_turn, Mutation("a barrier dropped", place_barriers, "stab", _dropping(1), RACE), id="in-turn"),
    pytest.param(in_a_trip, HAZARDS, id="by-buffer"),
    pytest.param(copied, Mutation("no barrier waits", place_barriers._Placer, "_wait", lambda *_: None,
                                  "still be in flight|async: "), id="copies"),
    pytest.param(in_a_trip, Mutation("way round", Program, "_around", lambda *_: iter(()), RACE), id="way-round"),
]  # fmt: skip


@pytest.mark.parametrize("check", [in_turn, in_a_trip, copied])
def test_right(check) -> None:
    check()


@pytest.mark.parametrize(("check", "mutation"), MUTATIONS)
def test_missing_barriers_are_found(check, mutation: Mutation) -> None:
    must_find(check, mutation)
    with unverified():
        must_find(check, mutation)


BOTH_NEEDED = KERNEL.format(body=f"""{ALLOCATED.replace("10240", "4096")}
    wave.write %z, %m index [{OWN}] : {V}, {LDS.replace("10240", "4096")}{_exchange("%z", "%l", "%y")
        .replace("10240", "4096")}
    %w = wave.read %m index [{OTHER}] : {LDS.replace("10240", "4096")} -> {V}
    %s = arith.addf %y, %w : {V}{STORED.format("")}""")  # fmt: skip


def both_needed() -> None:
    """A buffer that is read after another one was used keeps bytes of its own."""
    run(BOTH_NEEDED, [VALUES, np.ones(256, np.float32)], {1: np.repeat(np.float32([0, 1]), 128)})


def test_what_is_needed_at_one_time_is_apart() -> None:
    both_needed()
    always = Mutation("all share", share_shared, "outer_lifetimes", _all_at_any_time, LOST)
    must_find(both_needed, always)


@pytest.mark.parametrize(
    ("index", "mask"),
    [("iv.K mod 2 * 128 + 127 - wave.x * 64 - lane", ""), (OTHER, "mask %half ")],
    ids=["written-by-earlier-trips", "left-by-masks"],
)
def test_what_a_later_trip_may_need_is_kept(index: str, mask: str) -> None:
    """Buffers of one trip share bytes only if the trip writes all that it reads; else these do not fit."""
    text = IN_A_TRIP.replace("    %z =", "    %half = wave.mask [lane lt 32] : vector<1xi1>\n    %z =", 1)
    text = text.replace("wave.write %xp, %l index", f"wave.write %xp, %l {mask}index")
    other = f"%p0 = wave.read %l index [{index}] symbols(iv.K = %kp)"
    text = text.replace(f"%p0 = wave.read %l index [{OTHER}]", other)
    with pytest.raises(CompileError, match="needs 81920 bytes of LDS and gfx942 has 65536"):
        driver.compile_module(text)
