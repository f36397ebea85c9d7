"""Command line: python3 -m gen expand | make | verify | fresh.

Parses arguments and prints; the work is done in `manifest`. Exit codes: 0 done, 1 a file differs
from its pin, 2 bad input, 130 interrupted. Results go to stdout, progress and errors to stderr.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence

try:
    import numpy  # noqa: F401  (asked for here, so that its absence is one plain line)
except ImportError:
    print("gen: error: this Python lacks NumPy (Debian: python3-numpy)", file=sys.stderr)
    sys.exit(2)

from . import GENERATOR_VERSION, manifest
from .errors import PinError, SpecError
from .spec import Problem, load, problem_names, suggestion


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    above = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    parser = argparse.ArgumentParser(prog="gen", description="Makes the cases of the problems.")
    parser.add_argument("--root", default=above, help="tree with problems/ and testcases/")
    parser.add_argument("--build", help="where cases/<problem>/ is made (default: ROOT/build)")
    parser.add_argument("--progress", action="store_true", help="progress even without a terminal")
    parser.add_argument("--version", action="version", version=f"generator {GENERATOR_VERSION}")
    commands = parser.add_subparsers(dest="command", required=True)
    expand = commands.add_parser("expand", help="write MANIFEST.json and the committed case files")
    expand.add_argument("--again", action="store_true", help="make every case, reuse no pin")
    expand.add_argument("problems", nargs="*", metavar="P")
    make = commands.add_parser("make", help="write the case files that are missing")
    chosen = make.add_mutually_exclusive_group()
    chosen.add_argument("--all", action="store_true", help="the GPU-only cases too")
    chosen.add_argument("--no-gpu-cases", action="store_true", help="the default: without them")
    make.add_argument("problem", metavar="P")
    make.add_argument("cases", nargs="*", metavar="CASE", help="names or patterns")
    verify = commands.add_parser("verify", help="compare files with the hashes of the manifest")
    verify.add_argument("problems", nargs="*", metavar="P")
    fresh = commands.add_parser("fresh", help="one case with another seed")
    fresh.add_argument("problem", metavar="P")
    fresh.add_argument("case", metavar="CASE")
    fresh.add_argument("--seed", required=True, metavar="HEX")
    fresh.add_argument("--out", required=True, metavar="DIR")
    return parser.parse_args(argv)


def _problems(root: str, wanted: Sequence[str]) -> list[Problem]:
    known = problem_names(root)
    if not known:
        raise SpecError(os.path.join(root, "problems"), 0, "holds no problem.json; check --root")
    for name in wanted:
        if name not in known:
            raise SpecError("gen", 0, f"no problem '{name}'{suggestion(name, known)}")
    return [load(root, name) for name in (wanted or known)]


def _progress(forced: bool) -> manifest.Progress:
    shown = forced or sys.stderr.isatty()
    return lambda text: print(text, file=sys.stderr, flush=True) if shown else None


def run(options: argparse.Namespace) -> int:
    """Does what the options say; returns the exit code."""
    root = os.path.abspath(options.root)
    build_dir = os.path.abspath(options.build or os.path.join(root, "build"))
    progress = _progress(options.progress)
    if options.command == "expand":
        for problem in _problems(root, options.problems):
            count = manifest.expand(root, build_dir, problem, options.again, progress)
            print(f"{problem.name}: {len(problem.cases)} cases, {count} made")
        return 0
    if options.command == "make":
        (problem,) = _problems(root, [options.problem])
        cases = manifest.select(problem, options.cases, options.all)
        count = manifest.make(root, build_dir, problem, cases, progress)
        print(f"{problem.name}: {len(cases)} cases, {count} made")
        return 0
    if options.command == "verify":
        bad = 0
        for problem in _problems(root, options.problems):
            checked, absent, faults = manifest.verify(root, build_dir, problem)
            for fault in faults:
                print(f"error: {fault}", file=sys.stderr)
            bad += len(faults)
            print(f"{problem.name}: {checked} files checked, {absent} absent, {len(faults)} faults")
        return 1 if bad else 0
    (problem,) = _problems(root, [options.problem])
    case = problem.case(options.case)
    if case is None:
        known = (c.name for c in problem.cases)
        raise SpecError("gen", 0, f"no case '{options.case}'{suggestion(options.case, known)}")
    if re.fullmatch("[0-9a-fA-F]{1,16}", options.seed) is None:
        raise SpecError("gen", 0, f"--seed {options.seed!r} must be 1 to 16 hex digits")
    seed = int(options.seed, 16) & ((1 << 63) - 1)  # JSON readers hold 63 bits
    manifest.fresh(problem, case, seed, options.out)
    print(f"{problem.name}: {case.name} with seed {options.seed} in {options.out}")
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line; errors become one line and an exit code."""
    try:
        return run(_arguments(argv))
    except PinError as why:
        print(f"error: {why}", file=sys.stderr)
        return 1
    except SpecError as why:
        print(why, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("gen: error: interrupted; no half-written file is left", file=sys.stderr)
        return 130
    except OSError as why:
        print(f"{why.filename or 'gen'}: error: {why.strerror or why}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
