"""What the engines say of values of Python, and how they write moments."""

from __future__ import annotations

from collections import OrderedDict
from datetime import UTC, datetime, timedelta
from enum import IntEnum

import pytest
from engines import NATIVE, engines, often
from hypothesis import given
from hypothesis import strategies as st
from safepoint import _fallback
from safepoint.events import DATA_DEPTH_MAX, encode_data


class Text(str):
    """A string that is none."""


class Level(IntEnum):
    """An int that orjson would encode by itself."""

    ONE = 1


class Trap(dict):
    """A dict that runs code of its own."""

    def items(self):
        raise AssertionError("code of the value ran")

    __iter__ = keys = values = __len__ = items


def nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


PLAIN = [None, True, 0, -(10**30), 1.5, "", "\ud800", [], (), {}, {"a": [1, ("é", {"b$": 2.0})]}]
NOT_PLAIN = [
    *(float("nan"), float("inf"), b"", {1}, object(), Text("a"), Level.ONE, OrderedDict(), Trap()),
    *({1: 2}, {Text("a"): 1}, {"$blob": 1}, {"$": 1}, [float("-inf")], {"a": ({"b": set()},)}),
    datetime(2026, 12, 1),
]


@engines
@pytest.mark.parametrize("value", PLAIN, ids=repr)
def test_exact_values_are_plain(engine, value):
    """These go to the encoder at once."""
    assert engine.is_plain_value(value, 199)


@engines
@pytest.mark.parametrize("value", NOT_PLAIN, ids=lambda value: type(value).__name__)
def test_whatever_would_change_is_not_plain(engine, value):
    """An encoder would write another value than the caller's, or run the caller's code."""
    assert not engine.is_plain_value(value, 199)
    assert not engine.is_plain_value({"a": [value]}, 199)


@engines
@pytest.mark.parametrize("depth", [0, 1, 5, DATA_DEPTH_MAX])
def test_depth_is_counted_in_containers(engine, depth):
    """One level more makes a record that no reader takes."""
    for value in (nested(depth), {"a": nested(depth - 1)} if depth else "a"):
        assert engine.is_plain_value(value, depth)
    assert not engine.is_plain_value(nested(depth + 1), depth)
    assert not engine.is_plain_value({"a": nested(depth)}, depth)


scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary(max_size=1)
)
names = st.one_of(st.text(max_size=3), st.sampled_from(["$blob", "$", "\ud800"]), st.integers())
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner), st.lists(inner).map(tuple), st.dictionaries(names, inner)
    ),
)


@pytest.mark.skipif(NATIVE is None, reason="safepoint._native is not built")
@often
@given(values, st.integers(-1, 4))
def test_engines_agree_on_values(value, depth):
    """The twin says in ten lines what the native engine must find."""
    assert NATIVE.is_plain_value(value, depth) == _fallback.is_plain_value(value, depth)


def test_values_that_are_not_plain_are_still_encoded():
    """What the quick look does not take, the slow one decides as ever."""
    assert encode_data({"$blob": [(1, 2)]}) == b'{"$$blob":[[1,2]]}'
    assert encode_data({"a": Level.ONE}, default=int) == b'{"a":1}'
    assert encode_data(["\u2028", 10**30]) == b'["\\u2028",%d]' % 10**30


@engines
@often
@given(st.integers(0, 253_402_300_799_999_999))
def test_timestamps_are_the_calendars(engine, micros):
    """Leap years and the ends of months, against the standard library's calendar."""
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros)
    expected = moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    assert engine.format_timestamp(micros) == expected


@engines
@pytest.mark.parametrize("year", [*range(1970, 2110), 2400, 9999])
def test_timestamps_around_the_leap_day_and_the_new_year(engine, year):
    """The days at which a calendar goes wrong."""
    for month, day in ((1, 1), (2, 28), (3, 1), (12, 31)):
        moment = datetime(year, month, day, 23, 59, 59, 1, tzinfo=UTC)
        micros = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
        expected = f"{year}-{month:02}-{day:02}T23:59:59.000001Z"
        assert engine.format_timestamp(micros) == expected


@engines
@pytest.mark.parametrize("micros", [-1, 253_402_300_800_000_000])
def test_timestamps_have_a_year_of_four_digits(engine, micros):
    """FORMAT promises 27 characters."""
    with pytest.raises(ValueError):
        engine.format_timestamp(micros)
