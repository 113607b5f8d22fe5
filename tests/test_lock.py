"""One writer at a time (P6): processes that race, die and fork, and a lock file that goes away."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
import safepoint
from programs import WAIT_S, running

RACER = """
import os, sys, safepoint

path, how = sys.argv[1:]
store = safepoint.open_store(path)
print("ready", flush=True)
sys.stdin.readline()
try:
    session = store.create("s") if how == "create" else store.resume("s")
    session.append("mine", os.getpid())
    print("writer", os.getpid(), flush=True)
except safepoint.SessionBusyError as error:
    print("busy", error.pid, flush=True)
except safepoint.SessionExistsError:
    print("exists", flush=True)
except safepoint.SessionNotFoundError:
    print("absent", flush=True)
sys.stdin.readline()
"""
"""Opens the session when told to, says how that went, and holds what it got until it is killed."""

RACERS = 8


def owner(store: safepoint.Store) -> dict:
    """The line in the lock file."""
    return json.loads((Path(store.path) / "s" / ".writer.lock").read_bytes())


def race(store: safepoint.Store, hows: list[str], then) -> None:
    """Lets the racers loose at once; `then(winner, answers)` is called while the winner lives."""
    with ExitStack() as stack:
        racers = [stack.enter_context(running(RACER, store.path, how)) for how in hows]
        for racer in racers:
            assert racer.stdout.readline() == "ready\n"
        for racer in racers:
            racer.stdin.write("\n")
            racer.stdin.flush()
        answers = [racer.stdout.readline().split() for racer in racers]
        winners = [racer for racer, told in zip(racers, answers, strict=True) if "writer" in told]
        assert len(winners) == 1, answers
        then(winners[0], answers)


def killed(winner: subprocess.Popen[str]) -> None:
    """The process is dead on return."""
    winner.send_signal(signal.SIGKILL)
    winner.wait(WAIT_S)


def test_one_of_many_creators_wins(store: safepoint.Store) -> None:
    """Two creators of one session would each begin a log of their own."""

    def check(winner, answers):
        losers = [told for told in answers if told[0] != "writer"]
        for told in losers:
            assert told in (["exists"], ["busy", str(winner.pid)]), answers

    race(store, ["create"] * RACERS, check)
    with store.open("s") as reader:
        assert [event.type for event in reader.events()] == ["session.created", "mine"]


def test_one_of_many_resumers_wins(store: safepoint.Store) -> None:
    """Two writers that append to one log destroy it; the loser is told whom to close."""
    with store.create("s") as session:
        session.append("first")

    def check(winner, answers):
        losers = [told for told in answers if told[0] != "writer"]
        assert losers == [["busy", str(winner.pid)]] * (RACERS - 1)

    race(store, ["resume"] * RACERS, check)
    with store.open("s") as reader:
        assert [event.type for event in reader.events()] == ["session.created", "first", "mine"]


def test_creators_and_resumers_race(store: safepoint.Store) -> None:
    """Nobody gets into a session that is just being created."""

    def check(winner, answers):
        for told in answers:
            assert told in (
                ["writer", str(winner.pid)],
                ["busy", str(winner.pid)],
                ["exists"],
                ["absent"],
            )

    race(store, ["create", "resume"] * (RACERS // 2), check)
    assert store.inspect("s").records == 2


def test_killed_writer_frees_the_lock(store: safepoint.Store) -> None:
    """Hours were lost in other tools to locks of processes that were dead."""

    def check(winner, answers):
        assert store.inspect("s").writer == "live"
        with pytest.raises(safepoint.SessionBusyError) as caught:
            store.resume("s")
        assert caught.value.pid == winner.pid
        assert str(winner.pid) in str(caught.value)
        killed(winner)
        assert store.inspect("s").writer == "stale"
        with store.resume("s") as session:
            assert session.append("next") == session.last_seq

    race(store, ["create"], check)


def test_stopped_writer_keeps_the_lock(store: safepoint.Store) -> None:
    """A holder that sleeps may wake up and write: silence is no proof of death."""

    def check(winner, answers):
        winner.send_signal(signal.SIGSTOP)
        with pytest.raises(safepoint.SessionBusyError):
            store.resume("s")

    race(store, ["create"], check)


def test_second_handle_in_one_process_is_refused(store: safepoint.Store) -> None:
    """POSIX record locks would let the same process in twice."""
    with store.create("s") as session:
        session.append("first")
        with pytest.raises(safepoint.SessionBusyError) as caught:
            store.resume("s")
        assert caught.value.pid == os.getpid()
        with pytest.raises((safepoint.SessionBusyError, safepoint.SessionExistsError)):
            store.create("s").append("other")
        assert session.append("second") == 2
    store.resume("s").close()


def test_refused_resume_leaves_the_owner_line(store: safepoint.Store) -> None:
    """A refusal that wrote its own name into the lock file would point at the wrong process."""
    with store.create("s") as session:
        session.append("first")
        session.finish()
    before = owner(store)
    with pytest.raises(safepoint.ResumeRefusedError):
        store.resume("s")
    assert owner(store) == before


def test_epoch_rises_with_every_writer(store: safepoint.Store) -> None:
    """The epoch tells a late writer that another one came after it."""
    store.create("s").append("first")
    epochs = [owner(store)["epoch"]]
    for _ in range(3):
        with store.resume("s"):
            epochs.append(owner(store)["epoch"])
    assert epochs == sorted(set(epochs))


def test_writer_state_follows_the_handle(store: safepoint.Store) -> None:
    """`live` while it is open, `idle` after an orderly close: nobody should need to ask ps."""
    with store.create("s") as session:
        session.append("first")
        assert store.inspect("s").writer == "live"
        assert store.plan("s").verdict == "refuse"
    assert store.inspect("s").writer == "idle"
    assert store.plan("s").verdict == "resume"


def in_fork(act) -> str:
    """What `act()` gives in a forked child, as text."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(write, str(act()).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    os.waitpid(pid, 0)
    return text


CALLS = {
    "append": lambda session: session.append("child"),
    "append_many": lambda session: session.append_many([("child", 1), ("child", 2)]),
    "checkpoint": lambda session: session.checkpoint({}),
    "sync": lambda session: session.sync(),
    "finish": lambda session: session.finish(),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_child_cannot_write(store: safepoint.Store, call: str) -> None:
    """Parent and child would append to one log from one offset."""
    with store.create("s") as session:
        session.append("first")

        def act():
            try:
                return CALLS[call](session)
            except safepoint.PoisonedError:
                return "poisoned"

        assert in_fork(act) == "poisoned"
        assert session.append("second") == 2
    assert store.inspect("s").records == 3


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_child_does_not_free_the_lock(store: safepoint.Store) -> None:
    """The lock is of the open file, which the child shares: LOCK_UN there frees the parent's."""
    with store.create("s") as session:
        session.append("first")
        before = owner(store)
        in_fork(session.close)
        assert owner(store) == before
        with pytest.raises(safepoint.SessionBusyError):
            store.resume("s")
        session.append("second", sync=True)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_child_does_not_keep_the_lock(store: safepoint.Store) -> None:
    """A worker that outlives its parent must not hold a session that it cannot write."""
    session = store.create("s")
    session.append("first")
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(write)
        os.read(read, 1)
        os._exit(0)
    session.close()
    try:
        store.resume("s").close()
    finally:
        os.close(write)
        os.close(read)
        os.waitpid(pid, 0)


def test_programs_do_not_inherit_the_lock(store: safepoint.Store) -> None:
    """A tool that the agent started would hold the session long after the agent's death."""
    session = store.create("s")
    session.append("first")
    sleeper = subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, close_fds=False
    )
    try:
        session.close()
        store.resume("s").close()
    finally:
        sleeper.communicate(b"\n", WAIT_S)


BARRIERS = {
    "sync": lambda session: session.sync(),
    "append": lambda session: session.append("late", sync=True),
    "checkpoint": lambda session: session.checkpoint({}),
    "finish": lambda session: session.finish(),
    "close": lambda session: session.close(),
}


def replace_lock(lock: Path) -> None:
    """Another file under the name, as a takeover makes it."""
    other = lock.with_name("other")
    other.write_bytes(lock.read_bytes())
    other.replace(lock)


@pytest.mark.parametrize("change", [Path.unlink, replace_lock])
@pytest.mark.parametrize("barrier", BARRIERS)
def test_lost_lock_is_noticed_at_barriers(store: safepoint.Store, barrier: str, change) -> None:
    """Whoever unlinks the lock file lets a second writer in: the first one must not say durable."""
    session = store.create("s", durability="process")
    session.append("first")
    durable = session.durable_seq
    session.append("second")
    change(Path(store.path) / "s" / ".writer.lock")
    with pytest.raises(safepoint.PoisonedError):
        BARRIERS[barrier](session)
    assert session.durable_seq == durable
    session.close()


def test_writer_behind_a_lost_lock_is_poisoned(store: safepoint.Store) -> None:
    """The one who came first finds out, whatever the second one wrote; the log stays whole."""
    session = store.create("s", durability="process")
    session.append("first")
    (Path(store.path) / "s" / ".writer.lock").unlink()
    with store.resume("s") as second:
        second.append("second", sync=True)
        manifest = (Path(store.path) / "s" / "session.json").read_bytes()
        with pytest.raises(safepoint.PoisonedError):
            session.append("late", sync=True)
        with pytest.raises(safepoint.PoisonedError):
            session.append("later")
        session.close()
        assert (Path(store.path) / "s" / "session.json").read_bytes() == manifest


def test_a_lock_file_removed_under_a_writer_makes_the_next_one_roll(store: safepoint.Store) -> None:
    """People delete lock files. The old writer's later bytes must lie behind a recorded end."""
    old = store.create("s", durability="process")
    old.append("first")
    (Path(store.path) / "s" / ".writer.lock").unlink()
    new = store.resume("s")
    new.append("new")
    old.append("old")
    with pytest.raises(safepoint.PoisonedError):
        old.sync()
    new.close()
    assert store.inspect("s").state == "clean"
    with store.open("s") as reader:
        types = [event.type for event in reader.events()]
    assert types == ["session.created", "first", "new"]


@pytest.mark.parametrize("harm", ["unlink", "cut", "add"])
def test_a_log_changed_under_its_writer_stops_it(store: safepoint.Store, harm: str) -> None:
    """What was removed, cut or glued by somebody else must not be called durable."""
    session = store.create("s")
    session.append("first")
    session.append("second")
    log = Path(store.path) / "s" / "events-000001.jsonl"
    if harm == "unlink":
        log.unlink()
    elif harm == "cut":
        os.truncate(log, log.stat().st_size - 5)
    else:
        log.write_bytes(log.read_bytes() + b"glued")
    with pytest.raises(safepoint.PoisonedError):
        session.checkpoint({})
    session.close()
