"""What a well-formed text is, and which pieces of a broken line are proven."""

from __future__ import annotations

import inspect
import json
import sys

import naive
import pytest
from engines import engines, often, opened
from hypothesis import given
from hypothesis import strategies as st
from vector_parts import SEED, record

JSON_PARTS = st.sampled_from(
    [
        *'{}[]:,"\\ \t\n\r\f\0-+.0e',
        *("12", "1.5", "E5", "true", "tru", "false", "null", "NaN", "Infinity", "-Infinity"),
        *("\\u12", "\\ud83d", "\\n", "é", "界", "\ufeff"),
        *('"a"', '"type"', '"a":', '{"type":"a"}'),
    ]
)
TEXTS = st.lists(JSON_PARTS, max_size=14).map(lambda parts: "".join(parts).encode())
OBJECTS = st.dictionaries(st.text(max_size=3), st.floats() | st.text(max_size=3), max_size=3)


@st.composite
def broken_texts(draw) -> bytes:
    """Well-formed objects with a few bytes replaced, removed or put in."""
    text = b"".join(
        json.dumps(draw(OBJECTS), ensure_ascii=draw(st.booleans())).encode("utf-8", "replace")
        for _ in range(draw(st.integers(1, 3)))
    )
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(text)))
        text = (
            text[:at] + draw(st.binary(max_size=2) | TEXTS) + text[at + draw(st.integers(0, 2)) :]
        )
    return text


def library_verdict(text: bytes) -> str:
    try:
        value = json.loads(text.decode())
    except UnicodeDecodeError:
        return "not_utf8"
    except ValueError:
        return "not_json"
    return "ok" if isinstance(value, dict) else "not_object"


@engines
@often
@given(TEXTS | broken_texts())
def test_verdict_is_that_of_the_standard_library(engine, text):
    """Whatever `json` can write can stand in a log, and nothing that it cannot read."""
    assert engine.check_json(text) == library_verdict(text)


@engines
@often
@given(st.integers(190, 210), st.sampled_from(["[", '{"a":']), st.booleans())
def test_depth_counts_containers_of_both_kinds(engine, depth, opener, closed):
    """Depth is what bounds every recursive reader's stack; `json` alone would go on to 990."""
    closer = {"[": "]", '{"a":': "}"}[opener]
    text = opener * depth + "1" + closer * (depth if closed else 0)
    whole = ("not_object" if opener == "[" else "ok") if closed else "not_json"
    assert engine.check_json(text.encode()) == ("too_deep" if depth > 200 else whole)


@engines
def test_verdict_does_not_hang_on_the_digit_setting(engine):
    """A host that lowers or lifts the interpreter's limit must not change what a log holds."""
    before = sys.get_int_max_str_digits()
    try:
        for limit in (640, 0):
            sys.set_int_max_str_digits(limit)
            assert engine.check_json(b'{"a":' + b"7" * 4300 + b"}") == "ok"
            assert engine.check_json(b'{"a":' + b"7" * 4301 + b"}") == "not_json"
    finally:
        sys.set_int_max_str_digits(before)


@engines
def test_verdict_does_not_hang_on_the_stack_of_the_caller(engine):
    """A framework deep in its own calls gets the verdict that a script gets."""
    text = b'{"a":' + b"[" * 199 + b"]" * 199 + b"}"

    def call(frames: int) -> str:
        return call(frames - 1) if frames else engine.check_json(text)

    here = len(inspect.stack(0))
    assert call(sys.getrecursionlimit() - here - 40) == "ok"


@engines
@often
@given(broken_texts() | TEXTS)
def test_pieces_are_those_of_the_naive_rule(engine, text):
    """The rule is byte exact: an object nested in a stub must never be taken for a record."""
    text = text.strip(b"\0\n").replace(b"\n", b" ")
    findings, objects = engine.classify_line(text + b"\n", False)
    if engine.check_json(text) == "ok" or not text.strip(naive.SPACES):
        assert findings in ([], [("blank", 0, len(text) + 1, -1, -1, -1)])
    else:
        assert objects == naive.pieces(text)


@engines
@pytest.mark.parametrize(
    "text",
    [
        b'{"' * 60_000,
        b"{" * 120_000,
        b"x" + b"{}" * 60_000,
        b'{"type":"a"}' * 10_000,
        b'{"\x01' * 40_000,
        b'{"a":1.' * 20_000,
        b'{"a":' * 24_000,
        b'{"a":[' * 20_000,
        b'{"a":"' + b"\\u12" * 30_000,
        b'{"seq":1' * 15_000,
        b'x{"type":"' + b"7{" * 60_000,
    ],
    ids=lambda text: text[:10].hex(),
)
def test_hostile_lines_cost_linear_time(engine, text):
    """120 KB that a quadratic search would read 60,000 times over."""
    findings, _ = engine.classify_line(text + b"\n", False)
    assert findings
    with opened(record(0) + text + b"\n") as fd:
        size = len(record(0)) + len(text) + 1
        assert engine.walk(fd, 0, size, SEED, 0, False)[0] == 1
