"""Every durable write of the project: append, sync, rename, link, truncate, and how a name is
opened.

`Disk` and `Directory` are the seam. These two work on the real file system; `safepoint.testing` has
a simulated pair with the same methods, which forgets what was not synced. A file is an `int`
descriptor in both, so that the engines read it in place; whatever changes a file or a name goes
through here.

Names are opened relative to a directory descriptor, one component at a time, never through a
symlink [CWE-59]. FIFOs and devices cannot hang us: everything is opened with O_NONBLOCK and looked
at first.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from contextlib import suppress

from .errors import UnsafePathError

DIRECTORY_MODE = 0o700
FILE_MODE = 0o600
_DIRECTORY_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE_FLAGS = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_F_FULLFSYNC = 51
"""macOS: fsync alone leaves the data in the drive's cache (fcntl(2), F_FULLFSYNC)."""


class Directory:
    """An open directory. `path` is for messages only: names are resolved against the descriptor."""

    def __init__(self, fd: int, path: str) -> None:
        self._fd = fd
        self.path = path

    def names(self) -> list[str]:
        """The names in it, sorted."""
        if self._fd < 0:
            raise OSError(errno.EBADF, "the directory is closed")
        return sorted(os.listdir(self._fd))

    def stat(self, name: str) -> os.stat_result:
        """What stands at `name`, a link itself and not its target.

        FileNotFoundError if nothing does.
        """
        return os.stat(name, dir_fd=self._fd, follow_symlinks=False)

    def open_directory(self, name: str) -> Directory:
        """The directory `name`. UnsafePathError if it is anything else."""
        path = os.path.join(self.path, name)
        try:
            return Directory(os.open(name, _DIRECTORY_FLAGS, dir_fd=self._fd), path)
        except OSError as error:
            raise _unsafe(error, path, "a directory") from None

    def make_directory(self, name: str) -> None:
        """Creates `name` with mode 0700 whatever the umask; one that exists is left as it is."""
        try:
            os.mkdir(name, DIRECTORY_MODE, dir_fd=self._fd)
        except FileExistsError:
            return
        fd = os.open(name, _DIRECTORY_FLAGS, dir_fd=self._fd)
        try:
            os.fchmod(fd, DIRECTORY_MODE)
        finally:
            os.close(fd)

    def open_read(self, name: str) -> int:
        """A descriptor to read the regular file `name`. UnsafePathError if it is anything else."""
        return self._open(name, os.O_RDONLY)

    def open_append(self, name: str) -> int:
        """A descriptor that reads `name` and writes at its end; a second link is refused."""
        return self._open(name, os.O_RDWR | os.O_APPEND, links_max=1)

    def open_lock(self, name: str) -> int:
        """A descriptor of the lock file `name`, created empty with mode 0600 if it is not there."""
        try:
            return self._open(name, os.O_RDWR, links_max=1)
        except FileNotFoundError:
            pass
        try:
            return self._create(name, os.O_RDWR)
        except FileExistsError:
            return self._open(name, os.O_RDWR, links_max=1)

    def create_file(self, name: str) -> int:
        """A new empty file `name`, mode 0600 whatever the umask.

        FileExistsError if the name is taken.
        """
        return self._create(name, os.O_RDWR | os.O_APPEND)

    def link(self, name: str, new: str) -> None:
        """Gives the file `name` a second name.

        FileExistsError if `new` is taken: nothing is replaced.
        """
        os.link(name, new, src_dir_fd=self._fd, dst_dir_fd=self._fd, follow_symlinks=False)

    def unlink(self, name: str) -> None:
        """Removes the name of a file."""
        os.unlink(name, dir_fd=self._fd)

    def replace(self, name: str, new: str) -> None:
        """Renames `name` to `new`, replacing what is there, atomically."""
        os.replace(name, new, src_dir_fd=self._fd, dst_dir_fd=self._fd)

    def sync(self) -> None:
        """On return the names in it are on stable storage."""
        _fsync(self._fd)

    def close(self) -> None:
        """Closes the descriptor; a second call does nothing."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def __enter__(self) -> Directory:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _create(self, name: str, flags: int) -> int:
        flags |= os.O_CREAT | os.O_EXCL | _FILE_FLAGS
        fd = os.open(name, flags, FILE_MODE, dir_fd=self._fd)
        try:
            os.fchmod(fd, FILE_MODE)
        except BaseException:
            os.close(fd)
            raise
        return fd

    def _open(self, name: str, flags: int, links_max: int | None = None) -> int:
        path = os.path.join(self.path, name)
        try:
            fd = os.open(name, flags | _FILE_FLAGS, dir_fd=self._fd)
        except OSError as error:
            raise _unsafe(error, path, "a regular file") from None
        try:
            found = os.fstat(fd)
            if not stat.S_ISREG(found.st_mode):
                raise UnsafePathError(f"{path} is not a regular file: move it away", errno.EINVAL)
            if links_max is not None and found.st_nlink > links_max:
                raise UnsafePathError(
                    f"{path} has a second link: remove the other name", errno.EMLINK
                )
        except BaseException:
            os.close(fd)
            raise
        return fd


class Disk:
    """What changes the bytes of open files, and where directories come from."""

    def open_root(self, path: str) -> Directory:
        """The store's directory.

        Its parents may be links, it itself may not. FileNotFoundError if absent.
        """
        parent, name = _split(path)
        with self._directory(parent) as above:
            return above.open_directory(name)

    def create_root(self, path: str) -> Directory:
        """The store's directory, made with mode 0700 where missing, as its parents are; durable."""
        parent, name = _split(path)
        self._make_parents(parent)
        with self._directory(parent) as above:
            above.make_directory(name)
            above.sync()
            return above.open_directory(name)

    write = staticmethod(os.write)
    """One write(2) at the end of the file: how many bytes it took."""

    def overwrite(self, fd: int, data: bytes) -> None:
        """Writes `data` over the start of a lock file with one pwrite(2)."""
        if os.pwrite(fd, data, 0) != len(data):
            raise OSError(errno.EIO, "short write of the owner line")

    def truncate(self, fd: int, size: int) -> None:
        """Cuts the file to `size` bytes. Not durable before the next sync."""
        os.ftruncate(fd, size)

    def sync(self, fd: int) -> None:
        """On return the bytes and the size of the file are on stable storage."""
        _fdatasync(fd)

    close = staticmethod(os.close)
    """Closes a descriptor. In C, so that no Ctrl-C comes between forgetting it and closing it."""

    def _make_parents(self, path: str) -> None:
        """Creates what is missing of `path`; each new name is durable before the next is made."""
        if os.path.isdir(path):
            return
        parent, name = os.path.split(path)
        self._make_parents(parent)
        with self._directory(parent) as above:
            above.make_directory(name)
            above.sync()

    def _directory(self, path: str) -> Directory:
        return Directory(os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC), path)


def append(disk: Disk, fd: int, data: bytes | memoryview) -> None:
    """Writes all of `data` at the end of the file: one write(2), more only where the kernel took
    less.

    OSError leaves any prefix of `data` in the file; the caller truncates.
    """
    taken = disk.write(fd, data)
    if taken == len(data):
        return
    rest = memoryview(data)[taken:]
    while rest:
        rest = rest[disk.write(fd, rest) :]


def publish_file(disk: Disk, directory: Directory, temporary: str, name: str, data: bytes) -> None:
    """Replaces `name` by a file that holds `data`: temporary file, sync, rename, sync of the
    directory.

    On return the new content is durable; after a crash at any moment the old or the new stands
    there.
    """
    fd = directory.create_file(temporary)
    try:
        append(disk, fd, data)
        disk.sync(fd)
        directory.replace(temporary, name)
    except BaseException:
        unlink_quietly(directory, temporary)
        raise
    finally:
        disk.close(fd)
    directory.sync()


def check_file(directory: Directory, name: str) -> None:
    """UnsafePathError if `name` is there and not a regular file with one link."""
    try:
        found = directory.stat(name)
    except FileNotFoundError:
        return
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        raise UnsafePathError(
            f"{os.path.join(directory.path, name)} is not a regular file with one link: "
            "move it away, or remove its other name",
            errno.EMLINK,
        )


def unlink_quietly(directory: Directory, name: str) -> None:
    """Removes a temporary name if it is there; a failure leaves it for the next sweep."""
    with suppress(OSError):
        directory.unlink(name)


def _split(path: str) -> tuple[str, str]:
    """The parent with links resolved, and the last component as it is."""
    absolute = os.path.abspath(path)
    return os.path.realpath(os.path.dirname(absolute)), os.path.basename(absolute) or "."


def _unsafe(error: OSError, path: str, wanted: str) -> OSError | UnsafePathError:
    """What to raise for a failed open: UnsafePathError where the kind of file is to blame."""
    if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.ENXIO, errno.ENODEV):
        return UnsafePathError(
            f"{path} is not {wanted}: move it away, or give the real path", error.errno
        )
    return error


if sys.platform == "darwin":
    import fcntl

    def _fsync(fd: int) -> None:
        try:
            fcntl.fcntl(fd, _F_FULLFSYNC)
        except OSError as error:
            if error.errno not in (errno.ENOTSUP, errno.EINVAL):
                raise
            os.fsync(fd)

    _fdatasync = _fsync
else:
    _fsync = os.fsync
    _fdatasync = os.fdatasync
