"""The damaged files that people reported: what must come back, and what must be named."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pytest
from engines import engines
from shared import SHARED, read_whole, unaccounted

CASES = SHARED / "cases" if SHARED else None
LATER = {"dangling_parent", "parent_cycle", "open_effect"}
"""Kinds that a scan of lines cannot see: they follow links between objects."""

CORRECTED: dict[str, tuple[int, set[str]]] = {}
"""File to (objects, kinds), where the bytes prove the shared table wrong."""


def table() -> dict[str, tuple[int, set[str]]]:
    if CASES is None:
        return {}
    with open(CASES / "expected.tsv", newline="") as rows:
        listed = {
            row["file"]: (int(row["objects"]), set(row["findings"].split(",")) - LATER - {"-"})
            for row in csv.DictReader(rows, delimiter="\t")
        }
    return listed | CORRECTED


EXPECTED = table()
files = pytest.mark.parametrize("name", sorted(EXPECTED) or ["no case"])
pytestmark = pytest.mark.skipif(
    CASES is None, reason="SAFEPOINT_SHARED is not set: 40 shared cases, each for 4 tests, not run"
)


@pytest.fixture(scope="session")
def folder(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("cases")
    subprocess.run([sys.executable, str(CASES / "make_cases.py"), str(out), "--big"], check=True)
    return out


@files
@engines
def test_inspection_counts_and_names_what_was_reported(engine, name, folder):
    """A salvage must bring back every object, and an inspection say why the rest is lost."""
    path = folder / f"{name}.jsonl"
    with open(path, "rb") as log:
        records, _, _, findings, _ = engine.inspect_jsonl(log.fileno(), path.stat().st_size)
    assert (records, {kind for kind, *_ in findings}) == EXPECTED[name]


@files
@engines
def test_both_directions_give_the_same_objects(engine, name, folder):
    """A resume reads from the end: it must see what a forward reader sees."""
    path = folder / f"{name}.jsonl"
    with open(path, "rb") as log:
        forward, backward = read_whole(engine, log.fileno(), path.stat().st_size)
    assert forward == backward
    assert len(forward) == EXPECTED[name][0]


@files
@engines
def test_every_byte_is_accounted_for(engine, name, folder):
    """What no report mentions is lost in silence."""
    path = folder / f"{name}.jsonl"
    text = path.read_bytes()
    with open(path, "rb") as log:
        findings = engine.inspect_jsonl(log.fileno(), len(text))[3]
        objects, _ = engine.objects_forward(log.fileno(), 0, len(text))
    assert unaccounted(text, findings, objects) == []


@pytest.mark.parametrize("chunk_bytes", [4096, 65536])
@engines
def test_a_64_mib_line_is_framed_backward_in_one_pass(engine, folder, chunk_bytes):
    """A reader that grows its buffer by a chunk and scans it again needs hours here."""
    path = folder / "r40_one_64MiB_line.jsonl"
    size = path.stat().st_size
    with open(path, "rb") as log:
        backward = engine.lines_backward(log.fileno(), 0, size, 99, chunk_bytes)
        assert backward == engine.lines_forward(log.fileno(), 0, size, 99)[::-1]
    assert max(length for _, length, _ in backward) > 64 << 20


def test_the_table_covers_every_file(folder):
    """A file that no row expects would never be looked at."""
    assert {path.stem for path in folder.iterdir()} == set(EXPECTED)
