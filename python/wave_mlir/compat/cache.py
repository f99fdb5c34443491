"""What the existing package says of its cache, of this one's (docs/runtime.md): is it on, and where?"""

from __future__ import annotations

from pathlib import Path

from wave_mlir.compiler import cache

__all__ = ["CACHE_BASE_DIR", "WAVE_CACHE_ON", "get_cache_base_dir", "is_cache_enabled"]

CACHE_BASE_DIR: Path = cache.default_folder()
"""The folder at the import. It is set by the environment, WAVE_CACHE_DIR, and not by this name."""
WAVE_CACHE_ON: int = int(cache.is_on())
"""Was the cache on at the import? It is set by the environment, WAVE_CACHE=off, or WaveCompileOptions(cache=False)."""


def is_cache_enabled() -> bool:
    """Does the environment leave the cache on?"""
    return cache.is_on()


def get_cache_base_dir() -> Path:
    """The folder that the environment names."""
    return cache.default_folder()
