"""lint.selftest: each lint script is shown a fault of each kind and must name it.

A check that cannot fail is none: the trees here are made wrong on purpose.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
VERDICTS = '/* verdict.def */\nX(AC, "a")\nX(WA, "b")\n#undef X\n'

# (script, files of the tree, what it must print)
CASES: list[tuple[str, dict[str, str], str]] = [
    ("layers", {"harness/a.c": "#include <cuda_runtime.h>\n"}, "never loads CUDA"),
    ("layers", {"harness/a.c": "#include <dlfcn.h>\n"}, "never loads CUDA or foreign code"),
    ("layers", {"harness/a.c": "#include <jansson.h>\n"}, "is confined to"),
    (
        "layers",
        {"harness/a.c": '#include "vgpu.h"\n', "vgpu/vgpu.h": ""},
        "which is not in harness/",
    ),
    ("layers", {"harness/a.c": '#include "cmd.h"\n', "harness/cmd.h": ""}, "arrows point down"),
    (
        "layers",
        {"harness/runner/r.c": '#include "casefile.h"\n', "harness/casefile.h": ""},
        "only diag.h",
    ),
    ("layers", {"harness/runner/r.c": "#include <jansson.h>\n"}, "reads no JSON"),
    ("layers", {"vgpu/v.c": '#include "diag.h"\n', "harness/diag.h": ""}, "which is not in vgpu/"),
    ("layers", {"vgpu/v.c": "#include <ffi.h>\n"}, "libc and pthread only"),
    ("layers", {"problems/p/a.cu": '#include "b.h"\n'}, 'problems/p/a.cu:1: includes "b.h"'),
    ("layers", {"gen/a.py": "import scipy\n"}, "gen/a.py:1: imports scipy"),
    (
        "layers",
        {"harness/a.h": '#include "b.h"\n', "harness/b.h": '#include "a.h"\n'},
        "harness/a.h -> harness/b.h -> harness/a.h",
    ),
    ("names", {"harness/a.c": "", "vgpu/a.c": ""}, "has the same name as harness/a.c"),
    ("names", {"harness/aB.c": ""}, "not snake_case"),
    ("names", {"harness/a.h": "#ifndef A_H\n#define A_H\n#endif\n"}, "should be HARNESS_A_H"),
    ("names", {"harness/a.c": "int x;\n"}, "should open with"),
    ("names", {"problems/p/Fast.cu": ""}, "'Fast' is not snake_case"),
    ("file_length", {"harness/a.c": "\n" * 1201}, "1201 lines"),
    ("file_length", {"tests/cli/a.sh": "x" * 131}, "131 characters"),
    ("words", {"harness/a.c": "/* TO" + "DO: later */\n"}, "finish it or open an issue"),
    ("words", {"harness/a.c": "int x; \n"}, "trailing space"),
    ("words", {"harness/a.c": "\tint x;\n"}, "tab; four spaces"),
    (
        "tables",
        {"harness/verdict.def": VERDICTS, "docs/verdicts.md": "## AC: accepted\n"},
        "docs/verdicts.md: headings: AC instead of AC WA",
    ),
    (
        "tables",
        {
            "harness/verdict.def": VERDICTS,
            "docs/verdicts.md": "",
            "harness/commands.def": "X(run, 1)\n",
        },
        "tests/cli/run: is missing",
    ),
    ("tables", {"docs/defences.md": "| luck | none |\n"}, "defences.md:1: a row without a test"),
    (
        "tables",
        {"docs/defences.md": "| luck | `unit.a: b` |\n", "tests/unit/test_a.c": "static void c(\n"},
        "'unit.a: b' is not in tests/unit/test_a.c",
    ),
    (
        "tables",
        {"docs/defences.md": "| luck | `*/rejects/zeros` |\n", "problems/p/rejects/ones.cu": ""},
        "is not in problems/p/rejects/zeros.cu",
    ),
]


def run(script: str, files: dict[str, str]) -> tuple[int, str]:
    """Exit code and output of a script over a tree of these files."""
    with tempfile.TemporaryDirectory() as root:
        for path in ("harness", "problems", "gen", "vgpu"):
            os.makedirs(os.path.join(root, path), exist_ok=True)
        files = {"problems/problem.schema.json": "{}", "docs/verdicts.md": "", **files}
        for path, text in files.items():
            full = os.path.join(root, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8") as stream:
                stream.write(text)
        command = [sys.executable, "-B", os.path.join(HERE, script + ".py"), root]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr


def main() -> int:
    """Shows every case to its script."""
    failed = 0
    for script, files, wanted in CASES:
        code, output = run(script, files)
        if code != 1 or wanted not in output:
            failed += 1
            print(f"{script}: exit {code}, expected 1 and '{wanted}' in:\n{output}")
    print(f"{len(CASES)} faults shown, {failed} not found")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
