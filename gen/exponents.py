"""The powers of two by which a case's inputs may be scaled without changing anything but size.

Knows no problem: it sees arrays, domains and magnitudes. Invariant: with every choice of exponents
inside the ranges, inputs stay in the domain, finite and (if they were) normal, so scaling is exact;
intermediate values keep 2^8 of room below overflow; and what flushing an intermediate value to zero
could change is 2^-10 of the tolerance at most.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .reference import Magnitudes

Array = NDArray[Any]

LIMIT = 16
_CHUNK = 1 << 20


@dataclass
class Spread:
    """What scaling needs to know of one array: extremes of the finite and non-zero values."""

    lowest: float = 0.0
    highest: float = 0.0
    smallest: float = math.inf
    all_finite: bool = True
    has_nan: bool = False
    ascending: bool = True


def spread(values: Array) -> Spread:
    """One pass over the array."""
    result = Spread()
    flat = values.reshape(-1)
    for start in range(0, flat.size, _CHUNK):
        piece = flat[start : start + _CHUNK]
        finite = piece[np.isfinite(piece)]
        if finite.size != piece.size:
            result.all_finite = False
            result.has_nan |= bool(np.isnan(piece).any())
        if finite.size:
            result.lowest = min(result.lowest, float(finite.min()))
            result.highest = max(result.highest, float(finite.max()))
            nonzero = np.abs(finite[finite != 0])
            result.smallest = min(result.smallest, float(nonzero.min(initial=np.inf)))
        following = flat[start + 1 : start + _CHUNK + 1]
        result.ascending &= bool((piece[: following.size] <= following).all())
    return result


def _exact(info: Spread, limits: np.finfo[Any], domain: tuple[float, float] | None, e: int) -> bool:
    """Whether scaling the array by 2^e is exact and stays in its domain."""
    factor = 2.0**e
    lowest, highest = info.lowest * factor, info.highest * factor
    if max(-lowest, highest) > float(limits.max):
        return False
    if e < 0 and info.smallest * factor < float(limits.tiny):
        return False
    if domain is None:
        return True
    return e == 0 or (domain[0] <= lowest and highest <= domain[1])


def group_range(
    infos: Sequence[Spread], dtypes: Sequence[Any], domains: Sequence[tuple[float, float] | None]
) -> tuple[int, int]:
    """Widest range around 0 that suits every array of a group."""
    rows = list(zip(infos, (np.finfo(dtype) for dtype in dtypes), domains))
    low, high = 0, 0
    while low > -LIMIT and all(_exact(*row, low - 1) for row in rows):
        low -= 1
    while high < LIMIT and all(_exact(*row, high + 1) for row in rows):
        high += 1
    return low, high


def narrow(
    ranges: Sequence[tuple[int, int]],
    magnitudes: Magnitudes,
    smallest_tolerance: float,
    limits: np.finfo[Any],
) -> list[tuple[int, int]]:
    """Shortens the widest ranges until the sum of exponents suits outputs and intermediates.

    `smallest_tolerance` is the smallest non-zero tolerance of an output element, infinite for exact
    outputs.
    """
    result = [list(pair) for pair in ranges]

    def too_large() -> bool:
        total = sum(high for _, high in result)
        return magnitudes.largest * 2.0**total * 2.0**8 > float(limits.max)

    def too_small() -> bool:
        flushed = float(limits.tiny) * 2.0 ** -sum(low for low, _ in result)
        return flushed > magnitudes.smallest or flushed > smallest_tolerance * 2.0**-10

    while too_large() and any(high > 0 for _, high in result):
        max(result, key=lambda pair: pair[1])[1] -= 1
    while too_small() and any(low < 0 for low, _ in result):
        min(result, key=lambda pair: pair[0])[0] += 1
    return [(low, high) for low, high in result]
