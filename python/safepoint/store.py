"""The store: a directory of sessions, one folder each."""

from __future__ import annotations

import os
import re

from . import scan
from .errors import (
    InvalidEventError,
    InvalidIdError,
    ResumeCorruptError,
    ResumeRefusedError,
    SafepointError,
    SessionNotFoundError,
    UnsafePathError,
    storage_error,
)
from .events import encode_data
from .files import Directory, Disk
from .inspection import inspect_directory, unreadable
from .log import LogView, list_segments
from .manifest import read_manifest
from .mend import Opening
from .reader import History, take_last
from .recovery import Facts, log_bytes, look
from .resume import plan
from .session import Session
from .types import Event, Inspection, Repair, ResumePlan, SessionInfo
from .writer import timestamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from typing import Any

    from .memory import Fold

SEGMENT_BYTES = 256 << 20
"""A checkpoint that ends behind this offset starts the next segment."""
DURABILITIES = ("process", "batch", "sync")
EFFECT_KINDS = ("tool", "verification")
"""Kinds of effects that a session declares where its caller names none."""
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
_RESERVED_ID = re.compile(r"(?i:con|prn|aux|nul|com[0-9]|lpt[0-9])")
"""Windows opens devices by these names, whatever the folder."""


class Store:
    """A directory of sessions. It holds no descriptors: use it from any thread or process."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        segment_bytes: int = SEGMENT_BYTES,
        disk: Disk | None = None,
    ) -> None:
        if type(segment_bytes) is not int or segment_bytes < 1:
            raise ValueError("segment_bytes must be a number of bytes, at least 1")
        self.path = os.path.abspath(os.fspath(path))
        self._segment_bytes = segment_bytes
        self._disk = Disk() if disk is None else disk

    def create(
        self,
        id: str | None = None,
        *,
        request: Any = None,
        labels: Any = None,
        durability: str = "batch",
        fold: Fold | None = None,
        default: Callable[[Any], Any] | None = None,
    ) -> Session:
        """A new session; nothing is on disk before its first append, which says if the id is taken.

        `id` is generated where it is None. `request` and `labels` are kept in its first event.
        `durability` is `process`, `batch` or `sync`. `default(value)` converts what JSON has no
        type for. InvalidIdError, InvalidEventError.
        """
        id = _new_id() if id is None else check_id(id)
        created = {"request": request, "labels": labels, "effect_kinds": list(EFFECT_KINDS)}
        encode_data(created, default)
        return self._session(id, durability, fold, default, created)

    def resume(
        self,
        id: str,
        *,
        durability: str = "batch",
        fold: Fold | None = None,
        default: Callable[[Any], Any] | None = None,
    ) -> Session:
        """Opens a session to go on with it: mends what a crash left, restores the state, takes the
        lock.

        Costs what was appended since the newest checkpoint, at any size. On return everything that
        it brought back is durable. It refuses, and changes nothing, with InvalidIdError,
        SessionNotFoundError, SessionBusyError, ResumeRefusedError (a finished session),
        ResumeCorruptError, TooNewError and UnsafePathError. StorageError and PoisonedError say that
        the disk or another writer came between: no event is lost, resume again.
        """
        session = self._session(check_id(id), durability, fold, default, None)

        def record(facts: Facts, repairs: list[Repair], seed: int) -> bytes:
            data = {"repairs": [repair.as_dict() for repair in repairs]}
            raw, seq, watermark = encode_data(data), facts.end.seq, facts.watermark
            return scan.seal_record(
                seq, timestamp(), "session.resumed", None, raw, -1, watermark, seed
            )

        with self._root(id) as root, _storage(f"opening session {id}"):
            directory = _open_begun(root, id)
            try:
                opening = Opening(self._disk, root, directory, id)
                writer, facts = opening.open(_refuse(id), record, "resumed")
            except BaseException:
                directory.close()
                raise
        facts.close()
        try:
            session.adopt(writer, facts.checkpoint, facts.start, opening.repairs)
        except BaseException:
            writer.close()
            raise
        return session

    def open(self, id: str) -> Reader:
        """A read-only handle, beside a live writer too; looks at the newest header only.

        InvalidIdError, SessionNotFoundError, TooNewError, StorageError.
        """
        with self._root(check_id(id)) as root, _storage(f"opening session {id}"):
            _open_begun(root, id).close()
        return Reader(self, id)

    def inspect(self, id: str, tick: Callable[[int], object] | None = None) -> Inspection:
        """What is in the session, every record looked at; changes nothing and never raises for
        content.
        """
        path = os.path.join(self.path, check_id(id))
        try:
            with self._disk.open_root(self.path) as root, root.open_directory(id) as directory:
                return inspect_directory(directory, id, scan.Effort(check_data=True, tick=tick))
        except (OSError, SafepointError) as error:
            return unreadable(path, error)

    def plan(self, id: str) -> ResumePlan:
        """What resume would do and why; changes nothing. Costs as little as resume itself.

        SessionNotFoundError, TooNewError, StorageError.
        """
        with self._directory(check_id(id)) as directory, _storage(f"reading session {id}"):
            with look(directory, whole=False) as facts:
                return plan(facts)

    def repair(self, id: str) -> list[Repair]:
        """Mends what resume would mend and appends nothing; the cut bytes are in `quarantine/`.

        Raises as `resume`, but mends a finished session too.
        """
        with self._root(check_id(id)) as root, _storage(f"mending session {id}"):
            directory = _open_begun(root, id)
            try:
                opening = Opening(self._disk, root, directory, id)
                writer, facts = opening.open(_refuse(id, finished="allowed"), None, "repaired")
            except BaseException:
                directory.close()
                raise
            facts.close()
            writer.close()
            return opening.repairs

    def list(self) -> list[SessionInfo]:
        """The sessions of the store by id, from their manifests, else from newest header and tail.

        A folder that cannot be read has status `unreadable`; one in which nothing was begun is left
        out. StorageError if the store itself cannot be read; one that is not there is empty.
        """
        with _storage(f"listing {self.path}"):
            try:
                root = self._disk.open_root(self.path)
            except FileNotFoundError:
                return []
            with root:
                found = (self._info(root, name) for name in root.names() if _ID.fullmatch(name))
                return [info for info in found if info is not None]

    def _info(self, root: Directory, id: str) -> SessionInfo | None:
        try:
            directory = root.open_directory(id)
        except UnsafePathError:
            return None
        except OSError:
            return SessionInfo(id, "unreadable", None, None, 0, {})
        with directory:
            try:
                return _info_of(directory, id)
            except (OSError, SafepointError):
                return SessionInfo(id, "unreadable", None, None, 0, {})

    def _session(
        self,
        id: str,
        durability: str,
        fold: Fold | None,
        default: Callable[[Any], Any] | None,
        created: dict[str, Any] | None,
    ) -> Session:
        if durability not in DURABILITIES:
            raise InvalidEventError(f"durability is one of {', '.join(DURABILITIES)}")
        return Session(
            self._disk,
            self.path,
            id,
            durability=durability,
            segment_bytes=self._segment_bytes,
            fold=fold,
            default=default,
            created=created,
        )

    def _root(self, id: str) -> Directory:
        try:
            return self._disk.open_root(self.path)
        except FileNotFoundError:
            raise _not_found(id) from None
        except OSError as error:
            raise storage_error(error, f"opening {self.path}") from error

    def _directory(self, id: str) -> Directory:
        with self._root(id) as root:
            return _open_session(root, id)


class Reader:
    """Reads one session without writing a byte. It holds no descriptors between calls."""

    def __init__(self, store: Store, id: str) -> None:
        self.id = id
        self._history = History(lambda: store._directory(id))

    def events(
        self,
        start: int = 0,
        stop: int | None = None,
        reverse: bool = False,
        types: Collection[str] | None = None,
    ) -> Iterator[Event]:
        """The events with start <= seq < stop, in order or newest first, of the given types only.

        Beside a live writer it ends at the last whole batch. Of a corrupt session it yields what
        stands before the damage, then raises CorruptLogError. StorageError if the disk fails.
        """
        return self._history.events(start, stop, reverse, types)

    def last(self, n: int = 10, types: Collection[str] | None = None) -> list[Event]:
        """The newest `n` events, oldest first.

        Costs what it returns and a walk over what follows the newest checkpoint.
        """
        return take_last(self.events(reverse=True, types=types), n)

    def close(self) -> None:
        """Does nothing: there is nothing to give back."""

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def open_store(path: str | os.PathLike[str], segment_bytes: int = SEGMENT_BYTES) -> Store:
    """A store in the directory `path`, which is made (mode 0700) by the first append.

    `segment_bytes`: a checkpoint that ends behind this offset starts the next segment. ValueError
    unless it is at least 1.
    """
    return Store(path, segment_bytes=segment_bytes)


def check_id(id: str) -> str:
    """The id itself. InvalidIdError unless it is one."""
    if not isinstance(id, str) or not _ID.fullmatch(id) or _RESERVED_ID.fullmatch(id):
        raise InvalidIdError(
            "a session id is 1 to 128 letters, digits, - and _, begins with a letter or digit, "
            "and is no device name of Windows: choose another one"
        )
    return id


class _storage:
    """Turns what the file system raises inside it into a StorageError."""

    def __init__(self, doing: str) -> None:
        self._doing = doing

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):
            raise storage_error(error, self._doing) from error


def _refuse(id: str, finished: str = "refused") -> Callable[[Facts], None]:
    """The decision of an opening: raises where the plan refuses."""

    def decide(facts: Facts) -> None:
        verdict = plan(facts)
        reasons = [r for r in verdict.reasons if (r.code, finished) != ("finished", "allowed")]
        if not reasons:
            return
        message = f"session {id}: " + "; ".join(reason.message for reason in reasons)
        if reasons[0].code == "empty":
            raise _not_found(id)
        if verdict.finding is not None:
            raise ResumeCorruptError(message, verdict, verdict.finding)
        raise ResumeRefusedError(message, verdict)

    return decide


def _open_session(root: Directory, id: str) -> Directory:
    try:
        return root.open_directory(id)
    except FileNotFoundError:
        raise _not_found(id) from None
    except OSError as error:
        raise storage_error(error, f"opening session {id}") from error


def _open_begun(root: Directory, id: str) -> Directory:
    """The folder, if a session was begun in it; a lock file must not be made in any other."""
    directory = _open_session(root, id)
    try:
        with LogView(directory) as view:
            if view.numbers:
                view.header(view.newest)
            elif not view.strangers and read_manifest(directory) is None:
                raise _not_found(id)
        return directory
    except BaseException:
        directory.close()
        raise


def _not_found(id: str) -> SessionNotFoundError:
    return SessionNotFoundError(f"there is no session {id}: create it, or look at store.list()")


def _new_id() -> str:
    """A generated id that sorts by the time it was made."""
    now = timestamp()
    return f"{now[:10].replace('-', '')}-{now[11:19].replace(':', '')}-{os.urandom(4).hex()}"


def _info_of(directory: Directory, id: str) -> SessionInfo | None:
    numbers = list_segments(directory)
    manifest = read_manifest(directory)
    if not numbers and manifest is None:
        return None
    size = log_bytes(directory, numbers)
    if manifest is None or not numbers:
        return _info_from_log(directory, id, size)
    return SessionInfo(
        id, manifest.status, manifest.created_at, manifest.updated_at, size, manifest.info
    )


def _info_from_log(directory: Directory, id: str, size: int) -> SessionInfo:
    """A row for a session that lost its manifest."""
    with look(directory, whole=False) as facts:
        numbers = facts.view.numbers
        first = facts.view.header(numbers[0]) if numbers else None
        status = "corrupt" if facts.state == "corrupt" else facts.status
        return SessionInfo(id, status, first.ts if first else None, _updated_at(facts), size, {})


def _updated_at(facts: Facts) -> str | None:
    header = facts.view.header(facts.last_segment) if facts.last is not None else None
    if header is None or facts.last is None:
        return None
    _, offset, length = facts.last
    record = scan.parse_record(
        scan.read_exactly(facts.view.fd(facts.last_segment), offset, length), header.seed
    )
    return record[1] if record else None
