"""When the log of a session is synced: what each level promises of an append."""

from __future__ import annotations

from contextlib import suppress

from .errors import SafepointError
from .upkeep import UPKEEP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .writer import LogWriter

BATCH_WITHIN_S = 0.05
"""`batch`: the log is synced at most this long after an append …"""
BATCH_BYTES_MAX = 1 << 20
"""… or once this much is unsynced, whichever comes first."""
PROCESS_WITHIN_S = 30.0
PROCESS_BYTES_MAX = 64 << 20
"""`process`: the same in the background, to bound what a power loss can take."""


class Durability:
    """Syncs one session's log, in the call or by the maintenance thread, as its level asks."""

    def __init__(self, level: str) -> None:
        self._level = level
        self._always = level == "sync"
        process = level == "process"
        self._within_s = PROCESS_WITHIN_S if process else BATCH_WITHIN_S
        self._bytes_max = PROCESS_BYTES_MAX if process else BATCH_BYTES_MAX
        self._requested: LogWriter | None = None
        """The log that the maintenance thread was asked to sync and has not begun to."""

    def confirm(self, writer: LogWriter, stop: int, sync: bool) -> None:
        """Behind an append that ends before seq `stop`: does what the level, or `sync`, asks."""
        if sync or self._always:
            writer.sync(stop)
        elif writer.end[0] - writer.synced_offset >= self._bytes_max:
            if self._level == "batch":
                writer.sync(stop)
            else:
                self._request(writer, 0.0)
        elif self._requested is None:
            self._request(writer, self._within_s)

    def sync_what_stayed(self, writer: LogWriter | None) -> None:
        """Behind an append that raised: an event that stayed is synced as soon as any other."""
        if writer is not None and not writer.poisoned and writer.unsynced_bytes:
            self._request(writer, self._within_s)

    def sync_in_background(self) -> None:
        """For the maintenance thread: syncs; a failure poisons the writer, and the next call says
        so.
        """
        writer, self._requested = self._requested, None
        if writer is not None and writer.is_open:
            with suppress(SafepointError):
                writer.sync()

    def _request(self, writer: LogWriter, within_s: float) -> None:
        self._requested = writer
        try:
            UPKEEP.request(self, within_s)
        except BaseException:
            self._requested = None
            raise
