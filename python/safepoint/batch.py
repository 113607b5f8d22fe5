"""Turns encoded events into the sealed records of one atomic batch, within the format's limits."""

from __future__ import annotations

from . import scan
from .errors import InvalidEventError
from .events import check_type, decode_data
from .types import Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    Item = tuple[str, bytes, str | None, bytes | None]
    # (type, encoded data, key, encoded key)

BATCH_BYTES_MAX = 64 << 20
"""An atomic batch is at most this large: a reader holds it whole."""
TYPES_MAX = 256
"""Types that are remembered: more than a program has, and not all that a hostile one makes."""
_RESERVED_STARTS = ("session.", "approval.")
_RESERVED = ("checkpoint", "redacted")


def check_caller_type(type: str, known: set[str]) -> None:
    """InvalidEventError unless a caller may append events of this type; else `known` gets it."""
    check_type(type)
    if type.startswith(_RESERVED_STARTS) or type in _RESERVED:
        raise InvalidEventError(
            f"{type} is a reserved type: use the method that writes it. Nothing was written."
        )
    if len(known) < TYPES_MAX:
        known.add(str(type))


def seal_batch(
    items: list[Item], first: int, watermark: int, seed: int, ts: str
) -> tuple[list[bytes], list[Event]]:
    """(records, events) of the items, whose seqs begin with `first`.

    InvalidEventError where one event passes 128 MiB, or a batch 64 MiB.
    """
    more = len(items) - 1 if len(items) > 1 else -1
    records, events = [], []
    for seq, (type, raw, key, raw_key) in enumerate(items, first):
        records.append(scan.seal_record(seq, ts, type, raw_key, raw, more, watermark, seed))
        events.append(Event.undecoded(seq, ts, type, key, raw, decode_data))
        more -= 1 if more > 0 else 0
    size = sum(map(len, records))
    if size > (BATCH_BYTES_MAX if len(items) > 1 else scan.LINE_BYTES_MAX):
        raise too_large(size)
    return records, events


def too_large(size: int) -> InvalidEventError:
    """The error for records that no reader would take."""
    return InvalidEventError(
        f"{size} bytes: one event is at most {scan.LINE_BYTES_MAX}, a batch {BATCH_BYTES_MAX}. "
        "Nothing was written."
    )
