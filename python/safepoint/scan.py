"""Chooses the engine and is the one place that imports either.

`SAFEPOINT_ENGINE=native` insists on the Rust engine, `fallback` on the standard library's; without
it the native one is used where it is installed, else the fallback, with a warning.
"""

from __future__ import annotations

import os
from binascii import crc32

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

BEFORE_BYTES = 1 << 20
"""How far back a newest checkpoint mostly lies."""


def _choose() -> tuple[str, object]:
    wanted = os.environ.get("SAFEPOINT_ENGINE", "")
    if wanted not in ("", "native", "fallback"):
        raise ImportError(f"SAFEPOINT_ENGINE={wanted}: use native or fallback")
    if wanted != "fallback":
        try:
            from . import _native

            return "native", _native
        except ImportError as error:
            if wanted == "native":
                raise ImportError(
                    "SAFEPOINT_ENGINE=native, but safepoint._native is not installed: install a "
                    "wheel, or build it with `maturin develop --release`"
                ) from error
            _warn()
    from . import _fallback

    return "fallback", _fallback


def _warn() -> None:
    import warnings

    warnings.warn(
        "safepoint runs on its slow fallback engine: safepoint._native is not installed "
        "(set SAFEPOINT_ENGINE=fallback to silence this)",
        RuntimeWarning,
        stacklevel=4,
    )


ENGINE, _engine = _choose()

LINE_BYTES_MAX: int = _engine.LINE_BYTES_MAX  # type: ignore[attr-defined]
lines_forward = _engine.lines_forward  # type: ignore[attr-defined]
lines_backward = _engine.lines_backward  # type: ignore[attr-defined]
check_json = _engine.check_json  # type: ignore[attr-defined]
objects_forward = _engine.objects_forward  # type: ignore[attr-defined]
objects_backward = _engine.objects_backward  # type: ignore[attr-defined]
find_object = _engine.find_object  # type: ignore[attr-defined]
inspect_jsonl = _engine.inspect_jsonl  # type: ignore[attr-defined]
seal = _engine.seal  # type: ignore[attr-defined]
seal_event = _engine.seal_event  # type: ignore[attr-defined]
seal_record = _engine.seal_record  # type: ignore[attr-defined]
format_timestamp = _engine.format_timestamp  # type: ignore[attr-defined]
is_plain_value = _engine.is_plain_value  # type: ignore[attr-defined]
check_seal = _engine.check_seal  # type: ignore[attr-defined]
reseal = _engine.reseal  # type: ignore[attr-defined]
parse_record = _engine.parse_record  # type: ignore[attr-defined]
parse_records = _engine.parse_records  # type: ignore[attr-defined]
is_plain_text = _engine.is_plain_text  # type: ignore[attr-defined]
record_at = _engine.record_at  # type: ignore[attr-defined]
find_record = _engine.find_record  # type: ignore[attr-defined]
find_watermark = _engine.find_watermark  # type: ignore[attr-defined]
walk = _engine.walk  # type: ignore[attr-defined]


def seed_of(salt: str) -> int:
    """The CRC seed of a segment: the CRC-32 of its salt's 16 hex digits."""
    return crc32(salt.encode("ascii"))


class Effort:
    """How the records are walked: whether `data` is looked into, by how many threads at most, and
    who hears how many bytes are done.
    """

    def __init__(
        self,
        *,
        check_data: bool = False,
        threads: int = 1,
        tick: Callable[[int], object] | None = None,
    ) -> None:
        self.check_data = check_data
        self.threads = threads
        self.tick = tick


ONCE = Effort()
"""Records by their CRC, on this thread."""


def read_ahead(fd: int) -> None:
    """Tells the system that all of the file is going to be read, where it can be told: Linux then
    reads twice as far ahead, which doubled the speed from a cold disk.
    """
    if hasattr(os, "posix_fadvise"):
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_SEQUENTIAL)


def read_before(fd: int, start: int, stop: int) -> None:
    """Tells the system that the end of [start, stop) is read next, backward, where it can be told:
    a cold disk then delivers the last megabyte at once and not read by read.
    """
    if hasattr(os, "posix_fadvise"):
        start = max(start, stop - BEFORE_BYTES)
        os.posix_fadvise(fd, start, stop - start, os.POSIX_FADV_WILLNEED)


def read_exactly(fd: int, offset: int, length: int) -> bytes:
    """`length` bytes from `offset`, fewer only where the file ends."""
    parts = []
    while length:
        part = os.pread(fd, length, offset)
        if not part:
            break
        parts.append(part)
        offset += len(part)
        length -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)
