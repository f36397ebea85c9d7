"""lint.file_length: no text file above 1,200 lines, no line of a script above 130 characters.

A solution may have 1,500: it is pasted into other judges as one file, helpers and all.

The width of C files is clang-format's business, that of Python files black's.
"""

from __future__ import annotations

import tree

MAX_LINES = 1200
MAX_SOLUTION_LINES = 1500
MAX_WIDTH = 130
TEXT = (".c", ".h", ".def", ".py", ".sh", ".cu", ".cmake", "CMakeLists.txt", ".md", "judge")
WIDTH_OF = (".sh", ".cmake", "CMakeLists.txt", "judge")


def main() -> None:
    """Counts lines and widths."""
    root = tree.root_argument()
    report = tree.Report()
    for path in tree.files(root, *TEXT):
        report.seen += 1
        lines = tree.read(root, path).splitlines()
        most = MAX_SOLUTION_LINES if path.endswith(".cu") else MAX_LINES
        if len(lines) > most:
            report.fault(path, 0, f"{len(lines)} lines; at most {most}")
        if not path.endswith(WIDTH_OF):
            continue
        for number, line in enumerate(lines, 1):
            if len(line) > MAX_WIDTH:
                report.fault(path, number, f"{len(line)} characters; at most {MAX_WIDTH}")
    report.finish(at_least=100)


if __name__ == "__main__":
    main()
