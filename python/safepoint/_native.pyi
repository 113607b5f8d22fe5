"""The boundary between Python and an engine. `_native` (Rust) and `_fallback` export exactly this.

Engines read and never write. Content never raises here: damage is a finding. What raises is OSError
(a read failed) and ValueError (an argument is out of range). Offsets and lengths are bytes, ranges
are half-open, `length` of a line counts its newline. A file that ends before `stop` ends there.

A *finding* is `(kind, offset, length, seq, missing_start, missing_stop)`: -1 where there is none;
`[missing_start, missing_stop)` are the seqs that the damage swallowed.

"""

from collections.abc import Callable

_Line = tuple[int, int, bool]
_Span = tuple[int, int]
_Finding = tuple[str, int, int, int, int, int]
_Parsed = tuple[int, str, str, bytes | None, bytes, int, int]
_Tick = Callable[[int], object]

LINE_BYTES_MAX: int
"""A longer line is `too_long` and never parsed: 128 MiB."""
DEPTH_MAX: int
"""Deepest nesting of a well-formed line, the outermost object counted: 200."""
INT_DIGITS_MAX: int
"""Digits of the longest integer that the standard library decodes: 4,300."""
FINDINGS_MAX: int
"""Findings kept in one report; the rest are counted: 10,000."""
PIECE_STARTS_MAX: int
"""Places of a damaged line of ours from which a record is looked for: 64."""
CHUNK_BYTES: int
"""Bytes of one read, by default: 256 KiB."""

def lines_forward(
    fd: int, start: int, stop: int, lines_max: int = 4096, chunk_bytes: int = ...
) -> list[_Line]:
    """Lines of [start, stop) from `start`, a line start: (offset, length, terminated), at most
    `lines_max`.

    Framing is on byte 0x0A alone. The caller goes on at the end of the last line given.

    """

def lines_backward(
    fd: int, start: int, stop: int, lines_max: int = 4096, chunk_bytes: int = ...
) -> list[_Line]:
    """The same lines, newest first. Linear in the length of a line, whatever `chunk_bytes` is."""

def check_json(text: bytes) -> str:
    """`ok` for one well-formed JSON object, else `not_utf8`, `too_deep`, `not_json` or
    `not_object`.

    Well-formed is what `json.loads(text.decode('utf-8'))` accepts, nested at most DEPTH_MAX deep.

    """

def classify_line(line: bytes, last: bool) -> tuple[list[_Finding], list[_Span]]:
    """Findings and complete objects of one line of a foreign log, offsets relative to the line.

    `last`: nothing follows the line. Objects are whole lines (newline included, NUL runs left out)
    or, in a `glued` line, the pieces that the piece rule proves (exactly their bytes).
    """

def objects_forward(
    fd: int, start: int, stop: int, objects_max: int = 4096, chunk_bytes: int = ...
) -> tuple[list[_Span], int]:
    """Complete objects of a foreign log, in order, and the line start at which to go on (`stop` at
    the end).

    Whole lines are consumed, so a few more than `objects_max` may come. A byte order mark at offset
    0 is skipped.
    """

def objects_backward(
    fd: int, start: int, stop: int, objects_max: int = 4096, chunk_bytes: int = ...
) -> tuple[list[_Span], int]:
    """The same objects, newest first, and the `stop` with which to go on (`start` at the end)."""

def find_object(
    fd: int, start: int, stop: int, path: tuple[str, ...], word: str, chunk_bytes: int = ...
) -> _Span | None:
    """The newest object in which the string at `path` (names of nested objects) is `word`.

    Judged as decoded JSON: escapes count, of duplicate keys the last, text inside strings never.
    """

def inspect_jsonl(
    fd: int, stop: int, chunk_bytes: int = ..., tick: _Tick | None = None, threads: int = 1
) -> tuple[int, int, int, list[_Finding], int]:
    """Walks a foreign log from offset 0: (records, tail, last_seq, findings, findings_omitted).

    `tail` is the end of the last line (or piece) that holds an object, 0 without any; `last_seq` is
    the highest top-level `seq`, or -1. `tick(bytes_done)` is called between chunks; what it raises
    ends the walk. At most `threads` threads look at the lines; the answer does not depend on it,
    and the fallback uses one.
    """

def seal(body: bytes, seed: int) -> bytes:
    """`body`, a JSON object without its closing brace, as a line with the 18-byte CRC suffix and
    newline.
    """

def seal_record(
    seq: int, ts: str, type: str, key: bytes | None, data: bytes, more: int, d: int, seed: int
) -> bytes:
    """One record. `key` and `data` are encoded JSON; `more` is -1 outside a batch."""

def seal_event(seq: int, time_ns: int, type: str, data: bytes, d: int, seed: int) -> bytes:
    """One record without a key and outside a batch, written `time_ns` nanoseconds after 1970 began:
    what `format_timestamp` and `seal_record` make together.
    """

def format_timestamp(micros: int) -> str:
    """A record's `ts`: the moment `micros` microseconds after 1970 began.

    ValueError before 1970 and from the year 10000 on.
    """

def is_plain_value(value: object, depth_max: int) -> bool:
    """Whether `value` can be encoded as it stands: str, int, bool, None, finite floats, and dicts,
    lists and tuples of these, all of exactly that type, nested at most `depth_max` deep.

    False also where a name in a dict begins with `$` or UTF-8 cannot spell it. Runs no code of the
    value.
    """

def check_seal(line: bytes, seed: int) -> bool:
    """Whether the line (newline optional) ends in the literal suffix and its CRC holds."""

def reseal(line: bytes, seed: int) -> bytes:
    """The same line, newline added where it lacks, with the CRC of another seed.

    ValueError without a suffix.
    """

def parse_record(
    line: bytes, seed: int
) -> tuple[int, str, str, bytes | None, int, int, int, int] | None:
    """(seq, ts, type, key, data_start, data_stop, more, d) of an exact record; None where the CRC
    does not hold.

    `key` is its encoded JSON string; `more` is -1 where absent. A line whose CRC holds but whose
    members are not as FORMAT orders them gives seq -1, data_start -1.
    """

def parse_records(lines: bytes, seed: int) -> list[_Parsed]:
    """(seq, ts, type, key, data, more, stop) of each line of `lines` from its begin on, up to the
    first that has no newline or for which `parse_record` gives None.

    `data` is its encoded JSON, `stop` the end of the line in `lines`. A line whose members are not
    as FORMAT orders them gives seq -1 and empty data.
    """

def record_at(
    fd: int, start: int, stop: int, seed: int, chunk_bytes: int = ...
) -> tuple[int, int] | None:
    """(seq, more) of the line [start, stop) as `parse_record` gives them, or None as there: a line
    of any length, in bounded memory.
    """

def is_plain_text(text: bytes) -> bool:
    """Whether neither 19 digits in a row nor `$blob"` stand in `text`: then it holds no integer
    past 64 bits and no name that the writer escaped.
    """

def find_record(
    fd: int, start: int, stop: int, seed: int, type: str, seq_max: int, chunk_bytes: int = ...
) -> tuple[int, int, int] | None:
    """(seq, offset, length) of the newest record of `type` ("" for any) with seq <= seq_max, by
    backward scan.

    Only lines that are exactly one record count; the last may lack its newline.

    """

def find_watermark(fd: int, start: int, stop: int, seed: int, chunk_bytes: int = ...) -> int:
    """The highest `d` in the last line that holds a proven record or piece; -1 if no line does."""

def walk(
    fd: int,
    start: int,
    stop: int,
    seed: int,
    seq: int,
    final: bool,
    check_data: bool = False,
    other_seeds: tuple[int, ...] = (),
    chunk_bytes: int = ...,
    tick: _Tick | None = None,
    threads: int = 1,
) -> tuple[
    int,
    int,
    int,
    tuple[int, int, int] | None,
    tuple[int, int, int] | None,
    int,
    list[_Finding],
    int,
]:
    """Validates the records of one segment from (start, seq): a line start and the seq expected
    there.

    Gives (next_seq, end, watermark, checkpoint, last, records_behind, findings, findings_omitted):
    the run of whole batches ends before `next_seq` at offset `end`; `watermark` is the highest `d`
    of any proven record, behind damage too (0 without any); `checkpoint` and `last` are (seq,
    offset, length) of the newest checkpoint and the newest record of the run; `records_behind`
    counts proven records behind its end. `final`: `stop` is the end of the log, so a complete last
    line without newline is a record. `check_data` looks for `undecodable` data too. `other_seeds`
    are those of the session's other segments, by which a stale record is told from a damaged one
    (`foreign`). `threads` as in `inspect_jsonl`.
    """
