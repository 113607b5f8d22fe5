"""Threads that append at `sync`: one sync serves all that were written before it began."""

from __future__ import annotations

import errno
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import safepoint
from safepoint.files import Disk

THREADS = 8
WAIT_S = 20


class GatedDisk(Disk):
    """Once `shut`, each sync waits until it is let through, or fails."""

    def __init__(self) -> None:
        self.shut = False
        self.failing = False
        self.begun = threading.Semaphore(0)
        self.let = threading.Semaphore(0)
        self.syncs = 0

    def sync(self, fd: int) -> None:
        if self.shut:
            self.syncs += 1
            self.begun.release()
            assert self.let.acquire(timeout=WAIT_S)
        if self.failing:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        super().sync(fd)


class Appender(threading.Thread):
    """Appends one event and keeps its seq or what was raised."""

    def __init__(self, session: safepoint.Session) -> None:
        super().__init__(daemon=True)
        self._session = session
        self.seq: int | None = None
        self.error: BaseException | None = None
        self.start()

    def run(self) -> None:
        try:
            self.seq = self._session.append("note", {"n": 1})
        except BaseException as error:
            self.error = error


def ended(*appenders: Appender) -> None:
    """Waits for them."""
    for appender in appenders:
        appender.join(WAIT_S)
        assert not appender.is_alive(), "an append hangs"


def until(holds: Callable[[], bool]) -> None:
    """Waits until it does."""
    stop = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < stop
        time.sleep(0.001)


@pytest.fixture
def disk() -> GatedDisk:
    """A real disk whose syncs can be held."""
    return GatedDisk()


@pytest.fixture
def session(tmp_path: Path, disk: GatedDisk) -> Iterator[safepoint.Session]:
    """A session at `sync` with one event; the disk is shut behind it."""
    session = safepoint.Store(tmp_path / "store", disk=disk).create("s", durability="sync")
    session.append("first")
    disk.shut = True
    yield session
    disk.shut = disk.failing = False
    session.close()


def test_one_sync_serves_all_that_wait(session: safepoint.Session, disk: GatedDisk) -> None:
    """A sync for each of 8 threads costs 8 times one; the second one covers 7 here."""
    leader = Appender(session)
    assert disk.begun.acquire(timeout=WAIT_S)
    others = [Appender(session) for _ in range(THREADS - 1)]
    until(lambda: session.last_seq == 1 + THREADS)
    assert session.durable_seq == 1
    disk.let.release(2)
    ended(leader, *others)
    assert disk.syncs == 2
    assert sorted([leader.seq, *(other.seq for other in others)]) == list(range(2, 2 + THREADS))
    assert session.durable_seq == session.last_seq


def test_who_is_covered_does_not_wait_for_the_next_sync(
    session: safepoint.Session, disk: GatedDisk
) -> None:
    """An append whose bytes are on stable storage must return, whoever syncs meanwhile."""
    leader = Appender(session)
    assert disk.begun.acquire(timeout=WAIT_S)
    covered = [Appender(session) for _ in range(3)]
    until(lambda: session.last_seq == 5)
    disk.let.release()
    assert disk.begun.acquire(timeout=WAIT_S)
    late = [Appender(session) for _ in range(2)]
    until(lambda: session.last_seq == 7)
    disk.let.release()
    assert disk.begun.acquire(timeout=WAIT_S)
    ended(leader, *covered)
    assert session.durable_seq == 5
    assert all(appender.is_alive() for appender in late)
    disk.let.release()
    ended(*late)
    assert disk.syncs == 3


def test_threads_that_keep_appending_share_syncs(
    session: safepoint.Session, disk: GatedDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread that comes back at once must not overtake those that wait, and sync for itself."""
    syncs, count, each = [], 4 * THREADS, 10

    def sync(fd: int) -> None:
        syncs.append(fd)
        time.sleep(0.004)

    def appends() -> None:
        for _ in range(each):
            session.append("note")

    monkeypatch.setattr(disk, "sync", sync)
    threads = [threading.Thread(target=appends) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_S)
    assert session.durable_seq == 1 + count * each
    assert len(syncs) < 5 * each


def test_a_failed_sync_fails_all_that_wait(session: safepoint.Session, disk: GatedDisk) -> None:
    """No follower may take the leader's failure for a sync, or try the same file again."""
    leader = Appender(session)
    assert disk.begun.acquire(timeout=WAIT_S)
    others = [Appender(session) for _ in range(THREADS - 1)]
    until(lambda: session.last_seq == 1 + THREADS)
    disk.failing = True
    disk.let.release(THREADS)
    ended(leader, *others)
    for appender in (leader, *others):
        assert isinstance(appender.error, safepoint.PoisonedError)
        assert list(appender.error.seqs) == list(range(2, 2 + THREADS))
    assert disk.syncs == 1


def test_what_is_written_while_a_sync_fails_is_in_doubt(
    session: safepoint.Session, disk: GatedDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An append that was let through before the failure has its seq among those in doubt."""
    leader = Appender(session)
    assert disk.begun.acquire(timeout=WAIT_S)
    writing, go_on = threading.Event(), threading.Event()

    def write(fd: int, data: bytes) -> int:
        writing.set()
        assert go_on.wait(WAIT_S)
        return os.write(fd, data)

    monkeypatch.setattr(disk, "write", write, raising=False)
    late = Appender(session)
    assert writing.wait(WAIT_S)
    disk.failing = True
    disk.let.release()
    ended(leader)
    go_on.set()
    ended(late)
    assert isinstance(late.error, safepoint.PoisonedError)
    assert list(late.error.seqs) == [2, 3]


def test_ctrl_c_in_a_waiting_append_loses_nothing(
    session: safepoint.Session, disk: GatedDisk
) -> None:
    """A follower that gives up leaves no lock held, and its event is synced as any other."""
    leader = Appender(session)
    assert disk.begun.acquire(timeout=WAIT_S)

    def interrupt() -> None:
        until(lambda: session.last_seq == 3)
        time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    # A shell starts what it runs in the background deaf to SIGINT.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Thread(target=interrupt, daemon=True).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            session.append("interrupted")
    finally:
        signal.signal(signal.SIGINT, before)
    disk.shut = False
    disk.let.release(9)
    last = Appender(session)
    ended(leader, last)
    assert (leader.seq, last.seq) == (2, 4)
    assert session.durable_seq == 4
    assert [event.type for event in session.events(start=1)] == [
        "first",
        "note",
        "interrupted",
        "note",
    ]


def test_a_leader_that_was_interrupted_is_followed(
    session: safepoint.Session, disk: GatedDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a leader's sync was broken off, one of its followers leads: none waits for ever."""
    real, broken = Disk.sync, threading.Event()

    def sync(fd: int) -> None:
        if not broken.is_set():
            until(lambda: session.last_seq == 1 + THREADS)
            broken.set()
            raise KeyboardInterrupt
        real(disk, fd)

    monkeypatch.setattr(disk, "sync", sync)
    appenders = [Appender(session) for _ in range(THREADS)]
    ended(*appenders)
    assert [type(a.error) for a in appenders if a.error] == [KeyboardInterrupt]
    assert session.durable_seq == session.last_seq == 1 + THREADS
