"""Creates a session: its folder, its lock, and segment 1 with its first records, published
together.
"""

from __future__ import annotations

from .errors import (
    PoisonedError,
    SessionExistsError,
    StorageError,
    storage_error,
)
from .files import Directory, Disk
from .lock import WriterLock, take_lock
from .log import LogView, measured, roll, sweep_temporaries
from .manifest import new_manifest, read_manifest
from .mend import Opening, save_or_close
from .writer import LogWriter, Tail, timestamp


def create_session(
    disk: Disk, root_path: str, id: str, salt: str, records: list[bytes]
) -> LogWriter:
    """Publishes the session `id` in the store at `root_path`; durable on return, absent or whole
    before.

    `records` are `session.created` and the first append, whole, sealed for `salt`.
    SessionExistsError, SessionBusyError, StorageError: no session was created. PoisonedError: it
    may have been.
    """
    try:
        with disk.create_root(root_path) as root:
            _check_free(root, id)
            root.make_directory(id)
            root.sync()
            directory = root.open_directory(id)
    except OSError as error:
        raise storage_error(error, f"creating session {id}") from error
    try:
        return _create_in(disk, directory, id, salt, records)
    except OSError as error:
        directory.close()
        raise storage_error(error, f"creating session {id}") from error
    except BaseException:
        directory.close()
        raise


def find_created(disk: Disk, root_path: str, id: str, salt: str) -> LogWriter | None:
    """After a creation that did not return: the writer, if segment 1 of our salt is there."""
    try:
        with disk.open_root(root_path) as root:
            return _find_in(disk, root, root.open_directory(id), id, salt)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise storage_error(error, f"looking for session {id}") from error


def _find_in(
    disk: Disk, root: Directory, directory: Directory, id: str, salt: str
) -> LogWriter | None:
    try:
        with LogView(directory) as view:
            header = view.header(1) if view.numbers[:1] == [1] else None
        if header is not None and header.salt == salt:
            opening = Opening(disk, root, directory, id)
            writer, facts = opening.open(lambda facts: None, None, "resumed")
            facts.close()
            return writer
    except BaseException:
        directory.close()
        raise
    directory.close()
    return None


def open_directory(disk: Disk, root_path: str, id: str) -> Directory:
    """The folder of a session that is there."""
    with disk.open_root(root_path) as root:
        return root.open_directory(id)


def exists_error(id: str) -> SessionExistsError:
    """The error for a create() of what is there."""
    return SessionExistsError(f"session {id} exists: resume it, or choose another id")


def _create_in(
    disk: Disk, directory: Directory, id: str, salt: str, records: list[bytes]
) -> LogWriter:
    lock = take_lock(disk, directory)
    try:
        view = LogView(directory)
        if view.numbers or view.strangers or read_manifest(directory) is not None:
            raise exists_error(id)
        return _create_log(disk, directory, lock, id, salt, records)
    except BaseException:
        lock.restore()
        raise


def _create_log(
    disk: Disk,
    directory: Directory,
    lock: WriterLock,
    session: str,
    salt: str,
    records: list[bytes],
) -> LogWriter:
    lock.claim()
    sweep_temporaries(directory)
    now = timestamp()
    header = measured(
        session=session,
        segment=1,
        epoch=lock.owner.epoch,
        salt=salt,
        first_seq=0,
        carried=len(records),
        prev=None,
        reason="created",
        ts=now,
    )
    seqs = range(len(records))
    try:
        fd, size = roll(disk, directory, lock, header, records)
    except PoisonedError as error:
        raise _in_doubt(session, seqs) from error
    manifest = new_manifest(session, now)
    writer = LogWriter(disk, directory, lock, header, fd, Tail(size, seqs.stop), manifest)
    try:
        return save_or_close(writer, now)
    except (PoisonedError, StorageError) as error:
        raise _in_doubt(session, seqs) from error


def _in_doubt(session: str, seqs: range) -> PoisonedError:
    return PoisonedError(
        f"whether session {session} was created with seqs 0 to {seqs.stop - 1} is in doubt: "
        "resume it, or create it again if it is not found",
        seqs,
    )


def _check_free(root: Directory, id: str) -> None:
    """SessionExistsError where another session's id is the same but for upper and lower case."""
    folded = id.casefold()
    for name in root.names():
        if name != id and name.casefold() == folded:
            raise SessionExistsError(
                f"session {name} differs from {id} in case only: choose another id"
            )
