"""Interleaved rounds, the read limit R, and children that are timed or weighed."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from threading import Thread

READ_BYTES = 256 << 10
"""One read of R."""
TAIL_BYTES = 64 << 10
ROUND_S = 0.02
"""A short job is repeated until it fills about this time in each round."""
REPEATS_MAX = 2_000

Job = Callable[[], object]


class Times:
    """Seconds of each job in each round, the jobs of a round one right after the other."""

    def __init__(self, rounds: dict[str, list[float]]) -> None:
        self.rounds = rounds

    def median(self, name: str) -> float:
        """The median time of a job."""
        return statistics.median(self.rounds[name])

    def ratio(self, name: str, by: str) -> float:
        """The median over the rounds of the time of `name`, divided by that of `by`."""
        pairs = zip(self.rounds[name], self.rounds[by], strict=True)
        return statistics.median(one / other for one, other in pairs)

    def excess(self, name: str, over: str) -> float:
        """The median over the rounds of how much longer `name` takes than `over`."""
        pairs = zip(self.rounds[name], self.rounds[over], strict=True)
        return statistics.median(one - other for one, other in pairs)


def interleave(
    jobs: dict[str, Job], rounds: int, *, short: bool = False, before: Job | None = None
) -> Times:
    """Times every job once a round, after a round that does not count.

    Each round begins with another job. `short` jobs are repeated within the round, and one call's
    time is kept. `before` runs ahead of each job and is not timed.
    """
    repeats = {name: _repeats(job) if short else 1 for name, job in jobs.items()}
    if not short:
        for job in jobs.values():
            job()
    spent: dict[str, list[float]] = {name: [] for name in jobs}
    names = list(jobs)
    for number in range(rounds):
        start = number % len(names)
        for name in names[start:] + names[:start]:
            if before is not None:
                before()
            spent[name].append(_time(jobs[name], repeats[name]))
    return Times(spent)


def _repeats(job: Job) -> int:
    job()
    once = min(_time(job, 1) for _ in range(3))
    return max(1, min(REPEATS_MAX, int(ROUND_S / max(once, 1e-7))))


def _time(job: Job, repeats: int) -> float:
    clock = time.perf_counter
    started = clock()
    for _ in range(repeats):
        job()
    return (clock() - started) / repeats


def read_limit(fd: int, size: int, start: int = 0) -> Job:
    """R: positioned reads of 256 KB from `start` up to `size`, into one buffer."""
    buffer = bytearray(READ_BYTES)

    def job() -> None:
        read, offset = os.preadv, start
        while offset < size:
            offset += read(fd, (buffer,), offset)

    return job


def read_limit_2(fd: int, size: int) -> Job:
    """The same by two threads, half the file each: what a second core is worth at the moment."""
    halves = read_limit(fd, size // 2), read_limit(fd, size, size // 2)

    def job() -> None:
        threads = [Thread(target=half) for half in halves]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    return job


def read_tail(path: str) -> bytes:
    """Opens a log, reads its last 64 KB, closes it."""
    fd = os.open(path, os.O_RDONLY)
    try:
        return os.pread(fd, TAIL_BYTES, os.fstat(fd).st_size - TAIL_BYTES)
    finally:
        os.close(fd)


def child_environment() -> dict[str, str]:
    """The environment of a child that may keep its bytecode, as an installed package has it."""
    return {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def python(code: str, *arguments: str) -> Job:
    """A job: a new interpreter that runs `code`; it fails where the code does."""
    environment = child_environment()
    command = [sys.executable, "-c", code, *arguments]
    return lambda: subprocess.run(command, env=environment, check=True)


def answer(command: list[str]) -> object:
    """What a child prints as JSON on its one line."""
    done = subprocess.run(command, env=child_environment(), stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)
