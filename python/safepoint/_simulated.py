"""What a simulated file and folder remember, and what may be left of them when the power goes.

The rules, sector by sector: what was synced stays. Behind it the size may be any that the file
passed through since, and each sector may hold what was written, zeros, or what stood there before.
Names of a folder survive as a prefix of the operations since its last sync, each whole or not at
all.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from itertools import product
from random import Random
from typing import NamedTuple

SECTOR_BYTES = 512
"""What a drive writes whole or not at all; smaller than a page, so the harsher of the two."""
_STARTED = re.compile(rb'("started":)([0-9]+)')
"""When the holder of a lock began, which tells it from a later process of the same pid."""


class PowerCut(BaseException):
    """The simulated machine stopped here: nothing done on the disk afterwards has any effect."""


class FileState(NamedTuple):
    """What is left of one file: how many bytes, and one letter for each sector that was not synced.

    `n` what was written, `z` zeros, `s` stale: what stood there before, or, where nothing did, the
    bytes of `stale`, repeated. Sectors without a letter are `n`.
    """

    size: int
    sectors: str = ""
    stale: bytes = b""


class PowerLoss(NamedTuple):
    """What a power cut leaves: how many unsynced name operations by folder, which state by file.

    Folders are keyed by absolute path, files by that or by themselves. What is not named keeps
    everything.
    """

    names: dict[str, int]
    files: dict[str | Inode, FileState]


class Inode:
    """One file: a memfd, made when first opened, and what happened to it since its last sync."""

    def __init__(self, image: bytes = b"") -> None:
        self._fd = -1
        self.size = self.durable_size = len(image)
        self.links = 0
        """How many names it has."""
        self._image: bytes | None = image
        """The content; None while only the memfd has it."""
        self._undo: list[tuple[int, bytes]] = []
        """What each cut or overwrite since the last sync took: (offset, bytes), oldest first."""
        self._spans = [(self.size, self.size, 0)]
        """Sizes passed through since the last sync: first and last of each stretch of growth, and
        how many of `_undo` lie before it."""
        self._overwritten = False
        """Whether bytes were replaced in place since the last sync."""

    def __repr__(self) -> str:
        return f"<file of {self.size} bytes, {self.durable_size} synced>"

    def open(self, flags: int) -> int:
        """A new open file description, so that flock works between two of them."""
        return os.open(f"/proc/self/fd/{self.descriptor()}", flags | os.O_CLOEXEC)

    def descriptor(self) -> int:
        """The memfd itself."""
        if self._fd < 0:
            self._fd = os.memfd_create("safepoint", os.MFD_CLOEXEC)
            os.fchmod(self._fd, 0o600)
            if self._image:
                os.write(self._fd, self._image)
        return self._fd

    def release(self) -> None:
        """Closes the memfd; the content goes with it."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def __del__(self) -> None:
        self.release()

    def content(self) -> bytes:
        """What a process reads from it now."""
        if self._image is None:
            self._image = os.pread(self._fd, self.size, 0)
        return self._image

    def write(self, fd: int, data: bytes | memoryview) -> int:
        """Appends `data` through the descriptor `fd`."""
        taken = os.write(fd, data)
        self._grow(self.size + taken)
        return taken

    def overwrite(self, fd: int, data: bytes) -> None:
        """Puts `data` over the start of the file."""
        self._undo.append((0, self.content()[: len(data)]))
        self._overwritten = True
        os.pwrite(fd, data, 0)
        self._grow(max(self.size, len(data)))

    def truncate(self, fd: int, size: int) -> None:
        """Cuts the file, or extends it with zeros."""
        if size < self.size:
            self._undo.append((size, self.content()[size:]))
            self._spans.append((size, size, len(self._undo)))
            self.size = size
        os.ftruncate(fd, size)
        self._grow(size)

    def sync(self) -> None:
        """From here on a power cut leaves at least this."""
        self.durable_size = self.size
        self._undo, self._spans = [], [(self.size, self.size, 0)]
        self._overwritten = False

    def copy(self, change: Callable[[bytes], bytes] = bytes) -> Inode:
        """The same file without its descriptors, what is not synced stays so. `change` keeps
        lengths."""
        twin = Inode(change(self.content()))
        twin.durable_size = self.durable_size
        twin._undo = [(offset, change(old)) for offset, old in self._undo]
        twin._spans = list(self._spans)
        twin._overwritten = self._overwritten
        return twin

    @property
    def unsynced(self) -> bool:
        """Whether a power cut could change it."""
        return self._overwritten or self._spans != [(self.durable_size, self.durable_size, 0)]

    @property
    def floor(self) -> int:
        """Bytes below it were there at the last sync and were never cut since."""
        return min(low for low, _, _ in self._spans)

    @property
    def size_max(self) -> int:
        """The largest size since the last sync."""
        return max(high for _, high, _ in self._spans)

    @property
    def first_sector(self) -> int:
        """The sector of the first letter of a FileState."""
        return 0 if self._overwritten else self.floor // SECTOR_BYTES

    @property
    def sectors(self) -> int:
        """How many letters a FileState of the largest size has."""
        return -(-self.size_max // SECTOR_BYTES) - self.first_sector

    def durable(self) -> bytes:
        """What stood in it at the last sync."""
        return self._undone(0)[: self.durable_size]

    def left(self, state: FileState) -> bytes:
        """The bytes of it that `state` leaves. ValueError if no power cut can leave that size."""
        span = self._span_of(state.size)
        floor = min(low for low, _, _ in self._spans[: span + 1])
        new = (
            self._undone(self._spans[span + 1][2] - 1)
            if self._spans[span + 1 :]
            else self.content()
        )
        first = self.first_sector * SECTOR_BYTES
        before, stale = self._before(), _repeat(state.stale, self.size_max - first)
        kept = bytearray(before[:first])
        for index, start in enumerate(range(first, state.size, SECTOR_BYTES)):
            letter = state.sectors[index : index + 1] or "n"
            stop = min(start + SECTOR_BYTES, state.size)
            kept += _sector(letter, start, stop, floor, new, before, stale[start - first :])
        return bytes(kept)

    def corners(self) -> tuple[FileState, FileState, FileState, FileState]:
        """Nothing since the last sync; the size with zeros; all; the largest size of all."""
        count = self.sectors
        return (
            FileState(self.durable_size, "s" * count),
            FileState(self.size, "z" * count),
            FileState(self.size),
            FileState(self.size_max),
        )

    def any_state(self, random: Random, stale: bytes) -> FileState:
        """One state that a power cut may leave."""
        low, high, _ = random.choice(self._spans)
        letters = random.choice(("n", "z", "s", "nz", "nnns", "nzs"))
        sectors = "".join(random.choice(letters) for _ in range(self.sectors))
        return FileState(random.choice((low, high, random.randint(low, high))), sectors, stale)

    def tail_states(self, sectors_max: int, stale: tuple[bytes, ...]) -> Iterator[FileState]:
        """Every size; then, for each sector where it may be cut, every subset of the sectors before
        it (at most `sectors_max` of them) zeroed, or stale from each of the sources in turn."""
        for low, high, _ in self._spans:
            yield from (FileState(size) for size in range(low, high + 1))
        first = self.first_sector * SECTOR_BYTES
        for count in range(1, min(self.sectors, sectors_max) + 1):
            size = min(first + count * SECTOR_BYTES, self.size)
            for letter, source in (("z", b""), *(("s", source) for source in stale)):
                for letters in product("n" + letter, repeat=count):
                    if letter in letters:
                        yield FileState(size, "".join(letters), source)

    def _grow(self, size: int) -> None:
        self._image = None
        self.size = size
        low, _, cuts = self._spans[-1]
        self._spans[-1] = (low, size, cuts)

    def _span_of(self, size: int) -> int:
        """The last stretch of growth that passed through `size`."""
        for index, (low, high, _) in reversed(list(enumerate(self._spans))):
            if low <= size <= high:
                return index
        raise ValueError(f"size {size} is none that the file had since its last sync")

    def _undone(self, count: int) -> bytes:
        """The content when only the first `count` cuts and overwrites had happened."""
        image = bytearray(self.content())
        for offset, old in reversed(self._undo[count:]):
            image[offset : offset + len(old)] = old
        return bytes(image)

    def _before(self) -> bytes:
        """What stood at each offset: the synced bytes, behind them those cut off since."""
        before = bytearray(self.durable())
        for offset, old in self._undo:
            if offset + len(old) > len(before):
                before.extend(bytes(max(0, offset - len(before))))
                before += old[len(before) - offset :]
        return bytes(before)


class Folder:
    """One directory: its names now, those at its last sync, the operations in between in order."""

    def __init__(self, entries: dict[str, Inode | Folder] | None = None) -> None:
        self.entries: dict[str, Inode | Folder] = entries or {}
        self._durable = dict(self.entries)
        self._operations: list[tuple[tuple[str, Inode | Folder | None], ...]] = []
        """Each is whole or not at all: the names that it sets, or removes (None)."""

    def change(self, *changes: tuple[str, Inode | Folder | None]) -> None:
        """One operation on the names."""
        self._operations.append(changes)
        _apply(self.entries, changes)

    def sync(self) -> None:
        """From here on a power cut leaves these names."""
        self._durable, self._operations = dict(self.entries), []

    @property
    def unsynced(self) -> int:
        """How many operations a power cut could undo."""
        return len(self._operations)

    def left(self, count: int) -> dict[str, Inode | Folder]:
        """The names after the first `count` of the unsynced operations."""
        entries = dict(self._durable)
        for changes in self._operations[:count]:
            _apply(entries, changes)
        return entries

    def ever(self) -> Iterator[tuple[str, Inode | Folder]]:
        """Every name and what it stands for, now or after some power cut; some come twice."""
        yield from self.entries.items()
        yield from self._durable.items()
        for changes in self._operations:
            yield from ((name, node) for name, node in changes if node is not None)


class Copier:
    """Copies a tree, whole or as a power cut leaves it. One file with two names stays one file."""

    def __init__(
        self, names: dict[str, int] | None = None, files: dict[Inode, FileState] | None = None
    ) -> None:
        self._names = names
        """None: nothing is lost, what is not synced stays so."""
        self._files = files or {}
        self._copies: dict[int, Inode | Folder] = {}

    def folder(self, old: Folder, path: str) -> Folder:
        """The copy of the folder at `path`, with everything below it."""
        if self._names is None:
            twin = self._whole(old, path)
        else:
            entries = old.left(self._names.get(path, old.unsynced))
            twin = Folder({name: self._node(node, path, name) for name, node in entries.items()})
        for node in twin.entries.values():
            if isinstance(node, Inode):
                node.links += 1
        return twin

    def _whole(self, old: Folder, path: str) -> Folder:
        """Names that were removed but not synced are copied too: they may come back."""
        twin = Folder({n: self._node(node, path, n) for n, node in old.entries.items()})
        twin._durable = {n: self._node(node, path, n) for n, node in old._durable.items()}
        for changes in old._operations:
            twin._operations.append(
                tuple(
                    (n, None if node is None else self._node(node, path, n)) for n, node in changes
                )
            )
        return twin

    def _node(self, old: Inode | Folder, path: str, name: str) -> Inode | Folder:
        path = join(path, name)
        twin = self._copies.get(id(old))
        if twin is None:
            twin = self.folder(old, path) if isinstance(old, Folder) else self._file(old, name)
            self._copies[id(old)] = twin
        return twin

    def _file(self, old: Inode, name: str) -> Inode:
        change = _bury if name.endswith(".lock") else bytes
        if self._names is None:
            return old.copy(change)
        state = self._files.get(old)
        return Inode(change(old.content() if state is None else old.left(state)))


def join(path: str, name: str) -> str:
    """The path of `name` in the folder `path`."""
    return f"{path.rstrip('/')}/{name}"


def walk(folder: Folder, path: str = "/") -> Iterator[tuple[str, Inode | Folder]]:
    """Every path at and below `folder` and what stands there, now or after some power cut: parents
    first, each file and folder once."""
    seen: set[int] = set()
    waiting: list[tuple[str, Inode | Folder]] = [(path, folder)]
    while waiting:
        path, node = waiting.pop(0)
        if id(node) not in seen:
            seen.add(id(node))
            yield path, node
            if isinstance(node, Folder):
                waiting += [(join(path, name), below) for name, below in node.ever()]


def _apply(
    entries: dict[str, Inode | Folder], changes: tuple[tuple[str, Inode | Folder | None], ...]
) -> None:
    for name, node in changes:
        if node is None:
            entries.pop(name, None)
        else:
            entries[name] = node


def _sector(
    letter: str, start: int, stop: int, floor: int, new: bytes, before: bytes, stale: bytes
) -> bytes:
    """What one sector holds: below `floor` what was written or synced, above it anything."""
    if letter == "n":
        return new[start:stop]
    kept = max(start, min(floor, stop))
    found = before[start:kept]
    if letter == "s":
        found = before[start:stop]
        found += stale[len(found) : stop - start]
    return found + bytes(stop - start - len(found))


def _bury(line: bytes) -> bytes:
    """The owner line of a lock whose holder died: its pid is that of another process by now."""
    return _STARTED.sub(lambda found: found[1] + b"1" * len(found[2]), line)


def _repeat(source: bytes, length: int) -> bytes:
    return source * (length // len(source) + 1) if source else b""
