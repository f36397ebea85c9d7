"""Exponent ranges: scaling is exact, stays in the domain, and keeps errors below the tolerance."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gen.exponents import LIMIT, group_range, narrow, spread
from gen.reference import Magnitudes

F32 = np.dtype(np.float32)
INFO = np.finfo(F32)


def ranged(values: Any, domain: tuple[float, float] | None = None) -> tuple[int, int]:
    return group_range([spread(np.array(values, dtype=np.float32))], [F32], [domain])


@pytest.mark.parametrize(
    ("values", "domain", "wanted"),
    [
        ([1, -2], None, (-16, 16)),
        ([0, 0], (-1000, 1000), (-16, 16)),
        ([], None, (-16, 16)),
        ([500.5], (-1000, 1000), (-16, 0)),
        ([500], (-1000, 1000), (-16, 1)),
        ([-1000], (-1000, 1000), (-16, 0)),
        ([1e-40], None, (0, 16)),
        ([2.0**-120, 1], None, (-6, 16)),
        ([float(INFO.max)], None, (-16, 0)),
        ([float(INFO.max), 1e-45], None, (0, 0)),
        ([math.inf, -math.inf, 1], None, (-16, 16)),
        ([math.nan, 2.0**-125], None, (-1, 16)),
    ],
)
def test_ranges(values: list[float], domain: Any, wanted: tuple[int, int]) -> None:
    assert ranged(values, domain) == wanted


def test_a_group_takes_the_narrowest() -> None:
    infos = [spread(np.array([x], dtype=np.float32)) for x in (2.0**-120, 2.0**120)]
    assert group_range(infos, [F32, F32], [None, None]) == (-6, 7)


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1))
def test_scaling_is_exact_and_can_be_undone(values: list[float]) -> None:
    array = np.array(values, dtype=np.float32)
    for exponent in ranged(values):
        scaled = np.ldexp(array, exponent)
        assert np.isfinite(scaled).all()
        assert (scaled.astype(np.float64) == np.ldexp(array.astype(np.float64), exponent)).all()
        assert (np.ldexp(scaled, -exponent) == array).all()
        if exponent < 0:
            assert (np.abs(scaled[scaled != 0]) >= INFO.tiny).all()


def test_products_and_tolerances_narrow() -> None:
    full = [(-LIMIT, LIMIT)] * 3
    assert narrow(full, Magnitudes(), math.inf, INFO) == full
    upper = narrow(full, Magnitudes(largest=2.0**100), math.inf, INFO)
    assert sum(high for _, high in upper) == 19 and {low for low, _ in upper} == {-16}
    lower = narrow(full, Magnitudes(smallest=2.0**-100), math.inf, INFO)
    assert sum(low for low, _ in lower) == -26 and {high for _, high in lower} == {16}
    tight = narrow(full, Magnitudes(), 2.0**-100, INFO)
    assert sum(low for low, _ in tight) == -16
    assert narrow(full, Magnitudes(2.0**130), 2.0**-130, INFO) == [(0, 0)] * 3


def test_spread_sees_every_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gen.exponents._CHUNK", 4)
    values = np.arange(1, 12, dtype=np.float32)
    found = spread(values)
    assert (found.lowest, found.highest, found.smallest) == (0.0, 11.0, 1.0) and found.ascending
    values[8] = 0.5  # the first of a chunk is below the last of the one before
    assert not spread(values).ascending and spread(values).smallest == 0.5
    values[9] = np.inf
    assert not spread(values).all_finite and not spread(values).has_nan
    values[10] = np.nan
    assert spread(values).has_nan
