"""Bad input through every tool: exit code 1, exactly one located error, no file left behind."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from gemm_cases import GemmCase, gemm_text
from wave_mlir.compiler import outputs
from wave_mlir.tools import wave

GOOD = gemm_text(GemmCase("gfx942", "f16", 16, "shared", (64, 64, 32), (2, 2), 64, 64, 64))


def _with(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new)


BAD = {
    "malformed": (_with("wave.yield %z", "wave.yeld %z"), r"wave\.yeld"),
    "cut off": (GOOD[: len(GOOD) // 2], r"expected"),
    "empty brackets": ("module {", r"expected|region"),
    "not text": ("\0\1\2", r"."),
    "undefined value": (_with("wave.mma %x, %y, %acc", "wave.mma %x, %q, %acc"), r"undeclared SSA value"),
    "unknown attribute": (_with("#wave.tiling<K, BLOCK_K>", "#wave.tilling<K, BLOCK_K>"), r"tilling"),
    "constraints": (
        _with("#wave.tiling<K, BLOCK_K>", "#wave.tiling<K, BLOCK_K>, #wave.workgroup<M, 32, z>"),
        r"two|M is|already",
    ),
    "no tiling": (_with("#wave.tiling<K, BLOCK_K>,", ""), r"tiling"),
    "waves": (_with("BLOCK_M floordiv 2", "BLOCK_M floordiv 3"), r"divi"),
    "mma": (_with("mma = f32_16x16x16_f16", "mma = f32_16x16x32_f16"), r"gfx942 has no MMA kind 'f32_16x16x32_f16'"),
    "mma name": (_with("mma = f32_16x16x16_f16", "mma = f32_16x16x5_f16"), r"f32_16x16x5_f16"),
    "lds": (_with("BLOCK_K = 32", "BLOCK_K = 512"), r"LDS"),
    "dtype": (_with("!wave.memory<[N, K], f16, shared>", "!wave.memory<[N, K], bf16, shared>"), r"bf16"),
    "dtype of mma": (GOOD.replace("f16, shared", "i8, shared").replace("K], f16>", "K], i8>"), r"i8|i32"),
    "target": (_with('"gfx942"', '"gfx943"'), r"unknown target 'gfx943'"),
    "form": (_with('"tile"', '"tyle"'), r"tyle"),
}  # fmt: skip

COMMANDS = {
    "compile": ["wave", "compile", "in.mlir", "-o", "out"],
    "isa": ["wave", "compile", "in.mlir", "--emit", "isa", "-o", "out"],
    "run": ["wave", "run", "in.mlir"],
    "report": ["wave", "report", "in.mlir"],
    "opt": ["wave-opt", "in.mlir", "--pipeline=default{target=gfx942}", "-o", "out"],
}
ERROR = re.compile(r"^(.*?)(?::(\d+):(\d+))?: error: (.*)$")


@dataclass
class Done:
    """What a tool did."""

    code: int
    out: str
    err: str

    @property
    def error(self) -> re.Match[str]:
        """The only error that was printed: file, line, column, text."""
        assert self.code == 1, (self.code, self.err)
        errors = [found for line in self.err.splitlines() if (found := ERROR.match(line))]
        assert len(errors) == sum("error:" in line for line in self.err.splitlines()) == 1, self.err
        assert "Traceback" not in self.err and "internal error" not in self.err, self.err
        return errors[0]


Tool = Callable[..., Done]


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Tool:
    """Runs `wave` in this process, and `wave-opt` in one of its own, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(name: str, *arguments: str) -> Done:
        if name == "wave":
            try:
                code = wave.main(arguments)
            except SystemExit as e:
                code = e.code
            assert isinstance(code, int)
        else:
            command = [sys.executable, "-m", "wave_mlir.tools.wave_opt", *arguments]
            code = subprocess.run(command, check=False).returncode
        return Done(code, *capfd.readouterr())

    return run


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", BAD)
def test_bad_module(kind: str, command: str, tool: Tool, tmp_path: Path) -> None:
    text, wanted = BAD[kind]
    (tmp_path / "in.mlir").write_text(text)
    done = tool(*COMMANDS[command])
    error = done.error
    assert error[1].endswith("in.mlir") and error[2] and re.search(wanted, error[4]), done.err
    assert done.out == ""
    assert os.listdir(tmp_path) == ["in.mlir"]


def test_the_module_is_good_otherwise(tool: Tool, tmp_path: Path) -> None:
    (tmp_path / "in.mlir").write_text(GOOD)
    for command in COMMANDS.values():
        assert tool(*command).code == 0
    assert sorted(os.listdir(tmp_path)) == ["in.mlir", "out", "out.json"]


USAGE = {
    "pipeline": (["wave-opt", "in.mlir", "--pipeline=defualt", "-o", "out"], "there is no pipeline 'defualt'"),
    "option of a pipeline": (["wave-opt", "in.mlir", "--pipeline=default{targt=a}", "-o", "out"], "no option 'targt'"),
    "value of an option": (["wave-opt", "in.mlir", "--pipeline=default{verify=7}", "-o", "out"], "bad value '7'"),
    "target": (["wave-opt", "in.mlir", "--pipeline=default{target=gfx1}", "-o", "out"], "gfx1"),
    "pass": (["wave-opt", "in.mlir", "--pass-pipeline=builtin.module(wave-x)", "-o", "out"], "'wave-x' does not"),
    "option of a pass": (["wave-opt", "in.mlir", "--wave-promote=limt=1", "-o", "out"], "no option 'limt'"),
    "form to emit": (["wave", "compile", "in.mlir", "--emit", "elf", "-o", "out"], "invalid choice: 'elf'"),
    "option of compile": (["wave", "compile", "in.mlir", "-o", "out", "--bogus"], "--bogus"),
    "option of run": (["wave", "run", "in.mlir", "--emit", "isa"], "--emit"),
    "option of report": (["wave", "report", "in.mlir", "-o", "out"], "-o"),
    "command": (["wave", "comple", "in.mlir"], "comple"),
    "no command": (["wave"], "required"),
    "no file": (["wave", "compile"], "FILE"),
    "no output": (["wave", "compile", "in.mlir"], "name a file with -o"),
    "symbol": (["wave", "compile", "in.mlir", "--set", "Q=3", "-o", "out"], "no kernel has a static symbol 'Q'"),
    "no number": (["wave", "compile", "in.mlir", "--set", "M=x", "-o", "out"], "'M=x' is not NAME=VALUE"),
    "large number": (["wave", "compile", "in.mlir", "--set", f"M={1 << 63}", "-o", "out"], "does not fit 64 bits"),
    "negative size": (["wave", "compile", "in.mlir", "--set", "M=-3", "-o", "out"], "a has -3 elements along M"),
    "chip": (["wave", "compile", "in.mlir", "--target", "gfx943", "-o", "out"], "unknown target 'gfx943'"),
    "kernel of compile": (["wave", "compile", "in.mlir", "--kernel", "g", "-o", "out"], "no kernel 'g'"),
    "kernel of run": (["wave", "run", "in.mlir", "--kernel", "g"], "no kernel 'g'"),
    "kernel of report": (["wave", "report", "in.mlir", "--kernel", "g"], "no kernel 'g'"),
    "input as output": (["wave", "compile", "in.mlir", "-o", "./in.mlir", "--emit", "isa"], "place of the input"),
    "no input": (["wave", "compile", "no.mlir", "-o", "out"], "no.mlir: error: No such file"),
    "no input to run": (["wave", "run", "no.mlir"], "no.mlir: error: No such file"),
    "no input to report": (["wave", "report", "no.mlir"], "no.mlir: error: No such file"),
    "no assembly": (["wave", "report", "no.s"], "no.s: error: No such file"),
    "no code object": (["wave", "report", "no.hsaco"], "no.hsaco: error: No such file"),
    "a folder as input": (["wave", "compile", "folder", "-o", "out"], "folder: error: Is a directory"),
    "a folder to report": (["wave", "report", "folder"], "folder: error: Is a directory"),
    "no assembly in it": (["wave", "report", "folder/other"], "no AMDGPU function"),
    "a folder as output": (["wave", "compile", "in.mlir", "-o", "folder"], "folder: error: Is a directory"),
    "a folder beside it": (["wave", "compile", "in.mlir", "-o", "folder/b"], "folder/b.json: error: Is a directory"),
    "output in no folder": (["wave", "compile", "in.mlir", "-o", "no/out"], "no/out: error: No such file"),
    "output below a file": (["wave", "compile", "in.mlir", "-o", "in.mlir/out"], "in.mlir/out: error: Not a directory"),
}  # fmt: skip


@pytest.mark.parametrize("kind", USAGE)
def test_bad_usage(kind: str, tool: Tool, tmp_path: Path) -> None:
    (tmp_path / "in.mlir").write_text(GOOD)
    (tmp_path / "folder" / "b.json").mkdir(parents=True)
    (tmp_path / "folder" / "other").write_text("text")
    command, wanted = USAGE[kind]
    done = tool(*command)
    assert done.error and wanted in done.err, done.err
    assert done.out == ""
    assert sorted(os.listdir(tmp_path)) == ["folder", "in.mlir"]
    assert sorted(os.listdir(tmp_path / "folder")) == ["b.json", "other"]
    assert (tmp_path / "in.mlir").read_text() == GOOD


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["no.mlir", "-o", "out"], "cannot open input file 'no.mlir': No such file or directory"),
        (["in.mlir", "-o", "folder"], "cannot open output file 'folder': Is a directory"),
        (["in.mlir", "-o", "no/out"], "cannot open output file 'no/out': No such file or directory"),
        (["in.mlir", "--bogus", "-o", "out"], "Unknown command line argument '--bogus'"),
    ],
)
def test_files_of_wave_opt(arguments: list[str], wanted: str, tool: Tool, tmp_path: Path) -> None:
    """These are MLIR's own messages."""
    (tmp_path / "in.mlir").write_text(GOOD)
    (tmp_path / "folder").mkdir()
    done = tool("wave-opt", *arguments)
    assert (done.code, done.out) == (1, "") and wanted in done.err
    assert sorted(os.listdir(tmp_path)) == ["folder", "in.mlir"]


def test_an_old_output_stays_when_compiling_fails(tool: Tool, tmp_path: Path) -> None:
    (tmp_path / "in.mlir").write_text(BAD["lds"][0])
    (tmp_path / "out").write_text("old")
    assert tool("wave", "compile", "in.mlir", "-o", "out").code == 1
    assert (tmp_path / "out").read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["in.mlir", "out"]


# --- writing files ---


def test_interrupt_while_writing_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever the interrupt comes: before, between and after the files are moved to their places."""
    for function in ("fdopen", "chmod", "replace"):
        for turn in (1, 2):
            real, calls = getattr(os, function), []

            def interrupted(*arguments, real=real, calls=calls, turn=turn):
                calls.append(arguments)
                if len(calls) == turn:
                    raise KeyboardInterrupt
                return real(*arguments)

            with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
                patch.setattr(os, function, interrupted)
                outputs.write_atomically({tmp_path / "a": "1", tmp_path / "a.json": b"2"})
            assert os.listdir(tmp_path) == [], (function, turn)


@pytest.mark.parametrize("handler", ["default_int_handler", "SIG_IGN"])
def test_interrupt_of_a_tool(tmp_path: Path, handler: str) -> None:
    """An interrupt while it compiles: exit code 130, one line, no file; also where a shell has Control-C ignored."""
    large = gemm_text(GemmCase("gfx942", "f16", 16, "shared", (256, 256, 64), (2, 2), 300, 300, 300))
    (tmp_path / "in.mlir").write_text(large)
    command = [sys.executable, "-c", _INTERRUPTED.replace("HANDLER", handler), "compile", "in.mlir", "-o", "out"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "wave: interrupted\n")
    assert os.listdir(tmp_path) == ["in.mlir"]


_INTERRUPTED = """
import signal, sys
from wave_mlir.compiler import pass_registry
from wave_mlir.tools import wave
signal.signal(signal.SIGINT, signal.HANDLER)
run = pass_registry._run_checked
def interrupted(instance, op):  # as if Control-C came in the middle of a pass
    if instance.info.name == "wave-expand":
        raise KeyboardInterrupt
    run(instance, op)
pass_registry._run_checked = interrupted
sys.exit(wave.main(sys.argv[1:]))
"""


def test_a_device_stays_a_device(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as reader:
        got = reader.submit(pipe.read_bytes)
        outputs.write_atomically({pipe: "text"})
        assert got.result(timeout=10) == b"text"
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    outputs.write_atomically({tmp_path / "link": "text"})
    assert (tmp_path / "link").is_symlink() and (tmp_path / "file").read_text() == "text"
