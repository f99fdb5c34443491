"""Evaluate the text form of wave expressions without the dialect extension.

The text is what `#wave.expr<...>` prints: integers and symbols under `+ - *`, `floordiv`, `ceildiv`, `mod`, `xor`,
`min(a, b)`, `max(a, b)`, comparisons, `and`, `or`, `select(c, a, b)` and parentheses.  Integers are exact and division
is floor division, as everywhere in the compiler.  Launchers read expressions from the JSON beside a code object with
this module alone, so it imports nothing of MLIR.

Precedence, loosest first: `or`, `and`, comparisons, `xor`, `+ -`, `* floordiv ceildiv mod`, unary `-`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

Evaluator = Callable[[Mapping[str, int]], int]

_TOKEN = re.compile(r"\s*(?:(\d+)|([A-Za-z_][\w$]*(?:\.[A-Za-z_][\w$]*)*)|(==|!=|<=|>=|[-+*<>(),]))")
_KEYWORDS = frozenset({"floordiv", "ceildiv", "mod", "xor", "min", "max", "and", "or", "select"})


class ExprError(ValueError):
    """The text is no expression, or it cannot be evaluated; the message says why and quotes the text."""


def _floordiv(a: int, b: int) -> int:
    if b == 0:
        raise ExprError("division by zero")
    return a // b


def _ceildiv(a: int, b: int) -> int:
    if b == 0:
        raise ExprError("division by zero")
    return -(-a // b)


def _mod(a: int, b: int) -> int:
    if b == 0:
        raise ExprError("remainder of a division by zero")
    return a % b


_LEVELS: tuple[dict[str, Callable[[int, int], int]], ...] = (
    {"or": lambda a, b: int(bool(a) or bool(b))},
    {"and": lambda a, b: int(bool(a) and bool(b))},
    {
        "==": lambda a, b: int(a == b),
        "!=": lambda a, b: int(a != b),
        "<": lambda a, b: int(a < b),
        "<=": lambda a, b: int(a <= b),
        ">": lambda a, b: int(a > b),
        ">=": lambda a, b: int(a >= b),
    },
    {"xor": lambda a, b: a ^ b},
    {"+": lambda a, b: a + b, "-": lambda a, b: a - b},
    {"*": lambda a, b: a * b, "floordiv": _floordiv, "ceildiv": _ceildiv, "mod": _mod},
)


class _Parser:
    """Recursive descent over the tokens of one expression; makes closures."""

    def __init__(self, text: str):
        self.text = text
        self.tokens = self._scan(text)
        self.at = 0
        self.symbols: dict[str, None] = {}

    @staticmethod
    def _scan(text: str) -> list[str]:
        tokens, at, end = [], 0, len(text.rstrip())
        while at < end:
            m = _TOKEN.match(text, at)
            if not m:
                raise ExprError(f"unexpected character {text[at:].lstrip()[0]!r} in expression '{text}'")
            tokens.append(m[1] or m[2] or m[3])
            at = m.end()
        return tokens

    def _fail(self, wanted: str) -> ExprError:
        found = f"'{self.tokens[self.at]}'" if self.at < len(self.tokens) else "the end"
        return ExprError(f"expected {wanted} but found {found} in expression '{self.text}'")

    def _peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def _take(self, token: str) -> None:
        if self._peek() != token:
            raise self._fail(f"'{token}'")
        self.at += 1

    def parse(self) -> Evaluator:
        result = self._binary(0)
        if self.at != len(self.tokens):
            raise self._fail("an operator")
        return result

    def _binary(self, level: int) -> Evaluator:
        if level == len(_LEVELS):
            return self._unary()
        left = self._binary(level + 1)
        while (token := self._peek()) in _LEVELS[level]:
            self.at += 1
            left = self._apply(_LEVELS[level][token], left, self._binary(level + 1))
        return left

    @staticmethod
    def _apply(op: Callable[[int, int], int], a: Evaluator, b: Evaluator) -> Evaluator:
        return lambda env: op(a(env), b(env))

    def _unary(self) -> Evaluator:
        token = self._peek()
        if token == "-":
            self.at += 1
            inner = self._unary()
            return lambda env: -inner(env)
        if token == "(":
            self.at += 1
            inner = self._binary(0)
            self._take(")")
            return inner
        if token in ("min", "max", "select"):
            return self._call(token)
        if token.isdigit():
            self.at += 1
            value = int(token)
            return lambda env: value
        if token and (token[0].isalpha() or token[0] == "_") and token not in _KEYWORDS:
            self.at += 1
            self.symbols[token] = None
            return lambda env: env[token]
        raise self._fail("an integer, a symbol or '('")

    def _call(self, name: str) -> Evaluator:
        self.at += 1
        self._take("(")
        args = [self._binary(0)]
        while self._peek() == ",":
            self.at += 1
            args.append(self._binary(0))
        self._take(")")
        if name == "select":
            if len(args) != 3:
                raise ExprError(f"select takes 3 operands, not {len(args)}, in expression '{self.text}'")
            condition, yes, no = args
            return lambda env: yes(env) if condition(env) else no(env)
        if len(args) < 2:
            raise ExprError(f"{name} takes at least 2 operands in expression '{self.text}'")
        pick = min if name == "min" else max
        return lambda env: pick(a(env) for a in args)


@lru_cache(maxsize=4096)
def _compile(text: str) -> tuple[Evaluator, tuple[str, ...]]:
    parser = _Parser(text)
    return parser.parse(), tuple(sorted(parser.symbols))


def strip(text: str) -> str:
    """The bare expression of `#wave.expr<E>` or `E`."""
    text = text.strip()
    if text.startswith("#wave.expr<") and text.endswith(">"):
        return text[len("#wave.expr<") : -1].strip()
    return text


def symbols(text: str) -> tuple[str, ...]:
    """The symbols of an expression, sorted. Raises ExprError when the text is no expression."""
    return _compile(text)[1]


def evaluate(text: str, values: Mapping[str, int]) -> int:
    """The value of an expression under `values` (symbol -> integer).

    Raises ExprError when the text is no expression, a symbol has no value, or a divisor is zero.
    """
    function, names = _compile(text)
    for name in names:
        if name not in values:
            raise ExprError(f"symbol '{name}' has no value in expression '{text}'")
    try:
        return function(values)
    except ExprError as error:
        raise ExprError(f"{error} in expression '{text}'") from None
