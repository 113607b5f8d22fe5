"""Positioned reads, and framing on byte 0x0A alone, in both directions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import islice

CHUNK_BYTES = 256 * 1024
"""Bytes of one read: large enough that a system call costs nothing beside the scan of its bytes."""

LINE_BYTES_MAX = 128 * 1024 * 1024
"""Bytes of the longest line that is parsed, without newline and NUL runs: what bounds memory."""

TICK_BYTES = 32 * 1024 * 1024
"""Bytes between two ticks: a few a second at the speed of a disk."""

OFFSETS = 1 << 63
"""Offsets and seqs lie below it: those of a file do."""

SPACES = b" \t\n\r"
"""The bytes that JSON calls whitespace."""

BOM = b"\xef\xbb\xbf"

Tick = Callable[[int], object]
Span = tuple[int, int, bool]


class Line:
    """One line, its NUL runs split off: `nuls_before`, then the rest, then `nuls_after`."""

    __slots__ = (
        "length",
        "nuls_after",
        "nuls_before",
        "offset",
        "rest",
        "rest_bytes",
        "terminated",
    )

    offset: int  # of the line's first byte in the file, or 0 for a line alone
    length: int  # bytes of the whole line, newline included
    terminated: bool  # whether its last byte is a newline
    nuls_before: int  # NULs before the rest: all of them if the line holds nothing else
    nuls_after: int  # NULs behind the rest
    rest: bytes | None  # None if it is longer than LINE_BYTES_MAX; blanks too long to hold are b""
    rest_bytes: int  # true length of the rest, held or not

    def __init__(self, offset: int, length: int, terminated: bool) -> None:
        self.offset = offset
        self.length = length
        self.terminated = terminated

    @property
    def rest_offset(self) -> int:
        return self.offset + self.nuls_before

    @property
    def rest_length(self) -> int:
        """Bytes that a finding over the rest names: a newline right behind it counts."""
        return self.rest_bytes + (self.terminated and not self.nuls_after)

    @property
    def empty(self) -> bool:
        """Whether the rest is whitespace or nothing: beside NULs it belongs to no finding."""
        return self.rest is not None and not self.rest.strip(SPACES)

    @property
    def blank(self) -> bool:
        return self.empty and not self.nuls_before and not self.nuls_after

    def hold(self, body: bytes) -> None:
        """Takes the parts from `body`, the line without its newline."""
        behind = body.lstrip(b"\0")
        rest = behind.rstrip(b"\0")
        self.nuls_before = len(body) - len(behind)
        self.nuls_after = len(behind) - len(rest)
        self.rest_bytes = len(rest)
        self.rest = rest if len(rest) <= LINE_BYTES_MAX else None
        if self.rest is None and not rest.strip(SPACES):
            self.rest = b""

    def measure(self, fd: int, chunk_bytes: int) -> None:
        """Takes the parts of a line too long to hold from the file, in bounded memory."""
        stop = self.offset + self.length - self.terminated
        first = _first_other(fd, self.offset, stop, b"\0", chunk_bytes)
        last = _last_other(fd, first, stop, chunk_bytes)
        self.nuls_before = first - self.offset
        self.nuls_after = stop - last
        self.rest_bytes = last - first
        self.rest = None
        if self.rest_bytes <= LINE_BYTES_MAX:
            self.rest = read_at(fd, first, self.rest_bytes)
        elif _first_other(fd, first, last, SPACES, chunk_bytes) == last:
            self.rest = b""


def check_arguments(start: int, stop: int, chunk_bytes: int, items_max: int = 1) -> None:
    if not 0 <= start <= stop < OFFSETS:
        raise ValueError(f"start {start} and stop {stop} are no range of a file")
    if not 1 <= chunk_bytes < OFFSETS or not 1 <= items_max < OFFSETS:
        raise ValueError("a chunk and an answer hold at least 1")


def check_threads(threads: int) -> None:
    """One thread is what runs here, whatever a caller allows."""
    if threads < 1:
        raise ValueError("threads must be at least 1")


def read_at(fd: int, offset: int, length: int) -> bytes:
    """The `length` bytes at `offset`; fewer only where the file ends."""
    parts = []
    while length > 0:
        part = _pread(fd, length, offset)
        if not part:
            break
        parts.append(part)
        offset += len(part)
        length -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def clip(fd: int, start: int, stop: int) -> int:
    """`stop`, or the end of the file if that comes first; never before `start`."""
    return max(start, min(stop, os.fstat(fd).st_size))


def skip_bom(fd: int, start: int, stop: int) -> int:
    """Where the first line starts: behind a byte order mark at offset 0."""
    if start == 0 and stop >= len(BOM) and read_at(fd, 0, len(BOM)) == BOM:
        return len(BOM)
    return start


def read_chunks(
    fd: int, start: int, stop: int, chunk_bytes: int, tick: Tick | None = None
) -> Iterator[bytes]:
    offset = ticked = start
    while offset < stop:
        chunk = _pread(fd, min(chunk_bytes, stop - offset), offset)
        if not chunk:
            return
        yield chunk
        offset += len(chunk)
        if tick is not None and offset - ticked >= TICK_BYTES:
            ticked = offset
            tick(offset - start)


def read_lines(
    fd: int, start: int, stop: int, chunk_bytes: int, tick: Tick | None = None
) -> Iterator[tuple[int, int, bool, bytes | None]]:
    """(offset, length, terminated, body) of each line. `body` lacks the newline; of a line longer
    than LINE_BYTES_MAX it is None."""
    offset = start
    held: list[bytes] = []
    held_bytes = 0
    for chunk in read_chunks(fd, start, stop, chunk_bytes, tick):
        bodies = chunk.split(b"\n")
        behind = bodies.pop()
        if bodies:
            if held_bytes:
                length = held_bytes + len(bodies[0]) + 1
                body = None if length > LINE_BYTES_MAX + 1 else b"".join((*held, bodies[0]))
                yield offset, length, True, body
                offset += length
                del bodies[0]
            for body in bodies:
                length = len(body) + 1
                yield offset, length, True, body
                offset += length
            held, held_bytes = [], 0
        held_bytes += len(behind)
        if held_bytes > LINE_BYTES_MAX:
            held = []
        elif behind:
            held.append(behind)
    if held_bytes:
        body = None if held_bytes > LINE_BYTES_MAX else b"".join(held)
        yield offset, held_bytes, False, body


def read_lines_backward(
    fd: int, start: int, stop: int, chunk_bytes: int
) -> Iterator[tuple[int, int, bool, bytes | None]]:
    """What `read_lines` gives, newest first."""
    for offset, length, terminated in _spans_backward(fd, start, stop, chunk_bytes):
        body_bytes = length - terminated
        body = read_at(fd, offset, body_bytes) if body_bytes <= LINE_BYTES_MAX else None
        yield offset, length, terminated, body


def open_line(fd: int, item: tuple[int, int, bool, bytes | None], chunk_bytes: int) -> Line:
    offset, length, terminated, body = item
    line = Line(offset, length, terminated)
    if body is None:
        line.measure(fd, chunk_bytes)
    else:
        line.hold(body)
    return line


def lines_forward(
    fd: int, start: int, stop: int, lines_max: int = 4096, chunk_bytes: int = CHUNK_BYTES
) -> list[Span]:
    check_arguments(start, stop, chunk_bytes, lines_max)
    return _take(_spans_forward(fd, start, stop, chunk_bytes), lines_max)


def lines_backward(
    fd: int, start: int, stop: int, lines_max: int = 4096, chunk_bytes: int = CHUNK_BYTES
) -> list[Span]:
    check_arguments(start, stop, chunk_bytes, lines_max)
    return _take(_spans_backward(fd, start, stop, chunk_bytes), lines_max)


def _take(spans: Iterator[Span], lines_max: int) -> list[Span]:
    return list(islice(spans, lines_max))


def _spans_forward(fd: int, start: int, stop: int, chunk_bytes: int) -> Iterator[Span]:
    offset = read = start
    for chunk in read_chunks(fd, start, stop, chunk_bytes):
        newline = chunk.find(b"\n")
        while newline >= 0:
            end = read + newline + 1
            yield offset, end - offset, True
            offset = end
            newline = chunk.find(b"\n", newline + 1)
        read += len(chunk)
    if read > offset:
        yield offset, read - offset, False


def _spans_backward(fd: int, start: int, stop: int, chunk_bytes: int) -> Iterator[Span]:
    """Holds positions only: no byte is read twice, however long its line is."""
    end = upper = clip(fd, start, stop)
    terminated = False
    while upper > start:
        lower = max(start, upper - chunk_bytes)
        chunk = read_at(fd, lower, upper - lower)
        newline = chunk.rfind(b"\n")
        while newline >= 0:
            offset = lower + newline + 1
            if offset < end:
                yield offset, end - offset, terminated
            end = offset
            terminated = True
            newline = chunk.rfind(b"\n", 0, newline)
        upper = lower
    if end > start:
        yield start, end - start, terminated


def _pread(fd: int, length: int, offset: int) -> bytes:
    if hasattr(os, "pread"):
        return os.pread(fd, length, offset)
    os.lseek(fd, offset, os.SEEK_SET)
    return os.read(fd, length)


def _first_other(fd: int, start: int, stop: int, skipped: bytes, chunk_bytes: int) -> int:
    """The first byte of [start, stop) that is not one of `skipped`; `stop` if there is none."""
    offset = start
    for chunk in read_chunks(fd, start, stop, chunk_bytes):
        behind = chunk.lstrip(skipped)
        offset += len(chunk) - len(behind)
        if behind:
            return offset
    return stop


def _last_other(fd: int, start: int, stop: int, chunk_bytes: int) -> int:
    """The end of the last byte of [start, stop) that is no NUL; `start` if there is none."""
    while stop > start:
        lower = max(start, stop - chunk_bytes)
        before = read_at(fd, lower, stop - lower).rstrip(b"\0")
        if before:
            return lower + len(before)
        stop = lower
    return start
