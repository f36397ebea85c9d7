#!/usr/bin/env python3
"""Compares the virtual GPU with what real GPUs answered and writes docs/ptx-conformance.md.

usage: conformance.py PTXRUN            writes the page
       conformance.py PTXRUN --check    fails when the page is stale or a value leaves its bound

Every .ptx with a .gold beside it runs once; each value of each result buffer is compared. Nothing
is judged that has no gold file: those tests hold their own expectations (//! expect).
"""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(HERE, "..", "..", "docs", "ptx-conformance.md")

# type -> (stored fraction bits, exponent bits) of the float types
FLOATS = {"f16": (10, 5), "bf16": (7, 8), "f32": (23, 8), "unit": (23, 8), "f64": (52, 11)}
BOUND = re.compile(r"^//! (ulp|relative|absolute) (\S+)", re.MULTILINE)


@dataclass
class Tally:
    """Counts of one area, or of one result of an approximate form."""

    files: int = 0
    values: int = 0
    equal: int = 0
    bounded: int = 0
    outside: int = 0
    share: float = 0.0  # the worst difference, in parts of what is allowed


@dataclass
class Results:
    """What all files together gave."""

    areas: dict[str, Tally] = field(default_factory=dict)
    approximate: list[tuple[str, str, str, Tally]] = field(default_factory=list)
    heads: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


def buffers(text: str) -> dict[str, tuple[str, list[int]]]:
    """Result buffers in the form of a gold file: name -> (type, bit patterns)."""
    found: dict[str, tuple[str, list[int]]] = {}
    values: list[int] = []
    for line in text.splitlines():
        if line.startswith("buffer "):
            _, name, kind, _ = line.split()
            values = []
            found[name] = (kind, values)
        elif line and found and re.fullmatch(r"[0-9a-f ]+", line):
            values.extend(int(v, 16) for v in line.split())
    return found


def number(bits: int, kind: str) -> float:
    """The value of an encoding; an infinity or a NaN is not a number that has a distance."""
    fraction, exponent = FLOATS[kind]
    if kind == "f64":
        return float(struct.unpack("<d", struct.pack("<Q", bits))[0])
    biased = bits >> fraction & (1 << exponent) - 1
    part = bits & (1 << fraction) - 1
    size = part if biased == 0 else part | 1 << fraction
    scale = max(biased, 1) - ((1 << exponent - 1) - 1) - fraction
    value = float(size) * 2.0**scale
    return -value if bits >> fraction + exponent else value


def finite(bits: int, kind: str) -> bool:
    fraction, exponent = FLOATS[kind]
    return bits >> fraction & (1 << exponent) - 1 != (1 << exponent) - 1


def steps(bits: int, kind: str) -> int:
    """Position on the line of all floats: neighbours differ by one, both zeros are 0."""
    sign = 1 << sum(FLOATS[kind])
    return -(bits - sign) if bits & sign else bits


def compare(got: list[int], gold: list[int], kind: str, bound: dict[str, float], t: Tally) -> int:
    """Counts into t; the number of values outside the bound."""
    outside = 0
    for a, b in zip(got, gold, strict=True):
        t.values += 1
        if a == b:
            t.equal += 1
            continue
        inside = False
        if bound and kind in FLOATS and finite(a, kind) and finite(b, kind):
            x, y = number(a, kind), number(b, kind)
            differences = {
                "ulp": abs(steps(a, kind) - steps(b, kind)),
                "absolute": abs(x - y),
                "relative": abs(x - y) / abs(y) if y else float("inf"),
            }
            share = min(differences[k] / limit for k, limit in bound.items())
            inside = share <= 1
            t.share = max(t.share, share)
        if inside:
            t.bounded += 1
        else:
            outside += 1
    t.outside += outside
    return outside


def run_file(ptxrun: str, path: str, results: Results) -> None:
    """Runs one test file and compares each of its result buffers."""
    area, name = os.path.basename(os.path.dirname(path)), os.path.basename(path)[:-4]
    with open(path, encoding="utf-8") as f:
        text = f.read()
    with open(path[:-4] + ".gold", encoding="utf-8") as f:
        gold_text = f.read()
    results.heads[gold_text.splitlines()[0].removeprefix("# recorded on ")] += 1
    bound = {k: float(v) for k, v in BOUND.findall(text)}
    forms = re.findall(r"\b([a-z]\w*(?:\.\w+)*\.approx\S*|div\.full\S*) %", text)
    done = subprocess.run([ptxrun, path], capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != 0:
        results.faults.append(f"{area}/{name}: ptxrun ends with {done.returncode}: {done.stderr}")
        return
    got, gold = buffers(done.stdout), buffers(gold_text)
    if got.keys() != gold.keys():
        results.faults.append(f"{area}/{name}: has buffers {list(got)}, gold has {list(gold)}")
        return
    total = results.areas.setdefault(area, Tally())
    total.files += 1
    for i, key in enumerate(gold):
        kind, want = gold[key]
        t = Tally()
        outside = compare(got[key][1], want, kind, bound, t)
        if outside:
            results.faults.append(f"{area}/{name}: {key}: {outside} values outside the bound")
        for count in ("values", "equal", "bounded", "outside"):
            setattr(total, count, getattr(total, count) + getattr(t, count))
        if bound:
            limit = " or ".join(f"{k} {v:g}" for k, v in bound.items())
            what = f"`{forms[i]}`" if i < len(forms) else f"{area}/{name}: {key}"
            results.approximate.append((what, kind, limit, t))


def render(results: Results) -> str:
    """The page."""
    recorded = "; ".join(f"{n} files: {head}" for head, n in sorted(results.heads.items()))
    lines = [
        "# Conformance of the virtual GPU",
        "",
        "Generated by `tests/ptx/conformance.py PTXRUN`; do not edit. `lint.ptx_conformance` fails",
        "when it is stale.",
        "",
        "The gold files beside the tests hold what a real GPU answered to the same PTX text and the",
        "same operands; `tests/ptx/record.c` recorded them with",
        "",
        "    cc -O2 -D_GNU_SOURCE -I vgpu/tool tests/ptx/record.c vgpu/tool/ptxtest.c -ldl -o record",
        "    ./record OUT tests/ptx/*/*.ptx",
        "",
        f"Recorded on: {recorded}.",
        "",
        "| area | files | values | equal in every bit | within the stated bound | outside |",
        "|---|---|---|---|---|---|",
    ]
    total = Tally()
    for area, t in sorted(results.areas.items()):
        lines.append(f"| {area} | {t.files} | {t.values} | {t.equal} | {t.bounded} | {t.outside} |")
        for count in ("files", "values", "equal", "bounded", "outside"):
            setattr(total, count, getattr(total, count) + getattr(t, count))
    t = total
    lines.append(f"| all | {t.files} | {t.values} | {t.equal} | {t.bounded} | {t.outside} |")
    lines += [
        "",
        "## Results with a bound",
        "",
        "Infinities and NaNs must agree in every bit. *Worst* is the largest difference in parts of",
        "the bound; where a test has two bounds, either will do. Their origin stands in the test file.",
        "",
        "| form or result | type | bound | values | equal | worst |",
        "|---|---|---|---|---|---|",
    ]
    for form, kind, limit, t in results.approximate:
        lines.append(f"| {form} | {kind} | {limit} | {t.values} | {t.equal} | {t.share:.2f} |")
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    if len(arguments) not in (1, 2) or arguments[1:] not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    results = Results()
    for folder, _, names in sorted(os.walk(HERE)):
        for name in sorted(names):
            path = os.path.join(folder, name)
            if name.endswith(".ptx") and os.path.exists(path[:-4] + ".gold"):
                run_file(arguments[0], path, results)
    for fault in results.faults:
        print(fault, file=sys.stderr)
    if not results.areas:
        print("no gold file was found", file=sys.stderr)
        return 1
    page = render(results)
    if len(arguments) == 2:
        with open(PAGE, encoding="utf-8") as f:
            stale = f.read() != page
        if stale:
            print("docs/ptx-conformance.md is stale; run conformance.py again", file=sys.stderr)
        return 1 if stale or results.faults else 0
    with open(PAGE, "w", encoding="utf-8") as out:
        out.write(page)
    return 1 if results.faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
