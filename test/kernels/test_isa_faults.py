"""Faults planted in machine code are found, each of them, and nothing is found in the code as it was.

Planted: every barrier removed; every wait removed and loosened; the offset of every access to LDS and global memory
shifted; every mask of lanes that guards an access to global memory widened. A barrier or an offset must be missed
always; a wait when `fault_waits` finds by its own account that something depends on it, and only then; a mask when any
access moved more bytes with it widened than before (else it let all lanes through that got so far). Masks that guard
LDS alone are left out: waves that hold copies of a value may all store it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

import numpy as np
import pytest
from fault_kernels import NAMES, Subject, subject
from fault_waits import MOST, Account, counts_of
from wave_mlir.isa import IsaError, IsaRun

ORDERS = ("forward", "reverse", "round-robin")
LIMIT = 200_000
"""Instructions of a run, so that a fault that makes a loop endless ends too."""
_ACCESS = ("ds_read", "ds_write", "global_", "buffer_")
_COMPARED = re.compile(r"(?<=[ ,])(\d+|0x[0-9a-f]+)(?=, v)")


def _replaced(kernel: Subject, number: int, text: str) -> str:
    """The assembly with line `number` (from 1) replaced."""
    lines = kernel.text.split("\n")
    lines[number - 1] = "\t" + text
    return "\n".join(lines)


def _outcome(kernel: Subject, text: str, want: np.ndarray, order: str = "random", seed: int = 0) -> str:
    """Kind of the finding; "numbers" when there is none but another result; "" when nothing differs.

    Alignment is not checked: that alone would find most shifted offsets.
    """
    try:
        _, result = kernel.run(text, order=order, seed=seed, limit=LIMIT, alignment=False)
    except IsaError as error:
        return error.finding.kind
    return "" if np.array_equal(result, want) else "numbers"


def _instructions(run: IsaRun, kernel: Subject) -> Iterator[tuple[int, int, str]]:
    """(index, line number, text without comment) of each instruction."""
    lines = kernel.text.split("\n")
    for index, line in enumerate(run.program.lines):
        yield index, line.number, lines[line.number - 1].split(";")[0].strip()


def _clean(name: str, seeds: range) -> None:
    kernel = subject(name)
    _, want = kernel.run(seed=1000)
    for order, seed in [("random", s) for s in seeds] + [(order, 0) for order in ORDERS]:
        run, result = kernel.run(order=order, seed=seed)
        assert not run.findings
        np.testing.assert_array_equal(result, want)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_found_without_a_fault(name: str) -> None:
    _clean(name, range(3))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_found_without_a_fault_under_many_seeds(name: str) -> None:
    _clean(name, range(20))


@pytest.mark.parametrize("name", NAMES)
def test_barriers(name: str) -> None:
    kernel = subject(name)
    run, want = kernel.run()
    barriers = [number for _, number, text in _instructions(run, kernel) if text == "s_barrier"]
    assert barriers
    for number in barriers:
        text = _replaced(kernel, number, "s_nop 0")
        kinds = {_outcome(kernel, text, want, order) for order in ("random", *ORDERS)}
        assert kinds <= {"race", "unwritten"}, f"line {number}: {kinds}"
        found, _ = kernel.run(text, collect=True, limit=LIMIT)
        assert "race" in {f.kind for f in found.findings}, f"line {number}"


def _loosened(counts: dict[str, int], every: bool) -> Iterator[dict[str, int]]:
    """The wait's counts with one of them raised: to all values above, or to what is no wait."""
    for name, count in counts.items():
        for more in range(count + 1, MOST[name] + 1) if every else [MOST[name]]:
            yield {**counts, name: more}


def _waits(name: str, orders: tuple[str, ...], every: bool) -> None:
    kernel = subject(name)
    run, want = kernel.run(trace=1, order="forward")
    lines = [line.text for line in run.program.lines]
    account = Account(lines, [(int(e["wave"]), int(e["instruction"])) for e in run.trace])
    assert not list(account.faults({}))
    needed = 0
    for index, number, text in _instructions(run, kernel):
        for counts in _loosened(counts_of(text), every) if text.startswith("s_waitcnt") else ():
            spelled = " ".join(f"{k}({v})" for k, v in counts.items())
            planted = _replaced(kernel, number, f"s_waitcnt {spelled}")
            reason = next(account.faults({index: counts}), None)
            allowed = {"wait", "race", "unwritten"} if reason else {""}
            needed += reason is not None
            for order in orders:
                kind = _outcome(kernel, planted, want, order)
                assert kind in allowed, f"line {number}, {text} as {spelled}, {order}: '{kind}' is found; {reason}"
    assert needed


@pytest.mark.parametrize("name", NAMES)
def test_waits_removed(name: str) -> None:
    _waits(name, ("random",), every=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_waits_loosened(name: str) -> None:
    _waits(name, ("random", "forward", "reverse"), every=True)


def _shifted(text: str) -> str:
    """The access four bytes on; two addresses of one: the second one element on."""
    if found := re.search(r"offset1:(\d+)", text):
        return text.replace(found[0], f"offset1:{int(found[1]) + 1}")
    if re.match(r"ds_(read|write)2", text):
        return f"{text} offset1:2"
    found = re.search(r"\boffset:(-?\d+)", text)
    return text.replace(found[0], f"offset:{int(found[1]) + 4}") if found else f"{text} offset:4"


def _offsets(name: str, step: int) -> None:
    kernel = subject(name)
    run, want = kernel.run()
    accesses = [(n, text) for _, n, text in _instructions(run, kernel) if text.startswith(_ACCESS)]
    assert accesses
    for number, text in accesses[::step]:
        kind = _outcome(kernel, _replaced(kernel, number, _shifted(text)), want)
        assert kind in {"numbers", "bounds", "unwritten", "race"}, f"line {number}, {text}: '{kind}' is found"


@pytest.mark.parametrize("name", NAMES)
def test_some_offsets(name: str) -> None:
    _offsets(name, 4)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_all_offsets(name: str) -> None:
    _offsets(name, 1)


def _accesses(run: IsaRun) -> list[tuple[int, int]]:
    return list(zip(run.bytes.tolist(), run.segments.tolist(), strict=True))


def _guarded(kernel: Subject) -> list[tuple[int, str]]:
    """(line, saved EXEC) of each s_and_saveexec before a block with an access to global memory."""
    lines = [line.split(";")[0].strip() for line in kernel.text.split("\n")]
    found = []
    for i, (text, after) in enumerate(itertools.pairwise(lines)):
        mask = re.match(r"s_and_saveexec_b64 (\S+), ", text)
        branch = re.match(r"s_cbranch_exec(n?z) (\S+)", after)
        if not mask or not branch:
            continue
        start = i + 2 if branch[1] == "z" else lines.index(f"{branch[2]}:") + 1
        start += lines[start].endswith(":")
        end = next(n for n, line in enumerate(lines) if n >= start and re.match(r"\S+:$|s_endpgm", line))
        if any(line.startswith("global_") for line in lines[start:end]):
            found.append((i + 1, mask[1]))
    return found


def _chosen_offsets(kernel: Subject) -> list[tuple[int, str]]:
    """(line, the same without the choice) of each v_cndmask whose result is the offset of an access to a buffer: it
    takes an offset out of range where the mask is off."""
    lines = [line.split(";")[0].strip() for line in kernel.text.split("\n")]
    found = []
    for i, text in enumerate(lines):
        choice = re.match(r"v_cndmask_b32_e(?:32|64) (v\d+), v\d+, (v\d+), ", text)
        if choice and any(re.match(rf"buffer_\w+ \S+, {choice[1]}, .* offen", line) for line in lines[i:]):
            found.append((i + 1, f"v_mov_b32_e32 {choice[1]}, {choice[2]}"))
    return found


@pytest.mark.parametrize("name", ["gemm-ragged", "attention"])
def test_lane_masks(name: str) -> None:
    kernel = subject(name)
    run, want = kernel.run(seed=0)
    found = 0
    for number, saved in _guarded(kernel):
        planted = _replaced(kernel, number, f"s_mov_b64 {saved}, exec")
        kind = _outcome(kernel, planted, want)
        assert kind in {"", "bounds", "race", "unwritten", "numbers"}
        if not kind:
            assert _accesses(kernel.run(planted, seed=0)[0]) == _accesses(run), f"line {number}"
        found += kind != ""
    for number, text in _chosen_offsets(kernel):
        kind = _outcome(kernel, _replaced(kernel, number, text), want)
        assert kind in {"", "bounds", "race", "unwritten", "numbers"}
        found += kind != ""
    assert found >= 2


def test_bounds_of_loads_and_stores() -> None:
    """Sizes that the GEMM compares positions with, raised: it goes out of an array, or into another row."""
    kernel = subject("gemm-ragged")
    run, want = kernel.run()
    compared = 0
    for _, number, text in _instructions(run, kernel):
        if text.startswith("v_cmp_") and (size := _COMPARED.search(text)) and int(size[1], 0) > 1:
            large = "64" if "_e64" in text else "0x7fff"  # the longer form takes no literal
            planted = _replaced(kernel, number, f"{text[: size.start()]}{large}{text[size.end() :]}")
            assert _outcome(kernel, planted, want) in {"bounds", "numbers"}, f"line {number}: {text}"
            compared += 1
    assert compared >= 2
