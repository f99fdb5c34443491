"""Options of passes and pipelines: dataclass fields read from, and printed as, MLIR's `{key=value …}` text.

Field types: int, bool, str, float, an Enum (by member name in lower case with dashes), Literal of strings,
`tuple[T, …]` of those (comma separated, or in braces) and `T | None` (`none`). A field `lds_bytes` is the option
`lds-bytes`. Values with blanks are put in braces or quotes.
"""

from __future__ import annotations

import dataclasses
import difflib
import enum
import types
import typing
from collections.abc import Iterable
from typing import TypeVar

Value = int | bool | str | float | enum.Enum | None | tuple["Value", ...]
T = TypeVar("T")

_CLOSING = {"{": "}", "'": "'", '"': '"'}


class OptionError(ValueError):
    """An option that is unknown or has a bad value; the text names the owner, the option and what would do."""


def option(default: T, help: str) -> T:
    """A field of a pass or pipeline with a help text (one line, with the unit)."""
    return dataclasses.field(default=default, metadata={"help": help})


def at_least(options: object, field: str, least: int) -> None:
    """For `__post_init__`: raise ValueError if the field's number is smaller than `least`."""
    if (value := getattr(options, field)) < least:
        raise ValueError(f"option '{option_name(field)}' is {value}; it takes {least} or more")


def nearest(word: str, among: Iterable[str]) -> str:
    """`; did you mean 'x'?` for the closest of `among`, or the list of them all."""
    names = list(among)
    close = difflib.get_close_matches(word, names, n=1, cutoff=0.5)
    if close:
        return f"; did you mean '{close[0]}'?"
    return f"; there are: {', '.join(names)}" if names else "; it has none"


def _scan(text: str, start: int, stops: str) -> int:
    """Index of the first character of `stops` outside quotes and braces, or the text's end."""
    i = start
    while i < len(text) and text[i] not in stops:
        i = skip_group(text, i) if text[i] in _CLOSING else i + 1
    return i


def skip_group(text: str, start: int) -> int:
    """Index after the group (quoted or in braces) that begins at `start`."""
    opening = text[start]
    if opening != "{":
        end = text.find(opening, start + 1)
        if end < 0:
            raise OptionError(f"unterminated quote in options '{text}'")
        return end + 1
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] == "{") - (text[i] == "}")
        if depth == 0:
            return i + 1
    raise OptionError(f"unbalanced braces in options '{text}'")


def _unwrap(text: str) -> str:
    """Without the quotes or braces that enclose the whole text."""
    if text and text[0] in _CLOSING and skip_group(text, 0) == len(text):
        return text[1:-1]
    return text


def split_options(text: str) -> list[tuple[str, str | None]]:
    """`a=1 flag list={x,y}` as [(key, value)]; the value of a bare key is None."""
    result: list[tuple[str, str | None]] = []
    i = 0
    while i < len(text):
        if text[i].isspace():
            i += 1
            continue
        end = _scan(text, i, " \t\n=")
        key = text[i:end]
        value: str | None = None
        if end < len(text) and text[end] == "=":
            i = end + 1
            end = _scan(text, i, " \t\n")
            value = text[i:end]
        result.append((key, value))
        i = end
    return result


def split_commas(text: str) -> list[str]:
    """The parts between commas that are outside quotes and braces."""
    parts: list[str] = []
    i = 0
    while i < len(text):
        end = _scan(text, i, ",")
        parts.append(text[i:end].strip())
        i = end + 1
    if text.endswith(","):
        parts.append("")
    return parts


def option_name(field: str) -> str:
    """Name of the option of a dataclass field."""
    return field.replace("_", "-")


def _enum_name(member: enum.Enum) -> str:
    return member.name.lower().replace("_", "-")


def _optional(kind: object) -> object | None:
    """T of `T | None`, else None."""
    if isinstance(kind, types.UnionType) or typing.get_origin(kind) is typing.Union:
        rest = [a for a in typing.get_args(kind) if a is not type(None)]
        return rest[0] if len(rest) == 1 else None
    return None


def describe_type(kind: object) -> str:
    """How the help text calls a field's type."""
    inner = _optional(kind)
    if inner is not None:
        return f"{describe_type(inner)} or none"
    if typing.get_origin(kind) is tuple:
        return f"list of {describe_type(typing.get_args(kind)[0])}"
    if typing.get_origin(kind) is typing.Literal:
        return "one of " + ", ".join(map(str, typing.get_args(kind)))
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return "one of " + ", ".join(map(_enum_name, kind))
    names = {int: "an integer", bool: "true or false", str: "text", float: "a number"}
    if isinstance(kind, type) and kind in names:
        return names[kind]
    raise TypeError(f"options of type {kind} are not supported")


def parse_value(kind: object, text: str) -> Value:
    """The value of a field of type `kind`. Raises ValueError."""
    inner = _optional(kind)
    if inner is not None:
        return None if text == "none" else parse_value(inner, text)
    if typing.get_origin(kind) is tuple:
        element = typing.get_args(kind)[0]
        return tuple(parse_value(element, part) for part in split_commas(_unwrap(text)))
    text = _unwrap(text)
    if typing.get_origin(kind) is typing.Literal:
        if text not in typing.get_args(kind):
            raise ValueError(nearest(text, map(str, typing.get_args(kind))))
        return text
    if not isinstance(kind, type):
        raise TypeError(f"options of type {kind} are not supported")
    if issubclass(kind, enum.Enum):
        members = {_enum_name(m): m for m in kind}
        if text not in members:
            raise ValueError(nearest(text, members))
        return members[text]
    if kind is bool:
        if text not in ("true", "false", "1", "0"):
            raise ValueError
        return text in ("true", "1")
    if kind is int:
        return int(text, 0)
    if kind is float:
        return float(text)
    return text


def print_value(value: Value, *, in_list: bool = False) -> str:
    """Canonical text, which `parse_value` reads back."""
    if isinstance(value, tuple):
        return "{" + ",".join(print_value(v, in_list=True) for v in value) + "}"
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, enum.Enum):
        return _enum_name(value)
    text = repr(value) if isinstance(value, float) else str(value)
    plain = text != "" and not any(c.isspace() or c in "{}'\"" or (in_list and c == ",") for c in text)
    if plain:
        return text
    if "'" not in text:
        return f"'{text}'"
    return f'"{text}"' if '"' not in text else "{" + text + "}"


@dataclasses.dataclass(frozen=True)
class OptionSpec:
    """One option: its name, the field behind it, its type, default and help."""

    name: str
    field: str
    kind: object
    default: Value
    help: str

    @property
    def description(self) -> str:
        """Help with type and default."""
        return f"{self.help} ({describe_type(self.kind)}; default {print_value(self.default)})"


def options_of(cls: type) -> dict[str, OptionSpec]:
    """The options of a dataclass, by name. Raises TypeError for a field without default or of a type not supported."""
    cached = cls.__dict__.get("_wave_options")
    if cached is not None:
        return cached
    hints = typing.get_type_hints(cls)
    result: dict[str, OptionSpec] = {}
    for f in dataclasses.fields(cls):
        if f.default is dataclasses.MISSING:
            raise TypeError(f"{cls.__name__}.{f.name} needs a default: write option(default, help=…)")
        describe_type(hints[f.name])
        name = option_name(f.name)
        result[name] = OptionSpec(name, f.name, hints[f.name], f.default, f.metadata.get("help", ""))
    cls._wave_options = result  # type: ignore[attr-defined]
    return result


def parse_options(cls: type[T], text: str, owner: str) -> T:
    """An instance of the dataclass from `key=value …`. Raises OptionError naming `owner` and the option."""
    specs = options_of(cls)
    values: dict[str, Value] = {}
    for key, raw in split_options(text):
        spec = specs.get(key)
        if spec is None:
            raise OptionError(f"{owner} has no option '{key}'{nearest(key, specs)}")
        if spec.field in values:
            raise OptionError(f"{owner}: option '{key}' is given twice")
        if raw is None and spec.kind is not bool:
            raise OptionError(f"{owner}: option '{key}' needs a value: {describe_type(spec.kind)}")
        try:
            values[spec.field] = True if raw is None else parse_value(spec.kind, raw)
        except OptionError:
            raise
        except ValueError as e:
            hint = str(e) if str(e).startswith(";") else ""
            takes = describe_type(spec.kind)
            raise OptionError(f"{owner}: bad value '{raw}' of option '{key}': it takes {takes}{hint}") from e
    try:
        return cls(**values)
    except ValueError as e:  # a check in __post_init__
        raise OptionError(f"{owner}: {e}") from e


def print_options(instance: object) -> list[tuple[str, str]]:
    """(name, canonical text) of the options that are not at their default, by name."""
    pairs = [(s.name, getattr(instance, s.field), s.default) for s in options_of(type(instance)).values()]
    return sorted((name, print_value(value)) for name, value, default in pairs if value != default)


def options_text(instance: object) -> str:
    """`{a=1 b=x}`, or nothing when all options are at their default."""
    pairs = print_options(instance)
    return "{" + " ".join(f"{k}={v}" for k, v in pairs) + "}" if pairs else ""
