"""What can stand in an event's data, type and key: it comes back as it was, or is refused."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import json
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest
import safepoint

RESERVED = (
    "session.created",
    "session.resumed",
    "session.anything",
    "checkpoint",
    "redacted",
    "approval.requested",
    "approval.x",
)
BAD_TYPES = ("", "a b", 'a"b', "a\\b", "a\nb", "ä", "\x7f", "a" * 129, "a\0", 7, None, b"a")


def nested(depth: int) -> Any:
    """Lists in lists, `depth` of them."""
    value: Any = []
    for _ in range(depth - 1):
        value = [value]
    return value


SAME = {
    "null": None,
    "true": True,
    "zero": 0,
    "negative-zero": -0.0,
    "float": 0.1,
    "tiny": 5e-324,
    "huge": 1.7976931348623157e308,
    "int64": 2**63 - 1,
    "int64-min": -(2**63),
    "uint64": 2**64 - 1,
    "above-uint64": 2**64,
    "below-int64": -(2**63) - 1,
    "digits-19": 10**18,
    "digits-20": 10**19,
    "digits-4300": 10**4299,
    "negative-4300": -(10**4299),
    "empty-string": "",
    "nul": "a\0b",
    "controls": "".join(map(chr, range(32))) + "\x7f",
    "quotes": '"\\/',
    "separators": "a\u2028b\u2029c\x85d",
    "emoji": "\U0001f600",
    "noncharacter": "\uffff\ufffe",
    "lone-surrogate": "a\ud800b",
    "two-lone": "\udc00\ud800",
    "surrogate-name": {"\udfff": 1},
    "empty-name": {"": 1},
    "empty-dict": {},
    "empty-list": [],
    "mixed": [1, "a", None, True, {"b": [1.5, {}]}],
    "numbers-as-text": {"1": 1, "1.0": 2},
    "blob": {"$blob": "x"},
    "blob-escaped": {"$$blob": {"$$$blob": [{"$blob": 1}]}},
    "blob-both": {"$blob": 1, "$$blob": 2},
    "not-quite-blob": {"$": 1, "$$": 2, "$blobs": 3, "blob": 4, "a$blob": 5},
    "blob-text": ["$blob", '$blob"'],
    "deep": nested(198),
    "like-a-record": {"seq": 1, "type": "checkpoint", "crc": "00000000"},
    "big-beside-surrogate": [2**70, "\ud800", 0.5],
}


@pytest.mark.parametrize("value", SAME.values(), ids=SAME)
def test_value_comes_back_the_same(store: safepoint.Store, value: Any) -> None:
    """A session that changes a value in silence is worse than one that refuses it (P1)."""
    with store.create("s", fold=None) as session:
        session.append("note", value)
        session.append_many([("note", {"inside": value}), ("note", [value])])
        found = [event.data for event in session.events(start=1)]
    expected = [value, {"inside": value}, [value]]
    assert [repr(data) for data in found] == [repr(data) for data in expected]


def test_depth_200_is_refused(store: safepoint.Store) -> None:
    """A record that no reader may open must not be written: 199 levels fit, 200 do not."""
    with store.create("s") as session:
        assert session.append("note", nested(199)) == 1
        for value in (nested(200), {"a": nested(199)}):
            with pytest.raises(safepoint.InvalidEventError):
                session.append("note", value)
        assert session.last_seq == 1
    assert store.inspect("s").state == "clean"


@pytest.mark.parametrize("loaded", [True, False], ids=["orjson", "json"])
@pytest.mark.parametrize("state", [{"$blob": 1}, {"n": 2**70}, ["\ud800"], "\u2028", 0.1, 10**18])
def test_checkpoint_state_comes_back_the_same(
    store: safepoint.Store, state: Any, loaded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that only resumes does not load orjson; what decodes for it must be as exact."""
    with store.create("s") as session:
        session.append("first")
        session.checkpoint(state)
    if not loaded:
        monkeypatch.delitem(sys.modules, "orjson")
    with store.resume("s") as session:
        assert repr(session.state) == repr(state)
        assert ("orjson" in sys.modules) is loaded


@pytest.mark.parametrize("request_", [{"$blob": 1}, [2**64, "\ud800"]])
def test_request_comes_back_the_same(store: safepoint.Store, request_: Any) -> None:
    """What the caller was asked to do stands in the first event."""
    with store.create("s", request=request_, labels={"a": 1}) as session:
        session.append("first")
        created = next(session.events())
    assert created.type == "session.created"
    assert created.data["request"] == request_
    assert created.data["labels"] == {"a": 1}


REFUSED = {
    "nan": (float("nan"), "data"),
    "infinity": ([float("inf")], "data[0]"),
    "minus-infinity": ({"a": {"b": [1, float("-inf")]}}, "data['a']['b'][1]"),
    "bytes": ({"raw": b"x"}, "data['raw']"),
    "bytearray": (bytearray(b"x"), "data"),
    "set": ([{1}], "data[0]"),
    "object": (object(), "data"),
    "complex": (1j, "data"),
    "int-name": ({"a": [{1: 2}]}, "data['a'][0]"),
    "none-name": ({None: 2}, "data"),
    "bool-name": ({True: 2}, "data"),
    "date": (datetime.datetime(2026, 12, 1), "data"),
    "uuid": ({"id": uuid.UUID(int=1)}, "data['id']"),
    "digits-5000": (10**5000, "data"),
    "path": ([Path("/x")], "data[0]"),
}


@pytest.mark.parametrize("value, path", REFUSED.values(), ids=REFUSED)
def test_what_json_cannot_hold_is_refused(store: safepoint.Store, value: Any, path: str) -> None:
    """orjson alone writes NaN as null and renames keys in silence; the message leads to it."""
    with store.create("s") as session:
        session.append("first")
        with pytest.raises(safepoint.InvalidEventError) as caught:
            session.append("note", value)
        assert str(caught.value).startswith(f"{path}:")
        assert isinstance(caught.value, ValueError)
        with pytest.raises(safepoint.InvalidEventError):
            session.append_many([("note", 1), ("note", value)])
        with pytest.raises(safepoint.InvalidEventError):
            session.checkpoint(value)
        assert session.last_seq == 1
        assert session.append("second") == 2


def test_circle_is_refused(store: safepoint.Store) -> None:
    """A value that holds itself must end as an error, not as a stack overflow."""
    circle: list[Any] = []
    circle.append(circle)
    with store.create("s") as session:
        with pytest.raises(safepoint.InvalidEventError):
            session.append("note", circle)


def test_errors_hold_no_payload(store: safepoint.Store) -> None:
    """Errors end up in logs that others read: what an agent saw does not belong there."""
    with store.create("s") as session:
        for value in (["secret", b"secret"], {"a": {b"secret": 1}}, "secret" * 1000 + "\ud800"):
            try:
                session.append("note", value)
            except safepoint.InvalidEventError as error:
                assert "secret" not in str(error)


@dataclasses.dataclass
class Point:
    x: int
    y: float


class Color(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Name(str):
    pass


def convert(value: Any) -> Any:
    """The caller's hook."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (uuid.UUID, datetime.datetime, Name)):
        return f"{value}"[:]
    raise TypeError


CONVERTED = {
    "dataclass": (Point(1, 0.5), {"x": 1, "y": 0.5}),
    "enum": ([Color.RED], ["red"]),
    "int-enum": ({"a": Level.HIGH}, {"a": 3}),
    "uuid": (uuid.UUID(int=1), str(uuid.UUID(int=1))),
    "date": (datetime.datetime(2026, 12, 1), "2026-12-01 00:00:00"),
    "beside-surrogate": (["\ud800", Point(2**70, 1.0)], ["\ud800", {"x": 2**70, "y": 1.0}]),
}


@pytest.mark.parametrize("value, plain", CONVERTED.values(), ids=CONVERTED)
def test_default_converts(store: safepoint.Store, value: Any, plain: Any) -> None:
    """One hook decides about every other type, the same whichever encoder runs behind it."""
    with store.create("s", default=convert, request=value) as session:
        session.append("note", value)
        assert [event.data for event in session.events(start=1)] == [plain]
        session.checkpoint({"state": value})
    with store.resume("s", default=convert) as session:
        assert session.state == {"state": plain}
        session.append("note", value)
        assert session.last(1)[0].data == plain


def test_error_of_default_writes_nothing(store: safepoint.Store) -> None:
    """What the hook raises comes through, and the session goes on."""
    with store.create("s", default=convert) as session:
        session.append("first")
        with pytest.raises(TypeError):
            session.append("note", object())
        assert session.append("second") == 2


def lines(store: safepoint.Store) -> bytes:
    """The bytes of the log."""
    return (Path(store.path) / "s" / "events-000001.jsonl").read_bytes()


def test_separators_are_escaped(store: safepoint.Store) -> None:
    """Readers in other languages split lines at U+2028, U+2029 and U+0085."""
    with store.create("s") as session:
        session.append("note", {"\u2028": "\u2029 \x85"}, key="a\u2028")
    assert len(lines(store).decode().splitlines()) == lines(store).count(b"\n")
    assert b"\\u2028" in lines(store)


def test_every_line_is_json_of_the_documented_order(store: safepoint.Store) -> None:
    """The log is plain JSONL (P14), with the members in the order that FORMAT promises."""
    with store.create("s") as session:
        session.append("note", {"z": 1, "a": [2**70]}, key="k")
        session.append_many([("note", 1), ("note", 2)])
    header, *records = [json.loads(line) for line in lines(store).splitlines()]
    assert list(header)[:2] == ["safepoint", "session"]
    assert [list(record) for record in records] == [
        ["seq", "ts", "type", "data", "d", "crc"],
        ["seq", "ts", "type", "key", "data", "d", "crc"],
        ["seq", "ts", "type", "data", "more", "d", "crc"],
        ["seq", "ts", "type", "data", "more", "d", "crc"],
    ]


@pytest.mark.parametrize("type", RESERVED)
def test_reserved_type_is_refused(store: safepoint.Store, type: str) -> None:
    """A caller's own `checkpoint` would be taken for one at the next resume."""
    with store.create("s") as session:
        session.append("first")
        with pytest.raises(safepoint.InvalidEventError):
            session.append(type, {})
        with pytest.raises(safepoint.InvalidEventError):
            session.append_many([("note", 1), (type, {})])
        assert session.last_seq == 1


@pytest.mark.parametrize("type", BAD_TYPES)
def test_bad_type_is_refused(store: safepoint.Store, type: Any) -> None:
    """The type is read without decoding: it is plain ASCII without quotes."""
    with store.create("s") as session:
        with pytest.raises(safepoint.InvalidEventError):
            session.append(type)
        with pytest.raises(safepoint.InvalidEventError):
            session.append_many([(type, 1)])
        assert session.last_seq == -1
    assert not Path(store.path).exists()


@pytest.mark.parametrize("type", ["a", "a" * 128, "!~", "sessions.x", "Checkpoint", "tool.x", "{}"])
def test_unusual_type_is_taken(store: safepoint.Store, type: str) -> None:
    """Unknown types are valid for ever, whatever printable characters they use."""
    with store.create("s") as session:
        session.append(type)
        assert session.last(1)[0].type == type


@pytest.mark.parametrize("key", ["k", "k" * 512, "ä\u2028\ud800", '"\\', "$blob"])
def test_key_comes_back_the_same(store: safepoint.Store, key: str) -> None:
    """A key is any short string; after a resume it still names its event."""
    with store.create("s") as session:
        assert session.append("call", 1, key=key) == 1
        assert session.last(1)[0].key == key
    with store.resume("s") as session:
        assert session.append("call", 1, key=key) == 1


@pytest.mark.parametrize("key", ["", "k" * 513, 7, b"k"])
def test_bad_key_is_refused(store: safepoint.Store, key: Any) -> None:
    """Checkpoints repeat the newest 1,024 keys: they must stay small strings."""
    with store.create("s") as session:
        with pytest.raises(safepoint.InvalidEventError):
            session.append("call", 1, key=key)
        assert session.last_seq == -1


@pytest.mark.slow
def test_batch_above_its_limit_is_refused(store: safepoint.Store) -> None:
    """A reader holds a batch whole: above 64 MiB none is written, not even in part."""
    with store.create("s") as session:
        session.append("first")
        part = "x" * (17 << 20)
        with pytest.raises(safepoint.InvalidEventError):
            session.append_many([("part", part)] * 4)
        assert session.last_seq == 1
        assert session.append("second") == 2
