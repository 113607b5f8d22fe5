"""One record: what is sealed is what is parsed."""

from __future__ import annotations

import pytest
from damaged_logs import own, own_logs, seeds
from engines import chunks, engines, often, opened
from hypothesis import given
from hypothesis import strategies as st
from safepoint import _fallback
from vector_parts import SEED, STALE, TS, record, sealed


@engines
@often
@given(
    st.integers(0, 10**18 - 1),
    st.sampled_from(["note", "!", "x" * 128]),
    st.sampled_from([None, b'""', b'"k"', b'"\\"data\\":"']),
    st.sampled_from([b"{}", b"1", b'"\\"d\\":1"', b'{"more":1,"d":2}']),
    st.integers(-1, 10**18 - 1),
    st.integers(0, 10**18 - 1),
    st.integers(0, 2**32 - 1),
)
def test_a_sealed_record_parses_to_what_was_sealed(engine, seq, type, key, data, more, d, seed):
    """What the writer wrote is what a reader gets, byte for byte."""
    line = engine.seal_record(seq, TS, type, key, data, more, d, seed)
    assert line == record(
        seq, data, type=type, key=key, more=None if more < 0 else more, d=d, seed=seed
    )
    seq_, ts_, type_, key_, start, stop, more_, d_ = engine.parse_record(line, seed)
    assert (seq_, ts_, type_, key_, more_, d_) == (seq, TS, type, key, more, d)
    assert line[start:stop] == data


@engines
@often
@given(
    st.integers(0, 10**18 - 1),
    st.integers(0, 2**63 - 1),
    st.sampled_from(["note", "!", "x" * 128]),
    st.sampled_from([b"{}", b'"\xc3\xbc"', b"1" * 100_000]),
    st.integers(0, 10**18 - 1),
    st.integers(0, 2**32 - 1),
)
def test_an_event_is_sealed_as_a_record_of_its_time(engine, seq, time_ns, type, data, d, seed):
    """The short way of an append writes the same bytes as the way of a batch."""
    ts = engine.format_timestamp(time_ns // 1000)
    line = engine.seal_record(seq, ts, type, None, data, -1, d, seed)
    assert engine.seal_event(seq, time_ns, type, data, d, seed) == line


@engines
@pytest.mark.parametrize("time_ns", [-1, -1000, -(10**15)])
def test_no_event_is_sealed_before_1970(engine, time_ns):
    """A clock that is set wrong stops the append, and writes no time that cannot be read."""
    with pytest.raises(ValueError):
        engine.seal_event(1, time_ns, "note", b"1", 0, SEED)


@engines
def test_seal_is_crc32_over_the_body_and_its_brace(engine):
    """FORMAT promises zlib's CRC-32: 0x561BACAF is what gzip writes for {"a":1}."""
    assert engine.seal(b'{"a":1', 0) == b'{"a":1,"crc":"%08x"}\n' % 0x561BACAF


@engines
@pytest.mark.parametrize("newline", [b"\n", b""])
def test_reseal_changes_the_crc_and_nothing_else(engine, newline):
    """Carried records keep every byte but their CRC, and end in a newline from then on."""
    line = record(4, b"[1]", d=2, seed=STALE)
    assert engine.reseal(line[:-1] + newline, SEED) == record(4, b"[1]", d=2)


@engines
@pytest.mark.parametrize(
    "line", [b"", b"\n", b"{}\n", b'{"a":1,"crc":"0123456G"}\n', b'{"crc":"01234567"} \n']
)
def test_reseal_of_a_line_without_suffix_raises_value_error(engine, line):
    """Nothing but a sealed line may be sealed again."""
    with pytest.raises(ValueError):
        engine.reseal(line, SEED)


ODD = sealed(b'{"seq":9,"odd":1,"d":9')
LOG = [
    record(0, type="checkpoint"),
    record(1, d=1),
    record(2, type="checkpoint", d=9),
    b"\0" + record(3, type="checkpoint", d=3),
    ODD,
    b"{}\n",
]


def find(engine, text: bytes, type: str, seq_max: int) -> tuple[int, int, int] | None:
    with opened(text) as fd:
        return engine.find_record(fd, 0, len(text), SEED, type, seq_max)


@engines
@pytest.mark.parametrize(
    ("type", "seq_max", "part"),
    [("", 99, 2), ("checkpoint", 99, 2), ("checkpoint", 1, 0), ("note", 99, 1), ("note", 0, None)],
)
def test_the_newest_exact_record_of_a_type_is_found(engine, type, seq_max, part):
    """Nothing resumes from a record behind NULs, or from one whose members are out of order."""
    place = None
    if part is not None:
        place = (part, sum(map(len, LOG[:part])), len(LOG[part]))
    assert find(engine, b"".join(LOG), type, seq_max) == place


@engines
def test_the_last_record_is_found_without_its_newline(engine):
    """A crash between a record's last two bytes loses nothing."""
    text = record(0) + record(1)[:-1]
    assert find(engine, text, "note", 99) == (1, len(record(0)), len(record(1)) - 1)


def watermark(engine, *parts: bytes) -> int:
    text = b"".join(parts)
    with opened(text) as fd:
        return engine.find_watermark(fd, 0, len(text), SEED)


@engines
@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ((), -1),
        ((b"x\n", ODD), -1),
        ((record(4, d=3),), 3),
        ((record(2, d=9),), 2),
        ((record(4, d=3), b"x\n", ODD, b"\n"), 3),
        ((record(4, d=3), b"\0" + record(5, d=4)), 4),
        ((record(4, d=3), record(6, d=5)[:-1] + record(5, d=4)), 5),
        ((record(4, d=3), record(5, d=4)[:-1]), 4),
    ],
    ids=["empty", "nothing", "d", "seq", "damage", "nuls", "pieces", "no newline"],
)
def test_the_watermark_is_the_highest_of_the_last_line_that_proves_any(engine, parts, expected):
    """Damage at the tail must not lower what is known to be durable."""
    assert watermark(engine, *parts) == expected


def one_by_one(text: bytes, seed: int) -> list[tuple]:
    """What `parse_records` promises, from the twin's `parse_record` of each line."""
    found, stop = [], 0
    for line in text.split(b"\n")[:-1]:
        line += b"\n"
        stop += len(line)
        record = _fallback.parse_record(line, seed)
        if record is None:
            break
        seq, ts, type, key, start, end, more, _ = record
        found.append((seq, ts, type, key, line[start:end] if seq >= 0 else b"", more, stop))
    return found


@engines
@often
@given(st.one_of(own_logs(), own), seeds)
def test_records_of_a_buffer_are_those_of_its_lines(engine, text, seed):
    """A replay may take no line that a look at it alone refuses, and miss none."""
    assert engine.parse_records(text, seed) == one_by_one(text, seed)


@engines
@chunks
@often
@given(own, seeds)
def test_the_record_at_a_place_is_that_of_its_line(engine, chunk_bytes, text, seed):
    """Recovery looks at lines of any length without holding them, and must say the same."""
    with opened(text) as fd:
        for offset, length, _ in _fallback.lines_forward(fd, 0, len(text)):
            record = _fallback.parse_record(text[offset : offset + length], seed)
            expected = record and (record[0], record[6])
            assert engine.record_at(fd, offset, offset + length, seed, chunk_bytes) == expected
        assert engine.record_at(fd, len(text), len(text) + 5, seed, chunk_bytes) is None


@engines
def test_records_end_at_the_first_line_that_is_none(engine):
    """What stands behind damage, or behind a cut, is not the run's; sealed nonsense has a place."""
    good, last = record(1, b"[2]", type="t", key=b'"k"', more=0), record(3)
    parsed = [
        (1, TS, "t", b'"k"', b"[2]", 0, len(good)),
        (-1, "", "", None, b"", -1, len(good + ODD)),
    ]
    for rest in (b"", b"\n", b"x\n" + last, last[:-1], b"\0" + last, record(3, seed=STALE) + last):
        assert engine.parse_records(good + ODD + rest, SEED) == parsed


@engines
@often
@given(
    st.lists(
        st.sampled_from([b"1" * 18, b"7" * 19, b"9" * 8, b"1", b"x", b"-", b":" * 9, b'$blob"']),
        max_size=9,
    )
)
def test_a_text_is_plain_by_its_bytes_alone(engine, parts):
    """A row of 19 digits that went unseen would be an integer turned into a float."""
    text = b"".join(parts)
    rows = [text[at : at + 19] for at in range(len(text) - 18)]
    odd = any(row.isdigit() for row in rows) or b'$blob"' in text
    assert engine.is_plain_text(text) is not odd
