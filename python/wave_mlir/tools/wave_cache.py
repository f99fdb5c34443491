"""`wave cache`: what the cache of compiled kernels holds."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence

from wave_mlir.compiler import cache
from wave_mlir.compiler.diagnostics import CompileError, Diagnostic


def run(action: str) -> int:
    """Print what `action` (list, stats or clear) says; returns the exit code. It works while the cache is off too."""
    try:
        store = cache.Store(cache.default_folder(), cache.limit_from_environment())
    except cache.CacheError as error:
        raise CompileError([Diagnostic("error", "wave cache", str(error))]) from None
    {"list": _list, "stats": _stats, "clear": _clear}[action](store)
    return 0


def _list(store: cache.Store) -> None:
    """One line an entry, the most recently used first."""
    entries: dict[str, list[cache.Part]] = {}
    for part in reversed(store.parts()):
        entries.setdefault(part.key, []).append(part)
    for key, parts in entries.items():
        used = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(max(p.used for p in parts)))
        names = ",".join(sorted(p.name for p in parts))
        print(f"{key[:16]}  {used}  {size_text(sum(p.size for p in parts)):>9}  {names:<20}  {_kernels(store, parts)}")
    _stats(store)


def _kernels(store: cache.Store, parts: Sequence[cache.Part]) -> str:
    """Names of the kernels of an entry. Read from the file as it is: looking does not count as use."""
    described = next((store.peek(p) for p in parts if p.name == "abi"), None)
    if described is None:
        return "?"
    return ", ".join(f"{k['name']} ({k['target']})" for k in json.loads(described))


def _stats(store: cache.Store) -> None:
    usage = store.usage()
    state = "on" if cache.is_on() else f"off by {cache.ENVIRONMENT_SWITCH}"
    print(
        f"{usage.entries} entries, {usage.files} files, {size_text(usage.size)} of {size_text(store.limit)} "
        f"in {store.folder} ({state})"
    )


def _clear(store: cache.Store) -> None:
    before = store.clear()
    print(f"removed {before.entries} entries, {size_text(before.size)} from {store.folder}")


def size_text(size: int) -> str:
    """Bytes in a unit that suits: `1.5 MiB`."""
    number, unit = float(size), "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if number < 1024 or unit == "TiB":
            break
        number /= 1024
    return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
