"""A seal proves bytes, not sense: records, headers and names that no writer of ours makes."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest
import safepoint
from safepoint import scan

TS = "2026-12-01T00:00:00.000000Z"


class Forged:
    """A session of four records to which sealed lines are added by hand."""

    def __init__(self, store: safepoint.Store) -> None:
        self.store = store
        with store.create("s") as session:
            for number in range(3):
                session.append("message", number)
        self.folder = Path(store.path) / "s"
        self.log = self.folder / "events-000001.jsonl"
        header = json.loads(self.log.read_bytes().split(b"\n")[0])
        self.seed = scan.seed_of(header["salt"])

    def add(self, seq: int, type: str, data: bytes, **members: object) -> None:
        """Appends one record, sealed as ours."""
        parts = {"ts": TS, "key": None, "more": -1, "d": 0, **members}
        line = scan.seal_record(
            seq, parts["ts"], type, parts["key"], data, parts["more"], parts["d"], self.seed
        )
        self.log.write_bytes(self.log.read_bytes() + line)


@pytest.fixture
def forged(store: safepoint.Store) -> Forged:
    """The session to be forged."""
    return Forged(store)


def look_at_everything(store: safepoint.Store) -> list[int]:
    """Every look and every opening; nothing but a SafepointError may come out of it."""
    store.inspect("s")
    seqs: list[int] = []
    for act in (
        lambda: store.plan("s"),
        lambda: seqs.extend(event.seq for event in store.open("s").events()),
        lambda: list(store.open("s").events(reverse=True)),
        lambda: store.resume("s").close(),
        lambda: store.repair("s"),
        store.list,
    ):
        with suppress(safepoint.SafepointError):
            act()
    return seqs


@pytest.mark.parametrize(
    ("type", "data", "members"),
    [
        ("session.finished", b"null", {}),
        ("session.finished", b'{"status":[]}', {}),
        ("checkpoint", b"{broken", {"d": 4}),
        ("checkpoint", b'{"upto":3,"state":1,"keys":[1]}', {"d": 4}),
        ("checkpoint", b'{"upto":3,"state":', {"d": 4}),
        ("checkpoint", b'{"upto":99}', {"d": 4}),
        ("message", b"1", {"key": b'"\\q"'}),
        ("message", b"1", {"d": 999}),
        ("message", b"[" * 300, {}),
    ],
)
def test_sealed_nonsense_raises_nothing_untyped(
    forged: Forged, type: str, data: bytes, members: dict[str, object]
) -> None:
    """Each of these once came out as an AttributeError, a TypeError or a ValueError."""
    forged.add(4, type, data, **members)
    forged.add(5, "message", b"5", d=5)
    assert look_at_everything(forged.store) == list(range(6))


def test_a_record_that_cannot_be_read_keeps_its_seq(forged: Forged) -> None:
    """It is sealed, so it is never cut, and those behind it still come."""
    forged.add(4, "message", b"4", ts="short")
    forged.add(5, "message", b"5")
    seen = forged.store.inspect("s")
    assert (seen.last_seq, [found.kind for found in seen.findings]) == (5, ["undecodable"])
    with forged.store.open("s") as reader:
        events = list(reader.events())
        assert [event.seq for event in events] == list(range(6))
        with pytest.raises(safepoint.CorruptLogError):
            events[4].data  # noqa: B018
        assert [event.seq for event in reader.events(reverse=True)] == list(range(6))[::-1]
    with forged.store.resume("s") as session:
        assert session.last_seq >= 5
    assert forged.store.inspect("s").last_seq >= 5


def test_a_lone_end_of_a_batch_is_no_event(forged: Forged) -> None:
    """Sectors of a batch that was taken back may survive it: its last record proves nothing."""
    forged.add(4, "message", b"4", more=0)
    assert forged.store.inspect("s").last_seq == 3
    with forged.store.open("s") as reader:
        assert [event.seq for event in reader.events()] == [0, 1, 2, 3]
        assert [event.seq for event in reader.events(reverse=True)] == [3, 2, 1, 0]


@pytest.mark.parametrize(
    "change",
    [
        {"prev": 0},
        {"prev": {}},
        {"first_seq": 10**30},
        {"carried": -1},
        {"salt": 5},
        {"segment": 2},
    ],
)
def test_a_sealed_header_of_another_shape_is_corruption(
    forged: Forged, change: dict[str, object]
) -> None:
    """Numbers and shapes that the rest relies on are checked where the header is read."""
    line, _, rest = forged.log.read_bytes().partition(b"\n")
    members = {**json.loads(line), **change}
    del members["crc"]
    body = json.dumps(members, separators=(",", ":")).encode()[:-1]
    forged.log.write_bytes(scan.seal(body, 0) + rest)
    assert forged.store.inspect("s").state == "corrupt"
    look_at_everything(forged.store)


def test_a_newer_format_is_refused_everywhere(forged: Forged) -> None:
    """What a newer writer sealed must not be cut by an older one."""
    line, _, rest = forged.log.read_bytes().partition(b"\n")
    body = line.replace(b'"safepoint":1', b'"safepoint":2').rsplit(b',"crc"', 1)[0]
    forged.log.write_bytes(before := scan.seal(body, 0) + rest)
    assert forged.store.inspect("s").state == "too_new"
    for act in (forged.store.plan, forged.store.resume, forged.store.repair, forged.store.open):
        with pytest.raises(safepoint.TooNewError):
            act("s")
    assert forged.log.read_bytes() == before


@pytest.mark.parametrize("name", ["events-1.jsonl", "events-0000001.jsonl", "events-old.jsonl"])
def test_a_stray_name_is_no_segment_and_no_empty_folder(forged: Forged, name: str) -> None:
    """create() must not build over a log whose file somebody renamed."""
    forged.log.rename(forged.folder / name)
    (forged.folder / "session.json").unlink()
    assert forged.store.inspect("s").state == "corrupt"
    with pytest.raises(safepoint.SessionExistsError):
        forged.store.create("s").append("first")


def test_a_huge_segment_number_costs_nothing(forged: Forged) -> None:
    """One finding names a run of missing numbers, however long it is."""
    (forged.folder / "events-900000000000.jsonl").write_bytes(b"")
    seen = forged.store.inspect("s")
    assert seen.state == "corrupt"
    assert [found.kind for found in seen.findings] == ["missing", "torn"]


def test_a_forward_reader_says_that_the_newest_segment_is_gone(tmp_path: Path) -> None:
    """Right behind a rotation the watermark alone cannot tell; the manifest names the segment."""
    store = safepoint.open_store(tmp_path / "store", segment_bytes=1)
    with store.create("s") as session:
        session.append("first")
        session.checkpoint({})
    (Path(store.path) / "s" / "events-000002.jsonl").unlink()
    with pytest.raises(safepoint.CorruptLogError):
        list(store.open("s").events())


def test_a_second_link_is_refused_before_anything_changes(forged: Forged) -> None:
    """A hard link may be somebody's backup: cutting our name's bytes would cut theirs."""
    forged.log.write_bytes(forged.log.read_bytes() + b"torn")
    (forged.folder / "other").hardlink_to(forged.log)
    before = forged.log.read_bytes()
    with pytest.raises(safepoint.UnsafePathError):
        forged.store.resume("s")
    assert sorted(path.name for path in forged.folder.glob("events-*")) == ["events-000001.jsonl"]
    assert forged.log.read_bytes() == before


def test_a_session_with_a_linked_manifest_is_listed(forged: Forged, tmp_path: Path) -> None:
    """What cannot be read must not vanish from the list."""
    manifest = forged.folder / "session.json"
    manifest.rename(tmp_path / "elsewhere")
    manifest.symlink_to(tmp_path / "elsewhere")
    assert [(info.id, info.status) for info in forged.store.list()] == [("s", "unreadable")]


def test_a_copy_of_a_checkpoint_is_no_place_to_begin(store: safepoint.Store) -> None:
    """inspect and resume must agree: a walk that began at the copy would not see that it is one."""
    with store.create("s") as session:
        session.append("message", 1)
        session.checkpoint({"n": 1})
        session.append("message", 3)
    folder = Path(store.path) / "s"
    (folder / "session.json").unlink()
    log = folder / "events-000001.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join([*lines[:4], lines[3], *lines[4:]]))
    assert store.inspect("s").state == "repairable"
    with store.resume("s") as session:
        assert [mend.kind for mend in session.repairs] == ["seq_repeat"]
        assert session.state == {"n": 1}
        session.append("message", 4)
    assert store.inspect("s").state == "clean"
