"""Where the sources raise errors for users, and which texts of the tests show that an error is exercised.

A message is its literal pieces with holes between them, where values are inserted. A text of a test speaks of a message
when it can be a part of it, and shares enough letters with the literal pieces; of several messages it speaks of those
that it shares most with.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOLE = None
ENOUGH = 12
"""Letters of the literal pieces that a text must have in common with a message (or all there are)."""

Message = tuple[str | None, ...]


@dataclass(frozen=True)
class Site:
    """A place that makes an error: its file (relative), line, and message as pieces and holes."""

    file: str
    line: int
    message: Message

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {''.join('…' if p is HOLE else p for p in self.message)}"

    @property
    def letters(self) -> int:
        """How many letters the literal pieces have."""
        return sum(len(p) for p in self.message if p is not HOLE)


# --- C++ ---

_EMIT = re.compile(r"\bemit(?:Op)?Error(?=\()")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_RETURNED = re.compile(r'\breturn (?:std::string\()?"')


def cpp_sites(path: Path, *, returned: bool = False) -> Iterator[Site]:
    """Statements that emit an error; `returned`: also those that return a text (where functions say what is wrong)."""
    text = path.read_text()
    starts = [m.end() for m in _EMIT.finditer(text)]
    starts += [m.start() for m in _RETURNED.finditer(text)] if returned else []
    for start in sorted(starts):
        end = _statement_end(text, start)
        open_ended = "auto " in text[text.rfind("\n", 0, start) : start]
        message = _cpp_message(text[start:end], open_ended)
        if any(p is not HOLE and re.search(r"[a-z]{2}", p) for p in message):
            yield Site(str(path.relative_to(ROOT)), text.count("\n", 0, start) + 1, message)


def _statement_end(text: str, start: int) -> int:
    inside = False
    i = start
    while i < len(text) and (inside or text[i] != ";"):
        if text[i] == "\\" and inside:
            i += 1
        elif text[i] == '"':
            inside = not inside
        i += 1
    return i


def _cpp_message(statement: str, open_ended: bool) -> Message:
    """The pieces between `<<` and `+`; a choice (`a ? "x" : "y"`) is a hole, and so is what other statements add."""
    pieces: list[str | None] = []
    last = 0
    for found in _STRING.finditer(statement):
        between = statement[last : found.start()]
        choosing = "?" in between and ")" not in between[between.index("?") :]
        if choosing or (re.match(r"\s*:", between) and pieces and pieces[-1] is HOLE):
            pieces.append(HOLE)
        else:
            if re.search(r"(<<|\+)\s*[\w(]", between):
                pieces.append(HOLE)
            pieces.append(_unescape(found[1]))
        last = found.end()
    if re.search(r"(<<|\+)\s*[\w*(]", statement[last:]) or open_ended:
        pieces.append(HOLE)
    return tuple(_joined(pieces))


def _unescape(text: str) -> str:
    return text.replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\")


# --- Python ---

ERRORS = ("PassError", "emit_error", "_error", "LoweringError")


def python_sites(path: Path) -> Iterator[Site]:
    """Calls that make an error, with what can be known of their message: literals, also through names and choices."""
    for function in [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.FunctionDef)]:
        for call in ast.walk(function):
            if isinstance(call, ast.Call) and _called(call) in ERRORS and call.args:
                for pieces in _messages(call.args[-1], function):
                    message = tuple(_joined(pieces))
                    if any(p is not HOLE for p in message):
                        yield Site(str(path.relative_to(ROOT)), call.lineno, message)


def _called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")


Pieces = list[str | None]


def _messages(node: ast.expr, function: ast.FunctionDef) -> list[Pieces]:
    """The messages that an expression can be: one, or one for each way that a choice goes."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [[node.value]]
    if isinstance(node, ast.FormattedValue):
        return _messages(node.value, function)
    if isinstance(node, ast.IfExp):
        return _messages(node.body, function) + _messages(node.orelse, function)
    if isinstance(node, ast.JoinedStr | ast.BinOp):
        parts = node.values if isinstance(node, ast.JoinedStr) else [node.left, node.right]
        found: list[Pieces] = [[]]
        for part in parts:
            found = [head + tail for head in found for tail in _messages(part, function)]
        return found
    if isinstance(node, ast.Name):
        given = [a for a in ast.walk(function) if isinstance(a, ast.Assign | ast.AugAssign) and node.id in _names(a)]
        if given and isinstance(given[0], ast.Assign) and not isinstance(given[0].value, ast.Name):
            more: Pieces = [HOLE] if len(given) > 1 else []
            return [pieces + more for pieces in _messages(given[0].value, function)]
    return [[HOLE]]


def _names(assignment: ast.Assign | ast.AugAssign) -> list[str]:
    targets = assignment.targets if isinstance(assignment, ast.Assign) else [assignment.target]
    return [t.id for t in targets if isinstance(t, ast.Name)]


def _joined(pieces: Pieces) -> Iterator[str | None]:
    """Neighbouring literals as one, neighbouring holes as one."""
    pending = ""
    hole = False
    for piece in pieces:
        if piece is HOLE:
            if pending:
                yield pending
                pending = ""
            if not hole:
                yield HOLE
            hole = True
        elif piece:
            pending += piece
            hole = False
    if pending:
        yield pending


# --- tests ---


def test_texts(root: Path = ROOT / "test") -> Iterator[str]:
    """Texts of the tests that may speak of a message: expected diagnostics, CHECK lines, strings in Python."""
    for path in sorted(root.rglob("*")):
        if path.suffix in (".mlir", ".test"):
            text = path.read_text()
            yield from re.findall(r"expected-(?:error|note|warning)[^{\n]*\{\{(.*?)\}\}$", text, re.MULTILINE)
            yield from re.findall(r"^\W*[A-Z][A-Z-]*: (.*)$", text, re.MULTILINE)
        elif path.suffix == ".py" and not path.stem.endswith(Path(__file__).stem):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" not in node.value:
                    yield node.value


test_texts.__test__ = False  # type: ignore[attr-defined]


def fragments(text: str) -> list[str]:
    """The parts of a text between what stands for anything (regular expressions of lit and of pytest)."""
    parts = re.split(r"\{\{.*?\}\}|\[\[.*?\]\]|\.\*\??|\\d\+|\\w\+|(?<!\\)\||…", text)
    return [re.sub(r"\\(.)", r"\1", p).strip() for p in parts]


def shared_letters(text: str, message: Message) -> int:
    """How many letters of literal pieces the text has when it is a part of the message; 0 when it cannot be one."""
    flat: list[str | None] = []
    for piece in message:
        flat += [HOLE] if piece is HOLE else list(piece)
    best: dict[int, int] = {i: 0 for i in range(len(flat) + 1)}
    for letter in text:
        following: dict[int, int] = {}
        for state, score in _with_holes_skipped(best, flat).items():
            if state < len(flat):
                if flat[state] is HOLE:
                    following[state] = max(following.get(state, 0), score)
                elif flat[state] == letter:
                    following[state + 1] = max(following.get(state + 1, 0), score + 1)
        if not following:
            return 0
        best = following
    return max(best.values())


def _with_holes_skipped(states: dict[int, int], flat: list[str | None]) -> dict[int, int]:
    found = dict(states)
    for state, score in states.items():
        while state < len(flat) and flat[state] is HOLE:
            state += 1
            found[state] = max(found.get(state, 0), score)
    return found


def unexercised(sites: list[Site], texts: Iterable[str]) -> list[Site]:
    """The sites that no text speaks of."""
    grams = [_grams(*site.message) for site in sites]
    where: dict[str, list[int]] = {}
    for i, own in enumerate(grams):
        for gram in own:
            where.setdefault(gram, []).append(i)
    exercised: set[int] = set()
    for part in dict.fromkeys(p for text in texts for p in fragments(text)):
        common = Counter(i for gram in _grams(part) for i in where.get(gram, ()))
        near = [i for i, count in common.most_common(10) if count >= min(ENOUGH - 4, len(grams[i])) // 2]
        scores = {i: shared_letters(part, sites[i].message) for i in near}
        most = max(scores.values(), default=0)
        exercised.update(i for i, score in scores.items() if score == most and score >= min(ENOUGH, sites[i].letters))
    return [site for i, site in enumerate(sites) if i not in exercised]


def _grams(*pieces: str | None) -> set[str]:
    """All runs of five letters: what shares none is told apart fast."""
    return {piece[j : j + 5] for piece in pieces if piece is not HOLE for j in range(len(piece) - 4)}
