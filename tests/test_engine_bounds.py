"""What a hostile or a giant log may cost, and how a long walk reports and stops."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from engines import engines, opened
from safepoint import _fallback
from vector_parts import SEED, record

PAGE = bytes(1 << 20)
TOO_LONG = _fallback.LINE_BYTES_MAX + 1
RECORD = record(0)


@engines
@pytest.mark.parametrize("ask", ["lines_forward", "lines_backward", "objects_forward"])
@pytest.mark.parametrize(
    "range_", [(-1, 5, 1, 1), (5, 4, 1, 1), (0, 5, 0, 1), (0, 5, 1, 0), (0, -1, 1, 1)]
)
def test_arguments_out_of_range_raise_value_error(engine, ask, range_):
    """A wrong argument must not read as an empty log."""
    with opened(b"{}\n{}\n") as fd, pytest.raises(ValueError):
        getattr(engine, ask)(fd, *range_)


@engines
@pytest.mark.parametrize(
    ("ask", "rest"),
    [
        ("lines_forward", (0, 1 << 64)),
        ("inspect_jsonl", (1 << 64,)),
        ("walk", (0, 5, 1 << 32, 0, False)),
        ("walk", (0, 5, 0, 1 << 64, False)),
        ("find_watermark", (0, 5, -1)),
    ],
)
def test_arguments_beyond_the_machine_raise(engine, ask, rest):
    """Python's conversions say OverflowError; to wrap around in silence is what must not be."""
    with opened(b"{}\n") as fd, pytest.raises((ValueError, OverflowError)):
        getattr(engine, ask)(fd, *rest)


@engines
@pytest.mark.parametrize(("ask", "rest"), [("inspect_jsonl", (5,)), ("walk", (0, 5, 1, 0, True))])
def test_no_threads_raise_value_error(engine, ask, rest):
    """Nothing looked at by nobody must not read as a clean log."""
    with opened(b"{}\n{}\n") as fd, pytest.raises(ValueError):
        getattr(engine, ask)(fd, *rest, threads=0)


@engines
def test_a_failed_read_raises_os_error(engine, tmp_path):
    """The one thing about a file that is no finding."""
    with open(tmp_path / "log", "wb") as unreadable:
        unreadable.write(b"{}\n")
        unreadable.flush()
        with pytest.raises(OSError):
            engine.lines_forward(unreadable.fileno(), 0, 3)


@engines
def test_a_range_that_ends_inside_the_byte_order_mark_holds_none(engine):
    """A range ends where it ends: the byte behind it is not looked at."""
    with opened(b"\xef\xbb\xbf{}\n") as fd:
        assert engine.inspect_jsonl(fd, 2)[3] == [("torn", 0, 2, -1, -1, -1)]


@engines
def test_findings_beyond_the_limit_are_counted(engine):
    """A hostile log costs bounded memory, and the report says what it left out."""
    count = engine.FINDINGS_MAX + 7
    with opened(b"x\n" * count) as fd:
        assert engine.inspect_jsonl(fd, 2 * count)[4] == 7
        *_, findings, omitted = engine.walk(fd, 0, 2 * count, SEED, 0, False)
    assert len(findings) == engine.FINDINGS_MAX
    assert omitted == 7


@engines
def test_a_blank_run_beyond_the_limit_counts_once(engine):
    """Merging must not hang on whether the run was kept."""
    text = b"x\n" * engine.FINDINGS_MAX + b"\n" * 5 + b"x\n"
    with opened(text) as fd:
        assert engine.inspect_jsonl(fd, len(text))[4] == 2


@engines
def test_gaps_beyond_the_limit_are_forgotten_lowest_first(engine):
    """Of 65,537 gaps the lowest is forgotten: what falls into it then counts as a repeat."""
    glued = b"".join(b'{"seq":%d}' % seq for seq in range(0, 2 * 65_538, 2))
    text = glued + b'\n{"seq":1}\n{"seq":3}\n'
    with opened(text) as fd:
        findings = engine.inspect_jsonl(fd, len(text))[3]
    assert [kind for kind, *_ in findings] == ["glued", "seq_repeat", "seq_order"]


@engines
@pytest.mark.parametrize("ask", ["inspect_jsonl", "walk"])
def test_ticks_grow_and_end_at_the_size(engine, ask):
    """A progress bar must move on a long walk and arrive."""
    line = b'{"pad":"' + b"p" * (1 << 20) + b'"}\n'
    text = line * 70
    ticks: list[int] = []
    with opened(text) as fd:
        if ask == "walk":
            engine.walk(fd, 0, len(text), SEED, 0, False, tick=ticks.append)
        else:
            engine.inspect_jsonl(fd, len(text), tick=ticks.append)
    assert ticks == sorted(ticks)
    assert ticks[-1] == len(text)
    assert 3 <= len(ticks) <= 4


@engines
@pytest.mark.parametrize("ask", ["inspect_jsonl", "walk"])
def test_what_a_tick_raises_ends_the_walk(engine, ask):
    """Ctrl-C must stop a walk over gigabytes."""

    def tick(_: int) -> None:
        raise KeyboardInterrupt

    with opened(b"{}\n") as fd, pytest.raises(KeyboardInterrupt):
        if ask == "walk":
            engine.walk(fd, 0, 3, SEED, 0, False, tick=tick)
        else:
            engine.inspect_jsonl(fd, 3, tick=tick)


@contextmanager
def giant(
    tmp_path: Path, before: bytes, byte: bytes, behind: bytes, fill: int
) -> Iterator[tuple[int, int]]:
    """(fd, size) of a file of `before`, `fill` times `byte`, `behind`; of NULs it is a hole."""
    with open(tmp_path / "giant", "wb+") as log:
        log.write(before)
        if byte != b"\0":
            for _ in range(fill // len(PAGE)):
                log.write(byte * len(PAGE))
            log.write(byte * (fill % len(PAGE)))
        log.seek(len(before) + fill)
        log.write(behind)
        log.flush()
        yield log.fileno(), len(before) + fill + len(behind)


@engines
@pytest.mark.parametrize(("end", "kind"), [(b"\n", "too_long"), (b"", "torn")])
def test_a_line_too_long_is_never_parsed(engine, tmp_path, end, kind):
    """A line of gigabytes costs a bounded buffer; the record before it still counts."""
    size_of_line = TOO_LONG + len(end)
    found = (kind, len(RECORD), size_of_line, -1, -1, -1)
    with giant(tmp_path, RECORD, b"[", end, TOO_LONG) as (fd, size):
        assert engine.inspect_jsonl(fd, size) == (1, len(RECORD), 0, [found], 0)
        said = engine.walk(fd, 0, size, SEED, 0, True)
        assert engine.find_watermark(fd, 0, size, SEED) == 0
    assert (said[:2], said[6]) == ((1, len(RECORD)), [found])


@engines
def test_the_longest_line_is_parsed(engine, tmp_path):
    """The limit is a promise on both of its sides."""
    fill = engine.LINE_BYTES_MAX - len(b'{"a":""}')
    with giant(tmp_path, b'{"a":"', b"q", b'"}\n', fill) as (fd, size):
        assert size == engine.LINE_BYTES_MAX + 1
        assert engine.objects_backward(fd, 0, size) == ([(0, size)], 0)
        assert engine.objects_forward(fd, 0, size) == ([(0, size)], size)
        assert engine.objects_forward(fd, 0, size - 1) == ([(0, size - 1)], size - 1)


@engines
def test_nuls_do_not_count_to_the_length_of_a_line(engine, tmp_path):
    """A lost extent reads as NULs, gigabytes of them; the record behind it is intact."""
    with giant(tmp_path, b"", b"\0", RECORD, 2 * TOO_LONG) as (fd, size):
        assert engine.objects_forward(fd, 0, size)[0] == [(2 * TOO_LONG, len(RECORD))]
        assert engine.find_watermark(fd, 0, size, SEED) == 0
        said = engine.walk(fd, 0, size, SEED, 0, False)
    assert said[5:7] == (1, [("nul", 0, 2 * TOO_LONG, -1, -1, -1)])


@engines
def test_nuls_behind_an_object_do_not_count_either(engine, tmp_path):
    """The same at the other end of a line: a preallocated tail."""
    text = b'{"a":1}'
    with giant(tmp_path, text, b"\0", b"\n", TOO_LONG) as (fd, size):
        records, tail, _, findings, _ = engine.inspect_jsonl(fd, size)
    assert (records, tail) == (1, len(text))
    assert findings == [("nul", len(text), TOO_LONG, -1, -1, -1)]


@engines
def test_a_blank_line_too_long_is_blank(engine, tmp_path):
    """Blank comes before too_long: whitespace is no damage at any length."""
    with giant(tmp_path, b"\n\t\r", b" ", b"\r\n", TOO_LONG) as (fd, size):
        assert engine.inspect_jsonl(fd, size)[3] == [("blank", 0, size, -1, -1, -1)]
        assert engine.walk(fd, 0, size, SEED, 0, False)[6] == [("blank", 0, size, -1, -1, -1)]


def test_the_twin_frames_a_giant_line_in_bounded_memory(tmp_path):
    """Framing holds positions only; the native engine's memory is measured by its benches."""
    with giant(tmp_path, b"", b"q", b"\n", TOO_LONG) as (fd, size):
        tracemalloc.start()
        assert _fallback.lines_backward(fd, 0, size, 9, 65_536) == [(0, size, True)]
        assert _fallback.lines_forward(fd, 0, size, 9, 65_536) == [(0, size, True)]
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 4 * 65_536


@engines
@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("allowed", [0, 3])
def test_what_a_tick_raises_comes_through(engine, threads, allowed, tmp_path):
    """A Ctrl-C comes this way, once; it must not turn into a verdict or another error, not even
    where the thread that heard it is in the middle of a line whose turn has not come.
    """
    path = tmp_path / "log.jsonl"
    path.write_bytes((b'{"text":"' + b"x" * 34_000_000 + b'"}\n') * 6)
    heard = []

    def tick(done):
        heard.append(done)
        if len(heard) == allowed + 1:
            raise LookupError

    with open(path, "rb") as log:
        for _ in range(5 if engine is not _fallback else 1):
            heard.clear()
            with pytest.raises(LookupError):
                engine.inspect_jsonl(log.fileno(), path.stat().st_size, tick=tick, threads=threads)
