"""Each error that the compiler can raise is exercised by a test: a list made from the sources, not by hand."""

from __future__ import annotations

from pathlib import Path

import error_sites
import pytest
from error_sites import HOLE, ROOT, Site, shared_letters, unexercised

# Errors that no test can provoke, by the start of their text, and why they are there.
UNREACHABLE = {
    "a mapping has one iterator for each dim": "the syntax and the Python class pair each iterator with its dim",
    "the position of a dynamic value is an expression": "the syntax and the Python class make expressions only",
    "a stride is an expression or unknown": "the syntax and the Python class make expressions only",
    "one extent and one clip a dim are needed": "the syntax and the Python class give each dim one",
    "no tiling constraint says how a loop walks dim": "wave-bind-symbols says so first, at the loop",
    "an atomic … is of integers": "the verifier of wave.atomic comes first",
    "… does not apply to …; cast the operands first": "the type constraints of the ops see to it",
}


def _cpp() -> list[Site]:
    """What the dialect emits; in Layout, functions return what is wrong as a text."""
    sources = sorted((ROOT / "dialect").rglob("*.cpp"))
    return [site for path in sources for site in error_sites.cpp_sites(path, returned=path.parent.name == "Layout")]


def _python() -> list[Site]:
    folders = (ROOT / "passes", ROOT / "python" / "wave_mlir" / "compiler")
    return [site for f in folders for path in sorted(f.rglob("*.py")) for site in error_sites.python_sites(path)]


def _text(site: Site) -> str:
    return "".join("…" if piece is HOLE else piece for piece in site.message)


def test_each_error_is_exercised() -> None:
    sites = [*_cpp(), *_python()]
    assert len(sites) > 300, "the sources are not found, or written in a way that error_sites.py does not read"
    missing = unexercised(sites, error_sites.test_texts())
    unexplained = [str(site) for site in missing if not _text(site).startswith(tuple(UNREACHABLE))]
    assert not unexplained, "errors without a test:\n" + "\n".join(unexplained)
    stale = [text for text in UNREACHABLE if not any(_text(site).startswith(text) for site in missing)]
    assert not stale, f"not there any more, or exercised after all: {stale}"


CPP = """
  return emitOpError() << "has " << n << " dims"
                       << "; give \\"one\\"";
  if (bad) return op.emitError("cannot be") << (a ? "this" : "that");
  verifyDim(emitError, dim, "no message");
  return emitError() << "is of " << (a ? to : from) << "; mend it";
"""
PYTHON = """
def f(op, n):
    text = f"has {n} rows"
    if n:
        text += " more"
    raise PassError(op, text + "; mend it")
    raise PassError(op, f"is {'odd' if n else 'even'} now")
"""


@pytest.fixture
def source(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(error_sites, "ROOT", tmp_path)
    return tmp_path / "source"


def test_cpp_is_read(source: Path) -> None:
    source.write_text(CPP)
    sites = list(error_sites.cpp_sites(source))
    assert [s.message for s in sites] == [
        ("has ", HOLE, ' dims; give "one"'), ("cannot be", HOLE), ("is of ", HOLE, "; mend it"),
    ]  # fmt: skip
    assert [s.line for s in sites] == [2, 4, 6]


def test_python_is_read(source: Path) -> None:
    source.write_text(PYTHON)
    messages = [s.message for s in error_sites.python_sites(source)]
    assert messages == [("has ", HOLE, " rows", HOLE, "; mend it"), ("is odd now",), ("is even now",)]


@pytest.mark.parametrize(
    ("text", "letters"),
    [("has 4 rows; mend it", 18), ("rows; mend", 10), ("4 rows; me", 9), ("has 4 rows; all", 4), ("had", 0)],
)
def test_a_text_is_a_part_of_a_message(text: str, letters: int) -> None:
    assert shared_letters(text, ("has ", HOLE, " rows; mend it")) == letters


def test_a_text_speaks_of_the_message_that_it_is_closest_to() -> None:
    one, other = Site("a", 1, ("the size of ", HOLE, " is wrong")), Site("a", 2, ("the size of ", HOLE, " is large"))
    assert unexercised([one, other], ["the size of 4 is large"]) == [one]
    assert unexercised([one, other], ["is nothing"]) == [one, other]
    assert unexercised([one], ["the size of [0-9]+", "the size of .* is wrong"]) == []
