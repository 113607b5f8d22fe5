"""A record of ours: its layout, its seal, and the pieces that a CRC proves in a damaged line.

    {"seq":N,"ts":"...","type":"..."[,"key":"..."],"data":...[,"more":N],"d":N,"crc":"hhhhhhhh"}

Nothing else in the fallback knows where a member stands.
"""

from __future__ import annotations

import re
import time
import zlib

PIECE_STARTS_MAX = 64
"""Places of a damaged line from which a record is looked for: each costs one pass over the line."""

Record = tuple[int, str, str, "bytes | None", int, int, int, int]
Parsed = tuple[int, str, str, "bytes | None", bytes, int, int]

_NUMBER = rb"(0|[1-9][0-9]{0,17})"
_HEAD = re.compile(
    rb'\{"seq":%s,"ts":"([ !#-\[\]-~]{27})","type":"([!#-\[\]-~]{1,128})",' % _NUMBER
)
_TAIL = re.compile(rb'(?:,"more":%s)?,"d":%s\Z' % (_NUMBER, _NUMBER))
_SUFFIX = re.compile(rb',"crc":"[0-9a-f]{8}"\}')
_KEY_CHARACTERS = re.compile(rb'[^"\\]*')
_NOT_PLAIN = re.compile(rb'[0-9]{19}|\$blob"')
_RECORD_BEGINS = b'{"seq":'
_HEADER_BEGINS = b'{"safepoint":'

_CRC_BYTES = len(b',"crc":"hhhhhhhh"}')
_TAIL_BYTES_MAX = len(b',"more":,"d":') + 2 * 18

_MICROS_END = 253_402_300_800 * 1_000_000
# The first moment whose year has five digits.

# The CRC holds, the members are not as they should be.
_UNREADABLE: Record = (-1, "", "", None, -1, -1, -1, 0)


def seal(body: bytes, seed: int) -> bytes:
    check_seed(seed)
    return b'%b,"crc":"%08x"}\n' % (body, zlib.crc32(b"}", zlib.crc32(body, seed)))


def seal_record(
    seq: int, ts: str, type: str, key: bytes | None, data: bytes, more: int, d: int, seed: int
) -> bytes:
    head = b'{"seq":%d,"ts":"%b","type":"%b",' % (seq, ts.encode(), type.encode())
    member = b"" if key is None else b'"key":%b,' % key
    batch = b"" if more < 0 else b',"more":%d' % more
    return seal(b'%b%b"data":%b%b,"d":%d' % (head, member, data, batch, d), seed)


def seal_event(seq: int, time_ns: int, type: str, data: bytes, d: int, seed: int) -> bytes:
    return seal_record(seq, format_timestamp(time_ns // 1000), type, None, data, -1, d, seed)


def format_timestamp(micros: int) -> str:
    if not 0 <= micros < _MICROS_END:
        raise ValueError("a timestamp has a year of four digits")
    seconds, rest = divmod(micros, 1_000_000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{rest:06d}Z"


def check_seal(line: bytes, seed: int) -> bool:
    check_seed(seed)
    return _seal_holds(_body(line), seed)


def reseal(line: bytes, seed: int) -> bytes:
    body = _body(line)
    if not _SUFFIX.fullmatch(body, max(0, len(body) - _CRC_BYTES)):
        raise ValueError("the line does not end in a crc member")
    return seal(body[:-_CRC_BYTES], seed)


def parse_record(line: bytes, seed: int) -> Record | None:
    check_seed(seed)
    return parse_body(_body(line), seed)


def parse_records(lines: bytes, seed: int) -> list[Parsed]:
    check_seed(seed)
    records: list[Parsed] = []
    start = 0
    while (stop := lines.find(b"\n", start) + 1) > 0:
        line = lines[start:stop]
        record = parse_record(line, seed)
        if record is None:
            break
        seq, ts, kind, key, data_start, data_stop, more, _ = record
        data = line[data_start:data_stop] if seq >= 0 else b""
        records.append((seq, ts, kind, key, data, more, stop))
        start = stop
    return records


def is_plain_text(text: bytes) -> bool:
    return not _NOT_PLAIN.search(text)


def check_seed(seed: int) -> None:
    if not 0 <= seed < 1 << 32:
        raise ValueError(f"seed {seed} is no CRC-32")


def parse_body(body: bytes, seed: int) -> Record | None:
    """`parse_record` of a line without its newline."""
    if not _seal_holds(body, seed):
        return None
    head = _HEAD.match(body)
    data_start = head.end() if head else 0
    key = None
    if body.startswith(b'"key":"', data_start):
        key_start = data_start + len(b'"key":')
        key_stop = _key_stop(body, key_start)
        key = body[key_start:key_stop]
        data_start = key_stop + 1 if body[key_stop : key_stop + 1] == b"," else len(body)
    if not head or not body.startswith(b'"data":', data_start):
        return _UNREADABLE
    data_start += len(b'"data":')
    stop = len(body) - _CRC_BYTES
    tail_start = max(data_start, stop - _TAIL_BYTES_MAX)
    tail = _TAIL.search(body[tail_start:stop])
    if not tail or tail_start + tail.start() == data_start:
        return _UNREADABLE
    more = -1 if tail[1] is None else int(tail[1])
    ts, kind = head[2].decode(), head[3].decode()
    return int(head[1]), ts, kind, key, data_start, tail_start + tail.start(), more, int(tail[2])


def find_proven(text: bytes, seed: int) -> list[tuple[int, int, Record]]:
    """(start, length, record) of the records in the rest of a damaged line that a CRC proves."""
    pieces = []
    start = text.find(_RECORD_BEGINS)
    for _ in range(PIECE_STARTS_MAX):
        if start < 0:
            break
        stop = _first_seal(text, start, seed)
        record = parse_body(text[start:stop], seed) if stop else None
        if record is not None and record[0] >= 0:
            pieces.append((start, stop - start, record))
            start = text.find(_RECORD_BEGINS, stop)
        else:
            start = text.find(_RECORD_BEGINS, start + 1)
    return pieces


def is_foreign(body: bytes, other_seeds: tuple[int, ...]) -> bool:
    """Whether the line is whole but of another segment, or a segment's header."""
    if any(_seal_holds(body, seed) for seed in other_seeds):
        return True
    return body.startswith(_HEADER_BEGINS) and _seal_holds(body, 0)


def _body(line: bytes) -> bytes:
    return line[:-1] if line.endswith(b"\n") else line


def _seal_holds(body: bytes, seed: int) -> bool:
    crc = zlib.crc32(b"}", zlib.crc32(memoryview(body)[:-_CRC_BYTES], seed))
    return body.endswith(b',"crc":"%08x"}' % crc)


def _key_stop(body: bytes, start: int) -> int:
    """The end of the JSON string that starts at `start`: behind the next quote not escaped."""
    pos = start + 1
    while True:
        plain = _KEY_CHARACTERS.match(body, pos)
        pos = plain.end() if plain else pos
        if body[pos : pos + 1] != b"\\":
            return pos + 1
        pos += 2


def _first_seal(text: bytes, start: int, seed: int) -> int:
    """The end of the first suffix whose CRC holds over the bytes from `start`; 0 if none does."""
    view = memoryview(text)
    crc, summed = seed, start
    for suffix in _SUFFIX.finditer(text, start + len(_RECORD_BEGINS)):
        crc = zlib.crc32(view[summed : suffix.start()], crc)
        summed = suffix.start()
        if suffix[0] == b',"crc":"%08x"}' % zlib.crc32(b"}", crc):
            return suffix.end()
    return 0
