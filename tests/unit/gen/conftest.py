"""Shared by the tests of gen: the tree, and the problems as loaded once."""

from __future__ import annotations

import functools
import os

import hypothesis

from gen import spec

# No deadline: a busy machine is no fault of the code under test.
hypothesis.settings.register_profile("warpjudge", deadline=None)
hypothesis.settings.load_profile("warpjudge")

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
PROBLEMS = ("decay_attention", "dot", "parallel_merge", "reduction", "topk")
SMALL = 1 << 16
"""Cases with at most this many elements are rebuilt in tests."""


@functools.lru_cache(maxsize=None)
def problem(name: str) -> spec.Problem:
    """problem.json of the tree."""
    return spec.load(ROOT, name)


def elements(case: spec.Case) -> int:
    """Elements of the largest array of a case."""
    sizes = []
    for shape in case.shapes.values():
        size = 1
        for extent in shape:
            size *= extent
        sizes.append(size)
    return max(sizes)
