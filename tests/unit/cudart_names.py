"""Compares the names that libcudart.so.13 exports with api.def and, if given, with the real library."""

from __future__ import annotations

import re
import subprocess
import sys

OURS = {"warpjudge_vgpu_flush", "warpjudge_vgpu_name"}


def exported(nm: str, library: str) -> set[str]:
    """Names of defined functions, without their version; asserts that every one has the version node."""
    out = subprocess.run(
        [nm, "-D", "--defined-only", library], check=True, capture_output=True, text=True
    )
    names = set()
    for line in out.stdout.splitlines():
        name, _, version = line.split()[-1].partition("@@")
        if line.split()[-2] == "A":
            continue
        assert version == "libcudart.so.13", f"{name} has version '{version}'"
        names.add(name)
    return names


def report(title: str, names: set[str]) -> bool:
    for name in sorted(names):
        print(f"{title}: {name}")
    return bool(names)


def main(nm: str, library: str, table: str, real: str = "") -> int:
    with open(table, encoding="utf-8") as f:
        listed = set(re.findall(r"^API_(?:DONE|REFUSED)\((\w+)\)$", f.read(), re.M))
    ours = exported(nm, library) - OURS
    assert len(listed) > 400, f"{table}: only {len(listed)} rows"
    bad = report("in api.def, not exported", listed - ours)
    bad |= report("exported, not in api.def", ours - listed)
    if real and not real.endswith("NOTFOUND"):
        theirs = exported(nm, real)
        bad |= report("exported by the real library only", theirs - ours)
        bad |= report("not exported by the real library", ours - theirs)
    else:
        print("the real library is not installed: compared with api.def only")
    print(f"{len(ours)} names")
    return 1 if bad else 0


sys.exit(main(*sys.argv[1:]))
