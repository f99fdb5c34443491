"""Evaluate the text form of wave expressions without the dialect extension.

The text is what `#wave.expr<...>` prints: integers and symbols under `+ - *`, `floordiv`, `ceildiv`, `mod`, `xor`,
`min(a, b)`, `max(a, b)`, comparisons (`lt` or `<`, ...), `and`, `or`, `select(c, a, b)` and parentheses.  Integers
are exact and division is floor division, as everywhere in the compiler.  Launchers read expressions from the JSON
beside a code object with this module alone, so it imports nothing of MLIR.

Precedence, loosest first: `or`, `and`, comparisons, `xor`, `+ -`, `* floordiv ceildiv mod`, unary `-`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

Node = int | str | tuple
"""A parsed expression: an integer, a symbol, or (operator, operand, ...) with the operators spelt as in
the text (comparisons as words)."""

_TOKEN = re.compile(r"\s*(?:(\d+)|([A-Za-z_][\w$]*(?:\.[A-Za-z_][\w$]*)*)|(==|!=|<=|>=|[-+*<>(),]))")
_KEYWORDS = frozenset(
    ["floordiv", "ceildiv", "mod", "xor", "min", "max", "and", "or", "select", "eq", "ne", "lt", "le", "gt", "ge"],
)


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
        "eq": lambda a, b: int(a == b),
        "ne": lambda a, b: int(a != b),
        "lt": lambda a, b: int(a < b),
        "le": lambda a, b: int(a <= b),
        "gt": lambda a, b: int(a > b),
        "ge": lambda a, b: int(a >= b),
    },
    {"xor": lambda a, b: a ^ b},
    {"+": lambda a, b: a + b, "-": lambda a, b: a - b},
    {"*": lambda a, b: a * b, "floordiv": _floordiv, "ceildiv": _ceildiv, "mod": _mod},
)


_SIGNS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_FUNCTIONS = {name: function for level in _LEVELS for name, function in level.items()}


class _Parser:
    """Recursive descent over the tokens of one expression."""

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

    def parse(self) -> Node:
        result = self._binary(0)
        if self.at != len(self.tokens):
            raise self._fail("an operator")
        return result

    def _binary(self, level: int) -> Node:
        if level == len(_LEVELS):
            return self._unary()
        left = self._binary(level + 1)
        while (token := _SIGNS.get(self._peek(), self._peek())) in _LEVELS[level]:
            self.at += 1
            left = (token, left, self._binary(level + 1))
        return left

    def _unary(self) -> Node:
        token = self._peek()
        if token == "-":
            self.at += 1
            return ("-", 0, self._unary())
        if token == "(":
            self.at += 1
            inner = self._binary(0)
            self._take(")")
            return inner
        if token in ("min", "max", "select"):
            return self._call(token)
        if token.isdigit():
            self.at += 1
            return int(token)
        if token and (token[0].isalpha() or token[0] == "_") and token not in _KEYWORDS:
            self.at += 1
            self.symbols[token] = None
            return token
        raise self._fail("an integer, a symbol or '('")

    def _call(self, name: str) -> Node:
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
            return ("select", *args)
        if len(args) < 2:
            raise ExprError(f"{name} takes at least 2 operands in expression '{self.text}'")
        return (name, *args)


@lru_cache(maxsize=4096)
def _parse(text: str) -> tuple[Node, tuple[str, ...]]:
    parser = _Parser(text)
    return parser.parse(), tuple(sorted(parser.symbols))


def parse(text: str) -> Node:
    """The parsed expression. Raises ExprError when the text is no expression."""
    return _parse(text)[0]


def strip(text: str) -> str:
    """The bare expression of `#wave.expr<E>` or `E`."""
    text = text.strip()
    if text.startswith("#wave.expr<") and text.endswith(">"):
        return text[len("#wave.expr<") : -1].strip()
    return text


def symbols(text: str) -> tuple[str, ...]:
    """The symbols of an expression, sorted. Raises ExprError when the text is no expression."""
    return _parse(text)[1]


def evaluate(text: str, values: Mapping[str, int]) -> int:
    """The value of an expression under `values` (symbol -> integer).

    Raises ExprError when the text is no expression, a symbol has no value, or a divisor is zero.
    """
    node, names = _parse(text)
    for name in names:
        if name not in values:
            raise ExprError(f"symbol '{name}' has no value in expression '{text}'")
    try:
        return _value(node, values)
    except ExprError as error:
        raise ExprError(f"{error} in expression '{text}'") from None


def _value(node: Node, values: Mapping[str, int]) -> int:
    if isinstance(node, int):
        return node
    if isinstance(node, str):
        return values[node]
    operator, *operands = node
    if operator == "select":
        return _value(operands[1] if _value(operands[0], values) else operands[2], values)
    evaluated = [_value(o, values) for o in operands]
    if operator in ("min", "max"):
        return min(evaluated) if operator == "min" else max(evaluated)
    return _FUNCTIONS[operator](*evaluated)
