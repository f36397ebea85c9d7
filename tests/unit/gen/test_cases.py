"""The shipped cases: pins, domains, exponents, and answers that no trivial program gives."""

from __future__ import annotations

import functools
import os
from typing import Any

import numpy as np
import pytest
from conftest import PROBLEMS, ROOT, SMALL, elements, problem

from gen import build, manifest, tensorfile
from gen.reference import oracle
from gen.spec import Case

Array = Any


@functools.lru_cache(maxsize=None)
def entries(name: str) -> dict[str, dict[str, Any]]:
    return manifest.load(ROOT, problem(name))


def small_cases(name: str) -> list[Case]:
    cases = [c for c in problem(name).cases if elements(c) <= SMALL]
    assert len(cases) > 25
    return cases


@pytest.mark.parametrize("name", PROBLEMS)
def test_manifest_equals_a_fresh_expansion(name: str) -> None:
    """Small cases are made again, whole; of large ones everything that needs no data is compared."""
    assert list(entries(name)) == [case.name for case in problem(name).cases]
    for case in problem(name).cases:
        entry = entries(name)[case.name]
        static = manifest.static_entry(problem(name), case)
        assert {key: entry[key] for key in static} == static, case.name
        assert entry["traffic"] == dict(case.traffic)
    for case in small_cases(name):
        if elements(case) <= 1 << 13 or case.name.endswith("_65537"):
            assert (
                manifest.complete_entry(problem(name), case) == entries(name)[case.name]
            ), case.name


@pytest.mark.parametrize("name", PROBLEMS)
def test_committed_files_match_their_pins(name: str) -> None:
    folder = os.path.join(ROOT, "testcases", name)
    pins = [p for e in entries(name).values() for p in e["files"].values()]
    committed = [p for p in pins if p["committed"]]
    assert len(committed) > 40
    for pin in committed:
        path = manifest.file_path(ROOT, "", pin)
        assert os.path.getsize(path) == pin["bytes"], path
        assert tensorfile.sha256_of(path) == pin["sha256"], path
    for entry in entries(name).values():
        both = [entry["files"][kind] for kind in ("in", "ref")]
        total = sum(pin["bytes"] for pin in both)
        assert {pin["committed"] for pin in both} == {total <= build.COMMIT_LIMIT}, entry["name"]
    found = {f for f in os.listdir(folder) if f.endswith(".safetensors")}
    assert found == {os.path.basename(pin["path"]) for pin in committed}


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_case_is_pinned(name: str) -> None:
    for entry in entries(name).values():
        for pin in entry["files"].values():
            assert pin["bytes"] > 0 and len(pin["sha256"]) == 64 and int(pin["sha256"], 16)


@pytest.mark.parametrize("name", PROBLEMS)
def test_exponents_keep_cases_exact(name: str) -> None:
    """Both ends of every range: inputs exact, in the domain; the oracle's answer scales exactly."""
    module = oracle(name, name)
    checked = 0
    for case in small_cases(name):
        ranges = entries(name)[case.name]["exponents"]
        assert len(ranges) == len(problem(name).groups)
        if case.advisory or elements(case) > 5000:
            continue
        arrays = build.make_inputs(problem(name), case, case.seed)
        wanted = module.reference(**arrays, **case.scalars)
        for end in ("lo", "hi"):
            shifts = {
                array: pair[end]
                for group, pair in zip(problem(name).groups, ranges)
                for array in group
            }
            scaled = {n: np.ldexp(a, shifts.get(n, 0)) for n, a in arrays.items()}
            for array, values in scaled.items():
                assert (np.ldexp(values, -shifts[array]) == arrays[array]).all(), case.name
                domain = problem(name).array_range(array)
                if domain is not None:
                    assert (domain[0] <= values).all() and (values <= domain[1]).all(), case.name
            total = sum(pair[end] for pair in ranges)
            answer = module.reference(**scaled, **case.scalars)
            for output, want in wanted.items():
                assert (answer[output] == np.ldexp(want, total)).all(), (case.name, output)
                with np.errstate(over="ignore"):
                    narrow = answer[output].astype(np.float32)
                finite = np.isfinite(want)
                assert np.isfinite(narrow[finite]).all(), (case.name, output)
        checked += 1
    assert checked > 20


def judged_wrong(case: Case, want: Array, allowed: Array, answer: Array) -> bool:
    """The element rule of the judge, written once more."""
    with np.errstate(invalid="ignore"):
        close = np.abs(answer.astype(np.float64) - want.astype(np.float64)) <= allowed
    return bool(not ((answer == want) | close).all())


def test_the_rule_of_this_file_can_pass_and_fail() -> None:
    case = problem("reduction").cases[0]
    want, allowed = np.array([1.0, np.inf]), np.array([0.5, 0.5])
    assert not judged_wrong(case, want, allowed, np.array([1.5, np.inf]))
    assert judged_wrong(case, want, allowed, np.array([1.6, np.inf]))
    assert judged_wrong(case, want, allowed, np.array([1.0, 3e38]))
    assert judged_wrong(case, want, allowed, np.array([np.nan, np.inf]))


@pytest.mark.parametrize("name", PROBLEMS)
def test_trivial_answers_fail(name: str) -> None:
    """Zeros, an input's beginning, the first case's answer, every decoy: wrong in three cases."""
    module = oracle(name, name)
    wrong: dict[str, int] = {"zeros": 0, "prefix": 0, "first": 0}
    first: Array = None
    for case in small_cases(name):
        if case.advisory or elements(case) > 20000:
            continue
        arrays = build.make_inputs(problem(name), case, case.seed)
        inputs: dict[str, Any] = {**arrays, **case.scalars}
        wanted = module.reference(**inputs)
        allowed = build.tolerances(case, module, wanted, inputs)
        ((output, want),) = wanted.items()
        first = want.reshape(-1) if first is None else first
        prefix = np.concatenate([a.reshape(-1) for a in arrays.values()])[: want.size]
        answers = {
            "zeros": np.zeros_like(want),
            "prefix": np.resize(prefix, want.shape),
            "first": np.resize(first, want.shape),
        }
        for identity, (sentence, outputs) in module.decoys(**inputs).items():
            assert sentence and not sentence.endswith(".")
            answers[f"decoy {identity}"] = outputs[output]
        for label, answer in answers.items():
            assert answer.shape == want.shape, label
            differs = judged_wrong(case, want, allowed[output], answer)
            wrong[label] = wrong.get(label, 0) + differs
    assert len(wrong) >= 6
    assert all(count >= 3 for count in wrong.values()), wrong


@pytest.mark.parametrize("name", PROBLEMS)
def test_stored_files_agree_with_the_oracle(name: str) -> None:
    """References, tolerances and decoys as they lie in the committed files."""
    module = oracle(name, name)
    decoys = 0
    for case in problem(name).cases:
        entry = entries(name)[case.name]
        if not entry["files"]["ref"]["committed"]:
            continue
        inputs, meta_in = tensorfile.read(manifest.file_path(ROOT, "", entry["files"]["in"]))
        stored, meta = tensorfile.read(manifest.file_path(ROOT, "", entry["files"]["ref"]))
        for key, value in {"problem": name, "case": case.name, "key": entry["key"]}.items():
            assert meta[key] == meta_in[key] == value
        assert meta["seed"] == str(case.seed) and meta["format"] == "1"
        assert set(inputs) == {p.name for p in problem(name).params if p.is_input}
        for key, value in case.scalars.items():
            assert inputs[key].shape == () and inputs[key] == value
        if case.advisory:
            assert stored == {}
            continue
        arrays = {k: v for k, v in inputs.items() if k not in case.scalars}
        call: dict[str, Any] = {**arrays, **case.scalars}
        wanted = module.reference(**call)
        allowed = build.tolerances(case, module, wanted, call)
        for output, want in wanted.items():
            exact = case.rule["kind"] == "exact"
            assert stored[output].dtype == (np.float32 if exact else np.float64)
            assert (stored[output] == want).all()
            assert (f"tol.{output}" in stored) == (case.rule["kind"] == "tol")
            if f"tol.{output}" in stored:
                assert (stored[f"tol.{output}"] == allowed[output]).all()
            for key, decoy in stored.items():
                if key.startswith("decoy."):
                    _, identity, parameter = key.split(".")
                    assert meta[f"decoy.{identity}"] and parameter == output
                    assert judged_wrong(case, want, allowed[output], decoy)
                    decoys += 1
    assert decoys > 20
