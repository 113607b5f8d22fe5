"""Encodes and decodes the caller's `data`: what goes in comes back as the same value, or nothing is
written.

orjson does the work where it is exact; where it refuses (lone surrogates, integers past 64 bits) or
would change a value (NaN to null, names that are no strings), the standard library or an error
steps in.
"""

from __future__ import annotations

import re
import sys
from math import isfinite

from . import scan
from .errors import InvalidEventError
from .scan import is_plain_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Default = Callable[[Any], Any]

DATA_DEPTH_MAX = 199
"""Deepest nesting of `data`: a record adds one level to it, and a line may have 200."""
TYPE_CHARS_MAX = 128
KEY_CHARS_MAX = 512
"""Longest idempotency key: checkpoints repeat the newest 1,024 of them."""

ORJSON_BYTES_MAX = 4 << 20
"""orjson reserves many times its input before it decodes, and crashes where that fails. It also
turns integers past 64 bits into floats: a text with 19 digits in a row is not for it either.
"""

_TYPE = re.compile(r"[!#-\[\]-~]{1,128}")
_BLOB_NAME = re.compile(r"\$+blob")
_SEPARATORS = (
    (b"\xe2\x80\xa8", b"\\u2028"),
    (b"\xe2\x80\xa9", b"\\u2029"),
    (b"\xc2\x85", b"\\u0085"),
)
"""JSON allows them raw, but readers in other languages split lines there."""


class _Unencodable(Exception):
    """A value that JSON cannot hold; `steps` leads to it, innermost first."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.steps: list[str] = []


class Encoder:
    """Encodes the data of one session's events.

    `default(value)` is asked for anything but dict, list, tuple, str, int, float, bool and None
    (dataclasses, dates, UUIDs and enums too).
    """

    def __init__(self, default: Default | None) -> None:
        self._default = default
        self._dumps: Callable[[Any], bytes] | None = None
        """orjson's, which loads late."""

    def encode(self, value: Any) -> bytes:
        """`value` as one line of JSON in UTF-8.

        InvalidEventError names the path of what cannot be encoded.
        """
        plain = value if is_plain_value(value, DATA_DEPTH_MAX) else self._made_plain(value)
        try:
            text = (self._dumps or self._load())(plain)
        except (TypeError, ValueError):
            text = _dumps_by_json(plain)
        return text if text.isascii() else _without_separators(text)

    def _load(self) -> Callable[[Any], bytes]:
        from orjson import dumps

        self._dumps = dumps
        return dumps

    def _made_plain(self, value: Any) -> Any:
        try:
            return _plain(value, self._default, DATA_DEPTH_MAX)
        except _Unencodable as problem:
            path = "data" + "".join(reversed(problem.steps))
            raise InvalidEventError(f"{path}: {problem}. Nothing was written.") from None


_PLAIN = Encoder(None)
"""For keys, which need no conversion."""


def encode_data(value: Any, default: Default | None = None) -> bytes:
    """`value` as `Encoder.encode` encodes it."""
    return Encoder(default).encode(value)


def decode_data(raw: bytes) -> Any:
    """The value that `encode_data` was given. ValueError if `raw` is no JSON text."""
    if len(raw) <= ORJSON_BYTES_MAX and scan.is_plain_text(raw):
        import orjson

        try:
            return orjson.loads(raw)
        except ValueError:
            pass
    return _without_escapes(raw, _decode_exactly(raw))


def decode_one(raw: bytes) -> Any:
    """The same for a text that may be the only one of its process: loading orjson takes as long as
    the standard library takes for some megabytes.
    """
    if "orjson" in sys.modules:
        return decode_data(raw)
    return _without_escapes(raw, _decode_exactly(raw))


def decode_json(raw: bytes) -> Any:
    """The value of a JSON text as the standard library decodes it, by orjson where it is exact.

    ValueError.
    """
    if len(raw) <= ORJSON_BYTES_MAX and scan.is_plain_text(raw):
        import orjson

        try:
            return orjson.loads(raw)
        except ValueError:
            pass
    return _decode_exactly(raw)


def decode_key(raw: bytes) -> str:
    """An idempotency key. ValueError if `raw`, up to its first quote that is not escaped, is no
    JSON string.
    """
    text = raw.decode("utf-8")
    if text.isprintable() and "\\" not in text:
        return text[1:-1]
    return str(decode_data(raw))


def encode_key(key: str) -> bytes:
    """An idempotency key as a JSON string. InvalidEventError if it is no string or too long."""
    if not isinstance(key, str) or not 0 < len(key) <= KEY_CHARS_MAX:
        raise InvalidEventError(
            f"key must be a string of 1 to {KEY_CHARS_MAX} characters. Nothing was written."
        )
    return _PLAIN.encode(str(key))


def check_type(type: str) -> None:
    """InvalidEventError unless `type` is 1 to 128 printable ASCII characters but space, `"` and
    `\\`.
    """
    if not isinstance(type, str) or not _TYPE.fullmatch(type):
        raise InvalidEventError(
            f"an event's type is 1 to {TYPE_CHARS_MAX} printable ASCII characters without space, "
            "quote and backslash. Nothing was written."
        )


def _plain(value: Any, default: Default | None, depth: int) -> Any:
    """`value` with exact types only; the same object where nothing had to change."""
    kind = type(value)
    if kind is str or kind is int or kind is bool or value is None:
        return value
    if kind is float:
        if not isfinite(value):
            raise _Unencodable("JSON has no NaN and no infinities")
        return value
    if kind is dict:
        return _plain_dict(value, default, depth)
    if kind is list or kind is tuple:
        return _plain_list(value, default, depth)
    _check_depth(depth)
    return _plain(_converted(value, default), default, depth - 1)


def _plain_dict(value: dict[Any, Any], default: Default | None, depth: int) -> dict[str, Any]:
    _check_depth(depth)
    changes = {}
    for name, item in value.items():
        if type(name) is not str:
            raise _Unencodable("a name in an object must be a string")
        kind = type(item)
        if kind is not str and kind is not int and kind is not bool and item is not None:
            try:
                plain = _plain(item, default, depth - 1)
            except _Unencodable as problem:
                problem.steps.append(f"[{name!r}]")
                raise
            if plain is not item:
                changes[name] = plain
    if changes:
        value = {**value, **changes}
    if any(name[:1] == "$" and _BLOB_NAME.fullmatch(name) for name in value):
        value = {("$" + n if _BLOB_NAME.fullmatch(n) else n): item for n, item in value.items()}
    return value


def _plain_list(value: Any, default: Default | None, depth: int) -> Any:
    _check_depth(depth)
    items = []
    for place, item in enumerate(value):
        try:
            items.append(_plain(item, default, depth - 1))
        except _Unencodable as problem:
            problem.steps.append(f"[{place}]")
            raise
    return items


def _converted(value: Any, default: Default | None) -> Any:
    if default is None:
        name = type(value).__name__
        raise _Unencodable(f"{name} is not a JSON type; give default= to convert it")
    return default(value)


def _check_depth(depth: int) -> None:
    if depth <= 0:
        raise _Unencodable(f"nested more than {DATA_DEPTH_MAX} deep")


def _dumps_by_json(plain: Any) -> bytes:
    """What orjson refuses: lone surrogates, and integers past 64 bits."""
    import json

    try:
        return json.dumps(plain, separators=(",", ":"), allow_nan=False).encode("ascii")
    except (ValueError, RecursionError):
        raise InvalidEventError(
            "data: an integer has too many digits to be decoded again. Nothing was written."
        ) from None


def _without_separators(text: bytes) -> bytes:
    for raw, escaped in _SEPARATORS:
        if raw in text:
            text = text.replace(raw, escaped)
    return text


def _decode_exactly(raw: bytes) -> Any:
    import json

    return json.loads(raw.decode("utf-8"))


def _without_escapes(raw: bytes, value: Any) -> Any:
    """`value` as it was before `encode_data` escaped names in it; `raw` is its text."""
    return _unescaped(value) if b'$blob"' in raw else value


def _unescaped(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            (name[1:] if name[:2] == "$$" and _BLOB_NAME.fullmatch(name) else name): _unescaped(
                item
            )
            for name, item in value.items()
        }
    if isinstance(value, list):
        return [_unescaped(item) for item in value]
    return value
