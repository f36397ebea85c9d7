"""Oracle of reduction: the exact sum, rounded once to float64.

Draws no input and knows no tolerance but the bounds that the rules name.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import Decoys, Magnitudes, Outputs
from .exact import chunks, exact_sum, rounded
from .sums import sum_bound

Array = NDArray[Any]


def _total(values: Array) -> float:
    return rounded(exact_sum(x for (x,) in chunks(values)))


def _answer(value: float) -> Outputs:
    return {"output": np.array([value], dtype=np.float64)}


def reference(input: Array, N: int) -> Outputs:
    """Sum of the input.

    Parameters
    ----------
    input : float32 (N,)

    Returns
    -------
    output : float64 (1,), the exact sum rounded once
    """
    return _answer(_total(input))


def bound(kind: str, input: Array, N: int) -> Outputs:
    """`walk` or `tree` over the elements, float64 (1,)."""
    return _answer(sum_bound(kind, N, lambda: (x for (x,) in chunks(input))))


def magnitudes(input: Array, N: int) -> Magnitudes:
    """Partial sums stay below the sum of the absolute values."""
    total = rounded(exact_sum(np.abs(x) for (x,) in chunks(input)))
    return Magnitudes(largest=total)


def decoys(input: Array, N: int) -> Decoys:
    """Sums that a lost tail, a lost first block or a lost sign would give."""
    return {
        "tail4": ("last N mod 4 elements missing", _answer(_total(input[: N - N % 4]))),
        "first256": ("first 256 elements missing", _answer(_total(input[256:]))),
        "abs": ("absolute values were added", _answer(_total(np.abs(input)))),
    }
