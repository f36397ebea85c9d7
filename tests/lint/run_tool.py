"""Runs a linter over all files of one kind: run_tool.py ROOT KIND TOOL [OPTION]...

KIND: c, sh, py or text. The files are named here once, so that no linter sees an empty list.
"""

from __future__ import annotations

import subprocess
import sys

import tree

SUFFIXES = {
    "c": (".c", ".h"),
    "sh": (".sh", "/judge", ".ci/run"),
    "py": (".py",),
    "text": (".c", ".h", ".def", ".py", ".sh", ".cmake", ".cu", ".md", ".txt", "/judge"),
}
AT_LEAST = {"c": 40, "sh": 2, "py": 15, "text": 80}
CHUNK = 200  # files on one command line


def main() -> int:
    """The linter's exit code; 1 also when suspiciously few files were found."""
    if len(sys.argv) < 4 or sys.argv[2] not in SUFFIXES:
        print(__doc__, file=sys.stderr)
        return 2
    root, kind, tool = sys.argv[1], sys.argv[2], sys.argv[3:]
    paths = [
        path
        for path in tree.files(root)
        if ("/" + path).endswith(SUFFIXES[kind])
        and not path.startswith(("tests/fuzz/corpus/", "testcases/"))
    ]
    worst = 0
    for start in range(0, len(paths), CHUNK):
        chunk = paths[start : start + CHUNK]
        worst = max(worst, subprocess.run([*tool, *chunk], cwd=root, check=False).returncode)
    print(f"{len(paths)} files")
    if len(paths) < AT_LEAST[kind]:
        print(f"expected at least {AT_LEAST[kind]}: wrong folder?")
        return 1
    return 1 if worst else 0


if __name__ == "__main__":
    sys.exit(main())
