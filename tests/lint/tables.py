"""lint.tables: where two places must say the same, they are compared here."""

from __future__ import annotations

import json
import os
import re

import tree

ROW = re.compile(r"^X\((\w+)")


def rows(root: str, path: str, report: tree.Report) -> list[str]:
    """First column of a .def table."""
    if not os.path.exists(os.path.join(root, path)):
        report.fault(path, 0, "is missing")
        return []
    found = [m.group(1) for m in map(ROW.match, tree.read(root, path).splitlines()) if m]
    report.seen += len(found)
    return found


def same(report: tree.Report, path: str, what: str, got: list[str], want: list[str]) -> None:
    """Order included."""
    if got != want:
        report.fault(path, 0, f"{what}: {' '.join(got)} instead of {' '.join(want)}")


def check_verdicts(root: str, report: tree.Report) -> None:
    """verdict.def and the headings of docs/verdicts.md."""
    table = rows(root, "harness/verdict.def", report)
    headings = re.findall(r"^## ([A-Z]{2,3}):", tree.read(root, "docs/verdicts.md"), re.MULTILINE)
    same(report, "docs/verdicts.md", "headings", headings, table)


def check_commands(root: str, report: tree.Report) -> None:
    """commands.def, cmd_*.c, its line in the build, its folder of tests."""
    table = rows(root, "harness/commands.def", report)
    names = os.listdir(os.path.join(root, "harness"))
    files = sorted(re.findall(r"cmd_(\w+)\.c", " ".join(names)))
    same(report, "harness", "cmd_*.c", [f for f in files if f != "common"], sorted(table))
    for command in table:
        if not os.path.isdir(os.path.join(root, "tests/cli", command)):
            report.fault(f"tests/cli/{command}", 0, "is missing: each command has tests")


def check_rules(root: str, report: tree.Report) -> None:
    """checkers.def and the kinds of rule in the schema and the reader."""
    table = [r.removeprefix("RULE_").lower() for r in rows(root, "harness/checkers.def", report)]
    schema = json.loads(tree.read(root, "problems/problem.schema.json"))
    kinds = sorted(set(find_kinds(schema)))
    same(report, "problems/problem.schema.json", "kinds", kinds, sorted(set(table) | {"survive"}))


def find_kinds(node: object) -> list[str]:
    """Constants of every property 'kind' in a schema."""
    found: list[str] = []
    if isinstance(node, dict):
        kind = node.get("properties", {}).get("kind") if "properties" in node else None
        if isinstance(kind, dict):
            found += kind.get("enum", [])
            found += [kind["const"]] if "const" in kind else []
        for child in node.values():
            found += find_kinds(child)
    elif isinstance(node, list):
        for child in node:
            found += find_kinds(child)
    return found


DEFENCE = re.compile(r"`(unit\.\w+: \w+|cli\.\w+\.\w+|[\w*]+/rejects/\w+)`")


def witness_files(root: str, witness: str) -> list[tuple[str, str]]:
    """(file, text that must stand in it) of one name in docs/defences.md."""
    if witness.startswith("unit."):
        module, function = witness.removeprefix("unit.").split(": ")
        return [(f"tests/unit/test_{module}.c", f"static void {function}(")]
    if witness.startswith("cli."):
        return [("tests/" + witness.replace(".", "/") + ".sh", "")]
    problem, _, reject = witness.split("/")
    problems = [problem]
    if problem == "*":
        folder = os.path.join(root, "problems")
        problems = [n for n in sorted(os.listdir(folder)) if os.path.isdir(f"{folder}/{n}")]
    return [(f"problems/{name}/rejects/{reject}.cu", "@expect") for name in problems]


def check_defences(root: str, report: tree.Report) -> None:
    """Each row of docs/defences.md ends with tests that exist."""
    path = "docs/defences.md"
    if not os.path.exists(os.path.join(root, path)):
        report.fault(path, 0, "is missing")
        return
    for number, line in enumerate(tree.read(root, path).splitlines(), 1):
        cells = line.strip().strip("|").split(" | ")
        if not line.startswith("| ") or cells[-1].strip() == "seen by":
            continue
        witnesses = DEFENCE.findall(cells[-1])
        report.seen += len(witnesses)
        if not witnesses:
            report.fault(path, number, "a row without a test")
        for witness in witnesses:
            for name, text in witness_files(root, witness):
                there = os.path.exists(os.path.join(root, name))
                if not there or text not in tree.read(root, name):
                    report.fault(path, number, f"'{witness}' is not in {name}")


def main() -> None:
    """Checks every pair of places."""
    root = tree.root_argument()
    report = tree.Report()
    check_verdicts(root, report)
    check_commands(root, report)
    check_rules(root, report)
    check_defences(root, report)
    report.finish(at_least=20)


if __name__ == "__main__":
    main()
