"""What a well-formed JSON text is, where a broken one stops, and the pieces inside a broken line.

The standard library decides wherever it can be trusted. Its verdict hangs on the caller's stack and
on a setting of the interpreter, and it does not say at which byte a text stops to be well-formed:
there the scanner below decides. It is iterative, strict, and linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ._fallback_lines import SPACES

DEPTH_MAX = 200
"""Deepest nesting, the outermost container counted: no transcript is half as deep, and a stack of
any caller can hold it."""

INT_DIGITS_MAX = 4300
"""Digits of the longest integer: the default of the standard library's own limit."""

# One match takes at most this many items: the engine keeps a backtracking point for each.
_ITEMS_MAX = 4096

_SPACE = re.compile(rb"[ \t\n\r]*")
_DIGITS = re.compile(rb"[0-9]*")
_INTEGER = re.compile(rb"0|[1-9][0-9]*")
_PLAIN_KEY = re.compile(rb'"[ !#-\[\]-~]*"[ \t\n\r]*:[ \t\n\r]*')
_CHARACTERS = re.compile(
    rb"""(?:[ !#-\[\]-\x7f]+
    | \\["\\/bfnrt] | \\u[0-9a-fA-F]{4}
    | [\xc2-\xdf][\x80-\xbf]
    | \xe0[\xa0-\xbf][\x80-\xbf]
    | [\xe1-\xec\xee\xef][\x80-\xbf]{2}
    | \xed[\x80-\x9f][\x80-\xbf]
    | \xf0[\x90-\xbf][\x80-\xbf]{2}
    | [\xf1-\xf3][\x80-\xbf]{3}
    | \xf4[\x80-\x8f][\x80-\xbf]{2}
    ){0,%d}"""
    % _ITEMS_MAX,
    re.VERBOSE,
)
_ESCAPE_BEGUN = re.compile(rb"\\(?:u[0-9a-fA-F]{0,3})?")
_UTF8_BEGUN = re.compile(
    rb"""\xe0[\xa0-\xbf]? | [\xe1-\xec\xee\xef][\x80-\xbf]? | \xed[\x80-\x9f]?
    | \xf0(?:[\x90-\xbf][\x80-\xbf]?)? | [\xf1-\xf3][\x80-\xbf]{0,2}
    | \xf4(?:[\x80-\x8f][\x80-\xbf]?)? | [\xc2-\xdf]""",
    re.VERBOSE,
)
_STRUCTURE = re.compile(rb'["{}\[\]]')
_SEQ = re.compile(rb"[0-9]{1,18}")
_WORDS = {b"t": b"true", b"f": b"false", b"n": b"null", b"N": b"NaN", b"I": b"Infinity"}


class _Stop(Exception):
    """A parse ended at `position`, the first byte that no well-formed text could have there.

    The end of the text is such a position too: the parse is then unclosed.
    """

    def __init__(self, position: int, verdict: str = "not_json") -> None:
        self.position = position
        self.verdict = verdict


def check_json(text: bytes) -> str:
    try:
        decoded = text.decode("utf-8")
    except UnicodeDecodeError:
        return "not_utf8"
    if text.count(b"{") + text.count(b"[") <= DEPTH_MAX:
        verdict = _ask_library(decoded)
        if verdict is not None:
            return verdict
    return _scan_text(text)


def find_pieces(text: bytes) -> list[tuple[int, int]]:
    """(start, length) of the complete objects that the piece rule proves in a broken line."""
    pieces = []
    checked = 0  # all before it is inside a piece, or counted in `broken`
    broken = False
    start = text.find(b"{")
    while start >= 0:
        try:
            end = scan_value(text, start)
        except _Stop as stop:
            if stop.position == len(text):
                break
            broken = True
            inner = text.rfind(b"{", start + 1, stop.position + 1)
            start = inner if inner >= 0 else text.find(b"{", stop.position + 1)
            continue
        broken = broken or bool(text[checked:start].strip(SPACES))
        checked = end
        if not broken or find_string(text[start:end], ("type",)) is not None:
            pieces.append((start, end - start))
            broken = False
        start = text.find(b"{", end)
    return pieces


def find_string(text: bytes, path: tuple[str, ...]) -> str | None:
    """The string at `path` of a well-formed object; of duplicate keys the last one decides."""
    for name in path:
        span = _last_member(text, name) if text.lstrip(SPACES)[:1] == b"{" else None
        if span is None:
            return None
        text = text[span[0] : span[1]]
    return _decode_string(text) if path and text[:1] == b'"' else None


def find_seq(text: bytes) -> int | None:
    """The top-level `seq` of a well-formed object, if it is an integer of 1 to 18 digits."""
    # A key can only be spelt otherwise with escapes of ASCII, and most lines have neither.
    if b'"seq"' not in text and b"\\u00" not in text:
        return None
    span = _last_member(text, "seq")
    if span is None or not _SEQ.fullmatch(text, *span):
        return None
    return int(text[span[0] : span[1]])


def scan_value(text: bytes, pos: int) -> int:
    """The end of the value that starts at `pos`. Raises _Stop where the text is not well-formed."""
    closers: list[bytes] = []
    while True:
        opener = text[pos : pos + 1]
        if opener == b"{" or opener == b"[":
            if len(closers) == DEPTH_MAX:
                raise _Stop(pos, "too_deep")
            closers.append(b"}" if opener == b"{" else b"]")
            pos = _skip(text, pos + 1)
            if text[pos : pos + 1] != closers[-1]:
                pos = _scan_key(text, pos) if opener == b"{" else pos
                continue
            closers.pop()
            pos += 1
        else:
            pos = _scan_scalar(text, pos)
        while closers:
            pos = _skip(text, pos)
            byte = text[pos : pos + 1]
            if byte == b",":
                pos = _skip(text, pos + 1)
                pos = _scan_key(text, pos) if closers[-1] == b"}" else pos
                break
            if byte != closers[-1]:
                raise _Stop(pos)
            closers.pop()
            pos += 1
        else:
            return pos


def _ask_library(text: str) -> str | None:
    """The verdict of `json.loads`; None where its answer would hang on the caller's stack."""
    import json

    try:
        value = json.loads(text, parse_int=_count_digits)
    except RecursionError:
        return None
    except ValueError:
        return "not_json"
    return "ok" if isinstance(value, dict) else "not_object"


def _count_digits(literal: str) -> None:
    if len(literal.lstrip("-")) > INT_DIGITS_MAX:
        raise ValueError("more digits than the standard library decodes")


def _scan_text(text: bytes) -> str:
    start = _skip(text, 0)
    try:
        end = scan_value(text, start)
    except _Stop as stop:
        return stop.verdict
    if _skip(text, end) != len(text):
        return "not_json"
    return "ok" if text[start : start + 1] == b"{" else "not_object"


def _skip(text: bytes, pos: int) -> int:
    space = _SPACE.match(text, pos)
    return space.end() if space else pos


def _scan_key(text: bytes, pos: int) -> int:
    """The start of the value behind the key at `pos`."""
    plain = _PLAIN_KEY.match(text, pos)
    if plain:
        return plain.end()
    if text[pos : pos + 1] != b'"':
        raise _Stop(pos)
    pos = _skip(text, _scan_string(text, pos))
    if text[pos : pos + 1] != b":":
        raise _Stop(pos)
    return _skip(text, pos + 1)


def _scan_scalar(text: bytes, pos: int) -> int:
    first = text[pos : pos + 1]
    if first == b'"':
        return _scan_string(text, pos)
    if first in _WORDS:
        return _scan_word(text, pos, _WORDS[first])
    if first == b"-" and text[pos + 1 : pos + 2] == b"I":
        return _scan_word(text, pos + 1, b"Infinity")
    return _scan_number(text, pos)


def _scan_string(text: bytes, pos: int) -> int:
    pos += 1
    while True:
        taken = _CHARACTERS.match(text, pos)
        if not taken or taken.end() == pos:
            break
        pos = taken.end()
    if text[pos : pos + 1] == b'"':
        return pos + 1
    begun = _ESCAPE_BEGUN.match(text, pos) or _UTF8_BEGUN.match(text, pos)
    raise _Stop(begun.end() if begun else pos)


def _scan_word(text: bytes, pos: int, word: bytes) -> int:
    for byte in word:
        if text[pos : pos + 1] != bytes((byte,)):
            raise _Stop(pos)
        pos += 1
    return pos


def _scan_number(text: bytes, pos: int) -> int:
    integer = _INTEGER.match(text, pos + (text[pos : pos + 1] == b"-"))
    if not integer:
        raise _Stop(pos + (text[pos : pos + 1] == b"-"))
    end = integer.end()
    if text[end : end + 1] == b".":
        end = _scan_digits(text, end + 1)
    if text[end : end + 1] in (b"e", b"E"):
        signed = text[end + 1 : end + 2] in (b"+", b"-")
        end = _scan_digits(text, end + 1 + signed)
    if end == integer.end() and end - integer.start() > INT_DIGITS_MAX:
        raise _Stop(end)
    return end


def _scan_digits(text: bytes, pos: int) -> int:
    digits = _DIGITS.match(text, pos)
    if not digits or digits.end() == pos:
        raise _Stop(pos)
    return digits.end()


def _last_member(text: bytes, name: str) -> tuple[int, int] | None:
    """(start, stop) of the value of the last top-level member `name` of a well-formed object."""
    plain = b'"' + name.encode() + b'"'
    found = None
    for key_start, key_stop, value_start, value_stop in _members(text):
        key = text[key_start:key_stop]
        if key == plain or (b"\\" in key and _decode_string(key) == name):
            found = (value_start, value_stop)
    return found


def _members(text: bytes) -> Iterator[tuple[int, int, int, int]]:
    pos = _skip(text, _skip(text, 0) + 1)
    while text[pos : pos + 1] == b'"':
        key_stop = _scan_string(text, pos)
        value_start = _skip(text, _skip(text, key_stop) + 1)
        value_stop = _skip_value(text, value_start)
        yield pos, key_stop, value_start, value_stop
        pos = _skip(text, _skip(text, value_stop) + 1)


def _skip_value(text: bytes, pos: int) -> int:
    """The end of the value at `pos` of a well-formed text: only strings and brackets matter."""
    depth = 0
    while True:
        byte = text[pos : pos + 1]
        if byte == b'"':
            pos = _scan_string(text, pos)
        elif byte in (b"{", b"["):
            depth += 1
            pos += 1
        elif byte in (b"}", b"]"):
            depth -= 1
            pos += 1
        else:
            pos = _scan_scalar(text, pos)
        if not depth:
            return pos
        structure = _STRUCTURE.search(text, pos)
        pos = structure.start() if structure else len(text)


def _decode_string(literal: bytes) -> str:
    import json

    decoded: str = json.loads(literal.decode("utf-8"))
    return decoded
