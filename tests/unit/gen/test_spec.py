"""problem.json: the shipped ones fit the schema, and every fault is refused with line and remedy."""

from __future__ import annotations

import copy
import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from conftest import PROBLEMS, ROOT, problem

from gen import spec
from gen.errors import SpecError
from gen.generators import GENERATORS

CASES = {"decay_attention": 103, "dot": 63, "parallel_merge": 105, "reduction": 87, "topk": 96}

SCHEMA = json.loads(Path(ROOT, "problems", "problem.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)

MINIMAL: dict[str, Any] = {
    "format": 1,
    "name": "tiny",
    "title": "Tiny",
    "perf_version": 1,
    "params": [
        {"name": "x", "dir": "in", "dtype": "f32", "shape": ["N"]},
        {"name": "y", "dir": "out", "dtype": "f32", "shape": ["N"]},
        {"name": "N", "dir": "in", "dtype": "i32"},
        {"name": "g", "dir": "in", "dtype": "f32"},
    ],
    "domain": {"N": [1, 100], "x": [-10, 10]},
    "check": {"strict": {"kind": "exact"}, "live": {"kind": "survive"}},
    "rescale": {"groups": [["x"]], "negate": True},
    "limits": {"time_s": 1, "vgpu_time_s": 10, "vgpu_minstr": 1, "memory_mib": 1},
    "traffic": {"read": "4*N", "write": "4*N", "flops": 0},
    "cases": [
        {
            "name": "a_{N}_{o}",
            "tags": ["edge"],
            "N": [4, 5],
            "o": [0, 3],
            "g": 0.1,
            "offset": {"x": "$o"},
            "x": {"gen": "uniform", "lo": -1, "hi": 1},
        }
    ],
}


def load(folder: Path, value: Any) -> spec.Problem:
    target = folder / "problems" / "tiny"
    target.mkdir(parents=True, exist_ok=True)
    text = value if isinstance(value, str) else json.dumps(value, indent=1)
    (target / "problem.json").write_text(text)
    return spec.load(str(folder), "tiny")


def test_every_problem_is_covered() -> None:
    assert spec.problem_names(ROOT) == sorted(PROBLEMS)


@pytest.mark.parametrize("name", PROBLEMS)
def test_shipped_problems(name: str) -> None:
    value = json.loads(Path(ROOT, "problems", name, "problem.json").read_text())
    assert list(VALIDATOR.iter_errors(value)) == []
    assert len(problem(name).cases) == CASES[name]
    assert os.path.isfile(os.path.join(ROOT, "problems", name, "statement.md"))
    starter = Path(ROOT, "problems", name, "starter.cu.txt").read_text()
    assert 'extern "C" void solve(' in starter
    names = [p["name"] for p in value["params"]]
    places = [starter.index(" " + n, starter.index("solve(")) for n in names]
    assert places == sorted(places)


def test_schema_and_table_name_the_same_generators_and_arguments() -> None:
    listed = {
        entry["properties"]["gen"]["const"]: entry
        for entry in SCHEMA["$defs"]["generator"]["oneOf"]
    }
    assert set(listed) == set(GENERATORS)
    for name, entry in listed.items():
        row = GENERATORS[name]
        assert set(entry["properties"]) - {"gen"} == set(row.arguments), name
        assert set(entry["required"]) - {"gen"} == set(row.arguments) - set(row.defaults), name
        assert entry["description"]
    assert set(SCHEMA["required"]) == set(spec.TOP_KEYS)
    assert set(SCHEMA["$defs"]["case"]["properties"]) == set(spec.CASE_KEYS)


def test_expansion(tmp_path: Path) -> None:
    value = copy.deepcopy(MINIMAL)
    value["cases"].append({**value["cases"][0], "name": "b", "N": 7, "o": 0, "seed": 3})
    found = load(tmp_path, value)
    assert [c.name for c in found.cases] == ["a_4_0", "b", "a_5_3"]  # misaligned last
    last = found.cases[-1]
    assert last.offsets == {"x": 3, "y": 0} and last.shapes == {"x": (5,), "y": (5,)}
    assert last.scalars == {"N": 5, "g": 0.10000000149011612} and last.traffic["read"] == 20
    assert list(VALIDATOR.iter_errors(value)) == []


def case(**changes: Any) -> dict[str, Any]:
    entry = {**copy.deepcopy(MINIMAL["cases"][0]), **changes}
    return {"cases": [{k: v for k, v in entry.items() if v is not None}]}


GEN = {"gen": "constant", "value": 1}
FAULTS: list[tuple[dict[str, Any], str]] = [
    ({"colour": 1}, "unknown key 'colour'"),
    ({"limit": 1}, "unknown key 'limit' (did you mean 'limits'?)"),
    ({"format": 2}, "'format' must be 1: no other format is known"),
    ({"name": "big"}, "'name' must be 'tiny', the folder's name"),
    ({"title": ""}, "'title' must be a text"),
    ({"perf_version": 0}, "'perf_version' must be an integer from 1"),
    ({"params": []}, "'params' must be a list of parameters"),
    (
        {"params": [{"name": "x", "dir": "in", "dtype": "f32", "shaped": 1}]},
        "unknown key 'shaped' (did you mean 'shape'?)",
    ),
    ({"params": [{"name": "x", "dir": "in"}]}, "'params.0' lacks the key 'dtype': add it"),
    (
        {"params": [{"name": "x", "dir": "up", "dtype": "f32"}]},
        "'params.0.dir' is 'up': expected one of in, out, inout",
    ),
    (
        {"params": [{"name": "x", "dir": "in", "dtype": "bf16", "shape": [1]}]},
        "dtype 'bf16' is not made by gen",
    ),
    (
        {"params": [{"name": "x", "dir": "out", "dtype": "f32"}]},
        "scalar 'x' must have dir 'in'",
    ),
    (
        {"params": [{"name": "seed", "dir": "in", "dtype": "f32"}]},
        "parameter name 'seed' is taken: rename it",
    ),
    ({"domain": {"N": [1]}}, "'domain.N' must be [lo, hi]"),
    ({"domain": {"M": [1, 2]}}, "'domain.M': unknown name 'M' in 'M' (known: N, g)"),
    ({"domain": {"x": [2, 1]}}, "'domain.x' must be [lo, hi] or [lo, hi, \"ascending\"]"),
    (
        {"check": {"site": {"kind": "exact"}}},
        "'check' lacks the rule 'strict', the default: add it",
    ),
    (
        {"check": {"strict": {"kind": "near"}}},
        "'check.strict.kind' is 'near': expected one of exact",
    ),
    (
        {"check": {"strict": {"kind": "tol", "atol": 0, "rtol": 0}}},
        "'check.strict' lacks the key 'bound': add it",
    ),
    (
        {"check": {"strict": {"kind": "allclose", "atol": -1, "rtol": 0}}},
        "'check.strict.atol' must be a number from 0",
    ),
    ({"rescale": {"groups": [["N"]], "negate": True}}, "'N' in 'rescale.groups' is no float input"),
    (
        {"domain": {"x": [-1, 10]}},
        "'negate' needs a symmetric domain of 'x': widen it, or set it to false",
    ),
    (
        {"limits": {"time_s": 0, "vgpu_time_s": 1, "vgpu_minstr": 1, "memory_mib": 1}},
        "'limits.time_s' must be a number above 0",
    ),
    ({"traffic": {"read": "4*K", "write": 0, "flops": 0}}, "'traffic.read': unknown name 'K'"),
    ({"cases": []}, "'cases' must be a list of cases"),
    (case(N=None), "'cases.0' lacks the key 'N': add it"),
    (case(x=None), "'cases.0' lacks the key 'x': add it"),
    (case(y=GEN), "'y' is an output: a case gives inputs only"),
    (case(N=[1, 2, 3]), "lists of one case must have one length above 0, not [2, 3]"),
    (case(chekc="strict"), "unknown key 'chekc', and nothing uses it as '$chekc' (did you mean"),
    (case(check="loose"), "'cases.0.check' is 'loose': expected one of strict, live"),
    (case(check="live"), "'advisory' and a rule of kind 'survive' belong together"),
    (case(advisory=True), "'advisory' and a rule of kind 'survive' belong together"),
    (case(tags=["fast"]), "'cases.0.tags' must be a list of"),
    (case(name="a"), "case name 'a' is taken: rename one of the two"),
    (case(name="a_{M}"), "name 'a_{M}' uses '{M}'"),
    (case(name="A_{N}{o}"), "'cases.0.name' must be made of a-z"),
    (case(seed=-1), "'cases.0.seed' must be an integer in 0..2^63-1"),
    (case(needs="tpu"), "'cases.0.needs' is 'tpu': expected one of gpu"),
    (
        case(N=[4, 0]),
        "case 'a_0_3': N = 0 is outside the domain 1..100; change the case or 'domain'",
    ),
    (case(N=[4, 0.5]), "'cases.0.N' must be an integer that fits int32"),
    (case(offset={"z": 1}), "unknown key 'z' (known: x, y)"),
    (case(offset={"x": 99}), "'cases.0.offset.x' must be an integer in 0..63"),
    (case(x=3), "'cases.0.x' must be an object with the key 'gen'"),
    (case(x={"gen": "unifrom"}), "unknown generator 'unifrom' (did you mean 'uniform'?)"),
    (case(x={"gen": "uniform", "lo": 0}), "'cases.0.x' lacks the key 'hi': add it"),
    (case(x={**GEN, "vaule": 1}), "unknown key 'vaule' (did you mean 'value'?)"),
    (
        case(x={"gen": "constant", "value": "big"}),
        "'cases.0.x.value' must be a number, or one of inf",
    ),
    (case(x={"gen": "constant", "value": "$q"}), "'cases.0.x.value' must be a number"),
    (case(x={"gen": "sorted", "of": {"gen": "wat"}}), "unknown generator 'wat'"),
    (case(x={"gen": "concat", "parts": [{"of": GEN}]}), "must be a list of two parts or more"),
    (case(x={"gen": "bits", "lo": "0", "hi": "7f"}), "must be eight hex digits in a string"),
]


@pytest.mark.parametrize(("change", "message"), FAULTS, ids=[m[:50] for _, m in FAULTS])
def test_refuses(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError) as caught:
        load(tmp_path, {**copy.deepcopy(MINIMAL), **change})
    text = str(caught.value)
    assert message in text
    assert text.startswith("problems/tiny/problem.json:") and text.split(":")[1].isdigit()


def test_a_fault_has_the_line_of_its_key(tmp_path: Path) -> None:
    value = copy.deepcopy(MINIMAL)
    value["limits"]["colour"] = 1
    lines = json.dumps(value, indent=1).splitlines()
    line = next(i for i, text in enumerate(lines, 1) if "colour" in text)
    with pytest.raises(SpecError, match=f"problem.json:{line}: error: unknown key 'colour'"):
        load(tmp_path, value)


def test_missing_duplicate_and_unreadable(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="lacks the key 'format': add it"):
        load(tmp_path, "{}")
    with pytest.raises(SpecError, match=":2: error: duplicate key 'format'"):
        load(tmp_path, '{"format": 1,\n"format": 1}')
    (tmp_path / "problems" / "tiny" / "problem.json").write_bytes(b'{\n"\xff": 1}')
    with pytest.raises(SpecError, match=":2: error: is not UTF-8"):
        spec.load(str(tmp_path), "tiny")
    with pytest.raises(SpecError, match="problems/none/problem.json: error: cannot be read"):
        spec.load(str(tmp_path), "none")
