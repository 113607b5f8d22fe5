"""Rows of reading back: memory, a replay of everything, the list of a store."""

from __future__ import annotations

import os
import sys

import safepoint
import weigh
from generate import SEED, Written, copy_lock_line, write_events
from measure import answer, interleave
from rows_scan import Values

WEIGHINGS = {
    "memory_verify": ("verify", "session"),
    "memory_verify_foreign": ("verify_foreign", "foreign"),
    "memory_plan": ("plan", "session"),
    "memory_resume": ("resume", "session"),
}


def memory_rows(session: Written, foreign: Written) -> Values:
    """Growth of the peak over the same process with everything imported; a child each."""
    paths = {"session": session.folder, "foreign": foreign.path}
    values = {}
    for name, (job, which) in WEIGHINGS.items():
        grown = answer([sys.executable, weigh.__file__, job, paths[which]])
        assert isinstance(grown, int)
        values[name] = grown / 1e6
    return values


def replay_rows(log: Written, rounds: int) -> Values:
    """All events of a session through its Reader, against a loop that keeps nothing."""
    store = log.store

    def replay_data() -> None:
        count = sum(event.data is not None for event in store.open(log.session).events())
        assert count == log.next_seq

    def replay_lazy() -> None:
        count = sum(1 for _ in store.open(log.session).events())
        assert count == log.next_seq

    jobs = {"data": replay_data, "lazy": replay_lazy, "orjson": lambda: orjson_loop(log)}
    times = interleave(jobs, rounds)
    return {
        "replay_data": times.ratio("orjson", "data"),
        "replay_lazy": times.ratio("orjson", "lazy"),
    }


def orjson_loop(log: Written) -> None:
    """Decodes each line of the segment and keeps none."""
    from orjson import loads

    count = 0
    with open(log.path, "rb") as lines:
        for line in lines:
            loads(line)
            count += 1
    assert count == log.next_seq + 1


def list_rows(store_path: str, sessions: int, rounds: int) -> Values:
    """`store.list()` of many small sessions, in microseconds a session."""
    fill_store(store_path, sessions)
    store = safepoint.open_store(store_path)
    for info in store.list()[:: max(1, sessions // 5)]:
        seen = store.inspect(info.id)
        assert (seen.state, seen.findings, seen.records) == ("clean", [], 3), seen

    def job() -> None:
        assert len(store.list()) == sessions

    return {"list": interleave({"list": job}, rounds).median("list") / sessions * 1e6}


def fill_store(store_path: str, sessions: int) -> None:
    """Sessions of three records, closed cleanly."""
    events = [("message", b'{"role":"user","text":"hello"}'), ("usage", b'{"tokens":12}')]
    folders = [os.path.join(store_path, f"session-{number:06d}") for number in range(sessions)]
    for folder in folders:
        write_events(folder, events, SEED)
    copy_lock_line(folders)
