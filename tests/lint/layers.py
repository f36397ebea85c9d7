"""lint.layers: who may include whom. The table of docs/design on layers, as code."""

from __future__ import annotations

import os
import re

import tree

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
IMPORT = re.compile(r"^\s*(?:from\s+(\.*[\w.]*)\s+import|import\s+([\w.]+))")

# Third-party headers, and the only files that may know them.
CONFINED = {
    "jansson.h": {
        "jsonread.c",
        "compile_cache.c",
        "report_json.c",
        "store.c",
        "results.c",
        "findings.c",
    },
    "xxhash.h": {"keyhash.c"},
    "argp.h": {"cmd.h", "judge_main.c"},
}
RUNNER_TAKES = {"record.h", "diag.h", "xalloc.h"}
CUDA = re.compile(r"^(cuda|cublas|cub/|thrust/|nvml|vector_types|driver_types|fatbinary)")
PYTHON_MAY = re.compile(
    r"^(__future__|argparse|ast|collections|contextlib|dataclasses|decimal|difflib|fnmatch|fractions|functools"
    r"|hashlib|importlib|io|itertools|json|math|operator|os|pathlib|re|shutil|string|struct|sys|tempfile|typing"
    r"|concurrent|multiprocessing|numpy|gen|\.)"
)


def part_of(path: str) -> str:
    """The part of the tree that a file belongs to."""
    for part in ("harness/runner", "harness", "vgpu", "problems"):
        if path.startswith(part + "/"):
            return part
    return "other"


def check_harness(name: str, quoted: bool, header: str, own: set[str]) -> str | None:
    """Parent: libc, jansson, xxhash, argp and its own headers."""
    if quoted:
        return None if header in own else f'includes "{header}", which is not in harness/'
    if CUDA.match(header) or header in ("dlfcn.h", "ffi.h"):
        return f"includes <{header}>: the parent never loads CUDA or foreign code"
    allowed = CONFINED.get(header)
    if (
        allowed is not None
        and name not in allowed
        and not (header == "argp.h" and name.startswith("cmd_"))
    ):
        return f"includes <{header}>, which is confined to {', '.join(sorted(allowed))}"
    return None


def check_runner(quoted: bool, header: str, own: set[str]) -> str | None:
    """Child: it cannot leak what it cannot read."""
    if quoted:
        if header in own or header in RUNNER_TAKES:
            return None
        return f"includes \"{header}\": of the parent only {', '.join(sorted(RUNNER_TAKES))}"
    if header in CONFINED:
        return f"includes <{header}>: the child reads no JSON and no options"
    return None


def check_vgpu(quoted: bool, header: str, own: set[str]) -> str | None:
    """Virtual GPU: libc, pthread and CUDA's headers; it is loaded into other people's processes."""
    if quoted:
        return None if header in own else f'includes "{header}", which is not in vgpu/'
    if header in CONFINED or header == "ffi.h":
        return f"includes <{header}>: vgpu needs libc and pthread only"
    return None


def header_names(root: str, part: str) -> set[str]:
    """What a file of `part` may put between quotes: names, and paths below the part's folder."""
    names = set()
    for path in tree.files(os.path.join(root, part), ".h", ".def", ".inc"):
        if part == "harness" and path.startswith("runner/"):
            continue
        names.add(path)
        names.add(os.path.basename(path))
    return names


def find_cycle(graph: dict[str, list[str]]) -> list[str] | None:
    """A cycle of header includes, or None. Depth-first with colours."""
    colour: dict[str, int] = {}
    path: list[str] = []

    def visit(node: str) -> list[str] | None:
        colour[node] = 1
        path.append(node)
        for successor in graph.get(node, []):
            if colour.get(successor) == 1:
                return path[path.index(successor) :] + [successor]
            if successor not in colour:
                found = visit(successor)
                if found:
                    return found
        path.pop()
        colour[node] = 2
        return None

    for start in sorted(graph):
        if start not in colour:
            found = visit(start)
            if found:
                return found
    return None


def check_c(root: str, report: tree.Report) -> None:
    """All C files and headers of the product."""
    own = {part: header_names(root, part) for part in ("harness", "harness/runner", "vgpu")}
    graph: dict[str, list[str]] = {}
    for path in tree.files(root, ".c", ".h", ".def"):
        part = part_of(path)
        if part not in own:
            continue
        report.seen += 1
        name = os.path.basename(path)
        for number, line in enumerate(tree.read(root, path).splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            quoted, header = match.group(1) == '"', match.group(2)
            if quoted and header.startswith("../") and part == "vgpu":
                header = os.path.normpath(os.path.join(os.path.dirname(path), header))
                header = os.path.relpath(header, part)
            if quoted and path.endswith(".h"):
                graph.setdefault(f"{part}/{name}", []).append(f"{part}/{os.path.basename(header)}")
            if part == "harness":
                fault = check_harness(name, quoted, header, own[part])
            elif part == "harness/runner":
                fault = check_runner(quoted, header, own[part])
            else:
                fault = check_vgpu(quoted, header, own[part])
            if fault:
                report.fault(path, number, fault)
            if (
                header == "cmd.h"
                and not name.startswith("cmd_")
                and name
                not in (
                    "judge_main.c",
                    "cmd.h",
                )
            ):
                report.fault(path, number, "only commands include cmd.h: arrows point down")
    cycle = find_cycle(graph)
    if cycle:
        report.fault(cycle[0], 0, "headers include each other: " + " -> ".join(cycle))


def check_solutions(root: str, report: tree.Report) -> None:
    """A solution is one self-contained file."""
    for path in tree.files(os.path.join(root, "problems"), ".cu"):
        report.seen += 1
        for number, line in enumerate(tree.read(root, "problems/" + path).splitlines(), 1):
            match = INCLUDE.match(line)
            if match and match.group(1) == '"':
                report.fault("problems/" + path, number, f'includes "{match.group(2)}"')


def check_python(root: str, report: tree.Report) -> None:
    """gen/ knows Python, NumPy and itself."""
    for path in tree.files(os.path.join(root, "gen"), ".py"):
        report.seen += 1
        for number, line in enumerate(tree.read(root, "gen/" + path).splitlines(), 1):
            match = IMPORT.match(line)
            if match and not PYTHON_MAY.match(match.group(1) or match.group(2)):
                report.fault("gen/" + path, number, f"imports {match.group(1) or match.group(2)}")


def main() -> None:
    """Checks every part."""
    root = tree.root_argument()
    report = tree.Report()
    check_c(root, report)
    check_solutions(root, report)
    check_python(root, report)
    report.finish(at_least=60)


if __name__ == "__main__":
    main()
