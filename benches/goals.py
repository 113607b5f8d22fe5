"""Every row of the table: what is measured, the goal, and the least that counts.

A value is a ratio, or has its unit in its row. R is the time of the read limit divided by ours, so
1 R is as fast as one thread can read the cached file.
"""

from __future__ import annotations

from typing import NamedTuple


class Goal(NamedTuple):
    """One row. `least` is the "at least" column; goals are upper bounds where `lower_is_better`."""

    key: str
    work: str
    unit: str
    goal: float | None
    least: float | None
    lower_is_better: bool = False

    def reaches(self, value: float, bound: float | None) -> bool:
        """Whether the value is at the bound or on its good side."""
        if bound is None:
            return True
        return value <= bound if self.lower_is_better else value >= bound

    def fails_smoke(self, value: float) -> bool:
        """Whether the value is below half of what counts: noise does not explain that."""
        if self.least is None:
            return False
        return not self.reaches(value, self.least * 2 if self.lower_is_better else self.least / 2)


def _more(key: str, work: str, unit: str, goal: float | None, least: float | None) -> Goal:
    return Goal(key, work, unit, goal, least)


def _less(key: str, work: str, unit: str, goal: float | None, least: float | None) -> Goal:
    return Goal(key, work, unit, goal, least, True)


GOALS = (
    _more("walk_1", "validate our own log: frame, seq, type, CRC", "R", 0.62, 0.45),
    _more("walk_2", "the same, 2 threads", "R", 1.1, 0.8),
    _more("verify_1", "safepoint.verify(): the same and data", "R", None, None),
    _more("verify_2", "the same, 2 threads", "R", None, None),
    _more("jsonl_1", "validate any JSONL", "R", 0.35, 0.20),
    _more("jsonl_1_orjson", "the same against an orjson loop", "x", 12, 7),
    _more("jsonl_2", "the same, 2 threads", "R", 0.65, 0.38),
    _more("framing", "reverse framing of all lines", "R", 0.9, 0.7),
    _more("framing_fallback", "the same against the fallback", "x", 8, 5),
    _less("hint", "newest checkpoint by the hint / last 64 KB", "x", 1.5, 3),
    _less("backward", "newest checkpoint by scan, 1 MB back / last 64 KB", "x", 10, 16),
    _more("backward_frb", "the same against file_read_backwards", "x", None, 60),
    _less("plan_sizes", "plan() of the big log / of 10 MB", "x", 1.1, 1.3),
    _less("plan_ms", "plan() of the big log", "ms", 1, 1),
    _less("memory_verify", "memory of verify, a line of 64 MB", "MB", 4, 32),
    _less("memory_verify_foreign", "the same, any JSONL", "MB", 4, 32),
    _less("memory_plan", "memory of plan, a line of 64 MB", "MB", 4, 32),
    _less("memory_resume", "memory of resume, a line of 64 MB", "MB", 4, 32),
    _less("import", "import safepoint, over python -c pass", "ms", 2, 5),
    _less("import_append", "import, open_store, create, first append", "ms", None, None),
    _less("start_resume", "process start to resumed state, over the same", "ms", 45, 60),
    _more("replay_data", "replay of all events, data decoded, against orjson", "x", 1.0, 0.7),
    _more("replay_lazy", "the same, data left alone", "x", 3, 2),
    _less("append", "append of 600 bytes / encode, crc32, write", "x", 1.2, 2.0),
    _less("append_sync", "append at sync / write and fdatasync", "x", 1.1, 1.2),
    _more("append_16", "16 threads against one, at sync", "x", 5, 4),
    _less("append_batch", "append at batch / at process", "x", 1.2, 1.5),
    _less("list", "a session of store.list()", "us", 40, 100),
)
