"""Ids that are paths; links, pipes and folders in place of our files: never followed (P11)."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import safepoint

HANG_S = 20
NOBODY = 65534

BAD_IDS = {
    "parent": "..",
    "current": ".",
    "up": "../other",
    "inner-up": "a/../b",
    "slash": "a/b",
    "absolute": "/tmp/x",
    "backslash": "a\\b",
    "nul": "a\0b",
    "long": "a" * 300,
    "too-long": "a" * 129,
    "empty": "",
    "dash": "-a",
    "underscore": "_a",
    "hidden": ".a",
    "dot": "a.b",
    "space": "a b",
    "newline": "a\n",
    "umlaut": "ä",
    "surrogate": "\ud800",
    "con": "con",
    "nul-device": "NUL",
    "com1": "Com1",
    "lpt9": "lpt9",
    "bytes": b"a",
    "number": 7,
}
CALLS = ("create", "resume", "open", "inspect", "plan", "repair")
NAMES = ("session.json", "events-000001.jsonl", ".writer.lock")
KINDS = ("symlink", "fifo", "directory")


@pytest.fixture(autouse=True)
def no_hang() -> Iterator[None]:
    """Whoever opens a FIFO without O_NONBLOCK waits for ever."""

    def ring(number: int, frame: object) -> None:
        raise TimeoutError("this hangs")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(HANG_S)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def folder(store: safepoint.Store) -> Path:
    """The folder of a closed session of two events and a checkpoint."""
    with store.create("s") as session:
        session.append("first")
        session.checkpoint({})
    return Path(store.path) / "s"


def picture(path: Path) -> dict[str, object]:
    """Each name under `path`, what kind it is, and its bytes or target."""
    found: dict[str, object] = {}
    for name in sorted(path.rglob("*")):
        mode = os.lstat(name).st_mode
        content = name.read_bytes() if stat.S_ISREG(mode) else None
        target = os.readlink(name) if stat.S_ISLNK(mode) else None
        found[str(name.relative_to(path))] = (stat.S_IFMT(mode), content, target)
    return found


def put(kind: str, path: Path, target: Path) -> None:
    """Something else where our file or folder should be; `target` is what a symlink points at."""
    if path.exists():
        path.rename(target)
    if kind == "symlink":
        path.symlink_to(target)
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "file":
        path.write_bytes(b"not ours")
    else:
        path.mkdir()


def moved(tmp_path: Path) -> Path:
    """Where what stood there goes."""
    outside = tmp_path / "outside"
    outside.mkdir()
    return outside / "moved"


@pytest.mark.once
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("id", BAD_IDS.values(), ids=BAD_IDS)
def test_bad_id_is_refused(store: safepoint.Store, call: str, id: str) -> None:
    """An id comes from outside: as a path it would reach other people's files."""
    with pytest.raises(safepoint.SafepointError) as caught:
        getattr(store, call)(id)
    assert type(caught.value).__name__ == "InvalidIdError"
    assert isinstance(caught.value, ValueError)
    assert not Path(store.path).exists()


@pytest.mark.parametrize("id", ["a", "A-1_b", "0", "a" * 128, "console", "com", "nul-1"])
def test_good_id_is_taken(store: safepoint.Store, id: str) -> None:
    """What the documented pattern allows must work, up to its longest."""
    with store.create(id) as session:
        assert session.append("first") == 1
    assert [info.id for info in store.list()] == [id]


def test_ids_that_differ_in_case_are_one(store: safepoint.Store) -> None:
    """On a Mac and on Windows they are the same folder: a store must survive the move."""
    with store.create("Fix") as session:
        session.append("first")
    with pytest.raises(safepoint.SessionExistsError):
        store.create("fIX").append("first")
    assert os.listdir(store.path) == ["Fix"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_writers_refuse_what_is_no_file(
    store: safepoint.Store, folder: Path, tmp_path: Path, name: str, kind: str
) -> None:
    """Through a planted link a writer would append to, or read, any file of its user [CWE-59]."""
    put(kind, folder / name, moved(tmp_path))
    before = picture(tmp_path)
    for call in (store.resume, store.repair):
        with pytest.raises(safepoint.StorageError):
            call("s")
    assert picture(tmp_path) == before


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_inspect_names_what_is_no_file(
    store: safepoint.Store, folder: Path, tmp_path: Path, name: str, kind: str
) -> None:
    """Looking follows no link either; what cannot be read is never empty and never missing."""
    put(kind, folder / name, moved(tmp_path))
    before = picture(tmp_path)
    assert store.inspect("s").state == "unreadable"
    assert safepoint.inspect_file(folder).state == "unreadable"
    assert picture(tmp_path) == before


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES[:2])
def test_readers_refuse_what_is_no_file(
    store: safepoint.Store, folder: Path, tmp_path: Path, name: str, kind: str
) -> None:
    """A reader that followed a link would show another file's content as this session's."""
    put(kind, folder / name, moved(tmp_path))
    with pytest.raises(safepoint.StorageError):
        list(store.open("s").events())
    with pytest.raises(safepoint.StorageError):
        store.plan("s")


@pytest.mark.parametrize("kind", ["symlink", "fifo", "file"])
def test_what_is_no_session_folder_is_refused(
    store: safepoint.Store, folder: Path, tmp_path: Path, kind: str
) -> None:
    """A link in place of a session's folder leads out of the store."""
    put(kind, folder, moved(tmp_path))
    before = picture(tmp_path)
    for call in (store.resume, store.repair, store.open, store.plan):
        with pytest.raises(safepoint.StorageError):
            call("s")
    with pytest.raises(safepoint.StorageError):
        store.create("s").append("first")
    assert store.inspect("s").state == "unreadable"
    assert picture(tmp_path) == before


@pytest.mark.parametrize("kind", ["symlink", "fifo", "file"])
def test_what_is_no_store_is_refused(
    store: safepoint.Store, folder: Path, tmp_path: Path, kind: str
) -> None:
    """The store itself may be no link: its parents may."""
    put(kind, Path(store.path), moved(tmp_path))
    before = picture(tmp_path)
    for call in (store.resume, store.repair, store.open, store.plan):
        with pytest.raises(safepoint.StorageError):
            call("s")
    with pytest.raises(safepoint.StorageError):
        store.create("other").append("first")
    with pytest.raises(safepoint.StorageError):
        store.list()
    assert store.inspect("s").state == "unreadable"
    assert picture(tmp_path) == before


def test_parents_of_the_store_may_be_links(tmp_path: Path) -> None:
    """Home directories behind links are common: /tmp and /var are links on a Mac."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with safepoint.open_store(tmp_path / "link" / "store").create("s") as session:
        session.append("first")
    assert safepoint.open_store(tmp_path / "real" / "store").inspect("s").state == "clean"


@pytest.mark.parametrize("kind", ["symlink", "fifo", "file"])
def test_quarantine_must_be_a_folder(
    store: safepoint.Store, folder: Path, tmp_path: Path, kind: str
) -> None:
    """Cut bytes must not go where a planted link leads, nor be cut before they are kept."""
    log = folder / "events-000001.jsonl"
    log.write_bytes(log.read_bytes() + b'{"seq":3,"t')
    put(kind, folder / "quarantine", moved(tmp_path))
    (tmp_path / "outside" / "moved").mkdir()
    with pytest.raises(safepoint.StorageError):
        store.resume("s")
    assert log.read_bytes().endswith(b'{"seq":3,"t')
    assert os.listdir(tmp_path / "outside" / "moved") == []
    (folder / "quarantine").unlink()
    with store.resume("s") as session:
        assert session.append("next") == session.last_seq
    kept = [path.read_bytes() for path in (folder / "quarantine").iterdir()]
    assert kept == [b'{"seq":3,"t']


@pytest.mark.parametrize("name", ["events-000001.jsonl", ".writer.lock"])
def test_writers_refuse_a_second_link(
    store: safepoint.Store, folder: Path, tmp_path: Path, name: str
) -> None:
    """A hard link gives somebody else's file our name, and each append would go there too."""
    os.link(folder / name, tmp_path / "second")
    before = (tmp_path / "second").read_bytes()
    with pytest.raises(safepoint.StorageError):
        store.resume("s")
    assert (tmp_path / "second").read_bytes() == before


def test_readers_allow_a_second_link(store: safepoint.Store, folder: Path, tmp_path: Path) -> None:
    """While a segment is published it has two names for a moment; readers must not trip over it."""
    os.link(folder / "events-000001.jsonl", tmp_path / "second")
    assert [event.type for event in store.open("s").events()][1] == "first"
    assert store.inspect("s").state == "clean"


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o777])
def test_modes_are_private_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    """A session holds what an agent saw: nobody else may read it, and its owner always can."""
    before = os.umask(umask)
    try:
        store = safepoint.open_store(tmp_path / "store", segment_bytes=1)
        with store.create("s") as session:
            session.append("first")
            session.checkpoint({})
        log = tmp_path / "store" / "s" / "events-000002.jsonl"
        log.write_bytes(log.read_bytes() + b"{torn")
        store.resume("s").close()
    finally:
        os.umask(before)
    files = [path for path in (tmp_path / "store").rglob("*") if path.is_file()]
    folders = [tmp_path / "store", *(p for p in (tmp_path / "store").rglob("*") if p.is_dir())]
    assert {stat.S_IMODE(path.stat().st_mode) for path in folders} == {0o700}
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    assert len(files) >= 6


def as_nobody(act: Callable[[], object]) -> str:
    """What `act()` gives, or the error that it raises, in a child that is not root."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            if os.getuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            told = str(act())
        except BaseException as error:
            told = type(error).__name__
        os.write(write, told.encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    os.waitpid(pid, 0)
    return text


@pytest.fixture
def locked() -> Iterator[tuple[safepoint.Store, Path]]:
    """A store with a session, and its folder; not root's, since root may read everything."""
    base = Path(tempfile.mkdtemp())
    store = safepoint.open_store(base / "store")
    with store.create("s") as session:
        session.append("first")
    if os.getuid() == 0:
        for path in (base, *base.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
    for call in (store.inspect, store.plan, lambda id: store.list()):
        call("s")  # imports what it needs while it can be read
    yield store, base / "store" / "s"
    for path in (base, base / "store", base / "store" / "s"):
        path.chmod(0o700)
    shutil.rmtree(base)


HIDDEN = {
    "log": "events-000001.jsonl",
    "manifest": "session.json",
    "lock": ".writer.lock",
    "folder": ".",
    "store": "..",
}


@pytest.mark.parametrize("name", HIDDEN.values(), ids=HIDDEN)
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_unreadable_is_not_empty(locked: tuple[safepoint.Store, Path], name: str) -> None:
    """Who may not read must not be told that there is nothing: he would begin anew."""
    store, folder = locked
    (folder / name).chmod(0o000)
    assert as_nobody(lambda: store.inspect("s").state) == "unreadable"
    assert as_nobody(lambda: safepoint.inspect_file(folder).state) == "unreadable"


@pytest.mark.parametrize("name", HIDDEN.values(), ids=HIDDEN)
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_unreadable_is_not_absent(locked: tuple[safepoint.Store, Path], name: str) -> None:
    """resume, create and plan say StorageError, never that the session is not there."""
    store, folder = locked
    (folder / name).chmod(0o000)
    for call in (store.resume, store.repair, lambda id: store.create(id).append("first")):
        told = as_nobody(lambda call=call: call("s"))
        allowed = ("StorageError",)
        if name in ("events-000001.jsonl", "session.json"):
            allowed = ("StorageError", "SessionExistsError")
        assert told in allowed


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_unreadable_sessions_are_listed(locked: tuple[safepoint.Store, Path]) -> None:
    """A list that left them out would say that they are gone."""
    store, folder = locked
    folder.chmod(0o000)
    told = as_nobody(lambda: [(info.id, info.status) for info in store.list()])
    assert told == "[('s', 'unreadable')]"
    Path(store.path).chmod(0o000)
    assert as_nobody(store.list) == "StorageError"


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_folder_that_cannot_be_written(locked: tuple[safepoint.Store, Path]) -> None:
    """A read-only store is read all the same; a writer gets a typed error."""
    store, folder = locked
    folder.chmod(0o500)
    assert as_nobody(lambda: [e.seq for e in store.open("s").events()]) == "[0, 1]"
    assert as_nobody(lambda: store.inspect("s").state) == "clean"
    Path(store.path).chmod(0o500)
    assert as_nobody(lambda: store.create("new").append("first")) == "StorageError"


@pytest.mark.parametrize("kind", ["fifo", "directory"])
def test_files_of_others_are_looked_at_first(tmp_path: Path, kind: str) -> None:
    """`inspect FILE` and `read_file` on a FIFO must not hang, nor call it empty."""
    path = tmp_path / "log.jsonl"
    if kind == "fifo":
        os.mkfifo(path)
        assert safepoint.inspect_file(path).state == "unreadable"
    else:
        path.mkdir()
        assert safepoint.inspect_file(path).state in ("empty", "missing", "unreadable")
    with pytest.raises(safepoint.StorageError):
        list(safepoint.read_file(path))


def test_links_to_files_of_others_are_followed(tmp_path: Path) -> None:
    """People link their agents' logs: a foreign file is only read, so a link does no harm."""
    (tmp_path / "log.jsonl").write_text('{"a":1}\n')
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "log.jsonl")
    assert safepoint.inspect_file(tmp_path / "link.jsonl").records == 1
