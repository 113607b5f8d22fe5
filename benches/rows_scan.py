"""Rows of the scanners over a whole log: validation of our own, of any JSONL, reverse framing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

import safepoint
from generate import Written
from measure import interleave, read_limit, read_limit_2
from safepoint import scan
from safepoint.log import Header, decode_header

Values = dict[str, float]


@contextmanager
def opened(path: str) -> Iterator[int]:
    """A descriptor to read with."""
    fd = os.open(path, os.O_RDONLY)
    try:
        yield fd
    finally:
        os.close(fd)


def header_of(fd: int) -> Header:
    """The header of a segment of ours."""
    header = decode_header(os.pread(fd, 65536, 0).split(b"\n")[0] + b"\n")
    assert header is not None
    return header


def walk_rows(log: Written, rounds: int) -> Values:
    """Our own log: the engine's walk, then what the public function does."""
    with opened(log.path) as fd:
        header = header_of(fd)

        def walk(threads: int) -> None:
            found = scan.walk(
                fd, header.length, log.size, header.seed, 0, True, check_data=False, threads=threads
            )
            assert (found[0], found[1], found[6]) == (log.next_seq, log.size, [])
            assert found[3] == log.checkpoint

        def verify(threads: int) -> None:
            seen = safepoint.verify(log.folder, threads=threads)
            assert (seen.state, seen.records) == ("clean", log.next_seq), seen

        jobs = {
            "R": read_limit(fd, log.size),
            "read_2": read_limit_2(fd, log.size),
            "walk_1": lambda: walk(1),
            "walk_2": lambda: walk(2),
            "verify_1": lambda: verify(1),
            "verify_2": lambda: verify(2),
        }
        times = interleave(jobs, rounds)
    values = {name: times.ratio("R", name) for name in jobs if name != "R"}
    return {"R": log.size / times.median("R") / 1e9, **values}


def jsonl_rows(log: Written, rounds: int) -> Values:
    """Any JSONL against the read limit and a loop over orjson."""
    with opened(log.path) as fd:

        def inspect(threads: int) -> None:
            found = scan.inspect_jsonl(fd, log.size, threads=threads)
            assert found == (log.next_seq, log.size, log.next_seq - 1, [], 0)

        jobs = {
            "R": read_limit(fd, log.size),
            "jsonl_1": lambda: inspect(1),
            "jsonl_2": lambda: inspect(2),
            "orjson": lambda: orjson_loop(log),
        }
        times = interleave(jobs, rounds)
    return {
        "jsonl_1": times.ratio("R", "jsonl_1"),
        "jsonl_1_orjson": times.ratio("orjson", "jsonl_1"),
        "jsonl_2": times.ratio("R", "jsonl_2"),
    }


def orjson_loop(log: Written) -> None:
    """Parses each line with orjson, checks seq and type, keeps nothing."""
    from orjson import loads

    seq = 0
    with open(log.path, "rb") as lines:
        for line in lines:
            event = loads(line)
            assert event["seq"] == seq and type(event["type"]) is str
            seq += 1
    assert seq == log.next_seq


def framing_rows(log: Written, rounds: int) -> Values:
    """All lines from the last to the first, against the read limit and the fallback: framed in a
    search whose answer is the first record, and as a list of places for Python. The fallback's
    framing alone is timed, without the CRCs that its own search would sum.
    """
    from safepoint import _fallback

    with opened(log.path) as fd:
        seed = header_of(fd).seed
        jobs = {
            "R": read_limit(fd, log.size),
            "ours": lambda: find_first(fd, log, seed),
            "fallback": lambda: frame_backward(fd, log),
            "listed": lambda: list_backward(scan, fd, log),
            "listed by the fallback": lambda: list_backward(_fallback, fd, log),
        }
        times = interleave(jobs, rounds)
    values = {"framing": times.ratio("R", "ours"), "framing_listed": times.ratio("R", "listed")}
    if scan.ENGINE == "native":
        values["framing_fallback"] = times.ratio("fallback", "ours")
        values["framing_listed_fallback"] = times.ratio("listed by the fallback", "listed")
    return values


def find_first(fd: int, log: Written, seed: int) -> None:
    """Frames every line to find the record that is the oldest of its type."""
    found = scan.find_record(fd, 0, log.size, seed, "session.created", log.next_seq)
    assert found is not None and found[0] == 0


def frame_backward(fd: int, log: Written) -> None:
    """The fallback's framing, counted."""
    from safepoint._fallback_lines import CHUNK_BYTES, read_lines_backward

    lines = sum(1 for _ in read_lines_backward(fd, 0, log.size, CHUNK_BYTES))
    assert lines == log.next_seq + 1


def list_backward(engine: ModuleType, fd: int, log: Written) -> None:
    """Places of all lines, 4,096 a call; counts them."""
    lines, stop = 0, log.size
    while stop:
        batch = engine.lines_backward(fd, 0, stop)
        lines += len(batch)
        stop = batch[-1][0]
    assert lines == log.next_seq + 1
