"""What a session remembers of its events: the newest idempotency keys, and the fold's state.

Events are noted before they are written and absorbed once they are in the log, so that an append
that a Ctrl-C cut short is seen by keys and fold exactly if it stayed.
"""

from __future__ import annotations

from .checkpoint import Checkpoint
from .errors import InvalidEventError
from .types import Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, Protocol

    class Fold(Protocol):
        """The caller's function from events to state."""

        version: Any

        def initial(self) -> Any:
            """The state before the first event."""

        def apply(self, state: Any, event: Event) -> Any:
            """The state after one event; asked again for an event that a Ctrl-C cut short."""

        def dump(self, state: Any) -> Any:
            """The state as a JSON value, for a checkpoint."""

        def load(self, state: Any, version: Any) -> Any:
            """The state that a checkpoint of that fold version holds."""


KEYS_MAX = 1024
"""Idempotency keys that are remembered; each checkpoint repeats them."""


def _check_fold(fold: Fold) -> None:
    """TypeError at once, and not at the first checkpoint, where a fold lacks a part."""
    parts = ("version", "initial", "apply", "dump", "load")
    lacking = [part for part in parts if not hasattr(fold, part)]
    if lacking:
        raise TypeError(f"a fold has {', '.join(parts)}; this one lacks {', '.join(lacking)}")


class Memory:
    """Keys and state of one session. The session's lock guards it."""

    def __init__(self, fold: Fold | None) -> None:
        if fold is not None:
            _check_fold(fold)
        self.fold = fold
        self.upto = -1
        """The last event that the newest checkpoint's state contains."""
        self.finished = False
        """Whether the log ends in `session.finished`."""
        self._pending: list[Event] = []
        """Events handed to the writer that keys and fold have not seen."""
        self._noted: tuple[int, Any] = (-1, None)
        """(upto, state) of the checkpoint among them, if there is one."""
        self._keys: dict[str, tuple[int, str]] = {}
        """Key to (seq, type), oldest first."""
        self._unread: Callable[[], Iterator[Event]] | None = None
        """Gives the events whose keys were not read yet; None once they were."""
        self._folded: tuple[int, Any] = (0, fold.initial() if fold else None)
        """(first seq that the state does not contain, the state): replaced together."""

    @property
    def state(self) -> Any:
        """With a fold the live state, else that of the newest checkpoint."""
        return self._folded[1]

    def restore(self, checkpoint: Checkpoint | None, behind: Callable[[], Iterator[Event]]) -> None:
        """Takes keys and state from a checkpoint, and from the events `behind` it."""
        data = checkpoint.data if checkpoint else {}
        upto = self.upto = checkpoint.upto if checkpoint else -1
        self._keys = {key: (seq, type) for key, seq, type in data.get("keys", ())}
        self._unread = behind
        state = data.get("state")
        if self.fold is not None:
            loaded = self.fold.load(state, data.get("fold")) if checkpoint else self.fold.initial()
            upto, state = self._fold_all(loaded, behind(), upto)
        self._folded = (upto + 1, state)

    def note(self, events: list[Event], checkpoint: tuple[int, Any] | None = None) -> None:
        """These are about to be written; `checkpoint` is (upto, state) if one is among them."""
        self._noted = checkpoint or self._noted
        self._pending = [*self._pending, *events]

    def absorb(self, stop: int) -> None:
        """Shows noted events below seq `stop`, the end of the log, to keys and fold; drops the
        others.

        An exception of the fold comes through with a note: the event is in the log all the same.
        """
        while self._pending:
            event = self._pending[0]
            if event.seq < stop:
                if event.key is not None:
                    self._remember(event.key, event.seq, event.type)
                self._apply(event)
            self._pending = self._pending[1:]

    def known(self, key: str, type: str) -> int | None:
        """The seq of the event that has the key, None if none has.

        InvalidEventError if its type differs.
        """
        self._read_keys()
        if key not in self._keys:
            return None
        seq, known_type = self._keys[key]
        if known_type != type:
            raise InvalidEventError(
                f"the key was used by event {seq} of another type: choose another key. "
                "Nothing was written."
            )
        return seq

    def newest_keys(self) -> list[list[Any]]:
        """[key, seq, type] of each key that is remembered, as a checkpoint holds them."""
        self._read_keys()
        return [[key, seq, type] for key, (seq, type) in self._keys.items()]

    def _fold_all(self, state: Any, events: Iterator[Event], upto: int) -> tuple[int, Any]:
        assert self.fold is not None
        for event in events:
            if event.seq > upto:
                upto = event.seq
                if event.type != "checkpoint":
                    state = self.fold.apply(state, event)
        return upto, state

    def _apply(self, event: Event) -> None:
        if event.type == "session.finished":
            self.finished = True
        if event.type == "checkpoint":
            self.upto = self._noted[0]
            if self.fold is None:
                self._folded = (self.upto + 1, self._noted[1])
        if self.fold is None or event.seq < self._folded[0]:
            return
        state = self._folded[1]
        if event.type != "checkpoint":
            try:
                state = self.fold.apply(state, event)
            except Exception as error:
                self._folded = (event.seq + 1, state)
                self._pending = self._pending[1:]
                error.add_note(f"safepoint: event {event.seq} is in the log, the fold failed on it")
                raise
        self._folded = (event.seq + 1, state)

    def _read_keys(self) -> None:
        """Reads the keys of the records behind the checkpoint that we resumed from."""
        if self._unread is None:
            return
        keys = dict(self._keys)
        for event in self._unread():
            if event.key is not None:
                keys[event.key] = (event.seq, event.type)
        self._keys = dict(list(keys.items())[-KEYS_MAX:])
        self._unread = None

    def _remember(self, key: str, seq: int, type: str) -> None:
        self._keys[key] = (seq, type)
        while len(self._keys) > KEYS_MAX:
            del self._keys[next(iter(self._keys))]
