"""MANIFEST.json and the case files it pins: expand, make, verify, fresh.

The only module that writes. Manifests and case files appear by rename, so an interrupted run leaves
none half-written.
"""

from __future__ import annotations

import fnmatch
import json
import os
from collections.abc import Callable, Iterable
from typing import Any

from . import GENERATOR_VERSION, tensorfile
from .build import Made, build, case_key
from .errors import PinError, SpecError
from .spec import Case, Problem, suggestion
from .strictjson import parse_file
from .workers import spread

FRESH_LIMIT = 1 << 20
"""Largest array of a case that `fresh` accepts."""

Entry = dict[str, Any]
Progress = Callable[[str], None]
KINDS = ("in", "ref")
CASE_KEYS = (
    "name", "key", "tags", "check", "rule", "needs", "advisory", "seed", "note", "scalars", "shapes",
    "offsets", "exponents", "traffic", "files",
)  # fmt: skip


def manifest_path(root: str, name: str) -> str:
    """Where a problem's manifest lies."""
    return os.path.join(root, "testcases", name, "MANIFEST.json")


def _shown(name: str) -> str:
    return f"testcases/{name}/MANIFEST.json"


def file_path(root: str, build_dir: str, pin: Entry) -> str:
    """Where the file of a pin lies, or would lie."""
    base = "testcases" if pin["committed"] else os.path.join(build_dir, "cases")
    return os.path.join(root, base, *pin["path"].split("/"))


def load(root: str, problem: Problem, stale_ok: bool = False) -> dict[str, Entry]:
    """Entries of the committed manifest by case name, in its order.

    With stale_ok a missing or outdated manifest gives what it has; otherwise it is an error that
    names the command to run.
    """
    path, shown = manifest_path(root, problem.name), _shown(problem.name)
    remedy = f"run: python3 -m gen expand {problem.name}"
    if not os.path.exists(path):
        if stale_ok:
            return {}
        raise SpecError(shown, 0, f"is missing; {remedy}")
    document, _ = parse_file(path, shown)
    top = document.value
    good = isinstance(top, dict) and isinstance(top.get("cases"), list) and top.get("format") == 1
    if not good or not all(set(e) == set(CASE_KEYS) for e in top["cases"] if isinstance(e, dict)):
        if stale_ok:
            return {}
        raise SpecError(shown, 1, f"is not a manifest of format 1; {remedy}")
    current = top.get("spec_sha256") == problem.sha256
    if not stale_ok and (not current or top.get("generator") != GENERATOR_VERSION):
        raise SpecError(shown, 1, f"was made from another problem.json or generator; {remedy}")
    return {entry["name"]: entry for entry in top["cases"]}


def static_entry(problem: Problem, case: Case) -> Entry:
    """The part of an entry that needs no data."""
    return {
        "name": case.name,
        "key": case_key(problem, case),
        "tags": list(case.tags),
        "check": case.check,
        "rule": dict(case.rule),
        "needs": list(case.needs),
        "advisory": case.advisory,
        "seed": case.seed,
        "note": case.note,
        "scalars": dict(case.scalars),
        "shapes": {name: list(shape) for name, shape in case.shapes.items()},
        "offsets": dict(case.offsets),
    }


def _finish(problem: Problem, case: Case, made: Made, pins: dict[str, Entry]) -> Entry:
    entry = static_entry(problem, case)
    entry["exponents"] = [{"lo": low, "hi": high} for low, high in made.exponents]
    entry["traffic"] = dict(case.traffic)
    entry["files"] = pins
    return entry


def _relative(problem: Problem, case: Case, kind: str) -> str:
    return f"{problem.name}/{case.name}.{kind}.safetensors"


def _contents(made: Made, kind: str) -> tuple[Any, Any]:
    if kind == "in":
        return made.inputs, made.metadata_in
    return made.outputs, made.metadata_ref


def complete_entry(
    problem: Problem, case: Case, root: str | None = None, build_dir: str = "", keep: bool = False
) -> Entry:
    """Makes a case and returns its whole entry.

    With a root, the files of a committed case are written; with `keep` those of any case are.
    """
    made = build(problem, case)
    pins: dict[str, Entry] = {}
    for kind in KINDS:
        pin: Entry = {"path": _relative(problem, case, kind), "committed": made.committed}
        target = None
        if root is not None and (made.committed or keep):
            target = file_path(root, build_dir, pin)
            os.makedirs(os.path.dirname(target), exist_ok=True)
        written = tensorfile.write(target, *_contents(made, kind))
        pins[kind] = {
            "path": pin["path"],
            "bytes": written.size,
            "sha256": written.sha256,
            "committed": made.committed,
        }
    return _finish(problem, case, made, pins)


def _reusable(root: str, build_dir: str, entry: Entry | None, key: str) -> bool:
    """Whether an old entry still holds: same key, and its committed files lie where they should."""
    if entry is None or entry["key"] != key:
        return False
    pins = entry["files"].values()
    return all(not p["committed"] or os.path.exists(file_path(root, build_dir, p)) for p in pins)


def document_text(problem: Problem, entries: Iterable[Entry]) -> str:
    """The manifest as text: one line for each case, so that a change shows as one line."""
    head = {
        "format": 1,
        "problem": problem.name,
        "generator": GENERATOR_VERSION,
        "spec_sha256": problem.sha256,
    }
    lines = ",\n ".join(json.dumps(entry, allow_nan=False) for entry in entries)
    return json.dumps(head)[:-1] + f', "cases": [\n {lines}]}}\n'


def expand(root: str, build_dir: str, problem: Problem, again: bool, progress: Progress) -> int:
    """Writes the manifest and the committed case files; returns how many cases had to be made.

    Entries whose key is unchanged are kept, unless `again`.
    """
    old = {} if again else load(root, problem, stale_ok=True)
    entries: dict[int, Entry] = {}
    wanted = []
    for index, case in enumerate(problem.cases):
        static = static_entry(problem, case)
        previous = old.get(case.name)
        if previous is None or not _reusable(root, build_dir, previous, static["key"]):
            wanted.append(index)
            continue
        entry = {**static, "exponents": previous["exponents"], "traffic": dict(case.traffic)}
        entries[index] = {**entry, "files": previous["files"]}
    jobs = [(problem, problem.cases[index], root, build_dir) for index in wanted]
    made = spread(_complete, jobs, [_elements(job[1]) for job in jobs])
    for count, (job, entry) in enumerate(made, 1):
        progress(f"{problem.name}: {count} of {len(wanted)} cases made, {jobs[job][1].name}")
        entries[wanted[job]] = entry
    ordered = [entries[index] for index in range(len(problem.cases))]
    _remove_stray(root, problem, ordered)
    write_text(manifest_path(root, problem.name), document_text(problem, ordered))
    return len(wanted)


def _complete(job: tuple[Problem, Case, str, str]) -> Entry:
    return complete_entry(*job)


def _elements(case: Case) -> int:
    """Elements of all arrays of a case."""
    return sum(_product(shape) for shape in case.shapes.values())


def _remove_stray(root: str, problem: Problem, entries: Iterable[Entry]) -> None:
    """Deletes committed case files that no entry names any more."""
    folder = os.path.join(root, "testcases", problem.name)
    named = {
        os.path.basename(pin["path"])
        for entry in entries
        for pin in entry["files"].values()
        if pin["committed"]
    }
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        if name.endswith(".safetensors") and name not in named:
            os.unlink(os.path.join(folder, name))


def write_text(path: str, text: str) -> None:
    """Writes a text file under a temporary name and renames it."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    temporary = f"{path}.tmp{os.getpid()}"
    try:
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def select(problem: Problem, patterns: Iterable[str], with_gpu: bool) -> list[Case]:
    """Cases whose names match a pattern; without patterns all, the GPU-only ones on request."""
    patterns = list(patterns)
    if not patterns:
        return [case for case in problem.cases if with_gpu or not case.needs]
    chosen = set()
    for pattern in patterns:
        matching = [c.name for c in problem.cases if fnmatch.fnmatchcase(c.name, pattern)]
        if not matching:
            text = f"no case '{pattern}'{suggestion(pattern, (c.name for c in problem.cases))}"
            raise SpecError(problem.document.name, 0, text)
        chosen.update(matching)
    return [case for case in problem.cases if case.name in chosen]


def make(
    root: str, build_dir: str, problem: Problem, cases: Iterable[Case], progress: Progress
) -> int:
    """Writes the case files that are missing or have the wrong size; returns how many cases.

    Files are hashed while they are written and must equal their pins; otherwise they are removed.
    """
    manifest = load(root, problem)
    jobs: list[MakeJob] = []
    for case in cases:
        pins = manifest[case.name]["files"]
        paths = {kind: file_path(root, build_dir, pins[kind]) for kind in KINDS}
        if any(not _has_size(paths[kind], pins[kind]["bytes"]) for kind in KINDS):
            jobs.append((problem, case, pins, paths))
    made = spread(_make_files, jobs, [_elements(job[1]) for job in jobs])
    for count, (index, _) in enumerate(made, 1):
        progress(f"{problem.name}: {count} of {len(jobs)} cases made, {jobs[index][1].name}")
    return len(jobs)


MakeJob = tuple[Problem, Case, dict[str, Entry], dict[str, str]]


def _make_files(job: MakeJob) -> None:
    """Both files of one case, each compared with its pin."""
    problem, case, pins, paths = job
    made = build(problem, case)
    for kind in KINDS:
        os.makedirs(os.path.dirname(paths[kind]), exist_ok=True)
        written = tensorfile.write(paths[kind], *_contents(made, kind))
        if written.sha256 != pins[kind]["sha256"]:
            os.unlink(paths[kind])
            raise PinError(
                f"{pins[kind]['path']}: made with hash {written.sha256}, pinned is "
                f"{pins[kind]['sha256']}: generator or NumPy changed; raise GENERATOR_VERSION "
                f"and run: python3 -m gen expand {problem.name}"
            )


def _has_size(path: str, size: int) -> bool:
    return os.path.isfile(path) and os.path.getsize(path) == size


def verify(root: str, build_dir: str, problem: Problem) -> tuple[int, int, list[str]]:
    """Compares files with pins: files checked, files not made yet, and a text for each fault.

    A committed file must exist; another one may be absent.
    """
    checked, absent, faults = 0, 0, []
    manifest = load(root, problem)
    names = [case.name for case in problem.cases]
    if list(manifest) != names:
        faults.append(f"{_shown(problem.name)}: its cases are not those of problem.json")
    for entry in manifest.values():
        for kind in KINDS:
            pin = entry["files"][kind]
            path = file_path(root, build_dir, pin)
            if not os.path.isfile(path):
                absent += 1
                if pin["committed"]:
                    faults.append(f"{pin['path']}: committed file is missing")
                continue
            checked += 1
            found = tensorfile.sha256_of(path)
            if found != pin["sha256"]:
                faults.append(f"{pin['path']}: hash {found}, pinned is {pin['sha256']}")
    return checked, absent, faults


def fresh(problem: Problem, case: Case, seed: int, out: str) -> None:
    """Writes a case with another seed, and a manifest of that one case, into the folder `out`."""
    sizes = [case.shapes[name] for name in case.shapes]
    largest = max((_product(shape) for shape in sizes), default=0)
    if largest > FRESH_LIMIT:
        text = f"case '{case.name}' has an array of {largest} elements: "
        raise SpecError(problem.document.name, 0, text + f"'fresh' takes up to {FRESH_LIMIT}")
    made = build(problem, case, seed)
    os.makedirs(out, exist_ok=True)
    pins: dict[str, Entry] = {}
    for kind in KINDS:
        name = f"{case.name}.{kind}.safetensors"
        written = tensorfile.write(os.path.join(out, name), *_contents(made, kind))
        pins[kind] = {
            "path": name,
            "bytes": written.size,
            "sha256": written.sha256,
            "committed": False,
        }
    entry = {**_finish(problem, case, made, pins), "seed": seed}
    write_text(os.path.join(out, "MANIFEST.json"), document_text(problem, [entry]))


def _product(shape: Iterable[int]) -> int:
    result = 1
    for size in shape:
        result *= size
    return result
