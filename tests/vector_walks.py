"""Vectors of walks over a segment of ours."""

from __future__ import annotations

from vector_parts import STALE, TS, Log, finding, record, sealed
from vector_tails import tail_rows


def clean_walks() -> list[dict]:
    three = Log(record(0), record(1, d=1), record(2, type="checkpoint", d=1))
    batch = Log(
        record(0), record(1, more=2), record(2, type="checkpoint", more=1), record(3, more=0)
    )
    header = sealed(b'{"safepoint":1,"segment":1', 0)
    headed = Log(header, record(5, d=3), record(6, d=9))
    passed = Log(record(0), record(1, type="checkpoint"), record(2))
    return [
        Log().walk("empty", (0, 0), []),
        passed.walk("a checkpoint, then more", (3, 3), [], checkpoint=passed.place(1, 1)),
        three.walk("three records", (3, 3), [], watermark=1, checkpoint=three.place(2, 2)),
        batch.walk("a whole batch", (4, 4), [], checkpoint=batch.place(2, 2)),
        headed.walk("d above seq counts as seq", (7, 3), [], watermark=6, seq=5, start_part=1),
        Log(record(0), record(1)).walk("from the second record", (2, 2), [], seq=1, start_part=1),
        Log(record(0), record(1)).walk("from the end", (2, 2), [], seq=2, start_part=2),
    ]


def batch_walks() -> list[dict]:
    opening = record(1, more=2)
    rows = []
    log = Log(record(0), opening, record(2, more=1))
    rows.append(
        log.walk("batch cut by the end", (1, 1), [log.over("batch_cut", 1, 1, parts=2)], behind=2)
    )
    log = Log(record(0), opening, record(2, more=2), record(3, more=1), record(4, more=0))
    rows.append(log.walk("batch cut by another", (1, 1), [log.over("batch_cut", 1, 1)], behind=4))
    log = Log(record(0), opening, record(2), record(3))
    rows.append(
        log.walk("batch cut by a lone record", (1, 1), [log.over("batch_cut", 1, 1)], behind=3)
    )
    return rows


def batch_damage_walks() -> list[dict]:
    opening = record(1, more=2)
    rows = []
    log = Log(record(0), opening, b"x\n", record(3, more=0), record(4))
    rows.append(
        log.walk(
            "batch cut by damage; its last record behind it",
            (1, 1),
            [log.over("batch_cut", 1, 1), log.over("not_json", 2, -1, (2, 3))],
            behind=3,
        )
    )
    log = Log(record(0), opening, b"x\n", record(2, more=1), record(3, more=0))
    rows.append(
        log.walk(
            "damage inside a batch that lost nothing",
            (1, 1),
            [log.over("batch_cut", 1, 1), log.over("not_json", 2)],
            behind=3,
        )
    )
    log = Log(record(0), record(1, more=0), record(2))
    rows.append(log.walk("a lone last record", (1, 1), [log.over("batch_cut", 1, 1)], behind=2))
    log = Log(record(0), b"x\n", record(1), record(2, more=0))
    rows.append(
        log.walk(
            "a lone last record behind damage and a record",
            (1, 1),
            [log.over("not_json", 1), log.over("batch_cut", 3, 2)],
            behind=2,
        )
    )
    log = Log(record(0), opening, record(2, more=0))
    rows.append(
        log.walk(
            "a last record too early",
            (1, 1),
            [log.over("batch_cut", 1, 1), log.over("batch_cut", 2, 2)],
            behind=2,
        )
    )
    return rows


def batch_jump_walks() -> list[dict]:
    opening = record(1, more=2)
    rows = []
    log = Log(record(0), opening, record(4, more=1), record(5, more=0))
    rows.append(
        log.walk(
            "batch cut by a gap; the batch behind it is whole",
            (1, 1),
            [log.over("batch_cut", 1, 1), log.over("seq_gap", 2, 4, (2, 4))],
            behind=3,
        )
    )
    log = Log(record(0), opening, record(0))
    rows.append(
        log.walk(
            "batch cut by a repeat",
            (1, 1),
            [log.over("batch_cut", 1, 1), log.over("seq_repeat", 2, 0)],
            behind=2,
        )
    )
    log = Log(record(0), opening, b"\n", record(2, more=1), record(3, more=0))
    rows.append(
        log.walk(
            "batch cut by a blank line",
            (1, 1),
            [log.over("batch_cut", 1, 1), log.over("blank", 2)],
            behind=3,
        )
    )
    log = Log(record(0), b"\n", record(3, more=2))
    rows.append(
        log.walk(
            "a batch behind damage, cut by the end",
            (1, 1),
            [log.over("blank", 1), log.over("seq_gap", 2, 3, (1, 3)), log.over("batch_cut", 2, 3)],
            behind=1,
        )
    )
    return rows


def seq_walks() -> list[dict]:
    rows = []
    log = Log(record(0), record(3, d=2), record(1), record(1), record(2), record(4))
    rows.append(
        log.walk(
            "gap, order, repeat",
            (1, 1),
            [
                log.over("seq_gap", 1, 3, (1, 3)),
                log.over("seq_order", 2, 1),
                log.over("seq_repeat", 3, 1),
                log.over("seq_order", 4, 2),
            ],
            watermark=2,
            behind=5,
        )
    )
    log = Log(record(0), record(0), record(1))
    rows.append(log.walk("repeat", (1, 1), [log.over("seq_repeat", 1, 0)], behind=2))
    log = Log(record(4))
    rows.append(log.walk("gap at the start", (0, 0), [log.over("seq_gap", 0, 4, (0, 4))], behind=1))
    log = Log(record(4), record(7))
    rows.append(
        log.walk("below the start", (7, 0), [log.over("seq_repeat", 0, 4)], seq=7, behind=2)
    )
    log = Log(record(0), b"x\n", b"\n", record(3))
    rows.append(
        log.walk(
            "a blank line behind the damage",
            (1, 1),
            [log.over("not_json", 1, -1, (1, 3)), log.over("blank", 2)],
            behind=1,
        )
    )
    log = Log(record(0), b"x\n", record(1), record(3))
    rows.append(
        log.walk(
            "damage before the newest record swallows nothing behind it",
            (1, 1),
            [log.over("not_json", 1), log.over("seq_gap", 3, 3, (2, 3))],
            behind=2,
        )
    )
    return rows


def damage_walks() -> list[dict]:
    rows = []
    stub = record(1)[:40]
    whole = record(1)[:-1]
    flipped = record(1, b'"a"').replace(b'"a"', b'"b"')
    for name, line, kind in (
        ("crc", flipped, "crc"),
        ("crc in upper case is no seal", upper_case_crc(), "crc"),
        ("not_json", stub + b"\n", "not_json"),
        ("not_object", b"[1]\n", "not_object"),
        ("not_utf8", b'{"a":"\xff"}\n', "not_utf8"),
        ("too_deep", b"[" * 201 + b"\n", "too_deep"),
        ("an object without seal", b'{"a":1}\n', "crc"),
        ("carriage return before the newline", whole + b"\r\n", "glued"),
    ):
        log = Log(record(0), line, record(1, d=1))
        if kind == "glued":
            found = [log.over(kind, 1), log.over("seq_repeat", 2, 1)]
            rows.append(log.walk(name, (1, 1), found, watermark=1, behind=2))
        else:
            rows.append(log.walk(name, (1, 1), [log.over(kind, 1)], watermark=1, behind=1))
    return rows


def foreign_walks() -> list[dict]:
    rows = []
    stale = record(1, seed=STALE)
    log = Log(record(0), stale, record(1))
    rows.append(
        log.walk(
            "a stale record", (1, 1), [log.over("foreign", 1)], behind=1, other_seeds=(5, STALE)
        )
    )
    rows.append(
        log.walk("a stale record of no known segment", (1, 1), [log.over("crc", 1)], behind=1)
    )
    log = Log(record(0), sealed(b'{"safepoint":1,"segment":2', 0), record(1))
    rows.append(log.walk("a header in the middle", (1, 1), [log.over("foreign", 1)], behind=1))
    log = Log(record(0), sealed(b'{"safepoints":1', 0))
    rows.append(log.walk("a header begins with its whole name", (1, 1), [log.over("crc", 1)]))
    log = Log(record(0), sealed(b'{"other":1', 0))
    rows.append(log.walk("seed 0 alone makes no header", (1, 1), [log.over("crc", 1)]))
    return rows


def nul_walks() -> list[dict]:
    whole = record(1)[:-1]
    rows = []
    log = Log(record(0), b"\n", b" \n", record(1, d=1))
    rows.append(
        log.walk(
            "blank lines end the run",
            (1, 1),
            [log.over("blank", 1, parts=2)],
            watermark=1,
            behind=1,
        )
    )
    log = Log(record(0), b"\0" * 9 + b"\n", record(3))
    rows.append(
        log.walk(
            "NULs alone swallow",
            (1, 1),
            [finding("nul", log.at[1], 9, -1, (1, 3))],
            behind=1,
        )
    )
    log = Log(record(0), b"\0\0", record(1), record(2, d=1))
    rows.append(
        log.walk("NULs before a record", (1, 1), [log.over("nul", 1)], watermark=1, behind=2)
    )
    log = Log(record(0), whole, b"\0\0", b"\n", record(4))
    rows.append(
        log.walk(
            "NULs behind a record",
            (1, 1),
            [log.over("nul", 2), log.over("seq_gap", 4, 4, (2, 4))],
            behind=2,
        )
    )
    log = Log(record(0), b"\0", record(3)[:-1], b"\0\0", b"\n")
    rows.append(
        log.walk(
            "of NULs around a record the last swallow",
            (1, 1),
            [log.over("nul", 1), log.over("nul", 3, -1, (1, 3))],
            behind=1,
        )
    )
    return rows


def upper_case_crc() -> bytes:
    """A record whose CRC has letters, written in upper case."""
    for n in range(99):
        line = record(1, b"%d" % n)
        if line[-11:-3] != line[-11:-3].upper():
            return line[:-11] + line[-11:-3].upper() + b'"}\n'
    raise AssertionError("no CRC with a letter")


def piece_walks() -> list[dict]:
    rows = []
    one, two, three = record(1, d=1)[:-1], record(2)[:-1], record(3, d=2)[:-1]
    log = Log(record(0), one + two + b"\n", record(3))
    rows.append(
        log.walk("two records on a line", (1, 1), [log.over("glued", 1)], watermark=1, behind=3)
    )
    log = Log(record(0), one[:50] + three + b"\n", record(4))
    rows.append(
        log.walk(
            "stub and record", (1, 1), [log.over("glued", 1, -1, (1, 3))], watermark=2, behind=2
        )
    )
    log = Log(record(0), one, three, b"\n")
    joint = [finding("glued", log.at[1], log.at[4] - log.at[1]), log.over("seq_gap", 2, 3, (2, 3))]
    rows.append(log.walk("a gap between two pieces", (1, 1), joint, watermark=2, behind=2))
    log = Log(record(0), one + b"x" + b"\n", record(2))
    rows.append(
        log.walk("record and garbage", (1, 1), [log.over("glued", 1)], watermark=1, behind=2)
    )
    return rows


def nested_piece_walks() -> list[dict]:
    rows = []
    one, two = record(1, d=1)[:-1], record(2)[:-1]
    outer = b'{"seq":1,"ts":"' + TS.encode() + b'","type":"note","data":{"log":"x","inner":'
    log = Log(record(0), outer + two + b"\n", record(3))
    rows.append(
        log.walk(
            "a stub whose data holds a record of the same segment",
            (1, 1),
            [log.over("glued", 1, -1, (1, 2))],
            behind=2,
        )
    )
    log = Log(record(0), outer + record(2, seed=STALE)[:-1] + b"\n", record(3))
    rows.append(
        log.walk(
            "a stub whose data holds a record of another",
            (1, 1),
            [log.over("not_json", 1, -1, (1, 3))],
            behind=1,
            other_seeds=(STALE,),
        )
    )
    holder = record(1, b'{"inner":' + two + b"}", d=1)
    log = Log(record(0), holder, record(2))
    rows.append(log.walk("an exact record whose data holds one", (3, 3), [], watermark=1))
    log = Log(record(0), b"x" + holder, record(2))
    rows.append(
        log.walk(
            "a piece whose data holds a record",
            (1, 1),
            [log.over("glued", 1)],
            watermark=1,
            behind=2,
        )
    )
    log = Log(record(0), holder.replace(b'"note"', b'"nose"', 1), record(3))
    rows.append(
        log.walk(
            "a damaged record whose data holds one",
            (1, 1),
            [log.over("glued", 1, -1, (1, 2))],
            behind=2,
        )
    )
    starts = b'{"seq":' * 63
    log = Log(record(0), starts + one + b"\n")
    rows.append(log.walk("the 64th start", (1, 1), [log.over("glued", 1)], watermark=1, behind=1))
    log = Log(record(0), starts + b'{"seq":' + one + b"\n")
    rows.append(log.walk("a 65th start is not tried", (1, 1), [log.over("not_json", 1)]))
    hidden = sealed(b'{"seq":1,"data":0,"d":0')[:-1]
    log = Log(record(0), b"x" + hidden + b"\n", record(1))
    rows.append(
        log.walk(
            "a piece must be laid out as a record", (1, 1), [log.over("not_json", 1)], behind=1
        )
    )
    return rows


def walks() -> list[dict]:
    return [
        *clean_walks(),
        *batch_walks(),
        *batch_damage_walks(),
        *batch_jump_walks(),
        *seq_walks(),
        *damage_walks(),
        *foreign_walks(),
        *nul_walks(),
        *piece_walks(),
        *nested_piece_walks(),
        *tail_rows(),
    ]
