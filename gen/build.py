"""Makes one case: inputs, expected values, tolerances, decoys and exponent ranges, in memory.

Writes nothing. The result depends on the case, its seed and GENERATOR_VERSION alone; it refuses data
outside the domain and expected values that are not finite unless infinities were planted.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import GENERATOR_VERSION, tensorfile
from .exponents import Spread, group_range, narrow, spread
from .generators import ArgumentError, Request, Stream, make
from .reference import Decoys, Oracle, Outputs, oracle
from .spec import Case, Problem
from .strictjson import Path

Array = NDArray[Any]

COMMIT_LIMIT = 64 * 1024
"""A case whose two files take at most this many bytes is committed."""

DECOY_INPUT_LIMIT, DECOY_OUTPUT_LIMIT = 1 << 20, 1 << 18
"""Cases with a larger input or output array carry no decoys: they serve hints only."""


@dataclass(frozen=True)
class Made:
    """The contents of both files of a case, and what the manifest says of them."""

    inputs: Mapping[str, Array]
    outputs: Mapping[str, Array]
    metadata_in: Mapping[str, str]
    metadata_ref: Mapping[str, str]
    exponents: tuple[tuple[int, int], ...]
    committed: bool


def case_key(problem: Problem, case: Case) -> str:
    """SHA-256 over everything that decides the contents of the case's files."""
    params = [[p.name, p.dir, p.dtype.str, p.shape is None] for p in problem.params]
    facts = {
        "generator": GENERATOR_VERSION,
        "problem": problem.name,
        "case": case.name,
        "params": params,
        "shapes": case.shapes,
        "scalars": case.scalars,
        "arrays": case.arrays,
        "rule": case.rule,
        "seed": case.seed,
        "domain": problem.domain,
        "groups": problem.groups,
    }
    text = json.dumps(facts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def make_inputs(problem: Problem, case: Case, seed: int) -> dict[str, Array]:
    """Array inputs by name, in C order, in their concrete shapes."""
    arrays: dict[str, Array] = {}
    for index, param in enumerate(problem.params):
        if param.shape is None or not param.is_input:
            continue
        shape = case.shapes[param.name]
        size = int(np.prod(shape, dtype=np.int64))
        stream = Stream(seed, (index,))
        request = Request(size, max(shape[-1], 1), param.dtype, stream, arrays)
        try:
            flat = make(request, case.arrays[param.name])
        except ArgumentError as why:
            path: Path = case.path + (param.name,)
            text = f"case '{case.name}', '{param.name}': {why}"
            raise problem.document.fail(path, text) from why
        arrays[param.name] = flat.reshape(shape)
    return arrays


def _check_arrays(problem: Problem, case: Case, spreads: Mapping[str, Spread]) -> None:
    """Refuses NaN, infinities that the domain does not name, values outside it, lost order."""
    for name, info in spreads.items():
        domain = problem.array_range(name)
        fault = ""
        if info.has_nan:
            fault = "holds NaN, which only an advisory case may"
        elif not info.all_finite and (domain is None or np.isfinite(domain).all()):
            fault = "holds an infinity, which the domain does not allow"
        elif domain is not None and not (domain[0] <= info.lowest and info.highest <= domain[1]):
            fault = f"spans {info.lowest}..{info.highest}, outside the domain {list(domain)}"
        elif "ascending" in problem.domain.get(name, ()) and not info.ascending:
            fault = "is not ascending: wrap its generator in 'sorted'"
        if fault:
            path: Path = case.path + (name,)
            raise problem.document.fail(path, f"case '{case.name}': '{name}' {fault}")


def tolerances(case: Case, module: Oracle, wanted: Outputs, inputs: Mapping[str, Any]) -> Outputs:
    """Allowed absolute error of each output element; zero where the rule is exact."""
    kind = case.rule["kind"]
    if kind == "exact":
        return {name: np.zeros(want.shape) for name, want in wanted.items()}
    base = {n: case.rule["atol"] + case.rule["rtol"] * np.abs(w) for n, w in wanted.items()}
    if kind == "allclose":
        return base
    bounds = module.bound(case.rule["bound"], **inputs)
    return {name: np.maximum(base[name], bounds[name]) for name in wanted}


def _differs(decoy: Outputs, wanted: Outputs, allowed: Outputs) -> bool:
    with np.errstate(invalid="ignore", over="ignore"):
        return any(
            not (
                (decoy[name] == want)
                | (np.abs(decoy[name].astype(np.float64) - want) <= allowed[name])
            ).all()
            for name, want in wanted.items()
        )


def _check_reference(problem: Problem, case: Case, wanted: Outputs, infinite: bool) -> None:
    for param in problem.params:
        if not param.is_output:
            continue
        want = wanted[param.name]
        exact = case.rule["kind"] == "exact"
        assert want.shape == case.shapes[param.name], (case.name, want.shape)
        assert want.dtype == (param.dtype if exact else np.float64), (case.name, want.dtype)
        if not infinite and not np.isfinite(want).all():
            text = f"case '{case.name}': the expected '{param.name}' is not finite"
            raise problem.document.fail(case.path, text + "; use smaller inputs")


def build(problem: Problem, case: Case, seed: int | None = None) -> Made:
    """Makes a case, with its own seed or another one."""
    seed = case.seed if seed is None else seed
    module = oracle(problem.name, problem.document.name)
    arrays = make_inputs(problem, case, seed)
    spreads = {name: spread(array) for name, array in arrays.items()}
    metadata = {
        "format": "1",
        "problem": problem.name,
        "case": case.name,
        "seed": str(seed),
        "generator": str(GENERATOR_VERSION),
        "key": case_key(problem, case),
    }
    by_name = {p.name: p for p in problem.params}
    tensors: dict[str, Array] = {
        p.name: arrays[p.name]
        if p.shape is not None
        else np.array(case.scalars[p.name], dtype=p.dtype)
        for p in problem.params
        if p.is_input
    }
    tensors = dict(sorted(tensors.items(), key=lambda item: -item[1].itemsize))
    ranges = [
        group_range(
            [spreads[name] for name in group],
            [by_name[name].dtype for name in group],
            [problem.array_range(name) for name in group],
        )
        for group in problem.groups
    ]
    if case.advisory:
        size = tensorfile.file_size(tensors, metadata) + tensorfile.file_size({}, metadata)
        return Made(tensors, {}, metadata, metadata, tuple(ranges), size <= COMMIT_LIMIT)

    _check_arrays(problem, case, spreads)
    inputs: dict[str, Any] = {**arrays, **case.scalars}
    wanted = module.reference(**inputs)
    if case.rule["kind"] == "allclose" or case.rule["kind"] == "tol":
        wanted = {name: want.astype(np.float64) for name, want in wanted.items()}
    _check_reference(problem, case, wanted, not all(s.all_finite for s in spreads.values()))
    allowed = tolerances(case, module, wanted, inputs)
    outputs: dict[str, Array] = dict(wanted)
    smallest = np.inf
    if case.rule["kind"] != "exact":
        for array in allowed.values():
            smallest = min(smallest, float(array[array > 0].min(initial=np.inf)))
    if case.rule["kind"] == "tol":
        outputs.update({f"tol.{name}": array for name, array in allowed.items()})
    narrowest = min(
        (np.finfo(p.dtype) for p in problem.params if p.is_output and p.dtype.kind == "f"),
        key=lambda info: float(info.max),
    )
    ranges = narrow(ranges, module.magnitudes(**inputs), smallest, narrowest)

    metadata_ref = dict(metadata)
    size = tensorfile.file_size(tensors, metadata) + tensorfile.file_size(outputs, metadata)
    committed = size <= COMMIT_LIMIT
    largest_in = max(array.size for array in arrays.values())
    largest_out = max(array.size for array in wanted.values())
    if largest_in <= DECOY_INPUT_LIMIT and largest_out <= DECOY_OUTPUT_LIMIT:
        found = module.decoys(**inputs)
        _add_decoys(found, outputs, metadata_ref, wanted, allowed, committed, tensors, metadata)
    return Made(tensors, outputs, metadata, metadata_ref, tuple(ranges), committed)


def _add_decoys(
    found: Decoys,
    outputs: dict[str, Array],
    metadata_ref: dict[str, str],
    wanted: Outputs,
    allowed: Outputs,
    committed: bool,
    tensors: Mapping[str, Array],
    metadata: Mapping[str, str],
) -> None:
    """Adds each decoy that the rule would refuse, while a small case stays small."""
    for identity, (sentence, decoy) in sorted(found.items()):
        if not _differs(decoy, wanted, allowed):
            continue
        with np.errstate(over="ignore"):
            more = {
                f"decoy.{identity}.{name}": decoy[name].astype(want.dtype)
                for name, want in wanted.items()
            }
        trial_metadata = {**metadata_ref, f"decoy.{identity}": sentence}
        size = tensorfile.file_size(tensors, metadata)
        size += tensorfile.file_size({**outputs, **more}, trial_metadata)
        if committed and size > COMMIT_LIMIT:
            continue
        outputs.update(more)
        metadata_ref.update(trial_metadata)
