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
from .log import LogView
from .recovery import Facts, Place, finding_of, look
from .types import Event, Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

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
        self.next_seq = place.seq
        """The first seq that was not given yet."""
        self._seq = place.seq
        """The seq of the record at `_offset`: lower than `next_seq` where a segment begins with
        carried records that were given already.
        """

    def runs(self) -> Iterator[list[Event]]:
        """The events of one read at a time, of whole batches only, up to the end of the log.

        CorruptLogError for damage below the watermark.
        """
        before = None
        looks = 0
        while True:
            data, events, used = self._read_batches()
            if used:
                del data
                self._offset += used
                yield events
                continue
            if self._go_on():
                continue
            seen = (self._offset, data, self._view.numbers)
            if seen != before:
                before = seen
                self._refresh()
                continue
            last = self._last_without_newline(data)
            if last:
                data = b""
                yield last
            if self._is_at_end(data) or looks >= LOOKS_MAX:
                return
            looks += 1
            before = None
            self._refresh()

    def close(self) -> None:
        """Closes the segments that are open."""
        self._view.close()

    def _read_batches(self) -> tuple[bytes, list[Event], int]:
        """One read's worth: (what was read, the events of its whole batches, their bytes)."""
        want = READ_BYTES
        header = self._view.header(self._number) if self._number in self._view.numbers else None
        if header is None:
            raise self._corrupt(self._header_problem())
        if self._offset < header.length:
            self._offset, self._seq = header.length, header.first_seq
        fd = self._view.fd(self._number)
        while True:
            limit = self._limit() - self._offset
            data = os.pread(fd, max(0, min(want, limit)), self._offset)
            events, used, stuck = self._parse(data, header.seed)
            if used or stuck or len(data) < want or want > READ_BYTES_MAX:
                return data, events, used
            lines = scan.lines_forward(fd, self._offset, self._offset + limit, 1)
            longest = lines[0][1] if lines else 0
            want = longest if want < longest else 2 * want

    def _limit(self) -> int:
        """Where the segment ends for ever, or how far the active one goes right now."""
        if self._number != self._view.newest:
            return self._view.end(self._number)
        return os.fstat(self._view.fd(self._number)).st_size

    def _parse(self, data: bytes, seed: int) -> tuple[list[Event], int, bool]:
        """(events of whole batches, their bytes, whether what follows them is not the next one)."""
        events: list[Event] = []
        whole = used = end = 0
        seq, more, given = self._seq, -1, self.next_seq
        stuck = False
        for found, ts, type, key, raw, left, stop in scan.parse_records(data, seed):
            stuck = found not in (seq, -1) or seq > given + len(events)
            is_inside = len(events) > whole
            if stuck or (left != more - 1 if is_inside else left == 0 and seq >= given):
                stuck = True
                break
            seq, more, end = seq + 1, left, stop
            if seq > given:
                events.append(event_of(found, ts, type, key, raw, seq - 1))
                if left > 0:
                    continue
            whole, used, more = len(events), stop, -1
            self._seq = seq
        del events[whole:]
        self.next_seq = given + whole
        return events, used, stuck or data.find(b"\n", end) >= 0

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

    def _last_without_newline(self, data: bytes) -> list[Event]:
        """The last batch of a log at rest counts although its newline is missing."""
        header = self._view.header(self._number)
        if not data or data.endswith(b"\n") or self._number != self._view.newest or not header:
            return []
        with look(self._directory, whole=False) as facts:
            if facts.writer == "live":
                return []
        events, used, _ = self._parse(data + b"\n", header.seed)
        return events if used == len(data) + 1 else []

    def _is_at_end(self, rest: bytes) -> bool:
        """Whether nothing durable follows. CorruptLogError if something durable does not verify."""
        with look(self._directory, whole=False) as facts:
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
                for events in read(directory, start, stop):
                    if wanted is not None:
                        events = [event for event in events if event.type in wanted]
                    yield from events
        except OSError as error:
            raise storage_error(error, "reading events") from error

    def behind(self, place: Place | None, upto: int) -> Iterator[Event]:
        """The events with seq > `upto`, from a batch boundary before them; checkpoints come too."""
        try:
            with self._open_directory() as directory:
                reader = LogReader(directory, place or place_before(directory, upto + 1))
                try:
                    for events in reader.runs():
                        yield from (event for event in events if event.seq > upto)
                finally:
                    reader.close()
        except OSError as error:
            raise storage_error(error, "reading events") from error


def take_last(newest_first: Iterator[Event], n: int) -> list[Event]:
    """The first `n` of an iterator that runs backward, oldest first."""
    return [event for _, event in zip(range(n), newest_first, strict=False)][::-1]


def read_forward(directory: Directory, start: int, stop: int | None) -> Iterator[list[Event]]:
    """The events with start <= seq < stop, in order, those of one read at a time."""
    reader = LogReader(directory, place_before(directory, start))
    try:
        for events in reader.runs():
            if events and events[0].seq < start:
                events = [event for event in events if event.seq >= start]
            if stop is not None and events and events[-1].seq >= stop:
                yield [event for event in events if event.seq < stop]
                return
            yield events
    finally:
        reader.close()


def read_backward(directory: Directory, start: int, stop: int | None) -> Iterator[list[Event]]:
    """The events with start <= seq < stop, newest first, those of one read at a time.

    CorruptLogError where damage is met.
    """
    below = stop
    before = None
    while True:
        with look(directory, whole=False) as facts:
            try:
                for events in _log_backward(facts, start):
                    if below is not None and events[0].seq >= below:
                        events = [event for event in events if event.seq < below]
                    if events:
                        below = events[-1].seq
                        yield events
                return
            except CorruptLogError as error:
                # A writer may have rolled and cut since the look: only a second one is believed.
                seen = (facts.view.numbers, error.finding)
                if seen == before:
                    raise
                before = seen


def _log_backward(facts: Facts, start: int) -> Iterator[list[Event]]:
    """The events of the run that `facts` found, from its end down to `start`."""
    path = facts.view.directory.path
    if facts.state == "corrupt":
        raise corrupt_error(path, facts.damage or Finding("short", 0, 0, facts.end.segment))
    number, end, expected = facts.end.segment, facts.end.offset, facts.end.seq
    while number in facts.view.numbers and expected > start:
        for events in _segment_backward(facts.view, number, end, expected):
            expected = events[-1].seq
            if expected < start:
                yield [event for event in events if event.seq >= start]
                return
            yield events
        number -= 1
        end = facts.view.end(number) if number in facts.view.numbers else 0
    if expected > start:
        raise corrupt_error(path, Finding("missing", 0, 0, number))


def _segment_backward(view: LogView, number: int, end: int, expected: int) -> Iterator[list[Event]]:
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
            events = _block_backward(fd, header.seed, block, expected)
            expected -= len(events)
            if events:
                yield events
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
) -> list[Event]:
    """The events of adjacent lines before seq `expected`, newest first; none if any is amiss."""
    begin, (offset, length, _) = lines[-1][0], lines[0]
    data = scan.read_exactly(fd, begin, offset + length - begin)
    records = scan.parse_records(data if data.endswith(b"\n") else data + b"\n", seed)
    events: list[Event] = []
    for seq, record in enumerate(records, expected - len(lines)):
        found, ts, type, key, raw, _, _ = record
        if found in (seq, -1):
            events.append(event_of(found, ts, type, key, raw, seq))
    return events[::-1] if len(events) == len(lines) else []


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


def event_of(found: int, ts: str, type: str, key: bytes | None, raw: bytes, seq: int) -> Event:
    """The Event of a parsed record; its data is decoded when somebody reads it.

    `seq` is what its place says: a sealed record whose members cannot be read has no other.
    """
    if found < 0:
        return Event.undecoded(seq, ts, type, None, raw, _undecodable)
    try:
        text = None if key is None else decode_key(key)
    except ValueError:
        return Event.undecoded(seq, ts, type, None, raw, _undecodable)
    return Event.undecoded(seq, ts, type, text, raw, decode_data)


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
