"""Every row of the table: what is measured, the goal, and the least that counts.

A value is a ratio, or has its unit in its row. Where the unit is R, it is the time of the read
limit divided by ours: 1 R is as fast as one thread can read the cached file.
"""

from __future__ import annotations

from typing import NamedTuple


class Goal(NamedTuple):
    """One row; `group` is what measures it. Bounds are the goal and the "at least" column."""

    group: str
    key: str
    work: str
    unit: str
    goal: float | None
    least: float | None
    lower_is_better: bool = False

    def reaches(self, value: float, bound: float | None) -> bool:
        """Whether the value is at the bound or on its good side; so it is where there is none."""
        if bound is None:
            return True
        return value <= bound if self.lower_is_better else value >= bound

    def verdict(self, value: float) -> str:
        """What the last column says."""
        if self.goal is None and self.least is None:
            return ""
        if not self.reaches(value, self.least):
            return "MISSED"
        return "met" if self.reaches(value, self.goal) else "below goal"

    def fails_smoke(self, value: float) -> bool:
        """Whether the value is below half of what counts: noise does not explain that."""
        if self.least is None:
            return False
        return not self.reaches(value, self.least * 2 if self.lower_is_better else self.least / 2)


GOALS = (
    Goal("walk", "read_2", "  2 threads", "R", None, None),
    Goal("walk", "walk_1", "validate our own log: frame, seq, type, CRC", "R", 0.62, 0.45),
    Goal("walk", "walk_2", "  2 threads", "R", 1.1, 0.8),
    Goal("walk", "verify_1", "  safepoint.verify(), which checks data too", "R", None, None),
    Goal("walk", "verify_2", "  the same, 2 threads", "R", None, None),
    Goal("jsonl", "jsonl_1", "validate any JSONL", "R", 0.35, 0.20),
    Goal("jsonl", "jsonl_1_orjson", "  against an orjson loop", "x", 12, 7),
    Goal("jsonl", "jsonl_2", "  2 threads", "R", 0.65, 0.38),
    Goal("framing", "framing", "reverse framing of all lines", "R", 0.9, 0.7),
    Goal("framing", "framing_fallback", "  against the fallback", "x", 8, 5),
    Goal("framing", "framing_listed", "  places of all lines as a list", "R", None, None),
    Goal("framing", "framing_listed_fallback", "  the same, against the fallback", "x", None, None),
    Goal("hint", "hint", "checkpoint by the hint / last 64 KB", "x", 1.5, 3, True),
    Goal("hint", "hint_all", "  with all that a resume checks of it", "x", None, None, True),
    Goal("backward", "backward", "checkpoint by scan, 1 MB back / last 64 KB", "x", 10, 16, True),
    Goal("backward", "backward_frb", "  against file_read_backwards", "x", None, 60),
    Goal("plan", "plan_sizes", "plan() of the big log / of 10 MB", "x", 1.1, 1.3, True),
    Goal("plan", "plan_ms", "plan() of the big log", "ms", 1, 1, True),
    Goal("memory", "memory_verify", "memory of verify, lines of 64 MB", "MB", 4, 32, True),
    Goal("memory", "memory_verify_foreign", "  the same, any JSONL", "MB", 4, 32, True),
    Goal("memory", "memory_plan", "  of plan", "MB", 4, 32, True),
    Goal("memory", "memory_resume", "  of resume", "MB", 4, 32, True),
    Goal("process", "import", "import safepoint - python -c pass", "ms", 2, 5, True),
    Goal("process", "import_append", "  and create, first append", "ms", None, None, True),
    Goal("process", "start_resume", "start to resumed state - pass", "ms", 45, 60, True),
    Goal("replay", "replay_data", "replay of all, decoded, against orjson", "x", 1.0, 0.7),
    Goal("replay", "replay_lazy", "  data left alone", "x", 3, 2),
    Goal("append", "append", "append / encode, crc32, write", "x", 1.2, 2.0, True),
    Goal("append", "append_sealed", "  against a loop of whole records", "x", None, None, True),
    Goal("append", "append_batch", "append at batch / at process", "x", 1.2, 1.5, True),
    Goal("sync", "append_sync", "append at sync / write, fdatasync", "x", 1.1, 1.2, True),
    Goal("sync", "append_16", "  16 threads against one", "x", 5, 4),
    Goal("list", "list", "a session of store.list()", "us", 40, 100, True),
)
