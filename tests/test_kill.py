"""SIGKILL of a writer at random moments: what was acknowledged is there, byte for byte (P1, P7).

`SAFEPOINT_KILL_SEED` repeats a run.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import Popen

import pytest
import safepoint
from kill_writer import LARGE_BYTES
from programs import WAIT_S, running

SEED = int(os.environ.get("SAFEPOINT_KILL_SEED") or time.time_ns() % 1_000_000)
ROUNDS = 70
"""Of each durability: 210 kills in all."""
ROUNDS_OF_SESSION = 7
LARGE_ROUNDS = 10
LIVES_S_MAX = 0.02

NURSERY = """
import os, sys
import kill_writer

for line in sys.stdin:
    pid = os.fork()
    if pid == 0:
        kill_writer.main(*line.split())
    print(pid, flush=True)
    os.waitpid(pid, 0)
    print("gone", flush=True)
"""
"""Forks a writer for every line that it reads: a new interpreter each time would be slow."""


class Nursery:
    """Starts writers, and kills them."""

    def __init__(self, process: Popen[str]) -> None:
        self._process = process

    def _hear(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    @contextmanager
    def writer(self, *arguments: object) -> Iterator[None]:
        """A writer that is killed at the end of the block, and gone behind it."""
        assert self._process.stdin is not None
        self._process.stdin.write(" ".join(map(str, arguments)) + "\n")
        self._process.stdin.flush()
        pid = int(self._hear())
        try:
            yield
        finally:
            os.kill(pid, signal.SIGKILL)
            assert self._hear() == "gone"


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    """One for all tests here."""
    with running(NURSERY) as process:
        yield Nursery(process)


def hash_of(event: safepoint.Event) -> str:
    """As the writer computes it from what it appended."""
    return hashlib.sha256(json.dumps([event.type, event.key, event.data]).encode()).hexdigest()


def acknowledged(path: Path) -> dict[int, str]:
    """seq to hash of all that the writer was told is in the log; a line cut short was not told."""
    if not path.exists():
        return {}
    whole = path.read_text().rpartition("\n")[0].splitlines()
    return {int(seq): digest for seq, digest in map(str.split, whole)}


def check_round(store: safepoint.Store, id: str, acks: dict[int, str]) -> None:
    """Everything acknowledged is there, byte-exact and without a gap; the end can be mended."""
    found = store.inspect(id)
    if not acks and found.state in ("missing", "empty"):
        return
    assert found.state in ("clean", "repairable"), (found, SEED)
    assert found.writer == "stale"
    with store.open(id) as reader:
        events = {event.seq: hash_of(event) for event in reader.events()}
    assert list(events) == list(range(len(events)))
    assert acks.items() <= events.items(), SEED


def size_of(path: Path) -> int:
    """Bytes of the file, 0 where there is none."""
    return path.stat().st_size if path.exists() else 0


def wait_until(done: Callable[[], bool]) -> None:
    """Returns as soon as `done` says so."""
    stop = time.monotonic() + WAIT_S
    while not done():
        assert time.monotonic() < stop, "the writer does not write"


@pytest.mark.parametrize("durability", ["process", "batch", "sync"])
def test_acknowledged_survives_sigkill(tmp_path: Path, nursery: Nursery, durability: str) -> None:
    """At every level a record that was acknowledged outlives its writer, killed at any moment."""
    chance = random.Random(f"{SEED} {durability}")
    store = safepoint.open_store(tmp_path / "store", segment_bytes=100_000)
    records = 0
    for number in range(ROUNDS):
        id = f"s{number // ROUNDS_OF_SESSION}"
        log = tmp_path / f"{id}.acks"
        before = size_of(log)
        with nursery.writer(store.path, id, durability, log, chance.getrandbits(32), "mixed"):
            if chance.random() < 0.7:
                wait_until(lambda log=log, before=before: size_of(log) > before)
            time.sleep(chance.random() * LIVES_S_MAX)
        acks = acknowledged(log)
        check_round(store, id, acks)
        records = max(records, len(acks))
    print(f"seed {SEED}: {ROUNDS} kills, {records} records in the longest session")
    assert records > 0, "the writers never wrote"


def test_killed_in_the_middle_of_a_write(tmp_path: Path, nursery: Nursery) -> None:
    """A record that a kill cut is nowhere to be seen, and the next writer goes on before it."""
    store = safepoint.open_store(tmp_path / "store")
    torn = 0
    for number in range(LARGE_ROUNDS):
        id = f"s{number}"
        log, acks = tmp_path / "store" / id / "events-000001.jsonl", tmp_path / f"{id}.acks"
        with nursery.writer(store.path, id, "process", acks, SEED + number, "large"):
            wait_until(lambda log=log: size_of(log) > LARGE_BYTES + 2000)
        check_round(store, id, acknowledged(acks))
        was_torn = store.inspect(id).state == "repairable"
        kept = [repair.quarantine for repair in store.repair(id)]
        assert bool(kept) == was_torn and all(kept)
        torn += was_torn
        with store.resume(id) as session:
            last = session.last_seq
            assert session.append("note") == last + 1
        assert store.inspect(id).state == "clean"
    print(f"seed {SEED}: {torn} of {LARGE_ROUNDS} kills cut a record")
