"""Looks at a session folder, a segment or any JSONL file, and says what is there. It never changes
a byte.

Content never raises: a damaged file is an Inspection with findings, one that cannot be read says
so.
"""

from __future__ import annotations

import errno
import os
import stat

from . import scan
from .errors import SafepointError, TooNewError, UnsafePathError, storage_error
from .events import decode_json
from .files import Directory, Disk
from .log import HEADER_BYTES_MAX, Header, decode_header
from .recovery import Facts, finding_of, log_bytes, look
from .types import Finding, Inspection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    Tick = Callable[[int], object]

_NO_SESSION = (
    "no session was begun in this folder: give a session's folder or a log file; "
    "safepoint ls lists the sessions of a store"
)
_HEADER_START = b'{"safepoint":'
_TAIL_DAMAGE = frozenset(("torn", "unterminated", "nul"))
"""Damage that a crash leaves at the end of a log that nobody appended to since."""


def inspect_path(
    path: str | os.PathLike[str], tick: Tick | None = None, threads: int = 1
) -> Inspection:
    """What stands at `path`: a session folder, one segment of ours, or any JSONL file. Never raises
    for it.
    """
    path = os.fspath(path)
    effort = scan.Effort(check_data=True, threads=threads, tick=tick)
    try:
        if os.path.isdir(path):
            disk = Disk()
            with disk.open_root(path) as directory:
                return inspect_directory(directory, os.path.basename(directory.path), effort)
        return _inspect_file(path, effort)
    except (OSError, SafepointError) as error:
        return unreadable(path, error)


def inspect_directory(directory: Directory, id: str, effort: scan.Effort) -> Inspection:
    """What is in a session's folder, walked from record 0.

    OSError and TooNewError are the caller's; a file that vanishes meanwhile is a StorageError.
    """
    try:
        return _inspect_session(directory, id, effort)
    except FileNotFoundError as error:
        raise storage_error(error, "reading a file of the session") from error


def _inspect_session(directory: Directory, id: str, effort: scan.Effort) -> Inspection:
    with look(directory, whole=True, effort=effort) as facts:
        findings = facts.findings + _renamed(facts, id)
        return Inspection(
            directory.path,
            facts.state,
            status=facts.status if facts.view.numbers else None,
            writer=facts.writer,
            records=facts.end.seq,
            last_seq=facts.end.seq - 1,
            durable_seq=facts.watermark - 1,
            bytes=log_bytes(directory, facts.view.numbers),
            segments=len(facts.view.numbers),
            records_behind=facts.records_behind,
            findings=findings,
            findings_omitted=facts.findings_omitted,
            message=_NO_SESSION if facts.state == "empty" else "",
        )


def unreadable(path: str, error: OSError | SafepointError) -> Inspection:
    """The Inspection of what could not be looked at: missing, too new, or unreadable, and why."""
    if isinstance(error, (FileNotFoundError, NotADirectoryError)):
        return Inspection(path, "missing", message="there is nothing at this path")
    if isinstance(error, TooNewError):
        return Inspection(path, "too_new", message=str(error))
    if isinstance(error, OSError):
        error = storage_error(error, "reading")
    return Inspection(path, "unreadable", message=str(error))


def read_file(
    path: str | os.PathLike[str], reverse: bool = False
) -> Iterator[tuple[int, int, Any]]:
    """Iterates (offset, length, object) of any JSONL file, in file order or newest first.

    Complete objects inside damaged lines come too, so their number is `inspect_file(path).records`;
    of a segment of ours the valid records come. Offsets and lengths are bytes; a whole line counts
    its newline. StorageError if the file cannot be read.
    """
    fd = _open_file(os.fspath(path))
    try:
        start, stop = _readable_range(fd)
        spans = _spans_backward(fd, start, stop) if reverse else _spans_forward(fd, start, stop)
        for offset, length in spans:
            yield offset, length, decode_json(scan.read_exactly(fd, offset, length))
    except OSError as error:
        raise storage_error(error, "reading") from error
    finally:
        os.close(fd)


def _inspect_file(path: str, effort: scan.Effort) -> Inspection:
    fd = _open(path)
    try:
        scan.read_ahead(fd)
        line = _first_line(fd)
        if not line.startswith(_HEADER_START):
            return _inspect_foreign(path, fd, effort)
        header = decode_header(line)
        if header is None:
            return _headerless(path, fd, line)
        return _inspect_segment(path, fd, header, effort)
    finally:
        os.close(fd)


def _inspect_foreign(path: str, fd: int, effort: scan.Effort) -> Inspection:
    size = os.fstat(fd).st_size
    records, tail, last_seq, found, omitted = scan.inspect_jsonl(
        fd, size, tick=effort.tick, threads=effort.threads
    )
    findings = [finding_of(None, one) for one in found]
    return Inspection(
        path,
        _foreign_state(size, tail, findings, omitted),
        records=records,
        last_seq=last_seq,
        bytes=size,
        findings=findings,
        findings_omitted=omitted,
    )


def _foreign_state(size: int, tail: int, findings: list[Finding], omitted: int) -> str:
    if size == 0:
        return "empty"
    damage = [found for found in findings if not found.information]
    if any(found.kind == "not_jsonl" for found in damage):
        return "not_jsonl"
    if not damage:
        return "clean"
    at_tail = all(
        found.kind in _TAIL_DAMAGE and found.offset + found.length >= tail for found in damage
    )
    return "repairable" if at_tail and not omitted else "corrupt"


def _inspect_segment(path: str, fd: int, header: Header, effort: scan.Effort) -> Inspection:
    """One segment alone: what its own header and records prove."""
    size = os.fstat(fd).st_size
    next_seq, end, found_watermark, _, _, behind, found, omitted = scan.walk(
        fd,
        header.length,
        size,
        header.seed,
        header.first_seq,
        True,
        effort.check_data,
        tick=effort.tick,
        threads=effort.threads,
    )
    watermark = max(header.durable, found_watermark)
    findings = [finding_of(header.segment, one) for one in found]
    damaged = any(not one.information for one in findings)
    if next_seq < watermark and end == size:
        findings.append(Finding("short", end, 0, header.segment))
    state = "repairable" if damaged else "clean"
    return Inspection(
        path,
        "corrupt" if next_seq < watermark else state,
        records=next_seq - header.first_seq,
        last_seq=next_seq - 1,
        durable_seq=watermark - 1,
        bytes=size,
        segments=1,
        records_behind=behind,
        findings=findings,
        findings_omitted=omitted,
    )


def _headerless(path: str, fd: int, line: bytes) -> Inspection:
    """A segment of ours whose header does not verify: nothing in it can be."""
    kind = scan.check_json(line.rstrip(b"\n"))
    kind = ("crc" if kind == "ok" else kind) if line.endswith(b"\n") else "torn"
    return Inspection(
        path,
        "corrupt",
        bytes=os.fstat(fd).st_size,
        segments=1,
        findings=[Finding(kind, 0, len(line))],
        message="the segment's header does not verify",
    )


def _renamed(facts: Facts, id: str) -> list[Finding]:
    header = facts.view.header(facts.view.newest) if facts.view.numbers else None
    if header is None or header.session == id:
        return []
    return [Finding("renamed", 0, header.length, header.segment)]


def _open(path: str) -> int:
    """A descriptor of a regular file that is not ours: links are followed, FIFOs and devices
    refused.
    """
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    if stat.S_ISREG(os.fstat(fd).st_mode):
        return fd
    os.close(fd)
    raise UnsafePathError(
        f"{path} is not a regular file: give a file or a session folder", errno.EINVAL
    )


def _open_file(path: str) -> int:
    try:
        return _open(path)
    except OSError as error:
        raise storage_error(error, f"opening {path}") from error


def _first_line(fd: int) -> bytes:
    head = scan.read_exactly(fd, 0, HEADER_BYTES_MAX)
    line, newline, _ = head.partition(b"\n")
    return line + newline


def _readable_range(fd: int) -> tuple[int, int]:
    """Where the objects of a file are: behind the header and up to the valid end in a segment of
    ours.
    """
    size = os.fstat(fd).st_size
    line = _first_line(fd)
    if not line.startswith(_HEADER_START):
        return 0, size
    header = decode_header(line)
    if header is None:
        return 0, 0
    end = scan.walk(fd, header.length, size, header.seed, header.first_seq, True)[1]
    return header.length, end


def _spans_forward(fd: int, start: int, stop: int) -> Iterator[tuple[int, int]]:
    while start < stop:
        spans, start = scan.objects_forward(fd, start, stop)
        yield from spans


def _spans_backward(fd: int, start: int, stop: int) -> Iterator[tuple[int, int]]:
    if start == 0 and scan.objects_forward(fd, 0, stop, 1) == ([], stop):
        return
    while start < stop:
        spans, stop = scan.objects_backward(fd, start, stop)
        yield from spans
