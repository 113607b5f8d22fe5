"""The values that the public API hands out: plain, comparable, without behaviour of their own."""

from __future__ import annotations

from .errors import CorruptLogError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

INFORMATION = frozenset(("bom", "blank", "renamed", "in_progress", "open_effect"))
"""Kinds of findings that are not damage."""


class Value:
    """Equality, repr and `as_dict` over the fields that a subclass lists in FIELDS."""

    __slots__ = ()
    FIELDS: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The fields by name, nested values as dicts: what `--json` prints."""
        return {name: _plain(getattr(self, name)) for name in self.FIELDS}

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.FIELDS)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.FIELDS)
        return f"{type(self).__name__}({fields})"


def _plain(value: Any) -> Any:
    if isinstance(value, Value):
        return value.as_dict()
    if isinstance(value, (list, tuple, range)):
        return [_plain(item) for item in value]
    return value


class Event(Value):
    """One event: `seq`, `ts` (RFC 3339 text), `type`, `key` (or None) and `data`, decoded when
    first read.
    """

    FIELDS = ("seq", "ts", "type", "key", "data")
    __slots__ = ("_data", "_decode", "_raw", "key", "seq", "ts", "type")

    def __init__(self, seq: int, ts: str, type: str, key: str | None, data: Any) -> None:
        self.seq = seq
        self.ts = ts
        self.type = type
        self.key = key
        self._raw = b""
        self._data = data
        self._decode: Callable[[bytes], Any] | None = None

    @classmethod
    def undecoded(
        cls,
        seq: int,
        ts: str,
        type: str,
        key: str | None,
        raw: bytes,
        decode: Callable[[bytes], Any],
    ) -> Event:
        """An event that keeps the encoded `raw` until somebody reads `data`."""
        event = cls.__new__(cls)
        event.seq = seq
        event.ts = ts
        event.type = type
        event.key = key
        event._raw = raw
        event._data = None
        event._decode = decode
        return event

    @property
    def data(self) -> Any:
        """The caller's JSON value. CorruptLogError if the record holds something else."""
        decode = self._decode
        if decode is not None:
            try:
                self._data = decode(self._raw)
            except ValueError:
                raise CorruptLogError(
                    f"the data of seq {self.seq} is no JSON text: verify the session",
                    Finding("undecodable", 0, 0, seq=self.seq),
                ) from None
            self._decode = None  # last, so that another thread decodes too or finds the value
        return self._data


class Finding(Value):
    """One thing that a scan saw: `kind`, where (`segment`, `offset`, `length` in bytes), which
    `seq`.

    `segment` is None in a foreign file, `seq` None where no record proves one; `seqs_missing` is
    the range of seqs that the damage swallowed, or None. DESIGN of the kinds: docs/FORMAT.md,
    "Findings".
    """

    FIELDS = ("kind", "segment", "offset", "length", "seq", "seqs_missing")
    __slots__ = FIELDS

    def __init__(
        self,
        kind: str,
        offset: int,
        length: int,
        segment: int | None = None,
        seq: int | None = None,
        seqs_missing: range | None = None,
    ) -> None:
        self.kind = kind
        self.segment = segment
        self.offset = offset
        self.length = length
        self.seq = seq
        self.seqs_missing = seqs_missing

    @property
    def information(self) -> bool:
        """Whether it is worth knowing but no damage."""
        return self.kind in INFORMATION

    def as_dict(self) -> dict[str, Any]:
        """As `Value.as_dict`; the range as [first, stop)."""
        missing = self.seqs_missing
        plain = {name: getattr(self, name) for name in self.FIELDS}
        plain["seqs_missing"] = None if missing is None else [missing.start, missing.stop]
        return plain


class Repair(Value):
    """One mend: the finding's kind and place, and the name in `quarantine/` of the bytes cut off
    there.

    `quarantine` is None where nothing was cut (only a newline was missing), or nothing is done yet.
    """

    FIELDS = ("kind", "segment", "offset", "length", "quarantine")
    __slots__ = FIELDS

    def __init__(
        self, kind: str, segment: int, offset: int, length: int, quarantine: str | None = None
    ) -> None:
        self.kind = kind
        self.segment = segment
        self.offset = offset
        self.length = length
        self.quarantine = quarantine


class Inspection(Value):
    """What is there, seen without changing it.

    state             clean, repairable, corrupt, empty, missing, not_jsonl, too_new or unreadable
    status            active, completed, failed or cancelled; None for a file
    writer            live, stale or idle; None for a file
    records           session: records of the valid run, session.created included; foreign file:
                      complete JSON objects, those inside damaged lines too
    last_seq          seq of the last of them, -1 without any
    durable_seq       last seq known to be on stable storage, -1 if none; None for a foreign file
    bytes             size of the file, or of all segments, in bytes
    segments          how many segment files there are; 0 for a foreign file
    records_behind    proven records behind the end of the valid run
    findings          list of Finding, in file order
    findings_omitted  how many more there were than a report keeps
    message           why, where `state` alone does not say it; else ""
    """

    FIELDS = (
        "path",
        "state",
        "status",
        "writer",
        "records",
        "last_seq",
        "durable_seq",
        "bytes",
        "segments",
        "records_behind",
        "findings",
        "findings_omitted",
        "message",
    )
    __slots__ = FIELDS

    def __init__(
        self,
        path: str,
        state: str,
        *,
        status: str | None = None,
        writer: str | None = None,
        records: int = 0,
        last_seq: int = -1,
        durable_seq: int | None = None,
        bytes: int = 0,
        segments: int = 0,
        records_behind: int = 0,
        findings: list[Finding] | None = None,
        findings_omitted: int = 0,
        message: str = "",
    ) -> None:
        self.path = path
        self.state = state
        self.status = status
        self.writer = writer
        self.records = records
        self.last_seq = last_seq
        self.durable_seq = durable_seq
        self.bytes = bytes
        self.segments = segments
        self.records_behind = records_behind
        self.findings = [] if findings is None else findings
        self.findings_omitted = findings_omitted
        self.message = message


class Reason(Value):
    """One reason of a plan: a `code`, a `message` that says what to do, the `seq` that proves it or
    None.
    """

    FIELDS = ("code", "message", "seq")
    __slots__ = FIELDS

    def __init__(self, code: str, message: str, seq: int | None = None) -> None:
        self.code = code
        self.message = message
        self.seq = seq


class ResumePlan(Value):
    """What resume() would do. `verdict` is "resume" or "refuse"; every refusal has its `reasons`.

    `repairs` is what would be mended, `checkpoint_seq` the checkpoint that the state comes from
    (None: from the start), `upto` the last seq that this state contains (-1: none), `last_seq` the
    last seq of the valid run, `durable_seq` the last one known durable, `finding` the damage that
    refuses, if any.
    """

    FIELDS = (
        "verdict",
        "reasons",
        "repairs",
        "checkpoint_seq",
        "upto",
        "last_seq",
        "durable_seq",
        "finding",
    )
    __slots__ = FIELDS

    def __init__(
        self,
        verdict: str,
        reasons: list[Reason],
        repairs: list[Repair],
        *,
        checkpoint_seq: int | None = None,
        upto: int = -1,
        last_seq: int = -1,
        durable_seq: int = -1,
        finding: Finding | None = None,
    ) -> None:
        self.verdict = verdict
        self.reasons = reasons
        self.repairs = repairs
        self.checkpoint_seq = checkpoint_seq
        self.upto = upto
        self.last_seq = last_seq
        self.durable_seq = durable_seq
        self.finding = finding


class SessionInfo(Value):
    """One row of `store.list()`: times are RFC 3339 text or None, `bytes` those of all segments."""

    FIELDS = ("id", "status", "created_at", "updated_at", "bytes", "info")
    __slots__ = FIELDS

    def __init__(
        self,
        id: str,
        status: str,
        created_at: str | None,
        updated_at: str | None,
        bytes: int,
        info: dict[str, Any],
    ) -> None:
        self.id = id
        self.status = status
        self.created_at = created_at
        self.updated_at = updated_at
        self.bytes = bytes
        self.info = info
