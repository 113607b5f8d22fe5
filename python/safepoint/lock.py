"""One writer: an OS lock that the kernel frees at death, and an owner line that people can read.

flock(2) on `.writer.lock` is the authority. The line in it (pid, start time, boot, host, epoch,
token) is for messages and for `status`; it has a fixed width, so that one pwrite replaces it whole.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import time
from contextlib import suppress

from .errors import PoisonedError, SessionBusyError
from .files import Directory, Disk
from .types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LOCK_NAME = ".writer.lock"
OWNER_BYTES = 512
"""Width of the owner line, newline included: one sector, so that it is replaced whole."""
RETRY_S = 0.05
"""How long a busy lock is asked again: a holder that just died or closed needs no more."""
_PAUSE_S = 0.005


class Owner(Value):
    """What the lock file says: the process that holds or held it. `released` after an orderly
    close.
    """

    FIELDS = (
        "pid",
        "started",
        "boot",
        "host",
        "epoch",
        "token",
        "heartbeat",
        "must_roll",
        "released",
    )
    __slots__ = FIELDS
    pid: int
    started: int | None
    boot: str
    host: str
    epoch: int
    token: str
    heartbeat: int
    must_roll: bool
    released: bool

    def __init__(self, **fields: Any) -> None:
        for name in self.FIELDS:
            setattr(self, name, fields.get(name))


class WriterLock:
    """The lock of one session, held. Closing the descriptor gives it back, nothing else does."""

    def __init__(
        self, disk: Disk, directory: Directory, fd: int, inode: tuple[int, int], line: bytes
    ) -> None:
        self._fd = fd
        self._disk = disk
        self._directory = directory
        self._inode = inode
        self._found_line = line
        self.found = _decode(self._found_line)
        """What the line said when we took the lock; None where it said nothing."""
        self.owner = Owner()

    def claim(self, epoch: int = 0) -> None:
        """Writes our owner line, with an epoch above the one found.

        A `must_roll` found there stays.
        """
        found_epoch = self.found.epoch if self.found and type(self.found.epoch) is int else 0
        must_roll = bool(self.found and self.found.must_roll)
        self.owner = Owner(
            pid=os.getpid(),
            started=process_start(os.getpid()),
            boot=boot_id(),
            host=_host(),
            epoch=max(epoch, found_epoch + 1, 1),
            token=os.urandom(8).hex(),
            heartbeat=int(time.time()),
            must_roll=must_roll,
            released=False,
        )
        self._write()
        if self.found is None:
            # An empty lock file makes the next opening roll: a power cut must not leave one.
            self._disk.sync(self._fd)

    @property
    def must_roll(self) -> bool:
        """Whether the line asks whoever opens next to roll, whatever the log looks like."""
        return bool(self.owner.must_roll)

    def set_must_roll(self) -> None:
        """Asks whoever opens next to roll: before a truncation, or a takeover."""
        self.owner.must_roll = True
        self._write()

    def clear_must_roll(self) -> None:
        """The log is whole again."""
        self.owner.must_roll = False
        self._write()

    def check(self) -> None:
        """PoisonedError unless the path still names our file and the line in it is ours."""
        if not self.is_current():
            raise PoisonedError(
                "the writer lock was taken over or removed: close this session and resume it"
            )

    def is_current(self) -> bool:
        """Whether the path still names the inode that we locked, with our epoch and token in it."""
        if not self.is_current_file():
            return False
        now = _decode(os.pread(self._fd, OWNER_BYTES, 0))
        return now is not None and (now.epoch, now.token) == (self.owner.epoch, self.owner.token)

    def is_current_file(self) -> bool:
        """Whether the path still names the inode that we locked: one stat, for every sync."""
        try:
            return _inode(self._directory.stat(LOCK_NAME)) == self._inode
        except OSError:
            return False

    def restore(self) -> None:
        """Puts back the line that we found and closes: a refusal changes nothing."""
        if self._fd < 0:
            return
        with suppress(OSError):
            self._disk.overwrite(self._fd, self._found_line)
            self._disk.truncate(self._fd, len(self._found_line))
        self.close()

    def release(self) -> None:
        """Says `released` in the line, if it is still ours, and closes."""
        if self._fd < 0:
            return
        try:
            if self.owner.token and self.is_current():
                self.owner.released = True
                self._write()
        finally:
            self.close()

    def close(self) -> None:
        """Closes the descriptor without a word: after fork, when poisoned, or before a claim."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            self._disk.close(fd)

    def __del__(self) -> None:
        with suppress(Exception):
            self.close()

    def _write(self) -> None:
        text = json.dumps(self.owner.as_dict(), separators=(",", ":")).encode()
        self._disk.overwrite(self._fd, text.ljust(OWNER_BYTES - 1) + b"\n")


def take_lock(disk: Disk, directory: Directory) -> WriterLock:
    """The writer lock of the session in `directory`.

    SessionBusyError names the process that has it.
    """
    deadline = time.monotonic() + RETRY_S
    while True:
        fd = directory.open_lock(LOCK_NAME)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            inode = _inode(os.fstat(fd))
            if inode == _inode(directory.stat(LOCK_NAME)):
                line = os.pread(fd, OWNER_BYTES, 0)
                return WriterLock(disk, directory, fd, inode, line)
        except FileNotFoundError:
            pass
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                disk.close(fd)
                raise
            if time.monotonic() >= deadline:
                owner = _decode(os.pread(fd, OWNER_BYTES, 0))
                disk.close(fd)
                raise _busy(directory, owner) from None
        except BaseException:
            disk.close(fd)
            raise
        disk.close(fd)
        time.sleep(_PAUSE_S)


def read_owner(directory: Directory) -> Owner | None:
    """What the lock file says, read without locking; None where there is none, or nothing in it."""
    try:
        fd = directory.open_read(LOCK_NAME)
    except FileNotFoundError:
        return None
    try:
        return _decode(os.pread(fd, OWNER_BYTES, 0))
    finally:
        os.close(fd)


def writer_state(owner: Owner | None) -> str:
    """`live`, `stale` or `idle`, by two signs at least: pid and start time, or boot; never by time
    alone.
    """
    if owner is None or owner.released:
        return "idle"
    if owner.host == _host() and owner.boot != boot_id():
        return "stale"
    if owner.boot != boot_id():
        return "live"
    started = process_start(owner.pid)
    return "live" if started is not None and started == owner.started else "stale"


def process_start(pid: int) -> int | None:
    """When the process began, in the kernel's ticks since boot (proc(5), field 22); None if it is
    gone.

    Where there is no /proc a process that exists gives 0.
    """
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        return None if fields[0] in (b"Z", b"X") else int(fields[19])
    except FileNotFoundError:
        if os.path.exists("/proc/self/stat"):
            return None
    except (OSError, ValueError, IndexError):
        return None
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except OSError:
        pass
    return 0


def boot_id() -> str:
    """A name of this boot of the machine, "" where the kernel gives none."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return file.read().strip()
    except OSError:
        return ""


def _host() -> str:
    return os.uname().nodename[:64]


def _inode(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino


def _decode(line: bytes) -> Owner | None:
    try:
        fields = json.loads(line.decode("utf-8"))
        return Owner(**fields) if type(fields.get("pid")) is int else None
    except (ValueError, AttributeError, TypeError, RecursionError):
        return None


def _busy(directory: Directory, owner: Owner | None) -> SessionBusyError:
    pid = owner.pid if owner else None
    holder = f"process {pid}" if pid is not None else "another process"
    return SessionBusyError(
        f"{directory.path} is being written by {holder}: close it there, or read it "
        "with store.open()",
        pid,
    )
