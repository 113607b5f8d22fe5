"""Creation, recovery, rotation, checkpoint, finish and close, stopped at each of their own steps.

After each stop the process was killed or the power failed, in several ways, with `session.json`
kept or lost; then the same is asked again. Recovery is stopped twice: also in the recovery from its
own crash.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib

import pytest
import safepoint
from crash_checks import (
    ID,
    MANIFEST,
    SEGMENT_BYTES,
    STEPS_MAX,
    STORIES,
    Run,
    aftermath,
    check_goes_on,
    check_prefix,
    completed,
    note,
    read,
    segment,
    segments,
    stopped,
    store_on,
    told,
)
from safepoint.errors import (
    ResumeRefusedError,
    SessionExistsError,
    StorageError,
    StorageFullError,
)
from safepoint.testing import FileState, PowerCut, PowerLoss, SimulatedDisk

NESTED_STATES = 2
"""How many crashes follow each second stop: all of them would take minutes."""
NESTED_EVERY = 1 if safepoint.engine() == "native" else 5
"""Which of the first stops are followed by a second one."""


# Creation


def create(run):
    """Begins a session and closes it."""
    run.session = store_on(run.disk).create(ID, request={"goal": "fix"}, durability="process")
    with contextlib.closing(run.session) as session:
        run.returned = session.append("note", note(1))


def check_created(run, after):
    """The session is absent and can be created, or it is complete and goes on."""
    store = store_on(after)
    if store.inspect(ID).state in ("missing", "empty"):
        assert run.returned == -1, "an acknowledged creation is gone"
        assert ID not in [info.id for info in store.list()]
        create(Run(after))
    else:
        assert store.inspect(ID).state == "clean"
        assert ID in [info.id for info in store.list()]
        with pytest.raises(SessionExistsError):
            store.create(ID).append("note", note(2))
    kept = read(store)
    assert [type for _, type, _ in kept] == ["session.created", "note"]
    assert segments(after) == 1
    check_goes_on(after, kept)


@pytest.mark.parametrize("store", ["new", "used"])
def test_a_creation_that_was_stopped_is_absent_or_complete(store):
    """Header, first record and first append are there together or not at all."""
    with SimulatedDisk() as base:
        if store == "used":
            with store_on(base).create("other", durability="process") as other:
                other.append("note", note(0))
        for where, run in stopped(base, create):
            for what, after in aftermath(run.disk):
                with told(where, what):
                    check_created(run, after)


def test_a_creation_stopped_twice_is_absent_or_complete():
    """The second creation finds what the first one left: names, a lock, a temporary file."""
    with SimulatedDisk() as base:
        for turn, (where, first) in enumerate(stopped(base, create)):
            for what, again in aftermath(first.disk, 1, turn):
                if store_on(again).inspect(ID).state not in ("missing", "empty"):
                    continue
                for turn_again, (where_again, run) in enumerate(stopped(again, create)):
                    for what_again, after in aftermath(run.disk, NESTED_STATES, turn_again):
                        with told(where, what, where_again, what_again):
                            check_created(run, after)


# Recovery


def torn(story):
    """The last record is cut in its middle."""
    return PowerLoss({}, {story.log: FileState(len(story.disk.read(story.log)) - 30)})


def whole(story):
    """Every record is there, and nobody knows that it is durable."""
    return PowerLoss({}, {})


def newline(story):
    """Only the newline of the last record is missing."""
    return PowerLoss({}, {story.log: FileState(len(story.disk.read(story.log)) - 1)})


def hole(story):
    """A sector in the middle of the tail is zero, valid records stand behind it."""
    return PowerLoss({}, {story.log: FileState(len(story.disk.read(story.log)), "nnz")})


def gone(story):
    """The tail was zeroed from its first byte on."""
    return PowerLoss({}, {story.log: FileState(len(story.disk.read(story.log)), "z" * 99)})


DAMAGES = {damage.__name__: damage for damage in (torn, whole, newline, hole, gone)}


@pytest.fixture(params=DAMAGES)
def damaged(request):
    """(disk, fingerprints of the records that must survive) after a power cut behind a tail."""
    with SimulatedDisk() as disk:
        story = STORIES["batches"](disk)
        with story.disk.crash(DAMAGES[request.param](story)) as base:
            kept = check_prefix(store_on(base), story.written, story.durable_seq + 1, story.broken)
            yield base, kept


def resume(run):
    """Resumes the session and closes it."""
    run.session = store_on(run.disk).resume(ID, durability="process")
    run.session.close()


def repair(run):
    """Repairs the session."""
    store_on(run.disk).repair(ID)


RECOVERIES = {"resume": resume, "repair": repair}


def result(disk):
    """What recovery made of a session: its records, without the time and the text of the mend, and
    its segments and quarantine."""
    records = [(seq, type) if type == "session.resumed" else (seq, type, hash)
               for seq, type, hash in read(store_on(disk))]  # fmt: skip
    kept_aside = {path: disk.read(path) for path in disk.paths() if "/quarantine/" in path}
    return records, segments(disk), kept_aside


def recovered(base, recover):
    """The result of a recovery that nobody stopped."""
    with base.copy() as disk:
        recover(Run(disk))
        assert store_on(disk).inspect(ID).state == "clean"
        return result(disk)


def check_recovered(after, recover, wanted, kept):
    """Recovery, asked again, comes to the same result; and the session goes on."""
    recover(Run(after))
    look = store_on(after).inspect(ID)
    assert (look.state, look.findings) == ("clean", []), look
    assert result(after) == wanted
    assert read(store_on(after))[: len(kept)] == kept
    assert not [path for path in after.paths() if path.endswith(".tmp")]
    check_goes_on(after, read(store_on(after)))
    assert segments(after) == wanted[1]


@pytest.mark.parametrize("verb", RECOVERIES)
def test_a_recovery_that_was_stopped_comes_to_the_same_result(damaged, verb):
    """P9: a crash during recovery costs no record, adds no segment and no second mend."""
    base, kept = damaged
    recover = RECOVERIES[verb]
    wanted = recovered(base, recover)
    for where, run in stopped(base, recover):
        for what, after in aftermath(run.disk):
            with told(where, what):
                check_recovered(after, recover, wanted, kept)


@pytest.mark.parametrize("verb", RECOVERIES)
def test_a_recovery_stopped_twice_comes_to_the_same_result(damaged, verb):
    """The recovery from a crash of the recovery is one more history that a disk may hold."""
    base, kept = damaged
    recover = RECOVERIES[verb]
    wanted = recovered(base, recover)
    for turn, (where, first) in enumerate(stopped(base, recover)):
        if turn % NESTED_EVERY:
            continue
        for what, again in aftermath(first.disk, 1, turn):
            for turn_again, (where_again, run) in enumerate(stopped(again, recover)):
                for what_again, after in aftermath(run.disk, NESTED_STATES, turn_again):
                    with told(where, what, where_again, what_again):
                        check_recovered(after, recover, wanted, kept)


def test_recovery_without_the_manifest_stops_and_comes_to_the_same_result(damaged):
    """Losing the cache before the first recovery costs speed, never data or segments."""
    base, kept = damaged
    base.remove(MANIFEST)
    wanted = recovered(base, resume)
    for where, run in stopped(base, resume):
        for what, after in aftermath(run.disk):
            with told(where, what):
                check_recovered(after, resume, wanted, kept)


@pytest.mark.parametrize("verb", RECOVERIES)
def test_a_recovery_destroys_nothing(damaged, verb):
    """P3: what was cut off is in quarantine under its hash, or every record of it was carried."""
    base, _ = damaged
    with base.copy() as disk:
        RECOVERIES[verb](Run(disk))
        cut = base.read(segment(1))[len(disk.read(segment(1))) :]
        name = hashlib.sha256(cut).hexdigest()
        aside = {path.rpartition("/")[2]: disk.read(path) for path in disk.paths()}
        carried = disk.read(segment(2))
        bodies = [line.rpartition(b',"crc"')[0] for line in cut.splitlines()]
        assert cut
        assert aside.get(name) == cut or all(body and body in carried for body in bodies)


def test_crashes_during_recovery_do_not_add_segments(damaged):
    """Twenty crashes in a row, each a step later than the one before, then one recovery."""
    base, kept = damaged
    wanted = recovered(base, resume)
    disk = base.copy()
    for step in range(1, 21):
        disk.inject(PowerCut, at=step)
        completed(resume, Run(disk))
        disk, before = disk.crash(seed=step), disk
        before.release()
    with disk:
        check_recovered(disk, resume, wanted, kept)


def test_a_power_cut_in_the_recovery_from_a_kill_keeps_what_was_durable():
    """A killed writer's bytes are in the page cache: what recovery did not sync may still go."""
    with SimulatedDisk() as disk:
        story = STORIES["checkpoint"](disk)
        with story.disk.crash() as base:
            for where, run in stopped(base, resume):
                for what, after in aftermath(run.disk):
                    with told(where, what):
                        durable = max(story.durable_seq, run.durable_seq) + 1
                        least = min(durable, len(story.written))
                        kept = read(store_on(after))
                        assert kept[: len(story.written)] == story.written[: len(kept)]
                        assert len(kept) >= least
                        check_goes_on(after, kept)
                        assert segments(after) <= 2


# Work on a session that is open


def rotate(run, session):
    """A checkpoint of the last event: the next segment begins with it."""
    run.returned = session.append("note", note(50, 200))
    run.returned = session.checkpoint({"seen": list(range(session.last_seq + 1))})
    run.returned = session.append("note", note(51))


def rotate_early(run, session):
    """A checkpoint of an earlier event: the next segment begins with those behind it."""
    upto = run.returned = session.append("note", note(50, 200))
    run.returned = session.append_many([("note", note(51)), ("note", note(52))])[-1]
    run.returned = session.append("note", note(53))
    run.returned = session.checkpoint({"seen": list(range(upto + 1))}, upto=upto)
    run.returned = session.append("note", note(54))


def rotate_twice(run, session):
    """Two rotations, one right behind the other."""
    rotate(run, session)
    run.returned = session.append("note", note(55, 2500))
    run.returned = session.checkpoint({"seen": list(range(session.last_seq + 1))})


def rotate_without_manifest(run, session):
    """A rotation whose manifest finds no room: the new segment must be durable without it."""
    run.returned = session.append("note", note(50, 200))
    run.disk.inject(errno.ENOSPC, name="replace", times=None)
    run.returned = session.checkpoint({"seen": list(range(session.last_seq + 1))})
    run.returned = session.append("note", note(51), sync=True)
    run.returned = session.append("note", note(52), sync=True)


def sync_and_close(run, session):
    """Appends at two levels, and the close that follows."""
    run.returned = session.append("note", note(50))
    run.returned = session.append_many([("note", note(51)), ("note", note(52))])[-1]
    run.returned = session.append("note", note(53), sync=True)
    run.returned = session.append("note", note(54))


def fail_an_append(run, session):
    """A write that fails in its middle is taken back before the next one."""
    run.returned = session.append("note", note(50))
    run.disk.inject(errno.ENOSPC, name="write", taken=20)
    with pytest.raises(StorageFullError):
        session.append("note", note(51))
    run.returned = session.append("note", note(52))
    run.returned = session.append("note", note(53), sync=True)


def finish(run, session):
    """The end of the session."""
    run.returned = session.append("note", note(50))
    run.returned = session.finish("completed")


BIG = 256 << 20
WORK = {
    "checkpoint": (rotate, BIG),
    "rotation": (rotate, SEGMENT_BYTES),
    "rotation with events carried": (rotate_early, SEGMENT_BYTES),
    "rotation without manifest": (rotate_without_manifest, SEGMENT_BYTES),
    "two rotations": (rotate_twice, SEGMENT_BYTES),
    "sync and close": (sync_and_close, BIG),
    "failed append": (fail_an_append, BIG),
    "finish": (finish, BIG),
}


def working(work, segment_bytes):
    """The operation: resume, `work`, close."""

    def operation(run):
        store = store_on(run.disk, segment_bytes)
        run.session = store.resume(ID, durability="process")
        with run.session as session:
            work(run, session)

    return operation


@pytest.fixture
def closed():
    """A session that was closed in good order, longer than SEGMENT_BYTES."""
    with SimulatedDisk() as disk:
        with store_on(disk).create(ID, durability="process") as session:
            for number in range(10):
                session.append("note", note(number, 250))
            session.checkpoint({"seen": list(range(session.last_seq + 1))})
            session.append("note", note(10))
        yield disk


def check_worked(run, after, written, killed):
    """What was acknowledged is there, nothing else is, and the session goes on."""
    store = store_on(after)
    least = max(run.durable_seq, run.returned if killed else -1, 11) + 1
    look = store.inspect(ID)
    assert look.state in ("clean", "repairable"), look
    kept = read(store, exact=False)
    assert kept == written[: len(kept)], "a record is missing, wrong or out of order"
    assert len(kept) >= least, f"only {len(kept)} of {least} durable records are left"
    if look.status != "active":
        assert kept[-1][1] == "session.finished"
        with pytest.raises(ResumeRefusedError):
            store.resume(ID)
        store.repair(ID)
        assert store.inspect(ID).state == "clean"
        assert read(store, exact=False) == kept
        return
    check_goes_on(after, read(store))
    before = segments(after)
    resume(Run(after))
    assert segments(after) == before


@pytest.mark.parametrize("name", WORK)
def test_work_that_was_stopped_keeps_what_it_acknowledged(closed, name):
    """A checkpoint, a rotation and a close are a dozen steps each, and any may be the last."""
    operation = working(*WORK[name])
    with closed.copy() as disk:
        operation(Run(disk))
        written = read(store_on(disk), exact=False)
    for where, run in stopped(closed, operation):
        for what, after in aftermath(run.disk):
            with told(where, what):
                check_worked(run, after, written, what.startswith("{'loss': None}"))


def refuse_an_append(run, session):
    """A write that fails when all its bytes are in the file: it is taken back."""
    run.returned = session.append("note", note(50))
    run.disk.inject(errno.EIO, name="write", taken=10_000)
    with pytest.raises(StorageError):
        session.append("refused", note(51))
    run.refused = True
    run.returned = session.append("note", note(52))
    run.returned = session.append("note", note(53))


def test_an_append_that_raised_never_comes_back(closed):
    """P7: its record verifies and has the next seq, so only a durable truncation keeps it out."""
    for where, run in stopped(closed, working(refuse_an_append, BIG)):
        for what, after in aftermath(run.disk):
            with told(where, what):
                kept = read(store_on(after))
                refused = [seq for seq, type, _ in kept if type == "refused"]
                assert not (refused and run.refused), "a refused event is in the log"
                assert refused in ([], [14])
                least = max(run.durable_seq, run.returned if "'loss': None" in what else -1)
                assert len(kept) > least
                check_goes_on(after, kept)


def test_each_operation_has_the_steps_that_the_suite_stops_at(closed):
    """An operation that stopped using the disk under test would pass for nothing."""
    seen = set()
    for name in WORK:
        with closed.copy() as disk:
            disk.inject(PowerCut, at=STEPS_MAX)
            working(*WORK[name])(Run(disk))
            seen |= {step.split()[0] for step in disk.trace}
            assert len(disk.trace) > 10
            assert segments(disk) == {"two rotations": 3}.get(name, 1 + name.startswith("rot"))
    assert {"write", "sync", "overwrite", "link", "unlink", "replace", "sync_directory"} <= seen
