"""The files of the tree, for the lint scripts: what is built, cached or hidden is left out."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

SKIPPED_FOLDERS = {"build", ".git", "__pycache__", ".mypy_cache", ".pytest_cache", ".hypothesis"}


def files(root: str, *suffixes: str) -> Iterator[str]:
    """Paths below `root`, relative to it and sorted, whose names end in one of `suffixes`."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if f not in SKIPPED_FOLDERS)
        for name in sorted(names):
            if not suffixes or name.endswith(suffixes):
                yield os.path.relpath(os.path.join(folder, name), root)


def read(root: str, path: str) -> str:
    """The text of a file; bytes that are no UTF-8 become U+FFFD."""
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as stream:
        return stream.read()


class Report:
    """Collects faults; `finish` prints them and ends the script."""

    def __init__(self) -> None:
        self.faults: list[str] = []
        self.seen = 0

    def fault(self, path: str, line: int, text: str) -> None:
        """One fault at a place; line 0 stands for the whole file."""
        self.faults.append(f"{path}:{line}: {text}" if line else f"{path}: {text}")

    def finish(self, at_least: int) -> None:
        """Exit code 1 on a fault, and when fewer than `at_least` things were looked at."""
        for fault in self.faults:
            print(fault)
        if self.seen < at_least:
            print(f"only {self.seen} looked at, expected at least {at_least}: wrong folder?")
        print(f"{self.seen} looked at, {len(self.faults)} faults")
        sys.exit(1 if self.faults or self.seen < at_least else 0)


def root_argument() -> str:
    """The tree, from the command line."""
    if len(sys.argv) < 2 or not os.path.isdir(sys.argv[1]):
        print("usage: SCRIPT ROOT", file=sys.stderr)
        sys.exit(2)
    return sys.argv[1]
