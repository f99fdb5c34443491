"""Writing results: whole files or none."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from .abi import KernelABI


def write_atomically(files: Mapping[str | os.PathLike[str], str | bytes]) -> None:
    """Write all files, each by renaming a complete temporary one; if one cannot be written, none stays behind.

    A symbolic link is followed; what is there and is no regular file (a device, a pipe) is written to as it is.
    Raises OSError with the file's name as it was given.
    """
    for name in files:
        _check_writable(name)
    ready: list[tuple[str, str]] = []
    moved: list[str] = []
    name: str | os.PathLike[str] = ""
    try:
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            path = os.path.realpath(name)
            if os.path.exists(path) and not os.path.isfile(path):
                Path(path).write_bytes(data)
                continue
            handle, temporary = tempfile.mkstemp(prefix=f".{os.path.basename(path)}.", dir=os.path.dirname(path))
            ready.append((temporary, path))
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.chmod(temporary, 0o666 & ~_umask())
        for temporary, path in ready:
            os.replace(temporary, path)
            moved.append(path)
    except BaseException as error:  # an interrupt too
        for leftover in (*moved, *(temporary for temporary, _ in ready)):
            with contextlib.suppress(OSError):
                os.unlink(leftover)
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror, os.fspath(name)) from None
        raise


def check_can_write(name: str | os.PathLike[str]) -> None:
    """Raises the OSError with which `write_atomically` would end, before there is anything to write."""
    _check_writable(name)
    folder = os.path.dirname(os.path.realpath(name))
    if not os.path.exists(name) and not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(name))
    if not os.path.exists(name) and not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fspath(name))


def _check_writable(name: str | os.PathLike[str]) -> None:
    """Raises OSError for a folder and for a file that is write-protected."""
    if os.path.isdir(name):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(name))
    if os.path.exists(name) and not os.access(name, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fspath(name))


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def kernels_json(kernels: Sequence[KernelABI]) -> str:
    """What stands beside a code object: its target and its kernels, as `KernelABI.to_json` has them."""
    target = kernels[0].target if kernels else ""
    return json.dumps({"target": target, "kernels": [k.to_json() for k in kernels]}, indent=2) + "\n"
