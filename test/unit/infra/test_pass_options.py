"""Options of passes: parsing, printing, errors."""

import enum
from dataclasses import dataclass
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wave_mlir.compiler.pass_options import (
    OptionError,
    option,
    options_of,
    options_text,
    parse_options,
    split_commas,
    split_options,
)


class Mode(enum.Enum):
    FAST = 1
    VERY_SLOW = 2


@dataclass(frozen=True)
class Options:
    n: int = option(3, help="a number")
    ratio: float = option(0.5, help="a ratio")
    flag: bool = option(False, help="a flag")
    name: str = option("", help="a name")
    lds_bytes: int | None = option(None, help="bytes")
    mode: Mode = option(Mode.FAST, help="a mode")
    kind: Literal["a", "b"] = option("a", help="a kind")
    sizes: tuple[int, ...] = option((), help="sizes")
    names: tuple[str, ...] = option(("x",), help="names")


def test_all_types():
    text = "n=-7 ratio=1e-3 flag name='two words' lds-bytes=0x100 mode=very-slow kind=b sizes=1,2,3 names={a,'b c'}"
    assert parse_options(Options, text, "p") == Options(
        -7, 1e-3, True, "two words", 256, Mode.VERY_SLOW, "b", (1, 2, 3), ("a", "b c")
    )
    assert parse_options(Options, "", "p") == Options()
    assert parse_options(Options, "lds-bytes=none sizes= names={}", "p") == Options(names=())


def test_only_what_differs_is_printed():
    assert options_text(Options()) == ""
    assert options_text(Options(n=7, sizes=(1, 2))) == "{n=7 sizes={1,2}}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("m=1", "p has no option 'm'"),
        ("lds_bytes=1", "did you mean 'lds-bytes'"),
        ("n=x", "bad value 'x' of option 'n': it takes an integer"),
        ("n", "option 'n' needs a value"),
        ("n=1 n=2", "option 'n' is given twice"),
        ("flag=maybe", "it takes true or false"),
        ("mode=very-slo", "did you mean 'very-slow'"),
        ("kind=c", "it takes one of a, b"),
        ("sizes=1,,2", "bad value '1,,2' of option 'sizes'"),
        ("name='open", "unterminated quote"),
        ("name={open", "unbalanced braces"),
    ],
)
def test_errors_name_owner_and_option(text, message):
    with pytest.raises(OptionError) as e:
        parse_options(Options, text, "p")
    assert message in str(e.value)


def test_a_field_without_default_is_rejected():
    @dataclass(frozen=True)
    class Bad:
        n: int

    with pytest.raises(TypeError, match="needs a default"):
        options_of(Bad)


WORDS = st.text(st.characters(codec="ascii", exclude_characters="{}'\"", categories=["L", "N", "P", "Zs", "S"]))


@given(st.integers(), st.floats(allow_nan=False), st.booleans(), WORDS, st.sampled_from(Mode), st.lists(WORDS))
def test_what_is_printed_reads_back(n, ratio, flag, name, mode, names):
    options = Options(n=n, ratio=ratio, flag=flag, name=name, mode=mode, names=tuple(names))
    text = options_text(options)
    assert parse_options(Options, text[1:-1], "p") == options


def test_splitting_respects_quotes_and_braces():
    assert split_options("a={x=1 y={2 3}} b='c d=e' f") == [("a", "{x=1 y={2 3}}"), ("b", "'c d=e'"), ("f", None)]
    assert split_commas("a,{b,c},'d,e',") == ["a", "{b,c}", "'d,e'", ""]
