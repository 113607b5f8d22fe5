"""The log behind the API: reading ranges, segments and their rotation, and what a mend does."""

from __future__ import annotations

import hashlib
import os
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
import safepoint

SEGMENT_BYTES = 1500
"""A checkpoint every few events starts a new segment."""
EVENTS = 60


def folder(store: safepoint.Store) -> Path:
    """The folder of session `s`."""
    return Path(store.path) / "s"


def segments(store: safepoint.Store) -> list[Path]:
    """The segment files, in order."""
    return sorted(folder(store).glob("events-*.jsonl"))


def plain(events: Any) -> list[tuple[int, str, Any]]:
    """(seq, type, data) of each."""
    return [(event.seq, event.type, event.data) for event in events]


@pytest.fixture
def rotated(tmp_path: Path) -> tuple[safepoint.Store, list[tuple[int, str, Any]]]:
    """A store with a closed session of many segments, and all that was appended to it."""
    store = safepoint.open_store(tmp_path / "store", segment_bytes=SEGMENT_BYTES)
    told: list[tuple[int, str, Any]] = []
    with store.create("s") as session:
        for number in range(EVENTS):
            type = "even" if number % 2 == 0 else "odd"
            told.append((session.append(type, {"n": number}), type, {"n": number}))
            if number % 10 == 4:
                session.checkpoint({"n": number}, upto=max(1, session.last_seq - number % 3))
    assert len(segments(store)) > 3
    return store, told


def test_rotation_loses_and_repeats_nothing(rotated) -> None:
    """Carried records stand in two segments on disk: a reader gives each of them once."""
    store, told = rotated
    with store.open("s") as reader:
        events = list(reader.events())
    assert [event.seq for event in events] == list(range(len(events)))
    assert [row for row in plain(events) if row[1] in ("even", "odd")] == told
    assert store.inspect("s").state == "clean"
    assert store.inspect("s").records == len(events)
    assert store.inspect("s").segments == len(segments(store))


def test_ranges_across_segments(rotated) -> None:
    """start <= seq < stop for every pair, forward and reverse, whatever segment they lie in."""
    store, _ = rotated
    with store.open("s") as reader:
        events = plain(reader.events())
        for start in range(0, len(events), 7):
            for stop in (None, start, start + 1, start + 13, len(events) + 9):
                expected = events[start:stop]
                assert plain(reader.events(start, stop)) == expected
                assert plain(reader.events(start, stop, reverse=True)) == expected[::-1]


def test_last_across_segments(rotated) -> None:
    """The newest events, oldest first, for every number of them."""
    store, _ = rotated
    with store.open("s") as reader:
        events = plain(reader.events())
        for n in (0, 1, 2, 9, len(events), len(events) + 5):
            assert plain(reader.last(n)) == (events[-n:] if n else [])
        assert plain(reader.last()) == events[-10:]


def test_types_filter(rotated) -> None:
    """Only the types that were asked for, in both directions, and for `last`."""
    store, told = rotated
    odd = [row for row in told if row[1] == "odd"]
    with store.open("s") as reader:
        assert plain(reader.events(types=["odd"])) == odd
        assert plain(reader.events(types={"odd"}, reverse=True)) == odd[::-1]
        assert plain(reader.last(3, types=["odd"])) == odd[-3:]
        assert plain(reader.events(types=["even", "odd"])) == told
        assert plain(reader.events(types=[])) == []


def test_session_reads_as_the_reader_does(rotated) -> None:
    """A writer's own view of its log is the same as anybody's."""
    store, _ = rotated
    with store.resume("s") as session, store.open("s") as reader:
        assert plain(session.events()) == plain(reader.events())
        assert plain(session.events(5, 20, reverse=True)) == plain(reader.events(5, 20, True))
        assert plain(session.last(7)) == plain(reader.last(7))
        assert plain(session.events(types=["odd"])) == plain(reader.events(types=["odd"]))


def test_resume_of_a_rotated_session(rotated) -> None:
    """State and replay come from the newest checkpoint, wherever the events behind it lie."""
    store, told = rotated
    before = {path: path.read_bytes() for path in segments(store)}
    plan = store.plan("s")
    with store.resume("s") as session:
        assert session.state == {"n": 54}
        assert plain(session.replay()) == [row for row in told if row[0] > plan.upto]
        assert plan.last_seq == session.last_seq
        assert session.repairs == []
    after = {path: path.read_bytes() for path in segments(store)}
    assert after.keys() == before.keys()
    for path, text in before.items():  # what a rotation carried over may be cut off behind the end
        assert text.startswith(after[path])
    assert not (folder(store) / "quarantine").exists()
    store.resume("s").close()
    assert {path: path.read_bytes() for path in segments(store)} == after


def test_rotation_comes_behind_a_checkpoint_only(tmp_path: Path) -> None:
    """Without a checkpoint a segment grows: resume should open few files."""
    store = safepoint.open_store(tmp_path / "store", segment_bytes=500)
    with store.create("s") as session:
        for _ in range(50):
            session.append("note", "x" * 100)
        assert len(segments(store)) == 1
        session.checkpoint({})
        assert len(segments(store)) == 2
        assert session.append("note") == session.last_seq == 52


def test_old_segments_stay_as_they_are(tmp_path: Path) -> None:
    """A rotation takes nothing from under a reader: closed segments never change."""
    store = safepoint.open_store(tmp_path / "store", segment_bytes=1)
    with store.create("s") as session:
        session.append("note")
        session.checkpoint({})
        before = segments(store)[0].read_bytes()
        for _ in range(5):
            session.append("note")
            session.checkpoint({})
    assert segments(store)[0].read_bytes() == before


def damaged(store: safepoint.Store, tail: bytes) -> None:
    """Session `s` with three notes, then killed while it wrote `tail`."""
    with store.create("s") as session:
        for number in range(3):
            session.append("note", number)
    log = segments(store)[0]
    log.write_bytes(log.read_bytes() + tail)


TAIL = b'{"seq":4,"ts":"2026-12-01T04:48:28.1'


def test_resume_mends_a_torn_tail(store: safepoint.Store) -> None:
    """The torn bytes are named, kept aside under their hash, and recorded in the log."""
    damaged(store, TAIL)
    end = segments(store)[0].stat().st_size - len(TAIL)
    found = store.inspect("s")
    assert (found.state, found.records) == ("repairable", 4)
    assert [(f.kind, f.offset, f.length) for f in found.findings] == [("torn", end, len(TAIL))]
    with store.resume("s") as session:
        (repair,) = session.repairs
        assert (repair.kind, repair.segment, repair.offset, repair.length) == (
            *("torn", 1),
            *(end, len(TAIL)),
        )
        assert repair.quarantine == hashlib.sha256(TAIL).hexdigest()
        assert (folder(store) / "quarantine" / repair.quarantine).read_bytes() == TAIL
        resumed = session.last(1)[0]
        assert (resumed.seq, resumed.type) == (4, "session.resumed")
        assert resumed.data["repairs"][0]["kind"] == "torn"
        assert session.append("note", 3) == 5
    assert store.inspect("s").state == "clean"
    with store.open("s") as reader:
        assert [event.data for event in reader.events(types=["note"])] == [0, 1, 2, 3]


def test_repair_appends_nothing(store: safepoint.Store) -> None:
    """`repair` mends as resume would, but whoever only wants a whole log gets no new event."""
    damaged(store, TAIL)
    (repair,) = store.repair("s")
    assert repair.quarantine == hashlib.sha256(TAIL).hexdigest()
    found = store.inspect("s")
    assert (found.state, found.records, found.writer) == ("clean", 4, "idle")
    assert store.repair("s") == []
    with store.resume("s") as session:
        assert session.repairs == []
        assert session.append("note") == 4


def test_repair_mends_a_finished_session(store: safepoint.Store) -> None:
    """A finished session is not resumed, but its log can be made whole."""
    with store.create("s") as session:
        session.append("note")
        session.finish()
    log = segments(store)[0]
    log.write_bytes(log.read_bytes() + b"\0" * 100)
    assert len(store.repair("s")) == 1
    assert (store.inspect("s").state, store.inspect("s").status) == ("clean", "completed")


def test_last_record_without_its_newline_counts(store: safepoint.Store) -> None:
    """A whole record whose newline was cut is not lost, and what follows is clean."""
    damaged(store, b"")
    log = segments(store)[0]
    log.write_bytes(log.read_bytes()[:-1])
    assert [event.data for event in store.open("s").events(start=1)] == [0, 1, 2]
    with store.resume("s") as session:
        session.append("note", 3)
        assert [event.data for event in session.events(types=["note"])] == [0, 1, 2, 3]
    assert store.inspect("s").state == "clean"


def test_corrupt_session_is_refused_unchanged(store: safepoint.Store) -> None:
    """Damage among durable records is nobody's to cut: the error names it, nothing changes."""
    damaged(store, b"")
    log = segments(store)[0]
    lines = log.read_bytes().splitlines(keepends=True)
    lines[2] = lines[2].replace(b'"note"', b'"nota"')
    log.write_bytes(b"".join(lines))
    offset = len(lines[0] + lines[1])
    before = log.read_bytes()
    for call in (store.resume, store.repair):
        with pytest.raises(safepoint.CorruptLogError) as caught:
            call("s")
        assert isinstance(caught.value, safepoint.ResumeRefusedError)
        assert (caught.value.finding.kind, caught.value.finding.offset) == ("crc", offset)
        assert caught.value.plan.verdict == "refuse"
    seen = []
    with pytest.raises(safepoint.CorruptLogError) as caught:
        for event in store.open("s").events():
            seen.append(event.seq)
    assert seen == [0]
    assert caught.value.finding.offset == offset
    assert store.inspect("s").state == "corrupt"
    assert log.read_bytes() == before
    assert not (folder(store) / "quarantine").exists()


def test_plan_says_what_resume_would_do(store: safepoint.Store) -> None:
    """The plan names the repairs before anything is done, and does none of them."""
    damaged(store, TAIL)
    before = segments(store)[0].read_bytes()
    plan = store.plan("s")
    assert plan.verdict == "resume"
    assert [(repair.kind, repair.length) for repair in plan.repairs] == [("torn", len(TAIL))]
    assert plan.repairs[0].quarantine is None
    assert (plan.checkpoint_seq, plan.upto, plan.last_seq) == (None, -1, 3)
    assert segments(store)[0].read_bytes() == before


def test_newer_format_is_refused(store: safepoint.Store) -> None:
    """A log of a newer safepoint must neither be read wrongly nor mended."""
    damaged(store, b"")
    (folder(store) / "session.json").unlink()
    log = segments(store)[0]
    from safepoint import scan

    header, rest = log.read_bytes().split(b"\n", 1)
    body = header.replace(b'"safepoint":1', b'"safepoint":2')[: -len(b',"crc":"00000000"}')]
    log.write_bytes(scan.seal(body, 0) + rest)
    before = log.read_bytes()
    for call in (store.resume, store.open, store.plan, store.repair):
        with pytest.raises(safepoint.TooNewError):
            call("s")
    assert store.inspect("s").state == "too_new"
    assert safepoint.inspect_file(folder(store)).state == "too_new"
    assert log.read_bytes() == before


def test_renamed_folder_is_still_a_session(store: safepoint.Store) -> None:
    """People copy and rename: the folder's name is the id, the header's is information."""
    damaged(store, b"")
    folder(store).rename(Path(store.path) / "other")
    found = store.inspect("other")
    assert (found.state, [f.kind for f in found.findings]) == ("clean", ["renamed"])
    with store.resume("other") as session:
        assert session.append("note") == 4


def test_inspect_file_takes_folder_and_segment(rotated) -> None:
    """A person points at what is on the disk, not at a store and an id."""
    store, _ = rotated
    whole = safepoint.inspect_file(folder(store))
    assert whole.state == store.inspect("s").state == "clean"
    assert whole.records == store.inspect("s").records
    for path in segments(store):
        assert safepoint.inspect_file(path).state == "clean"
        verified = safepoint.verify(path, threads=1)
        assert verified == safepoint.inspect_file(path)


def test_a_segment_of_another_session_is_not_read(tmp_path: Path) -> None:
    """Its records verify under its own salt, and their seqs may even go on: the salts tell."""
    stores = [safepoint.open_store(tmp_path / name, segment_bytes=400) for name in ("a", "b")]
    for store in stores:
        with store.create("s") as session:
            for number in range(9):
                session.append("note", {"of": Path(store.path).name, "n": number})
                session.checkpoint(None)
    ours, theirs = map(segments, stores)
    ours[3].write_bytes(theirs[3].read_bytes())
    given = []
    with pytest.raises(safepoint.CorruptLogError) as raised:
        given.extend(stores[0].open("s").events())
    assert (raised.value.finding.kind, raised.value.finding.segment) == ("foreign", 4)
    assert {event.data["of"] for event in given if event.type == "note"} == {"a"}


@pytest.mark.parametrize("damaged", [1, 17, 29, 40])
def test_both_directions_give_what_stands_before_the_damage(store, damaged: int) -> None:
    """Events are read many at a time: one bad line must not take its neighbours along."""
    with store.create("s") as session:
        for number in range(40):
            session.append("note", {"n": number})
        session.checkpoint(None)
        session.append("last")
    log = segments(store)[0]
    log.write_bytes(log.read_bytes().replace(b'"n":%d}' % (damaged - 1), b'"n":?}'))
    seen: dict[bool, list[int]] = {False: [], True: []}
    for reverse, seqs in seen.items():
        with pytest.raises(safepoint.CorruptLogError) as raised:
            seqs.extend(event.seq for event in store.open("s").events(reverse=reverse))
        assert raised.value.finding.segment == 1
        assert raised.value.finding.offset == log.read_bytes().index(b'{"seq":%d,' % damaged)
    assert seen == {False: list(range(damaged)), True: list(range(42, damaged, -1))}


@pytest.mark.parametrize("reverse", [False, True])
def test_read_file_of_a_segment(rotated, reverse: bool) -> None:
    """The records of a segment with their places: what stands there decodes to the object."""
    store, _ = rotated
    path = segments(store)[1]
    found = list(safepoint.read_file(path, reverse=reverse))
    assert len(found) == safepoint.inspect_file(path).records
    seqs = [record["seq"] for _, _, record in found]
    assert seqs == sorted(seqs, reverse=reverse)
    text = path.read_bytes()
    for offset, length, record in found:
        line = text[offset : offset + length]
        assert line.endswith(b"\n")
        assert line.startswith(b'{"seq":%d,' % record["seq"])


def test_threads_of_verify_are_checked(tmp_path: Path) -> None:
    """Nothing runs on no threads."""
    with pytest.raises(ValueError):
        safepoint.verify(tmp_path, threads=0)


@pytest.mark.once  # the fallback holds a line whole
def test_a_tail_that_never_ends_costs_no_memory_to_read(tmp_path: Path) -> None:
    """A file system may leave a gigabyte of zeros behind a log; no record is that long."""
    store = safepoint.open_store(tmp_path)
    with store.create("s") as session:
        session.append("note", 1)
    path = tmp_path / "s" / "events-000001.jsonl"
    os.truncate(path, path.stat().st_size + 160_000_000)
    tracemalloc.start()
    try:
        assert [event.seq for event in store.open("s").events()] == [0, 1]
        assert tracemalloc.get_traced_memory()[1] < 8_000_000
    finally:
        tracemalloc.stop()
