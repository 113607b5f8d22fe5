"""The logs that the benches read: valid, the same for one seed, and of the mix that they claim."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType

import pytest
import safepoint

pytestmark = pytest.mark.once

BENCHES = Path(__file__).resolve().parent.parent / "benches"
TOTAL_BYTES = 24_000_000


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    """The generator, which is a script beside the benches and not part of the package."""
    sys.path.insert(0, str(BENCHES))
    try:
        import generate
    finally:
        sys.path.remove(str(BENCHES))
    return generate


@pytest.fixture(scope="module")
def session(generate: ModuleType, tmp_path_factory: pytest.TempPathFactory):
    """A session of a size that shows the mix."""
    return generate.write_session(str(tmp_path_factory.mktemp("store") / "own"), TOTAL_BYTES)


@pytest.fixture(scope="module")
def foreign(generate: ModuleType, tmp_path_factory: pytest.TempPathFactory):
    """The same as plain JSONL."""
    path = tmp_path_factory.mktemp("foreign") / "log.jsonl"
    return generate.write_foreign(str(path), TOTAL_BYTES)


def test_session_is_clean(session) -> None:
    """A bench over a log that is damaged would time another path."""
    seen = safepoint.verify(session.folder)
    assert (seen.state, seen.findings, seen.writer) == ("clean", [], "idle")
    assert (seen.records, seen.bytes) == (session.next_seq, session.size)
    [info] = session.store.list()
    assert (info.id, info.status, info.bytes) == ("own", "active", session.size)


def test_session_resumes_in_place(session) -> None:
    """The manifest's hint and the lock's line must be those of a writer that closed in order."""
    plan = session.store.plan("own")
    assert (plan.verdict, plan.reasons, plan.repairs) == ("resume", [], [])
    assert (plan.checkpoint_seq, plan.last_seq) == (session.checkpoint[0], session.next_seq - 1)
    with session.store.resume("own") as resumed:
        assert resumed.state["open"] == [1, 2, 3]
        assert resumed.last_seq == session.next_seq - 1
    assert safepoint.verify(session.folder).segments == 1


def test_hint_names_the_checkpoint(session) -> None:
    """The rows that time a hint would else time the scan behind a void one."""
    hint = json.loads((Path(session.folder) / "session.json").read_bytes())["checkpoint"]
    seq, offset, length = session.checkpoint
    line = Path(session.path).read_bytes()[offset : offset + length]
    record = json.loads(line)
    assert (record["seq"], record["type"], record["crc"]) == (seq, "checkpoint", hint["crc"])
    assert (hint["segment"], hint["seq"], hint["offset"], hint["bytes"]) == (1, seq, offset, length)


def test_foreign_log_is_clean(foreign) -> None:
    """The same for a log that is not ours."""
    seen = safepoint.verify(foreign.path)
    assert (seen.state, seen.findings) == ("clean", [])
    assert (seen.records, seen.last_seq) == (foreign.next_seq, foreign.next_seq - 1)
    _, _, event = next(safepoint.read_file(foreign.path, reverse=True))
    assert list(event) == ["seq", "type", "ts", "data"]


def test_one_seed_gives_one_log(generate: ModuleType, tmp_path: Path) -> None:
    """Figures of two runs can be compared only if both read the same bytes."""
    made = [
        generate.write_session(str(tmp_path / place / "own"), 2_000_000, seed)
        for place, seed in (("one", 1), ("two", 1), ("three", 2))
    ]
    logs = [Path(written.path).read_bytes() for written in made]
    manifests = [(Path(written.folder) / "session.json").read_bytes() for written in made]
    assert logs[0] == logs[1] != logs[2]
    assert manifests[0] == manifests[1] != manifests[2]


def test_mix_is_that_of_real_logs(session) -> None:
    """Ratios on lines of another size, or with less to escape, would not hold for real logs."""
    lines = Path(session.path).read_bytes().splitlines(keepends=True)
    lengths = sorted(map(len, lines))
    total = sum(lengths)

    def quantile(share: float) -> int:
        return lengths[int(share * len(lengths))]

    def share_of(letters: bytes) -> float:
        return sum(line.count(letters) for line in lines) / total

    assert 300 <= quantile(0.1) <= 400
    assert 500 <= quantile(0.5) <= 620
    assert 5_000 <= quantile(0.9) <= 8_000
    assert 25_000 <= quantile(0.99) <= 42_000
    assert 2_700 <= total / len(lengths) <= 4_100
    assert lengths[-1] <= 10_000_000
    assert 0.10 <= sum(n for n in lengths if n > 1_000_000) / total <= 0.24
    assert 0.02 <= share_of(b"\\") <= 0.045
    assert 0.02 <= share_of(b'"') <= 0.045
    not_ascii = sum(len(line) - len(line.decode().encode("ascii", "ignore")) for line in lines)
    assert 0.005 <= not_ascii / total <= 0.02
    assert any(b"\\u001b" in line for line in lines)


def test_checkpoints_stand_where_agents_write_them(session) -> None:
    """The rows of coming back depend on how far the newest checkpoint is from the end."""
    lines = Path(session.path).read_bytes().splitlines(keepends=True)
    checkpoints = [line for line in lines if b',"type":"checkpoint",' in line[:80]]
    assert len(checkpoints) == pytest.approx(len(lines) / 997, abs=1.5)
    assert all(38_000 <= len(line) <= 42_000 for line in checkpoints)
    _, offset, length = session.checkpoint
    assert 950_000 <= session.size - offset - length <= 1_100_000
