"""Oracle of decay_attention: the state recurrence in float64, element-wise, in fixed order.

S[n] = gamma * S[n-1] + K[n]^T V[n]; out[n] = Q[n] S[n] / sqrt(d). No matrix product of a library
is used, because its order of summation is not fixed. Precision: float64, gamma as the float32 given.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import UNIT_ROUNDOFF, Decoys, Magnitudes, Outputs

Array = NDArray[Any]


def _recurrence(q: Array, k: Array, v: Array, gamma: float) -> Array:
    """sum over m <= n of gamma^(n-m) (q[n].k[m]) v[m] for float64 (S, d) arrays."""
    rows, width = q.shape
    state = np.zeros((width, width))
    term = np.empty_like(state)
    result = np.empty((rows, width))
    for n in range(rows):
        np.multiply(state, gamma, out=state)
        np.multiply(k[n, :, None], v[n, None, :], out=term)
        np.add(state, term, out=state)
        np.multiply(q[n, :, None], state, out=term)
        np.add.reduce(term, axis=0, out=result[n])
    return result


def _doubles(*arrays: Array) -> tuple[Array, ...]:
    return tuple(array.astype(np.float64) for array in arrays)


def reference(Q: Array, K: Array, V: Array, seq_len: int, d_model: int, gamma: float) -> Outputs:
    """Causal attention with decay and without softmax.

    Parameters
    ----------
    Q, K, V : float32 (seq_len, d_model)

    Returns
    -------
    output : float64 (seq_len, d_model)
    """
    q, k, v = _doubles(Q, K, V)
    return {"output": _recurrence(q, k, v, gamma) / math.sqrt(d_model)}


def _norm_bound(Q: Array, K: Array, V: Array, d_model: int, gamma: float) -> Array:
    """sum over m <= n of gamma^(n-m) (|Q[n]|.|K[m]| / sqrt(d)) |V[m]|, float64 (seq_len, d_model)."""
    q, k, v = _doubles(np.abs(Q), np.abs(K), np.abs(V))
    return _recurrence(q, k, v, gamma) / math.sqrt(d_model)


def bound(
    kind: str, Q: Array, K: Array, V: Array, seq_len: int, d_model: int, gamma: float
) -> Outputs:
    """`product`: 64u times the same sum over absolute values."""
    if kind != "product":
        raise ValueError(f"no bound '{kind}' for attention")
    return {"output": 64 * UNIT_ROUNDOFF * _norm_bound(Q, K, V, d_model, gamma)}


def magnitudes(
    Q: Array, K: Array, V: Array, seq_len: int, d_model: int, gamma: float
) -> Magnitudes:
    """Scores before the division by sqrt(d) are the largest intermediate values."""
    largest = _norm_bound(Q, K, V, d_model, gamma).max(initial=0.0) * math.sqrt(d_model)
    return Magnitudes(largest=float(largest))


def decoys(Q: Array, K: Array, V: Array, seq_len: int, d_model: int, gamma: float) -> Decoys:
    """Scale or decay forgotten, rows that see the future, or a row that does not see itself."""
    q, k, v = _doubles(Q, K, V)
    root = math.sqrt(d_model)
    past = _recurrence(q, k, v, gamma)
    future = _recurrence(q[::-1], k[::-1], v[::-1], gamma)[::-1]
    scores = np.zeros(seq_len)
    for column in range(d_model):  # one column at a time: a fixed order of summation
        scores += q[:, column] * k[:, column]
    itself = scores[:, None] * v
    return {
        "no_scale": ("not divided by sqrt(d_model)", {"output": past}),
        "no_decay": ("gamma was ignored", {"output": _recurrence(q, k, v, 1.0) / root}),
        "future": ("later rows leak in", {"output": (past + future - itself) / root}),
        "no_self": ("a row does not see itself", {"output": (past - itself) / root}),
    }
