"""`safepoint demo`: the main job on real bytes, in under a minute.

A child writes a session and is killed with SIGKILL inside a large append; `inspect` names the torn
tail, `resume` mends it, and every event that the child noted as acknowledged is read back and
compared. Then the resume is measured, with each engine, against loading the same log line by line.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import safepoint

from . import _demo_writer
from ._demo_writer import SESSION, digest, log_bytes
from ._terminal import OK, REFUSED, Output, Progress, counted, duration, shown, size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .session import Session
    from .types import Finding

KILLS_MAX = 12
"""A write can finish before the signal arrives; then another child tries again."""
GROWN_BYTES = 1 << 20
"""So far the log must have grown into the large append before the kill."""
KEEP_ALL_FACTOR = 5
"""Loading a log and keeping it takes up to about this times its size in memory."""
_POLL_S = 0.0005
_FOREIGN_LOGS = ("~/.claude/projects", "~/.codex/sessions", "~/.pi/agent/sessions")
_LOOKED_AT_MAX = 20_000
"""Files looked at for the suggestion at the end; it must not take longer than reading it."""


class DemoError(Exception):
    """The demo could not do its job; the message says why."""


def run(out: Output, *, megabytes: int, keep: str | None) -> int:
    """Runs the demo in a temporary folder, or in a new one inside `keep`; the exit code."""
    if keep is not None:
        os.makedirs(keep, exist_ok=True)
    work = tempfile.mkdtemp(prefix="safepoint-demo-", dir=keep)
    try:
        return _Demo(out, work, max(megabytes, 1) << 20).run()
    except DemoError as error:
        out.json({"error": str(error)}) if out.as_json else out.line(f"failed: {error}")
        return REFUSED
    finally:
        if keep is None:
            shutil.rmtree(work, ignore_errors=True)
        elif not out.as_json:
            out.line(f"Its files are in {work}")


class _Demo:
    """One run. `report` collects what `--json` prints."""

    def __init__(self, out: Output, work: str, total_bytes: int) -> None:
        self._out = out
        self._total = total_bytes
        self._store_path = os.path.join(work, "store")
        self._folder = os.path.join(self._store_path, SESSION)
        self._side_path = os.path.join(work, "acknowledged.txt")
        self._work = work
        self.report: dict[str, Any] = {"engine": safepoint.engine(), "folder": self._folder}

    def run(self) -> int:
        free = shutil.disk_usage(self._work).free
        needed = self._total * 5 // 4 + 4 * _demo_writer.LARGE_BYTES
        if free < needed:
            raise DemoError(
                f"{self._work} has {size(free)} free, the demo needs {size(needed)}: "
                "give a smaller --mb, or --keep DIR on a larger disk"
            )
        self._say(f"safepoint demo, {safepoint.engine()} engine, in {self._work}\n")
        self._write_and_kill()
        acknowledged = self._acknowledged()
        self._resume(acknowledged)
        whole = self._prove(acknowledged)
        self._measure()
        if self._out.as_json:
            self._out.json(self.report | {"ok": whole})
        else:
            self._suggest()
        return OK if whole else REFUSED

    def _say(self, text: str = "") -> None:
        if not self._out.as_json:
            for line in text.split("\n"):
                self._out.line(line)
            self._out.flush()

    def _write_and_kill(self) -> None:
        started = time.monotonic()
        torn = self._kill_one(self._total)
        kills = 1
        while torn is None and kills < KILLS_MAX:
            torn = self._kill_one(0)
            kills += 1
        if torn is None:
            raise DemoError(f"{KILLS_MAX} writers finished their append before the kill arrived")
        found = safepoint.open_store(self._store_path).inspect(SESSION)
        place = {"segment": torn.segment, "offset": torn.offset, "length": torn.length}
        self.report |= {
            "write_s": time.monotonic() - started,
            "bytes": found.bytes,
            "segments": found.segments,
            "records": found.records,
            "kills": kills,
            "torn": place,
        }
        self._say(
            f"write    {size(found.bytes)} in {counted(found.segments, 'segment')}, "
            f"{counted(found.records, 'record')}; SIGKILL inside a "
            f"{size(_demo_writer.LARGE_BYTES)} append (kill {kills})\n"
            f"inspect  {found.state}: torn tail in segment {torn.segment} at offset {torn.offset}, "
            f"{torn.length} bytes"
        )

    def _kill_one(self, total_bytes: int) -> Finding | None:
        """Runs one child up to its large append and kills it there; the torn tail, if any."""
        command = [sys.executable, "-m", "safepoint._demo_writer"]
        command += [self._store_path, self._side_path, str(total_bytes)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=_environment()) as child:
            try:
                acknowledged_bytes = self._follow(child, total_bytes)
                while child.poll() is None:
                    if log_bytes(self._folder) > acknowledged_bytes + GROWN_BYTES:
                        break
                    time.sleep(_POLL_S)
            finally:
                child.send_signal(signal.SIGKILL)
        found = safepoint.open_store(self._store_path).inspect(SESSION)
        return next((finding for finding in found.findings if finding.kind == "torn"), None)

    def _follow(self, child: subprocess.Popen[bytes], total_bytes: int) -> int:
        """Reads the child's reports up to `large`; the size of the log right before."""
        assert child.stdout is not None
        with Progress("writing", total_bytes) as progress:
            for line in child.stdout:
                word, amount = line.split()
                if word == b"large":
                    return int(amount)
                progress.tick(int(amount))
        raise DemoError("the writer ended before its last append; what it said stands above")

    def _acknowledged(self) -> dict[int, str]:
        """The child's side record: hash by seq. Its last line counts only if it is whole."""
        with open(self._side_path, encoding="ascii") as side:
            lines = [line.split() for line in side if line.endswith("\n")]
        return {int(seq): text for seq, text in lines}

    def _resume(self, acknowledged: dict[int, str]) -> None:
        store = safepoint.open_store(self._store_path)
        started = time.perf_counter()
        with store.resume(SESSION, durability="batch") as session:
            spent = time.perf_counter() - started
            checkpoint = self._check_state(session, acknowledged)
            since = {event.seq: digest(event.type, event.data) for event in session.replay()}
            repairs = [repair.as_dict() for repair in session.repairs]
        wanted = {seq: text for seq, text in acknowledged.items() if seq > checkpoint}
        if any(since.get(seq) != text for seq, text in wanted.items()):
            raise DemoError(f"replay() lacks an event that was acknowledged after {checkpoint}")
        self.report["resume"] = {
            "seconds": spent,
            "checkpoint_seq": checkpoint,
            "replayed": len(since),
            "repairs": repairs,
        }
        kept = next((repair["quarantine"] for repair in repairs if repair["quarantine"]), None)
        self._say(
            f"resume   mended in {duration(spent)}, cut bytes in quarantine/{(kept or '')[:8]}…; "
            f"state of checkpoint {checkpoint} and {counted(len(since), 'event')} since"
        )

    def _check_state(self, session: Session, acknowledged: dict[int, str]) -> int:
        """The acknowledged checkpoint that the state is; it must be the newest one."""
        text = digest("checkpoint", session.state)
        found = [seq for seq, other in acknowledged.items() if other == text]
        if not found:
            raise DemoError("the state is not that of any checkpoint that was acknowledged")
        return found[-1]

    def _prove(self, acknowledged: dict[int, str]) -> bool:
        """Reads every event back and compares it with the child's record."""
        missing = dict(acknowledged)
        changed = events = 0
        started = time.monotonic()
        with safepoint.open_store(self._store_path).open(SESSION) as reader:
            for event in reader.events():
                events += 1
                wanted = missing.pop(event.seq, None)
                if wanted is None:
                    continue
                data = event.data["state"] if event.type == "checkpoint" else event.data
                changed += digest(event.type, data) != wanted
        self.report["proof"] = {
            "acknowledged": len(acknowledged),
            "missing": len(missing),
            "changed": changed,
            "events": events,
            "seconds": time.monotonic() - started,
        }
        whole = bool(acknowledged) and not missing and not changed
        there = len(acknowledged) - len(missing) - changed
        self._say(
            f"proof    {there:,} of {len(acknowledged):,} acknowledged events read back with the "
            f"sha256 that the child noted: {'nothing is missing' if whole else 'NOT WHOLE'}\n"
        )
        return whole

    def _measure(self) -> None:
        """One child a row, on the mended session with its log in the file cache."""
        native = importlib.util.find_spec("safepoint._native") is not None
        rows = [
            self._row(
                "resume, native engine", "resume", "native", skip="" if native else "not built"
            ),
            self._row("resume, fallback engine", "resume", "fallback"),
            self._row("json, line by line", "json", "fallback", skip=self._too_small()),
            self._row("orjson, line by line", "orjson", "fallback", skip=self._too_small("orjson")),
        ]
        self.report["table"] = rows
        self._say(f"{'':<26}{'time':>10}{'peak memory':>14}")
        for row in rows:
            if row["skipped"]:
                self._say(f"{row['name']:<26}  {row['skipped']}")
            else:
                cells = f"{duration(row['seconds']):>10}{size(row['peak_bytes']):>14}"
                self._say(f"{row['name']:<26}{cells}")
        self._say(
            "\nresume: plan, open, state and replay of the mended session, the median of 5.\n"
            "line by line: every object kept, once. One process a row, file cache warm;\n"
            "memory is what the process gained over itself idle."
        )

    def _row(self, name: str, job: str, engine: str, *, skip: str = "") -> dict[str, Any]:
        row = {"name": name, "seconds": None, "peak_bytes": None, "skipped": skip}
        if skip:
            return row
        command = [sys.executable, "-m", "safepoint._demo_measure", job, self._store_path, SESSION]
        done = subprocess.run(command, stdout=subprocess.PIPE, env=_environment(engine))
        if done.returncode != 0:
            raise DemoError(f"measuring `{name}` ended with exit code {done.returncode}")
        return row | json.loads(done.stdout)

    def _too_small(self, module: str = "json") -> str:
        """Why a row that keeps the whole log cannot be measured here; empty if it can."""
        if importlib.util.find_spec(module) is None:
            return "not installed"
        needed = KEEP_ALL_FACTOR * log_bytes(self._folder)
        return f"not enough memory ({size(needed)})" if _available_bytes() < needed else ""

    def _suggest(self) -> None:
        found = foreign_log()
        if found is not None:
            self._say(f"\nYou have agent logs. Look at one: safepoint inspect {shown(found)}")


def foreign_log() -> str | None:
    """The newest log of another agent in the usual places."""
    newest: tuple[float, str] | None = None
    looked_at = 0
    for place in _FOREIGN_LOGS:
        for folder, _, names in os.walk(os.path.expanduser(place)):
            for name in names:
                path = os.path.join(folder, name)
                looked_at += 1
                if name.endswith(".jsonl") and os.path.isfile(path):
                    found = (os.stat(path).st_mtime, path)
                    newest = found if newest is None else max(newest, found)
            if looked_at > _LOOKED_AT_MAX:
                break
    return None if newest is None else newest[1]


def _environment(engine: str | None = None) -> dict[str, str]:
    """The environment of a child that must import this very package."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
    changed = {
        "PYTHONPATH": os.pathsep.join(paths),
        "SAFEPOINT_ENGINE": engine or safepoint.engine(),
    }
    return {**os.environ, **changed}


def _available_bytes() -> int:
    """Memory that a process could take now; a lot where the system does not say."""
    try:
        with open("/proc/meminfo", "rb") as facts:
            for line in facts:
                if line.startswith(b"MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 1 << 62
