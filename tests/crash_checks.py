"""What the crash suites share: sessions that were cut off, and what must hold after a crash.

Everything here drives Store and Session. Records are compared by seq and hash, never by count.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from typing import NamedTuple

from safepoint.errors import SafepointError
from safepoint.store import Store
from safepoint.testing import PowerCut, SimulatedDisk

ROOT = "/store"
ID = "fix-login"
FOLDER = f"{ROOT}/{ID}"
MANIFEST = f"{FOLDER}/session.json"
SEGMENT_BYTES = 3000
"""Small enough that a checkpoint of a few records rotates."""
STEPS_MAX = 500
"""More than any operation here takes: one that never ends is a failure."""
SEEDS = 2


def segment(number):
    """The path of a segment of the session."""
    return f"{FOLDER}/events-{number:06d}.jsonl"


def store_on(disk, segment_bytes=256 << 20):
    """A store on `disk`."""
    return Store(ROOT, disk=disk, segment_bytes=segment_bytes)


def fingerprint(event, *, exact=True):
    """The seq, the type and a hash of the whole event; not `exact`: without its time."""
    data = json.dumps(event.data, sort_keys=True)
    text = f"{event.seq} {event.ts if exact else ''} {event.type} {event.key} {data}"
    return event.seq, event.type, hashlib.sha256(text.encode()).hexdigest()


def read(store, *, exact=True):
    """The fingerprints of all events of the session, in order."""
    with store.open(ID) as reader:
        return [fingerprint(event, exact=exact) for event in reader.events()]


def segments(disk):
    """How many segments the session has."""
    return sum(path.startswith(f"{FOLDER}/events-") for path in disk.paths())


@contextlib.contextmanager
def cut_off(session):
    """The session's handle, closed as far as a dead disk allows."""
    try:
        yield session
    finally:
        with contextlib.suppress(PowerCut):
            session.close()


class Story(NamedTuple):
    """A session whose disk stopped in the middle of its work."""

    disk: SimulatedDisk
    log: str
    """The path of the segment with the unsynced tail."""
    written: list
    """Fingerprints of all records, those that were not synced too."""
    durable_seq: int
    """What the session said was durable, right before."""
    broken: set
    """Lengths that a prefix cannot have: they would end inside a batch."""


def note(number, size=60):
    """The data of an event, different for each number."""
    return {"n": number, "text": f"{number:04d} " * (size // 5)}


def begin(disk, **options):
    """A session with some durable records and a checkpoint, in segment 1."""
    session = store_on(disk, **options).create(ID, request={"goal": "fix"}, durability="process")
    for number in range(5):
        session.append("note", note(number, 40 + number), key=f"k{number}")
    session.checkpoint({"seen": [0, 1, 2, 3, 4, 5]})
    session.append("note", note(6))
    session.sync()
    return session


def story_of(disk, session, log, batches=()):
    """The story of a session that was just cut off."""
    durable_seq = session.durable_seq
    with cut_off(session), disk.crash() as killed:
        written = read(store_on(killed))
    broken = {stop for first, last in batches for stop in range(first + 1, last + 1)}
    return Story(disk, log, written, durable_seq, broken)


def story_of_a_checkpoint(disk):
    """The tail: notes, a batch, a large note, and a checkpoint whose sync never came."""
    session = begin(disk)
    session.append("note", note(7))
    batch = session.append_many([("note", note(8, 300)), ("tool", note(9)), ("note", note(10))])
    session.append("note", note(11, 3000))
    for number in range(12, 18):
        session.append("note", note(number, 150))
    disk.inject(PowerCut, name="sync")
    with contextlib.suppress(PowerCut):
        session.checkpoint({"seen": list(range(session.last_seq + 1))})
    return story_of(disk, session, segment(1), [(batch[0], batch[-1])])


def story_of_batches(disk):
    """The tail begins and ends with a batch."""
    session = begin(disk)
    first = session.append_many([("note", note(n, 200)) for n in range(4)])
    session.append("note", note(20), key="again")
    last = session.append_many([("note", note(n, 400)) for n in range(3)])
    return story_of(disk, session, segment(1), [(first[0], first[-1]), (last[0], last[-1])])


def story_of_a_second_segment(disk):
    """The tail is in a segment that a rotation began."""
    session = begin(disk, segment_bytes=SEGMENT_BYTES)
    for number in range(7, 20):
        session.append("note", note(number, 100))
    session.checkpoint({"seen": list(range(session.last_seq + 1))})
    for number in range(20, 26):
        session.append("note", note(number, 100))
    batch = session.append_many([("note", note(n, 100)) for n in range(2)])
    session.append("note", note(30, 600))
    return story_of(disk, session, segment(2), [(batch[0], batch[-1])])


def story_of_a_resumed_session(disk):
    """The tail follows records that a resume carried over from a killed writer."""
    session = begin(disk)
    session.append("note", note(7, 700))
    with cut_off(session):
        disk = disk.crash()
    session = store_on(disk).resume(ID, durability="process")
    for number in range(8, 14):
        session.append("note", note(number, 120))
    return story_of(disk, session, segment(2))


STORIES = {
    "checkpoint": story_of_a_checkpoint,
    "batches": story_of_batches,
    "second segment": story_of_a_second_segment,
    "resumed": story_of_a_resumed_session,
}


def check_prefix(store, written, at_least, broken=frozenset()):
    """What survived is a gap-free prefix of `written`, byte-exact, with `at_least` so many records.

    Gives the surviving records.
    """
    look = store.inspect(ID)
    assert look.state in ("clean", "repairable"), look
    assert look.writer != "live", look
    kept = read(store)
    assert kept == written[: len(kept)], "a record is missing, wrong or out of order"
    assert len(kept) >= at_least, f"only {len(kept)} of {at_least} durable records are left"
    assert len(kept) not in broken, "a part of a batch survived"
    assert (look.records, look.last_seq) == (len(kept), len(kept) - 1), look
    return kept


def check_state(session, kept):
    """The state and the events behind it make up the whole history, each event once."""
    seen = session.state["seen"] if session.state else []
    replayed = [event.seq for event in session.replay() if event.seq < len(kept)]
    assert seen + replayed == [seq for seq, type, _ in kept if type != "checkpoint" or seq in seen]


def check_goes_on(disk, kept, options=None):
    """The session resumes, takes an event and closes; reopened it is clean and ends with that."""
    options = options or {}
    with store_on(disk, **options).resume(ID, durability="sync") as session:
        check_state(session, kept)
        seq = session.append("after", {"seq": len(kept)})
    store = store_on(disk, **options)
    look = store.inspect(ID)
    assert (look.state, look.findings, look.writer) == ("clean", [], "idle"), look
    after = read(store)
    assert after[: len(kept)] == kept, "the repair lost or changed a record"
    added = [type for _, type, _ in after[len(kept) :]]
    assert added in (["after"], ["session.resumed", "after"]), added
    assert (after[-1][0], look.last_seq, len(after)) == (seq, seq, seq + 1)


def check_crash(story, disk):
    """The one check of the tail suite, for the disk that a crash left of `story`."""
    kept = check_prefix(store_on(disk), story.written, story.durable_seq + 1, story.broken)
    check_goes_on(disk, kept)


def stale_sources(disk, log):
    """Older bytes that may stand in a sector: whole records of this very file, and other files'."""
    image = disk.read(log)[: disk.durable_size(log)]
    lines = image.splitlines(keepends=True)
    own = b"".join(lines[1:])
    shifted = b"".join(lines[-2:]) + own
    others = [disk.read(path) for path in disk.paths() if "/events-" in path and path != log]
    return own, shifted, *(other[-2048:] for other in others[:1])


class Run:
    """One run of an operation: what its caller was told before it was stopped."""

    def __init__(self, disk):
        self.disk = disk
        self.returned = -1
        """The last seq that an append or a checkpoint returned."""
        self.session = None
        self.refused = False
        """Whether the caller was told that an append failed."""

    @property
    def durable_seq(self):
        """What the session says is durable."""
        return -1 if self.session is None else self.session.durable_seq


def stopped(base, operation):
    """(where, run) of `operation` on copies of `base`, each stopped at one more of its steps, until
    one is not stopped. At a write also in the middle of it."""
    for step in range(1, STEPS_MAX):
        for taken in (None, 37):
            with base.copy() as disk:
                disk.inject(PowerCut, at=step, taken=taken)
                run = Run(disk)
                done = completed(operation, run)
                where = disk.trace[-1] if disk.trace else ""
                disk.clear_faults()
                yield f"{'behind' if done else 'at'} step {step}, {where}, taken {taken}", run
            if done:
                return
            if not where.startswith("write"):
                break
    raise AssertionError(f"not done after {STEPS_MAX} steps")


def completed(operation, run):
    """Whether the operation came to its end. Behind a power cut a `with` may raise other errors."""
    try:
        operation(run)
    except (PowerCut, SafepointError):
        if not run.disk.dead:
            raise
    return not run.disk.dead


def aftermath(disk, sample=None, turn=0):
    """(what, disk) for the kill and the power cuts that may follow a stop, each with the manifest
    and without it; or a sample of so many of them, another one each turn."""
    options = [{"loss": loss} for loss in (None, *disk.crash_states())]
    options += [{"seed": seed} for seed in range(SEEDS)]
    chosen = [(option, manifest) for option in options for manifest in ("kept", "lost")]
    if sample is not None:
        chosen = [chosen[(turn + 5 * number) % len(chosen)] for number in range(sample)]
    for option, manifest in chosen:
        with disk.crash(**option) as after:
            if manifest == "lost" and MANIFEST in after.paths():
                after.remove(MANIFEST)
            yield f"{option}, manifest {manifest}", after


@contextlib.contextmanager
def told(*where):
    """A failure inside says where it was."""
    try:
        yield
    except BaseException as error:
        error.add_note("; ".join(where))
        raise
