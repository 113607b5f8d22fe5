"""Vectors of walks over the end of a log, and over data that cannot be decoded."""

from __future__ import annotations

from vector_parts import Log, finding, record, sealed


def end_walks() -> list[dict]:
    rows = []
    tail = Log(record(0), record(1, d=1)[:-1])
    open_tail = [tail.over("unterminated", 1)]
    rows.append(tail.walk("no final newline, final", (2, 2), open_tail, watermark=1, final=True))
    rows.append(tail.walk("no final newline, not final", (1, 1), open_tail, watermark=1, behind=1))
    log = Log(record(0), record(3)[:-1])
    rows.append(
        log.walk(
            "no final newline, final, a gap before it",
            (1, 1),
            [log.over("seq_gap", 1, 3, (1, 3)), log.over("unterminated", 1)],
            behind=1,
            final=True,
        )
    )
    rows.append(
        log.walk(
            "no final newline, not final, a gap before it",
            (1, 1),
            [log.over("unterminated", 1, -1, (1, 3))],
            behind=1,
        )
    )
    return rows


def open_batch_walks() -> list[dict]:
    rows = []
    log = Log(record(0), record(1, more=1), record(2, more=0)[:-1])
    rows.append(
        log.walk(
            "no final newline, the batch is whole",
            (3, 3),
            [log.over("unterminated", 2)],
            final=True,
        )
    )
    rows.append(
        log.walk(
            "no final newline, not final, inside a batch",
            (1, 1),
            [log.over("batch_cut", 1, 1), log.over("unterminated", 2)],
            behind=2,
        )
    )
    log = Log(record(0), record(1, more=1)[:-1])
    rows.append(
        log.walk(
            "no final newline, the batch is open",
            (1, 1),
            [log.over("unterminated", 1), log.over("batch_cut", 1, 1)],
            behind=1,
            final=True,
        )
    )
    return rows


def tail_walks() -> list[dict]:
    rows = []
    log = Log(record(0), record(1)[:40])
    for final in (True, False):
        rows.append(log.walk(f"torn, final {final}", (1, 1), [log.over("torn", 1)], final=final))
    log = Log(record(0), record(1, b'"a"').replace(b'"a"', b'"b"')[:-1])
    rows.append(log.walk("unterminated and damaged", (1, 1), [log.over("crc", 1)], final=True))
    log = Log(record(0), record(1)[:40] + record(2)[:-1])
    rows.append(
        log.walk(
            "unterminated and glued",
            (1, 1),
            [log.over("glued", 1, -1, (1, 2))],
            behind=1,
            final=True,
        )
    )
    log = Log(record(0), record(1)[:-1], b"\0" * 5)
    rows.append(log.walk("NULs at the end", (1, 1), [log.over("nul", 2)], behind=1, final=True))
    log = Log(record(0), b"\0" * 5, record(1)[:-1])
    rows.append(
        log.walk(
            "NULs before an unterminated record", (1, 1), [log.over("nul", 1)], behind=1, final=True
        )
    )
    log = Log(record(0), b"  ")
    rows.append(log.walk("white end", (1, 1), [log.over("blank", 1)], final=True))
    return rows


def undecodable_walks() -> list[dict]:
    rows = []
    odd = sealed(b'{"seq":1,"data":0,"d":1')
    log = Log(record(0), odd, record(2, d=2))
    rows.append(
        log.walk("members out of order", (3, 3), [log.over("undecodable", 1, 1)], watermark=2)
    )
    log = Log(record(0), sealed(b'{"seq":1,]'), record(2))
    found = [log.over("undecodable", 1, 1)]
    rows.append(log.walk("neither JSON nor a record", (3, 3), found, check_data=True))
    log = Log(record(0), record(1, more=1), odd, record(3))
    rows.append(
        log.walk(
            "members out of order inside a batch",
            (1, 1),
            [log.over("batch_cut", 1, 1), log.over("undecodable", 2, 2)],
            behind=3,
        )
    )
    log = Log(record(0), b"\0", odd, record(2))
    rows.append(
        log.walk(
            "members out of order behind NULs",
            (1, 1),
            [log.over("nul", 1), log.over("undecodable", 2, 1)],
            behind=2,
        )
    )
    return rows


def checked_data_walks() -> list[dict]:
    rows = []
    for name, data in (
        ("broken data", b"{]"),
        ("bad UTF-8 in data", b'"\xff"'),
        ("too deep data", b"[" * 200 + b"]" * 200),
    ):
        log = Log(record(0), record(1, data), record(2))
        found = [log.over("undecodable", 1, 1)]
        rows.append(log.walk(name + ", asked for", (3, 3), found, check_data=True))
        rows.append(log.walk(name + ", not asked for", (3, 3), []))
    log = Log(record(0), b"x", record(1, b"{]"))
    rows.append(
        log.walk(
            "broken data in a piece",
            (1, 1),
            [finding("glued", log.at[1], log.at[3] - log.at[1])],
            behind=1,
            check_data=True,
        )
    )
    log = Log(record(0), record(0, b"{]"))
    rows.append(
        log.walk(
            "broken data in a repeat",
            (1, 1),
            [log.over("seq_repeat", 1, 0), log.over("undecodable", 1, 0)],
            behind=1,
            check_data=True,
        )
    )
    log = Log(record(0), record(1, b"{]")[:-1])
    rows.append(
        log.walk(
            "broken data without newline",
            (2, 2),
            [log.over("undecodable", 1, 1), log.over("unterminated", 1)],
            check_data=True,
            final=True,
        )
    )
    return rows


def tail_rows() -> list[dict]:
    return [
        *end_walks(),
        *open_batch_walks(),
        *tail_walks(),
        *undecodable_walks(),
        *checked_data_walks(),
    ]
