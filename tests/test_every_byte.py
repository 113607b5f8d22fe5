"""A small closed log, changed in every place that it has: nothing wrong ever comes back, nothing is
silent.
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

import pytest
import safepoint

Rows = list[tuple[int, str, str, object]]


def write_session(store: safepoint.Store) -> None:
    """A session of two segments with a batch, a checkpoint and events behind it, closed."""
    with store.create("s", request={"goal": "x"}) as session:
        session.append("message", {"text": "one"})
        session.append_many([("message", {"text": "two"}), ("note", 3)])
        session.checkpoint({"upto": "here"})
        session.append("message", {"text": "four"}, sync=True)
        session.append("message", {"text": "five"}, key="k")
    # A torn tail makes resume roll, so that there are two headers to damage.
    log = Path(store.path) / "s" / "events-000001.jsonl"
    log.write_bytes(log.read_bytes() + b"torn")
    with store.resume("s") as session:
        session.append("message", {"text": "seven"}, sync=True)
        session.append("message", {"text": "eight"})


def rows(store: safepoint.Store) -> Rows:
    """Everything that comes back, up to the damage."""
    found: Rows = []
    try:
        with store.open("s") as reader:
            for event in reader.events():
                found.append((event.seq, event.ts, event.type, event.data))
    except safepoint.CorruptLogError:
        pass
    return found


@pytest.fixture
def closed(store: safepoint.Store) -> tuple[safepoint.Store, Rows]:
    """The store and the rows of its session as they are before any damage."""
    write_session(store)
    return store, rows(store)


def segments(store: safepoint.Store) -> list[Path]:
    """The segment files in order."""
    return sorted((Path(store.path) / "s").glob("events-*.jsonl"))


def check_named(store: safepoint.Store, before: Rows, place: str) -> safepoint.Inspection:
    """What comes back is a prefix, and what is missing has a finding at an offset inside a file."""
    seen = store.inspect("s")
    got = rows(store)
    assert got == before[: len(got)], place
    if got != before:
        assert seen.state in ("corrupt", "repairable"), (place, seen)
        named = [found for found in seen.findings if not found.information]
        assert named, (place, seen)
        assert all(found.offset >= 0 for found in named)
    return seen


def test_every_single_byte_change_is_named(closed: tuple[safepoint.Store, Rows]) -> None:
    """P4: a closed log is durable to its end, so any changed byte of the log must be seen as
    corruption.
    """
    store, before = closed
    for path in segments(store):
        whole = path.read_bytes()
        for offset in range(len(whole)):
            changed = bytearray(whole)
            changed[offset] ^= 1 << (offset % 8)
            path.write_bytes(changed)
            seen = check_named(store, before, f"{path.name}:{offset}")
            assert seen.state == "corrupt", (path.name, offset, seen)
            start = whole.rfind(b"\n", 0, offset) + 1
            near = [f for f in seen.findings if f.segment == int(path.name[7:13])]
            assert any(start <= f.offset <= offset + 1 for f in near), (path.name, offset, seen)
        path.write_bytes(whole)


def test_every_prefix_is_noticed(closed: tuple[safepoint.Store, Rows]) -> None:
    """A cut at a record boundary leaves a log without damage: only the watermark can tell that it
    is short.
    """
    store, before = closed
    path = segments(store)[-1]
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        seen = check_named(store, before, f"prefix {length}")
        expected = "repairable" if length == len(whole) - 1 else "corrupt"
        assert seen.state == expected, (length, seen)
        if seen.state == "corrupt":
            with pytest.raises(safepoint.CorruptLogError):
                store.resume("s")
            assert path.read_bytes() == whole[:length]


def test_without_the_manifest_headers_and_proven_records_stay_corrupt(
    closed: tuple[safepoint.Store, Rows],
) -> None:
    """The manifest is a cache: what a header or a later `d` proves durable stays so without it."""
    store, _ = closed
    (Path(store.path) / "s" / "session.json").unlink()
    last = segments(store)[-1]
    for path in segments(store):
        whole = path.read_bytes()
        stop = len(whole)
        if path == last:
            stop = whole.rindex(b"\n", 0, len(whole) - 1) + 1
        for offset in range(stop):
            changed = bytearray(whole)
            changed[offset] ^= 0x01
            path.write_bytes(changed)
            seen = store.inspect("s")
            assert seen.state == "corrupt", (path.name, offset, seen)
            with suppress(safepoint.CorruptLogError):
                store.repair("s")  # rot that lies behind the checkpoint does not stop it
            assert path.read_bytes() == changed
        path.write_bytes(whole)


def test_a_missing_last_newline_is_mended_and_the_log_is_clean(
    closed: tuple[safepoint.Store, Rows],
) -> None:
    """Appending behind a record without newline would glue two records: the commonest damage in the
    field.
    """
    store, before = closed
    path = segments(store)[-1]
    path.write_bytes(path.read_bytes()[:-1])
    assert store.plan("s").verdict == "resume"
    with store.resume("s") as session:
        assert [mend.kind for mend in session.repairs] == ["unterminated"]
        session.append("message", {"text": "more"})
    got = rows(store)
    assert got[: len(before)] == before
    assert [row[2] for row in got[len(before) :]] == ["session.resumed", "message"]
    assert store.inspect("s").state == "clean"


@pytest.mark.parametrize("name", ["events-000001.jsonl", "events-000002.jsonl"])
def test_a_lost_segment_is_missing(closed: tuple[safepoint.Store, Rows], name: str) -> None:
    """A segment that the manifest or a later header names cannot vanish unseen."""
    store, _ = closed
    (Path(store.path) / "s" / name).unlink()
    seen = store.inspect("s")
    assert seen.state == "corrupt"
    assert any(found.kind in ("missing", "short") for found in seen.findings)


def test_old_rot_behind_a_checkpoint_does_not_stop_an_agent(store: safepoint.Store) -> None:
    """inspect names it, resume goes on: the state comes from the checkpoint, not from what lies
    before.
    """
    with store.create("s") as session:
        for number in range(5):
            session.append("message", number)
        session.checkpoint({"done": 5})
        session.append("message", 6)
    path = segments(store)[0]
    raw = path.read_bytes()
    at = raw.index(b'"data":2')
    path.write_bytes(raw[: at + 7] + b"9" + raw[at + 8 :])
    assert store.inspect("s").state == "corrupt"
    with store.resume("s") as session:
        assert session.state == {"done": 5}
        assert [event.data for event in session.replay()] == [6]


def test_a_copied_and_renamed_session_is_one(closed: tuple[safepoint.Store, Rows]) -> None:
    """The folder's name is the id; the header's is information, named as such."""
    store, before = closed
    shutil.copytree(Path(store.path) / "s", Path(store.path) / "copy")
    seen = store.inspect("copy")
    assert seen.state == "clean"
    assert [found.kind for found in seen.findings] == ["renamed"]
    with store.resume("copy") as session:
        assert session.append("message", 1) == len(before)
