"""Ctrl-C at every point of a write where CPython looks for signals (P7).

A signal is made pending right before each bytecode behind which, or in whose callee, CPython looks
for signals: calls and jumps backward, in safepoint's own frames and in those of `threading` below
them. CPython itself then decides where the KeyboardInterrupt comes up: no point is modelled.
"""

from __future__ import annotations

import ctypes
import dis
import itertools
import shutil
import signal
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, ClassVar

import pytest
import safepoint
from safepoint import durability as durability_module

PACKAGE = str(Path(durability_module.__file__).parent)
TRACED = (PACKAGE, threading.__file__)
CHECKS = ("CALL", "JUMP_BACKWARD", "POP_JUMP_BACKWARD")
"""CPython looks for signals behind these, or at the entry of the Python function that they call."""
POINTS_MAX = 20_000
WAIT_S = 20

trip = ctypes.PyDLL(None)["PyErr_SetInterrupt"]
"""Makes SIGINT pending. As a trace function it runs no bytecode in which it could come up."""
trip.argtypes = [ctypes.py_object] * 3
trip.restype = None


def offsets_before_checks(code: CodeType) -> frozenset[int]:
    """Where in `code` the next instruction is one of CHECKS."""
    pairs = itertools.pairwise(dis.get_instructions(code))
    return frozenset(one.offset for one, two in pairs if two.opname.startswith(CHECKS))


class Interrupt:
    """Delivers one Ctrl-C at the `point`-th place of what runs inside `with`."""

    offsets: ClassVar[dict[CodeType, frozenset[int]]] = {}

    def __init__(self, point: int) -> None:
        self.left = point
        self.delivered = False

    def __enter__(self) -> Interrupt:
        self._handler = signal.signal(signal.SIGINT, self._deliver)
        self._tracer = sys.gettrace()
        sys.settrace(self._enter)
        return self

    def __exit__(self, *exc: object) -> None:
        sys.settrace(self._tracer)
        signal.signal(signal.SIGINT, self._handler)

    def _deliver(self, number: int, frame: FrameType | None) -> None:
        while frame is not None:
            if frame.f_code.co_name == "__del__":  # what is raised there, CPython swallows
                return
            frame = frame.f_back
        sys.settrace(None)
        self.delivered = True
        raise KeyboardInterrupt

    def _enter(self, frame: FrameType, event: str, arg: object) -> Callable[..., Any] | None:
        if not frame.f_code.co_filename.startswith(TRACED):
            return None
        if frame.f_code not in self.offsets:
            self.offsets[frame.f_code] = offsets_before_checks(frame.f_code)
        frame.f_trace_opcodes = True
        return self._step

    def _step(self, frame: FrameType, event: str, arg: object) -> Callable[..., Any]:
        if event == "opcode" and frame.f_lasti in self.offsets[frame.f_code]:
            self.left -= 1
            if self.left < 0:
                return trip
        return self._step


def interrupted(point: int, act: Callable[[], object]) -> bool:
    """Whether a Ctrl-C came at the `point`-th place of `act`; False once it has no such place."""
    interrupt = Interrupt(point)
    try:
        with interrupt:
            act()
    except KeyboardInterrupt:
        return True
    assert not interrupt.delivered, f"the Ctrl-C at point {point} was swallowed"
    return False


def points(act: Callable[[], object], step: int = 1) -> Iterator[int]:
    """Interrupts `act` at every `step`-th of its points, one after the other, giving the point."""
    for point in range(0, POINTS_MAX, step):
        if not interrupted(point, act):
            assert point > 20, "the tracer saw next to nothing"
            return
        yield point
    pytest.fail("this does not end")


class Seen:
    """A fold that counts the events that it was shown and hashes their seqs and data, in order."""

    version = 1

    def initial(self) -> list[int]:
        return [0, 0]

    def apply(self, state: list[int], event: safepoint.Event) -> list[int]:
        count, crc = state
        return [count + 1, zlib.crc32(repr((event.seq, event.data)).encode(), crc)]

    def dump(self, state: list[int]) -> list[int]:
        return state

    def load(self, state: list[int], version: object) -> list[int]:
        return state


def append_elsewhere(session: safepoint.Session, data: object) -> int:
    """Appends on another thread, which a lock that was left held would stop."""
    seqs: list[int] = []
    thread = threading.Thread(target=lambda: seqs.append(session.append("other", data)))
    thread.daemon = True
    thread.start()
    thread.join(WAIT_S)
    assert not thread.is_alive(), "a lock was left held"
    assert seqs, "the append on another thread failed"
    return seqs[0]


def wait_durable(session: safepoint.Session) -> None:
    """Until the background sync has caught up."""
    stop = time.monotonic() + WAIT_S
    while session.durable_seq < session.last_seq:
        assert time.monotonic() < stop, "the background sync does not come any more"
        time.sleep(0.001)


def folded(store: safepoint.Store, id: str) -> list[int]:
    """What the fold must have seen: the events of the log, but for checkpoints."""
    with store.open(id) as reader:
        events = list(reader.events())
    assert [event.seq for event in events] == list(range(len(events)))
    return fold(events)


def fold(events: list[safepoint.Event]) -> list[int]:
    """The state of these events."""
    state = Seen().initial()
    for event in events:
        if event.type != "checkpoint":
            state = Seen().apply(state, event)
    return state


def begin(store: safepoint.Store, id: str) -> safepoint.Session:
    """A session with a fold and one event."""
    session = store.create(id, fold=Seen())
    session.append("first")
    return session


def check(store: safepoint.Store, session: safepoint.Session) -> None:
    """Closes the session: the log is clean, and the fold saw exactly the events in it."""
    state = session.state
    session.close()
    assert store.inspect(session.id).state == "clean"
    assert folded(store, session.id) == state


@pytest.fixture(autouse=True)
def quick_background_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every append asks for a background sync soon, so that this path is interrupted too."""
    monkeypatch.setattr(durability_module, "BATCH_WITHIN_S", 0.001)


APPENDS = {
    "append": (1, lambda session: session.append("note", {"n": [1, "two"]})),
    "key": (1, lambda session: session.append("note", "x", key=f"k{session.last_seq}")),
    "sync": (1, lambda session: session.append("note", "x" * 5000, sync=True)),
    "batch": (3, lambda session: session.append_many([("note", n) for n in range(3)])),
}


@pytest.mark.parametrize("kind", APPENDS)
def test_append_interrupted_anywhere(store: safepoint.Store, kind: str) -> None:
    """A Ctrl-C in an append repeats or skips no seq, halves no batch, and leaves no lock held."""
    count, act = APPENDS[kind]
    fates = set()
    session = begin(store, "s")
    before = session.last_seq
    for point in points(lambda: act(session)):
        stayed = session.last_seq - before
        assert stayed in (0, count)
        fates.add(stayed)
        assert session.state[0] == session.last_seq + 1
        assert append_elsewhere(session, point) == before + stayed + 1
        before = session.last_seq
        wait_durable(session)
    assert fates == {0, count}
    check(store, session)


def test_append_interrupted_twice(store: safepoint.Store) -> None:
    """A second Ctrl-C while the first one is settled leaves no more behind than the first."""
    session = begin(store, "s")
    for point in points(lambda: session.append("note", {"n": 1})):
        for again in range(point % 3, POINTS_MAX, 3):
            if not interrupted(again, lambda: session.last_seq):
                break
        assert session.state[0] == session.last_seq + 1
        assert append_elsewhere(session, point) == session.last_seq
    check(store, session)


def test_last_seq_tells_the_fate(store: safepoint.Store) -> None:
    """`last_seq` after the Ctrl-C says whether the event is in the file, as a reader sees it."""
    with store.create("s", durability="process") as session:
        session.append("first")
        for point in points(lambda: session.append("note", "x" * 100)):
            last = session.last_seq
            with store.open("s") as reader:
                assert reader.last(1)[0].seq == last, point


def test_checkpoint_interrupted_anywhere(store: safepoint.Store) -> None:
    """A Ctrl-C in a checkpoint leaves the session going, and a resume has the whole state."""
    session = begin(store, "s")
    for point in points(session.checkpoint):
        assert append_elsewhere(session, point) == session.last_seq
    state = session.state
    check(store, session)
    with store.resume("s", fold=Seen()) as session:
        assert session.state == state


def test_rotation_interrupted_anywhere(tmp_path: Path) -> None:
    """A Ctrl-C in a rotation loses nothing: the handle goes on, or says to reopen and can be."""
    store = safepoint.open_store(tmp_path / "store", segment_bytes=1)
    sessions = [begin(store, "s")]
    for point in points(lambda: sessions[-1].checkpoint(), step=2):
        session = sessions[-1]
        state, last = session.state, session.last_seq
        try:
            session.sync()
        except safepoint.PoisonedError:
            session.close()
            session = store.resume(session.id, fold=Seen())
        assert (session.state, session.last_seq) == (state, last)
        assert session.append("note") == last + 1
        if point % 12 == 0:  # a rotation costs a step for each segment that there is
            check(store, session)
            session = begin(store, f"s{point}")
        sessions.append(session)
    check(store, sessions[-1])


class Creations:
    """Sessions that nothing was appended to, each in a store of its own."""

    def __init__(self, path: Path) -> None:
        self._stores = (safepoint.open_store(path / f"{number}") for number in itertools.count())
        self.renew()

    def renew(self) -> None:
        """The next one."""
        self.store = next(self._stores)
        self.session = self.store.create("s", fold=Seen())

    def append(self) -> None:
        """The first append."""
        self.session.append("first", {"n": 1})


def test_creation_interrupted_anywhere(tmp_path: Path) -> None:
    """A Ctrl-C in the first append: the session is there whole or not; the handle goes on."""
    one, fates = Creations(tmp_path), set()
    for point in points(lambda: one.append(), step=3):
        last = one.session.last_seq
        fates.add(last)
        assert append_elsewhere(one.session, point) == (1 if last < 0 else 2)
        check(one.store, one.session)
        one.renew()
    assert fates == {-1, 1}


def test_creation_interrupted_twice(tmp_path: Path) -> None:
    """A second Ctrl-C while an interrupted creation is settled loses neither session nor handle."""
    one = Creations(tmp_path)
    for point in points(lambda: one.append(), step=41):
        for again in range(point % 61, POINTS_MAX, 61):
            if not interrupted(again, lambda: one.session.last_seq):
                break
        last = one.session.last_seq
        assert append_elsewhere(one.session, point) == (1 if last < 0 else 2)
        check(one.store, one.session)
        one.renew()


def test_close_interrupted_anywhere(tmp_path: Path) -> None:
    """After a Ctrl-C in `close` nothing is lost; closed again, the session can be resumed."""
    one = Creations(tmp_path)
    one.append()
    for _ in points(lambda: one.session.close()):
        state = one.session.state
        one.session.close()
        with one.store.resume("s", fold=Seen()) as session:
            assert session.state == state
        one.renew()
        one.append()


class Torn:
    """Copies of a store with a session whose last record was cut off in the middle."""

    def __init__(self, path: Path) -> None:
        self._path = path
        session = begin(safepoint.open_store(path / "torn"), "s")
        session.append("note", {"n": 2})
        self.state = session.state
        session.append("note", {"n": 3})
        session.close()
        log = path / "torn" / "s" / "events-000001.jsonl"
        log.write_bytes(log.read_bytes()[:-9])
        (path / "torn" / "s" / "session.json").unlink()
        self._numbers = itertools.count()
        self.renew()

    def renew(self) -> None:
        """The next copy."""
        path = self._path / f"{next(self._numbers)}"
        shutil.copytree(self._path / "torn", path)
        self.store = safepoint.open_store(path)

    def resume(self) -> safepoint.Session:
        """Opens the session of this copy."""
        return self.store.resume("s", fold=Seen())


def test_resume_interrupted_anywhere(tmp_path: Path) -> None:
    """A Ctrl-C in a resume that mends leaves no lock held, and the next resume has everything."""
    one = Torn(tmp_path)
    for _ in points(lambda: one.resume().close(), step=13):
        with one.resume() as session:
            with one.store.open("s") as reader:
                events = list(reader.events(stop=3))
            assert fold(events) == one.state
            assert session.append("note") == 4
        assert one.store.inspect("s").state == "clean"
        one.renew()
