"""The log: segments, their headers, and `roll`, the one primitive that changes what the log is.

A log is `events-000001.jsonl`, `events-000002.jsonl`, …; the highest number is the active one. Line
1 of a segment is its header. `prev.end` in a header says where the segment before it ends, for
ever.
"""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress

from . import scan
from .errors import PoisonedError, TooNewError
from .files import Directory, Disk, append, unlink_quietly
from .lock import WriterLock
from .manifest import FORMAT_VERSION
from .types import Finding, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

SEGMENT_PREFIX = "events-"
HEADER_BYTES_MAX = 65536
"""No header of ours comes near it; a longer first line is no header."""
_HEADER_BYTES = 1024
"""One read of so much gets every header of ours."""
SEQ_MAX = 1 << 59
"""Above every number that a record can hold (18 digits)."""
NUMBER_DIGITS_MAX = 18
COPY_BYTES = 1 << 20
"""Records are gathered to about this size before a write of a roll."""
SEGMENT_SUFFIX = ".jsonl"
_TEMPORARY = re.compile(r"\.(?:events-[0-9]{6,}|session|quarantine)\.[0-9a-f]{16}\.tmp")


class SegmentTakenError(Exception):
    """The number of a new segment exists already: somebody rolled; look at the log again."""


class Header(Value):
    """A segment's first line. `prev` is (salt, end) of the segment before, None in segment 1."""

    FIELDS = (
        "session",
        "segment",
        "epoch",
        "salt",
        "first_seq",
        "carried",
        "prev",
        "reason",
        "ts",
    )
    __slots__ = (*FIELDS, "length")
    session: str
    segment: int
    epoch: int
    salt: str
    first_seq: int
    carried: int
    prev: tuple[str, int] | None
    reason: str
    ts: str

    def __init__(self, *, length: int = 0, **fields: Any) -> None:
        for name in self.FIELDS:
            setattr(self, name, fields[name])
        self.length = length
        """Bytes of the line, newline included: where the records begin."""

    @property
    def seed(self) -> int:
        """The CRC seed of the segment's records."""
        return scan.seed_of(self.salt)

    @property
    def durable(self) -> int:
        """All seqs below it were on stable storage when the segment got its name."""
        return self.first_seq + self.carried

    def encode(self) -> bytes:
        """The sealed line."""
        prev = self.prev and {"salt": self.prev[0], "end": self.prev[1]}
        members = {"safepoint": FORMAT_VERSION, **self.as_dict(), "prev": prev}
        return scan.seal(json.dumps(members, separators=(",", ":")).encode("ascii")[:-1], 0)


def measured(**fields: Any) -> Header:
    """A new header that knows the length of its own line."""
    header = Header(**fields)
    header.length = len(header.encode())
    return header


def next_header(
    before: Header, epoch: int, end: int, first_seq: int, carried: int, reason: str, now: str
) -> Header:
    """The header of the segment that follows `before`, which ends at `end` for ever."""
    return measured(
        session=before.session,
        segment=before.segment + 1,
        epoch=epoch,
        salt=os.urandom(8).hex(),
        first_seq=first_seq,
        carried=carried,
        prev=(before.salt, end),
        reason=reason,
        ts=now,
    )


def segment_entry(before: Header, following: Header) -> dict[str, int]:
    """A manifest's entry for a segment that the header of the next one closed."""
    end = following.prev[1] if following.prev else 0
    return {"segment": before.segment, "first_seq": before.first_seq, "end": end}


def decode_header(line: bytes) -> Header | None:
    """The header in a sealed line, or None where it does not verify.

    TooNewError for a newer format.
    """
    if not scan.check_seal(line, 0):
        return None
    try:
        members = json.loads(line.decode("utf-8"))
        if type(members["safepoint"]) is int and members["safepoint"] > FORMAT_VERSION:
            raise TooNewError(
                f"format version {members['safepoint']} is newer than this safepoint reads "
                f"({FORMAT_VERSION}): install a newer one. Nothing was changed."
            )
        prev = members["prev"]
        members["prev"] = None if prev is None else (prev["salt"], prev["end"])
        header = Header(length=len(line), **{name: members[name] for name in Header.FIELDS})
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return header if _fits(header) else None


def _fits(header: Header) -> bool:
    """Whether the members have the shapes that the rest relies on."""
    prev_salt, prev_end = header.prev or (header.salt, 0)
    numbers = (header.segment, header.epoch, header.first_seq, header.carried, prev_end)
    words = (header.salt, prev_salt, header.session, header.ts)
    return all(type(n) is int and 0 <= n < SEQ_MAX for n in numbers) and all(
        type(word) is str and word.isascii() for word in words
    )


def segment_name(number: int) -> str:
    """The file name of segment `number`."""
    return f"events-{number:06d}.jsonl"


def list_segments(directory: Directory) -> list[int]:
    """The numbers of the segment files in `directory`, in order."""
    return _numbers(directory.names())


def _numbers(names: list[str]) -> list[int]:
    """The numbers of the names that are exactly what `segment_name` gives for one, in order."""
    numbers = []
    for name in names:
        if name.startswith(SEGMENT_PREFIX) and name.endswith(SEGMENT_SUFFIX):
            digits = name[len(SEGMENT_PREFIX) : -len(SEGMENT_SUFFIX)]
            is_number = digits.isascii() and digits.isdigit() and len(digits) <= NUMBER_DIGITS_MAX
            number = int(digits) if is_number else 0
            if number > 0 and segment_name(number) == name:
                numbers.append(number)
    return sorted(numbers)


def sweep_temporaries(directory: Directory) -> None:
    """Unlinks temporary names that a crash left behind. Only the lock's holder may call it."""
    for name in directory.names():
        if _TEMPORARY.fullmatch(name):
            directory.unlink(name)


class LogView:
    """The segments of one session as one look found them, opened when asked for; read-only."""

    def __init__(self, directory: Directory) -> None:
        self._fds: dict[int, int] = {}
        self.directory = directory
        names = directory.names()
        self.numbers = _numbers(names)
        self.strangers = not self.numbers and any(n.startswith(SEGMENT_PREFIX) for n in names)
        """Whether there are files called like segments, but none that is one."""
        self._sizes: dict[int, int] = {}
        self._headers: dict[int, Header | None] = {}
        self._problems: dict[int, Finding] = {}

    @property
    def newest(self) -> int:
        """The number of the active segment."""
        return self.numbers[-1]

    def fd(self, number: int) -> int:
        """A descriptor of the segment, owned by this view."""
        if number not in self._fds:
            self._fds[number] = self.directory.open_read(segment_name(number))
        return self._fds[number]

    def size(self, number: int) -> int:
        """Bytes of the segment file when it was first asked for."""
        if number not in self._sizes:
            self._sizes[number] = os.fstat(self.fd(number)).st_size
        return self._sizes[number]

    def header(self, number: int) -> Header | None:
        """The segment's header; None where there is none that verifies and names this number."""
        if number not in self._headers:
            self._headers[number] = self._read_header(number)
        return self._headers[number]

    def problem(self, number: int) -> Finding | None:
        """What is wrong with the segment's header, None if nothing is."""
        self.header(number)
        return self._problems.get(number)

    def end(self, number: int) -> int:
        """Where the segment ends: at its successor's `prev.end`, or at the end of its file."""
        if number == self.newest:
            return self.size(number)
        following = self.header(number + 1) if number + 1 in self.numbers else None
        if following is None or following.prev is None:
            return self.size(number)
        return min(int(following.prev[1]), self.size(number))

    def close(self) -> None:
        """Closes what it opened; numbers, sizes and headers already read stay."""
        fds, self._fds = self._fds, {}
        for fd in fds.values():
            os.close(fd)

    def __enter__(self) -> LogView:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _read_header(self, number: int) -> Header | None:
        line, newline = _first_line(self.fd(number), min(self.size(number), HEADER_BYTES_MAX))
        header = decode_header(line + newline) if newline else None
        if header is None:
            kind = scan.check_json(line) if newline else "torn"
            kind = "crc" if kind == "ok" else kind
        elif header.segment != number or (header.prev is None) != (number == 1):
            kind, header = "foreign", None
        else:
            return header
        self._problems[number] = Finding(kind, 0, len(line + newline), number)
        return None


def _first_line(fd: int, stop: int) -> tuple[bytes, bytes]:
    """(the first line, its newline) within `stop` bytes; what stands there where none ends."""
    head = scan.read_exactly(fd, 0, min(stop, _HEADER_BYTES))
    if b"\n" not in head and stop > _HEADER_BYTES:
        head = scan.read_exactly(fd, 0, stop)
    line, newline, _ = head.partition(b"\n")
    return line, newline


def find_batch(
    fd: int, start: int, stop: int, seed: int, behind: int, seq: int
) -> tuple[int, int] | None:
    """(offset, first seq) of the batch that holds `seq`, looked for backwards from `stop`.

    `behind` is the seq of the record at `stop`. None where damage comes first. A batch that begins
    at `start` itself is believed: where records stand before `start`, the caller must not.
    """
    for found, more, offset in _records_backward(fd, start, stop, seed, behind):
        if found == seq:
            return (offset, seq) if more < 0 else _batch_begin(fd, start, seed, offset, seq, more)
    return None


def _batch_begin(
    fd: int, start: int, seed: int, offset: int, seq: int, more: int
) -> tuple[int, int] | None:
    """Goes back from a record with `more` behind it to the first one of its batch."""
    for earlier, remaining, begin in _records_backward(fd, start, offset, seed, seq):
        if remaining != more + 1:
            return offset, seq
        offset, seq, more = begin, earlier, remaining
    return (offset, seq) if offset == start else None


def _records_backward(
    fd: int, start: int, stop: int, seed: int, behind: int
) -> Iterator[tuple[int, int, int]]:
    """(seq, more, offset) of the records before `stop`, newest first, up to the first damage.

    A sealed record whose members cannot be read has the seq that its place gives it.
    """
    while stop > start:
        for offset, length, _ in scan.lines_backward(fd, start, stop, 64):
            record = scan.record_at(fd, offset, offset + length, seed)
            behind -= 1
            if record is None or record[0] not in (behind, -1):
                return
            yield behind, record[1], offset
            stop = offset


def carried_lines(fd: int, start: int, stop: int, salt: str) -> Iterator[bytes]:
    """The records of [start, stop), every byte kept but the CRC, which gets the seed of `salt`."""
    seed = scan.seed_of(salt)
    while start < stop:
        lines = scan.lines_forward(fd, start, stop, 1024)
        if not lines:
            return
        for offset, length, _ in lines:
            yield scan.reseal(scan.read_exactly(fd, offset, length), seed)
            start = offset + length


def roll(
    disk: Disk,
    directory: Directory,
    lock: WriterLock,
    header: Header,
    records: Iterable[bytes],
) -> tuple[int, int]:
    """Publishes a new segment: (descriptor to append with, size in bytes).

    `records` are the `header.carried` lines that it begins with, sealed for its salt. They and the
    name are durable on return. SegmentTakenError if another segment came since the caller looked,
    OSError if the disk refuses: the log is as it was. PoisonedError if the lock is no longer ours,
    or if the sync of the directory failed, which is never tried again: then the segment may or may
    not be there after a crash.
    """
    name = segment_name(header.segment)
    temporary = f".{name[:-6]}.{os.urandom(8).hex()}.tmp"
    fd = directory.create_file(temporary)
    try:
        size = _append_all(disk, fd, header.encode(), records)
        disk.sync(fd)
        lock.check()
        if max(list_segments(directory), default=0) != header.segment - 1:
            raise SegmentTakenError
        _publish(directory, temporary, name)
        if lock.must_roll:
            with suppress(OSError):  # it asks the next opening for a roll too many, no more
                lock.clear_must_roll()
    except BaseException:
        disk.close(fd)
        unlink_quietly(directory, temporary)
        raise
    return fd, size


def _publish(directory: Directory, temporary: str, name: str) -> None:
    try:
        directory.link(temporary, name)
    except (FileExistsError, FileNotFoundError):
        raise SegmentTakenError from None
    unlink_quietly(directory, temporary)
    try:
        directory.sync()
    except OSError as error:
        raise PoisonedError(
            f"the new segment {name} could not be made durable: reopen the session to see "
            "whether it was"
        ) from error


def _append_all(disk: Disk, fd: int, first: bytes, records: Iterable[bytes]) -> int:
    gathered, pending, size = [first], len(first), 0
    for record in records:
        gathered.append(record)
        pending += len(record)
        if pending >= COPY_BYTES:
            append(disk, fd, b"".join(gathered))
            gathered, size, pending = [], size + pending, 0
    if gathered:
        append(disk, fd, b"".join(gathered))
    return size + pending
