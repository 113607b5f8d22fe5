"""Vectors of single records of ours, and of whole foreign logs."""

from __future__ import annotations

from vector_parts import SEED, STALE, TS, finding, joined, record, sealed

HEAD = f'{{"seq":1,"ts":"{TS}","type":"note"'.encode()
UNREADABLE = [-1, "", "", None, -1, -1, -1, 0]


def written(data: bytes, seq: int, d: int, **members) -> tuple[bytes, list]:
    """A record, and what its parse gives."""
    line = record(seq, data, d=d, **members)
    return line, parsed(line, data, seq, d, **members)


def parsed(line: bytes, data: bytes, seq: int, d: int, **members) -> list:
    key = members.get("key")
    start = line.index(b'"data":') + len(b'"data":')
    place = [start, start + len(data), members.get("more", -1)]
    return [seq, TS, members.get("type", "note"), key and key.hex(), *place, d]


def readable_rows() -> list[tuple[str, bytes, list]]:
    large = 10**18 - 1
    line, answer = written(b'{"a":1}', 17, 13)
    rows = [
        ("plain", line, answer),
        ("without newline", line[:-1], answer),
        ("all members", *written(b"[1]", 3, 1, type="tool.started", key=b'"call_1"', more=2)),
        ("key with escapes", *written(b"[1]", 3, 0, key=b'"data\\":\\"\\\\"')),
        ("empty key", *written(b"0", 0, 0, key=b'""')),
        ("last of a batch", *written(b"0", 0, 0, more=0)),
        ("members inside data", *written(b'"x,\\"more\\":1,\\"d\\":2"', 5, 4)),
        ("data that is no JSON", *written(b"{]", 6, 1)),
        ("largest numbers", *written(b"0", large, large, type="!" * 128, more=large)),
        ("d above seq", *written(b"0", 2, 9)),
    ]
    # What stands directly before d and is no N is part of data.
    for name, data in (
        ("more of 19 digits is data", b'0,"more":%d' % 10**18),
        ("more with a leading zero is data", b'0,"more":01'),
    ):
        rows.append((name, *written(data, 1, 0)))
    return rows


def unproven_rows() -> list[tuple[str, bytes, None]]:
    line = record(17, b'{"a":1}', d=13)
    lettered = next(r for r in (record(n) for n in range(99)) if r[-11:-3] != r[-11:-3].upper())
    return [
        ("another seed", record(1, seed=STALE), None),
        ("one bit of data", line.replace(b'"a":1', b'"a":0'), None),
        ("crc in upper case", lettered[:-11] + lettered[-11:-3].upper() + b'"}\n', None),
        ("space behind", line[:-1] + b" \n", None),
        ("NUL before", b"\0" + line, None),
        ("NUL behind", line[:-1] + b"\0\n", None),
        ("two newlines", line + b"\n", None),
        ("carriage return", line[:-1] + b"\r\n", None),
        ("cut", line[:-2], None),
        ("empty", b"", None),
        ("newline", b"\n", None),
    ]


def unreadable_rows() -> list[tuple[str, bytes, list]]:
    """The CRC holds, the members are not as they should be."""
    end = b',"data":0,"d":0'
    table = [
        ("suffix alone", b""),
        ("no head", b'{"x":1'),
        ("seq with a leading zero", HEAD.replace(b":1,", b":01,") + end),
        ("seq of 19 digits", HEAD.replace(b":1,", b":%d," % 10**18) + end),
        ("negative seq", HEAD.replace(b":1,", b":-1,") + end),
        ("a space in the head", HEAD.replace(b'"seq":', b'"seq": ') + end),
        ("ts of 26 bytes", HEAD.replace(b"Z", b"") + end),
        ("ts with a quote", HEAD.replace(b"Z", b'"') + end),
        ("ts with a backslash", HEAD.replace(b"56Z", b"6\\n") + end),
        ("empty type", HEAD.replace(b"note", b"") + end),
        ("type of 129 bytes", HEAD.replace(b"note", b"n" * 129) + end),
        ("type with a space", HEAD.replace(b"note", b"a b") + end),
        ("type with a backslash", HEAD.replace(b"note", b"a\\n") + end),
        ("type beyond ASCII", HEAD.replace(b"note", b"\xc3\xa9") + end),
        ("no data", HEAD + b',"d":0'),
        ("empty data", HEAD + b',"data":,"d":0'),
        ("empty data before more", HEAD + b',"data":,"more":1,"d":0'),
        ("no d", HEAD + b',"data":0'),
        ("d with a leading zero", HEAD + b',"data":0,"d":00'),
        ("d of 19 digits", HEAD + b',"data":0,"d":%d' % 10**18),
        ("d before more", HEAD + b',"data":0,"d":0,"more":1'),
        ("unclosed key", HEAD + b',"key":"abc,'),
        ("key that ends in a backslash", HEAD + b',"key":"abc\\'),
        ("key that is a number", HEAD + b',"key":5' + end),
        ("key behind data", HEAD + end + b',"key":"a"'),
    ]
    return [(name, sealed(body), UNREADABLE) for name, body in table]


def records() -> list[dict]:
    rows = [*readable_rows(), *unproven_rows(), *unreadable_rows()]
    return [{"name": n, "hex": line.hex(), "seed": SEED, "record": r} for n, line, r in rows]


def event(seq: int, pad: str = "") -> bytes:
    return f'{{"seq":{seq},"type":"m","pad":"{pad}"}}\n'.encode()


NONE = (-1, -1)


def seq_row(name: str, parts: list[bytes], last_seq: int, *found: tuple) -> tuple:
    """`found`: (kind, part, seq, missing) over whole parts."""
    text, at = joined(*parts)
    findings = [
        finding(kind, at[i], len(parts[i]), seq, missing) for kind, i, seq, missing in found
    ]
    objects = sum(part.startswith(b"{") and part.endswith(b"}\n") for part in parts)
    return name, text, [objects, at[-1], last_seq, findings, 0]


def order_rows() -> list[tuple[str, bytes, list]]:
    return [
        seq_row("in order", [event(4), event(5), event(6)], 6),
        seq_row("gap", [event(0), event(3), event(4)], 4, ("seq_gap", 1, 3, (1, 3))),
        seq_row("repeat", [event(0), event(1), event(1)], 1, ("seq_repeat", 2, 1, NONE)),
        seq_row(
            "order, then a repeat of the same",
            [event(0), event(3), event(1), event(1), event(2)],
            3,
            ("seq_gap", 1, 3, (1, 3)),
            ("seq_order", 2, 1, NONE),
            ("seq_repeat", 3, 1, NONE),
            ("seq_order", 4, 2, NONE),
        ),
        seq_row(
            "a gap split by an order stays a gap on both sides",
            [event(0), event(5), event(3), event(1), event(4), event(3)],
            5,
            ("seq_gap", 1, 5, (1, 5)),
            ("seq_order", 2, 3, NONE),
            ("seq_order", 3, 1, NONE),
            ("seq_order", 4, 4, NONE),
            ("seq_repeat", 5, 3, NONE),
        ),
        seq_row(
            "below the first",
            [event(5), event(2), event(3), event(2), event(6)],
            6,
            ("seq_order", 1, 2, NONE),
            ("seq_order", 2, 3, NONE),
            ("seq_repeat", 3, 2, NONE),
        ),
    ]


def damage_rows() -> list[tuple[str, bytes, list]]:
    return [
        seq_row(
            "damage swallows the seqs", [event(0), b"x\n", event(3)], 3, ("not_json", 1, -1, (1, 3))
        ),
        seq_row(
            "the last damage swallows them",
            [event(0), b"x\n", b"y\n", event(3)],
            3,
            ("not_json", 1, -1, NONE),
            ("not_json", 2, -1, (1, 3)),
        ),
        seq_row(
            "a blank line swallows nothing",
            [event(0), b"\n", event(3)],
            3,
            ("blank", 1, -1, NONE),
            ("seq_gap", 2, 3, (1, 3)),
        ),
        seq_row(
            "an object without seq does not part them from their damage",
            [event(0), b"x\n", b"{}\n", event(3)],
            3,
            ("not_json", 1, -1, (1, 3)),
        ),
        seq_row(
            "damage before the newest seq swallows nothing behind it",
            [event(0), b"x\n", event(1), event(3)],
            3,
            ("not_json", 1, -1, NONE),
            ("seq_gap", 3, 3, (2, 3)),
        ),
        seq_row(
            "damage without a jump", [event(0), b"x\n", event(1)], 1, ("not_json", 1, -1, NONE)
        ),
    ]


def literal_rows() -> list[tuple[str, bytes, list]]:
    return [
        seq_row("18 digits", [event(10**18 - 1)], 10**18 - 1),
        seq_row("19 digits are no seq", [event(10**18), event(1)], 1),
        seq_row("negative is no seq", [event(-1), event(1)], 1),
        seq_row("the last of duplicate seqs", [b'{"seq":9,"seq":1}\n', event(2)], 2),
        seq_row("the last of duplicates is no integer", [b'{"seq":9,"seq":"x"}\n', event(2)], 2),
        seq_row("escaped seq", [b'{"\\u0073eq":1}\n', event(3)], 3, ("seq_gap", 1, 3, (2, 3))),
        seq_row("nested seq", [b'{"a":{"seq":7}}\n', event(3)], 3),
        seq_row(
            "float, exponent and true are no seq",
            [b'{"seq":1.0}\n', b'{"seq":1e0}\n', b'{"seq":true}\n'],
            -1,
        ),
    ]


def framing_rows() -> list[tuple[str, bytes, list]]:
    a = b'{"type":"a"}\n'  # 13 bytes
    bom, mark = b"\xef\xbb\xbf", finding("bom", 0, 3)
    two_runs = [finding("blank", 0, 1), finding("blank", 14, 1)]
    document = [mark, finding("blank", 3, 3), finding("not_jsonl", 6, 5)]
    behind_nul = [finding("nul", 0, 1), finding("not_json", 1, 2)]
    table = [
        ("empty file", b"", (0, 0), []),
        ("only a byte order mark", bom, (0, 0), [mark]),
        ("byte order mark", bom + a, (1, 16), [mark]),
        ("byte order mark cut", bom[:2], (0, 0), [finding("torn", 0, 2)]),
        ("byte order mark in the middle", a + bom + a, (2, 28), [finding("glued", 13, 16)]),
        ("only a newline", b"\n", (0, 0), [finding("blank", 0, 1)]),
        ("blank run", a + b"\n \n\t\n" + a, (2, 31), [finding("blank", 13, 5)]),
        ("two blank runs", b"\n" + a + b"\n", (1, 14), two_runs),
        ("not_jsonl", b'{\n  "a": 1\n}\n', (0, 0), [finding("not_jsonl", 0, 13)]),
        ("not_jsonl array", b"[\r\n1]\n", (0, 0), [finding("not_jsonl", 0, 6)]),
        ("not_jsonl behind mark and blanks", bom + b"\n \n { \n}", (0, 0), document),
        ("not_jsonl without newline", b"[", (0, 0), [finding("not_jsonl", 0, 1)]),
        ("a bracket behind NULs is a damaged line", b"\0{\n" + a, (1, 16), behind_nul),
        ("a bracket on the second line", a + b"{\n", (1, 13), [finding("not_json", 13, 2)]),
        ("torn tail", a + a[:5], (1, 13), [finding("torn", 13, 5)]),
        ("tail ends before NULs", a + a[:-1] + b"\0\0", (2, 25), [finding("nul", 25, 2)]),
        ("tail ends at the last piece", a[:-1] * 2 + b"x\n", (2, 24), [finding("glued", 0, 26)]),
    ]
    return [(name, text, [*facts, -1, found, 0]) for name, text, facts, found in table]


def swallow_rows() -> list[tuple[str, bytes, list]]:
    """Which damage carries the seqs that a jump leaves out, and in what order findings come."""
    one, three, seven = event(1), event(3), event(7)
    n = len(one)
    unterminated = [finding("unterminated", n, n - 1), finding("seq_gap", n, n - 1, 3, (2, 3))]
    nuls = [finding("nul", n, 1, -1, (2, 3)), finding("nul", 2 * n, 1, -1, (4, 7))]
    repeat = [finding("seq_repeat", n, n - 1, 1), finding("nul", 2 * n - 1, 1)]
    glued = [finding("glued", n, 2 * n, -1, (4, 7))]
    repeats = [
        finding("glued", n, 2 * n - 1),
        finding("seq_repeat", n, n - 1, 1),
        finding("seq_repeat", 2 * n - 1, n - 1, 1),
    ]
    wrapped = one + b"\0" + three[:-1] + b"\0\n" + seven
    return [
        ("unterminated with a gap", one + three[:-1], [2, 2 * n - 1, 3, unterminated, 0]),
        ("NULs before an object, and behind it", wrapped, [3, 3 * n + 2, 7, nuls, 0]),
        ("a repeat before NULs", one + one[:-1] + b"\0\n", [2, 2 * n - 1, 1, repeat, 0]),
        (
            "a glued line swallows before each of its pieces",
            one + b"x" + three[:-1] + seven,
            [3, 3 * n - 1, 7, glued, 0],
        ),
        (
            "a repeat in a glued line stands behind its finding",
            one + one[:-1] + one,
            [3, 3 * n - 2, 1, repeats, 0],
        ),
    ]


def jsonl() -> list[dict]:
    rows = [*framing_rows(), *swallow_rows(), *order_rows(), *damage_rows(), *literal_rows()]
    return [{"name": name, "hex": text.hex(), "result": result} for name, text, result in rows]
