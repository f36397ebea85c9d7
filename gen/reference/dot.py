"""Oracle of dot: products of two float32 are exact in float64, their sum is exact, rounded once.

Draws no input and knows no tolerance but the bounds that the rules name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import Decoys, Magnitudes, Outputs
from .exact import chunks, exact_sum, rounded
from .sums import sum_bound

Array = NDArray[Any]


def _products(a: Array, b: Array) -> Iterator[Array]:
    return (x * y for x, y in chunks(a, b))


def _answer(value: float) -> Outputs:
    return {"result": np.array([value], dtype=np.float64)}


def _dot(a: Array, b: Array) -> Outputs:
    return _answer(rounded(exact_sum(_products(a, b))))


def reference(A: Array, B: Array, N: int) -> Outputs:
    """Dot product.

    Parameters
    ----------
    A, B : float32 (N,)

    Returns
    -------
    result : float64 (1,), the exact value rounded once
    """
    return _dot(A, B)


def bound(kind: str, A: Array, B: Array, N: int) -> Outputs:
    """`walk` or `tree` over the products, float64 (1,)."""
    return _answer(sum_bound(kind, N, lambda: _products(A, B)))


def magnitudes(A: Array, B: Array, N: int) -> Magnitudes:
    """Partial sums stay below the sum of the absolute products; the smallest product counts too."""
    smallest = np.inf
    for product in _products(A, B):
        magnitude = np.abs(product[product != 0])
        smallest = min(smallest, float(magnitude.min(initial=np.inf)))
    total = rounded(exact_sum(np.abs(p) for p in _products(A, B)))
    return Magnitudes(total, smallest)


def decoys(A: Array, B: Array, N: int) -> Decoys:
    """Values that a lost tail or block, lost signs or shifted pairs would give."""
    whole = N - N % 4
    return {
        "tail4": ("last N mod 4 elements missing", _dot(A[:whole], B[:whole])),
        "first256": ("first 256 elements missing", _dot(A[256:], B[256:])),
        "abs": ("absolute values were multiplied", _dot(np.abs(A), np.abs(B))),
        "shifted": ("A[i] was multiplied by B[i+1]", _dot(A[:-1], B[1:])),
    }
