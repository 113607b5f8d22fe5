"""One maintenance thread a process: syncs what sessions want synced soon, and tends to forks.

A request is one call into C (SimpleQueue.put), so a Ctrl-C can come before it or behind it, never
inside with a lock held, as it can in threading.Condition.
"""

from __future__ import annotations

import os
import time
from _queue import Empty, SimpleQueue
from _thread import start_new_thread
from heapq import heappop, heappush
from weakref import WeakSet, ref

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    class Synced(Protocol):
        """What the thread works for."""

        def sync_in_background(self) -> None:
            """Syncs what is unsynced; keeps a failure for the caller's next call."""

    class Forked(Protocol):
        """What a fork must not share."""

        def abandon_after_fork(self) -> None:
            """Gives up the descriptors that belong to the parent process."""


class Upkeep:
    """Holds what it tends weakly; the thread starts with the first request."""

    def __init__(self) -> None:
        self._sessions: WeakSet[Forked] = WeakSet()
        self._requests: SimpleQueue[tuple[float, int, ref[Synced]]] = SimpleQueue()
        """(when it is due on the monotonic clock, a tie-breaker, what is to be synced)."""
        self._running = False
        os.register_at_fork(after_in_child=self._after_fork)

    def add(self, session: Forked) -> None:
        """From now on a fork of the process poisons `session` in the child."""
        self._sessions.add(session)

    def discard(self, session: Forked) -> None:
        """The session was closed."""
        self._sessions.discard(session)

    def request(self, log: Synced, within_s: float) -> None:
        """Has the log synced at most `within_s` seconds from now."""
        self._requests.put((time.monotonic() + within_s, id(log), ref(log)))
        if not self._running:
            # A Ctrl-C between these two costs a second thread, which does no harm; the other
            # order could leave none.
            start_new_thread(self._run, (self._requests,))
            self._running = True

    @staticmethod
    def _run(requests: SimpleQueue[tuple[float, int, ref[Synced]]]) -> None:
        due: list[tuple[float, int, ref[Synced]]] = []
        while True:
            wait_s = max(0.0, due[0][0] - time.monotonic()) if due else None
            try:
                heappush(due, requests.get(timeout=wait_s))
            except Empty:
                log = heappop(due)[2]()
                if log is not None:
                    log.sync_in_background()
                del log

    def _after_fork(self) -> None:
        self._requests = SimpleQueue()
        self._running = False
        sessions, self._sessions = list(self._sessions), WeakSet()
        for session in sessions:
            session.abandon_after_fork()


UPKEEP = Upkeep()
