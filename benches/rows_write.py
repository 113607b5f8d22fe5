"""Rows of appending, against bare loops over the same calls of the system."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread

import orjson
import safepoint
from measure import Job, interleave
from rows_scan import Values

APPENDS = 2_000
"""Appends of one job at `process` and `batch`."""
SYNCS = 100
"""Appends of one job at `sync`, a thread."""
THREADS = 16
EVENT_BYTES = 600
"""Bytes of a record of ours, about."""
_TYPE = "message"
_DATA = {
    "role": "assistant",
    "text": 'The test fails because "parse_header" gets nothing:\n    return None\n' * 6,
}


@contextmanager
def session_at(store_path: str, durability: str) -> Iterator[safepoint.Session]:
    """A new session whose first append, which is always durable, is behind it."""
    store = safepoint.open_store(store_path)
    with store.create(durability=durability) as session:
        session.append(_TYPE, _DATA)
        yield session


@contextmanager
def bare_file(store_path: str) -> Iterator[int]:
    """A descriptor that appends to a file in the store's folder."""
    path = os.path.join(store_path, "bare.jsonl")
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        yield fd
    finally:
        os.close(fd)


def appends(session: safepoint.Session, count: int) -> Job:
    """A job: that many appends, whose seqs follow each other."""

    def job() -> None:
        first, append = session.last_seq + 1, session.append
        for _ in range(count):
            seq = append(_TYPE, _DATA)
        assert seq == first + count - 1

    return job


def bare_appends(fd: int) -> Job:
    """The least that an append can be: encode the data, sum it, write it."""

    def job() -> None:
        dumps, crc32, write = orjson.dumps, zlib.crc32, os.write
        for _ in range(APPENDS):
            line = dumps(_DATA)
            crc32(line)
            assert write(fd, line) == len(line)

    return job


def sealed_appends(fd: int) -> Job:
    """The same with what makes it a record: seq, type and CRC in the line, and a newline."""

    def job() -> None:
        dumps, crc32, write = orjson.dumps, zlib.crc32, os.write
        for seq in range(APPENDS):
            line = dumps({"seq": seq, "type": _TYPE, "data": _DATA})
            line = b'%s,"crc":"%08x"}\n' % (line[:-1], crc32(line))
            assert write(fd, line) == len(line)

    return job


def process_rows(store_path: str, rounds: int) -> Values:
    """Appends that survive a kill; at `batch` each job has one sync of its own, at 1 MiB."""
    with (
        session_at(store_path, "process") as process,
        session_at(store_path, "batch") as batch,
        bare_file(store_path) as fd,
    ):
        jobs = {
            "process": appends(process, APPENDS),
            "batch": appends(batch, APPENDS),
            "bare": bare_appends(fd),
            "sealed": sealed_appends(fd),
        }
        times = interleave(jobs, rounds, before=batch.sync)
    return {
        "append": times.ratio("process", "bare"),
        "append_sealed": times.ratio("process", "sealed"),
        "append_batch": times.ratio("batch", "process"),
    }


def sync_rows(store_path: str, rounds: int) -> Values:
    """Appends that survive a power loss, one after the other and from many threads."""
    line = b"x" * (EVENT_BYTES - 1) + b"\n"

    with session_at(store_path, "sync") as session, bare_file(store_path) as fd:

        def bare() -> None:
            for _ in range(SYNCS):
                os.write(fd, line)
                os.fdatasync(fd)

        jobs = {
            "one": appends(session, SYNCS),
            "many": lambda: _from_threads(session),
            "bare": bare,
        }
        times = interleave(jobs, rounds)
    return {
        "append_sync": times.ratio("one", "bare"),
        "append_16": THREADS * times.ratio("one", "many"),
    }


def _from_threads(session: safepoint.Session) -> None:
    """SYNCS appends from each of THREADS threads."""
    first = session.last_seq + 1
    seqs: list[list[int]] = [[] for _ in range(THREADS)]
    threads = [Thread(target=_append_each, args=(session.append, found)) for found in seqs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seq for found in seqs for seq in found) == list(
        range(first, first + THREADS * SYNCS)
    )


def _append_each(append: Callable[..., int], found: list[int]) -> None:
    for _ in range(SYNCS):
        found.append(append(_TYPE, _DATA))
