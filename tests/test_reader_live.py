"""Readers beside a live writer (P5): whole records, whole batches, and not a byte written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from subprocess import Popen

import pytest
import safepoint
from programs import WAIT_S, running

WRITER = """
import sys, safepoint

store = safepoint.open_store(sys.argv[1], segment_bytes=2_000_000)
with store.create("s", durability="process") as session:
    session.append("begin")
    print("ready", flush=True)
    for number in range(int(sys.argv[2])):
        text = chr(97 + number % 26) * 300_000
        session.append("large", {"n": number, "text": text})
        session.append_many([("part", {"of": number, "at": at, "text": text}) for at in range(4)])
        if number % 3 == 2:
            session.checkpoint({"n": number})
print("done", flush=True)
"""
"""Records of 300 KB, batches of four of them, and a rotation every other checkpoint."""

STEPS = 120


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Popen[str]]:
    """A writer at work in the store."""
    with running(WRITER, tmp_path / "store", STEPS) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process


def check_event(event: safepoint.Event) -> None:
    """The data is what the writer gave."""
    if event.type in ("large", "part"):
        number = event.data["n" if event.type == "large" else "of"]
        assert event.data["text"] == chr(97 + number % 26) * 300_000


def check_events(events: list[safepoint.Event]) -> None:
    """Whole records, contiguous, and the last batch complete."""
    assert [event.seq for event in events] == list(range(events[0].seq, events[-1].seq + 1))
    for event in events:
        check_event(event)
    if events[-1].type == "part":
        assert events[-1].data["at"] == 3


def test_forward_reader_sees_whole_batches(store: safepoint.Store, live: Popen[str]) -> None:
    """Half a record of a live writer looks like damage, and half a batch like a lie."""
    seen = passes = 0
    while live.poll() is None or passes == 0:
        with store.open("s") as reader:
            events = list(reader.events(start=max(0, seen - 5)))
        check_events(events)
        assert events[-1].seq >= seen
        seen, passes = events[-1].seq, passes + 1
    with store.open("s") as reader:
        assert [event.seq for event in reader.events()] == list(range(reader.last(1)[0].seq + 1))
    assert passes > 1


def test_backward_reader_sees_whole_batches(store: safepoint.Store, live: Popen[str]) -> None:
    """The newest events are what a person looks at while the agent runs."""
    passes = 0
    while live.poll() is None or passes == 0:
        with store.open("s") as reader:
            check_events(reader.last(10))
        passes += 1
    assert passes > 1


def test_inspect_beside_a_writer_is_clean(store: safepoint.Store, live: Popen[str]) -> None:
    """A record in progress is no damage: nobody should be told to repair a session at work."""
    passes = 0
    while live.poll() is None:
        found = store.inspect("s")
        if found.writer == "live":
            assert found.state == "clean", found
            passes += 1
    assert passes > 0
    assert store.inspect("s").segments > 2


def test_plan_beside_a_writer_refuses(store: safepoint.Store, live: Popen[str]) -> None:
    """The plan says why resume would be refused, and names no damage."""
    plan = store.plan("s")
    if store.inspect("s").writer == "live":
        assert plan.verdict == "refuse"
        assert [reason.code for reason in plan.reasons] == ["busy"]
    assert plan.repairs == []


def picture(path: Path) -> dict[str, tuple[int, int, int, int]]:
    """Each name under `path` with inode, size, modification and change time."""
    names = [path, *sorted(path.rglob("*"))]
    found = {str(name): os.lstat(name) for name in names}
    return {k: (s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns) for k, s in found.items()}


LOOKS = {
    "events": lambda store: list(store.open("s").events()),
    "reverse": lambda store: list(store.open("s").events(reverse=True)),
    "last": lambda store: store.open("s").last(3),
    "inspect": lambda store: store.inspect("s"),
    "plan": lambda store: store.plan("s"),
    "list": lambda store: store.list(),
    "verify": lambda store: safepoint.verify(Path(store.path) / "s"),
    "read_file": lambda store: list(
        safepoint.read_file(Path(store.path) / "s" / "events-000001.jsonl")
    ),
}


@pytest.mark.parametrize("damage", ["none", "torn", "no-manifest", "corrupt"])
@pytest.mark.parametrize("look", LOOKS)
def test_looking_changes_nothing(store: safepoint.Store, look: str, damage: str) -> None:
    """Looking never repairs, locks or touches, whatever state the session is in (P5)."""
    with store.create("s") as session:
        session.append("first", "x" * 100)
        session.checkpoint({})
        session.append("second")
    folder = Path(store.path) / "s"
    log = folder / "events-000001.jsonl"
    if damage == "torn":
        log.write_bytes(log.read_bytes() + b'{"seq":4,"ts')
    elif damage == "no-manifest":
        (folder / "session.json").unlink()
    elif damage == "corrupt":
        log.write_bytes(log.read_bytes().replace(b"xxxx", b"xyxx", 1))
    before = picture(Path(store.path))
    try:
        LOOKS[look](store)
    except safepoint.CorruptLogError:
        assert damage == "corrupt"
    assert picture(Path(store.path)) == before


def test_reader_follows_a_rotation(tmp_path: Path) -> None:
    """An iterator that began before a rotation goes on into the next segment, without a gap."""
    store = safepoint.open_store(tmp_path / "store", segment_bytes=1)
    with store.create("s") as session:
        session.append_many([("note", n) for n in range(3)])
        events = store.open("s").events()
        seqs = [next(events).seq]
        session.checkpoint({})
        session.append_many([("note", n) for n in range(3)])
        session.checkpoint({})
        seqs += [event.seq for event in events]
        assert seqs == list(range(session.last_seq + 1))


def test_reader_does_not_wait_for_the_writer(store: safepoint.Store, live: Popen[str]) -> None:
    """A reader that took the writer's lock would stop it."""
    with store.open("s") as reader:
        first = next(iter(reader.events()))
    assert first.type == "session.created"
    assert live.wait(WAIT_S) == 0


def test_append_in_progress_is_not_seen(store: safepoint.Store) -> None:
    """At every moment of a batch's write a reader ends before it, and nobody calls it damage."""
    log = Path(store.path) / "s" / "events-000001.jsonl"
    with store.create("s", durability="process") as session:
        session.append("note")
        before = log.stat().st_size
        session.append_many([("part", at) for at in range(3)])
        whole = log.read_bytes()
        for cut in range(before, len(whole), 11):
            os.truncate(log, cut)
            kinds = [found.kind for found in store.inspect("s").findings]
            assert store.inspect("s").state == "clean", cut
            assert set(kinds) == (set() if cut == before else {"in_progress"}), cut
            with store.open("s") as reader:
                assert [event.seq for event in reader.events()] == [0, 1], cut
                assert [event.seq for event in reader.events(reverse=True)] == [1, 0], cut
            log.write_bytes(whole)
        with store.open("s") as reader:
            assert reader.last(1)[0].data == 2
    assert store.inspect("s").state == "clean"
