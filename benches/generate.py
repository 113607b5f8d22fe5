"""Writes realistic logs of any size: `benches/generate.py OUT --mb N [--seed N] [--foreign]`.

OUT becomes the folder of a session of ours, closed cleanly, or with `--foreign` one JSONL file of
`{"seq","type","ts","data"}`. One seed gives the same segment and the same manifest, byte for byte.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from itertools import chain

import safepoint
from corpus import Event, stream
from safepoint import scan
from safepoint.lock import LOCK_NAME
from safepoint.log import Header, measured, segment_name
from safepoint.manifest import MANIFEST_NAME, new_manifest

SEED = 20261201
WRITE_BYTES = 1 << 20
"""Lines are gathered to about this size before a write."""
_STEP_US = 7_013
"""Time between two events; a log of 10 GB takes some hours."""


class Written:
    """What a generator wrote, for those who check an answer against it."""

    def __init__(self, path: str) -> None:
        self.path = path
        """The file of the log; of a session the one segment."""
        self.size = 0
        self.next_seq = 0
        self.checkpoint = (-1, 0, 0)
        """(seq, offset, length) of the newest one."""
        self.first_checkpoint = (-1, 0, 0)
        """The same of the oldest one."""

    @property
    def folder(self) -> str:
        """The session's folder."""
        return os.path.dirname(self.path)

    @property
    def session(self) -> str:
        """The session's id."""
        return os.path.basename(self.folder)

    @property
    def store(self) -> safepoint.Store:
        """The store that holds the session."""
        return safepoint.open_store(os.path.dirname(self.folder))

    def note(self, type: str, length: int) -> None:
        """Takes a line into account that was written."""
        if type == "checkpoint":
            self.checkpoint = (self.next_seq, self.size, length)
            if self.first_checkpoint[0] < 0:
                self.first_checkpoint = self.checkpoint
        self.size += length
        self.next_seq += 1


def write_foreign(
    path: str, total_bytes: int, seed: int = SEED, extra: Iterable[Event] = ()
) -> Written:
    """A plain JSONL log, as other tools write them; `extra` events follow the others."""
    written = Written(path)
    with open(path, "wb", buffering=0) as log:
        _write_all(log, _foreign_lines(chain(stream(total_bytes, seed), extra), written))
    return written


def write_session(
    folder: str,
    total_bytes: int,
    seed: int = SEED,
    extra: Iterable[Event] = (),
) -> Written:
    """A session of ours of one segment, closed cleanly; `extra` events follow the others."""
    written = write_events(folder, chain(stream(total_bytes, seed), extra), seed)
    copy_lock_line([folder])
    return written


def write_events(folder: str, events: Iterable[Event], seed: int) -> Written:
    """Segment and manifest of a session that holds these events; its lock file is the caller's."""
    os.makedirs(folder, mode=0o700)
    written = Written(os.path.join(folder, segment_name(1)))
    header = _header(written.session, seed)
    written.size = header.length
    with open(written.path, "wb", buffering=0, opener=_private) as log:
        log.write(header.encode())
        _write_all(log, _records(events, written, header.seed))
    _write_manifest(written)
    return written


def copy_lock_line(folders: Iterable[str]) -> None:
    """Gives sessions the lock file of a writer of this machine that closed in order."""
    with tempfile.TemporaryDirectory() as place:
        with safepoint.open_store(place).create("closed") as session:
            session.append("note")
        for folder in folders:
            shutil.copy(os.path.join(place, "closed", LOCK_NAME), folder)


def _header(session: str, seed: int) -> Header:
    return measured(
        session=session,
        segment=1,
        epoch=1,
        salt=random.Random(f"{session} {seed}").randbytes(8).hex(),
        first_seq=0,
        carried=1,
        prev=None,
        reason="created",
        ts=_timestamp(0),
    )


def _records(events: Iterable[Event], written: Written, seed: int) -> Iterator[bytes]:
    """Sealed lines: `session.created`, then the events."""
    created = b'{"request":null,"labels":null,"effect_kinds":["tool","verification"]}'
    seal_record = scan.seal_record
    durable = 0
    for type, data in chain([("session.created", created)], events):
        seq = written.next_seq
        if type == "checkpoint":
            data = b'{"upto":%d,"state":%s%s' % (seq - 1, data, _STATELESS)
        line = seal_record(seq, _timestamp(seq), type, None, data, -1, durable, seed)
        written.note(type, len(line))
        durable = seq + 1 if type == "checkpoint" else max(durable, 1)
        yield line


_STATELESS = b',"fold":null,"effects":[],"approvals":[],"keys":[]}'


def _foreign_lines(events: Iterable[Event], written: Written) -> Iterator[bytes]:
    for type, data in events:
        seq = written.next_seq
        head = f'{{"seq":{seq},"type":"{type}","ts":"{_timestamp(seq)}","data":'
        line = b"%s%s}\n" % (head.encode("ascii"), data)
        written.note(type, len(line))
        yield line


def _write_manifest(written: Written) -> None:
    manifest = new_manifest(written.session, _timestamp(0))
    manifest.epoch = 1
    manifest.updated_at = _timestamp(written.next_seq)
    manifest.durable = {"segment": 1, "seq": written.next_seq, "offset": written.size}
    seq, offset, length = written.checkpoint
    if seq >= 0:
        manifest.checkpoint = {
            **{"segment": 1, "seq": seq, "offset": offset, "bytes": length},
            "crc": _crc_of(written.path, offset + length),
        }
    path = os.path.join(written.folder, MANIFEST_NAME)
    with open(path, "wb", opener=_private) as file:
        file.write(manifest.encode())


def _crc_of(path: str, end: int) -> str:
    """The CRC in the seal of the record that ends at `end`."""
    with open(path, "rb") as log:
        log.seek(end - len('xxxxxxxx"}\n'))
        return log.read(8).decode("ascii")


def _write_all(log, lines: Iterable[bytes]) -> None:
    gathered: list[bytes] = []
    size = 0
    for line in lines:
        gathered.append(line)
        size += len(line)
        if size >= WRITE_BYTES:
            _write(log, b"".join(gathered))
            gathered, size = [], 0
    _write(log, b"".join(gathered))


def _write(log, text: bytes) -> None:
    rest = memoryview(text)
    while rest:
        rest = rest[log.write(rest) :]


def _timestamp(seq: int) -> str:
    second, micro = divmod(seq * _STEP_US, 1_000_000)
    minute, second = divmod(second, 60)
    hour, minute = divmod(minute, 60)
    day, hour = divmod(hour, 24)
    return f"2026-01-{day % 28 + 1:02}T{hour:02}:{minute:02}:{second:02}.{micro:06}Z"


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def main() -> None:
    """Writes one log and says how fast."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", metavar="OUT")
    parser.add_argument("--mb", type=int, required=True, help="about that many million bytes")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--foreign", action="store_true", help="a plain JSONL file")
    options = parser.parse_args()
    started = time.perf_counter()
    write = write_foreign if options.foreign else write_session
    written = write(os.path.abspath(options.out), options.mb * 1_000_000, options.seed)
    spent = time.perf_counter() - started
    print(
        f"{written.path}: {written.size / 1e6:,.0f} MB, {written.next_seq:,} records, "
        f"newest checkpoint {written.checkpoint[0]}, {written.size / 1e6 / spent:,.0f} MB/s"
    )


if __name__ == "__main__":
    main()
