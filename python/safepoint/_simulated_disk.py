"""A Disk in memory: counts its steps, fails or stops at them, and shows what crashes leave."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Iterator
from itertools import product
from random import Random

from ._simulated import Copier, Folder, Inode, PowerCut, PowerLoss, join, walk
from ._simulated_directory import SimulatedDirectory
from .errors import UnsafePathError
from .files import Disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Fault:
    """A scripted failure: of the steps named `name` (None: all), from the `at`-th on, `times`."""

    def __init__(
        self,
        error: int | type[BaseException] | None,
        name: str | None,
        at: int,
        times: int | None,
        taken: int | None,
        when: str,
    ) -> None:
        self.error = error
        self.taken = taken
        self.when = when
        self._name = name
        self._wait = at
        self._times = times
        """How often it still strikes; None: for ever."""

    def strikes(self, name: str) -> bool:
        """Counts the step `name` and tells whether it fails."""
        if self._name not in (None, name) or self._times == 0:
            return False
        self._wait -= 1
        if self._wait > 0:
            return False
        if self._times is not None:
            self._times -= 1
        return True

    def exception(self) -> BaseException | None:
        """What to raise; None for a write that is only short."""
        if isinstance(self.error, int):
            return OSError(self.error, os.strerror(self.error))
        return None if self.error is None else self.error()


class SimulatedDisk(Disk):
    """A Disk in memory that knows what was synced. `lying=True`: its syncs do nothing."""

    def __init__(self, *, lying: bool = False) -> None:
        self.steps = 0
        """How many steps that change something were asked for."""
        self.trace: list[str] = []
        """Their names and paths, while a fault is scripted."""
        self._lying = lying
        self._dead = False
        self._faults: list[Fault] = []
        self._root = Folder()
        self._writers: dict[int, Inode] = {}
        """The descriptors that may change a file."""
        self._readers: dict[int, Inode] = {}
        """Those opened to read: whoever has one closes it himself, unless a crash came before."""
        self._guard = threading.RLock()

    # What a Disk does

    def open_root(self, path: str) -> SimulatedDirectory:
        """As `Disk.open_root`."""
        self._check_alive()
        folder = self._find(os.path.abspath(path))
        if folder is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        if isinstance(folder, Inode):
            raise UnsafePathError(f"{path} is not a directory: move it away", errno.ENOTDIR)
        return SimulatedDirectory(self, folder, os.path.abspath(path))

    def create_root(self, path: str) -> SimulatedDirectory:
        """As `Disk.create_root`; the folders above the store's are made durable as well."""
        self._check_alive()
        parent, name = os.path.split(os.path.abspath(path))
        above = self._parents(parent)
        above.make_directory(name)
        above.sync()
        return above.open_directory(name)

    def write(self, fd: int, data: bytes | memoryview) -> int:  # type: ignore[override]
        """As `Disk.write`."""
        inode = self._writer(fd)
        count: int = self._step("write", "", lambda taken: inode.write(fd, data[:taken]))
        return count

    def overwrite(self, fd: int, data: bytes) -> None:
        """As `Disk.overwrite`."""
        inode = self._writer(fd)
        self._step("overwrite", "", lambda taken: inode.overwrite(fd, data[:taken]))

    def truncate(self, fd: int, size: int) -> None:
        """As `Disk.truncate`."""
        inode = self._writer(fd)
        self._step("truncate", "", lambda _: inode.truncate(fd, size))

    def sync(self, fd: int) -> None:
        """As `Disk.sync`."""
        inode = self._writer(fd)
        self._step("sync", "", lambda _: None if self._lying else inode.sync())

    def close(self, fd: int) -> None:
        """As `Disk.close`; on a disk that was released it does nothing."""
        if self._writers.pop(fd, None) is not None or not self._released:
            os.close(fd)

    # Faults

    def inject(
        self,
        error: int | type[BaseException] | None,
        *,
        name: str | None = None,
        at: int = 1,
        times: int | None = 1,
        taken: int | None = None,
        when: str = "before",
    ) -> None:
        """Lets a step fail: the `at`-th from now, of those named `name` if given, and `times` of
        them (None: every one from there on).

        `error` is an errno, an exception class, or None for a short write. `when="after"` raises
        once the step is done; `taken` after that many bytes of a write. A PowerCut kills the disk.
        """
        self._faults.append(Fault(error, name, at, times, taken, when))

    def clear_faults(self) -> None:
        """Forgets the faults that were injected."""
        self._faults.clear()
        self.trace.clear()

    # Crashes

    def crash(
        self, loss: PowerLoss | None = None, *, seed: int | None = None, stale: bytes = b""
    ) -> SimulatedDisk:
        """A new disk with what a crash at this moment leaves; this one is dead from now on.

        Neither: kill -9, so nothing is lost, and what was not synced is still not. `loss`: that
        power cut. `seed`: one of all possible ones; `stale` is what else its sectors may hold.
        """
        with self._guard:
            self._dead = True
            if seed is not None:
                loss = self._any_loss(Random(seed), stale)
            after = SimulatedDisk(lying=self._lying)
            after._root = self._copier(loss).folder(self._root, "/")
        return after

    def copy(self) -> SimulatedDisk:
        """Another disk with the same content, nobody at work on it; this one lives on."""
        with self._guard:
            after = SimulatedDisk(lying=self._lying)
            after._root = Copier().folder(self._root, "/")
        return after

    def crash_states(self) -> Iterator[PowerLoss]:
        """The corners of what a power cut may leave now: each way for the names to survive, times
        all unsynced bytes lost, zeroed or kept."""
        paths = list(walk(self._root))
        folders = {p: n.unsynced for p, n in paths if isinstance(n, Folder) and n.unsynced}
        files = [n for _, n in paths if isinstance(n, Inode) and n.unsynced]
        corners = 3 + any(file.size_max > file.size for file in files) if files else 1
        for counts in product(*(range(count + 1) for count in folders.values())):
            names = dict(zip(folders, counts, strict=True))
            for corner in range(corners):
                yield PowerLoss(names, {file: file.corners()[corner] for file in files})

    def tail_states(
        self, path: str, *, sectors_max: int = 12, stale: tuple[bytes, ...] = (b"",)
    ) -> Iterator[PowerLoss]:
        """What a power cut may leave now of the file at `path` while all else survives: every size,
        then the subsets of its last sectors zeroed or, from each source in `stale`, stale."""
        file = self._file(path)
        for state in file.tail_states(sectors_max, stale):
            yield PowerLoss({}, {file: state})

    # A look from outside

    @property
    def dead(self) -> bool:
        """Whether the power was cut, or a crash left this disk behind."""
        return self._dead

    def paths(self) -> list[str]:
        """The path of every file."""
        return sorted(p for p, node in self._walk_now("/", self._root) if isinstance(node, Inode))

    def read(self, path: str) -> bytes:
        """The content of the file at `path`."""
        return self._file(path).content()

    def durable_size(self, path: str) -> int:
        """How many bytes of the file at `path` were there at its last sync."""
        return self._file(path).durable_size

    def put(self, path: str, data: bytes) -> None:
        """Puts `data`, durable, at `path`: no step, as if by another hand."""
        folder = self._folder(os.path.dirname(path))
        file = Inode(data)
        file.links = 1
        folder.change((os.path.basename(path), file))
        folder.sync()

    def remove(self, path: str) -> None:
        """Takes the file at `path` away, durably: no step, as if by another hand."""
        self._file(path)
        folder = self._folder(os.path.dirname(path))
        folder.change((os.path.basename(path), None))
        folder.sync()

    def release(self) -> None:
        """Closes every descriptor; the disk is dead and its content gone."""
        with self._guard:
            self._dead = self._released = True
            opened = [*self._writers.items(), *self._readers.items()]
            self._writers, self._readers = {}, {}
            for fd, inode in opened:
                if _same_file(fd, inode.descriptor()):
                    os.close(fd)
            for _, node in walk(self._root):
                if isinstance(node, Inode):
                    node.release()

    _released = False

    def __enter__(self) -> SimulatedDisk:
        return self

    def __exit__(self, *exc: object) -> None:
        self.release()

    def __del__(self) -> None:
        if "_guard" in self.__dict__:
            self.release()

    # Inside

    def _step(self, name: str, path: str, action: Callable[[int | None], Any]) -> Any:
        """Every change of the disk is one of these."""
        with self._guard:
            self._check_alive()
            self.steps += 1
            fault = self._fault(name, path)
            if fault is None:
                return action(None)
            error = fault.exception()
            result = None
            if fault.when == "after" or fault.taken is not None:
                result = action(fault.taken)
            if error is None:
                return result
            self._dead = isinstance(error, PowerCut)
            raise error

    def _fault(self, name: str, path: str) -> Fault | None:
        if not self._faults:
            return None
        self.trace.append(f"{name} {path}".rstrip())
        struck = [fault for fault in self._faults if fault.strikes(name)]
        return struck[0] if struck else None

    def _check_alive(self) -> None:
        if self._dead:
            raise PowerCut("the power of this simulated disk is off")

    def _writer(self, fd: int) -> Inode:
        self._check_alive()
        try:
            return self._writers[fd]
        except KeyError:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF)) from None

    def _open_writer(self, inode: Inode, flags: int) -> int:
        fd = inode.open(flags)
        self._writers[fd] = inode
        return fd

    def _open_reader(self, inode: Inode) -> int:
        fd = inode.open(os.O_RDONLY)
        self._readers[fd] = inode
        return fd

    def _copier(self, loss: PowerLoss | None) -> Copier:
        if loss is None:
            return Copier()
        files = {
            self._file(file) if isinstance(file, str) else file: state
            for file, state in loss.files.items()
        }
        return Copier(loss.names, files)

    def _any_loss(self, random: Random, stale: bytes) -> PowerLoss:
        loss = PowerLoss({}, {})
        for path, node in walk(self._root):
            if isinstance(node, Folder):
                loss.names[path] = random.randint(0, node.unsynced)
            elif node.unsynced:
                loss.files[node] = node.any_state(random, stale)
        return loss

    def _find(self, path: str) -> Inode | Folder | None:
        node: Inode | Folder | None = self._root
        for name in path.strip("/").split("/"):
            if name:
                node = node.entries.get(name) if isinstance(node, Folder) else None
        return node

    def _file(self, path: str) -> Inode:
        node = self._find(path)
        if not isinstance(node, Inode):
            raise FileNotFoundError(errno.ENOENT, "no file", path)
        return node

    def _folder(self, path: str) -> Folder:
        node = self._find(path)
        if not isinstance(node, Folder):
            raise FileNotFoundError(errno.ENOENT, "no folder", path)
        return node

    def _parents(self, path: str) -> SimulatedDirectory:
        folder, here = self._root, "/"
        for name in path.strip("/").split("/"):
            if name and name not in folder.entries:
                folder.change((name, Folder()))
                folder.sync()
            if name:
                here = join(here, name)
                folder = self._folder(here)
        return SimulatedDirectory(self, folder, here)

    def _walk_now(self, path: str, folder: Folder) -> Iterator[tuple[str, Inode | Folder]]:
        for name, node in folder.entries.items():
            yield join(path, name), node
            if isinstance(node, Folder):
                yield from self._walk_now(join(path, name), node)


def _same_file(fd: int, other: int) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), os.fstat(other))
    except OSError:
        return False
