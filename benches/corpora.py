"""The logs that the rows share, each written when it is first asked for."""

from __future__ import annotations

import os
from functools import cached_property
from typing import NamedTuple

from corpus import Corpus, Event
from generate import SEED, Written, write_foreign, write_session

PEERS_MB = 256
SMALL_MB = 10
"""The log that a big one is compared to."""


class Sizes(NamedTuple):
    """How much is measured."""

    mb: int
    """Of the log that most rows read, in million bytes."""
    big_mb: int
    """Of the log whose plan is compared to that of a small one."""
    line_mb: int
    """Of the lines that the rows of memory meet."""
    sessions: int
    """In the store that is listed."""
    rounds: int


class Corpora:
    """Logs in a temporary folder; one seed, so that every run reads the same bytes."""

    def __init__(self, place: str, sizes: Sizes, rounds_short: int, *, with_peers: bool) -> None:
        self._place = place
        self.sizes = sizes
        self.rounds = sizes.rounds
        self.rounds_short = rounds_short
        """Rounds of rows that take microseconds: cheap, so more of them."""
        self.with_peers = with_peers
        """Whether other tools are asked for the same answers where they are installed."""
        self._stores = 0

    @cached_property
    def own(self) -> Written:
        """A session of ours."""
        return self._session("own", self.sizes.mb)

    @cached_property
    def big(self) -> Written:
        """The log for the plan: the same one unless another size was asked for."""
        same = self.sizes.big_mb == self.sizes.mb
        return self.own if same else self._session("big", self.sizes.big_mb)

    @cached_property
    def small(self) -> Written:
        """A session with the same tail."""
        return self._session("small", SMALL_MB)

    @cached_property
    def foreign(self) -> Written:
        """A plain JSONL file."""
        return self._foreign("foreign", self.sizes.mb)

    @cached_property
    def foreign_small(self) -> Written:
        """A plain JSONL file that the slowest peer reads in a second or two."""
        return self._foreign("foreign-small", min(self.sizes.mb, PEERS_MB))

    @cached_property
    def own_with_line(self) -> Written:
        """A session with a very long line on either side of its newest checkpoint."""
        extra = self._long_lines()
        return write_session(self._folder("long"), self._weighed_bytes, extra=extra)

    @cached_property
    def foreign_with_line(self) -> Written:
        """The same, any JSONL."""
        path = os.path.join(self._place, "foreign-long.jsonl")
        return write_foreign(path, self._weighed_bytes, extra=self._long_lines())

    def fresh(self) -> str:
        """The path of a store that is empty."""
        self._stores += 1
        path = os.path.join(self._place, f"fresh-{self._stores}")
        os.makedirs(path, mode=0o700)
        return path

    @property
    def _weighed_bytes(self) -> int:
        return min(self.sizes.mb, 128) * 1_000_000

    def _long_lines(self) -> list[Event]:
        corpus = Corpus(SEED)
        picture = corpus.picture(self.sizes.line_mb * 1_000_000)
        return [picture, corpus.state(), picture]

    def _session(self, name: str, mb: int) -> Written:
        return write_session(self._folder(name), mb * 1_000_000)

    def _foreign(self, name: str, mb: int) -> Written:
        return write_foreign(os.path.join(self._place, f"{name}.jsonl"), mb * 1_000_000)

    def _folder(self, name: str) -> str:
        return os.path.join(self._place, "store", name)
