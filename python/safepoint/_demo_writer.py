"""The demo's first half: a child process that writes a session and is killed while it does.

It goes through the public API alone. What was acknowledged it notes in a side record of its own, a
line `seq sha256` each, written after the append returned: the witness against which the log is
judged. On stdout it says `wrote BYTES` as it goes, and `large BYTES` right before the append that
it will not survive.
"""

from __future__ import annotations

import json
import math
import os
import random
import sys
from hashlib import sha256

import safepoint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

SESSION = "demo"
LARGE_BYTES = 64_000_000
"""The append that is cut: long enough to be hit in the middle, short enough for one record."""
CHECKPOINT_BYTES = 24 << 20
LAST_CHECKPOINT_BYTES = 1 << 20
"""The newest checkpoint stands about this far before the end."""
RECORD_OVERHEAD_BYTES = 110
"""Envelope of a record around its data."""
_POOL_CHARS = 4 << 20
_STATE_CHARS = 40_000
_SEED = 20261201

_TEXT = """
the test fails because parse_header returns None when its input is empty: if (value == null) {
return "unknown"; } def load(path: str) -> dict: C:\\temp\\run.log error[E0502]: cannot borrow
12 of 340 naïve über 東京 → ✓ assert result.status_code == 200, f'{url} gave {code}' git commit
"""
_BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def digest(type: str, data: Any) -> str:
    """The witness's hash of an event: its type and its data in one fixed spelling."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return sha256(f"{type}\n{text}".encode()).hexdigest()


def log_bytes(folder: str) -> int:
    """Size of all segments of the session in `folder`."""
    names = [name for name in os.listdir(folder) if name.startswith("events-")]
    return sum(os.stat(os.path.join(folder, name)).st_size for name in names)


class Generator:
    """Events as an agent makes them, from 100 B to some MB; one seed gives one sequence."""

    def __init__(self, seed: int = _SEED) -> None:
        self._random = random.Random(seed)
        words = self._random.choices(_TEXT.split(), k=_POOL_CHARS // 5)
        ends = self._random.choices((" ", " ", " ", " ", " ", "\n", "\n    "), k=len(words))
        self._text = "".join(word + end for word, end in zip(words, ends, strict=True))
        self._base64 = "".join(self._random.choices(_BASE64, k=_POOL_CHARS))

    def text(self, least: int, most: int) -> str:
        """A stretch of prose and code, its length spread evenly over the orders of magnitude."""
        return self._stretch(self._text, self._length(least, most))

    def base64(self, length: int) -> str:
        """Text of one letter a byte, without anything to escape."""
        whole, rest = divmod(length, _POOL_CHARS)
        return self._base64 * whole + self._base64[:rest]

    def event(self) -> tuple[str, dict[str, Any]]:
        """The next event's type and data."""
        chance = self._random.random()
        if chance < 0.35:
            role = self._random.choice(("user", "assistant"))
            return "message", {"role": role, "content": self.text(80, 1500)}
        if chance < 0.55:
            return "reasoning", {"text": self.text(150, 4000)}
        if chance < 0.75:
            return "tool_call", {"name": "shell", "arguments": {"command": self.text(20, 600)}}
        if chance < 0.95:
            return "tool_result", {"exit_code": 0, "output": self.text(300, 60_000)}
        if chance < 0.997:
            return "usage", {"input_tokens": self._length(900, 90_000), "cost": 0.0125}
        picture = self._stretch(self._base64, self._length(200_000, 3_500_000))
        return "image", {"mime": "image/png", "base64": picture}

    def state(self, events: int) -> dict[str, Any]:
        """What a checkpoint holds."""
        return {"events": events, "summary": self._stretch(self._text, _STATE_CHARS)}

    def _length(self, least: int, most: int) -> int:
        return round(math.exp(self._random.uniform(math.log(least), math.log(most))))

    def _stretch(self, pool: str, length: int) -> str:
        start = self._random.randrange(len(pool) - length)
        return pool[start : start + length]


def fill(session: Any, total_bytes: int) -> Iterator[tuple[int, int, str, Any]]:
    """Appends `total_bytes` with checkpoints; gives (bytes, seq, type, data) after each append."""
    generator = Generator()
    done = events = 0
    due: float = CHECKPOINT_BYTES
    last: float = total_bytes - LAST_CHECKPOINT_BYTES
    end = math.inf
    while done < end:
        if done >= min(due, last):
            if done >= last:
                due = last = math.inf
                end = done + LAST_CHECKPOINT_BYTES
            else:
                due = done + CHECKPOINT_BYTES
            state = generator.state(events)
            yield done, session.checkpoint(state), "checkpoint", state
        type, data = generator.event()
        if type == "image" and last == math.inf:
            continue
        seq = session.append(type, data)
        events += 1
        done += RECORD_OVERHEAD_BYTES + sum(len(v) for v in data.values() if isinstance(v, str))
        yield done, seq, type, data


def _say(text: str) -> None:
    print(text, flush=True)


def main(store_path: str, side_path: str, total_bytes: int) -> None:
    """Fills the session, or with 0 bytes resumes it, then starts the large append."""
    store = safepoint.open_store(store_path)
    folder = os.path.join(store_path, SESSION)
    side = os.open(side_path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def acknowledge(seq: int, type: str, data: Any) -> None:
        os.write(side, f"{seq} {digest(type, data)}\n".encode())

    if total_bytes:
        session = store.create(SESSION, request={"task": "demo"}, durability="batch")
        said = 0
        for done, seq, type, data in fill(session, total_bytes):
            acknowledge(seq, type, data)
            if done - said > 4 << 20:
                said = done
                _say(f"wrote {done}")
    else:
        session = store.resume(SESSION, durability="batch")
    large = {"mime": "image/png", "base64": Generator().base64(LARGE_BYTES)}
    _say(f"large {log_bytes(folder)}")
    acknowledge(session.append("image", large), "image", large)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
