"""Every error that safepoint raises.

```
SafepointError                  what all of them are
├── InvalidIdError              a session id that is not one              (also a ValueError)
├── InvalidEventError           an event that cannot be written           (also a ValueError)
├── SequenceError               `expect_seq` was not the next seq
├── SessionNotFoundError        no session of that name
├── SessionExistsError          create() of a session that is there
├── SessionBusyError            another writer has it; `.pid` names it
├── SessionClosedError          the handle was closed, or the session finished
├── ResumeRefusedError          the plan says refuse; `.plan` says why
├── CorruptLogError             damage below the watermark; `.finding` says where
│   └── ResumeCorruptError      resume() met it: a ResumeRefusedError too, with both attributes
├── TooNewError                 written by a newer safepoint
├── StorageError                the file system failed; `.errno`
│   ├── StorageFullError        no space, quota or size limit: nothing was written
│   └── UnsafePathError         a link, FIFO or device where our file should be
└── PoisonedError               the writer must reopen; `.seqs` are in doubt
```

Each message says what to do next, and none shows payload text. An append that raised one of these
is not in the log; PoisonedError alone leaves that open, and names the seqs in doubt.
"""

from __future__ import annotations

import errno as _errno

FULL_ERRNOS = frozenset((_errno.ENOSPC, _errno.EDQUOT, _errno.EFBIG))


class SafepointError(Exception):
    """The base of every error that this package raises on purpose."""


class InvalidIdError(SafepointError, ValueError):
    """A session id that does not match `[A-Za-z0-9][A-Za-z0-9_-]{0,127}` or is a reserved name."""


class InvalidEventError(SafepointError, ValueError):
    """An event that cannot be written as it is: nothing was written."""


class SequenceError(SafepointError):
    """`expect_seq` is not the seq that the record would get: nothing was written."""


class SessionNotFoundError(SafepointError):
    """The store has no session of that id."""


class SessionExistsError(SafepointError):
    """The session that create() should begin is there already: resume it, or choose another id."""


class SessionBusyError(SafepointError):
    """Another handle writes the session. `pid` is its process, or None where that is not known."""

    def __init__(self, message: str, pid: int | None = None) -> None:
        super().__init__(message)
        self.pid = pid


class SessionClosedError(SafepointError):
    """The handle was closed, or the session was finished: nothing was written."""


class ResumeRefusedError(SafepointError):
    """The policy refuses to resume.

    `plan` holds the reasons, each with the record that proves it.
    """

    def __init__(self, message: str, plan: object) -> None:
        super().__init__(message)
        self.plan = plan


class CorruptLogError(SafepointError):
    """Damage among records that were durable.

    `finding` has its kind, segment, offset and length.
    """

    def __init__(self, message: str, finding: object) -> None:
        super().__init__(message)
        self.finding = finding


class ResumeCorruptError(ResumeRefusedError, CorruptLogError):
    """resume() refuses a corrupt log: `plan` says why, `finding` where. Nothing was changed."""

    def __init__(self, message: str, plan: object, finding: object) -> None:
        SafepointError.__init__(self, message)
        self.plan = plan
        self.finding = finding


class TooNewError(SafepointError):
    """A format version above ours: install a newer safepoint. Nothing was changed."""


class StorageError(SafepointError):
    """The file system refused an operation. `errno` is its number, or None."""

    def __init__(self, message: str, errno: int | None = None) -> None:
        super().__init__(message)
        self.errno = errno


class StorageFullError(StorageError):
    """No space, quota or file size left: nothing was written; free some and append again."""


class UnsafePathError(StorageError):
    """A symlink, FIFO, device or second link stands where one of our files should: refused."""


class PoisonedError(SafepointError):
    """The writer cannot know what is on disk: close it and resume. `seqs` are the ones in doubt."""

    def __init__(self, message: str, seqs: range = range(0)) -> None:
        super().__init__(message)
        self.seqs = seqs


def storage_error(error: OSError, doing: str) -> StorageError:
    """The StorageError for an OSError, with what was being done and what to do next."""
    number = error.errno
    if number in FULL_ERRNOS:
        return StorageFullError(
            f"{doing}: {error.strerror}. Free some space, then do it again.", number
        )
    return StorageError(
        f"{doing}: {error.strerror or error}. Look at the disk and its permissions.", number
    )
