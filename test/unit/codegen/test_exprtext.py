"""The expression evaluator against Python's own integers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wave_mlir.compiler import exprtext

SYMBOLS = {"M": 37, "wg.x": 5, "iv.K": 2, "lane": 63}


@pytest.mark.parametrize(
    "text,value",
    [
        ("M ceildiv 64", 1),
        ("wg.x * 64 + lane floordiv 4 * 2", 350),
        ("0 - M floordiv 5", -7),
        ("(0 - M) floordiv 5", -8),
        ("(0 - M) mod 5", 3),
        ("-M ceildiv 5", -7),
        ("10 - 3 - 2", 5),
        ("100 floordiv 7 mod 5", 4),
        ("min(M, 3, lane) + max(1, 2)", 5),
        ("select(M < 40 and lane >= 63, 7, 9)", 7),
        ("M == 37 or 1 floordiv 1 == 2", 1),
        ("3 xor 5 + 1", 3 ^ 6),
        ("select(M lt 40 and lane ge 63 and M ne 1, M eq 37, 9)", 1),
        ("M + -1 * lane", -26),
        ("#wave.expr<M + 1>", 38),
        (" 12 ", 12),
    ],
)
def test_value(text, value):
    assert exprtext.evaluate(exprtext.strip(text), SYMBOLS) == value


@pytest.mark.parametrize(
    "text,message",
    [
        ("M +", "expected an integer, a symbol or '('"),
        ("M 3", "expected an operator but found '3'"),
        ("(M", "expected ')' but found the end"),
        ("M $ 2", "unexpected character '$'"),
        ("select(1, 2)", "select takes 3 operands"),
        ("mod", "expected an integer"),
        ("", "found the end"),
        ("Q + 1", "symbol 'Q' has no value in expression 'Q \\+ 1'"),
        ("M floordiv (lane - 63)", "division by zero in expression"),
    ],
)
def test_error(text, message):
    with pytest.raises(exprtext.ExprError, match=message.replace("(", "\\(").replace(")", "\\)").replace("$", "\\$")):
        exprtext.evaluate(text, SYMBOLS)


def test_symbols_are_sorted_and_unique():
    assert exprtext.symbols("wg.x * M + iv.K - M") == ("M", "iv.K", "wg.x")


_PYTHON = {"floordiv": "//", "mod": "%", "xor": "^", "+": "+", "-": "-", "*": "*"}


@given(
    st.integers(-1000, 1000),
    st.integers(-1000, 1000),
    st.integers(1, 512),
    st.lists(st.sampled_from(sorted(_PYTHON)), min_size=2, max_size=2),
)
def test_two_operators_bind_as_in_python(a, b, c, ops):
    values = {"a": a, "b": b if ops[0] not in ("floordiv", "mod") else abs(b) + 1, "c": c}
    ours = exprtext.evaluate(f"a {ops[0]} b {ops[1]} c", values)
    assert ours == eval(f"a {_PYTHON[ops[0]]} b {_PYTHON[ops[1]]} c", {}, values)
