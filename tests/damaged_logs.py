"""Hypothesis strategies: logs of ours and of others, whole and then damaged."""

from __future__ import annotations

import json

from hypothesis import strategies as st
from vector_parts import SEED, STALE, record, sealed

TYPES = st.sampled_from(["note", "checkpoint", "tool.started"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)
SNIPPETS = st.sampled_from(
    [
        b"\n",
        b" ",
        b"\0",
        b"\0\0\0",
        b"\r\n",
        b"\n\n",
        b"{",
        b"}",
        b'"',
        b"\\",
        b"\xff",
        b"\xe7\x95",
        b"[" * 201,
        b'{"seq":',
        b'{"type":"a"}',
        b'{"x":1}',
        b'{"type":"a","seq":2}\n',
        b',"crc":"00000000"}',
        b"\xef\xbb\xbf",
        record(1, seed=STALE),
        record(2),
        record(2)[:-1],
        record(3, more=1),
        sealed(b'{"safepoint":1', 0),
        sealed(b'{"seq":1,"odd":1'),
    ]
)


@st.composite
def own_logs(draw) -> bytes:
    """A segment's records, batches whole, seqs mostly in order."""
    lines: list[bytes] = []
    seq = draw(st.integers(0, 3))
    while len(lines) < draw(st.integers(0, 8)):
        size = draw(st.integers(1, 3))
        d = draw(st.integers(0, seq + 1))
        for left in reversed(range(size)):
            data = json.dumps(draw(VALUES)).encode()
            key = draw(st.sampled_from([None, b'"k"', b'"a\\"b"']))
            more = left if size > 1 else None
            lines.append(record(seq, data, type=draw(TYPES), key=key, more=more, d=d))
            seq += 1
        seq += draw(st.sampled_from([0, 0, 0, 0, 1, -1, 3])) if seq else 0
        seq = max(seq, 0)
    return b"".join(lines)


@st.composite
def foreign_logs(draw) -> bytes:
    """Objects of others, one a line, some with seq and type."""
    lines = []
    for seq in range(draw(st.integers(0, 6))):
        value = draw(st.dictionaries(st.text(max_size=3), VALUES, max_size=3))
        value |= draw(st.sampled_from([{}, {"type": "m"}, {"seq": seq, "type": "m"}, {"seq": seq}]))
        lines.append(json.dumps(value, ensure_ascii=draw(st.booleans())).encode("utf-8", "replace"))
    bom = draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf"]))
    return bom + b"".join(line + b"\n" for line in lines)


@st.composite
def damaged(draw, logs) -> bytes:
    """A log after up to four accidents of a disk, a crash or a second writer."""
    text = draw(logs)
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(text)))
        stop = min(len(text), start + draw(st.sampled_from([0, 1, 1, 5, 40, 200])))
        accident = draw(st.sampled_from(["cut", "flip", "zero", "repeat", "insert", "remove"]))
        if accident == "cut":
            text = text[:start]
        elif accident == "flip" and start < len(text):
            flipped = text[start] ^ (1 << draw(st.integers(0, 7)))
            text = text[:start] + bytes((flipped,)) + text[start + 1 :]
        elif accident == "zero":
            text = text[:start] + b"\0" * (stop - start) + text[stop:]
        elif accident == "repeat":
            text = text[:stop] + text[start:stop] + text[stop:]
        elif accident == "insert":
            text = text[:start] + draw(SNIPPETS) + text[start:]
        elif accident == "remove":
            text = text[:start] + text[stop:]
    return text


own = damaged(own_logs())
foreign = damaged(foreign_logs())
seeds = st.sampled_from([SEED, STALE])
