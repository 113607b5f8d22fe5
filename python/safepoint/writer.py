"""The writer of one log: appends whole batches, syncs, rotates, and never leaves a record in doubt
unsaid.

A LogWriter is told records that are sealed already. It knows three things that are always true:
bytes before `tail.offset` are whole records; seqs below `watermark` are on stable storage;
`pending` is what an interrupted append may have left behind the tail.
"""

from __future__ import annotations

import os
import time
from _thread import RLock
from contextlib import suppress

from . import scan
from .errors import PoisonedError, SessionClosedError, StorageError, storage_error
from .files import Directory, Disk, append
from .lock import WriterLock
from .log import (
    Header,
    SegmentTakenError,
    carried_lines,
    find_batch,
    next_header,
    roll,
    segment_entry,
    segment_name,
)
from .manifest import Manifest, save_manifest
from .types import Value

CARRY_BYTES_MAX = 4 << 20
"""A rotation carries at most this much, so that it costs little and resume still opens one file."""


class Tail(Value):
    """The end of the log: the next record goes to `offset` and gets `next_seq`. Replaced whole,
    never changed.
    """

    FIELDS = ("offset", "next_seq")
    __slots__ = FIELDS

    def __init__(self, offset: int, next_seq: int) -> None:
        self.offset = offset
        self.next_seq = next_seq


class LogWriter:
    """Appends to the active segment under the writer lock.

    The session serialises the calls, but for `sync`.
    """

    def __init__(
        self,
        disk: Disk,
        directory: Directory,
        lock: WriterLock,
        header: Header,
        fd: int,
        tail: Tail,
        manifest: Manifest,
    ) -> None:
        self._disk = disk
        self.directory = directory
        self.lock = lock
        self.header = header
        self._fd = fd
        self.end = (tail.offset, tail.next_seq)
        """Offset and next seq of the tail: replaced together, so that threads see no other pair."""
        self.watermark = tail.next_seq
        """W: all seqs below it are on stable storage. A log is opened with all of it durable."""
        self.manifest = manifest
        """What the manifest says, or will say at the next save."""
        self._saved = (manifest.durable["segment"], manifest.durable["seq"])
        """The segment and W that the manifest on disk names."""
        self.seed = header.seed
        self.synced_offset = tail.offset
        """Bytes of the active segment that the last sync covered: what follows is unsynced."""
        self._pending: tuple[int, int] | None = None
        """What `end` becomes once an append is whole that has not been settled."""
        self._syncing = RLock()
        """Held while the file is synced or swapped for the next segment."""
        self._round = RLock()
        """Held by whoever will sync for all that wait for it: they wrote before that sync begins.
        Replaced when it begins, so that who comes later waits for the next one.
        """
        self._rolling = False
        """From before a new segment may exist until this writer appends to it."""
        self._retired = False
        """Whether the session was finished or closed: nothing is appended any more."""
        self._odd = False
        """Whether an append must look closer: poisoned, retired, or in a rotation. It may stay on
        for one append too many, never for one too few.
        """
        self._poison: str | None = None
        """Why nothing can be written any more, None while it can."""
        self._doubt = range(0)
        """The seqs that may or may not be on disk, once poisoned."""

    @property
    def tail(self) -> Tail:
        """Where the log ends now."""
        return Tail(*self.end)

    @property
    def next_seq(self) -> int:
        """The seq behind the end of the log."""
        return self.end[1]

    def append(self, records: bytes, count: int) -> None:
        """One write(2) of `count` sealed records. StorageError: they are not in the log.

        Durable after the next sync only. An interruption leaves them to `settle`.
        """
        if self._odd:
            self._check_append()
        offset, seq = self.end
        length = len(records)
        self._pending = end = (offset + length, seq + count)
        try:
            taken = self._disk.write(self._fd, records)
            if taken != length:
                append(self._disk, self._fd, memoryview(records)[taken:])
        except OSError as error:
            self._take_back(error)
        self.end = end
        self._pending = None

    def settle(self) -> None:
        """Decides an append that an interruption cut short: wholly in the file it stays, else it is
        cut away.
        """
        pending = self._pending
        if pending is None or self._poison is not None:
            return
        if self.end is not pending:
            if os.fstat(self._fd).st_size == pending[0]:
                self.end = pending
            else:
                self._truncate(self.end[0])
        self._pending = None

    def sync(self, stop: int | None = None) -> None:
        """On return every record below seq `stop` is on stable storage; by default all that were in
        the log before the call. One sync serves all threads that wait for it.

        PoisonedError if the sync failed (it is never tried again on that file) or the lock was
        taken over.
        """
        if stop is None or self._syncing._is_owned():  # type: ignore[attr-defined]
            # Under the session's lock nobody may wait for a round: its leader may be in a signal
            # handler that waits for that lock. Or we are above a sync of this very thread.
            with self._syncing:
                self._sync_below(self.next_seq if stop is None else stop)
            return
        if self.watermark >= stop:
            return
        with self._round:
            # Whoever comes here first leads. Where a leader failed, the next one finds out why.
            if self.watermark < stop:
                with self._syncing:
                    self._round = RLock()
                    self._sync_below(stop)

    def _sync_below(self, stop: int) -> None:
        """`sync` with the lock held."""
        if self.watermark >= stop:
            return
        self.check()
        offset, next_seq = self.end
        try:
            self._disk.sync(self._fd)
        except OSError as error:
            self.poison(f"sync of the log failed ({error.strerror})", self.next_seq)
            raise self._poisoned() from error
        if not self.lock.is_current_file():
            self.poison("the writer lock was taken over", self.next_seq)
            raise self._poisoned()
        self._check_segment(offset)
        if self.watermark < next_seq:
            self.watermark, self.synced_offset = next_seq, offset

    def check_end(self) -> None:
        """PoisonedError if the log does not end where we wrote last: somebody else changed it."""
        size = os.fstat(self._fd).st_size
        if size != self.tail.offset:
            self.poison("the log was changed under it", self.next_seq)
            raise self._poisoned()

    def save(self, now: str) -> None:
        """Saves the manifest; the log must have been synced. Durable on return."""
        manifest = self.manifest
        manifest.updated_at = now
        manifest.epoch = self.lock.owner.epoch
        manifest.durable = {
            "segment": self.header.segment,
            "seq": self.watermark,
            "offset": self.synced_offset,
        }
        try:
            save_manifest(self._disk, self.directory, self.lock, manifest)
        except OSError as error:
            raise storage_error(error, "saving the manifest") from error
        self._saved = (manifest.durable["segment"], manifest.durable["seq"])

    def save_if_possible(self) -> None:
        """Saves the manifest, a cache: where that fails, the next save brings it up to date."""
        with suppress(StorageError):
            self.save(timestamp())

    @property
    def manifest_is_behind(self) -> bool:
        """Whether the log was synced further than the last saved manifest says."""
        return self._saved != (self.header.segment, self.watermark)

    def name_checkpoint(self, seq: int, offset: int, length: int) -> None:
        """The next manifest names this checkpoint record of the active segment."""
        seal = scan.read_exactly(self._fd, offset + length - 11, 8)
        self.manifest.checkpoint = {
            "segment": self.header.segment,
            "seq": seq,
            "offset": offset,
            "bytes": length,
            "crc": seal.decode("ascii"),
        }

    def rotate(self, now: str, checkpoint_seq: int, offset: int, upto: int) -> None:
        """Starts the next segment right behind a checkpoint record at `offset`, which must be
        synced.

        Carries the checkpoint and what resume needs before it, where that is little. StorageError:
        nothing changed, the active segment goes on.
        """
        end, first_seq = self._rotation_end(checkpoint_seq, offset, upto)
        carried = self.next_seq - first_seq
        epoch = self.lock.owner.epoch
        header = next_header(self.header, epoch, end, first_seq, carried, "rotated", now)
        records = carried_lines(self._fd, end, self.tail.offset, header.salt)
        seed = header.seed
        with self._syncing:
            self._odd = self._rolling = True
            try:
                fd, size = roll(self._disk, self.directory, self.lock, header, records)
            except SegmentTakenError:
                self.poison("another writer started the next segment", self.next_seq)
                raise self._poisoned() from None
            except PoisonedError:
                self.poison("the next segment may or may not be there", self.watermark)
                raise
            except OSError as error:
                self._rolling = False
                raise storage_error(error, "starting the next segment") from error
            old, tail = self._fd, (size, self.next_seq)
            self.manifest.segments.append(segment_entry(self.header, header))
            # No call stands in these assignments, so no Ctrl-C can come between them.
            self._fd, self.header, self.seed = fd, header, seed
            self.end, self.synced_offset, self._rolling = tail, size, False
            self._disk.close(old)
        if carried:
            moved = header.length + offset - end
            self.name_checkpoint(checkpoint_seq, moved, size - moved)

    @property
    def unsynced_bytes(self) -> int:
        """Bytes of the active segment that the last sync did not cover."""
        return self.end[0] - self.synced_offset

    @property
    def is_open(self) -> bool:
        """Whether the log can still be written: `close` was not called, or did not get that far."""
        return self._fd >= 0

    @property
    def poisoned(self) -> bool:
        """Whether nothing can be written any more."""
        return self._poison is not None

    def check(self) -> None:
        """PoisonedError if the writer is poisoned."""
        if self._rolling:
            self._settle_rotation()
        if self._poison is not None:
            raise self._poisoned()

    def retire(self) -> None:
        """From now on an append raises SessionClosedError: the session was finished or closed, even
        if by a signal handler in the middle of that append.
        """
        self._odd = self._retired = True

    def _check_append(self) -> None:
        """PoisonedError or SessionClosedError where nothing may be appended."""
        self.check()
        if self._retired:
            raise SessionClosedError("this session was finished or closed: nothing was written")
        self._odd = False

    def poison(self, why: str, next_seq: int) -> None:
        """Nothing is written from now on; the seqs from the watermark up to `next_seq` are in
        doubt.
        """
        if self._poison is None:
            self._doubt = range(min(self.watermark, next_seq), next_seq)
            self._odd, self._poison = True, why

    def close(self) -> None:
        """Closes the log and gives the lock back. A second call ends what a Ctrl-C cut short."""
        try:
            self._close_log()
        finally:
            self.lock.release()
            self.directory.close()

    def abandon(self, why: str) -> None:
        """Closes all descriptors without writing a byte: in a forked child, which owns none."""
        self.poison(why, self.next_seq)
        self._close_log()
        self.lock.close()
        self.directory.close()

    def outlive_threads(self) -> None:
        """Gives up the locks of threads that are gone."""
        self._syncing, self._round = RLock(), RLock()

    def _close_log(self) -> None:
        fd, self._fd = self._fd, -1
        if fd >= 0:
            self._disk.close(fd)

    def _rotation_end(self, seq: int, offset: int, upto: int) -> tuple[int, int]:
        """(E, first seq behind it): the boundary at or before `upto + 1` if near, else the end of
        the log.
        """
        if upto + 1 == seq:
            return offset, seq
        begin = max(self.header.length, offset - CARRY_BYTES_MAX)
        found = find_batch(self._fd, begin, offset, self.seed, seq, upto + 1)
        if found is None or begin == found[0] != self.header.length:
            return self.end
        return found

    def _check_segment(self, offset: int) -> None:
        """PoisonedError unless the active segment's name still leads to our bytes."""
        try:
            found = self.directory.stat(segment_name(self.header.segment))
        except OSError:
            found = None
        ours = os.fstat(self._fd)
        if found is None or found.st_ino != ours.st_ino or found.st_size < offset:
            self.poison("its log was removed or cut", self.next_seq)
            raise self._poisoned()

    def _settle_rotation(self) -> None:
        """After a rotation that did not return: poisons if the next segment may be there.

        Until that is decided the rotation stays open, whatever ends this call or comes beside it.
        """
        try:
            self.directory.stat(segment_name(self.header.segment + 1))
        except FileNotFoundError:
            self._rolling = False
            return
        except OSError:
            pass
        self.poison("a rotation was interrupted", self.watermark)
        self._rolling = False

    def _take_back(self, error: OSError) -> None:
        """After a failed write: truncates back to the last whole record, then raises."""
        offset = self.tail.offset
        self._truncate(offset)
        self._pending = None
        if not self.lock.is_current_file():
            self.poison("the writer lock was taken over", self.next_seq)
            raise self._poisoned() from error
        raise storage_error(error, "appending to the log") from error

    def _truncate(self, offset: int) -> None:
        """Cuts what stands behind the tail, durably, or poisons and leaves `must_roll` set."""
        try:
            self.lock.set_must_roll()
            self._disk.truncate(self._fd, offset)
            self._disk.sync(self._fd)
            self.lock.clear_must_roll()
        except OSError as error:
            last = self._pending[1] if self._pending else self.next_seq
            self.poison(f"a failed append could not be taken back ({error.strerror})", last)
            raise self._poisoned() from error

    def _poisoned(self) -> PoisonedError:
        seqs = self._doubt
        if seqs:  # and what another thread was writing meanwhile
            seqs = range(seqs.start, max(seqs.stop, self.next_seq))
        doubt = f"; seqs {seqs.start} to {seqs.stop - 1} are in doubt" if seqs else ""
        return PoisonedError(
            f"this writer stopped: {self._poison}{doubt}. Close the session and resume it.", seqs
        )


def timestamp() -> str:
    """Now, as a record's `ts`: UTC, RFC 3339, microseconds."""
    return scan.format_timestamp(time.time_ns() // 1000)  # type: ignore[no-any-return]
