"""The table on the screen and the JSON beside it."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Iterator

from corpora import Sizes
from goals import GOALS, Goal
from rows_scan import Values

AS_GOOD = 1.15
"""The fallback counts as good where it comes that close to the native engine."""
_READ_LIMIT = "R: one thread, 256 KB reads, cached"
_LAYOUT = "{:<46}{:>11}{:>11}{:>10}{:>10}  {}"


def lines(values: Values, fallback: Values) -> Iterator[str]:
    """How busy the machine is, R, then every row that was measured."""
    yield f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    yield _LAYOUT.format("", "native", "fallback", "goal", "at least", "")
    if "R" in values:
        limits = (_shown(limit, "GB/s") for limit in (values["R"], fallback.get("R")))
        yield _LAYOUT.format(_READ_LIMIT, *limits, "", "", "").rstrip()
    for goal in GOALS:
        if goal.key in values:
            yield _line(goal, values[goal.key], fallback.get(goal.key)).rstrip()


def _line(goal: Goal, value: float, other: float | None) -> str:
    verdict = goal.verdict(value)
    if other is not None and _is_as_good(goal, value, other):
        verdict = f"{verdict} (the fallback is as good)".strip()
    shown = (_shown(number, goal.unit) for number in (value, other, goal.goal, goal.least))
    return _LAYOUT.format(goal.work, *shown, verdict)


def _is_as_good(goal: Goal, value: float, other: float) -> bool:
    return other <= value * AS_GOOD if goal.lower_is_better else other * AS_GOOD >= value


def _shown(value: float | None, unit: str) -> str:
    if value is None:
        return "-"
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:.{digits}f} {unit}"


def peer_lines(found: list[tuple[str, str, float | None]]) -> Iterator[str]:
    """(job, peer, its time over ours); None where it is not installed."""
    yield ""
    yield f"{'peers, the same answer':<46}{'time / ours':>11}"
    for job, peer, ratio in found:
        shown = "not installed" if ratio is None else _shown(ratio, "x")
        yield f"{job + ': ' + peer:<46}{shown:>11}"


def report(
    values: Values,
    fallback: Values,
    found: list[tuple[str, str, float | None]],
    sizes: Sizes,
) -> dict[str, object]:
    """The JSON: every value with its bounds, and where and when it was measured."""
    rows = [
        {
            **goal._asdict(),
            "native": values[goal.key],
            "fallback": fallback.get(goal.key),
            "verdict": goal.verdict(values[goal.key]),
        }
        for goal in GOALS
        if goal.key in values
    ]
    return {
        "when": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "machine": f"{platform.platform()}, {os.cpu_count()} cores, Python "
        f"{platform.python_version()}",
        "load": os.getloadavg()[0],
        "read_limit_gb_per_s": values.get("R"),
        "sizes": sizes._asdict(),
        "rows": rows,
        "peers": [{"job": job, "peer": peer, "ratio": ratio} for job, peer, ratio in found],
    }


def save(path: str, content: dict[str, object]) -> None:
    """Writes the JSON, its folder too."""
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=1)
        file.write("\n")
