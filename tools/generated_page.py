"""What the generators of reference pages share: to write a page, or to say that it is stale."""

from __future__ import annotations

from pathlib import Path


def write_or_compare(page: Path, text: str, arguments: list[str]) -> int:
    """With --write among the arguments write the page; without it 1 when it is stale, after saying so, else 0."""
    if "--write" in arguments:
        page.write_text(text, encoding="utf-8")
        return 0
    if not page.exists() or page.read_text(encoding="utf-8") != text:
        print(f"docs/{page.name} is stale: run `make docs`")
        return 1
    return 0
