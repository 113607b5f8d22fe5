"""A checkpoint record: where it stands, what its state goes up to, and what it holds."""

from __future__ import annotations

import re

from . import scan
from .errors import CorruptLogError
from .events import decode_one
from .types import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_UPTO = re.compile(rb'\{"upto":(-?[0-9]{1,18})[,}]')
"""How `data` begins as our writer writes it: found without decoding a large state."""


class Checkpoint:
    """A checkpoint record that verified: where it is, and what seq its state goes up to."""

    def __init__(
        self, segment: int, seq: int, offset: int, line: bytes, start: int, stop: int
    ) -> None:
        self.segment = segment
        self.seq = seq
        self.offset = offset
        self.length = len(line)
        self.crc = line[-11:-3].decode("ascii")
        self._line = line
        self._data = slice(start, stop)
        """Where its data stands in its line."""
        quick = _UPTO.match(line, start, stop)
        self.upto = int(quick[1]) if quick else _upto(decoded(line[start:stop]))

    @property
    def data(self) -> dict[str, Any]:
        """Its decoded data: `{upto, state, fold, effects, approvals, keys}`.

        CorruptLogError if a sealed record holds something else.
        """
        data = decoded(self._line[self._data])
        if not isinstance(data, dict) or not _are_keys(data.get("keys", [])):
            raise CorruptLogError(
                f"checkpoint {self.seq} holds no state: restore the session from a copy",
                Finding("undecodable", self.offset, self.length, self.segment, self.seq),
            )
        return data


def read_named(
    fd: int, start: int, stop: int, seed: int, entry: dict[str, Any]
) -> tuple[bytes, int, int] | None:
    """(line, data_start, data_stop) of the checkpoint record that a manifest's entry names.

    `[start, stop)` are the segment's records. None unless exactly such a record stands there: its
    seal holds, and its type and seq, and its CRC where the entry has one, are those named.
    """
    offset, length = entry["offset"], entry["bytes"]
    if offset < start or offset + length > stop or length > scan.LINE_BYTES_MAX + 1:
        return None
    line = scan.read_exactly(fd, offset, length)
    record = scan.parse_record(line, seed)
    if record is None or record[0] != entry["seq"] or record[2] != "checkpoint" or record[6] > 0:
        return None
    crc = entry.get("crc")
    if not line.endswith(b"\n") or (crc is not None and crc != line[-11:-3].decode("ascii")):
        return None
    return line, record[4], record[5]


def decoded(raw: bytes) -> Any:
    """The value of a JSON text, None where it is none: a seal proves bytes, not sense."""
    try:
        return decode_one(raw)
    except (ValueError, RecursionError):
        return None


def _are_keys(keys: Any) -> bool:
    return isinstance(keys, list) and all(
        isinstance(one, list) and [type(part) for part in one] == [str, int, str] for one in keys
    )


def _upto(data: Any) -> int:
    upto = data.get("upto") if isinstance(data, dict) else None
    return upto if type(upto) is int else -2
