"""Oracles against brute force that shares no code with them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gen.errors import SpecError
from gen.reference import decay_attention, dot, exact, oracle, parallel_merge, reduction, topk

finite = st.floats(width=32, allow_nan=False, allow_infinity=False)
moderate = st.floats(-1000, 1000, width=32)
ordered = st.floats(width=32, allow_nan=False)


def f32(values: Any) -> Any:
    return np.array(values, dtype=np.float32)


@given(st.lists(finite, max_size=60))
def test_exact_sum_equals_fractions(values: list[float]) -> None:
    array = f32(values)
    wanted = sum((Fraction(float(x)) for x in array), Fraction(0))
    assert exact.exact_sum(x for (x,) in exact.chunks(array)) == wanted
    assert exact.rounded(wanted) == math.fsum(float(x) for x in array)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=40))
def test_exact_sum_of_doubles(values: list[float]) -> None:
    wanted = sum((Fraction(x) for x in values), Fraction(0))
    assert exact.exact_sum([np.array(values, dtype=np.float64)]) == wanted


def test_exact_sum_ignores_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    values = f32(np.arange(1000) * 1.7e-3 - 1)
    whole = exact.exact_sum(x for (x,) in exact.chunks(values))
    monkeypatch.setattr(exact, "CHUNK", 7)
    assert exact.exact_sum(x for (x,) in exact.chunks(values)) == whole
    assert whole == sum(Fraction(float(x)) for x in values)


@given(st.lists(moderate, min_size=1, max_size=80))
def test_reduction(values: list[float]) -> None:
    array = f32(values)
    (found,) = reduction.reference(array, len(array))["output"]
    assert found == math.fsum(map(float, array))


@given(st.lists(st.tuples(finite, finite), min_size=1, max_size=50))
def test_dot(pairs: list[tuple[float, float]]) -> None:
    a, b = f32([p[0] for p in pairs]), f32([p[1] for p in pairs])
    exact_value = sum((Fraction(float(x)) * Fraction(float(y)) for x, y in zip(a, b)), Fraction(0))
    (found,) = dot.reference(a, b, len(a))["result"]
    assert found == exact_value.numerator / exact_value.denominator


@given(st.lists(ordered, min_size=1, max_size=80), st.data())
def test_topk(values: list[float], data: Any) -> None:
    array = f32(values)
    k = data.draw(st.integers(1, len(values)))
    found = topk.reference(array, len(array), k)["output"]
    assert found.dtype == np.float32
    assert found.tolist() == sorted(array.tolist(), reverse=True)[:k]


def test_topk_keeps_zeros_and_infinities() -> None:
    array = f32([0.0, -math.inf, -0.0, math.inf, -1, 1e-45])
    found = topk.reference(array, 6, 6)["output"]
    assert found.tolist() == [math.inf, float(np.float32(1e-45)), 0, 0, -1, -math.inf]
    assert np.signbit(found[2:4]).tolist() == [False, True]


def merge_by_hand(a: list[float], b: list[float]) -> list[float]:
    i = j = 0
    merged = []
    while i < len(a) or j < len(b):
        if j == len(b) or (i < len(a) and a[i] <= b[j]):
            merged.append(a[i])
            i += 1
        else:
            merged.append(b[j])
            j += 1
    return merged


@given(st.lists(ordered, max_size=60), st.lists(ordered, max_size=60))
def test_merge(a: list[float], b: list[float]) -> None:
    first, second = np.sort(f32(a)), np.sort(f32(b))
    found = parallel_merge.reference(first, second, len(a), len(b))["C"]
    wanted = f32(merge_by_hand(first.tolist(), second.tolist()))
    assert found.tobytes() == wanted.tobytes()  # A first on ties, also between -0 and +0


def attention_by_hand(q: Any, k: Any, v: Any, gamma: float) -> Any:
    rows, width = q.shape
    result = np.zeros((rows, width))
    for n in range(rows):
        for j in range(width):
            terms = [
                gamma ** (n - m) * float(q[n, i]) * float(k[m, i]) * float(v[m, j])
                for m in range(n + 1)
                for i in range(width)
            ]
            result[n, j] = math.fsum(terms) / math.sqrt(width)
    return result


@given(
    rows=st.integers(1, 6), width=st.integers(1, 4), seed=st.integers(0, 999),
    gamma=st.sampled_from([1.0, 0.9, 0.5, 1e-6, 1.1754943508222875e-38]),
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_attention(rows: int, width: int, seed: int, gamma: float) -> None:
    q, k, v = np.random.default_rng(seed).standard_normal((3, rows, width)).astype(np.float32)
    found = decay_attention.reference(q, k, v, rows, width, gamma)["output"]
    bound = decay_attention.bound("product", q, k, v, rows, width, gamma)["output"]
    assert (np.abs(found - attention_by_hand(q, k, v, gamma)) <= 1e-6 * bound).all()
    assert (np.abs(found) <= bound / (64 * 2**-24) * (1 + 1e-12)).all()


def test_attention_closed_forms() -> None:
    ones = np.ones((64, 32), dtype=np.float32)
    found = decay_attention.reference(ones, ones, ones, 64, 32, 0.5)["output"]
    wanted = math.sqrt(32) * (2 - 2.0 ** -np.arange(64))
    assert np.allclose(found, wanted[:, None], rtol=1e-14, atol=0)
    for width in (3, 8, 48):
        ones = np.ones((5, width), dtype=np.float32)
        found = decay_attention.reference(ones, ones, ones, 5, width, 0.9)["output"]
        rows = [math.sqrt(width) * sum(0.9**i for i in range(n + 1)) for n in range(5)]
        assert np.allclose(found, np.array(rows)[:, None], rtol=1e-14, atol=0)


def test_the_future_does_not_leak() -> None:
    q, k, v = np.random.default_rng(1).standard_normal((3, 9, 4)).astype(np.float32)
    before = decay_attention.reference(q, k, v, 9, 4, 1.0)["output"]
    k[5:] *= np.float32(2.0**100)
    after = decay_attention.reference(q, k, v, 9, 4, 1.0)["output"]
    assert (before[:5] == after[:5]).all() and (np.abs(after[5:]) > 2.0**80).all()


def test_bounds_of_sums() -> None:
    values = f32([3, -4] * 512)
    u = 2.0**-24
    (walk,) = reduction.bound("walk", values, 1024)["output"]
    assert walk == pytest.approx(u * math.sqrt(512 * 25) * 40, rel=1e-6)
    (tree,) = reduction.bound("tree", values, 1024)["output"]
    assert tree == 2 * u * 10 * 512 * 7
    (wide,) = reduction.bound("walk", np.full(1 << 20, 2, dtype=np.float32), 1 << 20)["output"]
    assert wide == pytest.approx(u * 2 * 1024 * 128, rel=1e-6)  # 2 sqrt(n / 256) above 4 log2 n
    (products,) = dot.bound("tree", values, values, 1024)["result"]
    assert products == 2 * u * 10 * 512 * 25
    with pytest.raises(ValueError, match="no bound 'product' for a sum"):
        reduction.bound("product", values, 1024)
    with pytest.raises(ValueError, match="no bound 'walk' for attention"):
        decay_attention.bound("walk", values, values, values, 1, 1024, 1.0)


@pytest.mark.parametrize("seed", range(3))
def test_walk_admits_trees_and_refuses_half_precision(seed: int) -> None:
    values = f32(np.random.default_rng(seed).uniform(-1000, 1000, 1 << 20))
    (wanted,) = reduction.reference(values, values.size)["output"]
    (bound,) = reduction.bound("walk", values, values.size)["output"]
    tree = values.copy()
    while tree.size > 1:
        tree = tree[0::2] + tree[1::2]
    assert abs(float(tree[0]) - wanted) <= bound
    half = values.astype(np.float16).astype(np.float64)
    assert abs(half.sum() - wanted) > bound


def test_an_unknown_problem_has_no_oracle() -> None:
    with pytest.raises(
        SpecError, match="problem 'nought' has no oracle: add gen/reference/nought.py"
    ):
        oracle("nought", "problems/nought/problem.json")
