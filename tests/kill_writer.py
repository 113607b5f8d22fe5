"""The writer that test_kill.py kills: appends what chance says, and notes what it was told."""

from __future__ import annotations

import hashlib
import json
import os
import random
from typing import Any

import safepoint

SIZES = (10, 200, 3000, 20_000, 100_000)
LARGE_BYTES = 4 << 20
"""Writing this takes long enough to be killed in the middle of it."""


class Writer:
    """One life of the writer of a session."""

    def __init__(self, path: str, id: str, durability: str, acks: str, seed: str) -> None:
        self._chance = random.Random(seed)
        self._acks = os.open(acks, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        store = safepoint.open_store(path, segment_bytes=100_000)
        try:
            self._session = store.resume(id, durability=durability)
        except safepoint.SessionNotFoundError:
            self._session = store.create(id, durability=durability)

    def step(self) -> None:
        """One write of some kind, then its acknowledgements."""
        session, chance = self._session, self._chance.random()
        if chance < 0.1:
            many = [("part", self._data()) for _ in range(self._chance.randrange(1, 5))]
            for seq, (type, data) in zip(session.append_many(many), many, strict=True):
                self._acknowledge(seq, type, None, data)
        elif chance < 0.15:
            session.checkpoint({"at": session.last_seq})
        else:
            data = self._data()
            key = f"key {session.last_seq}" if chance < 0.3 else None
            seq = session.append("note", data, key=key, sync=chance > 0.95)
            self._acknowledge(seq, "note", key, data)

    def _data(self) -> dict[str, Any]:
        size = self._chance.choice(SIZES) if self._chance.random() < 0.3 else 50
        return {"size": size, "text": self._chance.randbytes(size // 2).hex()}

    def append_large(self) -> None:
        """One record in one long write."""
        data = self._chance.choice("abc") * LARGE_BYTES
        self._acknowledge(self._session.append("large", data), "large", None, data)

    def _acknowledge(self, seq: int, type: str, key: str | None, data: Any) -> None:
        digest = hashlib.sha256(json.dumps([type, key, data]).encode()).hexdigest()
        os.write(self._acks, f"{seq} {digest}\n".encode())


def main(path: str, id: str, durability: str, acks: str, seed: str, kind: str) -> None:
    """Writes until it is killed."""
    writer = Writer(path, id, durability, acks, seed)
    while True:
        if kind == "mixed":
            writer.step()
        else:
            writer.append_large()
