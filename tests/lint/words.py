"""lint.words: no marks of unfinished work, no trailing space, no tabs for indentation."""

from __future__ import annotations

import re

import tree

# Spelt in halves, so that this file does not find itself.
MARKS = re.compile(
    r"\b(" + "|".join(a + b for a, b in (("TO", "DO"), ("FIX", "ME"), ("HA", "CK"))) + r")\b"
)
TEXT = (".c", ".h", ".def", ".py", ".sh", ".cmake", ".cu", ".md", ".txt", ".json")
EXEMPT = ("tests/fuzz/corpus/", "tests/cli/", "testcases/")


def main() -> None:
    """Looks at every line of text."""
    root = tree.root_argument()
    report = tree.Report()
    for path in tree.files(root, *TEXT):
        if path.startswith(EXEMPT):
            continue
        report.seen += 1
        for number, line in enumerate(tree.read(root, path).split("\n"), 1):
            mark = MARKS.search(line)
            if mark:
                report.fault(path, number, f"'{mark.group(1)}': finish it or open an issue")
            if line != line.rstrip() and not path.endswith(".md"):
                report.fault(path, number, "trailing space")
            if line.startswith("\t") and path.endswith((".c", ".h", ".py", ".cu")):
                report.fault(path, number, "tab; four spaces are the indentation")
    report.finish(at_least=100)


if __name__ == "__main__":
    main()
