"""Decides the valid prefix of a session's log: looks, and changes nothing.

W is the watermark, the first seq not known durable; V is where the run of valid records ends. Only
seqs from W on may ever be cut, so V < W is corruption. The rules are docs/FORMAT.md, "Recovery";
each has a short history behind it in which data was lost without it.
"""

from __future__ import annotations

import time

from . import scan
from .checkpoint import Checkpoint, decoded, read_named
from .errors import TooNewError
from .files import Directory
from .lock import read_owner, writer_state
from .log import Header, LogView, find_batch, list_segments, segment_name
from .manifest import FORMAT_VERSION, Manifest, read_manifest
from .types import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

LIVE_LOOKS_MAX = 100
"""How often a log that is being written is read again before damage is believed to be there."""
LIVE_PAUSE_S = 0.002
FINISHED_BYTES_MAX = 4096
"""No `session.finished` of ours comes near it."""
NEAR_BYTES = 8192
"""So much is looked at first for the line before another."""
_UNFINISHED = frozenset(("torn", "unterminated", "batch_cut"))
"""What the end of a log looks like while its writer is in the middle of an append."""


class Place:
    """A batch boundary in the log: the segment, the offset in it, the seq that begins there."""

    __slots__ = ("offset", "segment", "seq")

    def __init__(self, segment: int, offset: int, seq: int) -> None:
        self.segment = segment
        self.offset = offset
        self.seq = seq


class Facts:
    """What one look at a session's log proved. It owns the view that it looked through."""

    def __init__(self, view: LogView, manifest: Manifest | None, writer: str) -> None:
        self.view = view
        self.manifest = manifest
        """None where there is none that verifies, or where a newer header made it void."""
        self.writer = writer
        self.state = "empty"
        self.status = "active"
        """`active`, or what `session.finished` said as the last record of the run."""
        self.watermark = 0
        """W: the first seq not known durable."""
        self.start = Place(1, 0, 0)
        """Where the walk began."""
        self.end = Place(1, 0, 0)
        """Where the run ends: V is `end.seq`."""
        self.checkpoint: Checkpoint | None = None
        """The newest checkpoint of the run, or the one that the walk began behind."""
        self.last: tuple[int, int, int] | None = None
        """(seq, offset, length) of the newest record of the run, in segment `end.segment` or
        before.
        """
        self.last_segment = 1
        self.findings: list[Finding] = []
        self.findings_omitted = 0
        self.records_behind = 0

    @property
    def damage(self) -> Finding | None:
        """The first finding that is damage, None without any."""
        # No generator: one that is left in the middle swallows a Ctrl-C when it is dropped.
        for found in self.findings:
            if not found.information:
                return found
        return None

    def close(self) -> None:
        """Closes the view."""
        self.view.close()

    def __enter__(self) -> Facts:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def look(
    directory: Directory,
    *,
    whole: bool,
    start: Place | None = None,
    effort: scan.Effort = scan.ONCE,
) -> Facts:
    """The facts of a session, seen from outside, beside a writer too.

    `whole` walks from record 0, else from the newest durable checkpoint; from `start`, a place up
    to which the caller read every record, where the walk from there reaches the watermark.
    TooNewError for a newer format, OSError where something cannot be read. Damage beside a live
    writer is believed once two looks agree.
    """
    before = None
    for _ in range(LIVE_LOOKS_MAX):
        writer = writer_state(read_owner(directory))
        facts = examine(directory, writer=writer, whole=whole, start=start, effort=effort)
        if writer == "live":
            _excuse_unfinished(facts)
        seen = (facts.view.numbers, facts.findings, facts.state)
        if facts.damage is None or seen == before or _is_at_rest(facts):
            return facts
        before = seen
        facts.close()
        time.sleep(LIVE_PAUSE_S)
    return examine(directory, writer="live", whole=whole, effort=effort)


def _is_at_rest(facts: Facts) -> bool:
    """Whether nobody wrote while we looked."""
    directory = facts.view.directory
    states = (facts.writer, writer_state(read_owner(directory)))
    return "live" not in states and list_segments(directory) == facts.view.numbers


def examine(
    directory: Directory,
    *,
    writer: str,
    whole: bool,
    start: Place | None = None,
    effort: scan.Effort = scan.ONCE,
) -> Facts:
    """One look. `writer` is "live" where the end of the log may be in the middle of an append."""
    manifest = read_manifest(directory)
    if manifest is not None and manifest.format > FORMAT_VERSION:
        raise TooNewError(
            f"{directory.path} is of format version {manifest.format}, this safepoint reads "
            f"{FORMAT_VERSION}: install a newer one. Nothing was changed."
        )
    view = LogView(directory)
    try:
        facts = Facts(view, None if _is_void(manifest, view) else manifest, writer)
        _Walker(facts, effort).run(whole, start)
        return facts
    except BaseException:
        view.close()
        raise


def _is_void(manifest: Manifest | None, view: LogView) -> bool:
    """Whether the manifest speaks of bytes behind the recorded end of a segment."""
    if manifest is None:
        return True
    for place in (manifest.durable, manifest.checkpoint):
        if place is None:
            continue
        following = place["segment"] + 1
        header = view.header(following) if following in view.numbers else None
        if header is not None and header.prev is not None and header.prev[1] < place["offset"]:
            return True
    return False


class _Walker:
    """Fills in the facts: W, the place to begin, the walk, the verdict."""

    def __init__(self, facts: Facts, effort: scan.Effort) -> None:
        self.facts = facts
        self.view = facts.view
        self.effort = effort
        self.bytes_done = 0
        self.broken = False
        """A header is invalid, foreign or missing."""
        self.intact = True
        """Nothing has ended the run yet."""

    def run(self, whole: bool, start: Place | None) -> None:
        """The one entry."""
        facts = self.facts
        if not self.view.numbers:
            if facts.manifest is not None or self.view.strangers:
                facts.watermark = facts.manifest.durable_seq if facts.manifest else 0
                self._missing(1)
                facts.state = "corrupt"
            return
        facts.watermark = self._known_watermark()
        for place, checkpoint in self._starts(whole, start):
            self._walk_from(place, checkpoint)
            if facts.end.seq >= facts.watermark:
                break
        self._judge()

    def _known_watermark(self) -> int:
        """W without a walk: the manifest, the newest header, the last line that proves a record."""
        newest = self.view.newest
        known = self.facts.manifest.durable_seq if self.facts.manifest else 0
        header = self.view.header(newest)
        if header is None or self._is_foreign(newest):
            return known
        found = scan.find_watermark(
            self.view.fd(newest), header.length, self.view.end(newest), header.seed
        )
        return max(known, header.durable, found)

    def _starts(
        self, whole: bool, start: Place | None
    ) -> Iterator[tuple[Place, Checkpoint | None]]:
        """Where to begin, in the order of trust: what the caller read, the hint's checkpoint, those
        that a scan finds, record 0.
        """
        if start is not None and self._is_in_log(start):
            yield start, None
        tried: set[int] = set()
        walked = False
        for candidate in () if whole else (self._hinted, self._scanned, self._scanned):
            checkpoint = candidate()
            if checkpoint is None or checkpoint.seq in tried:
                continue
            tried.add(checkpoint.seq)
            place = self._behind(checkpoint)
            if place is not None:
                walked = True
                yield place, checkpoint
        if not walked:
            first = self.view.header(1) if self.view.numbers[0] == 1 else None
            yield Place(1, first.length if first else 0, 0), None

    def _is_in_log(self, place: Place) -> bool:
        """Whether a place that was found earlier lies in the log still."""
        header = self.view.header(place.segment) if place.segment in self.view.numbers else None
        return header is not None and header.length <= place.offset <= self.view.end(place.segment)

    def _hinted(self) -> Checkpoint | None:
        """The manifest's checkpoint, believed only as far as the bytes that it names verify."""
        hint = self.facts.manifest.checkpoint if self.facts.manifest else None
        if not hint or hint["segment"] not in self.view.numbers:
            return None
        return self._checkpoint_at(hint["segment"], hint)

    def _scanned(self) -> Checkpoint | None:
        """The newest durable checkpoint by backward scan across the segments."""
        for number in reversed(self.view.numbers):
            header = self.view.header(number)
            if header is None:
                continue
            stop = self.view.end(number)
            while found := self._find_checkpoint(number, header, stop):
                seq, offset, length = found
                entry = {"seq": seq, "offset": offset, "bytes": length}
                checkpoint = self._checkpoint_at(number, entry)
                if checkpoint is not None:
                    return checkpoint
                stop = offset
        return None

    def _find_checkpoint(
        self, number: int, header: Header, stop: int
    ) -> tuple[int, int, int] | None:
        fd, below = self.view.fd(number), self.facts.watermark - 1
        scan.read_before(fd, header.length, stop)
        return scan.find_record(fd, header.length, stop, header.seed, "checkpoint", below)

    def _is_repeat(self, number: int, seq: int, offset: int) -> bool:
        """Whether a record stands behind one of its own seq or a later one: a copy of another."""
        header = self.view.header(number)
        if header is None or offset <= header.length:
            return False
        fd = self.view.fd(number)
        before = _line_before(fd, header.length, offset)
        record = scan.record_at(fd, before, offset, header.seed)
        return record is not None and record[0] >= seq

    def _checkpoint_at(self, number: int, entry: dict[str, Any]) -> Checkpoint | None:
        """The durable checkpoint that an entry of a manifest, or of a scan, names."""
        header, seq, offset = self.view.header(number), entry["seq"], entry["offset"]
        if header is None or seq >= self.facts.watermark:
            return None
        fd, end = self.view.fd(number), self.view.end(number)
        found = read_named(fd, header.length, end, header.seed, entry)
        if found is None or self._is_repeat(number, seq, offset):
            return None
        checkpoint = Checkpoint(number, seq, offset, *found)
        return checkpoint if -1 <= checkpoint.upto < seq else None

    def _behind(self, checkpoint: Checkpoint) -> Place | None:
        """The batch that holds the first event which the checkpoint's state does not contain."""
        wanted, behind = checkpoint.upto + 1, checkpoint.seq
        number, stop = checkpoint.segment, checkpoint.offset
        if wanted == checkpoint.seq:
            return Place(number, stop, wanted)
        while number in self.view.numbers:
            header = self.view.header(number)
            if header is None:
                return None
            if header.first_seq <= wanted:
                fd = self.view.fd(number)
                found = find_batch(fd, header.length, stop, header.seed, behind, wanted)
                return Place(number, *found) if found else None
            number, behind = number - 1, header.first_seq
            stop = self.view.end(number) if number in self.view.numbers else 0
        return None

    def _walk_from(self, place: Place, checkpoint: Checkpoint | None) -> None:
        facts = self.facts
        facts.start, facts.end = place, place
        facts.checkpoint, facts.last = checkpoint, None
        facts.findings, facts.findings_omitted, facts.records_behind = [], 0, 0
        self.broken, self.intact = False, True
        expected = place.segment
        for number in (n for n in self.view.numbers if n >= place.segment):
            if number > expected:
                self._missing(expected)
            self._walk_segment(number, place.offset if number == place.segment else None)
            expected = number + 1
        if facts.manifest is not None and facts.manifest.durable["segment"] >= expected:
            self._missing(expected)

    def _walk_segment(self, number: int, offset: int | None) -> None:
        """One segment, from its header or, the first one, from an offset."""
        facts = self.facts
        header = self.view.header(number)
        if header is None:
            self._break_at(self.view.problem(number) or Finding("missing", 0, 0, number))
            return
        if offset is None:
            if self._is_foreign(number):
                self._break_at(Finding("foreign", 0, header.length, number))
                return
            self._join(number, header.first_seq)
            offset = header.length
        facts.watermark = max(facts.watermark, header.durable)
        first = facts.end.seq if self.intact else header.first_seq
        stop = self.view.end(number)
        scan.read_ahead(self.view.fd(number))
        result = scan.walk(
            self.view.fd(number),
            min(offset, stop),
            stop,
            header.seed,
            first,
            number == self.view.newest and facts.writer != "live",
            self.effort.check_data,
            self._other_seeds(number),
            tick=self._ticker(),
            threads=self.effort.threads,
        )
        self.bytes_done += stop - offset
        self._take(number, stop, first, result)

    def _take(self, number: int, stop: int, first: int, result: Any) -> None:
        """Adds what the walk of one segment found."""
        facts = self.facts
        next_seq, end, watermark, checkpoint, last, behind, findings, omitted = result
        facts.watermark = max(facts.watermark, watermark)
        facts.findings += [finding_of(number, found) for found in findings]
        facts.findings_omitted += omitted
        if not self.intact:
            facts.records_behind += next_seq - first + behind
            return
        facts.records_behind += behind
        facts.end = Place(number, end, next_seq)
        if last is not None:
            facts.last, facts.last_segment = last, number
        if checkpoint is not None:
            self._adopt(number, *checkpoint)
        self.intact = end == stop

    def _adopt(self, number: int, seq: int, offset: int, length: int) -> None:
        """The newest checkpoint of the run is the one that holds the state."""
        known = self.facts.checkpoint
        if known is not None and (known.segment, known.seq, known.offset) == (number, seq, offset):
            return
        header = self.view.header(number)
        assert header is not None
        line = scan.read_exactly(self.view.fd(number), offset, length)
        record = scan.parse_record(line, header.seed)
        if record is not None:
            found = Checkpoint(number, seq, offset, line, record[4], record[5])
            self.facts.checkpoint = found if -1 <= found.upto < seq else known

    def _join(self, number: int, first_seq: int) -> None:
        """Goes over from one segment to the next: nothing may lie between them."""
        facts = self.facts
        if self.intact and facts.end.seq != first_seq:
            place = facts.end
            facts.findings.append(Finding("short", place.offset, 0, place.segment))
            self.intact = False

    def _is_foreign(self, number: int) -> bool:
        """Whether the header does not name the salt of the segment before it."""
        header = self.view.header(number)
        before = self.view.header(number - 1) if number - 1 in self.view.numbers else None
        if header is None or before is None:
            return False
        return header.prev is None or header.prev[0] != before.salt

    def _other_seeds(self, number: int) -> tuple[int, ...]:
        """Seeds of the neighbours, by which a stale record is told from a damaged one."""
        near = (n for n in (number - 1, number + 1) if n in self.view.numbers)
        headers = (self.view.header(n) for n in near)
        return tuple(header.seed for header in headers if header is not None)

    def _missing(self, number: int) -> None:
        self._break_at(Finding("missing", 0, 0, number))

    def _break_at(self, finding: Finding) -> None:
        self.facts.findings.append(finding)
        self.broken, self.intact = True, False

    def _ticker(self) -> Callable[[int], object] | None:
        tick, before = self.effort.tick, self.bytes_done
        return None if tick is None else lambda done: tick(before + done)

    def _judge(self) -> None:
        facts = self.facts
        if facts.end.seq < facts.watermark and self.intact:
            place = facts.end
            facts.findings.append(Finding("short", place.offset, 0, place.segment))
        if self.broken or facts.end.seq < facts.watermark:
            facts.state = "corrupt"
        else:
            facts.state = "clean" if facts.damage is None else "repairable"
        facts.status = self._status()

    def _status(self) -> str:
        facts = self.facts
        if facts.last is None or facts.last[2] > FINISHED_BYTES_MAX:
            return "active"
        header = self.view.header(facts.last_segment)
        if header is None:
            return "active"
        _, offset, length = facts.last
        line = scan.read_exactly(self.view.fd(facts.last_segment), offset, length)
        record = scan.parse_record(line, header.seed)
        if record is None or record[2] != "session.finished":
            return "active"
        data = decoded(line[record[4] : record[5]])
        status = data.get("status") if isinstance(data, dict) else None
        return status if status in ("completed", "failed", "cancelled") else "active"


def _line_before(fd: int, start: int, stop: int) -> int:
    """Where the last line of [start, stop) begins; most are short. `start` if nothing is there."""
    for near in (max(start, stop - NEAR_BYTES), start):
        lines = scan.lines_backward(fd, near, stop, 1)
        if lines and lines[0][0] > near:
            return int(lines[0][0])
    return start


def finding_of(segment: int | None, found: tuple[str, int, int, int, int, int]) -> Finding:
    """The Finding for an engine's tuple."""
    kind, offset, length, seq, first, stop = found
    missing = range(first, stop) if first >= 0 else None
    return Finding(kind, offset, length, segment, None if seq < 0 else seq, missing)


def log_bytes(directory: Directory, numbers: list[int]) -> int:
    """The size of all segment files together."""
    return sum(directory.stat(segment_name(number)).st_size for number in numbers)


def _excuse_unfinished(facts: Facts) -> None:
    """Beside a live writer an append in progress at the very end is information, not damage."""
    if facts.state != "repairable" or facts.end.segment != facts.view.newest:
        return
    offset = begin = facts.end.offset
    for found in facts.findings:
        if found.information:
            continue
        if found.kind not in _UNFINISHED or not begin <= found.offset <= offset:
            return
        offset = max(offset, found.offset + found.length)
    if offset != facts.view.size(facts.view.newest):
        return
    facts.findings = [f for f in facts.findings if f.information]
    facts.findings.append(Finding("in_progress", begin, offset - begin, facts.view.newest))
    facts.state = "clean"
