"""The manifest's hint is believed only as far as the bytes that it names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import safepoint
from safepoint.checkpoint import read_named
from safepoint.files import Disk
from safepoint.log import LogView
from safepoint.manifest import Manifest, read_manifest


@pytest.fixture
def folder(store: safepoint.Store) -> Path:
    """A session with two checkpoints and an event behind each; the manifest names the second."""
    with store.create("s") as session:
        session.append("first")
        session.checkpoint("old")
        session.append("between")
        session.checkpoint("new")
        session.append("last")
    return Path(store.path) / "s"


def manifest_of(folder: Path) -> Manifest:
    with Disk().open_root(str(folder)) as directory:
        manifest = read_manifest(directory)
    assert manifest is not None
    return manifest


def named(folder: Path, change: dict[str, Any]) -> bytes | None:
    """The data of the record that the hint, changed so, names."""
    hint = {**(manifest_of(folder).checkpoint or {}), **change}
    with Disk().open_root(str(folder)) as directory, LogView(directory) as view:
        header = view.header(1)
        assert header is not None
        found = read_named(view.fd(1), header.length, view.end(1), header.seed, hint)
    return found and found[0][found[1] : found[2]]


def test_the_hint_leads_to_the_record(folder: Path) -> None:
    """A hint that is never taken would cost a scan at each resume, and no other test would see."""
    data = named(folder, {})
    assert data is not None
    assert b'"state":"new"' in data
    assert named(folder, {"crc": None}) == data


def wrong_entries(folder: Path) -> list[dict[str, Any]]:
    """Changes to a hint, each of which makes it name something else."""
    log = (folder / "events-000001.jsonl").read_bytes()
    lines = log.splitlines(keepends=True)
    hint = manifest_of(folder).checkpoint
    assert hint is not None
    seq, offset, length = hint["seq"], hint["offset"], hint["bytes"]
    return [
        {"seq": seq - 1},
        {"seq": seq + 1},
        {"offset": offset + 1},
        {"offset": 0},
        {"offset": len(log)},
        {"offset": 1 << 58},
        {"bytes": 0},
        {"bytes": length - 1},
        {"bytes": length - 1, "crc": None},
        {"bytes": length + 1},
        {"bytes": 1 << 58},
        {"crc": "00000000"},
        {"seq": seq + 1, "offset": offset + length, "bytes": len(lines[-1]), "crc": None},
        {"seq": 0, "offset": 0, "bytes": len(lines[0]), "crc": None},
    ]


def test_a_hint_that_names_anything_else_gives_nothing(folder: Path) -> None:
    """A manifest may be old, of another copy of the log, or written by somebody else."""
    for change in wrong_entries(folder):
        assert named(folder, change) is None, change


def test_a_resume_is_the_same_whatever_the_hint_says(store: safepoint.Store, folder: Path) -> None:
    """A cache may cost time where it is wrong, never a state."""
    path = folder / "session.json"
    for change in wrong_entries(folder):
        manifest = manifest_of(folder)
        manifest.checkpoint = {**(manifest.checkpoint or {}), **change}
        path.write_bytes(manifest.encode())
        plan = store.plan("s")
        assert (plan.verdict, plan.checkpoint_seq, plan.upto) == ("resume", 4, 3), change
    with store.resume("s") as session:
        assert session.state == "new"
