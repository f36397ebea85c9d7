"""The two small languages: strict JSON with lines, and expressions."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gen.errors import SpecError
from gen.expressions import ExpressionError, evaluate, names
from gen.strictjson import parse

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)  # fmt: skip


@given(values)
@settings(max_examples=40)
def test_reads_what_json_writes(value: Any) -> None:
    assert parse("x", json.dumps(value)).value == value
    assert parse("x", json.dumps(value, indent=1, ensure_ascii=False)).value == value


def test_every_value_has_a_line() -> None:
    document = parse("f.json", '{"a": 1,\n "b": [2,\n 3],\n "c": {"d":\n 4}}')
    assert document.lines[("a",)] == 1
    assert document.lines[("b", 1)] == 3
    assert document.lines[("c", "d")] == 4  # the line of the key
    assert str(document.fail(("b", 1, "nowhere"), "text")) == "f.json:3: error: text"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1,\n "a": 2}', "x:2: error: duplicate key 'a': remove one of the two"),
        ('{"a": 1,}', "x:1: error: expected a key in double quotes"),
        ("[1,\n 2\n", "x:3: error: expected ',', found the end of the file"),
        ("[NaN]", "x:1: error: expected a value, found 'N'"),
        ("[1] 2", "x:1: error: text after the end of the JSON value"),
        ('"a\nb"', "x:1: error: string is not closed, or holds a bad escape or control character"),
        ("[1e999]", "x:1: error: number 1e999 is out of range"),
        ("", "x:1: error: file ends too early"),
        ("[" * 70, "x:1: error: nested deeper than 64 levels"),
    ],
)
def test_refuses(text: str, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse("x", text)
    assert str(caught.value) == message


@given(st.integers(-99, 99), st.integers(-99, 99), st.integers(0, 99))
def test_expressions_agree_with_python(a: int, b: int, c: int) -> None:
    for text in ("a+b*2", "a - b - 3", "(a - b) * (a + 3)", "-a*b", f"{c}*a - -b", "2*(a*(b+1))"):
        assert evaluate(text, {"a": a, "b": b}) == eval(text, {"a": a, "b": b})


def test_names() -> None:
    assert names("4*N + (k - N)") == {"N", "k"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("N/2", "unexpected character '/' in 'N/2'"),
        ("M", "unknown name 'M' in 'M' (known: N, k)"),
        ("N +", "'N +' ends too early"),
        ("(N", "missing ')' in '(N'"),
        ("N k", "misplaced 'k' in 'N k'"),
        ("*N", "misplaced '*'"),
        ("", "'' ends too early"),
    ],
)
def test_refuses_expressions(text: str, message: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        evaluate(text, {"N": 1, "k": 2})
    assert str(caught.value) == message
