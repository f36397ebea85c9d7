"""Sums of floats without rounding, in any order, in chunks: exact integers per binary exponent.

No problem is known here. Each float64 is mantissa * 2^e with a 53-bit integer mantissa, split into
27 high and 26 low bits; the halves of equal e are added by bincount in float64, exactly, because a
chunk holds at most 2^20 terms (27 + 20 < 53). Python integers do the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

CHUNK = 1 << 20
_BIAS = 1100  # frexp's exponents of float64 lie in -1073..1024


def chunks(*arrays: Array) -> Iterator[tuple[Array, ...]]:
    """Matching pieces of the arrays as float64, at most CHUNK elements each."""
    for start in range(0, arrays[0].size, CHUNK):
        yield tuple(array[start : start + CHUNK].astype(np.float64) for array in arrays)


def exact_sum(pieces: Iterable[Array]) -> Fraction:
    """Exact sum of float64 pieces of at most CHUNK elements each; all values must be finite."""
    totals: dict[int, int] = {}
    for piece in pieces:
        assert piece.size <= CHUNK
        mantissa, exponent = np.frexp(piece)
        scaled = np.ldexp(mantissa, 27)
        high = np.floor(scaled)
        low = np.ldexp(scaled - high, 26)
        index = exponent.astype(np.int64) + _BIAS
        for part, shift in ((high, 27), (low, 53)):
            sums = np.bincount(index, weights=part)
            for place in np.flatnonzero(sums):
                key = int(place) - _BIAS - shift
                totals[key] = totals.get(key, 0) + int(sums[place])
    return sum((value * Fraction(2) ** key for key, value in totals.items()), Fraction(0))


def rounded(value: Fraction) -> float:
    """Nearest float64 (division of Python integers rounds correctly)."""
    return value.numerator / value.denominator
