"""What a walk says: its findings, and the gaps of the seqs that it has seen."""

from __future__ import annotations

from bisect import bisect_right

FINDINGS_MAX = 10_000
"""Findings kept in one report; a log with more is no longer read one by one."""

GAPS_MAX = 65_536
"""Gaps remembered, so that hostile seqs cost bounded memory."""

Finding = tuple[str, int, int, int, int, int]


class Mark:
    """A finding that may still grow: a blank run, or damage that swallowed seqs."""

    __slots__ = ("kind", "length", "missing_start", "missing_stop", "offset", "seq")

    def __init__(self, kind: str, offset: int, length: int, seq: int = -1) -> None:
        self.kind = kind
        self.offset = offset
        self.length = length
        self.seq = seq
        self.missing_start = self.missing_stop = -1

    def swallow(self, start: int, stop: int) -> None:
        self.missing_start, self.missing_stop = start, stop

    def as_finding(self) -> Finding:
        return (
            self.kind,
            self.offset,
            self.length,
            self.seq,
            self.missing_start,
            self.missing_stop,
        )


class Report:
    """Findings in the order in which they were made."""

    __slots__ = ("_marks", "_newest", "omitted")

    _marks: list[Mark]  # never more than FINDINGS_MAX
    _newest: Mark | None  # the last one made, kept or not
    omitted: int  # how many were made beyond those kept

    def __init__(self) -> None:
        self._marks = []
        self._newest = None
        self.omitted = 0

    def add(self, kind: str, offset: int, length: int, seq: int = -1) -> Mark:
        mark = Mark(kind, offset, length, seq)
        if len(self._marks) < FINDINGS_MAX:
            self._marks.append(mark)
        else:
            self.omitted += 1
        self._newest = mark
        return mark

    def add_blank(self, offset: int, length: int) -> None:
        """Adjacent blank lines are one finding."""
        newest = self._newest
        if newest and newest.kind == "blank" and newest.offset + newest.length == offset:
            newest.length += length
        else:
            self.add("blank", offset, length)

    def findings(self) -> list[Finding]:
        return [mark.as_finding() for mark in self._marks]


class Gaps:
    """Disjoint half-open ranges of seqs that were jumped over, ascending."""

    __slots__ = ("_first", "_starts", "_stops")

    _starts: list[int]
    _stops: list[int]  # of the gap that starts at the same place of _starts
    _first: int  # gaps before this place of both lists are forgotten

    def __init__(self) -> None:
        self._starts = []
        self._stops = []
        self._first = 0

    def append(self, start: int, stop: int) -> None:
        """Remembers [start, stop), which lies above all others."""
        self._insert(len(self._starts), start, stop)

    def prepend(self, start: int, stop: int) -> None:
        """Remembers [start, stop), which lies below all others."""
        self._insert(self._first, start, stop)

    def take(self, seq: int) -> bool:
        """Whether `seq` falls into a gap. The gap is split around it."""
        place = bisect_right(self._starts, seq, self._first) - 1
        if place < self._first or seq >= self._stops[place]:
            return False
        start, stop = self._starts.pop(place), self._stops.pop(place)
        self._insert(place, seq + 1, stop)
        self._insert(place, start, seq)
        return True

    def _insert(self, place: int, start: int, stop: int) -> None:
        if start >= stop:
            return
        self._starts.insert(place, start)
        self._stops.insert(place, stop)
        if len(self._starts) - self._first > GAPS_MAX:
            self._first += 1
        if self._first > GAPS_MAX:
            del self._starts[: self._first], self._stops[: self._first]
            self._first = 0
