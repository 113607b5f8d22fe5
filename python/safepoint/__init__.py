"""safepoint keeps the history of long-running agent sessions so that a crash costs nothing.

`open_store(path)` gives a Store: `create` a session and append events to it, `resume` it after a
crash, `open` it to read, `inspect` it to see what is there. `inspect_file`, `verify` and
`read_file` look at any JSONL log. README.md has the first ten minutes, docs/ARCHITECTURE.md the
house, docs/FORMAT.md the bytes.

Names load when they are first used, so that importing the package costs next to nothing.

"""

from . import scan as _scan  # a missing engine shows here, not at the first append

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .api import engine, inspect_file, verify
    from .errors import (
        CorruptLogError,
        InvalidEventError,
        InvalidIdError,
        PoisonedError,
        ResumeCorruptError,
        ResumeRefusedError,
        SafepointError,
        SequenceError,
        SessionBusyError,
        SessionClosedError,
        SessionExistsError,
        SessionNotFoundError,
        StorageError,
        StorageFullError,
        TooNewError,
        UnsafePathError,
    )
    from .inspection import read_file
    from .session import Session
    from .store import Reader, Store, open_store
    from .types import Event, Finding, Inspection, Reason, Repair, ResumePlan, SessionInfo
    from .version import __version__

_HOMES = {
    "CorruptLogError": "errors",
    "Event": "types",
    "Finding": "types",
    "Inspection": "types",
    "InvalidEventError": "errors",
    "InvalidIdError": "errors",
    "PoisonedError": "errors",
    "Reader": "store",
    "Reason": "types",
    "Repair": "types",
    "ResumeCorruptError": "errors",
    "ResumePlan": "types",
    "ResumeRefusedError": "errors",
    "SafepointError": "errors",
    "SequenceError": "errors",
    "Session": "session",
    "SessionBusyError": "errors",
    "SessionClosedError": "errors",
    "SessionExistsError": "errors",
    "SessionInfo": "types",
    "SessionNotFoundError": "errors",
    "StorageError": "errors",
    "StorageFullError": "errors",
    "Store": "store",
    "TooNewError": "errors",
    "UnsafePathError": "errors",
    "__version__": "version",
    "engine": "api",
    "inspect_file": "api",
    "open_store": "store",
    "read_file": "inspection",
    "verify": "api",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'safepoint' has no attribute {name!r}")
    module = __import__(f"{__name__}.{_HOMES[name]}", fromlist=(name,))  # importlib costs 0.4 ms
    value = getattr(module, name)
    globals()[name] = value
    return value
