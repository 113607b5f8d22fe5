"""What the writer promises beyond single appends: rotation, keys, the folders above a store."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import safepoint
from safepoint import durability


def test_rotation_never_splits_a_batch(tmp_path: Path) -> None:
    """The 4 MiB that a rotation carries may begin inside a batch: then nothing is carried."""
    store = safepoint.open_store(tmp_path / "store", segment_bytes=1 << 20)
    with store.create("s") as session:
        session.append("first")
        seqs = session.append_many([("big", "x" * (1 << 20))] * 6)
        session.checkpoint({"a": 1}, upto=seqs[-2])
        session.append("behind")
    assert store.inspect("s").state == "clean"
    with store.open("s") as reader:
        assert [event.seq for event in reader.events()] == list(range(10))
    with store.resume("s") as session:
        assert [event.seq for event in session.replay()] == [seqs[-1], 9]


def test_rotation_carries_what_resume_needs(tmp_path: Path) -> None:
    """A small window behind `upto` moves along, so that resume opens one file."""
    store = safepoint.open_store(tmp_path / "store", segment_bytes=1)
    with store.create("s") as session:
        session.append("first")
        session.append("kept", 2)
        session.checkpoint({"a": 1}, upto=1)
    (Path(store.path) / "s" / "events-000001.jsonl").write_bytes(b"")
    with pytest.raises(safepoint.CorruptLogError):
        list(store.open("s").events())
    assert store.plan("s").verdict == "resume"


def test_a_known_key_is_durable_when_the_caller_asks(store: safepoint.Store) -> None:
    """A retry with sync=True must not return earlier than the first try would have."""
    with store.create("s", durability="process") as session:
        session.append("first")
        seq = session.append("paid", key="k")
        assert session.durable_seq < seq
        assert session.append("paid", key="k", sync=True) == seq
        assert session.durable_seq >= seq


def test_keys_that_could_not_be_read_are_not_forgotten(
    store: safepoint.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a failed read of the log the retry must still find the key, or a payment runs twice."""
    with store.create("s") as session:
        first = session.append("paid", key="k")
    with store.resume("s") as session:
        with monkeypatch.context() as patch:
            patch.setattr(os, "listdir", _fail)
            with pytest.raises(safepoint.StorageError):
                session.append("paid", key="k")
        assert session.append("paid", key="k") == first


def _fail(*args: object) -> object:
    raise OSError(5, "the disk is gone")


def test_new_folders_above_a_store_are_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store in a folder whose own name was never synced is gone after a power cut."""
    synced = set()
    real = os.fsync

    def note(fd: int) -> None:
        synced.add(os.readlink(f"/proc/self/fd/{fd}"))
        real(fd)

    monkeypatch.setattr("safepoint.files._fsync", note)
    with safepoint.open_store(tmp_path / "a" / "b" / "store").create("s") as session:
        session.append("first")
        assert {str(tmp_path), f"{tmp_path}/a", f"{tmp_path}/a/b"} <= synced


def test_short_is_named_beside_an_undecodable_record(store: safepoint.Store) -> None:
    """A finding that ends nothing must not hide that the log is shorter than it was."""
    from safepoint import scan

    with store.create("s") as session:
        session.append("first")
        session.append("second", {"n": 1}, sync=True)
        session.append("third")
    log = Path(store.path) / "s" / "events-000001.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    salt = __import__("json").loads(lines[0])["salt"]
    seed = scan.seed_of(salt)
    ts = "2026-12-01T00:00:00.000000Z"
    lines[3] = scan.seal_record(2, ts, "second", None, b"{broken", -1, 2, seed)
    log.write_bytes(b"".join(lines[:4]))
    seen = store.inspect("s")
    assert seen.state == "corrupt"
    assert [found.kind for found in seen.findings] == ["undecodable", "short"]


def test_upto_must_be_an_event(store: safepoint.Store) -> None:
    """A checkpoint with an `upto` that no reader accepts would never be found again."""
    with store.create("s") as session:
        session.append("first")
        for wrong in (0.5, 1.0, "1", True, -2, 99):
            with pytest.raises(safepoint.SequenceError):
                session.checkpoint({}, upto=wrong)  # type: ignore[arg-type]


def test_a_poisoned_session_that_was_closed_is_idle(
    store: safepoint.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process lives on, but it writes no longer: the plan must not call it busy."""
    session = store.create("s")
    session.append("first")
    session.append("second")
    with monkeypatch.context() as patch:
        patch.setattr("safepoint.files._fdatasync", _fail)
        with pytest.raises(safepoint.PoisonedError) as caught:
            session.sync()
    assert list(caught.value.seqs) == [2]
    session.close()
    assert store.plan("s").verdict == "resume"
    assert store.inspect("s").writer == "idle"


def test_a_creation_in_doubt_stays_in_doubt(
    store: safepoint.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A handle that went on after PoisonedError would write the same event twice."""
    session = store.create("s")
    with monkeypatch.context() as patch:
        patch.setattr("safepoint.writer.save_manifest", _fail)
        with pytest.raises(safepoint.PoisonedError) as caught:
            session.append("first")
    assert list(caught.value.seqs) == [0, 1]
    with pytest.raises(safepoint.PoisonedError):
        session.append("first")
    session.close()
    with store.resume("s") as again:
        assert again.last_seq == 1


class Failing:
    """A fold that cannot take some events."""

    version = 1

    def initial(self) -> list[int]:
        return []

    def apply(self, state: list[int], event: safepoint.Event) -> list[int]:
        if event.type == "bad":
            raise ZeroDivisionError
        return [*state, event.seq]

    def dump(self, state: list[int]) -> list[int]:
        return state

    def load(self, state: list[int], version: object) -> list[int]:
        return state


def test_an_event_that_the_fold_refuses_is_in_the_log(store: safepoint.Store) -> None:
    """The fold is the caller's view, not a veto: the exception says that the event stayed."""
    with store.create("s", fold=Failing()) as session:
        session.append("first")
        with pytest.raises(ZeroDivisionError) as caught:
            session.append("bad")
        assert any("event 2 is in the log" in note for note in caught.value.__notes__)
        assert (session.last_seq, session.state) == (2, [0, 1])
        assert session.append("next") == 3
        assert session.state == [0, 1, 3]
    assert store.inspect("s").records == 4


def test_more_keys_than_are_kept(store: safepoint.Store) -> None:
    """A checkpoint repeats the newest 1,024 keys, also when they came from a resume."""
    with store.create("s") as session:
        for number in range(1100):
            session.append("paid", number, key=f"k{number}")
    with store.resume("s") as session:
        assert session.append("paid", key="k1099") == 1100
        session.checkpoint({})
    with store.open("s") as reader:
        keys = reader.last(1)[0].data["keys"]
    assert len(keys) == 1024
    assert keys[-1] == ["k1099", 1100, "paid"]


def test_a_fork_inside_another_threads_append_poisons_the_child(store: safepoint.Store) -> None:
    """The child's copy of the handle was in the middle of a write that is not the child's."""
    with store.create("s") as session:
        session.append("first")
        session._writing = True
        pid = os.fork()
        if pid == 0:
            try:
                session.append("second")
            except safepoint.PoisonedError:
                os._exit(0)
            os._exit(1)
        session._writing = False
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        assert session.append("second") == 2


@pytest.mark.parametrize("part", ["version", "initial", "apply", "dump", "load"])
def test_a_fold_that_lacks_a_part_is_refused_at_once(store: safepoint.Store, part: str) -> None:
    """Ten appends later, at the first checkpoint, would be too late to learn of it."""
    members = {name: getattr(Failing, name) for name in ("initial", "apply", "dump", "load")}
    members["version"] = 1
    del members[part]
    with pytest.raises(TypeError, match=part):
        store.create("s", fold=type("Fold", (), members)())


@pytest.mark.parametrize("wrong", [0, -1, "5", None, 1.5])
def test_segment_bytes_is_checked_where_it_is_given(tmp_path: Path, wrong: object) -> None:
    """A checkpoint must not find it out behind its own record."""
    with pytest.raises(ValueError, match="segment_bytes"):
        safepoint.open_store(tmp_path, segment_bytes=wrong)  # type: ignore[arg-type]


def test_a_default_that_converts_nothing_is_named(store: safepoint.Store) -> None:
    """default=lambda value: value must end in our error, not in a full stack."""
    with (
        store.create("s", default=lambda value: value) as session,
        pytest.raises(safepoint.InvalidEventError),
    ):
        session.append("message", {"x": {1, 2}})


def test_a_manifest_that_could_not_be_saved_is_saved_at_close(
    store: safepoint.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The checkpoint is in the log; hint and watermark must not stay behind for good."""
    session = store.create("s")
    session.append("first")
    with monkeypatch.context() as patch:
        patch.setattr("safepoint.writer.save_manifest", _fail)
        seq = session.checkpoint({})
    session.close()
    manifest = json.loads((Path(store.path) / "s" / "session.json").read_text())
    assert (manifest["durable"]["seq"], manifest["checkpoint"]["seq"]) == (seq + 1, seq)


def test_a_backward_reader_goes_on_beside_a_resume(store: safepoint.Store) -> None:
    """A resume rolls and cuts the old segment: no damage to whoever is reading it."""
    pid = os.fork()
    if pid == 0:
        session = store.create("s", durability="process")
        for number in range(50):
            session.append("message", number)
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)
    events = store.open("s").events(reverse=True)
    seqs = [next(events).seq]
    store.resume("s").close()
    seqs += [event.seq for event in events]
    assert seqs == list(range(51))[::-1]


class Poser(str):
    """A type that looks like one that was checked before."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash("note")


def test_types_that_were_checked_before_are_told_from_others(store: safepoint.Store) -> None:
    """What is remembered of earlier types must let no other one through."""
    with store.create("s") as session:
        session.append("note")
        for wrong in (Poser("a b"), Poser("session.x"), ["note"], None, "a b", "checkpoint"):
            with pytest.raises(safepoint.InvalidEventError):
                session.append(wrong)  # type: ignore[arg-type]
            with pytest.raises(safepoint.InvalidEventError):
                session.append_many([(wrong, 1)])  # type: ignore[list-item]
        for number in range(400):
            session.append(f"type{number}")
        assert session.append("note") == session.last_seq == 402


AT_EXIT = """
import sys, time, safepoint
from safepoint import files
session = safepoint.open_store(sys.argv[1]).create("s")
session.append("first")
real, files._fdatasync = files._fdatasync, time.sleep
session.append("second")
time.sleep(0.3)
files._fdatasync = real
"""
"""Ends while the maintenance thread is inside a sync, which takes as many seconds as the descriptor
has for a number."""


def test_an_exit_in_the_middle_of_a_background_sync_ends(store: safepoint.Store) -> None:
    """Threads die where the interpreter ends, their locks held: closing must not wait for them."""
    command = [sys.executable, "-c", AT_EXIT, store.path]
    subprocess.run(command, timeout=20, check=True, capture_output=True)
    assert store.inspect("s").records == 3
    assert store.plan("s").verdict == "resume"


@pytest.mark.parametrize(
    ("level", "bound"), [("batch", "BATCH_BYTES_SOON"), ("process", "PROCESS_BYTES_MAX")]
)
def test_much_unsynced_hurries_the_background_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, level: str, bound: str
) -> None:
    """A disk that cannot keep up must not find a queue of requests, nor an append that waits."""
    monkeypatch.setattr(durability, bound, 4_096)
    asked: list[float] = []

    class Recorder:
        def request(self, session: object, within_s: float) -> None:
            asked.append(within_s)

    monkeypatch.setattr(durability, "UPKEEP", Recorder())
    with safepoint.open_store(tmp_path).create("s", durability=level) as session:
        for _ in range(20):
            session.append("note", "x" * 1_000)
        assert asked.count(0.0) == 1
        session._durability.sync_in_background()
        assert session.durable_seq == session.last_seq
        for _ in range(20):
            session.append("note", "x" * 1_000)
        assert asked.count(0.0) == 2
