"""Both engines, function by function, under pytest-benchmark; each bench asserts its answer.

`make bench` runs it and `make test` does not: no test of the package depends on a clock.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from generate import Written, write_foreign, write_session
from rows_scan import header_of, list_backward
from rows_write import appends, session_at
from safepoint import _fallback, scan
from safepoint.log import Header

_native = pytest.importorskip("safepoint._native", reason="the native engine is not built")

MB = 8
"""Small enough for the fallback."""
APPENDS = 200

engines = pytest.mark.parametrize("engine", (_native, _fallback), ids=("native", "fallback"))
Bench = Callable[..., Any]


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """A session of ours."""
    return write_session(str(tmp_path_factory.mktemp("store") / "own"), MB * 1_000_000)


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """A plain JSONL file."""
    return write_foreign(str(tmp_path_factory.mktemp("foreign") / "log.jsonl"), MB * 1_000_000)


@pytest.fixture
def fd(own: Written) -> Iterator[int]:
    """A descriptor of the session's segment."""
    fd = os.open(own.path, os.O_RDONLY)
    yield fd
    os.close(fd)


@pytest.fixture
def header(fd: int) -> Header:
    """The segment's header."""
    return header_of(fd)


@pytest.fixture
def chosen(engine: ModuleType, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Makes the whole package run on the engine, wherever a module holds one of its functions."""
    names = {
        getattr(scan, name): name for name in vars(scan) if callable(getattr(engine, name, None))
    }
    for module in [m for name, m in sys.modules.items() if name.startswith("safepoint.")]:
        if module is _native or module.__name__.startswith("safepoint._fallback"):
            continue
        for held, value in list(vars(module).items()):
            if callable(value) and value.__hash__ and value in names:
                monkeypatch.setattr(module, held, getattr(engine, names[value]))
    return engine


@engines
def test_walk(benchmark: Bench, engine: ModuleType, own: Written, fd: int, header: Header) -> None:
    """Validates a log of ours."""
    found = benchmark(engine.walk, fd, header.length, own.size, header.seed, 0, True)
    assert (found[0], found[1], found[3], found[6]) == (
        *(own.next_seq, own.size),
        *(own.checkpoint, []),
    )


@engines
def test_inspect_jsonl(benchmark: Bench, engine: ModuleType, foreign: Written) -> None:
    """Validates any JSONL."""
    with open(foreign.path, "rb") as log:
        found = benchmark(engine.inspect_jsonl, log.fileno(), foreign.size)
    assert found == (foreign.next_seq, foreign.size, foreign.next_seq - 1, [], 0)


@engines
def test_lines_backward(benchmark: Bench, engine: ModuleType, own: Written, fd: int) -> None:
    """Frames every line from the last to the first."""
    benchmark(list_backward, engine, fd, own)


@engines
def test_find_record(
    benchmark: Bench, engine: ModuleType, own: Written, fd: int, header: Header
) -> None:
    """Finds the newest checkpoint 1 MB before the end."""
    arguments = (fd, header.length, own.size, header.seed, "checkpoint", own.next_seq)
    assert benchmark(engine.find_record, *arguments) == own.checkpoint


@engines
def test_parse_record(
    benchmark: Bench, engine: ModuleType, own: Written, fd: int, header: Header
) -> None:
    """Parses the records behind the newest checkpoint, one call each."""
    seq, offset, _ = own.checkpoint
    lines = os.pread(fd, own.size - offset, offset).splitlines(keepends=True)

    def parse() -> list[int]:
        return [engine.parse_record(line, header.seed)[0] for line in lines]

    assert benchmark(parse) == list(range(seq, own.next_seq))


@engines
def test_seal_record(benchmark: Bench, engine: ModuleType) -> None:
    """Seals an event of 500 bytes."""
    data = b'"%s"' % (b"x" * 498)
    ts = "2026-01-01T00:00:00.000000Z"
    line = benchmark(engine.seal_record, 7, ts, "note", None, data, -1, 3, 5)
    assert engine.parse_record(line, 5)[:3] == (7, ts, "note")


@engines
def test_append(benchmark: Bench, chosen: ModuleType, tmp_path: Path) -> None:
    """Appends at level `process`, through the public API."""
    with session_at(str(tmp_path), "process") as session:
        benchmark(appends(session, APPENDS))


@engines
def test_plan(benchmark: Bench, chosen: ModuleType, own: Written) -> None:
    """Plans a resume, through the public API."""
    plan = benchmark(own.store.plan, own.session)
    assert (plan.verdict, plan.checkpoint_seq) == ("resume", own.checkpoint[0])
