"""`wave report` of several kernels, of forms on the way, and with options that fit nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from wave_mlir.compiler import driver
from wave_mlir.tools import wave

INPUTS = Path(__file__).parents[2] / "tools" / "Inputs"
TILE = INPUTS / "gemm_tile.mlir"


@pytest.fixture(scope="module")
def machine_code() -> str:
    return driver.compile_file(INPUTS / "gemm_gpu.mlir").isa


def failed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a command that fails says: one error."""
    assert wave.main(list(arguments)) == 1
    out, error = capsys.readouterr()
    assert out == "" and error.count("error: ") == 1
    return error


def test_timelines_of_several_kernels(
    machine_code: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A kernel without a loop stands beside one that has one."""
    path = tmp_path / "both.s"
    path.write_text((INPUTS / "no_loop.s").read_text() + machine_code)
    assert wave.main(["report", str(path), "--timeline"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("k: no timeline, it has no loop\n\ngemm: a steady trip")
    said = failed(capsys, "report", str(path), "--timeline", "--kernel=k")
    assert "no timeline of kernel 'k': it has no loop" in said


def test_timeline_of_text_without_metadata(
    machine_code: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bare.s"
    path.write_text(machine_code.partition("\t.amdgpu_metadata")[0])
    text = "error: no timeline of kernel 'gemm': the text does not say its threads and LDS; give it with its amdhsa.ker"
    assert text in failed(capsys, "report", str(path), "--timeline")
    path.write_text(re.sub("gfx942", "gfx1100", path.read_text()))
    assert "there are no rates for gfx1100" in failed(capsys, "report", str(path), "--timeline")


def test_options_without_an_effect(machine_code: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "gemm.s"
    path.write_text(machine_code)
    more = ("--options", "schedule=modulo", "--target=gfx950", "-DK=64")
    text = "gemm.s: error: --options, --target, -D: this is machine code already; compile the kernel again"
    assert text in failed(capsys, "report", str(path), *more)
    assert "error: -D: this is machine code" in failed(capsys, "report", str(path), "-D", "K=64")
    for other in ("--lds", "--json"):
        assert f"--timeline is text of its own, {other} " in failed(capsys, "report", str(TILE), "--timeline", other)


@pytest.mark.parametrize("form", ["placed", "lane", "scheduled"])
def test_forms_on_the_way(form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What an earlier form would tell is left out; the rest is as from the start."""
    path = tmp_path / "gemm.mlir"
    path.write_text(driver.compile_file(TILE, until=form).ir(form))
    read, whole = (_data(capsys, path), _data(capsys, TILE))
    assert whole["kernels"][0].pop("l2") is not None and whole["lds"][0]["buffers"]
    assert (read["kernels"][0].pop("l2") is not None) == (form == "placed")
    assert read == whole


def _data(capsys: pytest.CaptureFixture[str], path: Path) -> dict:
    """What `wave report --lds --json` prints of a file, but places in the source."""
    assert wave.main(["report", str(path), "--lds", "--json"]) == 0
    return json.loads(re.sub(r'"where": "[^"]*"', '"where": ""', capsys.readouterr().out))


def test_an_error_comes_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that does not compile is not compiled again."""
    path, runs = tmp_path / "gemm.mlir", []
    path.write_text(TILE.read_text().replace("BLOCK_M floordiv 2", "BLOCK_M floordiv 3"))
    compiled = driver.compile_module
    monkeypatch.setattr(driver, "compile_module", lambda *a, **o: (runs.append(o), compiled(*a, **o))[1])
    failed(capsys, "report", str(path))
    assert len(runs) == 1


@pytest.mark.parametrize("command", ["compile", "report"])
def test_a_loop_that_is_not_scheduled(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The warning is on stderr, once."""
    path, out = tmp_path / "branch.mlir", tmp_path / "out.hsaco"
    text = TILE.read_text().replace("K = 64}", "K = 512}")
    path.write_text(text.replace("      %z = wave.mma", "      wave.conditional [K gt 0] { }\n      %z = wave.mma"))
    more = ["-o", str(out)] if command == "compile" else ["--timeline"]
    assert wave.main([command, str(path), "--options", "schedule=modulo", *more]) == 0
    said = capsys.readouterr().err.splitlines()
    assert re.match(r".*branch\.mlir:9:\d+: warning: this loop is not scheduled: 'wave\.conditional' ", said[0])
    assert re.match(r".*branch\.mlir:12:\d+: note: this op is in the way", said[1])
    assert len(said) == 2
