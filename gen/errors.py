"""The two ways in which `gen` refuses to go on; printing them is left to `__main__`."""

from __future__ import annotations


class SpecError(Exception):
    """Bad input: a file, a line and a text that names the key and the remedy (exit code 2)."""

    def __init__(self, path: str, line: int, text: str) -> None:
        super().__init__(f"{path}:{line}: error: {text}" if line else f"{path}: error: {text}")


class PinError(Exception):
    """A file that exists, or was just made, differs from its pin in the manifest (exit code 1)."""
