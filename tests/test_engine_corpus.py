"""Real transcripts of ten agents: every file opens, and nothing in it goes unmentioned."""

from __future__ import annotations

import naive
import pytest
from engines import engines
from shared import SHARED, read_whole, unaccounted

CORPUS = sorted(SHARED.glob("corpus/*/*")) if SHARED else []
files = pytest.mark.parametrize(
    "path", CORPUS or [None], ids=lambda path: f"{path.parent.name}/{path.name}" if path else "none"
)
pytestmark = pytest.mark.skipif(
    not CORPUS, reason="SAFEPOINT_SHARED is not set: the shared corpus, 3 tests a file, not read"
)


def naive_count(text: bytes) -> int:
    """Objects by the standard library and the naive piece rule; 0 in one document of many lines."""
    text = text.removeprefix(b"\xef\xbb\xbf")
    if text.strip(naive.SPACES).split(b"\n")[0].strip(naive.SPACES) in (b"{", b"["):
        return 0
    return sum(naive.objects_of_line(line) for line in text.split(b"\n"))


@files
@engines
def test_records_are_what_the_standard_library_decodes(engine, path):
    """A twin that shares no code with the engines counts the same objects."""
    text = path.read_bytes()
    with open(path, "rb") as log:
        records = engine.inspect_jsonl(log.fileno(), len(text))[0]
    assert records == naive_count(text)


@files
@engines
def test_both_directions_give_the_same_objects(engine, path):
    """A resume reads from the end: it must see what a forward reader sees."""
    with open(path, "rb") as log:
        size = path.stat().st_size
        forward, backward = read_whole(engine, log.fileno(), size)
        findings = engine.inspect_jsonl(log.fileno(), size)[3]
    # One document over many lines is no log; that shows at its head, where no reverse scan looks.
    document = any(kind == "not_jsonl" for kind, *_ in findings)
    assert forward == ([] if document else backward)


@files
@engines
def test_every_byte_is_accounted_for(engine, path):
    """What no report mentions is lost in silence."""
    text = path.read_bytes()
    with open(path, "rb") as log:
        findings = engine.inspect_jsonl(log.fileno(), len(text))[3]
        objects, _ = engine.objects_forward(log.fileno(), 0, len(text), 2**31)
    assert unaccounted(text, findings, objects) == []


def test_the_corpus_was_found_whole():
    """An empty folder would pass every test above."""
    listed = (SHARED / "corpus" / "SOURCES.tsv").read_text().splitlines()[1:]
    assert {row.split("\t")[0] for row in listed} == {
        f"{path.parent.name}/{path.name}" for path in CORPUS
    }
