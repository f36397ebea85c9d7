"""How many processes large cases get, and that a failure in one of them is seen."""

from __future__ import annotations

import os

import pytest
from gen import workers
from gen.workers import spread, worker_count

LARGE = workers.SERIAL_ELEMENTS
GIB = 1 << 30


def test_small_work_stays_here() -> None:
    assert worker_count([LARGE // 4] * 3, 16, 64 * GIB) == 1
    assert worker_count([], 16, 64 * GIB) == 1
    results = dict(spread(lambda job: (job, os.getpid()), ["a", "b"], [1, 1]))
    assert results == {0: ("a", os.getpid()), 1: ("b", os.getpid())}


def test_cores_and_memory_are_limits() -> None:
    assert worker_count([LARGE] * 40, 16, 64 * GIB) == 16
    assert worker_count([LARGE] * 3, 16, 64 * GIB) == 3
    assert worker_count([100_000_000] * 8, 16, 16 * GIB) == 3  # 3 x 3.2 GB below 10.3 GB
    assert worker_count([100_000_000] * 8, 16, 1 * GIB) == 1


def double(job: int) -> tuple[int, int]:
    if job == 13:
        raise ValueError("job 13")
    return 2 * job, os.getpid()


def test_large_work_is_spread_and_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "worker_count", lambda *_: 2)
    results = dict(spread(double, range(5), [LARGE] * 5))
    assert [results[index][0] for index in range(5)] == [0, 2, 4, 6, 8]
    assert os.getpid() not in {process for _, process in results.values()}


def test_a_failure_in_a_process_arrives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "worker_count", lambda *_: 2)
    with pytest.raises(ValueError, match="job 13"):
        list(spread(double, range(10, 15), [LARGE] * 5))
