"""One maintenance thread a process: syncs what sessions ask to have synced soon, and tends to forks."""

from __future__ import annotations

import os
import time
from weakref import WeakSet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    class Tended(Protocol):
        """What the thread works for."""

        def sync_in_background(self) -> None:
            """Syncs what is unsynced; keeps a failure for the caller's next call."""

        def abandon_after_fork(self) -> None:
            """Gives up the descriptors that belong to the parent process."""


class Upkeep:
    """Holds its sessions weakly; the thread starts with the first request."""

    def __init__(self) -> None:
        import threading

        self._sessions: WeakSet[Tended] = WeakSet()
        self._due: dict[Tended, float] = {}
        """When to sync each session that asked, in seconds of the monotonic clock."""
        self._wake = threading.Condition()
        self._thread: threading.Thread | None = None
        os.register_at_fork(after_in_child=self._after_fork)

    def add(self, session: Tended) -> None:
        """From now on a fork of the process poisons `session` in the child."""
        self._sessions.add(session)

    def discard(self, session: Tended) -> None:
        """The session was closed."""
        self._sessions.discard(session)
        with self._wake:
            self._due.pop(session, None)

    def request(self, session: Tended, within_s: float) -> None:
        """Has the session synced at most `within_s` seconds from now."""
        due = time.monotonic() + within_s
        with self._wake:
            self._due[session] = min(due, self._due.get(session, due))
            if self._thread is None:
                self._start()
            self._wake.notify()

    def _start(self) -> None:
        import threading

        self._thread = threading.Thread(target=self._run, name="safepoint-upkeep", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while True:
            session = self._next()
            session.sync_in_background()
            del session

    def _next(self) -> Tended:
        """Waits for the session that is due first and takes it off the list."""
        with self._wake:
            while True:
                now = time.monotonic()
                first = min(self._due, key=self._due.__getitem__, default=None)
                if first is not None and self._due[first] <= now:
                    del self._due[first]
                    return first
                self._wake.wait(None if first is None else self._due[first] - now)

    def _after_fork(self) -> None:
        import threading

        self._wake = threading.Condition()
        self._thread = None
        self._due = {}
        sessions, self._sessions = list(self._sessions), WeakSet()
        for session in sessions:
            session.abandon_after_fork()


class _Lazy:
    """Keeps the process's one Upkeep, made when a session first needs it: threading loads slowly."""

    def __init__(self) -> None:
        self._upkeep: Upkeep | None = None

    def __call__(self) -> Upkeep:
        if self._upkeep is None:
            self._upkeep = Upkeep()
        return self._upkeep


upkeep = _Lazy()
