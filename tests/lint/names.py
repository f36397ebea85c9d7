"""lint.names: unique stems, snake_case, guards named after the path."""

from __future__ import annotations

import os
import re

import tree

SNAKE = re.compile(r"^[a-z][a-z0-9]*(_[a-z0-9]+)*$")


def guard_of(path: str) -> str:
    """harness/runner/guard.h -> HARNESS_RUNNER_GUARD_H"""
    return re.sub(r"[^A-Z0-9]", "_", path.upper())


def check_stems(root: str, report: tree.Report) -> None:
    """A log line that names a file must mean one file."""
    places: dict[str, str] = {}
    for path in tree.files(root, ".c", ".h"):
        if not path.startswith(("harness/", "vgpu/")):
            continue
        report.seen += 1
        stem, ending = os.path.splitext(os.path.basename(path))
        if not SNAKE.match(stem):
            report.fault(path, 0, "the name is not snake_case")
        other = places.setdefault(stem + ending, path)
        if other != path:
            report.fault(path, 0, f"has the same name as {other}")


def check_guards(root: str, report: tree.Report) -> None:
    """#ifndef, then #define, of the path's name."""
    for path in tree.files(root, ".h"):
        if not path.startswith(("harness/", "vgpu/", "tests/")):
            continue
        report.seen += 1
        guard = guard_of(path)
        text = tree.read(root, path)
        if not re.search(rf"^#ifndef {guard}\n#define {guard}$", text, re.MULTILINE):
            report.fault(path, 0, f"the guard should be {guard}")


def check_file_heads(root: str, report: tree.Report) -> None:
    """Each C file opens with a comment that begins with its name."""
    for path in tree.files(root, ".c", ".h", ".def"):
        if not path.startswith(("harness/", "vgpu/", "tests/unit/", "tests/fuzz/")):
            continue
        report.seen += 1
        name = os.path.basename(path)
        if not re.match(rf"/\*\s*(\*\s*)?{re.escape(name)}\b", tree.read(root, path)):
            report.fault(path, 1, f"should open with '/*\\n * {name} - what it does'")


def check_problems(root: str, report: tree.Report) -> None:
    """Folders and solutions."""
    for path in tree.files(os.path.join(root, "problems"), ".cu"):
        report.seen += 1
        for part in os.path.splitext(path)[0].split("/"):
            if not SNAKE.match(part):
                report.fault("problems/" + path, 0, f"'{part}' is not snake_case")


def main() -> None:
    """Checks every kind of name."""
    root = tree.root_argument()
    report = tree.Report()
    check_stems(root, report)
    check_guards(root, report)
    check_file_heads(root, report)
    check_problems(root, report)
    report.finish(at_least=60)


if __name__ == "__main__":
    main()
