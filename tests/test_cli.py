"""The command: what each verb prints, and what its exit code says."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import safepoint
from safepoint import demo
from safepoint._terminal import Output, Progress, shown, size
from safepoint.cli import main

SECRET = "hunter2"
STORE = "store"


def write_session(store: safepoint.Store, name: str = "run", events: int = 12) -> Path:
    """A cleanly closed session with a checkpoint; its folder."""
    with store.create(name, request={"task": SECRET}) as session:
        for number in range(events):
            session.append("message", {"number": number, "text": SECRET})
            if number == events // 2:
                session.checkpoint({"number": number})
    return Path(store.path) / name


def segment(folder: Path) -> Path:
    """The newest segment of a session."""
    return max(folder.glob("events-*.jsonl"))


def tear(folder: Path) -> int:
    """Leaves half a record at the end of the log, as a crash does; its offset."""
    offset = segment(folder).stat().st_size
    with segment(folder).open("ab") as log:
        log.write(b'{"seq":99,"ts":"2026-12-01T00:00:00.000000Z","type":"message","data":{"t":"hun')
    return offset


def flip(folder: Path, offset_from_end: int = 200) -> None:
    """Changes one byte among the durable records."""
    with segment(folder).open("r+b") as log:
        log.seek(-offset_from_end, os.SEEK_END)
        byte = log.read(1)[0]
        log.seek(-offset_from_end, os.SEEK_END)
        log.write(bytes([byte ^ 1]))


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own."""
    command = [sys.executable, "-m", "safepoint", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def json_lines(text: str) -> list[dict]:
    """What `--json` printed."""
    return [json.loads(line) for line in text.splitlines()]


FILES = {
    "clean.jsonl": (b'{"a":1}\n{"a":2}\n', 0),
    "empty.jsonl": (b"", 0),
    "torn.jsonl": (b'{"a":1}\n{"a":', 1),
    "corrupt.jsonl": (b'{"a":1}\n{"a":\n{"a":3}\n', 2),
    "not.jsonl": (b'{\n  "a": 1\n}\n', 2),
}


@pytest.mark.parametrize("verb", ["inspect", "verify"])
@pytest.mark.parametrize("name", FILES)
def test_exit_code_says_the_state(verb: str, name: str, tmp_path: Path) -> None:
    """Scripts branch on the exit code alone."""
    content, code = FILES[name]
    (tmp_path / name).write_bytes(content)
    assert main([verb, str(tmp_path / name)]) == code


@pytest.mark.parametrize("verb", ["inspect", "verify"])
def test_missing_is_not_empty(verb: str, tmp_path: Path) -> None:
    """A typo in a path must not pass for a clean log."""
    assert main([verb, str(tmp_path / "nothing.jsonl")]) == 4


def test_fifo_is_unreadable_and_does_not_hang(tmp_path: Path) -> None:
    """A pipe in place of a log has nobody at its other end."""
    os.mkfifo(tmp_path / "pipe.jsonl")
    assert run("inspect", tmp_path / "pipe.jsonl").returncode == 4


def test_worst_path_wins(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One bad log among many must not hide behind a good last one."""
    for name, (content, _) in FILES.items():
        (tmp_path / name).write_bytes(content)
    paths = [str(tmp_path / name) for name in ("torn.jsonl", "corrupt.jsonl", "clean.jsonl")]
    assert main(["inspect", *paths]) == 2
    told = capsys.readouterr().out
    assert all(f"{path}: " in told for path in paths)


@pytest.mark.parametrize(
    "arguments",
    [[], ["mend"], ["last", "x", "-n", "-1"], ["last", "x", "-n", "many"], ["inspect"], ["--what"]],
)
def test_usage_errors_are_3(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """argparse's own 2 would mean damage that cannot be repaired."""
    assert main(arguments) == 3
    assert "usage" in capsys.readouterr().err


def test_help_and_version_are_0(capsys: pytest.CaptureFixture[str]) -> None:
    """Asking is no error; the version names the engine, since results are reported with it."""
    assert main(["--help"]) == 0
    assert main(["--version"]) == 0
    assert safepoint.engine() in capsys.readouterr().out


def test_json_is_the_library_s_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A verb is a library method: one JSON object a path, with nothing of its own."""
    for name, (content, _) in FILES.items():
        (tmp_path / name).write_bytes(content)
    paths = [str(tmp_path / name) for name in FILES]
    main(["inspect", "--json", *paths])
    found = json_lines(capsys.readouterr().out)
    assert found == [safepoint.inspect_file(path).as_dict() for path in paths]


def test_inspect_of_a_session(store: safepoint.Store, capsys: pytest.CaptureFixture[str]) -> None:
    """A person sees the state, the writer, the torn tail with its offset, and what to do next."""
    folder = write_session(store)
    assert main(["inspect", str(folder)]) == 0
    assert "writer idle" in capsys.readouterr().out
    offset = tear(folder)
    assert main(["inspect", str(folder)]) == 1
    told = capsys.readouterr().out
    assert f"{folder}: repairable" in told
    assert f"offset {offset}" in told
    assert f"safepoint repair {folder}" in told


def test_inspect_is_short_and_verify_is_complete(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A log with hundreds of damaged lines must not scroll the summary away."""
    path = tmp_path / "many.jsonl"
    path.write_bytes(b'{"a":1}\n' + b"x\n" * 300)
    assert main(["inspect", str(path)]) == 2
    told = capsys.readouterr().out.splitlines()
    assert len(told) < 30
    assert "280 findings more" in told[-1]
    assert main(["verify", str(path)]) == 2
    told = capsys.readouterr().out.splitlines()
    assert len(told) == 301
    assert told[0].startswith(f"{path}: not_json")
    assert told[-1].startswith(f"{path}: corrupt")


def test_last_of_a_session(store: safepoint.Store, capsys: pytest.CaptureFixture[str]) -> None:
    """The newest events, oldest first, as `reader.last` gives them."""
    folder = write_session(store)
    assert main(["last", str(folder), "-n", "3", "--json"]) == 0
    found = json_lines(capsys.readouterr().out)
    assert [event["data"]["number"] for event in found] == [9, 10, 11]
    assert set(found[0]) == {"seq", "ts", "type", "key", "data"}
    assert main(["last", str(folder), "-n", "1"]) == 0
    assert '"number":11' in capsys.readouterr().out


def test_last_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Works on any JSONL log, past a torn tail, with the offset of each object."""
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"".join(b'{"n":%d}\n' % n for n in range(100)) + b'{"n":')
    assert main(["last", str(path), "-n", "2", "--json"]) == 0
    found = json_lines(capsys.readouterr().out)
    assert [item["object"] for item in found] == [{"n": 98}, {"n": 99}]
    assert found[1]["offset"] == found[0]["offset"] + found[0]["length"]


def test_last_of_no_log_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Silence would look like an empty log."""
    (tmp_path / "notes.txt").write_text("nothing here\n")
    assert main(["last", str(tmp_path / "notes.txt")]) == 2
    assert "no complete JSON object" in capsys.readouterr().err
    assert main(["last", str(tmp_path / "missing.jsonl")]) == 4


def test_last_escapes_what_a_terminal_obeys(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A log may hold escape sequences or overrides of the direction; no terminal may see them."""
    path = tmp_path / "log.jsonl"
    path.write_text('{"text":"\\u001b]0;x\\u0007 \\u009b31m \\u202e é"}\n')
    main(["last", str(path)])
    told = capsys.readouterr().out
    assert "é" in told
    assert not set("\x1b\x07\x9b\u202e") & set(told)


def test_plan_and_repair(store: safepoint.Store, capsys: pytest.CaptureFixture[str]) -> None:
    """plan foretells what repair then does: 1 before, 0 after; the cut bytes are kept."""
    folder = write_session(store)
    assert main(["plan", str(folder)]) == 0
    assert "checkpoint" in capsys.readouterr().out
    offset = tear(folder)
    assert main(["plan", str(folder)]) == 1
    assert f"offset {offset}" in capsys.readouterr().out
    assert main(["repair", str(folder)]) == 0
    told = capsys.readouterr().out
    assert "mended" in told
    kept = Path(told.strip().rsplit(" ", 1)[1])
    assert kept.read_bytes().startswith(b'{"seq":99')
    assert main(["plan", str(folder)]) == 0
    assert main(["repair", str(folder)]) == 0
    assert "nothing to mend" in capsys.readouterr().out


def test_refusals_are_2(store: safepoint.Store, capsys: pytest.CaptureFixture[str]) -> None:
    """Corruption and a finished session are refused, each with its reason."""
    folder = write_session(store, "corrupt")
    flip(folder)
    assert main(["plan", str(folder)]) == 2
    assert "refuse" in capsys.readouterr().out
    assert main(["repair", str(folder)]) == 2
    with store.create("finished") as session:
        session.append("message", {})
        session.finish("completed")
    assert main(["plan", "--json", str(Path(store.path) / "finished")]) == 2
    assert json_lines(capsys.readouterr().out)[-1]["verdict"] == "refuse"


@pytest.mark.parametrize("verb", ["plan", "repair", "last"])
def test_a_folder_that_is_no_session_is_4(verb: str, tmp_path: Path) -> None:
    """Whether the folder or the session in it is missing, nothing was looked at."""
    assert main([verb, str(tmp_path / "none" / "run")]) == 4
    assert not (tmp_path / "none").exists()


def test_a_file_is_no_session_folder(tmp_path: Path) -> None:
    """`plan` of a log file cannot be answered."""
    (tmp_path / "log.jsonl").write_bytes(b"{}\n")
    assert main(["plan", str(tmp_path / "log.jsonl")]) in (3, 4)


def test_ls(store: safepoint.Store, capsys: pytest.CaptureFixture[str]) -> None:
    """One line a session, the same facts as `store.list()`."""
    write_session(store, "first")
    write_session(store, "second")
    assert main(["ls", str(store.path)]) == 0
    told = capsys.readouterr().out.splitlines()
    assert len(told) == 2 and told[0].startswith("first ")
    assert main(["ls", str(store.path), "--json"]) == 0
    found = json_lines(capsys.readouterr().out)
    assert found == [info.as_dict() for info in store.list()]


def test_ls_of_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A missing store is an error and is not created; an empty one is not."""
    assert main(["ls", str(tmp_path / "none")]) == 4
    assert not (tmp_path / "none").exists()
    (tmp_path / "empty").mkdir()
    assert main(["ls", str(tmp_path / "empty")]) == 0
    assert "no sessions" in capsys.readouterr().out


def test_errors_show_no_payload(store: safepoint.Store) -> None:
    """Logs hold secrets; stderr ends up in tickets."""
    folder = write_session(store)
    flip(folder, 40)
    for verb in ("inspect", "verify", "plan", "repair"):
        done = run(verb, folder)
        assert done.returncode == 2
        assert SECRET not in done.stdout + done.stderr
    done = run("last", folder)
    assert SECRET not in done.stderr


def test_json_errors_are_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever parses stdout gets an object there too when the verb fails."""
    assert main(["plan", "--json", str(tmp_path / "none" / "run")]) == 4
    [found] = json_lines(capsys.readouterr().out)
    assert found["error"] == "SessionNotFoundError"
    assert found["message"]


def test_a_closed_pipe_is_no_error(tmp_path: Path) -> None:
    """`safepoint verify log | head -1` keeps its verdict and prints no traceback."""
    path = tmp_path / "many.jsonl"
    path.write_bytes(b"x\n" * 9000)
    command = [sys.executable, "-m", "safepoint", "verify", str(path)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as child:
        assert child.stdout is not None and child.stderr is not None
        child.stdout.readline()
        child.stdout.close()
        assert child.stderr.read() == b""
        assert child.wait(60) == 2


def test_ctrl_c_is_quiet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Stopping a long scan is not a bug to report."""

    def interrupted(path: str, tick: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(safepoint, "inspect_file", interrupted)
    assert main(["inspect", str(tmp_path)]) == 130
    assert capsys.readouterr().err == "safepoint: interrupted\n"


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Whether progress may be drawn."""
        return True


@pytest.mark.parametrize(("stream", "drawn"), [(Terminal(), True), (io.StringIO(), False)])
def test_progress_is_for_terminals(
    stream: io.StringIO, drawn: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Percentages in a log file of CI help nobody; on a terminal they are wiped at the end."""
    monkeypatch.setattr("safepoint._terminal._PROGRESS_AFTER_S", 0)
    with Progress("log", 200, stream) as progress:
        progress.tick(100)
    assert ("50% of 200 B" in stream.getvalue()) == drawn
    assert not drawn or stream.getvalue().endswith("\r\x1b[K")


def test_numbers_for_people() -> None:
    """Sizes keep one unit until the next one is reached."""
    assert [size(n) for n in (0, 999, 1000, 537_200_000, 1_500_000_000_000)] == [
        "0 B",
        "999 B",
        "1.0 kB",
        "537.2 MB",
        "1.5 TB",
    ]
    assert shown("a\nb\x7f") == "a\\u000ab\\u007f"


@pytest.mark.once
@pytest.mark.slow
def test_demo_proves_a_small_session() -> None:
    """The first thing that a new user runs: kill, inspect, resume, proof, both engines."""
    done = run("demo", "--mb", 6, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    [report] = json_lines(done.stdout)
    assert report["ok"] is True
    assert report["torn"]["length"] > 0
    assert report["proof"]["missing"] == report["proof"]["changed"] == 0
    assert report["proof"]["acknowledged"] > 100
    assert [row["name"].split(",")[0] for row in report["table"]] == ["resume"] * 2 + [
        "json",
        "orjson",
    ]


@pytest.mark.once
@pytest.mark.slow
def test_demo_tries_again_and_then_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A kill can come too late: the next child resumes; when all do, the demo has not shown it."""
    monkeypatch.setattr(demo, "GROWN_BYTES", 1 << 40)
    monkeypatch.setattr(demo, "KILLS_MAX", 2)
    assert main(["demo", "--mb", "2", "--keep", str(tmp_path)]) == 2
    assert "2 writers finished" in capsys.readouterr().out
    [folder] = tmp_path.glob("*/store/demo")
    with safepoint.open_store(folder.parent).open("demo") as reader:
        assert [event.type for event in reader.last(2)] == ["image", "image"]
    shutil.rmtree(tmp_path)


@pytest.mark.parametrize("change", ["missing", "changed"])
def test_demo_fails_when_an_event_is_not_there(
    change: str, store: safepoint.Store, tmp_path: Path
) -> None:
    """A proof that cannot fail proves nothing."""
    with store.create(demo.SESSION) as session:
        seq = session.append("message", {"text": "one"})
    acknowledged = {seq: demo.digest("message", {"text": "one"})}
    stream = io.StringIO()
    subject = demo._Demo(Output(stream, as_json=False), str(tmp_path), 0)
    assert subject._prove(acknowledged)
    acknowledged[seq + (change == "missing")] = demo.digest("message", {"text": "two"})
    assert not subject._prove(acknowledged)
    assert "NOT WHOLE" in stream.getvalue()


def test_demo_suggests_a_log_that_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest log in the usual places, and nothing where there is none."""
    monkeypatch.setenv("HOME", str(tmp_path))
    assert demo.foreign_log() is None
    for number, place in enumerate((".claude/projects/a", ".codex/sessions/2026/12")):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "log.jsonl").write_bytes(b"{}\n")
        os.utime(tmp_path / place / "log.jsonl", (number, number))
    assert demo.foreign_log() == str(tmp_path / ".codex/sessions/2026/12/log.jsonl")


@pytest.mark.once
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is not there")
def test_a_full_output_is_no_verdict(store: safepoint.Store) -> None:
    """Exit code 1 means "can be repaired": a script must not see it because a disk was full."""
    with store.create("s") as session:
        session.append("first")
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "safepoint", "inspect", f"{store.path}/s"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 4
    assert done.stderr.count("\n") == 1
