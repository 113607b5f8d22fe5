"""Our own log: what is proven, where the run of whole batches ends, what is damaged."""

from __future__ import annotations

from ._fallback_json import check_json
from ._fallback_lines import (
    CHUNK_BYTES,
    OFFSETS,
    Line,
    Tick,
    check_arguments,
    check_threads,
    clip,
    open_line,
    read_at,
    read_lines,
    read_lines_backward,
)
from ._fallback_record import (
    Record,
    check_seed,
    find_proven,
    is_foreign,
    parse_body,
    parse_record,
)
from ._fallback_report import Finding, Gaps, Mark, Report

Place = tuple[int, int, int]

SEARCH_BYTES = 64 << 10
"""Bytes of one read of a search, by default."""


def find_record(
    fd: int,
    start: int,
    stop: int,
    seed: int,
    type: str,
    seq_max: int,
    chunk_bytes: int = SEARCH_BYTES,
) -> Place | None:
    check_arguments(start, stop, chunk_bytes)
    check_seed(seed)
    type.encode()  # a word that no UTF-8 can spell is out of range
    for offset, length, _, body in read_lines_backward(fd, start, stop, chunk_bytes):
        record = parse_body(body, seed) if body is not None else None
        if record is None or not 0 <= record[0] <= seq_max:
            continue
        if not type or record[2] == type:
            return record[0], offset, length
    return None


def record_at(
    fd: int, start: int, stop: int, seed: int, chunk_bytes: int = CHUNK_BYTES
) -> tuple[int, int] | None:
    check_arguments(start, stop, chunk_bytes)
    record = parse_record(read_at(fd, start, stop - start), seed)
    return None if record is None else (record[0], record[6])


def find_watermark(
    fd: int, start: int, stop: int, seed: int, chunk_bytes: int = SEARCH_BYTES
) -> int:
    check_arguments(start, stop, chunk_bytes)
    check_seed(seed)
    for item in read_lines_backward(fd, start, stop, chunk_bytes):
        line = open_line(fd, item, chunk_bytes)
        marks = [min(record[7], record[0]) for _, _, record in _proven(line, seed)]
        if any(mark >= 0 for mark in marks):
            return max(marks)
    return -1


def walk(
    fd: int,
    start: int,
    stop: int,
    seed: int,
    seq: int,
    final: bool,
    check_data: bool = False,
    other_seeds: tuple[int, ...] = (),
    chunk_bytes: int = CHUNK_BYTES,
    tick: Tick | None = None,
    threads: int = 1,
) -> tuple[int, int, int, Place | None, Place | None, int, list[Finding], int]:
    check_arguments(start, stop, chunk_bytes)
    check_threads(threads)
    for each in (seed, *other_seeds):
        check_seed(each)
    if not 0 <= seq < OFFSETS:
        raise ValueError(f"seq {seq} is none")
    state = _Walk(start, seq)
    for item in read_lines(fd, start, stop, chunk_bytes, tick):
        offset, length, terminated, body = item
        record = parse_body(body, seed) if body is not None else None
        if record is None or not (terminated or final):
            state.take_damage(open_line(fd, item, chunk_bytes), seed, other_seeds)
            continue
        state.take_record(offset, length, record)
        if check_data and record[0] >= 0 and body is not None and check_json(body) != "ok":
            state.report.add("undecodable", offset, length, record[0])
        if not terminated:
            state.report.add("unterminated", offset, length)
    state.cut_batch()
    if tick is not None:
        tick(clip(fd, start, stop) - start)
    return state.result()


class _Batch:
    """A batch whose last record was not seen yet."""

    __slots__ = ("checkpoint", "end", "left", "offset", "records", "seq")

    seq: int  # of its first record
    offset: int
    end: int  # of its newest record
    left: int  # how many records must follow
    records: int  # how many were seen
    checkpoint: Place | None  # its newest checkpoint

    def __init__(self, seq: int, offset: int) -> None:
        self.seq = seq
        self.offset = self.end = offset
        self.left = self.records = 0
        self.checkpoint = None

    def take(self, place: Place, type: str, left: int) -> None:
        self.end = place[1] + place[2]
        self.left = left
        self.records += 1
        if type == "checkpoint":
            self.checkpoint = place


class _Walk:
    """The state of one walk over a segment."""

    __slots__ = (
        "_batch",
        "_behind",
        "_checkpoint",
        "_damage",
        "_gaps",
        "_last",
        "_run",
        "_running",
        "_watermark",
        "next",
        "report",
    )

    report: Report
    next: int  # the seq expected
    _run: tuple[int, int]  # (seq, offset) at which the run of whole batches ends
    _running: bool  # whether that run may still grow
    _watermark: int
    _checkpoint: Place | None  # the newest of the run
    _last: Place | None  # the newest record of the run
    _behind: int  # proven records behind the run, those of an open batch of the run excluded
    _batch: _Batch | None
    _damage: Mark | None  # the last damage behind the newest proven record
    _gaps: Gaps

    def __init__(self, start: int, seq: int) -> None:
        self.report = Report()
        self.next = seq
        self._run = (seq, start)
        self._running = True
        self._watermark = self._behind = 0
        self._checkpoint = self._last = None
        self._batch = None
        self._damage = None
        self._gaps = Gaps()

    def take_damage(self, line: Line, seed: int, other_seeds: tuple[int, ...]) -> None:
        self.cut_batch()
        self._running = False
        if line.blank:
            self.report.add_blank(line.offset, line.length)
            return
        pieces = _proven(line, seed)
        if line.nuls_before:
            self._damage = self.report.add("nul", line.offset, line.nuls_before)
        kind = None if line.empty else _damage_kind(line, pieces, other_seeds)
        if kind is not None:
            self._damage = self.report.add(kind, line.rest_offset, line.rest_length)
        if line.nuls_after:
            behind = line.rest_offset + line.rest_bytes
            self._damage = self.report.add("nul", behind, line.nuls_after)
        for offset, length, record in pieces:
            self.take_record(offset, length, record)

    def take_record(self, offset: int, length: int, record: Record) -> None:
        """A record, or a proven piece: `_running` is false at a piece."""
        seq, _, type, _, _, _, more, d = record
        readable = seq >= 0
        seq = seq if readable else self.next
        self._watermark = max(self._watermark, min(d, seq))
        place = (seq, offset, length)
        if seq == self.next:
            self._take_next(place, type, more)
        else:
            self._take_other(place, type, more)
        if not readable:
            self.report.add("undecodable", offset, length, seq)
        self._damage = None

    def cut_batch(self) -> None:
        """Reports an open batch: what follows is not its next record."""
        batch = self._batch
        if batch is None:
            return
        self._batch = None
        self._cut(batch)

    def result(
        self,
    ) -> tuple[int, int, int, Place | None, Place | None, int, list[Finding], int]:
        return (
            *self._run,
            self._watermark,
            self._checkpoint,
            self._last,
            self._behind,
            self.report.findings(),
            self.report.omitted,
        )

    def _take_next(self, place: Place, type: str, more: int) -> None:
        if self._batch is not None and more != self._batch.left - 1:
            self.cut_batch()
        batch = self._batch or _Batch(place[0], place[1])
        lone_end = self._batch is None and more == 0
        self._batch = None
        self.next = place[0] + 1
        batch.take(place, type, max(more, 0))
        if not self._running:
            self._behind += 1
        if batch.left:
            self._batch = batch
        elif lone_end and (self._running or self._damage is None):
            self._cut(batch)
        elif self._running:
            self._run = (self.next, batch.end)
            self._last = place
            self._checkpoint = batch.checkpoint or self._checkpoint

    def _take_other(self, place: Place, type: str, more: int) -> None:
        self.cut_batch()
        self._running = False
        self._behind += 1
        seq = place[0]
        if seq < self.next:
            kind = "seq_order" if self._gaps.take(seq) else "seq_repeat"
            self.report.add(kind, place[1], place[2], seq)
            return
        mark = self._damage or self.report.add("seq_gap", place[1], place[2], seq)
        mark.swallow(self.next, seq)
        self._gaps.append(self.next, seq)
        self.next = seq + 1
        if more > 0:
            self._batch = _Batch(seq, place[1])
            self._batch.take(place, type, more)

    def _cut(self, batch: _Batch) -> None:
        self.report.add("batch_cut", batch.offset, batch.end - batch.offset, batch.seq)
        if self._running:
            self._behind += batch.records
        self._running = False


def _proven(line: Line, seed: int) -> list[tuple[int, int, Record]]:
    """(offset, length, record) of what a CRC proves in a line: the whole rest, or pieces of it."""
    if not line.rest:
        return []
    record = parse_body(line.rest, seed)
    if record is not None:
        return [(line.rest_offset, line.rest_length, record)]
    return [
        (line.rest_offset + start, length, piece)
        for start, length, piece in find_proven(line.rest, seed)
    ]


def _damage_kind(
    line: Line, pieces: list[tuple[int, int, Record]], other_seeds: tuple[int, ...]
) -> str | None:
    """The finding over a damaged line's rest; None where NULs are all that is wrong with it."""
    rest = line.rest
    if rest is None:
        return "too_long" if line.terminated else "torn"
    if pieces and pieces[0][1] == line.rest_length:
        whole = line.terminated or line.nuls_before or line.nuls_after
        return None if whole else "unterminated"
    if pieces:
        return "glued"
    verdict = check_json(rest)
    if verdict != "ok":
        return verdict if line.terminated else "torn"
    return "foreign" if is_foreign(rest, other_seeds) else "crc"
