"""Reads the events of one session, beside its writer too, and never writes.

Forward, every batch that is given came out of one read, so that a writer that takes a failed append
back can never be seen half. Damage is believed when two reads in a row give the same bytes and the
same segments.
"""

from __future__ import annotations

import os

from . import scan
from .errors import CorruptLogError, storage_error
from .events import decode_data, decode_key
from .files import Directory
from .lock import read_owner, writer_state
from .log import Header, LogView
from .recovery import Facts, Place, finding_of, look
from .types import Event, Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    _Record = tuple[int, str, str, bytes | None, bytes, int, int]
    _Run = tuple[range, list[_Record]]
    """Seqs, and the record of each as `scan.parse_records` gives it."""

READ_BYTES = 256 << 10
"""One read; a longer line has one of its own, and it is doubled for a batch that does not fit."""
READ_BYTES_MAX = 2 * scan.LINE_BYTES_MAX
"""No batch of ours needs a larger read."""
LINES_MIN = 16
LINES_MAX = 256
"""A backward pass frames few lines first, and more at a time as it goes on."""
LOOKS_MAX = 50
"""How often the end of a log that is being written may change before its watermark is believed."""


class LogReader:
    """Walks forward batch by batch from a place in the log, over the ends of segments."""

    def __init__(self, directory: Directory, place: Place) -> None:
        self._directory = directory
        self._view = LogView(directory)
        self._number = place.segment
        self._offset = place.offset
        """A batch boundary: what lies before it was given, or lies before where we began."""
        self._is_from_first = place.seq == 0
        """Whether every record of the log was read, so that no walk need begin before ours."""
        self.next_seq = place.seq
        """The first seq that was not given yet."""
        self._seq = place.seq
        """The seq of the record at `_offset`: lower than `next_seq` where a segment begins with
        carried records that were given already.
        """

    def runs(self) -> Iterator[_Run]:
        """The records of one read at a time, of whole batches only, up to the end of the log.

        CorruptLogError for damage below the watermark.
        """
        before = None
        looks = 0
        while True:
            data, run, used = self._read_batches()
            if used:
                del data
                self._offset += used
                yield run
                continue
            if self._go_on():
                continue
            seen = (self._offset, data, self._view.numbers)
            if seen != before:
                before = seen
                self._refresh()
                continue
            place = Place(self._number, self._offset, self._seq)
            last = self._last_without_newline(data)
            if last is not None:
                data = b""
                yield last
            if self._is_at_end(place, data) or looks >= LOOKS_MAX:
                return
            looks += 1
            before = None
            self._refresh()

    def close(self) -> None:
        """Closes the segments that are open."""
        self._view.close()

    def _read_batches(self) -> tuple[bytes, _Run, int]:
        """One read's worth: (what was read, the records of its whole batches, their bytes)."""
        want = READ_BYTES
        header = self._view.header(self._number) if self._number in self._view.numbers else None
        if header is None:
            raise self._corrupt(self._header_problem())
        if self._offset < header.length:
            self._check_salt(header)
            self._offset, self._seq = header.length, header.first_seq
        fd = self._view.fd(self._number)
        while True:
            limit = self._limit() - self._offset
            data = os.pread(fd, max(0, min(want, limit)), self._offset)
            run, used, stuck = self._parse(data, header.seed)
            if used or stuck or len(data) < want or want > READ_BYTES_MAX:
                return data, run, used
            near = min(limit, scan.LINE_BYTES_MAX + 2)
            lines = scan.lines_forward(fd, self._offset, self._offset + near, 1)
            longest = lines[0][1] if lines else 0
            if longest > scan.LINE_BYTES_MAX + 1:
                return data, run, used
            want = longest if want < longest else 2 * want

    def _check_salt(self, header: Header) -> None:
        """CorruptLogError for a segment that does not follow the one before it."""
        number = self._number - 1
        before = self._view.header(number) if number in self._view.numbers else None
        if before is not None and (header.prev is None or header.prev[0] != before.salt):
            raise self._corrupt(Finding("foreign", 0, header.length, self._number))

    def _limit(self) -> int:
        """Where the segment ends for ever, or how far the active one goes right now."""
        if self._number != self._view.newest:
            return self._view.end(self._number)
        return os.fstat(self._view.fd(self._number)).st_size

    def _parse(self, data: bytes, seed: int) -> tuple[_Run, int, bool]:
        """(records of whole batches, their bytes, whether what follows is not the next one)."""
        first, given = self._seq, self.next_seq
        if first > given:
            return (range(0), []), 0, True
        records = scan.parse_records(data, seed)
        used = end = 0
        seq, more = first, -1
        for found, _, _, _, _, left, stop in records:
            if found not in (seq, -1):
                break
            # What was given already is passed over record by record.
            if left != more - 1 if more > 0 else left == 0 and seq >= given:
                break
            seq, end, more = seq + 1, stop, left
            if left <= 0 or seq <= given:
                self._seq, used, more = seq, stop, -1
        else:
            stuck = data.find(b"\n", end) >= 0
            return self._run(first, records), used, stuck
        return self._run(first, records), used, True

    def _run(self, first: int, records: list[_Record]) -> _Run:
        """What of records from seq `first` on was not given, up to the last whole batch."""
        seqs = range(self.next_seq, max(self.next_seq, self._seq))
        self.next_seq = seqs.stop
        return seqs, records[seqs.start - first : seqs.stop - first]

    def _go_on(self) -> bool:
        """Goes over to the next segment where this one has ended; whether it did."""
        if self._number == self._view.newest or self._offset < self._view.end(self._number):
            return False
        self._number += 1
        self._offset = 0
        return True

    def _refresh(self) -> None:
        """Looks at the list of segments again; a new one says where ours ends."""
        self._view.close()
        self._view = LogView(self._directory)

    def _last_without_newline(self, data: bytes) -> _Run | None:
        """The last batch of a log at rest counts although its newline is missing."""
        header = self._view.header(self._number)
        if not data or data.endswith(b"\n") or self._number != self._view.newest or not header:
            return None
        if writer_state(read_owner(self._directory)) == "live":
            return None
        run, used, _ = self._parse(data + b"\n", header.seed)
        return run if used == len(data) + 1 else None

    def _is_at_end(self, place: Place, rest: bytes) -> bool:
        """Whether nothing durable follows. CorruptLogError if something durable does not verify."""
        start = place if self._is_from_first else None
        with look(self._directory, whole=False, start=start) as facts:
            if facts.state == "corrupt" and facts.watermark <= self.next_seq and facts.damage:
                raise self._corrupt(facts.damage)
            if facts.watermark <= self.next_seq:
                return True
            if facts.writer == "live" and facts.end.seq > self.next_seq and not rest:
                return False
        raise self._corrupt(self._damage(rest))

    def _damage(self, rest: bytes) -> Finding:
        header = self._view.header(self._number)
        if rest and header is not None:
            fd, stop = self._view.fd(self._number), self._limit()
            found = scan.walk(fd, self._offset, stop, header.seed, self.next_seq, False)[6]
            damage = [finding_of(self._number, one) for one in found]
            for one in damage:
                if not one.information:
                    return one
        return Finding("short", self._offset, 0, self._number)

    def _header_problem(self) -> Finding:
        if self._number not in self._view.numbers:
            return Finding("missing", 0, 0, self._number)
        return self._view.problem(self._number) or Finding("missing", 0, 0, self._number)

    def _corrupt(self, finding: Finding) -> CorruptLogError:
        return corrupt_error(self._directory.path, finding)


class History:
    """The events of one session, whose folder is opened anew for each reading."""

    def __init__(self, open_directory: Callable[[], Directory]) -> None:
        self._open_directory = open_directory

    def events(
        self, start: int, stop: int | None, reverse: bool, types: Collection[str] | None
    ) -> Iterator[Event]:
        """The events with start <= seq < stop, of those types. StorageError if the disk fails."""
        read = read_backward if reverse else read_forward
        types = (types,) if isinstance(types, str) else types
        wanted = None if types is None else frozenset(types)
        try:
            with self._open_directory() as directory:
                for seqs, records in read(directory, start, stop):
                    for seq, record in zip(seqs, records, strict=True):
                        if wanted is None or record[2] in wanted:
                            yield event_of(seq, record)
        except OSError as error:
            raise storage_error(error, "reading events") from error

    def behind(self, place: Place | None, upto: int) -> Iterator[Event]:
        """The events with seq > `upto`, from a batch boundary before them; checkpoints come too."""
        try:
            with self._open_directory() as directory:
                reader = LogReader(directory, place or place_before(directory, upto + 1))
                try:
                    for seqs, records in reader.runs():
                        for seq, record in zip(seqs, records, strict=True):
                            if seq > upto:
                                yield event_of(seq, record)
                finally:
                    reader.close()
        except OSError as error:
            raise storage_error(error, "reading events") from error


def take_last(newest_first: Iterator[Event], n: int) -> list[Event]:
    """The first `n` of an iterator that runs backward, oldest first."""
    return [event for _, event in zip(range(n), newest_first, strict=False)][::-1]


def read_forward(directory: Directory, start: int, stop: int | None) -> Iterator[_Run]:
    """The records with start <= seq < stop, in order, those of one read at a time."""
    reader = LogReader(directory, place_before(directory, start))
    try:
        for seqs, records in reader.runs():
            begin = max(0, start - seqs.start)
            end = len(seqs) if stop is None else max(0, stop - seqs.start)
            yield seqs[begin:end], records[begin:end]
            if end < len(seqs):
                return
    finally:
        reader.close()


def read_backward(directory: Directory, start: int, stop: int | None) -> Iterator[_Run]:
    """The records with start <= seq < stop, newest first, those of one read at a time.

    CorruptLogError where damage is met.
    """
    below = stop
    before = None
    while True:
        with look(directory, whole=False) as facts:
            try:
                for seqs, records in _log_backward(facts, start):
                    begin = 0 if below is None else max(0, seqs.start + 1 - below)
                    if begin < len(seqs):
                        below = seqs[-1]
                        yield seqs[begin:], records[begin:]
                return
            except CorruptLogError as error:
                # A writer may have rolled and cut since the look: only a second one is believed.
                seen = (facts.view.numbers, error.finding)
                if seen == before:
                    raise
                before = seen


def _log_backward(facts: Facts, start: int) -> Iterator[_Run]:
    """The records of the run that `facts` found, from its end down to `start`."""
    path = facts.view.directory.path
    if facts.state == "corrupt":
        raise corrupt_error(path, facts.damage or Finding("short", 0, 0, facts.end.segment))
    number, end, expected = facts.end.segment, facts.end.offset, facts.end.seq
    while number in facts.view.numbers and expected > start:
        for seqs, records in _segment_backward(facts.view, number, end, expected):
            expected = seqs[-1]
            count = seqs.start + 1 - max(start, expected)
            yield seqs[:count], records[:count]
            if expected < start:
                return
        number -= 1
        end = facts.view.end(number) if number in facts.view.numbers else 0
    if expected > start:
        raise corrupt_error(path, Finding("missing", 0, 0, number))


def _segment_backward(view: LogView, number: int, end: int, expected: int) -> Iterator[_Run]:
    header = view.header(number)
    if header is None:
        raise corrupt_error(
            view.directory.path, view.problem(number) or Finding("missing", 0, 0, number)
        )
    fd, lines_max = view.fd(number), LINES_MIN
    while end > header.length:
        lines = scan.lines_backward(fd, header.length, end, lines_max)
        lines_max = min(2 * lines_max, LINES_MAX)
        end = lines[-1][0]
        blocks = _blocks(lines)
        while blocks:
            block = blocks.pop()
            records = _block_backward(fd, header.seed, block, expected)
            if records:
                yield range(expected - 1, expected - 1 - len(records), -1), records
                expected -= len(records)
            elif len(block) > 1:
                blocks += [[line] for line in reversed(block)]
            else:
                finding = _line_finding(view, number, *block[0][:2], expected)
                raise corrupt_error(view.directory.path, finding)


def _blocks(lines: list[tuple[int, int, bool]]) -> list[list[tuple[int, int, bool]]]:
    """Lines, newest first, as stretches of about one read; the newest of them last."""
    blocks: list[list[tuple[int, int, bool]]] = []
    stop = 0
    for line in lines:
        if not blocks or stop - line[0] > READ_BYTES:
            blocks.append([])
            stop = line[0] + line[1]
        blocks[-1].append(line)
    return blocks[::-1]


def _block_backward(
    fd: int, seed: int, lines: list[tuple[int, int, bool]], expected: int
) -> list[_Record]:
    """The records of adjacent lines before seq `expected`, newest first; none if any is amiss."""
    begin, (offset, length, _) = lines[-1][0], lines[0]
    data = scan.read_exactly(fd, begin, offset + length - begin)
    records = scan.parse_records(data if data.endswith(b"\n") else data + b"\n", seed)
    seqs = range(expected - len(lines), expected)
    if len(records) != len(lines):
        return []
    if any(record[0] not in (seq, -1) for seq, record in zip(seqs, records, strict=True)):
        return []
    return records[::-1]


def _line_finding(view: LogView, number: int, offset: int, length: int, expected: int) -> Finding:
    """What is wrong with one line, by the same walk that inspect uses."""
    header = view.header(number)
    assert header is not None
    fd, stop = view.fd(number), offset + length
    found = scan.walk(fd, offset, stop, header.seed, max(0, expected - 1), False)[6]
    damage = [finding_of(number, one) for one in found]
    real = (one for one in damage if not one.information)
    return next(real, Finding("seq_order", offset, length, number))


def place_before(directory: Directory, seq: int) -> Place:
    """The begin of the newest segment that holds `seq`, or of the first one."""
    with LogView(directory) as view:
        for number in reversed(view.numbers):
            header = view.header(number)
            if header is not None and header.first_seq <= seq:
                return Place(number, header.length, header.first_seq)
    return Place(1, 0, 0)


def event_of(seq: int, record: _Record) -> Event:
    """The Event of a parsed record; its data is decoded when somebody reads it.

    `seq` is what its place says: a sealed record whose members cannot be read has no other.
    """
    found, ts, type, key, raw, _, _ = record
    if found >= 0 and key is None:
        return Event.undecoded(seq, ts, type, None, raw, decode_data)
    try:
        text = None if key is None else decode_key(key)
    except ValueError:
        return Event.undecoded(seq, ts, type, None, raw, _undecodable)
    return Event.undecoded(seq, ts, type, text, raw, decode_data if found >= 0 else _undecodable)


def _undecodable(raw: bytes) -> object:
    raise ValueError("no record of ours")


def corrupt_error(path: str, finding: Finding) -> CorruptLogError:
    """CorruptLogError for a finding, with what to do next."""
    where = f"segment {finding.segment}, offset {finding.offset}"
    return CorruptLogError(
        f"{path} is corrupt: {finding.kind} at {where}, among records that were durable. "
        "Nothing was changed; inspect it, and take what can be proven from a copy.",
        finding,
    )
