"""Oracles: one module a problem, found by the problem's name.

An oracle sees inputs and nothing of how they were made. Each module has `reference`, the expected
outputs in float64 or exact; `magnitudes`, for the exponent range; `decoys`, answers of known
mistakes; and, where a rule `tol` names bounds, `bound`.
"""

from __future__ import annotations

import importlib
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from ..errors import SpecError

Array = NDArray[Any]
Outputs = dict[str, Array]
Decoys = dict[str, tuple[str, Outputs]]

UNIT_ROUNDOFF = 2.0**-24
"""u of the bounds: half the spacing of float32 at 1."""


class Magnitudes:
    """Sizes that scale like the output: the largest and smallest non-zero intermediate value."""

    def __init__(self, largest: float = 0.0, smallest: float = np.inf) -> None:
        self.largest, self.smallest = largest, smallest


class Oracle(Protocol):
    """What a module of this package offers."""

    def reference(self, **inputs: Any) -> Outputs:
        """Expected outputs by parameter name: float64, or the parameter's dtype where exact."""

    def magnitudes(self, **inputs: Any) -> Magnitudes:
        """See Magnitudes; the default value where the outputs are copies of inputs."""

    def decoys(self, **inputs: Any) -> Decoys:
        """By id: the sentence of the hint, and the outputs of the mistake."""

    def bound(self, kind: str, **inputs: Any) -> Outputs:
        """The bound `kind` of each output, float64; only needed where a rule names one."""


def oracle(problem: str, shown: str) -> Oracle:
    """The module of a problem; `shown` names problem.json in the message if there is none."""
    try:
        return cast(Oracle, importlib.import_module(f"{__name__}.{problem}"))
    except ModuleNotFoundError as why:
        text = f"problem '{problem}' has no oracle: add gen/reference/{problem}.py"
        raise SpecError(shown, 1, text) from why
