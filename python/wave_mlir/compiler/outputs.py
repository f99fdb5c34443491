"""Writing results: whole files or none."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from .abi import KernelABI


def write_atomically(files: Mapping[str | os.PathLike[str], str | bytes]) -> None:
    """Write all files, each by renaming a complete temporary one; if one cannot be written, none stays behind.

    Raises OSError.
    """
    ready: list[tuple[str, Path]] = []
    try:
        for name, content in files.items():
            path = Path(name)
            handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
            ready.append((temporary, path))
            with os.fdopen(handle, "wb") as file:
                file.write(content.encode() if isinstance(content, str) else content)
            os.chmod(temporary, 0o666 & ~_umask())
        for temporary, path in ready:
            os.replace(temporary, path)
    except OSError:
        for temporary, _ in ready:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        raise


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def kernels_json(kernels: Sequence[KernelABI]) -> str:
    """What stands beside a code object: its target and its kernels, as `KernelABI.to_json` has them."""
    target = kernels[0].target if kernels else ""
    return json.dumps({"target": target, "kernels": [k.to_json() for k in kernels]}, indent=2) + "\n"
