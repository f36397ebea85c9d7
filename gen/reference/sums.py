"""What the sum problems share: the bounds `walk` and `tree` over the terms of a sum.

The oracles of reduction and dot call this; it is no oracle itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import UNIT_ROUNDOFF
from .exact import exact_sum, rounded

Array = NDArray[Any]
Terms = Callable[[], Iterable[Array]]
"""Called for each pass: yields the terms as float64 pieces."""


def sum_bound(kind: str, count: int, terms: Terms) -> float:
    """Bound of an fp32 sum of `count` terms.

    walk: rounding errors of random sign, u * sqrt(sum x^2) * max(4 log2 n, 2 sqrt(n / 256)); the
    second factor admits one fp32 atomic per block of 256 terms.
    tree: 2u * ceil(log2 n) * sum |x|, the worst case of a tree, for arranged cancellation.
    """
    if count < 2:
        return 0.0
    if kind == "walk":
        squares = rounded(exact_sum(x * x for x in terms()))
        factor = max(4 * math.log2(count), 2 * math.sqrt(count / 256))
        # log2 of the C library may differ in its last bit: float32 takes that out of the file.
        return float(np.float32(UNIT_ROUNDOFF * math.sqrt(squares) * factor))
    if kind == "tree":
        total = rounded(exact_sum(np.abs(x) for x in terms()))
        return 2 * UNIT_ROUNDOFF * math.ceil(math.log2(count)) * total
    raise ValueError(f"no bound '{kind}' for a sum")
