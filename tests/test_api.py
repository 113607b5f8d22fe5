"""The public API: what each call promises, seen from outside."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest
import safepoint
from programs import WAIT_S

RFC3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


class Counter:
    """A fold that counts events by type."""

    def __init__(self, version: int = 1) -> None:
        self.version = version
        self.loaded: list[Any] = []

    def initial(self) -> dict[str, int]:
        return {}

    def apply(self, state: dict[str, int], event: safepoint.Event) -> dict[str, int]:
        if event.type == "bad":
            raise ValueError("the fold does not like it")
        return {**state, event.type: state.get(event.type, 0) + 1}

    def dump(self, state: Any) -> Any:
        return {"counts": state}

    def load(self, state: Any, version: Any) -> Any:
        self.loaded.append(version)
        return state["counts"]


def log_of(store: safepoint.Store, number: int = 1) -> Path:
    """A segment of session `s`."""
    return Path(store.path) / "s" / f"events-{number:06d}.jsonl"


def folder_bytes(store: safepoint.Store) -> dict[str, bytes]:
    """The log files of session `s`."""
    return {path.name: path.read_bytes() for path in log_of(store).parent.glob("events-*")}


def begin(store: safepoint.Store, **options: Any) -> safepoint.Session:
    """Session `s` with two notes behind `session.created`."""
    session = store.create("s", **options)
    session.append("note", "one")
    session.append("note", "two")
    return session


def test_create_touches_nothing(store: safepoint.Store) -> None:
    """An agent that fails before its first event must not leave an empty session behind."""
    with store.create("s") as session:
        assert (session.last_seq, session.durable_seq, session.state) == (-1, -1, None)
        assert list(session.events()) == session.last() == list(session.replay()) == []
        session.sync()
    assert not Path(store.path).exists()
    assert store.list() == []
    assert store.inspect("s").state == "missing"


def test_first_append_is_seq_1(store: safepoint.Store) -> None:
    """seq 0 is `session.created`, with what the caller was asked to do; both are durable."""
    with store.create("s", request={"task": "x"}, labels=["a"], durability="process") as session:
        assert session.append("note", {"a": 1}) == 1
        assert session.durable_seq == session.last_seq == 1
        created, note = session.events()
    assert (created.seq, created.type) == (0, "session.created")
    assert created.data == {
        "request": {"task": "x"},
        "labels": ["a"],
        "effect_kinds": ["tool", "verification"],
    }
    assert (note.seq, note.type, note.key, note.data) == (1, "note", None, {"a": 1})
    assert RFC3339.fullmatch(note.ts)


def test_generated_ids_sort_by_time(store: safepoint.Store) -> None:
    """Without an id the session gets one that is valid, new, and says when it was made."""
    ids = []
    for _ in range(3):
        with store.create() as session:
            session.append("note")
        ids.append(session.id)
    assert len(set(ids)) == 3
    assert [info.id for info in store.list()] == sorted(ids)


def test_create_of_an_existing_session_is_refused(store: safepoint.Store) -> None:
    """Beginning anew over a session would lose it; the first append says so, nothing changes."""
    begin(store).close()
    before = folder_bytes(store)
    for write in (
        lambda session: session.append("note"),
        lambda session: session.append_many([("note", 1)]),
        lambda session: session.checkpoint({}),
        lambda session: session.finish(),
    ):
        with pytest.raises(safepoint.SessionExistsError):
            write(store.create("s"))
    assert folder_bytes(store) == before
    store.resume("s").close()


def test_append_many_is_a_range(store: safepoint.Store) -> None:
    """The seqs of a batch are one range; an empty batch writes nothing."""
    with store.create("s") as session:
        assert session.append_many([]) == range(0, 0)
        assert session.append_many([("a", 1), ("b", None)]) == range(1, 3)
        assert session.append_many(iter([("c", 3)])) == range(3, 4)
        assert session.append_many([]) == range(4, 4)
        assert [event.type for event in session.events(start=1)] == ["a", "b", "c"]


def test_batch_that_was_cut_is_gone_whole(store: safepoint.Store) -> None:
    """Half of a batch is as wrong as none: a kill inside its write takes all of it back."""
    with begin(store, durability="process") as session:
        session.sync()
        before = log_of(store).read_bytes()
        session.append_many([("part", n) for n in range(3)])
        whole = log_of(store).read_bytes()
    (log_of(store).parent / "session.json").unlink()
    ends = [i + 1 for i, byte in enumerate(whole) if byte == 10 and len(before) <= i + 1]
    for end in ends[:-1]:
        log_of(store).write_bytes(whole[:end])
        assert [event.seq for event in store.open("s").events()] == [0, 1, 2]


def test_expect_seq(store: safepoint.Store) -> None:
    """Two parts of a program that share a session find out that they lost track of each other."""
    with store.create("s") as session:
        for wrong in (0, 2, -1):
            with pytest.raises(safepoint.SequenceError):
                session.append("note", expect_seq=wrong)
        assert session.append("note", expect_seq=1) == 1
        with pytest.raises(safepoint.SequenceError):
            session.append("note", expect_seq=1)
        assert session.append("note", expect_seq=2) == 2
        assert session.last_seq == 2


def test_key_is_written_once(store: safepoint.Store) -> None:
    """A retry after a crash must not repeat its event, also across a resume and a checkpoint."""
    with store.create("s") as session:
        assert session.append("call", {"n": 1}, key="k1") == 1
        assert session.append("call", {"n": 2}, key="k1") == 1
        session.checkpoint({})
        assert session.append("call", {}, key="k2") == 3
    for _ in range(2):
        with store.resume("s") as session:
            assert session.append("call", {}, key="k1") == 1
            assert session.append("call", {}, key="k2") == 3
            assert session.last_seq == 3
            assert [event.key for event in session.events()] == [None, "k1", None, "k2"]


def test_key_of_another_type_is_refused(store: safepoint.Store) -> None:
    """The same key for another thing is a mistake that would swallow an event."""
    with store.create("s") as session:
        session.append("call", key="k")
        with pytest.raises(safepoint.InvalidEventError):
            session.append("note", key="k")
        assert session.last_seq == 1


def test_newest_1024_keys_are_remembered(store: safepoint.Store) -> None:
    """The documented bound holds exactly, in the handle and behind a checkpoint."""
    with store.create("s", durability="process") as session:
        for number in range(1025):
            session.append("call", key=f"k{number}")
        session.checkpoint({})
    with store.resume("s") as session:
        last = session.last_seq
        assert session.append("call", key="k1") == 2
        assert session.append("call", key="k0") == last + 1


@pytest.mark.parametrize("durability", ["process", "batch"])
def test_durable_seq_waits_for_a_sync(store: safepoint.Store, durability: str) -> None:
    """`durable_seq` is a promise about power cuts: it rises with a sync, and only then."""
    with begin(store, durability=durability) as session:
        session.sync()
        assert session.durable_seq == session.last_seq == 2
        assert session.append("note", sync=True) == session.durable_seq
        if durability == "process":
            session.append("note")
            assert session.durable_seq == 3
        session.checkpoint({})
        assert session.durable_seq == session.last_seq


def test_batch_level_syncs_by_itself(store: safepoint.Store) -> None:
    """At level `batch` an event becomes durable soon without a call."""
    with begin(store) as session:
        seq = session.append("note")
        stop = time.monotonic() + WAIT_S
        while session.durable_seq < seq:
            assert time.monotonic() < stop
            time.sleep(0.005)


def test_sync_level_is_durable_on_return(store: safepoint.Store) -> None:
    """At level `sync` every append that returned survives a power cut."""
    with store.create("s", durability="sync") as session:
        for _ in range(3):
            assert session.append("note") == session.durable_seq
        assert session.append_many([("note", 1)] * 3)[-1] == session.durable_seq


def test_unknown_durability_is_refused(store: safepoint.Store) -> None:
    """A level that is misspelt must not become a weaker one."""
    begin(store).close()
    for call in (store.create, store.resume):
        with pytest.raises(safepoint.InvalidEventError):
            call("s", durability="synced")


def test_clean_resume_changes_no_byte(store: safepoint.Store) -> None:
    """Opening a session that was closed in order leaves its log as it is, however often."""
    with begin(store) as session:
        session.checkpoint({"n": 1})
        session.append("note")
    before = folder_bytes(store)
    for _ in range(3):
        with store.resume("s") as session:
            assert session.repairs == []
            assert session.last_seq == session.durable_seq == 4
            list(session.replay())
        assert folder_bytes(store) == before
        assert store.repair("s") == []
    assert folder_bytes(store) == before


def test_resume_brings_back_state_and_events(store: safepoint.Store) -> None:
    """Without a fold: the checkpoint's state, and the events that it does not contain."""
    with begin(store) as session:
        seq = session.append("note", "three")
        session.append("note", "four")
        assert session.checkpoint({"upto": seq}, upto=seq) == 5
        session.append("note", "five")
        assert [event.data for event in session.replay()] == ["four", "five"]
    with store.resume("s") as session:
        assert session.state == {"upto": seq}
        assert [event.data for event in session.replay()] == ["four", "five"]
        session.append("note", "six")
        assert [event.data for event in session.replay()] == ["four", "five", "six"]


def test_replay_without_a_checkpoint_is_everything(store: safepoint.Store) -> None:
    """Nothing was kept yet, so the caller has to see all of it, `session.created` included."""
    begin(store).close()
    with store.resume("s") as session:
        assert session.state is None
        assert [event.seq for event in session.replay()] == [0, 1, 2]


def test_upto_of_a_checkpoint_is_bounded(store: safepoint.Store) -> None:
    """A state from the future, or older than the last one, would lose events at resume."""
    with begin(store) as session:
        session.checkpoint({}, upto=1)
        for wrong in (0, 4, 99, -1):
            with pytest.raises(safepoint.SequenceError):
                session.checkpoint({}, upto=wrong)
        session.checkpoint({}, upto=1)
        session.checkpoint({}, upto=4)
    with store.resume("s") as session, pytest.raises(safepoint.SequenceError):
        session.checkpoint({}, upto=3)


def test_checkpoint_needs_a_state(store: safepoint.Store) -> None:
    """Without a fold nobody but the caller has the state."""
    with begin(store) as session:
        with pytest.raises(safepoint.InvalidEventError):
            session.checkpoint()
        session.checkpoint(None)
        assert session.state is None
        assert session.last_seq == 3


def test_checkpoint_may_be_the_first_write(store: safepoint.Store) -> None:
    """A session may begin with the state that it was given."""
    with store.create("s") as session:
        assert session.checkpoint({"n": 0}) == 1
    with store.resume("s") as session:
        assert session.state == {"n": 0}
        assert list(session.replay()) == []


def test_fold_is_live_and_comes_back(store: safepoint.Store) -> None:
    """With a fold the state follows every event; checkpoint needs no argument, replay is empty."""
    with store.create("s", fold=Counter()) as session:
        assert session.state == {}
        session.append("note")
        session.append_many([("note", 1), ("call", 2)])
        assert session.state == {"session.created": 1, "note": 2, "call": 1}
        session.checkpoint()
        session.append("call")
        assert list(session.replay()) == []
    fold = Counter(version=2)
    with store.resume("s", fold=fold) as session:
        assert session.state == {"session.created": 1, "note": 2, "call": 2}
        assert fold.loaded == [1]
        assert list(session.replay()) == []
    with store.resume("s") as session:
        assert session.state == {"counts": {"session.created": 1, "note": 2, "call": 1}}
        assert [event.type for event in session.replay()] == ["call"]


def test_fold_takes_no_state(store: safepoint.Store) -> None:
    """A state given beside a fold would contradict it."""
    with begin(store, fold=Counter()) as session:
        for arguments in ({"state": {}}, {"upto": 1}):
            with pytest.raises(safepoint.InvalidEventError):
                session.checkpoint(**arguments)
        assert session.last_seq == 2


def test_fold_begins_late(store: safepoint.Store) -> None:
    """A session without checkpoints can be resumed with a fold: it sees all events."""
    begin(store).close()
    with store.resume("s", fold=Counter()) as session:
        assert session.state == {"session.created": 1, "note": 2}


def test_error_of_a_fold_leaves_the_event(store: safepoint.Store) -> None:
    """The event is in the log when the fold sees it: the error says so, the session goes on."""
    with begin(store, fold=Counter()) as session:
        with pytest.raises(ValueError, match="does not like") as caught:
            session.append("bad")
        assert any("3" in note for note in caught.value.__notes__)
        assert session.last_seq == 3
        assert session.append("note") == 4
        assert session.state == {"session.created": 1, "note": 3}


def test_finished_session_is_closed(store: safepoint.Store) -> None:
    """After `finish` nothing is appended, and resume refuses with the record that proves it."""
    session = begin(store)
    assert session.finish("failed") == session.durable_seq == 3
    for write in (
        lambda: session.append("note"),
        lambda: session.append_many([("note", 1)]),
        lambda: session.checkpoint({}),
        lambda: session.finish(),
    ):
        with pytest.raises(safepoint.SafepointError):
            write()
    session.sync()
    session.close()
    found = store.inspect("s")
    assert (found.state, found.status, found.records) == ("clean", "failed", 4)
    before = folder_bytes(store)
    with pytest.raises(safepoint.ResumeRefusedError) as caught:
        store.resume("s")
    assert [(r.code, r.seq) for r in caught.value.plan.reasons] == [("finished", 3)]
    assert folder_bytes(store) == before
    assert store.repair("s") == []


@pytest.mark.parametrize("status", ["done", "active", "", None])
def test_unknown_status_is_refused(store: safepoint.Store, status: Any) -> None:
    """A status that nobody knows would hide the session from every list."""
    with begin(store) as session:
        with pytest.raises(safepoint.InvalidEventError):
            session.finish(status)
        assert session.last_seq == 2


def test_leaving_the_block_does_not_finish(store: safepoint.Store) -> None:
    """`with` closes and does nothing else: an exception is no verdict on the session."""
    with pytest.raises(ZeroDivisionError), begin(store):
        raise ZeroDivisionError
    assert store.inspect("s").status == "active"
    store.resume("s").close()


def test_closed_handle_refuses(store: safepoint.Store) -> None:
    """Without its lock a handle must not write; closing twice is no mistake."""
    session = begin(store)
    session.close()
    session.close()
    for write in (
        lambda: session.append("note"),
        lambda: session.append_many([("note", 1)]),
        lambda: session.checkpoint({}),
        lambda: session.finish(),
        lambda: session.sync(),
    ):
        with pytest.raises(safepoint.SafepointError):
            write()
    assert store.inspect("s").records == 3


def test_absent_session_is_not_found(store: safepoint.Store) -> None:
    """With or without a store around it, and for an empty folder too."""
    for make in (lambda: None, lambda: (Path(store.path) / "s").mkdir(parents=True)):
        make()
        for call in (store.resume, store.open, store.repair):
            with pytest.raises(safepoint.SessionNotFoundError):
                call("s")
    assert store.inspect("s").state == "empty"
    with store.create("s") as session:
        assert session.append("note") == 1


def test_list_reads_manifests(store: safepoint.Store) -> None:
    """One row a session, by id, with what its manifest says."""
    for id in ("b", "a"):
        with store.create(id) as session:
            session.append("note")
            if id == "a":
                session.finish("cancelled")
    (Path(store.path) / "notes.txt").write_text("not a session")
    (Path(store.path) / "empty").mkdir()
    a, b = store.list()
    assert (a.id, a.status, b.id, b.status) == ("a", "cancelled", "b", "active")
    assert a.bytes == (Path(store.path) / "a" / "events-000001.jsonl").stat().st_size
    assert RFC3339.fullmatch(a.created_at) and a.created_at <= a.updated_at
    assert a.info == {}


@pytest.mark.parametrize("lost", ["unlink", "damage"])
def test_list_does_without_manifests(store: safepoint.Store, lost: str) -> None:
    """Losing a manifest costs speed, never the row."""
    with begin(store) as session:
        session.finish()
    (row,) = store.list()
    manifest = log_of(store).parent / "session.json"
    if lost == "unlink":
        manifest.unlink()
    else:
        manifest.write_bytes(manifest.read_bytes().replace(b"active", b"actIve", 1)[:-3])
    (found,) = store.list()
    assert (found.id, found.status, found.bytes) == (row.id, "completed", row.bytes)
    assert RFC3339.fullmatch(found.created_at) and RFC3339.fullmatch(found.updated_at)


def test_names_of_the_package() -> None:
    """The names that the documentation uses exist, and all errors have one base."""
    assert safepoint.engine() in ("native", "fallback")
    for name in safepoint.__all__:
        found = getattr(safepoint, name)
        if isinstance(found, type) and issubclass(found, Exception):
            assert issubclass(found, safepoint.SafepointError)
    with pytest.raises(AttributeError):
        safepoint.nothing  # noqa: B018
