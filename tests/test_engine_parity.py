"""Both engines, at any size of a read, say the same about any bytes; naive twins say it too."""

from __future__ import annotations

import inspect
import json

import naive
import pytest
from damaged_logs import foreign, own, own_logs, seeds
from engines import NATIVE, chunks, engines, often, opened
from hypothesis import given
from hypothesis import strategies as st
from safepoint import _fallback
from vector_parts import SEED, STALE


def both_ways(engine, fd: int, size: int, chunk_bytes: int) -> list:
    """What engines say about framing, in portions of two lines."""
    forward, backward = [], []
    start, stop = 0, size
    while portion := engine.lines_forward(fd, start, size, 2, chunk_bytes):
        forward += portion
        start = sum(portion[-1][:2])
    while portion := engine.lines_backward(fd, 0, stop, 2, chunk_bytes):
        backward += portion
        stop = portion[-1][0]
    return [forward, backward]


def objects_both_ways(engine, fd: int, size: int, chunk_bytes: int) -> list:
    forward, backward, places = [], [], []
    place = 0
    while place < size:
        portion, place = engine.objects_forward(fd, place, size, 2, chunk_bytes)
        forward += portion
        places.append(place)
    place = size
    while place > 0:
        portion, place = engine.objects_backward(fd, 0, place, 2, chunk_bytes)
        backward += portion
        places.append(place)
    return [forward, backward, places]


def contract(module) -> set[str]:
    return {name for name in dir(module) if not name.startswith("_") and name != "annotations"}


@pytest.mark.skipif(NATIVE is None, reason="safepoint._native is not built")
def test_engines_export_the_same_names_with_the_same_signatures():
    """scan.py takes any name from any engine, by position or by keyword."""
    assert contract(NATIVE) == contract(_fallback) == set(_fallback.__all__)
    for name in _fallback.__all__:
        ours, theirs = getattr(_fallback, name), getattr(NATIVE, name)
        if not callable(ours):
            assert ours == theirs, name
            continue
        ours, theirs = inspect.signature(ours).parameters, inspect.signature(theirs).parameters
        assert [(p.name, p.kind) for p in ours.values()] == [
            (p.name, p.kind) for p in theirs.values()
        ], name
        for parameter in ours.values():
            default = theirs[parameter.name].default
            assert default is ... or default == parameter.default, (name, parameter.name)


@engines
@chunks
@often
@given(st.lists(st.sampled_from([b"\n", b"ab", b"c", b"\r", b"\0"]), max_size=20), st.data())
def test_lines_are_those_of_the_naive_scan(engine, chunk_bytes, parts, data):
    """Every offset in every report rests on the framing."""
    text = b"".join(parts)
    start = data.draw(st.sampled_from([0] + [at + 1 for at, b in enumerate(text) if b == 0x0A]))
    stop = data.draw(st.integers(start, len(text) + 3))
    expected = naive.lines(text, start, stop)
    with opened(text) as fd:
        forward = engine.lines_forward(fd, start, stop, 99, chunk_bytes)
        backward = engine.lines_backward(fd, start, stop, 99, chunk_bytes)
    assert forward == expected
    assert backward == expected[::-1]


@engines
@chunks
@often
@given(foreign)
def test_framing_goes_on_where_it_stopped(engine, chunk_bytes, text):
    """A caller pages through a log in portions, in both directions."""
    with opened(text) as fd:
        forward, backward = both_ways(engine, fd, len(text), chunk_bytes)
    assert forward == backward[::-1] == naive.lines(text, 0, len(text))


@engines
@chunks
@often
@given(foreign)
def test_objects_are_the_twins_in_both_directions(engine, chunk_bytes, text):
    """The reverse scan is how a session of gigabytes is opened: it must see the same objects."""
    with opened(text) as fd:
        said = objects_both_ways(engine, fd, len(text), chunk_bytes)
        assert said == objects_both_ways(_fallback, fd, len(text), _fallback.CHUNK_BYTES)
        records, _, _, findings, _ = engine.inspect_jsonl(fd, len(text), chunk_bytes)
    if not any(kind == "not_jsonl" for kind, *_ in findings):
        assert said[0] == said[1][::-1]
        assert len(said[0]) == records


@engines
@chunks
@often
@given(foreign)
def test_inspection_is_the_twins(engine, chunk_bytes, text):
    """One verdict per log, whichever engine is installed."""
    with opened(text) as fd:
        said = engine.inspect_jsonl(fd, len(text), chunk_bytes)
        assert said == _fallback.inspect_jsonl(fd, len(text))
        assert said == engine.inspect_jsonl(fd, len(text) + 100)
        assert said == engine.inspect_jsonl(fd, len(text), chunk_bytes, threads=3)


@engines
@often
@given(foreign)
def test_classification_of_each_line_is_the_twins(engine, text):
    """A reader of one line and an inspection of the log must not disagree."""
    for line in text.splitlines(keepends=True):
        for last in (False, True):
            assert engine.classify_line(line, last) == _fallback.classify_line(line, last)


@st.composite
def found_logs(draw) -> tuple[bytes, tuple[str, ...], str]:
    """Objects with a string at a path, spelt in several ways, and what is looked for."""
    word = draw(st.sampled_from(["a", "b\n", "é", "\\", ""]))
    path = draw(st.sampled_from([("k",), ("k", "l"), ("é", "k", "l")]))
    lines = []
    for _ in range(draw(st.integers(0, 4))):
        value = json.dumps(draw(st.sampled_from(["a", "b\n", "é", "\\", "", 1, None, {"l": "a"}])))
        if draw(st.booleans()):
            value = value.replace("a", "\\u0061")
        for name in reversed(path):
            key = json.dumps(name, ensure_ascii=draw(st.booleans()))
            before = draw(st.sampled_from(["", "", '"k":"a",', '"k":{"l":"a"},']))
            after = draw(st.sampled_from(["", "", ',"k":2', ',"\\u006b":{"l":"a"}']))
            value = f"{{{before}{key}:{value}{after}}}"
        lines.append(value + draw(st.sampled_from(["\n", "\n", "", "x\n", "\0\n"])))
    return "".join(lines).encode(), path, word


@engines
@chunks
@often
@given(found_logs())
def test_a_found_object_is_the_newest_that_decodes_to_the_word(engine, chunk_bytes, asked):
    """Selectors see decoded values: escapes, duplicate keys and nesting must not fool them."""
    text, path, word = asked
    with opened(text) as fd:
        objects, _ = engine.objects_backward(fd, 0, len(text))
        newest = None
        for offset, length in objects:
            value = json.loads(text[offset : offset + length])
            for name in path:
                value = value.get(name) if isinstance(value, dict) else None
            if value == word:
                newest = (offset, length)
                break
        assert engine.find_object(fd, 0, len(text), path, word, chunk_bytes) == newest


@engines
@often
@given(
    foreign, st.sampled_from([("type",), ("",), ("a", "b"), ()]), st.sampled_from(["m", "", "a"])
)
def test_a_found_object_is_the_twins(engine, text, path, word):
    """Damaged lines are searched too, by their pieces."""
    with opened(text) as fd:
        said = engine.find_object(fd, 0, len(text), path, word)
        assert said == _fallback.find_object(fd, 0, len(text), path, word)


@engines
@chunks
@often
@given(own, st.booleans(), st.booleans(), st.integers(0, 3))
def test_walk_is_the_twins(engine, chunk_bytes, text, final, check_data, seq):
    """Where the log ends and what is cut hangs on it: it is the heart of recovery."""
    asked = (SEED, seq, final, check_data, (STALE,))
    with opened(text) as fd:
        said = engine.walk(fd, 0, len(text), *asked, chunk_bytes)
        assert said == _fallback.walk(fd, 0, len(text), *asked)
        assert said == engine.walk(fd, 0, len(text), *asked, chunk_bytes, threads=3)


@engines
@often
@given(own_logs())
def test_walk_of_a_whole_log_reaches_its_end(engine, text):
    """Parity alone would also hold of two engines that find damage everywhere."""
    lines = text.splitlines(keepends=True)
    seqs = [json.loads(line)["seq"] for line in lines]
    first = seqs[0] if seqs else 0
    with opened(text) as fd:
        said = engine.walk(fd, 0, len(text), SEED, first, False)
    if seqs == list(range(first, first + len(seqs))):
        assert said[:2] == (first + len(seqs), len(text))
        assert said[5:] == (0, [], 0)
    else:
        assert said[6]


@engines
@often
@given(own, st.integers(0, 2**62))
def test_walk_reads_to_the_end_of_a_file_that_ends_before_stop(engine, text, more):
    """A file may be shorter than a manifest remembers."""
    with opened(text) as fd:
        said = engine.walk(fd, 0, len(text) + more, SEED, 0, True)
        assert said == engine.walk(fd, 0, len(text), SEED, 0, True)


@engines
@chunks
@often
@given(own, seeds, st.sampled_from(["", "note", "checkpoint", "x"]), st.integers(-1, 12))
def test_a_found_record_is_the_twins(engine, chunk_bytes, text, seed, type, seq_max):
    """The newest checkpoint is found by it."""
    with opened(text) as fd:
        said = engine.find_record(fd, 0, len(text), seed, type, seq_max, chunk_bytes)
        assert said == _fallback.find_record(fd, 0, len(text), seed, type, seq_max)


@engines
@chunks
@often
@given(own, seeds)
def test_watermark_is_the_twins(engine, chunk_bytes, text, seed):
    """Only seqs from the watermark on may ever be cut."""
    with opened(text) as fd:
        said = engine.find_watermark(fd, 0, len(text), seed, chunk_bytes)
        assert said == _fallback.find_watermark(fd, 0, len(text), seed)


@engines
@often
@given(own)
def test_parse_and_seal_of_each_line_are_the_twins(engine, text):
    """Lines are checked one by one where a range is not walked."""
    for line in text.splitlines(keepends=True):
        for seed in (SEED, STALE, 0):
            assert engine.parse_record(line, seed) == _fallback.parse_record(line, seed)
            assert engine.check_seal(line, seed) == _fallback.check_seal(line, seed)
