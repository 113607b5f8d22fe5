"""A real session of format version 1, kept for ever: it must open in every release."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import safepoint

FIXTURES = Path(__file__).parent / "fixtures"
EVENTS = json.loads((FIXTURES / "session-v1.events.json").read_text())


@pytest.fixture
def kept(store: safepoint.Store) -> safepoint.Store:
    """A store that holds a copy of the kept session."""
    shutil.copytree(FIXTURES / "session-v1", Path(store.path) / "session-v1")
    return store


def test_every_event_is_what_it_was(kept: safepoint.Store) -> None:
    """Values that one encoder or the other finds hard are among them."""
    with kept.open("session-v1") as reader:
        got = [event.as_dict() for event in reader.events()]
        assert got == EVENTS
        assert [event.as_dict() for event in reader.events(reverse=True)] == EVENTS[::-1]


def test_it_is_clean_and_finished(kept: safepoint.Store) -> None:
    """Segments, carried records, a mend and a quarantine file are part of the format too."""
    seen = kept.inspect("session-v1")
    assert (seen.state, seen.status, seen.records) == ("clean", "completed", len(EVENTS))
    assert seen.findings == [] and seen.segments == 3
    with pytest.raises(safepoint.ResumeRefusedError):
        kept.resume("session-v1")


def test_it_needs_no_manifest(kept: safepoint.Store) -> None:
    """The log alone tells everything but the caller's info."""
    (Path(kept.path) / "session-v1" / "session.json").unlink()
    assert kept.inspect("session-v1").state == "clean"
    assert [(info.id, info.status) for info in kept.list()] == [("session-v1", "completed")]
