"""Large jobs in several processes: as many as there are cores, and as fit into memory.

Knows no case. Small work stays in this process, because a fork of the interpreter costs more.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from typing import TypeVar

SERIAL_ELEMENTS = 8 << 20
"""Work of fewer elements in all is done here."""

BYTES_EACH = 32
"""Peak memory of a job for each element of its arrays; 20 to 24 were measured for topk."""

MEMORY_SHARE = 0.6
"""Of the memory that the system calls available."""

Job = TypeVar("Job")
Result = TypeVar("Result")


def _available_bytes() -> int:
    """MemAvailable of Linux; 2 GiB where it cannot be read."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 2 << 30


def worker_count(elements: Sequence[int], cores: int, available: int) -> int:
    """Processes for jobs of these sizes: the largest that many must fit into memory together."""
    if sum(elements) < SERIAL_ELEMENTS:
        return 1
    count, used = 0, 0
    for size in sorted(elements, reverse=True)[:cores]:
        used += size * BYTES_EACH
        if count and used > MEMORY_SHARE * available:
            break
        count += 1
    return max(count, 1)


def spread(
    function: Callable[[Job], Result], jobs: Sequence[Job], elements: Sequence[int]
) -> Iterator[tuple[int, Result]]:
    """(number of the job, its result), in any order; the largest jobs start first.

    The first exception ends it: jobs that have not started are dropped.
    """
    workers = worker_count(elements, len(os.sched_getaffinity(0)), _available_bytes())
    if workers == 1:
        for index, job in enumerate(jobs):
            yield index, function(job)
        return
    order = sorted(range(len(jobs)), key=lambda index: -elements[index])
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("fork"))
    try:
        running: dict[Future[Result], int] = {pool.submit(function, jobs[i]): i for i in order}
        while running:
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                yield running.pop(future), future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
