"""The cache of compiled kernels on disk: content-addressed files, each checked when it is read.

An entry is a key (see `cache_key`) and has parts (the module in gpu form, assembly, code object), each a file of its
own. Files appear by renaming a complete one, so that any number of processes may share a folder without locks: two that
make the same part write the same bytes. What cannot be read as it was written counts as absent and is removed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import tempfile
import time
import warnings
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ENVIRONMENT_SWITCH = "WAVE_CACHE"
"""`0`, `off`, `no` or `false`: nothing is read from or written to disk."""
ENVIRONMENT_FOLDER = "WAVE_CACHE_DIR"
"""The folder, by default `wave-mlir` in $XDG_CACHE_HOME, which is ~/.cache by default."""
ENVIRONMENT_SIZE = "WAVE_CACHE_SIZE"
"""Most bytes that the folder may hold, with K, M or G for powers of 1024; 1G by default."""

DEFAULT_BYTES = 1 << 30
_MAGIC = b"wave-cache-1\n"
_HASH_BYTES = 32
_SUFFIX = ".part"
_TEMPORARY = ".tmp-"
_STALE_SECONDS = 3600.0
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_PART = re.compile(r"([0-9a-f]{64})\.([a-z]+)\.part")


class CacheError(ValueError):
    """A setting of the cache that has no meaning; the message says which and what to write."""


@dataclass(frozen=True)
class Part:
    """A file of the cache. key, name: which part of which entry. size: bytes on disk. used: seconds since the epoch."""

    key: str
    name: str
    size: int
    used: float
    path: Path


@dataclass(frozen=True)
class Usage:
    """What a cache holds: entries, files, bytes."""

    entries: int
    files: int
    size: int


def is_on() -> bool:
    """Does the environment leave the cache on?"""
    return os.environ.get(ENVIRONMENT_SWITCH, "").strip().lower() not in ("0", "off", "no", "false")


def default_folder() -> Path:
    """The folder that the environment names."""
    named = os.environ.get(ENVIRONMENT_FOLDER)
    if named:
        return Path(named).expanduser()
    base = os.environ.get("XDG_CACHE_HOME") or ""
    root = Path(base) if os.path.isabs(base) else Path("~/.cache").expanduser()
    return root / "wave-mlir"


def limit_from_environment() -> int:
    """Most bytes of the folder. Raises CacheError for what is no size."""
    text = os.environ.get(ENVIRONMENT_SIZE, "").strip().lower()
    if not text:
        return DEFAULT_BYTES
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", text)
    if not found:
        raise CacheError(f"{ENVIRONMENT_SIZE}={text} is no size; write bytes, or a number with K, M or G such as 512M")
    return int(float(found[1]) * _UNITS[found[2]])


class Store:
    """The files of one cache folder. Nothing here raises for what the disk does: a cache that fails is an empty one."""

    def __init__(self, folder: Path, limit: int = DEFAULT_BYTES) -> None:
        self.folder = folder
        self.limit = limit
        self._unseen = limit  # bytes written since the folder was last measured; at first nothing is known

    def get(self, key: str, name: str) -> bytes | None:
        """A part, None when it is not there or not as it was written. Reading marks it as used."""
        path = self._path(key, name)
        try:
            content = path.read_bytes()
        except OSError:
            return None
        data = _unpacked(content)
        if data is None:
            _remove(path)
            return None
        with contextlib.suppress(OSError):
            os.utime(path)
        return data

    def peek(self, part: Part) -> bytes | None:
        """The data of a file, which does not count as a use."""
        try:
            return _unpacked(part.path.read_bytes())
        except OSError:
            return None

    def put(self, key: str, name: str, data: bytes) -> None:
        """Keep a part. A folder that cannot be written to is a warning, once for each folder."""
        path = self._path(key, name)
        content = _packed(data)
        if len(content) > self.limit:
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            _write(path, content)
        except OSError as error:
            _warn_unwritable(self.folder, error)
            return
        self._unseen += len(content)
        if self._unseen * 16 >= self.limit:
            self.shrink()

    def parts(self) -> list[Part]:
        """All files, the least recently used first; files of other kinds are left out."""
        found = list(self._scan())
        return sorted(found, key=lambda p: (p.used, p.key, p.name))

    def usage(self) -> Usage:
        """Entries, files and bytes."""
        found = self.parts()
        return Usage(len({p.key for p in found}), len(found), sum(p.size for p in found))

    def shrink(self) -> int:
        """Remove what was not used for longest until the limit holds, and what killed processes left; bytes removed."""
        self._remove_leftovers()
        found = self.parts()
        total, removed = sum(p.size for p in found), 0
        # A little below the limit, so that the next write need not measure the folder again.
        wanted = self.limit if total <= self.limit else self.limit - self.limit // 10
        for part in found:
            if total - removed <= wanted:
                break
            _remove(part.path)
            removed += part.size
        self._unseen = 0
        return removed

    def clear(self) -> Usage:
        """Remove everything of the cache's own; says what was there."""
        before = self.usage()
        for part in self.parts():
            _remove(part.path)
        self._remove_leftovers(older_than=0.0)
        for shard in self._shards():
            with contextlib.suppress(OSError):
                shard.rmdir()
        return before

    def _path(self, key: str, name: str) -> Path:
        return self.folder / key[:2] / f"{key}.{name}{_SUFFIX}"

    def _shards(self) -> list[Path]:
        try:
            return sorted(p for p in self.folder.iterdir() if re.fullmatch("[0-9a-f]{2}", p.name))
        except OSError:
            return []

    def _scan(self) -> Iterator[Part]:
        for shard in self._shards():
            with contextlib.suppress(OSError), os.scandir(shard) as entries:
                for entry in entries:
                    matched = _PART.fullmatch(entry.name)
                    if matched:
                        with contextlib.suppress(OSError):  # another process may have removed it
                            stat = entry.stat()
                            yield Part(matched[1], matched[2], stat.st_size, stat.st_mtime, Path(entry.path))

    def _remove_leftovers(self, older_than: float = _STALE_SECONDS) -> None:
        """Temporary files of processes that ended while they wrote."""
        for shard in self._shards():
            for path in shard.glob(f"{_TEMPORARY}*"):
                with contextlib.suppress(OSError):
                    if time.time() - path.stat().st_mtime >= older_than:
                        path.unlink()


def _packed(data: bytes) -> bytes:
    return _MAGIC + hashlib.sha256(data).digest() + zlib.compress(data, 1)


def _unpacked(content: bytes) -> bytes | None:
    """The data of a file, None when anything of it is not as it was written."""
    start = len(_MAGIC) + _HASH_BYTES
    if not content.startswith(_MAGIC) or len(content) < start:
        return None
    try:
        data = zlib.decompress(content[start:])
    except zlib.error:
        return None
    return data if hashlib.sha256(data).digest() == content[len(_MAGIC) : start] else None


def _write(path: Path, content: bytes) -> None:
    handle, temporary = tempfile.mkstemp(prefix=_TEMPORARY, dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except BaseException:
        _remove(Path(temporary))
        raise


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


_warned: set[str] = set()


def _warn_unwritable(folder: Path, error: OSError) -> None:
    if str(folder) not in _warned:
        _warned.add(str(folder))
        warnings.warn(
            f"compiled kernels are not kept: {folder}: {error.strerror}; name another folder in {ENVIRONMENT_FOLDER}, "
            f"or set {ENVIRONMENT_SWITCH}=0",
            stacklevel=2,
        )


def current() -> Store | None:
    """The store that the environment asks for, None when it is off. Raises CacheError."""
    return _store(default_folder(), limit_from_environment()) if is_on() else None


_stores: dict[tuple[Path, int], Store] = {}


def _store(folder: Path, limit: int) -> Store:
    """One store a folder and process, so that writes are counted together."""
    return _stores.setdefault((folder, limit), Store(folder, limit))
