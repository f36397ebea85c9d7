"""Compares what the virtual GPU's runtime answers with what the real one answered on a device.

cudart_answers.gold holds the real answers, by sections ("# name"). cudart_answers.differs lists the
lines that may differ: `section | regular expression | reason`; a rule that fits no difference is stale
and fails, so the list cannot hide anything that has been mended since.
"""

from __future__ import annotations

import difflib
import os
import re
import subprocess
import sys


def sections(text: str) -> dict[str, list[str]]:
    """Lines by section."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in text.splitlines():
        if line.startswith("# "):
            name = line[2:]
            found[name] = []
        elif name:
            found[name].append(line)
    return found


class Rules:
    """The allowed differences and which of them were met."""

    def __init__(self, path: str) -> None:
        self.rules: list[tuple[str, re.Pattern[str]]] = []
        self.used: set[int] = set()
        with open(path, encoding="utf-8") as f:
            for line in f:
                if not line.strip() or line.startswith("#"):
                    continue
                section, pattern, reason = (part.strip() for part in line.split(" | ", 2))
                assert reason, f"a rule without a reason: {line}"
                self.rules.append((section, re.compile(pattern)))

    def allows(self, section: str, line: str) -> bool:
        hit = False
        for i, (name, pattern) in enumerate(self.rules):
            if name in ("*", section) and pattern.fullmatch(line):
                self.used.add(i)
                hit = True
        return hit


def compare(gold: dict[str, list[str]], got: dict[str, list[str]], rules: Rules) -> int:
    """Prints every difference that no rule allows; returns their number."""
    bad = 0
    for name, recorded in gold.items():
        for line in difflib.ndiff(recorded, got.get(name, [])):
            if line[:2] in ("- ", "+ ") and not rules.allows(name, line[2:]):
                print(f"{name}: {'recorded' if line[0] == '-' else 'answered'}: {line[2:]}")
                bad += 1
    return bad


def main(program: str, gold_path: str, differs_path: str) -> int:
    with open(gold_path, encoding="utf-8") as f:
        gold = sections(f.read())
    sink = os.open(os.devnull, os.O_WRONLY)  # for findings: not part of an answer
    run = subprocess.run(
        [program, *gold],
        capture_output=True,
        env=dict(os.environ, WARPJUDGE_VGPU=f"fd={sink}"),
        pass_fds=(sink,),
        check=False,
    )
    got = sections(run.stdout.decode("utf-8", "replace"))
    rules = Rules(differs_path)
    bad = compare(gold, got, rules)
    for i, (section, pattern) in enumerate(rules.rules):
        if i not in rules.used:
            print(f"stale rule: {section} | {pattern.pattern}")
            bad += 1
    count = sum(len(lines) for lines in got.values())
    print(f"{count} answers, {len(rules.rules)} rules for what may differ, {bad} differences")
    return 1 if bad or run.returncode or count < 700 else 0


sys.exit(main(*sys.argv[1:]))
