"""problem.json as data: strict reading, and expansion of its short cases into concrete ones.

Makes no array. Whatever this module returns has known keys only, values of the right type, scalars
inside their dtype and, but for advisory cases, inside the domain; every fault is a SpecError with
the line of the offending key.
"""

from __future__ import annotations

import difflib
import hashlib
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .expressions import ExpressionError, Number, evaluate, names
from .generators import GENERATORS
from .strictjson import Document, Path, parse_file

DTYPES = {"f64": "f8", "f32": "f4", "f16": "f2", "i64": "i8", "i32": "i4", "u32": "u4"}
DTYPES |= {"i8": "i1", "u8": "u1"}
TAGS = ("site", "edge", "stress", "perf", "curve")
RULE_KEYS: dict[str, tuple[str, ...]] = {
    "exact": (),
    "allclose": ("atol", "rtol"),
    "tol": ("atol", "rtol", "bound"),
    "survive": (),
}
BOUNDS = ("walk", "tree", "product")
TOP_KEYS = (
    "format", "name", "title", "perf_version", "params", "domain", "check", "rescale", "limits",
    "traffic", "cases",
)  # fmt: skip
CASE_KEYS = ("name", "tags", "seed", "check", "offset", "needs", "advisory", "note")
SPECIAL_NUMBERS = ("inf", "-inf", "nan", "-nan")


@dataclass(frozen=True)
class Param:
    """One parameter of solve(), in C order; shape is None for a scalar by value."""

    name: str
    dir: str
    dtype: np.dtype[Any]
    shape: tuple[int | str, ...] | None

    @property
    def is_input(self) -> bool:
        """Whether the caller provides its contents."""
        return self.dir != "out"

    @property
    def is_output(self) -> bool:
        """Whether the callee provides its contents."""
        return self.dir != "in"


@dataclass(frozen=True)
class Case:
    """One concrete case: nothing is left to expand."""

    name: str
    path: Path
    tags: tuple[str, ...]
    check: str
    rule: Mapping[str, Any]
    needs: tuple[str, ...]
    advisory: bool
    seed: int
    note: str
    scalars: Mapping[str, Number]
    shapes: Mapping[str, tuple[int, ...]]
    offsets: Mapping[str, int]
    arrays: Mapping[str, Mapping[str, Any]]
    traffic: Mapping[str, int]

    @property
    def misaligned(self) -> bool:
        """Whether an array starts off its aligned base."""
        return any(self.offsets.values())


@dataclass
class Problem:
    """A whole problem.json, checked and expanded."""

    name: str
    document: Document
    sha256: str
    params: tuple[Param, ...]
    domain: Mapping[str, Any]
    groups: tuple[tuple[str, ...], ...]
    negate: bool
    cases: list[Case] = field(default_factory=list)

    def array_range(self, name: str) -> tuple[float, float] | None:
        """Closed range of an array's values, or None: any finite value."""
        entry = self.domain.get(name)
        return None if entry is None else (float(entry[0]), float(entry[1]))

    def case(self, name: str) -> Case | None:
        """The case of that name."""
        return next((case for case in self.cases if case.name == name), None)


def suggestion(word: str, known: Iterable[str]) -> str:
    """' (did you mean 'x'?)', or the list of what is known."""
    known = sorted(known)
    near = difflib.get_close_matches(word, known, 1)
    return f" (did you mean '{near[0]}'?)" if near else f" (known: {', '.join(known)})"


class _Reader:
    """Typed access to a document; every refusal names the key and what was expected."""

    def __init__(self, document: Document) -> None:
        self.document = document

    def keys(
        self, path: Path, value: Any, required: Iterable[str], optional: Iterable[str]
    ) -> None:
        required, allowed = tuple(required), {*required, *optional}
        if not isinstance(value, dict):
            raise self.document.fail(path, f"{_label(path)} must be an object")
        for key in value:
            if key not in allowed:
                text = f"unknown key '{key}'{suggestion(key, allowed)}"
                raise self.document.fail(path + (key,), text)
        for key in required:
            if key not in value:
                raise self.document.fail(path, f"{_label(path)} lacks the key '{key}': add it")

    def check(self, path: Path, good: bool, expected: str) -> None:
        if not good:
            raise self.document.fail(path, f"{_label(path)} must be {expected}")

    def word(self, path: Path, value: Any, known: Iterable[str]) -> str:
        known = tuple(known)
        if value not in known or not isinstance(value, str):
            text = f"{_label(path)} is {value!r}: expected one of {', '.join(known)}"
            raise self.document.fail(path, text)
        return value

    def evaluate(self, path: Path, value: Any, scalars: Mapping[str, Number]) -> Number:
        """A number, or an expression over the scalars."""
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return value
        if not isinstance(value, str):
            raise self.document.fail(path, f"{_label(path)} must be a number or an expression")
        try:
            return evaluate(value, scalars)
        except ExpressionError as why:
            raise self.document.fail(path, f"{_label(path)}: {why}") from why


def _label(path: Path) -> str:
    return "'" + ".".join(str(part) for part in path) + "'" if path else "the file"


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_value(value: Any) -> bool:
    return _is_number(value) or value in SPECIAL_NUMBERS


def _list_of(test: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and len(value) > 0 and all(map(test, value))


ARGUMENT_KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "number": (_is_value, "a number, or one of " + ", ".join(SPECIAL_NUMBERS)),
    "finite": (_is_number, "a number"),
    "numbers": (_list_of(_is_value), "a list of numbers"),
    "integer": (_is_integer, "an integer"),
    "integers": (_list_of(_is_integer), "a list of integers"),
    "count": (lambda v: _is_integer(v) and v > 0, "an integer above 0"),
    "natural": (lambda v: _is_integer(v) and v >= 0, "an integer from 0"),
    "bit": (lambda v: _is_integer(v) and v in (0, 1), "0 or 1"),
    "sign": (lambda v: _is_integer(v) and v in (1, -1), "1 or -1"),
    "boolean": (lambda v: isinstance(v, bool), "true or false"),
    "hex": (
        lambda v: isinstance(v, str) and re.fullmatch("[0-9a-f]{8}", v) is not None,
        "eight hex digits in a string",
    ),
    "order": (lambda v: v in ("up", "down"), "'up' or 'down'"),
    "others": (lambda v: v in ("keep", "zero"), "'keep' or 'zero'"),
    "at": (lambda v: v in ("stride", "range"), "'stride' or 'range'"),
    "array": (lambda v: isinstance(v, str), "the name of an earlier array"),
}
"""Argument kinds of the generator table, but for the nested ones: test and wording."""


def _substitute(value: Any, variables: Mapping[str, Any], used: set[str]) -> Any:
    """Replaces "$name" at any depth; unknown names are left for the type check to refuse."""
    if isinstance(value, dict):
        return {key: _substitute(item, variables, used) for key, item in value.items()}
    if isinstance(value, list):
        return [_substitute(item, variables, used) for item in value]
    if isinstance(value, str) and value.startswith("$") and value[1:] in variables:
        used.add(value[1:])
        return variables[value[1:]]
    return value


class _CaseReader(_Reader):
    """Expands the entries of 'cases' of one problem."""

    def __init__(self, problem: Problem, rules: Mapping[str, Any]) -> None:
        super().__init__(problem.document)
        self.problem, self.rules = problem, rules
        self.scalars = [p for p in problem.params if p.shape is None]
        self.arrays = [p for p in problem.params if p.shape is not None]

    def expand(self, path: Path, entry: Any) -> list[Case]:
        inputs = [p.name for p in self.problem.params if p.is_input]
        self.check(path, isinstance(entry, dict), "an object")
        for key in ("name", "tags", *inputs):
            if key not in entry:
                raise self.document.fail(path, f"{_label(path)} lacks the key '{key}': add it")
        array_names = {p.name for p in self.arrays}
        varying = {
            key: value
            for key, value in entry.items()
            if key not in CASE_KEYS and key not in array_names
        }
        lengths = {len(v) for v in varying.values() if isinstance(v, list)}
        if len(lengths) > 1 or 0 in lengths:
            text = f"lists of one case must have one length above 0, not {sorted(lengths)}"
            raise self.document.fail(path, text)
        cases, used = [], set[str]()
        for index in range(max(lengths, default=1)):
            values = {
                key: value[index] if isinstance(value, list) else value
                for key, value in varying.items()
            }
            cases.append(self.concrete(path, entry, values, used))
        scalar_names = {p.name for p in self.scalars}
        for key in varying:
            if key not in scalar_names and key not in used:
                hint = suggestion(key, {*CASE_KEYS, *inputs})
                text = f"unknown key '{key}', and nothing uses it as '${key}'{hint}"
                raise self.document.fail(path + (key,), text)
        return cases

    def concrete(
        self, path: Path, entry: Mapping[str, Any], values: Mapping[str, Any], used: set[str]
    ) -> Case:
        name = self.case_name(path + ("name",), entry["name"], values, used)
        tags = entry["tags"]
        self.check(path + ("tags",), _list_of(lambda t: t in TAGS)(tags), f"a list of {TAGS}")
        check = self.word(path + ("check",), entry.get("check", "strict"), self.rules)
        advisory = entry.get("advisory", False)
        self.check(path + ("advisory",), isinstance(advisory, bool), "true or false")
        rule = self.rules[check]
        if (rule["kind"] == "survive") != advisory:
            text = f"case '{name}': 'advisory' and a rule of kind 'survive' belong together"
            raise self.document.fail(path, text)
        seed = entry.get("seed", 0)
        good = _is_integer(seed) and 0 <= seed < 1 << 63
        self.check(path + ("seed",), good, "an integer in 0..2^63-1")
        note = entry.get("note", "")
        self.check(path + ("note",), isinstance(note, str), "a string")
        if "needs" in entry:
            self.word(path + ("needs",), entry["needs"], ("gpu",))
        scalars = self.scalar_values(path, values, advisory)
        shapes = {}
        for param in self.arrays:
            assert param.shape is not None
            sizes = [self.evaluate(path, item, scalars) for item in param.shape]
            shapes[param.name] = tuple(int(size) for size in sizes)
        self.check_domain(path, name, scalars, advisory)
        arrays = {}
        for param in self.arrays:
            if param.is_input:
                spec = _substitute(entry[param.name], values, used)
                arrays[param.name] = self.generator(path + (param.name,), spec)
            elif param.name in entry:
                text = f"'{param.name}' is an output: a case gives inputs only"
                raise self.document.fail(path + (param.name,), text)
        traffic = self.document.value["traffic"]
        needs = ("gpu",) if "needs" in entry else ()
        return Case(
            name, path, tuple(tags), check, rule, needs, advisory, seed, note, scalars, shapes,
            self.offsets(path + ("offset",), entry.get("offset", {}), values, used), arrays,
            {k: int(self.evaluate(("traffic", k), traffic[k], scalars)) for k in traffic},
        )  # fmt: skip

    def case_name(self, path: Path, value: Any, values: Mapping[str, Any], used: set[str]) -> str:
        self.check(path, isinstance(value, str), "a string")

        def insert(match: re.Match[str]) -> str:
            key = match.group(1)
            if key not in values:
                text = f"name '{value}' uses '{{{key}}}'{suggestion(key, values)}"
                raise self.document.fail(path, text)
            used.add(key)
            return str(values[key])

        name = re.sub(r"\{(\w+)\}", insert, value)
        good = re.fullmatch("[a-z0-9][a-z0-9._-]*", name) is not None
        self.check(path, good, f"made of a-z, 0-9, '.', '_', '-', not {name!r}")
        return name

    def scalar_values(
        self, path: Path, values: Mapping[str, Any], advisory: bool
    ) -> dict[str, Number]:
        scalars: dict[str, Number] = {}
        for param in self.scalars:
            value, where = values[param.name], path + (param.name,)
            self.check(where, _is_number(value), "a number or a list of numbers")
            if param.dtype.kind == "f":
                scalars[param.name] = float(np.asarray(value).astype(param.dtype))
            else:
                limits = np.iinfo(param.dtype)
                good = _is_integer(value) and limits.min <= value <= limits.max
                self.check(where, good, f"an integer that fits {param.dtype}")
                scalars[param.name] = value
        return scalars

    def check_domain(
        self, path: Path, name: str, scalars: Mapping[str, Number], advisory: bool
    ) -> None:
        array_names = {p.name for p in self.arrays}
        for key, entry in self.problem.domain.items():
            if key in array_names or advisory:
                continue
            where: Path = ("domain", key)
            value = self.evaluate(where, key, scalars)
            low = self.evaluate(where, entry[0], scalars)
            high = self.evaluate(where, entry[1], scalars)
            if not low <= value <= high:
                used = next(iter(names(key) & set(scalars)), key)
                text = f"case '{name}': {key} = {value} is outside the domain {low}..{high}"
                text += "; change the case or 'domain'"
                raise self.document.fail(path + (used,), text)

    def offsets(
        self, path: Path, value: Any, values: Mapping[str, Any], used: set[str]
    ) -> dict[str, int]:
        array_names = [p.name for p in self.arrays]
        self.keys(path, value, (), array_names)
        resolved = _substitute(value, values, used)
        for key, item in resolved.items():
            good = _is_integer(item) and 0 <= item < 64
            self.check(path + (key,), good, "an integer in 0..63")
        return {key: resolved.get(key, 0) for key in array_names}

    def generator(self, path: Path, spec: Any) -> Mapping[str, Any]:
        if not isinstance(spec, dict) or "gen" not in spec:
            raise self.document.fail(path, f"{_label(path)} must be an object with the key 'gen'")
        if not isinstance(spec["gen"], str) or spec["gen"] not in GENERATORS:
            text = f"unknown generator '{spec['gen']}'{suggestion(str(spec['gen']), GENERATORS)}"
            raise self.document.fail(path + ("gen",), text)
        row = GENERATORS[spec["gen"]]
        required = [key for key in row.arguments if key not in row.defaults]
        self.keys(path, spec, ["gen", *required], row.arguments)
        for key, kind in row.arguments.items():
            if key not in spec:
                continue
            if kind == "generator":
                self.generator(path + (key,), spec[key])
            elif kind == "parts":
                self.parts(path + (key,), spec[key])
            else:
                test, wording = ARGUMENT_KINDS[kind]
                self.check(path + (key,), test(spec[key]), wording)
        return spec

    def parts(self, path: Path, parts: Any) -> None:
        self.check(path, isinstance(parts, list) and len(parts) > 1, "a list of two parts or more")
        for index, part in enumerate(parts):
            where = path + (index,)
            last = index == len(parts) - 1
            self.keys(where, part, ("of",) if last else ("count", "of"), ())
            self.generator(where + ("of",), part["of"])
            good = last or (_is_integer(part["count"]) and part["count"] > 0)
            self.check(where + ("count",), good, "an integer above 0")


def _read_params(reader: _Reader, value: Any) -> tuple[Param, ...]:
    reader.check(("params",), isinstance(value, list) and len(value) > 0, "a list of parameters")
    params: list[Param] = []
    for index, item in enumerate(value):
        path: Path = ("params", index)
        reader.keys(path, item, ("name", "dir", "dtype"), ("shape", "space"))
        good = isinstance(item["name"], str) and item["name"].isidentifier()
        reader.check(path + ("name",), good, "a C identifier")
        if item["name"] in CASE_KEYS or any(p.name == item["name"] for p in params):
            text = f"parameter name '{item['name']}' is taken: rename it"
            raise reader.document.fail(path + ("name",), text)
        reader.word(path + ("dir",), item["dir"], ("in", "out", "inout"))
        reader.word(path + ("space",), item.get("space", "device"), ("device", "host"))
        if item["dtype"] == "bf16":
            text = "dtype 'bf16' is not made by gen, because NumPy has none: use f16 or f32"
            raise reader.document.fail(path + ("dtype",), text)
        dtype = np.dtype("<" + DTYPES[reader.word(path + ("dtype",), item["dtype"], DTYPES)])
        shape = item.get("shape")
        if shape is not None:
            test = _list_of(lambda s: isinstance(s, str) or (_is_integer(s) and s > 0))
            reader.check(path + ("shape",), test(shape), "a list of integers and expressions")
            shape = tuple(shape)
        elif item["dir"] != "in":
            raise reader.document.fail(path, f"scalar '{item['name']}' must have dir 'in'")
        params.append(Param(item["name"], item["dir"], dtype, shape))
    return tuple(params)


def _read_rules(reader: _Reader, value: Any) -> dict[str, Any]:
    reader.check(("check",), isinstance(value, dict), "an object")
    if "strict" not in value:
        raise reader.document.fail(
            ("check",), "'check' lacks the rule 'strict', the default: add it"
        )
    for name, rule in value.items():
        path: Path = ("check", name)
        reader.check(path, isinstance(rule, dict) and "kind" in rule, "an object with 'kind'")
        kind = reader.word(path + ("kind",), rule["kind"], RULE_KEYS)
        reader.keys(path, rule, ("kind", *RULE_KEYS[kind]), ())
        for key in ("atol", "rtol"):
            good = key not in rule or (_is_number(rule[key]) and rule[key] >= 0)
            reader.check(path + (key,), good, "a number from 0")
        if "bound" in rule:
            reader.word(path + ("bound",), rule["bound"], BOUNDS)
    return dict(value)


def _read_domain(reader: _Reader, value: Any, params: tuple[Param, ...]) -> dict[str, Any]:
    reader.check(("domain",), isinstance(value, dict), "an object")
    arrays = {p.name for p in params if p.shape is not None and p.is_input}
    scalars: dict[str, Number] = {p.name: 0 for p in params if p.shape is None}
    for key, entry in value.items():
        path: Path = ("domain", key)
        is_array = key in arrays
        wording = "[lo, hi]" + (' or [lo, hi, "ascending"]' if is_array else "")
        good = isinstance(entry, list) and len(entry) in ((2, 3) if is_array else (2,))
        good = good and (len(entry) == 2 or entry[2] == "ascending")
        reader.check(path, good, wording)
        if is_array:
            good = all(_is_number(b) or b in ("inf", "-inf") for b in entry[:2])
            reader.check(path, good and float(entry[0]) <= float(entry[1]), wording)
        else:
            for expression in (key, *entry):
                reader.evaluate(path, expression, scalars)
    return dict(value)


def _read_groups(
    reader: _Reader, value: Any, params: tuple[Param, ...], domain: Mapping[str, Any]
) -> tuple[tuple[tuple[str, ...], ...], bool]:
    path: Path = ("rescale",)
    reader.keys(path, value, ("groups", "negate"), ())
    reader.check(path + ("negate",), isinstance(value["negate"], bool), "true or false")
    good = isinstance(value["groups"], list) and all(map(_list_of(_is_text), value["groups"]))
    reader.check(path + ("groups",), good, "a list of lists of array names")
    floats = {p.name for p in params if p.shape and p.is_input and p.dtype.kind == "f"}
    seen: set[str] = set()
    for name in (name for group in value["groups"] for name in group):
        if name not in floats or name in seen:
            text = f"'{name}' in 'rescale.groups' is no float input array, or stands there twice"
            raise reader.document.fail(path + ("groups",), text + suggestion(name, floats))
        seen.add(name)
        entry = domain.get(name, (0, 0))
        if value["negate"] and float(entry[0]) != -float(entry[1]):
            text = f"'negate' needs a symmetric domain of '{name}': widen it, or set it to false"
            raise reader.document.fail(path + ("negate",), text)
    return tuple(tuple(group) for group in value["groups"]), value["negate"]


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def load(root: str, name: str) -> Problem:
    """Reads problems/<name>/problem.json below `root` and expands its cases."""
    shown = f"problems/{name}/problem.json"
    document, raw = parse_file(os.path.join(root, "problems", name, "problem.json"), shown)
    reader, top = _Reader(document), document.value
    reader.keys((), top, TOP_KEYS, ())
    reader.check(("format",), top["format"] == 1, "1: no other format is known")
    reader.check(("name",), top["name"] == name, f"'{name}', the folder's name")
    reader.check(("title",), _is_text(top["title"]) and top["title"] != "", "a text")
    good = _is_integer(top["perf_version"]) and top["perf_version"] > 0
    reader.check(("perf_version",), good, "an integer from 1")
    params = _read_params(reader, top["params"])
    rules = _read_rules(reader, top["check"])
    domain = _read_domain(reader, top["domain"], params)
    groups, negate = _read_groups(reader, top["rescale"], params, domain)
    limits = ("time_s", "vgpu_time_s", "vgpu_minstr", "memory_mib")
    reader.keys(("limits",), top["limits"], limits, ())
    for key in limits:
        good = _is_number(top["limits"][key]) and 0 < top["limits"][key] < math.inf
        reader.check(("limits", key), good, "a number above 0")
    reader.keys(("traffic",), top["traffic"], ("read", "write", "flops"), ())
    digest = hashlib.sha256(raw).hexdigest()
    problem = Problem(name, document, digest, params, domain, groups, negate)
    good = isinstance(top["cases"], list) and len(top["cases"]) > 0
    reader.check(("cases",), good, "a list of cases")
    cases = _CaseReader(problem, rules)
    for index, entry in enumerate(top["cases"]):
        for case in cases.expand(("cases", index), entry):
            if problem.case(case.name) is not None:
                text = f"case name '{case.name}' is taken: rename one of the two"
                raise document.fail(("cases", index, "name"), text)
            problem.cases.append(case)
    problem.cases.sort(key=lambda case: case.misaligned)  # stable: misaligned cases run last
    return problem


def problem_names(root: str) -> list[str]:
    """Folders under problems/ that hold a problem.json, sorted."""
    folder = os.path.join(root, "problems")
    return sorted(
        name
        for name in (os.listdir(folder) if os.path.isdir(folder) else ())
        if os.path.isfile(os.path.join(folder, name, "problem.json"))
    )
