"""The simulated disk itself: what it keeps, what it may lose, and how it fails on demand."""

from __future__ import annotations

import errno
import fcntl
import inspect
import os
from random import Random

import pytest
from crash_checks import STORIES, check_crash
from safepoint import files
from safepoint._simulated import SECTOR_BYTES, Inode
from safepoint._simulated_directory import SimulatedDirectory
from safepoint.errors import SafepointError, UnsafePathError
from safepoint.testing import (
    FileState,
    PowerCut,
    PowerLoss,
    SimulatedDisk,
    crash,
    memory_store,
)

ROOT = "/store"
LOG = "/store/log"
SEEDS = range(200)


@pytest.fixture
def disk():
    with SimulatedDisk() as disk:
        yield disk


def written(disk, *chunks, name="log"):
    """A file whose name and first chunk are synced, and the others appended behind it."""
    directory = disk.create_root(ROOT)
    fd = directory.create_file(name)
    directory.sync()
    for index, chunk in enumerate(chunks):
        files.append(disk, fd, chunk)
        if index == 0:
            disk.sync(fd)
    return directory, fd


def left(disk, loss=None, **options):
    """The content of the log on a disk that crashed."""
    with disk.crash(loss, **options) as after:
        return after.read(LOG)


@pytest.mark.parametrize("real, simulated", [
    (files.Disk, SimulatedDisk),
    (files.Directory, SimulatedDirectory),
])  # fmt: skip
def test_every_method_of_the_seam_is_simulated(real, simulated):
    """A method that fell through to the real class would touch the real file system."""
    for name, function in inspect.getmembers(real, inspect.isfunction):
        if not name.startswith("_"):
            own = simulated.__dict__.get(name)
            assert own is not None, f"{name} is not simulated"
            assert list(inspect.signature(own).parameters) == list(
                inspect.signature(function).parameters
            )


@pytest.mark.parametrize("kind", ["real", "simulated"])
def test_both_kinds_of_directory_give_the_same_errors(kind, tmp_path):
    """Code that is tested on the simulation must meet the real error classes there."""
    disk = files.Disk() if kind == "real" else SimulatedDisk()
    root = disk.create_root(str(tmp_path / "s"))
    disk.close(root.create_file("a"))
    root.make_directory("d")
    root.make_directory("d")
    cases = [
        (FileNotFoundError, lambda: root.open_read("none")),
        (FileNotFoundError, lambda: root.stat("none")),
        (FileNotFoundError, lambda: root.unlink("none")),
        (FileNotFoundError, lambda: root.replace("none", "a")),
        (FileNotFoundError, lambda: root.open_directory("none")),
        (FileNotFoundError, lambda: disk.open_root(str(tmp_path / "none"))),
        (FileExistsError, lambda: root.create_file("a")),
        (FileExistsError, lambda: root.link("a", "d")),
        (UnsafePathError, lambda: root.open_directory("a")),
        (UnsafePathError, lambda: root.open_read("d")),
        (UnsafePathError, lambda: root.open_append("d")),
    ]
    for error, call in cases:
        with pytest.raises(error):
            call()
    root.link("a", "b")
    with pytest.raises(UnsafePathError):
        root.open_append("a")
    assert (root.names(), root.stat("b").st_nlink) == (["a", "b", "d"], 2)
    root.unlink("b")
    disk.close(root.open_append("a"))
    root.close()
    with pytest.raises(OSError):
        root.stat("a")


def test_two_openings_of_a_lock_file_exclude_each_other(disk):
    """One memfd shared by both handles would let two writers in."""
    directory, fd = written(disk, b"", name="x.lock")
    other = directory.open_lock("x.lock")
    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    disk.close(fd)
    fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert directory.stat("x.lock").st_ino == os.fstat(other).st_ino


def test_what_was_synced_survives_every_crash(disk):
    """The one promise of a disk; a sector that holds both kinds of bytes keeps the synced ones."""
    synced = b"synced" * 200
    written(disk, synced, b"lost" * 1000)
    for seed in SEEDS:
        assert left(disk, seed=seed, stale=b"old")[: len(synced)] == synced


def test_what_was_not_synced_may_be_there_in_part_zeroed_stale_or_gone(disk):
    """A simulation that always kept the tail, or always lost it, would prove nothing."""
    written(disk, b"a" * 100, b"b" * 2000)
    seen = {left(disk, seed=seed, stale=b"s") for seed in SEEDS}
    assert b"a" * 100 in seen
    assert b"a" * 100 + b"b" * 2000 in seen
    assert any(b"b\0" in image for image in seen)
    assert any(b"sb" in image for image in seen)
    assert len({len(image) % SECTOR_BYTES for image in seen}) > 10


def test_a_state_is_built_as_it_was_chosen(disk):
    """The letters name sectors of the file from the first that is not wholly synced."""
    written(disk, b"a" * 700, b"b" * 1500)
    image = left(disk, PowerLoss({}, {LOG: FileState(1800, "zsn", b"0123456789abcdef")}))
    stale = (b"0123456789abcdef" * 32)[:512]
    assert image == b"a" * 700 + bytes(324) + stale + b"b" * 264


def test_a_size_that_the_file_never_had_is_refused(disk):
    """An impossible state would blame the product for what no disk does."""
    written(disk, b"a" * 700, b"b" * 300)
    for size in (699, 1001):
        with pytest.raises(ValueError):
            left(disk, PowerLoss({}, {LOG: FileState(size)}))


def test_a_truncation_that_was_not_synced_may_not_have_happened(disk):
    """A rollback of a failed append is only as good as the sync behind it."""
    _, fd = written(disk, b"a" * 100, b"b" * 900)
    disk.sync(fd)
    disk.truncate(fd, 100)
    files.append(disk, fd, b"c" * 50)
    seen = {left(disk, seed=seed) for seed in SEEDS}
    whole = b"a" * 100 + b"b" * 900
    assert {whole, b"a" * 100, b"a" * 100 + b"c" * 50} <= seen
    assert all(image.startswith(b"a" * 100) for image in seen)
    assert left(disk) == b"a" * 100 + b"c" * 50


def test_a_truncation_alone_makes_no_zeros(disk):
    """It happened or it did not: zeros come only where the file grew again."""
    _, fd = written(disk, b"a" * 2000)
    disk.truncate(fd, 100)
    seen = {left(disk, seed=seed) for seed in SEEDS}
    assert seen == {b"a" * 2000, b"a" * 100}


def test_bytes_overwritten_in_place_are_the_old_or_the_new(disk):
    """The owner line of a lock is one sector: never a mixture, never zeros."""
    _, fd = written(disk, b"old" * 100, name="x.lock")
    disk.overwrite(fd, b"new" * 100)
    seen = set()
    for seed in SEEDS:
        with disk.crash(seed=seed) as after:
            seen.add(after.read("/store/x.lock"))
    assert seen == {b"old" * 100, b"new" * 100}


def test_names_survive_as_a_prefix_of_their_operations(disk):
    """A rename or link is whole or not at all, and none overtakes an earlier one."""
    directory, _ = written(disk, b"1")
    directory.link("log", "two")
    directory.unlink("log")
    directory.replace("two", "three")
    directory.make_directory("sub")
    seen = set()
    for loss in disk.crash_states():
        with disk.crash(loss) as after:
            root = after.open_root(ROOT)
            seen.add(tuple(root.names()))
    assert seen == {("log",), ("log", "two"), ("two",), ("three",), ("sub", "three")}


def test_a_file_without_a_synced_name_may_be_gone(disk):
    """Its own sync makes its bytes durable, not its name."""
    directory = disk.create_root(ROOT)
    fd = directory.create_file("log")
    files.append(disk, fd, b"x")
    disk.sync(fd)
    with disk.crash(PowerLoss({ROOT: 0}, {})) as after:
        assert after.paths() == []
    directory = disk.crash().open_root(ROOT)
    assert directory.names() == ["log"]


def test_a_killed_process_loses_nothing_and_makes_nothing_durable(disk):
    """The page cache outlives the process, and a later power cut may still take it."""
    written(disk, b"a", b"b" * 600)
    killed = disk.crash()
    assert killed.read(LOG) == b"a" + b"b" * 600
    assert killed.durable_size(LOG) == 1
    assert left(killed, PowerLoss({}, {LOG: killed.copy()._file(LOG).corners()[0]})) == b"a"


def test_a_name_that_was_removed_may_come_back_after_a_kill(disk):
    """An unsynced unlink is not final, and a killed process does not make it so."""
    directory, _ = written(disk, b"a")
    directory.unlink("log")
    killed = disk.crash()
    assert killed.paths() == []
    with killed.crash(PowerLoss({ROOT: 0}, {})) as after:
        assert after.read(LOG) == b"a"


def test_two_names_of_one_file_stay_one_file(disk):
    """A published segment has two names for a moment, and one content."""
    directory, _ = written(disk, b"a")
    directory.link("log", "two")
    after = disk.crash()
    root = after.open_root(ROOT)
    assert root.stat("log").st_ino == root.stat("two").st_ino
    assert after._file(LOG).links == 2


def test_the_disk_before_the_crash_is_dead(disk):
    """A handle that outlived its crash would write into a past that the test already left."""
    directory, fd = written(disk, b"a")
    after = disk.crash()
    for call in (
        lambda: disk.write(fd, b"x"),
        lambda: disk.sync(fd),
        lambda: disk.open_root(ROOT),
        lambda: directory.names(),
        lambda: directory.create_file("new"),
        lambda: directory.sync(),
    ):
        with pytest.raises(PowerCut):
            call()
    disk.close(fd)
    assert after.read(LOG) == b"a"


def test_a_power_cut_comes_at_the_step_that_was_named(disk):
    """Suites stop a program at each of its steps in turn; every step before it has happened."""
    _, fd = written(disk, b"a")
    disk.inject(PowerCut, at=3)
    disk.write(fd, b"b")
    disk.sync(fd)
    with pytest.raises(PowerCut):
        disk.write(fd, b"c")
    with pytest.raises(PowerCut):
        disk.write(fd, b"d")
    assert left(disk) == b"ab"


def test_an_error_strikes_once_or_for_ever(disk):
    """A full disk stays full until somebody frees space."""
    _, fd = written(disk, b"a")
    disk.inject(errno.ENOSPC, name="write", at=2)
    disk.write(fd, b"b")
    with pytest.raises(OSError) as caught:
        disk.write(fd, b"c")
    assert caught.value.errno == errno.ENOSPC
    disk.write(fd, b"d")
    disk.inject(errno.EIO, name="sync", times=None)
    for _ in range(3):
        with pytest.raises(OSError):
            disk.sync(fd)
    disk.clear_faults()
    disk.sync(fd)
    assert disk.read(LOG) == b"abd"


def test_a_write_may_be_short_or_fail_in_the_middle(disk):
    """Both leave a part of the bytes; only one says so."""
    _, fd = written(disk, b"a")
    disk.inject(None, name="write", taken=2)
    files.append(disk, fd, b"12345")
    disk.inject(errno.EIO, name="write", taken=1)
    with pytest.raises(OSError):
        files.append(disk, fd, b"67")
    assert disk.read(LOG) == b"a123456"


def test_a_step_can_be_done_before_it_raises(disk):
    """A sync that failed may have reached the disk all the same."""
    _, fd = written(disk, b"a", b"b")
    disk.inject(errno.EIO, name="sync", when="after")
    with pytest.raises(OSError):
        disk.sync(fd)
    assert disk.durable_size(LOG) == 2


def test_a_lying_disk_loses_what_it_said_was_synced():
    """The control of the crash suites: they must find violations on such a disk."""
    with SimulatedDisk(lying=True) as disk:
        directory, _ = written(disk, b"a" * 100)
        directory.sync()
        assert left(disk, PowerLoss({}, {LOG: FileState(0)})) == b""
        with disk.crash(PowerLoss({ROOT: 0}, {})) as after:
            assert after.paths() == []


def test_the_check_of_the_tail_suite_finds_what_a_lying_disk_lost():
    """The control: a suite that passes on a disk without syncs would pass on anything."""
    found = set()
    with SimulatedDisk(lying=True) as disk:
        story = STORIES["batches"](disk)
        for loss in list(story.disk.tail_states(story.log))[::101]:
            with story.disk.crash(loss) as after:
                try:
                    check_crash(story, after)
                except (AssertionError, SafepointError) as error:
                    found.add(type(error))
    assert AssertionError in found


def test_a_store_in_memory_crashes_into_another_one():
    """What users get: `memory_store` and `crash`, by a kill or by a power cut."""
    store = memory_store()
    session = store.create("demo", durability="process")
    session.append("note", {"n": 1})
    session.append("note", {"n": 2})
    killed = crash(store)
    with pytest.raises(PowerCut):
        session.append("note", {"n": 3})
    with pytest.raises(PowerCut):
        session.close()
    assert [event.data for event in killed.open("demo").last(2)] == [{"n": 1}, {"n": 2}]
    with crash(killed, seed=3).resume("demo") as resumed:
        assert resumed.last(1, types=["note"])[0].data in ({"n": 1}, {"n": 2})


def test_a_seed_chooses_one_state_for_ever(disk):
    """A failing seed that a suite prints must lead to the same state again."""
    written(disk, b"a" * 100, b"b" * 5000)
    assert left(disk, seed=7, stale=b"x") == left(disk, seed=7, stale=b"x")


def test_every_enumerated_state_is_one_that_can_be_built(disk):
    """Sizes and sectors of the enumeration come from the same rules as the states."""
    written(disk, b"a" * 700, b"b" * 900)
    states = list(disk.tail_states(LOG, stale=(b"s",)))
    assert len(states) == 901 + 2 * (1 + 3 + 7)
    for loss in states:
        assert left(disk, loss).startswith(b"a" * 700)


def test_undo_gives_the_synced_bytes_after_any_history():
    """Cuts, growth and overwrites in any order: the image of the last sync is still known."""
    for seed in range(300):
        random, inode = Random(seed), Inode(b"0123456789" * 20)
        fd, synced = inode.open(os.O_RDWR | os.O_APPEND), inode.content()
        for step in range(6):
            kind = random.choice(("write", "truncate", "overwrite"))
            if kind == "write":
                inode.write(fd, bytes([65 + step]) * random.randint(0, 90))
            elif kind == "truncate":
                inode.truncate(fd, random.randint(0, inode.size))
            else:
                lock = inode.open(os.O_RDWR)
                inode.overwrite(lock, bytes([97 + step]) * random.randint(1, 300))
                os.close(lock)
        assert inode.durable() == synced, seed
        assert len(inode.left(inode.any_state(random, b"stale"))) <= inode.size_max
        os.close(fd)
        inode.release()


def test_a_released_disk_leaves_no_descriptor_open():
    """Suites make tens of thousands of disks in one process."""
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(50):
        with SimulatedDisk() as disk:
            directory, _ = written(disk, b"a")
            directory.open_read("log")
            directory.unlink("log")
            directory.sync()
            disk.crash().release()
    assert len(os.listdir("/proc/self/fd")) == before
