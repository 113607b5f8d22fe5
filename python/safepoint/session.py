"""A session that is being written: append, checkpoint, finish, and what a resume brought back."""

from __future__ import annotations

import os
import sys
from _thread import RLock
from contextlib import suppress
from time import time_ns

from . import scan
from .batch import check_caller_type, seal_batch, too_large
from .checkpoint import Checkpoint
from .creation import create_session, find_created, open_directory
from .durability import Durability
from .errors import (
    InvalidEventError,
    PoisonedError,
    SafepointError,
    SequenceError,
    SessionClosedError,
    StorageError,
)
from .events import Encoder, encode_key
from .files import Disk
from .memory import Memory
from .reader import History, take_last
from .recovery import Place
from .scan import LINE_BYTES_MAX, seal_event
from .types import Event, Repair
from .upkeep import UPKEEP
from .writer import LogWriter, timestamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from typing import Any

    from .batch import Item
    from .memory import Fold

STATUSES = ("completed", "failed", "cancelled")
_UNSET = object()
_class_of = type
"""For methods that have a parameter `type`."""


class Session:
    """One writer's handle. Its public methods may be called from several threads.

    It comes from `store.create` or `store.resume`; `with` closes it and does nothing else.
    """

    def __init__(
        self,
        disk: Disk,
        root_path: str,
        id: str,
        *,
        durability: str,
        segment_bytes: int,
        fold: Fold | None,
        default: Callable[[Any], Any] | None,
        created: dict[str, Any] | None = None,
    ) -> None:
        self.id = id
        self.repairs: list[Repair] = []
        """What resume mended, each with its place and the quarantine file of the cut bytes."""
        self._disk = disk
        self._root_path = root_path
        self._durability = Durability(durability)
        self._segment_bytes = segment_bytes
        self._encode = Encoder(default).encode
        self._types: set[str] = set()
        """Types that the caller used, each checked once."""
        self._created = created
        """The data of `session.created`, until the session is on disk."""
        self._lock = RLock()
        """Held by whatever changes the session; taken before the writer's own, never behind it."""
        self._writer: LogWriter | None = None
        self._free: LogWriter | None = None
        """The writer while an append may go straight to it: nothing is to be settled or refused,
        and no fold wants to see the event. Whoever takes it leaves None until the append is done,
        so that the next call settles what came between.
        """
        self._closed = False
        self._writing = False
        """Inside a write: an append from a signal handler must not come between."""
        self._salt: str | None = None
        """Of the segment 1 that a creation in progress may have published."""
        self._memory = Memory(fold)
        self._history = History(lambda: open_directory(disk, root_path, id))
        self._opened: tuple[Place | None, int] = (None, -1)
        """Where the events behind the checkpoint begin that we resumed from, and its `upto`."""
        self._doubt: PoisonedError | None = None
        """Why a creation left the handle useless: whether the session is on disk is not known."""

    def append(
        self,
        type: str,
        data: Any = None,
        *,
        key: str | None = None,
        expect_seq: int | None = None,
        sync: bool = False,
    ) -> int:
        """Appends one event and returns its seq.

        `data` is any JSON value. `key`: an event of that key among the newest 1,024 gives its seq
        back and writes nothing. `expect_seq`: SequenceError unless the event would get that seq. On
        return the event survives a kill -9, and a power loss too at level `sync`, with `sync=True`,
        and for the first append.

        Raises InvalidEventError, SequenceError, SessionClosedError, SessionExistsError or
        SessionBusyError (the first append of a new session), StorageError, StorageFullError:
        nothing was written. PoisonedError: its seqs are in doubt.
        """
        if _class_of(type) is not str or type not in self._types:
            check_caller_type(type, self._types)
        raw = self._encode(data)
        raw_key = None if key is None else encode_key(key)
        try:
            with self._lock:
                writer = self._free
                plain = key is None and expect_seq is None and not self._writing
                if writer is not None and plain:
                    try:
                        self._writing = True
                        self._free = None
                        seq = writer.end[1]
                        watermark, seed = writer.watermark, writer.seed
                        record = seal_event(seq, time_ns(), type, raw, watermark, seed)
                        if len(record) > LINE_BYTES_MAX:
                            raise too_large(len(record))
                        writer.append(record, 1)
                    finally:
                        self._writing = False
                    self._free = writer
                else:
                    seq = self._write_unless_known((type, raw, key, raw_key), expect_seq)
                    writer = self._begun()
            self._durability.confirm(writer, seq + 1, sync)
        except BaseException:
            self._durability.sync_what_stayed(self._writer)
            raise
        return seq

    def append_many(self, events: Iterable[tuple[str, Any]], *, sync: bool = False) -> range:
        """Appends (type, data) pairs as one atomic batch and returns the range of their seqs.

        After a crash all of them are there or none. At most 64 MiB. A reserved type or a value that
        cannot be encoded refuses the whole batch. Raises and is durable as `append`.
        """
        items: list[Item] = []
        for type, data in events:
            if _class_of(type) is not str or type not in self._types:
                check_caller_type(type, self._types)
            items.append((type, self._encode(data), None, None))
        try:
            with self._lock:
                self._ready()
                first = self._write(items) if items else self._stop()
            if items:
                self._confirm(first + len(items), sync)
        except BaseException:
            self._durability.sync_what_stayed(self._writer)
            raise
        return range(first, first + len(items))

    def checkpoint(self, state: Any = _UNSET, *, upto: int | None = None) -> int:
        """Writes the full resumable state and returns the checkpoint's seq; durable on return.

        `state` is the state as of event `upto`, by default the last one. With a fold give neither.
        Resume starts from the newest checkpoint, so it costs no more than what was appended since.
        Raises as `append`; SequenceError where `upto` lies before that of the last checkpoint, or
        ahead.
        """
        with self._lock:
            self._ready()
            writer = self._begun()
            last = writer.next_seq - 1
            state, version = self._state_to_write(state, upto)
            upto = last if upto is None else upto
            lowest = self._memory.upto
            if type(upto) is not int or not lowest <= upto <= last:
                raise SequenceError(f"upto={upto}: it must be from {lowest} to {last}")
            data = {
                "upto": upto,
                "state": state,
                "fold": version,
                "effects": [],
                "approvals": [],
                "keys": self._memory.newest_keys(),
            }
            return self._write_checkpoint(self._encode(data), upto, state)

    def sync(self) -> None:
        """On return every event appended before the call is on stable storage.

        PoisonedError if it failed.
        """
        with self._lock:
            self._ready(finished="allowed")
            writer = self._writer
        if writer is not None:
            writer.sync()

    def finish(self, status: str = "completed") -> int:
        """Ends the session as `completed`, `failed` or `cancelled`; durable on return. Gives the
        record's seq.

        No more events can be appended, and resume refuses. Raises as `append`.
        """
        if status not in STATUSES:
            raise InvalidEventError(f"a session finishes as one of {', '.join(STATUSES)}")
        with self._lock:
            self._ready()
            writer = self._begun()
            seq = self._write([("session.finished", self._encode({"status": status}), None, None)])
            writer.retire()
            writer.sync()
            writer.manifest.status = status
            writer.save_if_possible()
        return seq

    def close(self) -> None:
        """Syncs, saves the manifest and gives the writer lock back. A second call does nothing.

        PoisonedError if the last sync failed; the lock is free all the same.
        """
        with self._lock:
            self._closed, self._free = True, None
            writer = self._writer
            if writer is None:
                return
            writer.retire()
            try:
                UPKEEP.discard(self)
                if writer.is_open:
                    self._settle()
                    if not writer.poisoned:
                        writer.check()
                        writer.check_end()
                        writer.sync()
                        if writer.manifest_is_behind:
                            writer.save_if_possible()
            finally:
                writer.close()

    def events(
        self,
        start: int = 0,
        stop: int | None = None,
        reverse: bool = False,
        types: Collection[str] | None = None,
    ) -> Iterator[Event]:
        """The events with start <= seq < stop, in order or newest first, of those types only.

        CorruptLogError where damage is met, StorageError if the disk fails.
        """
        with self._lock:
            self._settle()
            begun = self._writer is not None
        return self._history.events(start, stop, reverse, types) if begun else iter(())

    def last(self, n: int = 10, types: Collection[str] | None = None) -> list[Event]:
        """The newest `n` events, oldest first.

        Costs what it returns and a walk over what follows the newest checkpoint.
        """
        return take_last(self.events(reverse=True, types=types), n)

    def replay(self) -> Iterator[Event]:
        """The events that `state` does not contain, in order, without checkpoints.

        With a fold there are none. Raises as `events`.
        """
        with self._lock:
            self._settle()
            place, upto = self._opened
            if upto != self._memory.upto:
                place, upto = None, self._memory.upto
            if self._writer is None or self._memory.fold is not None:
                return iter(())
        events = self._history.behind(place, upto)
        return (event for event in events if event.type != "checkpoint")

    @property
    def state(self) -> Any:
        """With a fold the live state; else that of the newest checkpoint, None before the first.

        As every look at the session it first settles an append that a Ctrl-C cut short.
        """
        with self._lock:
            self._settle()
            return self._memory.state

    @property
    def last_seq(self) -> int:
        """The seq of the last event in the log, -1 before the first append."""
        with self._lock:
            self._settle()
            return self._stop() - 1

    @property
    def durable_seq(self) -> int:
        """The last seq known to be on stable storage, -1 if none. It never falls."""
        writer = self._writer
        return -1 if writer is None else writer.watermark - 1

    def abandon_after_fork(self) -> None:
        """In a forked child: closes what belongs to the parent; every later call raises
        PoisonedError.
        """
        self._outlive_threads()
        if self._writer is not None:
            self._writer.abandon("the process was forked, and its parent writes the session")

    def __enter__(self) -> Session:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        try:
            self.close()
        except SafepointError as problem:
            if error is None:
                raise
            error.add_note(f"safepoint: {problem}")

    def __del__(self) -> None:
        with suppress(Exception):
            if sys.is_finalizing():
                self._outlive_threads()
            self.close()

    def _outlive_threads(self) -> None:
        """In a forked child, or at the interpreter's end: gives up locks of threads that died."""
        self._lock = RLock()
        self._writing, self._free = False, None
        if self._writer is not None:
            self._writer.outlive_threads()

    def adopt(
        self,
        writer: LogWriter,
        checkpoint: Checkpoint | None,
        start: Place,
        repairs: list[Repair],
    ) -> None:
        """Makes this handle the writer of an opened session: state and keys come from the log."""
        self._writer = writer
        self._created = None
        self.repairs = repairs
        self._opened = (start, checkpoint.upto if checkpoint else -1)
        history = self._history
        self._memory.restore(checkpoint, lambda: history.behind(start, -1))
        UPKEEP.add(self)

    # What follows is called with the lock held, but for `_confirm`.

    def _ready(self, finished: str = "refused") -> None:
        """Settles what an interruption left, then refuses where nothing can be written."""
        if self._closed:
            raise SessionClosedError("this session handle is closed: resume the session")
        if self._writing:
            raise SafepointError("a session cannot be used from inside its own append")
        if self._doubt is not None:
            raise self._doubt
        self._settle()
        if self._writer is not None:
            self._writer.check()
        if self._memory.finished and finished == "refused":
            raise SessionClosedError("this session is finished: create a new one")

    def _settle(self) -> None:
        """Decides an interrupted append, then lets keys and fold see what is in the log."""
        if self._writing:
            return
        if self._writer is None and self._salt is not None:
            self._writer = find_created(self._disk, self._root_path, self.id, self._salt)
            if self._writer is not None:
                UPKEEP.add(self)
            self._salt = None
        if self._writer is not None:
            self._writer.settle()
        self._memory.absorb(self._stop())

    def _write_unless_known(self, item: Item, expect_seq: int | None) -> int:
        """Appends one event and gives its seq, or that of the event that has its key."""
        self._ready()
        type, _, key, _ = item
        try:
            self._writing = True
            known = None if key is None else self._memory.known(key, type)
            if known is not None:
                return known
            if expect_seq is not None and expect_seq != (self._stop() or 1):
                raise SequenceError(
                    f"expect_seq={expect_seq}, but the next event gets {self._stop() or 1}. "
                    "Nothing was written."
                )
            return self._write([item])
        finally:
            self._writing = False

    def _write(self, items: list[Item], checkpoint: tuple[int, Any] | None = None) -> int:
        """Appends encoded events as one batch; gives the seq of the first.

        `checkpoint` is (upto, state) where the event is one.
        """
        self._free = None
        try:
            self._writing = True
            if self._writer is None:
                first = self._create(items)
            else:
                first = self._writer.next_seq
                watermark, seed = self._writer.watermark, self._writer.seed
                records = self._seal(items, first, watermark, seed, checkpoint)
                self._writer.append(b"".join(records), len(items))
        finally:
            self._writing = False
        self._memory.absorb(self._stop())
        if self._memory.fold is None and not self._memory.finished:
            self._free = self._writer
        return first

    def _seal(
        self,
        items: list[Item],
        first: int,
        watermark: int,
        seed: int,
        checkpoint: tuple[int, Any] | None = None,
    ) -> list[bytes]:
        """The records of one batch; notes their events as pending."""
        records, events = seal_batch(items, first, watermark, seed, timestamp())
        self._memory.note(events, checkpoint)
        return records

    def _begun(self) -> LogWriter:
        """The writer; creates the session with its first record alone where nothing was appended
        yet.
        """
        if self._writer is None:
            self._write([])
        assert self._writer is not None
        return self._writer

    def _create(self, items: list[Item]) -> int:
        """Publishes the session with `session.created` and the first append; durable on return."""
        self._salt = os.urandom(8).hex()
        seed = scan.seed_of(self._salt)
        created = ("session.created", self._encode(self._created), None, None)
        records = self._seal([created], 0, 0, seed) + self._seal(items, 1, 0, seed)
        try:
            self._writer = create_session(self._disk, self._root_path, self.id, self._salt, records)
        except PoisonedError as error:
            self._salt, self._doubt = None, error
            raise
        except SafepointError:
            self._salt = None
            raise
        self._salt = None
        UPKEEP.add(self)
        return 1

    def _write_checkpoint(self, raw: bytes, upto: int, state: Any) -> int:
        writer = self._begun()
        offset = writer.tail.offset
        seq = self._write([("checkpoint", raw, None, None)], (upto, state))
        writer.check_end()
        writer.sync()
        writer.name_checkpoint(seq, offset, writer.tail.offset - offset)
        if writer.tail.offset >= self._segment_bytes:
            with suppress(StorageError):
                writer.rotate(timestamp(), seq, offset, upto)
        writer.save_if_possible()
        return seq

    def _state_to_write(self, state: Any, upto: int | None) -> tuple[Any, Any]:
        """(the state, the fold's version) that a checkpoint holds."""
        fold = self._memory.fold
        if fold is None:
            if state is _UNSET:
                raise InvalidEventError("without a fold, give checkpoint() the state to keep")
            return state, None
        if state is not _UNSET or upto is not None:
            raise InvalidEventError("with a fold, checkpoint() takes no state: the fold has it")
        return fold.dump(self._memory.state), fold.version

    def _stop(self) -> int:
        """The seq behind the end of the log, 0 before it is there."""
        return 0 if self._writer is None else self._writer.next_seq

    def _confirm(self, stop: int, sync: bool) -> None:
        """What the level asks for behind an append that ends before seq `stop`."""
        assert self._writer is not None
        self._durability.confirm(self._writer, stop, sync)
