"""The manifest: `session.json`, a cache and a lower bound. Losing it costs speed, never data.

One JSON line, sealed like a record with seed 0, replaced atomically after the log was synced. One
that does not verify counts as absent.
"""

from __future__ import annotations

import json
import os

from . import scan
from .files import Directory, Disk, publish_file
from .lock import WriterLock
from .types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MANIFEST_NAME = "session.json"
MANIFEST_BYTES_MAX = 16 << 20
"""A larger file is not ours: it counts as absent."""
FORMAT_VERSION = 1
_READ_BYTES = 8192
"""More than a manifest of a few dozen segments: one read gets it."""
_NUMBER_MAX = 1 << 59
"""Above every number in it."""


class Manifest(Value):
    """Its members, as docs/FORMAT.md lists them.

    `durable` and `checkpoint` are dicts of ints, or None.
    """

    FIELDS = (
        "format",
        "session",
        "epoch",
        "status",
        "created_at",
        "updated_at",
        "durable",
        "checkpoint",
        "segments",
        "info",
        "parent",
        "children",
    )
    __slots__ = FIELDS
    format: int
    session: str
    epoch: int
    status: str
    created_at: str
    updated_at: str
    durable: dict[str, int]
    checkpoint: dict[str, Any] | None
    segments: list[dict[str, int]]
    info: dict[str, Any]
    parent: Any
    children: list[Any]

    def __init__(self, **fields: Any) -> None:
        given: Any = fields.get
        self.format = given("format")
        self.session = given("session")
        self.epoch = given("epoch")
        self.status = given("status")
        self.created_at = given("created_at")
        self.updated_at = given("updated_at")
        self.durable = given("durable")
        self.checkpoint = given("checkpoint")
        self.segments = given("segments")
        self.info = given("info")
        self.parent = given("parent")
        self.children = given("children")

    @property
    def durable_seq(self) -> int:
        """W: the first seq not known durable."""
        return int(self.durable["seq"])

    def encode(self) -> bytes:
        """The sealed line."""
        text = json.dumps(self.as_dict(), separators=(",", ":")).encode("ascii")
        return scan.seal(text[:-1], 0)


def new_manifest(session: str, created_at: str) -> Manifest:
    """The manifest of a session that begins."""
    return Manifest(
        format=FORMAT_VERSION,
        session=session,
        epoch=0,
        status="active",
        created_at=created_at,
        updated_at=created_at,
        durable={"segment": 1, "seq": 0, "offset": 0},
        checkpoint=None,
        segments=[],
        info={},
        parent=None,
        children=[],
    )


def read_manifest(directory: Directory) -> Manifest | None:
    """The manifest in `directory`; None where there is none that verifies.

    OSError if it cannot be read.
    """
    try:
        fd = directory.open_read(MANIFEST_NAME)
    except FileNotFoundError:
        return None
    try:
        line = os.pread(fd, _READ_BYTES, 0)
        if len(line) == _READ_BYTES:
            size = os.fstat(fd).st_size
            line = scan.read_exactly(fd, 0, size) if size <= MANIFEST_BYTES_MAX else b""
    finally:
        os.close(fd)
    return decode_manifest(line)


def decode_manifest(line: bytes) -> Manifest | None:
    """The manifest in a sealed line, or None where it does not verify or a member has the wrong
    shape.
    """
    if not scan.check_seal(line, 0):
        return None
    try:
        manifest = Manifest(**json.loads(line.decode("utf-8")))
        return manifest if _is_whole(manifest) else None
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None


def save_manifest(disk: Disk, directory: Directory, lock: WriterLock, manifest: Manifest) -> None:
    """Replaces the manifest; durable on return. PoisonedError if the lock is no longer ours."""
    lock.check()
    name = f".session.{os.urandom(8).hex()}.tmp"
    publish_file(disk, directory, name, MANIFEST_NAME, manifest.encode())


def _is_whole(manifest: Manifest) -> bool:
    if type(manifest.format) is not int or type(manifest.epoch) is not int:
        return False
    if manifest.format > FORMAT_VERSION:
        return True
    return (
        _ints(manifest.durable, "segment", "seq", "offset")
        and (
            manifest.checkpoint is None
            or _ints(manifest.checkpoint, "segment", "seq", "offset", "bytes")
        )
        and isinstance(manifest.segments, list)
        and all(_ints(one, "segment", "first_seq", "end") for one in manifest.segments)
        and isinstance(manifest.status, str)
        and isinstance(manifest.info, dict)
    )


def _ints(value: Any, *names: str) -> bool:
    if type(value) is not dict:
        return False
    for name in names:
        number = value.get(name)
        if type(number) is not int or not 0 <= number < _NUMBER_MAX:
            return False
    return True
