"""The names of a simulated disk: a Directory whose unsynced changes a power cut may take back."""

from __future__ import annotations

import errno
import os
import stat

from ._simulated import Folder, Inode, join
from .errors import UnsafePathError
from .files import Directory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._simulated_disk import SimulatedDisk


class SimulatedDirectory(Directory):
    """A Directory of a SimulatedDisk: the same methods, the same errors."""

    def __init__(self, disk: SimulatedDisk, folder: Folder, path: str) -> None:
        self.path = path
        self._disk = disk
        self._folder: Folder | None = folder

    def names(self) -> list[str]:
        """As `Directory.names`."""
        return sorted(self._entries())

    def stat(self, name: str) -> os.stat_result:
        """As `Directory.stat`: the inode is that of the descriptors that are opened of it."""
        node = self._node(name)
        if isinstance(node, Folder):
            return os.stat_result((stat.S_IFDIR | 0o700, id(node), 0, 2, 0, 0, 0, 0, 0, 0))
        found = os.fstat(node.descriptor())
        return os.stat_result((*found[:3], node.links, *found[4:]))

    def open_directory(self, name: str) -> SimulatedDirectory:
        """As `Directory.open_directory`."""
        node = self._node(name)
        if isinstance(node, Inode):
            path = join(self.path, name)
            raise UnsafePathError(f"{path} is not a directory: move it away", errno.ENOTDIR)
        return SimulatedDirectory(self._disk, node, join(self.path, name))

    def make_directory(self, name: str) -> None:
        """As `Directory.make_directory`."""
        if name not in self._entries():
            self._change("mkdir", (name, Folder()))

    def open_read(self, name: str) -> int:
        """As `Directory.open_read`."""
        return self._disk._open_reader(self._regular(name))

    def open_append(self, name: str) -> int:
        """As `Directory.open_append`."""
        return self._disk._open_writer(self._single(name), os.O_RDWR | os.O_APPEND)

    def open_lock(self, name: str) -> int:
        """As `Directory.open_lock`."""
        with self._disk._guard:
            if name not in self._entries():
                return self.create_file(name)
            return self._disk._open_writer(self._single(name), os.O_RDWR)

    def create_file(self, name: str) -> int:
        """As `Directory.create_file`."""
        file = Inode()
        file.links = 1
        with self._disk._guard:
            self._refuse_taken(name)
            self._change("create", (name, file))
            flags = os.O_RDWR if name.endswith(".lock") else os.O_RDWR | os.O_APPEND
            return self._disk._open_writer(file, flags)

    def link(self, name: str, new: str) -> None:
        """As `Directory.link`."""
        with self._disk._guard:
            file = self._regular(name)
            self._refuse_taken(new)
            self._change("link", (new, file))
            file.links += 1

    def unlink(self, name: str) -> None:
        """As `Directory.unlink`."""
        with self._disk._guard:
            file = self._regular(name)
            self._change("unlink", (name, None))
            file.links -= 1

    def replace(self, name: str, new: str) -> None:
        """As `Directory.replace`; like rename(2) it does nothing if both names are of one file."""
        with self._disk._guard:
            file, old = self._regular(name), self._entries().get(new)
            if isinstance(old, Folder):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), new)
            if old is file:
                return
            self._change("replace", (name, None), (new, file))
            if old is not None:
                old.links -= 1

    def sync(self) -> None:
        """As `Directory.sync`."""
        folder = self._open_folder()
        lying = self._disk._lying
        self._disk._step("sync_directory", self.path, lambda _: None if lying else folder.sync())

    def close(self) -> None:
        """As `Directory.close`."""
        self._folder = None

    def _change(self, step: str, *changes: tuple[str, Inode | Folder | None]) -> None:
        folder = self._open_folder()
        path = join(self.path, changes[-1][0])
        self._disk._step(step, path, lambda _: folder.change(*changes))

    def _open_folder(self) -> Folder:
        self._disk._check_alive()
        if self._folder is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return self._folder

    def _entries(self) -> dict[str, Inode | Folder]:
        return self._open_folder().entries

    def _node(self, name: str) -> Inode | Folder:
        node = self._entries().get(name)
        if node is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), join(self.path, name))
        return node

    def _regular(self, name: str) -> Inode:
        node = self._node(name)
        if isinstance(node, Folder):
            path = join(self.path, name)
            raise UnsafePathError(f"{path} is not a regular file: move it away", errno.EISDIR)
        return node

    def _single(self, name: str) -> Inode:
        file = self._regular(name)
        if file.links > 1:
            path = join(self.path, name)
            raise UnsafePathError(f"{path} has a second link: remove the other name", errno.EMLINK)
        return file

    def _refuse_taken(self, name: str) -> None:
        if name in self._entries():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), join(self.path, name))
