"""Opens a log for writing: makes the disk agree with what recovery decided, and destroys nothing.

The order is that of docs/FORMAT.md, "Opening for writing". A new segment carries what was not known
durable; what a segment holds behind its recorded end goes to `quarantine/` before it is cut away.
"""

from __future__ import annotations

import os
from itertools import pairwise

from . import scan
from .errors import PoisonedError
from .files import Directory, Disk, append, check_file
from .lock import WriterLock, take_lock
from .log import (
    Header,
    LogView,
    SegmentTakenError,
    carried_lines,
    find_batch,
    list_segments,
    next_header,
    roll,
    segment_entry,
    segment_name,
    sweep_temporaries,
)
from .manifest import MANIFEST_NAME, Manifest, new_manifest
from .recovery import Facts, Place, examine
from .types import Repair
from .writer import LogWriter, Tail, timestamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

LOOKS_MAX = 16
"""How often the log may change between a look and the roll that follows it before we give up."""
COPY_BYTES = 1 << 20
QUARANTINE = "quarantine"


class Opening:
    """One opening of a session for writing, from the lock to the writer."""

    def __init__(self, disk: Disk, parent: Directory, directory: Directory, session: str) -> None:
        self._disk = disk
        self._parent = parent
        self._directory = directory
        self._session = session
        self.repairs: list[Repair] = []
        """What was mended, with the names of quarantine files once they are written."""

    def open(
        self,
        decide: Callable[[Facts], None],
        record_mend: Callable[[Facts, list[Repair], int], bytes] | None,
        reason: str,
    ) -> tuple[LogWriter, Facts]:
        """Locks, looks, asks `decide` (which raises to refuse), mends, and gives the writer and the
        facts.

        `record_mend(facts, repairs, seed)` seals the record of a mend, which the roll carries as
        its last. The caller closes the facts. SessionBusyError, StorageError, PoisonedError.
        """
        lock = take_lock(self._disk, self._directory)
        try:
            lock.claim()
            for _ in range(LOOKS_MAX):
                try:
                    return self._open_once(lock, decide, record_mend, reason)
                except SegmentTakenError:
                    continue
            raise PoisonedError("the log kept changing while it was opened: try again")
        except BaseException:
            lock.restore()
            raise

    def _open_once(
        self,
        lock: WriterLock,
        decide: Callable[[Facts], None],
        record_mend: Callable[[Facts, list[Repair], int], bytes] | None,
        reason: str,
    ) -> tuple[LogWriter, Facts]:
        sweep_temporaries(self._directory)
        numbers = list_segments(self._directory)
        for name in (MANIFEST_NAME, *map(segment_name, numbers)):
            check_file(self._directory, name)
        self._directory.sync()
        self._parent.sync()
        facts = examine(self._directory, writer="idle", whole=False)
        try:
            if facts.view.numbers != numbers:
                raise SegmentTakenError
            decide(facts)
            newest = facts.view.header(facts.view.newest)
            assert newest is not None
            known = facts.manifest.epoch if facts.manifest else 0
            lock.claim(1 + max(known, newest.epoch))
            self.repairs = planned_repairs(facts)
            writer = self._writer(lock, facts, newest, record_mend, reason)
            try:
                self._tidy(writer)
            except BaseException:
                writer.close()
                raise
            return writer, facts
        except BaseException:
            facts.close()
            raise

    def _writer(
        self,
        lock: WriterLock,
        facts: Facts,
        newest: Header,
        record_mend: Callable[[Facts, list[Repair], int], bytes] | None,
        reason: str,
    ) -> LogWriter:
        manifest = facts.manifest or _rebuilt(self._session, facts)
        # A lock file that is new or wiped may have been removed under a writer that lives on.
        if is_whole(facts) and not lock.must_roll and lock.found is not None:
            lock.check()
            if list_segments(self._directory) != facts.view.numbers:
                raise SegmentTakenError
            fd = self._directory.open_append(segment_name(newest.segment))
            tail = Tail(facts.end.offset, facts.end.seq)
            writer = LogWriter(self._disk, self._directory, lock, newest, fd, tail, manifest)
            if facts.manifest is None or manifest.durable["segment"] != newest.segment:
                _fill(manifest, facts, None)
                return save_or_close(writer, timestamp())
            return writer
        return self._rolled(lock, facts, newest, record_mend, reason, manifest)

    def _rolled(
        self,
        lock: WriterLock,
        facts: Facts,
        newest: Header,
        record_mend: Callable[[Facts, list[Repair], int], bytes] | None,
        reason: str,
        manifest: Manifest,
    ) -> LogWriter:
        """Carries what was not known durable into a new segment."""
        place = roll_place(facts, newest)
        mends = record_mend is not None and bool(self.repairs)
        carried = facts.end.seq - place.seq + mends
        now = timestamp()
        header = next_header(
            newest, lock.owner.epoch, place.offset, place.seq, carried, reason, now
        )

        def records():
            fd = facts.view.fd(newest.segment)
            yield from carried_lines(fd, place.offset, facts.end.offset, header.salt)
            if mends:
                yield record_mend(facts, self.repairs, header.seed)

        fd, size = roll(self._disk, self._directory, lock, header, records())
        tail = Tail(size, place.seq + carried)
        writer = LogWriter(self._disk, self._directory, lock, header, fd, tail, manifest)
        _fill(manifest, facts, (newest, header))
        try:
            _name_carried_checkpoint(writer, facts, place)
        except BaseException:
            writer.close()
            raise
        return save_or_close(writer, now)

    def _tidy(self, writer: LogWriter) -> None:
        """Cuts away what stands behind the end of old segments; quarantine names go into the
        repairs.
        """
        with LogView(self._directory) as view:
            for number in view.numbers[:-1]:
                known = _known_end(writer.manifest, number)
                size = self._directory.stat(segment_name(number)).st_size
                if size == known:
                    continue
                end = view.end(number)
                if size > end:
                    self._note(number, end, size, self._cut(view, number, end, size))

    def _note(self, number: int, end: int, size: int, quarantine: str | None) -> None:
        mine = [mend for mend in self.repairs if mend.segment == number and mend.offset >= end]
        for mend in mine:
            mend.quarantine = quarantine
        if not mine and quarantine is not None:
            self.repairs.append(Repair("tidied", number, end, size - end, quarantine))

    def _cut(self, view: LogView, number: int, end: int, size: int) -> str | None:
        """Truncates one old segment to its end, once its bytes are kept elsewhere; durable on
        return.
        """
        carried = _is_carried(view, number, end, size)
        name = (
            None if carried else keep_aside(self._disk, self._directory, view.fd(number), end, size)
        )
        fd = self._directory.open_append(segment_name(number))
        try:
            self._disk.truncate(fd, end)
            self._disk.sync(fd)
        finally:
            self._disk.close(fd)
        return name


def save_or_close(writer: LogWriter, now: str) -> LogWriter:
    """The writer, once its manifest is saved; closed where that fails."""
    try:
        writer.save(now)
    except BaseException:
        writer.close()
        raise
    return writer


def is_whole(facts: Facts) -> bool:
    """Whether the log may be appended to in place: W = V = end of file, behind a newline."""
    newest = facts.view.newest
    if facts.watermark != facts.end.seq or facts.end.segment != newest:
        return False
    size = facts.view.size(newest)
    if facts.end.offset != size:
        return False
    return scan.read_exactly(facts.view.fd(newest), size - 1, 1) == b"\n"


def roll_place(facts: Facts, newest: Header) -> Place:
    """E: where W begins, or earlier where no newline stands before that."""
    fd, place = facts.view.fd(newest.segment), facts.end
    if facts.watermark < place.seq:
        place = _batch_place(fd, newest, place, facts.watermark)
    if scan.read_exactly(fd, place.offset - 1, 1) != b"\n":
        place = _batch_place(fd, newest, place, place.seq - 1)
    return place


def _batch_place(fd: int, newest: Header, behind: Place, seq: int) -> Place:
    found = find_batch(fd, newest.length, behind.offset, newest.seed, behind.seq, seq)
    if found is None:
        raise SegmentTakenError
    return Place(newest.segment, *found)


def planned_repairs(facts: Facts) -> list[Repair]:
    """What opening the log for writing would mend."""
    return [
        Repair(found.kind, found.segment or 0, found.offset, found.length)
        for found in facts.findings
        if not found.information and found.kind != "undecodable"
    ]


def keep_aside(disk: Disk, directory: Directory, fd: int, start: int, stop: int) -> str:
    """Copies [start, stop) into `quarantine/` under its SHA-256, durable on return; gives that
    name.
    """
    import hashlib

    directory.make_directory(QUARANTINE)
    directory.sync()
    with directory.open_directory(QUARANTINE) as aside:
        sweep_temporaries(aside)
        temporary = f".quarantine.{os.urandom(8).hex()}.tmp"
        copy, digest = aside.create_file(temporary), hashlib.sha256()
        try:
            while start < stop:
                part = scan.read_exactly(fd, start, min(COPY_BYTES, stop - start))
                append(disk, copy, part)
                digest.update(part)
                start += len(part)
            disk.sync(copy)
        finally:
            disk.close(copy)
        aside.replace(temporary, digest.hexdigest())
        aside.sync()
    return digest.hexdigest()


def _is_carried(view: LogView, number: int, end: int, size: int) -> bool:
    """Whether [end, size) of an old segment is what the next one begins with, CRCs aside."""
    following = view.header(number + 1)
    if following is None:
        return False
    fd, offset, count = view.fd(number + 1), following.length, 0
    try:
        for line in carried_lines(view.fd(number), end, size, following.salt):
            if scan.read_exactly(fd, offset, len(line)) != line:
                return False
            offset += len(line)
            count += 1
    except ValueError:
        return False
    if count == following.carried:
        return True
    added = scan.parse_record(_line_at(view, number + 1, offset), following.seed)
    return count + 1 == following.carried and added is not None and added[2] == "session.resumed"


def _line_at(view: LogView, number: int, offset: int) -> bytes:
    lines = scan.lines_forward(view.fd(number), offset, view.size(number), 1)
    return scan.read_exactly(view.fd(number), *lines[0][:2]) if lines else b""


def _rebuilt(session: str, facts: Facts) -> Manifest:
    """A manifest for a session that lost its own: the log tells all but the caller's info."""
    headers = [facts.view.header(number) for number in facts.view.numbers]
    created = headers[0].ts if headers[0] else timestamp()
    manifest = new_manifest(session, created)
    for before, following in pairwise(headers):
        if before is not None and following is not None:
            manifest.segments.append(segment_entry(before, following))
    return manifest


def _fill(manifest: Manifest, facts: Facts, closed: tuple[Header, Header] | None) -> None:
    """Notes the checkpoint of the run, and the segment that a roll closed."""
    found = facts.checkpoint
    if found is not None:
        manifest.checkpoint = {
            "segment": found.segment,
            "seq": found.seq,
            "offset": found.offset,
            "bytes": found.length,
            "crc": found.crc,
        }
    else:
        manifest.checkpoint = None
    manifest.status = facts.status
    if closed is not None:
        entry = segment_entry(*closed)
        kept = [one for one in manifest.segments if one["segment"] < entry["segment"]]
        manifest.segments = [*kept, entry]


def _name_carried_checkpoint(writer: LogWriter, facts: Facts, place: Place) -> None:
    """A checkpoint that the roll carried is named where it stands now."""
    found = facts.checkpoint
    if found is None or found.segment != place.segment or found.offset < place.offset:
        return
    offset = writer.header.length + found.offset - place.offset
    writer.name_checkpoint(found.seq, offset, found.length)


def _known_end(manifest: Manifest, number: int) -> int:
    for entry in manifest.segments:
        if entry["segment"] == number:
            return entry["end"]
    return -1
