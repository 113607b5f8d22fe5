"""Threads that share a session: no checkpoint misses an event, no seq is given twice."""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import chain
from typing import Any

import pytest
import safepoint

THREADS = 4
EACH = 150
CHECKPOINTS = 25


class Tally:
    """A fold that counts the events of each thread and adds up their seqs."""

    version = "tally"

    def initial(self) -> dict[str, list[int]]:
        return {}

    def apply(self, state: dict[str, list[int]], event: safepoint.Event) -> dict[str, list[int]]:
        count, total = state.get(event.type, (0, 0))
        return {**state, event.type: [count + 1, total + event.seq]}

    def dump(self, state: Any) -> Any:
        return state

    def load(self, state: Any, version: object) -> Any:
        return state


def fold(events: list[safepoint.Event], state: Any = None) -> Any:
    """The state after these events."""
    state = Tally().initial() if state is None else state
    for event in events:
        if event.type != "checkpoint":
            state = Tally().apply(state, event)
    return state


def together(*acts: Callable[[], object]) -> None:
    """Runs them on threads that begin at once; an error of any comes through."""
    errors: list[BaseException] = []
    gate = threading.Barrier(len(acts))

    def run(act: Callable[[], object]) -> None:
        try:
            gate.wait()
            act()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(act,), daemon=True) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "a thread hangs"
    if errors:
        raise errors[0]


def appender(session: safepoint.Session, name: str, seqs: list[int]) -> Callable[[], None]:
    """Appends and notes the seqs that it was given, single events and batches."""

    def run() -> None:
        for number in range(EACH):
            if number % 10:
                seqs.append(session.append(name, number))
            else:
                seqs.extend(session.append_many([(name, number), (name, number)]))

    return run


@pytest.mark.parametrize("segment_bytes", [20_000, 256 << 20], ids=["rotating", "one-segment"])
def test_checkpoints_beside_appends_miss_nothing(tmp_path, segment_bytes: int) -> None:
    """Each checkpoint's state, and the events behind it, must make the state of all events."""
    store = safepoint.open_store(tmp_path / "store", segment_bytes=segment_bytes)
    seqs: list[int] = []
    with store.create("s", fold=Tally()) as session:
        together(
            *(appender(session, f"t{number}", seqs) for number in range(THREADS)),
            lambda: [session.checkpoint() for _ in range(CHECKPOINTS)],
        )
        live = session.state
    with store.open("s") as reader:
        events = list(reader.events())
    checkpoints = [event for event in events if event.type == "checkpoint"]
    assert len(checkpoints) == CHECKPOINTS
    for found in checkpoints:
        upto = found.data["upto"]
        assert found.data["state"] == fold(events[: upto + 1])
        assert fold(events[upto + 1 :], found.data["state"]) == live
    with store.resume("s", fold=Tally()) as session:
        assert session.state == live == fold(events)


def test_threads_get_seqs_of_their_own(store: safepoint.Store) -> None:
    """Every append's answer is the seq of its own event; together they leave no gap."""
    given: list[list[int]] = [[] for _ in range(THREADS)]
    with store.create("s") as session:
        session.append("first")
        together(*(appender(session, f"t{n}", seqs) for n, seqs in enumerate(given)))
        assert sorted(chain(*given)) == list(range(2, session.last_seq + 1))
        for number, seqs in enumerate(given):
            mine = [event.seq for event in session.events(types=[f"t{number}"])]
            assert mine == sorted(seqs)


def test_first_appends_race(store: safepoint.Store) -> None:
    """The first append creates the session: two at once must not create it twice."""
    seqs: list[int] = []
    with store.create("s") as session:
        together(*(lambda: seqs.append(session.append("first")) for _ in range(8)))
        assert sorted(seqs) == list(range(1, 9))
    assert store.inspect("s").state == "clean"


def test_one_key_on_many_threads_is_one_event(store: safepoint.Store) -> None:
    """A key is looked up and remembered in one step, else retries would write twice."""
    seqs: list[int] = []
    with store.create("s") as session:
        together(*(lambda: seqs.append(session.append("call", {}, key="k")) for _ in range(8)))
        assert seqs == [1] * 8
        assert session.last_seq == 1


def test_batches_of_threads_stay_whole(store: safepoint.Store) -> None:
    """An event of another thread inside a batch would be lost or kept with it."""
    with store.create("s") as session:
        together(
            *(
                lambda name=f"t{n}": [session.append_many([(name, 0)] * 5) for _ in range(30)]
                for n in range(THREADS)
            )
        )
        types = [event.type for event in session.events(start=1)]
    assert all(len(set(types[at : at + 5])) == 1 for at in range(0, len(types), 5))


def test_sync_on_one_thread_covers_the_others(store: safepoint.Store) -> None:
    """`durable_seq` never falls, and after `sync` covers what was appended before the call."""

    def syncs() -> None:
        known = -1
        for _ in range(40):
            last = session.last_seq
            session.sync()
            assert last <= session.durable_seq
            assert known <= session.durable_seq
            known = session.durable_seq

    with store.create("s", durability="process") as session:
        session.append("first")
        together(syncs, syncs, *(appender(session, f"t{n}", []) for n in range(2)))


def test_state_on_another_thread_is_whole(store: safepoint.Store) -> None:
    """Who looks at the live state sees it between two events, never in the middle of one."""

    def looks() -> None:
        for _ in range(300):
            counted = sum(count for count, _ in session.state.values())
            assert counted <= session.last_seq + 1
            assert sum(count for count, _ in session.state.values()) >= counted

    with store.create("s", fold=Tally()) as session:
        session.append("first")
        together(looks, *(appender(session, f"t{n}", []) for n in range(2)))
