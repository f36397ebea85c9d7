"""Strict JSON with line numbers: what `json` accepts too gladly is refused, every value has a line.

Knows nothing of problems. Refused beyond the JSON grammar: duplicate keys, NaN and infinities.
"""

from __future__ import annotations

import json
import re
from typing import Any

from .errors import SpecError

Path = tuple[str | int, ...]

_SPACE = re.compile(r"[ \t\r\n]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_WORDS = {"true": True, "false": False, "null": None}
_MAX_DEPTH = 64


class Document:
    """A parsed file: `value`, and the line on which the value (or key) at a path starts."""

    def __init__(self, name: str, value: Any, lines: dict[Path, int]) -> None:
        self.name = name
        self.value = value
        self.lines = lines

    def fail(self, path: Path, text: str) -> SpecError:
        """The error to raise for the value at `path`, or at its nearest known ancestor."""
        while path and path not in self.lines:
            path = path[:-1]
        return SpecError(self.name, self.lines.get(path, 1), text)


class _Parser:
    def __init__(self, name: str, text: str) -> None:
        self.name, self.text, self.at = name, text, 0
        self.lines: dict[Path, int] = {}

    def error(self, text: str) -> SpecError:
        return SpecError(self.name, self.line(), text)

    def line(self) -> int:
        return self.text.count("\n", 0, self.at) + 1

    def space(self) -> None:
        match = _SPACE.match(self.text, self.at)
        assert match is not None
        self.at = match.end()

    def peek(self) -> str:
        self.space()
        return self.text[self.at : self.at + 1]

    def expect(self, char: str) -> None:
        found = self.peek()
        if found != char:
            shown = f"'{found}'" if found else "the end of the file"
            raise self.error(f"expected '{char}', found {shown}")
        self.at += 1

    def value(self, path: Path) -> Any:
        if len(path) > _MAX_DEPTH:
            raise self.error(f"nested deeper than {_MAX_DEPTH} levels")
        char = self.peek()
        self.lines.setdefault(path, self.line())
        if char == "{":
            return self.object(path)
        if char == "[":
            return self.array(path)
        if char == '"':
            return self.string()
        for word, meaning in _WORDS.items():
            if self.text.startswith(word, self.at):
                self.at += len(word)
                return meaning
        match = _NUMBER.match(self.text, self.at)
        if match is None:
            raise self.error(f"expected a value, found {char!r}" if char else "file ends too early")
        self.at = match.end()
        literal = match.group()
        number = int(literal) if literal.lstrip("-").isdigit() else float(literal)
        if number in (float("inf"), float("-inf")):
            raise self.error(f"number {literal} is out of range")
        return number

    def string(self) -> str:
        match = _STRING.match(self.text, self.at)
        if match is None:
            raise self.error("string is not closed, or holds a bad escape or control character")
        self.at = match.end()
        text = json.loads(match.group())
        assert isinstance(text, str)
        return text

    def object(self, path: Path) -> dict[str, Any]:
        result: dict[str, Any] = {}
        self.expect("{")
        if self.peek() == "}":
            self.at += 1
            return result
        while True:
            if self.peek() != '"':
                raise self.error("expected a key in double quotes")
            line = self.line()
            key = self.string()
            if key in result:
                raise SpecError(self.name, line, f"duplicate key '{key}': remove one of the two")
            self.lines[path + (key,)] = line
            self.expect(":")
            result[key] = self.value(path + (key,))
            if self.peek() == "}":
                self.at += 1
                return result
            self.expect(",")

    def array(self, path: Path) -> list[Any]:
        result: list[Any] = []
        self.expect("[")
        if self.peek() == "]":
            self.at += 1
            return result
        while True:
            result.append(self.value(path + (len(result),)))
            if self.peek() == "]":
                self.at += 1
                return result
            self.expect(",")


def parse(name: str, text: str) -> Document:
    """Parses `text`; `name` stands in the messages."""
    parser = _Parser(name, text)
    value = parser.value(())
    if parser.peek():
        raise parser.error("text after the end of the JSON value")
    return Document(name, value, parser.lines)


def parse_file(path: str, shown: str) -> tuple[Document, bytes]:
    """Reads and parses a file; returns the document and its raw bytes."""
    try:
        with open(path, "rb") as file:
            raw = file.read()
        return parse(shown, raw.decode("utf-8")), raw
    except OSError as why:
        raise SpecError(shown, 0, f"cannot be read: {why.strerror}") from why
    except UnicodeDecodeError as why:
        line = raw[: why.start].count(b"\n") + 1
        raise SpecError(shown, line, "is not UTF-8") from why
