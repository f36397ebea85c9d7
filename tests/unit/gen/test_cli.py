"""python3 -m gen as a user meets it: output, exit codes, files."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from test_spec import MINIMAL

from gen import __main__ as cli
from gen import manifest, tensorfile
from gen.reference import Magnitudes


class TinyOracle:
    """y = x, for the problem of test_spec."""

    def reference(self, x: Any, N: int, g: float) -> Any:
        return {"y": x.copy()}

    def magnitudes(self, **inputs: Any) -> Magnitudes:
        return Magnitudes()

    def decoys(self, x: Any, N: int, g: float) -> Any:
        return {"minus": ("the sign is wrong", {"y": -x})}


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree with one small problem: three small cases, a large one, one for GPUs only."""
    monkeypatch.setattr("gen.build.oracle", lambda problem, shown: TinyOracle())
    value = copy.deepcopy(MINIMAL)
    value["domain"]["N"] = [1, 3_000_000]
    base = value["cases"][0]
    value["cases"] += [
        {**base, "name": "large", "N": 30000, "o": 0, "seed": 9},
        {**base, "name": "huge", "N": 40000, "o": 0, "needs": "gpu"},
        {**base, "name": "beyond", "N": 1100000, "o": 0, "needs": "gpu"},
    ]
    folder = tmp_path / "problems" / "tiny"
    folder.mkdir(parents=True)
    (folder / "problem.json").write_text(json.dumps(value, indent=1))
    return tmp_path


def gen(tree: Path, *words: str) -> int:
    return cli.main(["--root", str(tree), "--build", str(tree / "out"), *words])


def files(tree: Path, folder: str) -> list[str]:
    where = tree / folder / "tiny"
    return sorted(os.listdir(where)) if where.is_dir() else []


SMALL_FILES = [f"a_{c}.{kind}.safetensors" for c in ("4_0", "5_3") for kind in ("in", "ref")]


def test_expand_make_verify(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert gen(tree, "expand") == 0
    assert capsys.readouterr().out == "tiny: 5 cases, 5 made\n"
    assert files(tree, "testcases") == ["MANIFEST.json", *SMALL_FILES]
    assert files(tree, "out/cases") == []
    before = (tree / "testcases/tiny/MANIFEST.json").read_bytes()
    assert gen(tree, "expand", "tiny") == 0
    assert capsys.readouterr().out == "tiny: 5 cases, 0 made\n"
    assert gen(tree, "expand", "--again") == 0
    assert (tree / "testcases/tiny/MANIFEST.json").read_bytes() == before
    capsys.readouterr()

    assert gen(tree, "verify") == 0
    assert capsys.readouterr().out == "tiny: 4 files checked, 6 absent, 0 faults\n"
    assert gen(tree, "--progress", "make", "tiny") == 0
    printed = capsys.readouterr()
    assert printed.out == "tiny: 3 cases, 1 made\n"
    assert printed.err == "tiny: 1 of 1 cases made, large\n"
    assert files(tree, "out/cases") == ["large.in.safetensors", "large.ref.safetensors"]
    assert gen(tree, "make", "tiny", "hu*") == 0
    assert capsys.readouterr() == ("tiny: 1 cases, 1 made\n", "")
    assert gen(tree, "make", "tiny", "--all") == 0
    assert capsys.readouterr().out == "tiny: 5 cases, 1 made\n"
    assert gen(tree, "verify", "tiny") == 0
    assert capsys.readouterr().out == "tiny: 10 files checked, 0 absent, 0 faults\n"


def test_verify_sees_a_flipped_bit_and_a_lost_file(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gen(tree, "expand") == 0
    path = tree / "testcases/tiny/a_4_0.in.safetensors"
    raw = bytearray(path.read_bytes())
    raw[-1] ^= 1
    path.write_bytes(bytes(raw))
    (tree / "testcases/tiny/a_5_3.ref.safetensors").unlink()
    capsys.readouterr()
    assert gen(tree, "verify") == 1
    printed = capsys.readouterr()
    assert printed.out == "tiny: 3 files checked, 7 absent, 2 faults\n"
    assert "error: tiny/a_4_0.in.safetensors: hash " in printed.err
    assert "error: tiny/a_5_3.ref.safetensors: committed file is missing" in printed.err
    path.unlink()
    assert gen(tree, "make", "tiny") == 0  # the remedy
    assert gen(tree, "verify") == 0


def test_make_refuses_contents_that_differ_from_the_pin(
    tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert gen(tree, "expand") == 0
    monkeypatch.setattr(TinyOracle, "reference", lambda self, x, N, g: {"y": x * 2})
    assert gen(tree, "make", "tiny", "large") == 1
    error = capsys.readouterr().err
    assert (
        "error: tiny/large.ref.safetensors: made with hash" in error and "gen expand tiny" in error
    )
    assert files(tree, "out/cases") == ["large.in.safetensors"]


def test_a_stale_or_missing_manifest_names_the_remedy(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gen(tree, "make", "tiny") == 2
    shown = "testcases/tiny/MANIFEST.json"
    remedy = "run: python3 -m gen expand tiny\n"
    assert capsys.readouterr().err == f"{shown}: error: is missing; {remedy}"
    assert gen(tree, "expand") == 0
    problem = tree / "problems/tiny/problem.json"
    problem.write_text(problem.read_text() + "\n")
    assert gen(tree, "verify") == 2
    text = "was made from another problem.json or generator"
    assert capsys.readouterr().err == f"{shown}:1: error: {text}; {remedy}"
    (tree / shown).write_text("{}")
    assert gen(tree, "verify") == 2
    assert capsys.readouterr().err == f"{shown}:1: error: is not a manifest of format 1; {remedy}"
    assert gen(tree, "expand") == 0 and gen(tree, "verify") == 0


def test_expand_removes_files_of_cases_that_are_gone(tree: Path) -> None:
    assert gen(tree, "expand") == 0
    problem = tree / "problems/tiny/problem.json"
    value = json.loads(problem.read_text())
    value["cases"][0]["name"] = "b_{N}"
    problem.write_text(json.dumps(value))
    assert gen(tree, "expand") == 0
    names = [f"b_{c}.{kind}.safetensors" for c in "45" for kind in ("in", "ref")]
    assert files(tree, "testcases") == ["MANIFEST.json", *names]


def test_fresh(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert gen(tree, "expand") == 0
    out = tree / "fresh"
    assert gen(tree, "fresh", "tiny", "a_5_3", "--seed", "5e1f09c2", "--out", str(out)) == 0
    assert sorted(os.listdir(out)) == [
        "MANIFEST.json", "a_5_3.in.safetensors", "a_5_3.ref.safetensors",
    ]  # fmt: skip
    (entry,) = json.loads((out / "MANIFEST.json").read_text())["cases"]
    assert tuple(entry) == manifest.CASE_KEYS and entry["seed"] == 0x5E1F09C2
    stored, metadata = tensorfile.read(str(out / entry["files"]["in"]["path"]))
    assert metadata["seed"] == str(0x5E1F09C2)
    old, _ = tensorfile.read(str(tree / "testcases/tiny/a_5_3.in.safetensors"))
    assert (stored["x"] != old["x"]).any() and stored["N"] == old["N"]
    answer, _ = tensorfile.read(str(out / entry["files"]["ref"]["path"]))
    assert (answer["y"] == stored["x"]).all()
    capsys.readouterr()
    assert gen(tree, "fresh", "tiny", "a_5_3", "--seed", "xyz", "--out", str(out)) == 2
    assert capsys.readouterr().err == "gen: error: --seed 'xyz' must be 1 to 16 hex digits\n"
    assert gen(tree, "fresh", "tiny", "a_5_4", "--seed", "1", "--out", str(out)) == 2
    assert "no case 'a_5_4' (did you mean 'a_5_3'?)" in capsys.readouterr().err
    assert gen(tree, "fresh", "tiny", "beyond", "--seed", "1", "--out", str(out)) == 2
    assert (
        "has an array of 1100000 elements: 'fresh' takes up to 1048576" in capsys.readouterr().err
    )


FAULTS: list[tuple[dict[str, Any], str]] = [
    ({"lo": 20, "hi": 30}, "case 'a_4_0': 'x' spans 0.0..2"),
    ({"gen": "constant", "value": "nan"}, "case 'a_4_0': 'x' holds NaN, which only an advisory"),
    ({"gen": "constant", "value": "inf"}, "'x' holds an infinity, which the domain does not allow"),
    (
        {"gen": "list", "values": [1]},
        "case 'a_4_0', 'x': 'values' has 1 elements, the shape wants 4",
    ),
    ({"gen": "same", "as": "y"}, "case 'a_4_0', 'x': 'y' is no earlier array"),
]


@pytest.mark.parametrize(("change", "message"), FAULTS, ids=[m[-30:] for _, m in FAULTS])
def test_data_outside_the_domain_are_refused(
    tree: Path, capsys: pytest.CaptureFixture[str], change: dict[str, Any], message: str
) -> None:
    problem = tree / "problems/tiny/problem.json"
    value = json.loads(problem.read_text())
    spec = change if "gen" in change else {**value["cases"][0]["x"], **change}
    value["cases"][0]["x"] = spec
    problem.write_text(json.dumps(value, indent=1))
    line = next(i for i, t in enumerate(problem.read_text().splitlines(), 1) if '"x": {' in t)
    assert gen(tree, "expand") == 2
    error = capsys.readouterr().err
    assert message in error and error.startswith(f"problems/tiny/problem.json:{line}: error: ")
    assert files(tree, "testcases") == []


def test_order_and_finite_answers_are_demanded(
    tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = tree / "problems/tiny/problem.json"
    value = json.loads(problem.read_text())
    value["domain"]["x"] = [-10, 10, "ascending"]
    problem.write_text(json.dumps(value, indent=1))
    assert gen(tree, "expand") == 2
    assert "'x' is not ascending: wrap its generator in 'sorted'" in capsys.readouterr().err
    value["domain"]["x"] = [-10, 10]
    problem.write_text(json.dumps(value, indent=1))
    monkeypatch.setattr(TinyOracle, "reference", lambda self, x, N, g: {"y": x * float("inf")})
    assert gen(tree, "expand") == 2
    assert "the expected 'y' is not finite; use smaller inputs" in capsys.readouterr().err


def test_usage(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert gen(tree, "expand", "tny") == 2
    assert capsys.readouterr().err == "gen: error: no problem 'tny' (did you mean 'tiny'?)\n"
    assert gen(tree, "expand") == 0
    assert gen(tree, "make", "tiny", "lrage") == 2
    assert "no case 'lrage' (did you mean 'large'?)" in capsys.readouterr().err
    assert cli.main(["--root", str(tree / "none"), "expand"]) == 2
    assert "holds no problem.json; check --root" in capsys.readouterr().err
    with pytest.raises(SystemExit) as caught:
        gen(tree, "explode")
    assert caught.value.code == 2


def test_an_interruption_leaves_no_file(
    tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert gen(tree, "expand") == 0

    def interrupt(source: str, target: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    assert gen(tree, "make", "tiny", "large") == 130
    assert "gen: error: interrupted" in capsys.readouterr().err
    assert files(tree, "out/cases") == []


def test_an_unwritable_place_is_one_line(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "testcases").write_text("in the way")
    assert gen(tree, "expand") == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "testcases/tiny: error: Not a directory" in error


def run_module(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gen", *words],
        cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_module_runs_and_reports(tmp_path: Path) -> None:
    assert run_module("--version").stdout == "generator 1\n"
    failed = run_module("verify", "topkk")
    assert (failed.returncode, failed.stdout) == (2, "")
    assert failed.stderr == "gen: error: no problem 'topkk' (did you mean 'topk'?)\n"
    (tmp_path / "numpy.py").write_text("raise ImportError('none')")
    bare = run_module("--version", PYTHONPATH=str(tmp_path))
    assert bare.returncode == 2
    assert bare.stderr == "gen: error: this Python lacks NumPy (Debian: python3-numpy)\n"
