"""One record: what is sealed is what is parsed."""

from __future__ import annotations

import pytest
from engines import engines, often
from hypothesis import given
from hypothesis import strategies as st
from vector_parts import SEED, STALE, TS, record


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
