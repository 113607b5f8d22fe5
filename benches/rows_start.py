"""Rows of coming back: the newest checkpoint, the plan, the import, a whole process."""

from __future__ import annotations

import os

import safepoint
from generate import Written
from measure import Job, interleave, python, read_tail
from peers import backward_lines, is_there
from rows_scan import Values, header_of, opened
from safepoint import scan
from safepoint.files import Disk
from safepoint.log import LogView
from safepoint.manifest import read_manifest
from safepoint.recovery import Facts, _Walker, read_named

PROCESS_ROUNDS_MIN = 21
"""Processes start in milliseconds that vary: more rounds than for the rest."""

_PASS = "pass"
_IMPORT = "import safepoint"
_APPEND = """
import sys, safepoint
assert safepoint.open_store(sys.argv[1]).create().append("note", {"text": "x" * 500}) == 1
"""
_RESUME = """
import sys, safepoint
with safepoint.open_store(sys.argv[1]).resume(sys.argv[2]) as session:
    assert session.state["open"] == [1, 2, 3]
"""


def hint_rows(log: Written, rounds: int) -> Values:
    """The record that the manifest's hint names, near the end and far from it."""
    with Disk().open_root(log.folder) as directory, LogView(directory) as view:
        jobs: dict[str, Job] = {"tail": lambda: read_tail(log.path)}
        for name, place in (("near", log.checkpoint), ("far", log.first_checkpoint)):
            jobs[name] = _named_job(view, place)
            jobs[f"{name}, all"] = _believed_job(view, log, place)
        times = interleave(jobs, rounds, short=True)
    return {
        "hint": max(times.ratio(name, "tail") for name in ("near", "far")),
        "hint_all": max(times.ratio(name, "tail") for name in ("near, all", "far, all")),
    }


def _entry(place: tuple[int, int, int]) -> dict[str, int]:
    """What a manifest says of a checkpoint."""
    seq, offset, length = place
    return {"segment": 1, "seq": seq, "offset": offset, "bytes": length}


def _named_job(view: LogView, place: tuple[int, int, int]) -> Job:
    """Opens the segment, reads the bytes that the hint names, checks them, closes it."""
    header, stop, entry = view.header(1), view.end(1), _entry(place)
    assert header is not None
    start, seed = header.length, header.seed

    def job() -> None:
        found = read_named(view.fd(1), start, stop, seed, entry)
        view.close()
        assert found is not None and len(found[0]) == place[2]

    return job


def _believed_job(view: LogView, log: Written, place: tuple[int, int, int]) -> Job:
    """The same with all that a resume asks of it: no copy, durable, a state that goes up to it."""
    manifest = read_manifest(view.directory)
    assert manifest is not None
    manifest.checkpoint = _entry(place)
    facts = Facts(view, manifest, "idle")
    facts.watermark = log.next_seq
    walker = _Walker(facts, scan.ONCE)

    def job() -> None:
        found = walker._hinted()
        view.close()
        assert found is not None and (found.seq, found.offset, found.length) == place

    return job


def backward_rows(log: Written, rounds: int, *, with_peer: bool) -> Values:
    """The newest checkpoint, 1 MB before the end, without a hint."""
    with opened(log.path) as fd:
        header = header_of(fd)

    def find() -> None:
        with opened(log.path) as fd:
            stop = os.fstat(fd).st_size
            found = scan.find_record(fd, header.length, stop, header.seed, "checkpoint", 1 << 40)
        assert found == log.checkpoint

    jobs: dict[str, Job] = {"tail": lambda: read_tail(log.path), "find": find}
    if with_peer and is_there("file_read_backwards"):
        jobs["peer"] = lambda: backward_lines(log.path)
    times = interleave(jobs, rounds, short=True)
    values = {"backward": times.ratio("find", "tail")}
    return {**values, "backward_frb": times.ratio("peer", "find")} if "peer" in jobs else values


def plan_rows(big: Written, small: Written, rounds: int) -> Values:
    """`plan()` of two logs whose tails hold the same events."""

    def job(log: Written) -> Job:
        store = log.store

        def plan() -> None:
            found = store.plan(log.session)
            assert (found.verdict, found.checkpoint_seq) == ("resume", log.checkpoint[0])
            assert found.last_seq == log.next_seq - 1

        return plan

    times = interleave({"big": job(big), "small": job(small)}, rounds, short=True)
    return {"plan_sizes": times.ratio("big", "small"), "plan_ms": times.median("big") * 1000}


def process_rows(log: Written, store_path: str, rounds: int) -> Values:
    """Whole processes over an interpreter that does nothing, in milliseconds."""
    jobs = {
        "pass": python(_PASS),
        "import": python(_IMPORT),
        "import_append": python(_APPEND, store_path),
        "start_resume": python(_RESUME, log.store.path, log.session),
    }
    times = interleave(jobs, max(rounds, PROCESS_ROUNDS_MIN))
    made = safepoint.open_store(store_path).list()
    assert len(made) == max(rounds, PROCESS_ROUNDS_MIN) + 1
    return {name: times.excess(name, "pass") * 1000 for name in jobs if name != "pass"}
