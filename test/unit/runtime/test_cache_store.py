"""The files of the cache: whole or absent, bounded, and never an error."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wave_mlir.compiler import cache
from wave_mlir.compiler.cache import Store
from wave_mlir.tools import wave

KEY, OTHER = "ab" + "0" * 62, "cd" + "1" * 62


def noise(size: int, seed: int = 0) -> bytes:
    """Bytes that do not compress."""
    import random

    return random.Random(seed).randbytes(size)


@pytest.mark.parametrize("data", [b"", b"x", noise(100_000), "ü\n".encode() * 1000])
def test_a_part_is_what_was_put(tmp_path: Path, data: bytes) -> None:
    store = Store(tmp_path)
    assert store.get(KEY, "isa") is None
    store.put(KEY, "isa", data)
    assert store.get(KEY, "isa") == data and store.get(KEY, "gpu") is None and store.get(OTHER, "isa") is None
    assert not [p for p in tmp_path.rglob("*") if p.name.startswith(".tmp")]


@given(at=st.integers(0, 10_000), value=st.integers(1, 255), cut=st.booleans())
def test_a_damaged_file_counts_as_absent(tmp_path_factory: pytest.TempPathFactory, at: int, value: int, cut: bool):
    store = Store(tmp_path_factory.mktemp("cache"))
    store.put(KEY, "hsaco", noise(500))
    (part,) = store.parts()
    content = bytearray(part.path.read_bytes())
    at %= len(content)
    content[at] ^= value
    part.path.write_bytes(content[:at] if cut else content)
    assert store.get(KEY, "hsaco") is None
    assert not part.path.exists()
    store.put(KEY, "hsaco", b"again")
    assert store.get(KEY, "hsaco") == b"again"


def test_least_recently_used_goes_first(tmp_path: Path) -> None:
    store = Store(tmp_path, limit=10_000)
    for number in range(8):
        store.put(f"{number:064x}", "isa", noise(1000, number))
        os.utime(store.parts()[-1].path)
        time.sleep(0.002)
    assert store.get(f"{0:064x}", "isa") is not None  # the oldest is used again
    for number in range(8, 12):
        time.sleep(0.002)
        store.put(f"{number:064x}", "isa", noise(1000, number))
    assert store.usage().size <= 10_000
    assert store.get(f"{0:064x}", "isa") is not None and store.get(f"{11:064x}", "isa") is not None
    assert store.get(f"{1:064x}", "isa") is None


def test_what_is_larger_than_the_limit_is_not_kept(tmp_path: Path) -> None:
    store = Store(tmp_path, limit=1000)
    store.put(KEY, "isa", noise(5000))
    assert store.parts() == []


def test_leftovers_of_killed_processes(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put(KEY, "isa", b"x")
    old, new = tmp_path / "ab" / ".tmp-old", tmp_path / "ab" / ".tmp-new"
    old.write_bytes(b"half"), new.write_bytes(b"half")
    os.utime(old, (0, 0))
    store.shrink()
    assert not old.exists() and new.exists()
    store.clear()
    assert not new.exists() and store.parts() == []


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "ab").mkdir()
    mine = tmp_path / "ab" / "notes.txt"
    mine.write_text("keep")
    store = Store(tmp_path, limit=1)
    store.shrink()
    store.clear()
    assert mine.read_text() == "keep"


def test_a_folder_that_cannot_be_is_one_warning(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = Store(tmp_path / "file" / "cache")
    with pytest.warns(UserWarning, match="compiled kernels are not kept.*WAVE_CACHE_DIR"):
        store.put(KEY, "isa", b"x")
    store.put(KEY, "isa", b"x")
    assert store.get(KEY, "isa") is None and store.usage().files == 0


@pytest.mark.parametrize(
    ("text", "size"), [("", 1 << 30), ("4096", 4096), ("512M", 512 << 20), ("1.5k", 1536), ("2GiB", 2 << 30)]
)
def test_size_of_the_environment(monkeypatch: pytest.MonkeyPatch, text: str, size: int) -> None:
    monkeypatch.setenv("WAVE_CACHE_SIZE", text)
    assert cache.limit_from_environment() == size


def test_folder_of_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("WAVE_CACHE_DIR", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache.default_folder() == tmp_path / ".cache" / "wave-mlir"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # which the XDG specification says to ignore
    assert cache.default_folder() == tmp_path / ".cache" / "wave-mlir"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache.default_folder() == tmp_path / "xdg" / "wave-mlir"
    monkeypatch.setenv("WAVE_CACHE_DIR", "~/kernels")
    assert cache.default_folder() == tmp_path / "kernels"


@pytest.mark.parametrize(("text", "on"), [("", True), ("1", True), ("0", False), ("off", False), ("False", False)])
def test_switch_of_the_environment(monkeypatch: pytest.MonkeyPatch, text: str, on: bool) -> None:
    monkeypatch.setenv("WAVE_CACHE", text)
    assert cache.is_on() is on and (cache.current() is not None) is on


_WRITER = """
import sys
from pathlib import Path
from wave_mlir.compiler.cache import Store
store = Store(Path(sys.argv[1]), limit=200_000)
import random
for turn in range(200):
    number = random.Random(turn * 7 + int(sys.argv[2])).randrange(40)
    key, data = f"{number:064x}", random.Random(number).randbytes(4000 + number)
    found = store.get(key, "isa")
    assert found in (None, data), number
    if found is None:
        store.put(key, "isa", data)
"""


def test_many_processes_write_and_evict_at_once(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _WRITER, str(tmp_path)]
    running = [subprocess.Popen([*command, str(n)]) for n in range(4)]
    assert [p.wait(timeout=120) for p in running] == [0] * 4
    store = Store(tmp_path, limit=200_000)
    assert 0 < store.usage().size <= 200_000
    assert not [p for p in tmp_path.rglob(".tmp*")]


def test_the_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("WAVE_CACHE_DIR", str(tmp_path))
    Store(tmp_path).put(KEY, "abi", b'[{"name": "gemm", "target": "gfx942"}]')
    Store(tmp_path).put(KEY, "isa", b"s_endpgm")
    assert wave.main(["cache", "list"]) == 0
    line, total = capsys.readouterr().out.splitlines()
    assert line.startswith(KEY[:16]) and "abi,isa" in line and line.endswith("gemm (gfx942)")
    assert total.startswith("1 entries, 2 files, ") and total.endswith("(off by WAVE_CACHE)")
    assert wave.main(["cache", "clear"]) == 0 and "removed 1 entries" in capsys.readouterr().out
    assert wave.main(["cache", "stats"]) == 0 and capsys.readouterr().out.startswith("0 entries")
    monkeypatch.setenv("WAVE_CACHE_SIZE", "large")
    assert wave.main(["cache", "stats"]) == 1
    assert "WAVE_CACHE_SIZE=large is no size; write bytes" in capsys.readouterr().err
