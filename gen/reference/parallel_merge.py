"""Oracle of parallel_merge: a stable sort of A followed by B, so A comes first on ties.

Assumes sorted inputs (the domain in problem.json demands them) and judges by value alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import Decoys, Magnitudes, Outputs

Array = NDArray[Any]


def reference(A: Array, B: Array, M: int, N: int) -> Outputs:
    """The merged array.

    Parameters
    ----------
    A : float32 (M,), ascending, no NaN
    B : float32 (N,), ascending, no NaN

    Returns
    -------
    C : float32 (M + N,), ascending, exact
    """
    return {"C": np.sort(np.concatenate([A, B]), kind="stable")}


def magnitudes(A: Array, B: Array, M: int, N: int) -> Magnitudes:
    """Outputs are inputs: nothing beyond the inputs' own range."""
    return Magnitudes()


def decoys(A: Array, B: Array, M: int, N: int) -> Decoys:
    """Arrays left unmerged, one array used alone, or the wrong direction."""
    both = np.concatenate([A, B])
    merged = np.sort(both, kind="stable")
    found: Decoys = {
        "unmerged": ("A followed by B, not merged", {"C": both}),
        "descending": ("the right values in descending order", {"C": merged[::-1].copy()}),
    }
    if M and N:
        pairwise = both.copy()
        shorter = min(M, N)
        pairwise[0 : 2 * shorter : 2] = np.minimum(A[:shorter], B[:shorter])
        pairwise[1 : 2 * shorter : 2] = np.maximum(A[:shorter], B[:shorter])
        pairwise[2 * shorter :] = A[shorter:] if M > N else B[shorter:]
        found["pairwise"] = ("A[i] and B[i] were ordered pair by pair only", {"C": pairwise})
    return found
