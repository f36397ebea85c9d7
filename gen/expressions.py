"""Arithmetic of problem.json: scalars, integers, `+`, `-`, `*`, parentheses, and nothing else.

Grammar: sum = product {("+" | "-") product}; product = atom {"*" atom}; atom = integer | name |
"(" sum ")" | "-" atom. Values are Python numbers, so nothing overflows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

Number = int | float

_TOKEN = re.compile(r"\s*(?:([0-9]+)|([A-Za-z_][A-Za-z0-9_]*)|([-+*()]))")


class ExpressionError(ValueError):
    """The text is not an expression, or names an unknown scalar."""


def _tokens(text: str) -> list[str]:
    tokens, at = [], 0
    text = text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ExpressionError(f"unexpected character {text[at:].lstrip()[0]!r} in '{text}'")
        tokens.append(match.group().strip())
        at = match.end()
    return tokens


def names(text: str) -> set[str]:
    """The names that an expression uses."""
    return {token for token in _tokens(text) if token[0].isalpha() or token[0] == "_"}


def evaluate(text: str, scalars: Mapping[str, Number]) -> Number:
    """Value of `text`; raises ExpressionError with a text that names the fault."""
    tokens = _tokens(text)
    at = 0

    def peek() -> str:
        return tokens[at] if at < len(tokens) else ""

    def take() -> str:
        nonlocal at
        at += 1
        return tokens[at - 1] if at <= len(tokens) else ""

    def sum_() -> Number:
        value = product()
        while peek() in ("+", "-"):
            value = value + product() if take() == "+" else value - product()
        return value

    def product() -> Number:
        value = atom()
        while peek() == "*":
            take()
            value = value * atom()
        return value

    def atom() -> Number:
        token = take()
        if token == "(":
            value = sum_()
            if take() != ")":
                raise ExpressionError(f"missing ')' in '{text}'")
            return value
        if token == "-":
            return -atom()
        if token.isdigit():
            return int(token)
        if token and (token[0].isalpha() or token[0] == "_"):
            if token not in scalars:
                known = ", ".join(sorted(scalars))
                raise ExpressionError(f"unknown name '{token}' in '{text}' (known: {known})")
            return scalars[token]
        raise ExpressionError(f"'{text}' ends too early" if not token else f"misplaced '{token}'")

    value = sum_()
    if at < len(tokens):
        raise ExpressionError(f"misplaced '{tokens[at]}' in '{text}'")
    return value
