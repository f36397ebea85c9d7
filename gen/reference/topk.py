"""Oracle of topk: the k largest values, descending, by integer keys in the order of the floats.

Judges by value alone: which of several equal elements is taken does not matter.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..generators import order_keys
from . import Decoys, Magnitudes, Outputs

Array = NDArray[Any]


def _largest(values: Array, k: int) -> Array:
    keys = order_keys(values)
    if k < keys.size:
        keys = np.partition(keys, keys.size - k)[keys.size - k :]
    keys = np.sort(keys)[::-1]
    return order_keys(np.ascontiguousarray(keys)).view(values.dtype)


def reference(input: Array, N: int, k: int) -> Outputs:
    """The k largest.

    Parameters
    ----------
    input : float32 (N,), no NaN

    Returns
    -------
    output : float32 (k,), descending, exact
    """
    return {"output": _largest(input, k)}


def magnitudes(input: Array, N: int, k: int) -> Magnitudes:
    """Outputs are inputs: nothing beyond the inputs' own range."""
    return Magnitudes()


def decoys(input: Array, N: int, k: int) -> Decoys:
    """Answers in the wrong order, from the wrong end, by magnitude, or without the tail."""
    best = _largest(input, k)
    found: Decoys = {
        "ascending": ("the right values in ascending order", {"output": best[::-1].copy()}),
        "smallest": ("the k smallest values", {"output": -_largest(-input, k)}),
    }
    by_size = input[np.argsort(-np.abs(input), kind="stable")[:k]]
    found["magnitude"] = ("picked by magnitude, signs ignored", {"output": _largest(by_size, k)})
    if N - N % 4 >= k:
        tail = _largest(input[: N - N % 4], k)
        found["tail4"] = ("last N mod 4 elements were never looked at", {"output": tail})
    return found
