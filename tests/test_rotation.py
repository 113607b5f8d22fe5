"""A rotation that a Ctrl-C cuts short: nothing is acknowledged until it is known how it ended."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
import safepoint
from safepoint import writer

Acknowledged = list[int]


@pytest.fixture
def rotating(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> safepoint.Session:
    """A session whose checkpoint was interrupted behind the birth of the next segment."""
    session = safepoint.open_store(tmp_path, segment_bytes=1).create("s", durability="process")
    session.append("note", 0)

    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(writer, "segment_entry", interrupted)
        with pytest.raises(KeyboardInterrupt):
            session.checkpoint(1)
    return session


def acknowledged_and_kept(session: safepoint.Session, tmp_path: Path, seqs: Acknowledged) -> None:
    """Every seq that an append returned is in the log after a resume."""
    session.close()
    with safepoint.open_store(tmp_path).resume("s") as resumed:
        assert {event.seq for event in resumed.events()} >= set(seqs)


def test_a_second_ctrl_c_does_not_forget_the_first(
    rotating: safepoint.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The call that looks whether the next segment is there may be interrupted too; an append that
    went on in the old segment would be acknowledged, and cut off by the next resume.
    """

    def interrupted(name: str) -> Any:
        raise KeyboardInterrupt

    assert rotating._writer is not None
    with monkeypatch.context() as patch:
        patch.setattr(rotating._writer.directory, "stat", interrupted)
        with pytest.raises(KeyboardInterrupt):
            rotating.append("note", 1)
    with pytest.raises(safepoint.PoisonedError):
        rotating.append("note", 2)
    acknowledged_and_kept(rotating, tmp_path, [0, 1])


def test_nobody_appends_while_another_thread_looks(
    rotating: safepoint.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The maintenance thread's sync may be the one that looks; it has not decided yet."""
    looks, goes_on = threading.Event(), threading.Event()
    beside = rotating._writer
    assert beside is not None
    stat = beside.directory.stat

    def slow(name: str) -> Any:
        if not looks.is_set():
            looks.set()
            assert goes_on.wait(30)
        return stat(name)

    monkeypatch.setattr(beside.directory, "stat", slow)

    def sync() -> None:
        with pytest.raises(safepoint.PoisonedError):
            beside.sync(beside.next_seq + 1)

    thread = threading.Thread(target=sync)
    thread.start()
    assert looks.wait(30)
    try:
        with pytest.raises(safepoint.PoisonedError):
            rotating.append("note", 1)
    finally:
        goes_on.set()
        thread.join()
    acknowledged_and_kept(rotating, tmp_path, [0, 1])
