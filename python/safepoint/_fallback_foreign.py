"""Logs that others wrote: lines of JSON, whatever stands in them."""

from __future__ import annotations

from collections.abc import Iterator

from ._fallback_json import check_json, find_pieces, find_seq, find_string
from ._fallback_lines import (
    BOM,
    CHUNK_BYTES,
    SPACES,
    Line,
    Tick,
    check_arguments,
    check_threads,
    clip,
    open_line,
    read_lines,
    read_lines_backward,
    skip_bom,
)
from ._fallback_report import Finding, Gaps, Mark, Report

Span = tuple[int, int]


def classify_line(line: bytes, last: bool) -> tuple[list[Finding], list[Span]]:
    terminated = line.endswith(b"\n")
    parts = Line(0, len(line), terminated)
    parts.hold(line[:-1] if terminated else line)
    report = Report()
    found, objects = classify(parts)
    for kind, offset, length in found:
        report.add(kind, offset, length)
    return report.findings(), objects


def classify(line: Line) -> tuple[list[tuple[str, int, int]], list[Span]]:
    """(kind, offset, length) of the line's findings and the spans of its objects, in file order."""
    if line.blank:
        return ([("blank", line.offset, line.length)] if line.length else []), []
    kind, objects = (None, []) if line.empty else _classify_rest(line)
    found = []
    if line.nuls_before:
        found.append(("nul", line.offset, line.nuls_before))
    if kind is not None:
        found.append((kind, line.rest_offset, line.rest_length))
    if line.nuls_after:
        found.append(("nul", line.rest_offset + line.rest_bytes, line.nuls_after))
    return found, objects


def objects_forward(
    fd: int, start: int, stop: int, objects_max: int = 4096, chunk_bytes: int = CHUNK_BYTES
) -> tuple[list[Span], int]:
    check_arguments(start, stop, chunk_bytes, objects_max)
    objects: list[Span] = []
    head = start == 0
    for line in _lines(fd, start, stop, chunk_bytes):
        if head and not line.blank:
            head = False
            if _begins_document(line):
                break
        objects += classify(line)[1]
        if len(objects) >= objects_max:
            return objects, line.offset + line.length
    return objects, stop


def objects_backward(
    fd: int, start: int, stop: int, objects_max: int = 4096, chunk_bytes: int = CHUNK_BYTES
) -> tuple[list[Span], int]:
    check_arguments(start, stop, chunk_bytes, objects_max)
    objects: list[Span] = []
    for line in _lines_backward(fd, start, stop, chunk_bytes):
        objects += reversed(classify(line)[1])
        if len(objects) >= objects_max:
            return objects, line.offset
    return objects, start


def find_object(
    fd: int,
    start: int,
    stop: int,
    path: tuple[str, ...],
    word: str,
    chunk_bytes: int = CHUNK_BYTES,
) -> Span | None:
    check_arguments(start, stop, chunk_bytes)
    plain = _plain_spelling(word)
    for name in path:
        name.encode()  # a name that no UTF-8 can spell is out of range
    for line in _lines_backward(fd, start, stop, chunk_bytes):
        text = line.rest or b""
        if plain not in text and b"\\" not in text:
            continue
        for offset, length in reversed(classify(line)[1]):
            begin = offset - line.rest_offset
            if find_string(text[begin : begin + length], path) == word:
                return offset, length
    return None


def inspect_jsonl(
    fd: int,
    stop: int,
    chunk_bytes: int = CHUNK_BYTES,
    tick: Tick | None = None,
    threads: int = 1,
) -> tuple[int, int, int, list[Finding], int]:
    check_arguments(0, stop, chunk_bytes)
    check_threads(threads)
    stop = clip(fd, 0, stop)
    inspection = _Inspection()
    if skip_bom(fd, 0, stop):
        inspection.report.add("bom", 0, len(BOM))
    head = True
    for line in _lines(fd, 0, stop, chunk_bytes, tick):
        if head and not line.blank:
            head = False
            if _begins_document(line):
                inspection.report.add("not_jsonl", line.offset, stop - line.offset)
                break
        inspection.take(line)
    if tick is not None:
        tick(stop)
    report = inspection.report
    return (
        inspection.records,
        inspection.tail,
        inspection.last_seq,
        report.findings(),
        report.omitted,
    )


class _Inspection:
    """The state of one walk over a foreign log."""

    __slots__ = ("_base", "_damage", "_expected", "_gaps", "last_seq", "records", "report", "tail")

    report: Report
    records: int
    tail: int  # the end of the last object
    last_seq: int  # the highest seq, -1 before any
    _damage: Mark | None  # the last damage behind the newest object that had a seq
    _gaps: Gaps
    _base: int  # the lowest seq, meaningless before any
    _expected: int  # one more than the highest seq, 0 before any

    def __init__(self) -> None:
        self.report = Report()
        self.records = self.tail = 0
        self.last_seq = -1
        self._damage = None
        self._gaps = Gaps()
        self._base = self._expected = 0

    def take(self, line: Line) -> None:
        """Findings and objects in file order; a finding over an object comes before it."""
        found, objects = classify(line)
        glued = None
        behind = found.pop() if objects and line.nuls_after else None
        for kind, offset, length in found:
            if kind == "blank":
                self.report.add_blank(offset, length)
                continue
            mark = self.report.add(kind, offset, length)
            glued = mark if kind == "glued" else None
            # The finding `unterminated` is over a whole object: it swallowed nothing before it.
            self._damage = self._damage if kind == "unterminated" else mark
        for span in objects:
            self._take_object(line, span, glued)
        if behind is not None:
            self._damage = self.report.add(*behind)

    def _take_object(self, line: Line, span: Span, glued: Mark | None) -> None:
        offset, length = span
        self.records += 1
        self.tail = offset + length
        begin = offset - line.rest_offset
        seq = find_seq(line.rest[begin : begin + length]) if line.rest else None
        if seq is None:
            return
        self._take_seq(span, seq, glued or self._damage)
        self._damage = None

    def _take_seq(self, span: Span, seq: int, damage: Mark | None) -> None:
        if self.last_seq < 0:
            self._base = seq
        elif seq > self._expected:
            mark = damage or self.report.add("seq_gap", *span, seq)
            mark.swallow(self._expected, seq)
            self._gaps.append(self._expected, seq)
        elif seq < self._base:
            self.report.add("seq_order", *span, seq)
            self._gaps.prepend(seq + 1, self._base)
            self._base = seq
        elif seq < self._expected:
            kind = "seq_order" if self._gaps.take(seq) else "seq_repeat"
            self.report.add(kind, *span, seq)
        self.last_seq = max(self.last_seq, seq)
        self._expected = self.last_seq + 1


def _classify_rest(line: Line) -> tuple[str | None, list[Span]]:
    """The finding over a line's rest that is not blank, and its objects."""
    rest = line.rest
    if rest is None:
        return ("too_long" if line.terminated else "torn"), []
    verdict = check_json(rest)
    if verdict == "ok":
        whole = line.terminated or line.nuls_after
        return (None if whole else "unterminated"), [(line.rest_offset, line.rest_length)]
    pieces = [(line.rest_offset + start, length) for start, length in find_pieces(rest)]
    if pieces:
        return "glued", pieces
    return (verdict if line.terminated else "torn"), []


def _begins_document(line: Line) -> bool:
    """Whether a log that starts with this line is one JSON document over many lines."""
    rest = line.rest or b""
    return not line.nuls_before and not line.nuls_after and rest.strip(SPACES) in (b"{", b"[")


def _plain_spelling(word: str) -> bytes:
    """Bytes that stand in every line that spells `word` without escapes."""
    return word.encode()


def _lines(
    fd: int, start: int, stop: int, chunk_bytes: int, tick: Tick | None = None
) -> Iterator[Line]:
    for item in read_lines(fd, skip_bom(fd, start, stop), stop, chunk_bytes, tick):
        yield open_line(fd, item, chunk_bytes)


def _lines_backward(fd: int, start: int, stop: int, chunk_bytes: int) -> Iterator[Line]:
    for item in read_lines_backward(fd, skip_bom(fd, start, stop), stop, chunk_bytes):
        yield open_line(fd, item, chunk_bytes)
