"""Symbols in operands: `table@rel32@lo+4`, `(.LBB0_5-.Lpost_getpc0)&4294967295`, `tile@abs32@lo`."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

_RELOCATED = re.compile(r"^([\w.$]+)@(rel32|gotpcrel32|abs32)(?:@(lo|hi))?\s*([-+]\s*\w+)?$")
_NAME = re.compile(r"(?<![\w.$])[A-Za-z_.$][\w.$]*")
_BINARY: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.BitAnd: lambda a, b: a & b,
    ast.BitOr: lambda a, b: a | b,
    ast.RShift: lambda a, b: a >> b,
    ast.LShift: lambda a, b: a << b,
}
_WORD = 0xFFFFFFFF


@dataclass(frozen=True)
class Symbols:
    """What names mean: `values`, addresses of data and functions (LDS symbols: offsets in LDS); `got`, the address of
    a symbol's entry in the global offset table; `sets`, `.set` assignments as text."""

    values: Mapping[str, int] = field(default_factory=dict)
    got: Mapping[str, int] = field(default_factory=dict)
    sets: Mapping[str, str] = field(default_factory=dict)


def is_expression(text: str) -> bool:
    """Could the operand be a symbol or an expression of symbols?"""
    return bool(re.match(r"^[-(]?[A-Za-z_.$(]", text))


def value(text: str, symbols: Symbols, place: int) -> int:
    """The 32 bits that a relocated operand at device address `place` has. ValueError when a symbol is not known."""
    if match := _RELOCATED.match(text):
        name, how, half, addend = match.groups()
        table = symbols.got if how == "gotpcrel32" else symbols.values
        if name not in table:
            raise ValueError(f"the symbol {name} is not defined in this file")
        target = table[name] + (int(addend.replace(" ", ""), 0) if addend else 0)
        if how != "abs32":
            target -= place
        return (target >> 32 if half == "hi" else target) & _WORD
    return evaluate(text, symbols) & _WORD


def evaluate(text: str, symbols: Symbols, depth: int = 0) -> int:
    """The value of an expression of integers and symbols. ValueError when it is none, or a symbol is not known."""
    if depth > 20:
        raise ValueError(f"{text}: .set assignments go round in a circle")

    def resolve(match: re.Match[str]) -> str:
        name = match[0]
        if name in symbols.values:
            return str(symbols.values[name])
        if name in symbols.sets:
            return f"({evaluate(symbols.sets[name], symbols, depth + 1)})"
        raise ValueError(f"{name} is neither a register nor a symbol of this file")

    replaced = _NAME.sub(resolve, text)
    try:
        return _fold(ast.parse(replaced.strip(), mode="eval").body)
    except SyntaxError:
        raise ValueError(f"{text} is not an operand") from None


def _fold(node: ast.expr) -> int:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        return _BINARY[type(node.op)](_fold(node.left), _fold(node.right))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_fold(node.operand)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
        return ~_fold(node.operand)
    raise ValueError(f"{ast.unparse(node)} is not an operand")
