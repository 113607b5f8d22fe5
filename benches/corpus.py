"""Events as coding agents log them, drawn fast from pools of text that is encoded already.

The mix follows measured logs: most lines are short, most bytes are in lines of 2 to 50 KB, a fifth
of the bytes is in pictures of more than 1 MB, and about every thousandth event is a checkpoint.
"""

from __future__ import annotations

import json
import math
import random
from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise

Event = tuple[str, bytes]
"""A type, and encoded data."""

CHECKPOINT_EVENTS = 997
"""A checkpoint comes after that many events."""
TAIL_BYTES = 1_000_000
"""The newest checkpoint stands about this far before the end."""
STATE_BYTES = 40_000
PICTURE_SHARE = 0.22
"""Share of the bytes in base64 lines of more than 1 MB."""
PICTURE_BYTES_MIN = 1_050_000
PICTURE_BYTES_MAX = 9_900_000
LEAD_BYTES = 500_000
"""Before the newest checkpoint, what a log of any size has in common with others of its seed."""
LINE_QUANTILES = (
    (0.0, 275),
    (0.1, 350),
    (0.5, 560),
    (0.8, 1_400),
    (0.9, 6_300),
    (0.99, 33_000),
    (1.0, 60_000),
)
"""(share of the lines, bytes) of all lines but pictures; between them even over the magnitudes."""
ENVELOPE_BYTES = 105
"""A record around its data, about."""
_HEAD_BYTES = 155
"""The members of `data` around its text, about."""
_POOL_BYTES = 2 << 20
_SLICE_BYTES_MAX = 128 << 10
_VARIANTS = 64
_LENGTHS = 4096
_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

_COMMON_TEXT = """
the test fails because parse_header returns None when its input is empty so load() must check it
before use and error[E0502]: cannot borrow self as mutable assert response.status_code == 200 for
(index, value) in enumerate(rows): src/engine/walk.rs:118 git commit --amend {url: str} -> dict 12
of 340 passed in 4.1s warning: unused variable let mut offset = 0; return Ok(end); import asyncio
def resume(self, session_id) class Reader: while True: break if not found: raise KeyError(name) by
"""
_RARE = (
    *('"unknown"', 'say("no")', '"utf-8"', 'key="call_7"', '"x"', '""', 'f"{value}"'),
    *("\n", "\n", "\n", "\n    ", "\n\n", "\t", "C:\\run\\a.log", "\\d+", "\x1b[31mFAILED\x1b[0m"),
    *("naïve", "über", "✓", "東"),
)
"""Words with something to escape or with more than a byte a letter: about every fifth."""
_SHORT_TYPES = ("message", "reasoning", "plan", "tool.started", "usage")
_LONG_TYPES = ("tool.output", "file.read", "tool.finished", "file.edited")
_SHORT_BYTES_MAX = 1_200


class Corpus:
    """One seed gives one sequence of events, each a type and its encoded data."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._text, self._cuts = self._pool()
        self._starts = bisect_left(self._cuts, _POOL_BYTES - _SLICE_BYTES_MAX)
        """Index into the cuts: a text that begins before it never reaches the end of the pool."""
        self._base64 = bytes(self._random.choices(_BASE64, k=_POOL_BYTES // 2))
        self._short = self._heads(_SHORT_TYPES)
        self._long = self._heads(_LONG_TYPES)
        self._lengths = [line_bytes((i + 0.5) / _LENGTHS) for i in range(_LENGTHS)]

    def event(self) -> Event:
        """The next event of ordinary size."""
        chance = self._random.random
        length = self._lengths[int(chance() * _LENGTHS)] - ENVELOPE_BYTES - _HEAD_BYTES
        heads = self._short if length < _SHORT_BYTES_MAX else self._long
        type, head = heads[int(chance() * len(heads))]
        return type, head + self.text(length) + b'"}]}'

    def picture(self, length: int) -> Event:
        """An event with `length` bytes of base64."""
        whole, rest = divmod(length, len(self._base64))
        text = self._base64 * whole + self._base64[:rest]
        return "image", b'{"mime":"image/png","width":1024,"base64":"' + text + b'"}'

    def picture_bytes(self) -> int:
        """The length of the next picture, even over the magnitudes."""
        spread = PICTURE_BYTES_MAX / PICTURE_BYTES_MIN
        return round(PICTURE_BYTES_MIN * spread ** self._random.random())

    def state(self) -> Event:
        """A checkpoint's state."""
        return "checkpoint", b'{"summary":"' + self.text(STATE_BYTES) + b'","open":[1,2,3]}'

    def text(self, length: int) -> bytes:
        """Encoded text of about `length` bytes, from one end of a word to another."""
        cuts = self._cuts
        start = cuts[int(self._random.random() * self._starts)]
        return self._text[start : cuts[bisect_left(cuts, start + length)]]

    def _pool(self) -> tuple[bytes, list[int]]:
        common = [_encoded(word) + b" " for word in _COMMON_TEXT.split()]
        rare = [_encoded(word) for word in _RARE]
        words: list[bytes] = []
        cuts, size = [0], 0
        while size < _POOL_BYTES:
            pool = rare if self._random.random() < 0.22 else common
            word = pool[int(self._random.random() * len(pool))]
            words.append(word)
            size += len(word)
            cuts.append(size)
        return b"".join(words), cuts

    def _heads(self, types: tuple[str, ...]) -> list[tuple[str, bytes]]:
        return [(type, self._head()) for type in types for _ in range(_VARIANTS)]

    def _head(self) -> bytes:
        number = self._random.randrange
        members = {
            "role": self._random.choice(("user", "assistant", "tool")),
            "id": f"call_{number(1 << 32):08x}",
            "ok": self._random.choice((True, False, None)),
            "usage": {"in": number(90_000), "out": number(4_000), "cost": number(900) / 1000},
            "content": [{"type": "text", "lines": [number(900), number(900)], "text": ""}],
        }
        return json.dumps(members, separators=(",", ":")).encode("ascii")[: -len('"}]}')]


def line_bytes(share: float) -> int:
    """The length that `share` of the lines stay below."""
    for (low, start), (high, stop) in pairwise(LINE_QUANTILES):
        if share <= high:
            part = (share - low) / (high - low)
            return round(start * math.exp(part * math.log(stop / start)))
    raise ValueError("share must be from 0 to 1")


def stream(total_bytes: int, seed: int) -> Iterator[Event]:
    """The (type, data) of a log of about `total_bytes`, whose tail depends on the seed alone."""
    body = Corpus(seed)
    done = pictures = events = 0
    next_picture = body.picture_bytes()
    stop = total_bytes - LEAD_BYTES - TAIL_BYTES
    while done < stop:
        events += 1
        due = pictures + next_picture <= PICTURE_SHARE * (done + next_picture)
        if events % CHECKPOINT_EVENTS == 0:
            type, data = body.state()
        elif due and done + next_picture < stop:
            type, data = body.picture(next_picture)
            pictures += next_picture
            next_picture = body.picture_bytes()
        else:
            type, data = body.event()
        done += ENVELOPE_BYTES + len(data)
        yield type, data
    yield from _tail(seed)


def _tail(seed: int) -> Iterator[Event]:
    """The newest checkpoint, what follows it, and the events right before it."""
    tail = Corpus(seed + 1)
    yield from _events(tail, LEAD_BYTES)
    yield tail.state()
    yield from _events(tail, TAIL_BYTES)


def _events(corpus: Corpus, total_bytes: int) -> Iterator[Event]:
    done = 0
    while done < total_bytes:
        type, data = corpus.event()
        done += ENVELOPE_BYTES + len(data)
        yield type, data


def _encoded(word: str) -> bytes:
    return json.dumps(word, ensure_ascii=False)[1:-1].encode("utf-8")
