"""When the log of a session is synced: what each level promises of an append."""

from __future__ import annotations

from contextlib import suppress
from math import inf

from .errors import SafepointError
from .upkeep import UPKEEP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .writer import LogWriter

BATCH_WITHIN_S = 0.05
"""`batch`: the log is synced at most this long after an append …"""
BATCH_BYTES_MAX = 1 << 20
"""… or once this much is unsynced, whichever comes first."""
BATCH_BYTES_SOON = BATCH_BYTES_MAX // 2
"""Where the background is asked at once, so that appends seldom have to wait for that."""
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
        self._bytes_max: float = inf if process else BATCH_BYTES_MAX
        self._requested: LogWriter | None = None
        """The log that the maintenance thread was asked to sync and has not begun to."""
        self._hurried = False
        """Whether it was asked to do so at once."""
        self._bytes_soon = PROCESS_BYTES_MAX if process else BATCH_BYTES_SOON

    def confirm(self, writer: LogWriter, stop: int, sync: bool) -> None:
        """Behind an append that ends before seq `stop`: does what the level, or `sync`, asks."""
        if sync or self._always:
            writer.sync(stop)
            return
        unsynced = writer.end[0] - writer.synced_offset
        if unsynced >= self._bytes_soon:
            if unsynced >= self._bytes_max:
                writer.sync(stop)
            elif not self._hurried:
                self._hurried = True
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
        writer, self._requested, self._hurried = self._requested, None, False
        if writer is not None and writer.is_open:
            with suppress(SafepointError):
                writer.sync()

    def _request(self, writer: LogWriter, within_s: float) -> None:
        self._requested = writer
        try:
            UPKEEP.request(self, within_s)
        except BaseException:
            self._requested, self._hurried = None, False
            raise
