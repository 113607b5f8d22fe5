"""The functions of the package that belong to no session: which engine runs, and looks at single
files.
"""

from __future__ import annotations

import os

from . import scan
from .inspection import inspect_path
from .types import Inspection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

THREADS_MAX = 8
"""More threads than this `verify` does not use: a disk gives no more than they read."""


def engine() -> str:
    """The engine that reads: "native" or "fallback". SAFEPOINT_ENGINE chooses, before the first
    use.
    """
    return scan.ENGINE


def inspect_file(
    path: str | os.PathLike[str], tick: Callable[[int], object] | None = None
) -> Inspection:
    """What stands at `path`: a session folder, one segment, or any JSONL file. Changes nothing.

    Never raises for what it finds: state `missing` or `unreadable` says what cannot be looked at.
    `tick(bytes_done)` is called now and then; what it raises ends the look.
    """
    return inspect_path(path, tick)


def verify(
    path: str | os.PathLike[str],
    threads: int | None = None,
    tick: Callable[[int], object] | None = None,
) -> Inspection:
    """As `inspect_file`, by several threads: at most `threads`, by default one for each processor
    that the process may use, and never more than 8.

    The result does not depend on their number; the fallback engine uses one. ValueError where
    `threads` is less than 1.
    """
    if threads is not None and threads < 1:
        raise ValueError("threads must be at least 1")
    return inspect_path(path, tick, min(threads or _processors(), THREADS_MAX))


def _processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
