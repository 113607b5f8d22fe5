"""A signal handler that uses the session in the middle of an append: what it does is done wholly
before the append, or refused, and what the append returns is in the log, in order.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import safepoint

PLACES = ("append", "_write_unless_known", "_write", "_ready", "_seal")


class Handler:
    """Calls `act` once, before the `at`-th instruction of those functions of session.py."""

    def __init__(self, at: int, act: Callable[[], object]) -> None:
        self.left = at
        self.act: Callable[[], object] | None = act

    def __call__(self, frame: FrameType, event: str, arg: object) -> Any:
        code = frame.f_code
        if code.co_name in PLACES and code.co_filename.endswith("session.py"):
            frame.f_trace_opcodes = True
            return self._step
        return None

    def _step(self, frame: FrameType, event: str, arg: object) -> Any:
        if event == "opcode":
            self.left -= 1
            if self.left < 0 and self.act is not None:
                act, self.act = self.act, None
                sys.settrace(None)
                with contextlib.suppress(safepoint.SafepointError):
                    act()
        return self._step


def appended_under(session: safepoint.Session, handler: Handler, **how: Any) -> int | None:
    """The seq of an append in which the handler runs, None where the append was refused."""
    sys.settrace(handler)
    try:
        return session.append("note", 2, **how)
    except safepoint.SafepointError:
        return None
    finally:
        sys.settrace(None)


@pytest.mark.parametrize("how", [{}, {"key": "k"}], ids=["plain", "keyed"])
@pytest.mark.parametrize("act", ["finish", "close", "append"])
def test_a_handler_never_comes_between(tmp_path: Path, act: str, how: dict[str, Any]) -> None:
    """SIGTERM handlers that finish a session are usual; an event behind its end would be lost."""
    store = safepoint.open_store(tmp_path)
    for at in range(1_000):
        with store.create(f"s{at}", durability="process") as session:
            session.append("note", 1)
            acts = {
                "finish": lambda session=session: session.finish("cancelled"),
                "close": session.close,
                "append": lambda session=session: session.append("note", 3, **how),
            }
            handler = Handler(at, acts[act])
            seq = appended_under(session, handler, **how)
        events = list(store.open(f"s{at}").events())
        types = [event.type for event in events]
        assert "session.finished" not in types[:-1]
        assert seq is None or (events[seq].seq, events[seq].type) == (seq, "note")
        if act == "append":
            assert seq is not None
            assert [event.data for event in events if event.key == "k"] in ([], [2], [3])
        if handler.act is not None:
            return
    raise AssertionError("the append has no end")
