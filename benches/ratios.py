"""The table of ratios: `make bench`. benches/README.md says how to read it.

Every row is a median over interleaved rounds and asserts the answer that it times. Exit code 1: a
row misses its "at least"; with --quick, a row lies below half of it twice in a row.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable

import peers
import rows_read
import rows_scan
import rows_start
import rows_write
import table
from corpora import Corpora, Sizes
from goals import GOALS, Goal
from rows_scan import Values
from safepoint import scan

RESULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results", "ratios.json")
QUICK = Sizes(mb=256, big_mb=256, line_mb=64, sessions=2_000, rounds=3)
FALLBACK = Sizes(mb=32, big_mb=32, line_mb=64, sessions=1_000, rounds=3)
"""The fallback reads less: its ratios do not depend on the size."""
FALLBACK_QUICK = Sizes(mb=4, big_mb=32, line_mb=64, sessions=200, rounds=1)
SESSIONS = 10_000
ROUNDS_SHORT_MIN = 9
"""Rows of microseconds get more rounds than --quick has for the rest."""

GROUPS: dict[str, Callable[[Corpora], Values]] = {
    "walk": lambda c: rows_scan.walk_rows(c.own, c.rounds),
    "jsonl": lambda c: rows_scan.jsonl_rows(c.foreign, c.rounds),
    "framing": lambda c: rows_scan.framing_rows(c.own, c.rounds),
    "hint": lambda c: rows_start.hint_rows(c.own, c.rounds_short),
    "backward": lambda c: rows_start.backward_rows(c.own, c.rounds_short, with_peer=c.with_peers),
    "plan": lambda c: rows_start.plan_rows(c.big, c.small, c.rounds_short),
    "memory": lambda c: rows_read.memory_rows(c.own_with_line, c.foreign_with_line),
    "process": lambda c: rows_start.process_rows(c.small, c.fresh(), c.rounds_short),
    "replay": lambda c: rows_read.replay_rows(c.own, c.rounds),
    "append": lambda c: rows_write.process_rows(c.fresh(), c.rounds_short),
    "sync": lambda c: rows_write.sync_rows(c.fresh(), c.rounds),
    "list": lambda c: rows_read.list_rows(c.fresh(), c.sizes.sessions, c.rounds),
}
"""Rows that share their rounds."""
NOT_FALLBACK = frozenset(("memory", "sync"))
"""It holds a line whole, and the disk, not the engine, bounds a sync."""


def measure(corpora: Corpora, groups: Iterable[str]) -> Values:
    """The values of these groups; stderr says what is running."""
    values: Values = {}
    for name in groups:
        started = time.perf_counter()
        values.update(GROUPS[name](corpora))
        _say(f"{scan.ENGINE} {name}: {time.perf_counter() - started:.1f} s")
    return values


def retry_failing(values: Values, corpora: Corpora) -> list[Goal]:
    """Measures the groups of failing rows once more; the rows that fail again."""
    failing = [goal for goal in GOALS if goal.key in values and goal.fails_smoke(values[goal.key])]
    for goal in failing:
        _say(f"again: {goal.key} is {values[goal.key]:.3g}")
    values.update(measure(corpora, sorted({goal.group for goal in failing})))
    return [goal for goal in failing if goal.fails_smoke(values[goal.key])]


def fallback_values(sizes: Sizes, groups: Iterable[str]) -> Values:
    """The same rows in a process that runs on the fallback."""
    command = [sys.executable, *sys.argv[:1], "--values", json.dumps([sizes, list(groups)])]
    environment = {**os.environ, "SAFEPOINT_ENGINE": "fallback"}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    found: Values = json.loads(done.stdout)
    return found


def rounds_short(sizes: Sizes) -> int:
    """Rounds of the rows of microseconds."""
    return max(ROUNDS_SHORT_MIN, sizes.rounds)


def run(options: argparse.Namespace, place: str) -> int:
    """Measures, prints the table, saves the JSON."""
    sizes = QUICK if options.quick else _sizes(options)
    corpora = Corpora(place, sizes, rounds_short(sizes), with_peers=not options.quick)
    groups = options.rows or list(GROUPS)
    values = measure(corpora, groups)
    failing = retry_failing(values, corpora) if options.quick else _missed(values)
    fallback: Values = {}
    if not options.no_fallback and scan.ENGINE == "native":
        small = FALLBACK_QUICK if options.quick else FALLBACK
        fallback = fallback_values(small, [name for name in groups if name not in NOT_FALLBACK])
    found = _peers(corpora, options.rows) if corpora.with_peers else []
    for line in (*table.lines(values, fallback), *(table.peer_lines(found) if found else ())):
        print(line)
    table.save(options.json, table.report(values, fallback, found, sizes))
    print(f"\nJSON: {options.json}")
    word = "FAILED" if options.quick else "MISSED"
    for goal in failing:
        print(f"{word}: {goal.key} is {values[goal.key]:.3g} {goal.unit}: {goal.work.strip()}")
    return 1 if failing else 0


def _peers(corpora: Corpora, rows: list[str] | None) -> peers.Found:
    """Beside the rows of the same work, or beside the whole table."""
    found: peers.Found = []
    if rows is None or "jsonl" in rows:
        found += peers.validate_peers(corpora.foreign_small, corpora.rounds)
    if rows is None or "backward" in rows:
        found += peers.checkpoint_peers(corpora.own, corpora.rounds)
    return found


def _missed(values: Values) -> list[Goal]:
    return [g for g in GOALS if g.key in values and not g.reaches(values[g.key], g.least)]


def _sizes(options: argparse.Namespace) -> Sizes:
    return Sizes(options.mb, options.big_mb or options.mb, 64, SESSIONS, options.rounds)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def arguments() -> argparse.ArgumentParser:
    """The options, as BENCH_ARGS gives them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mb", type=int, default=1000, help="size of the log, in million bytes")
    parser.add_argument("--big-mb", type=int, help="size of the log for plan(), e.g. 10000")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--rows", nargs="+", choices=GROUPS, help="these only")
    parser.add_argument("--no-fallback", action="store_true")
    parser.add_argument("--quick", action="store_true", help="256 MB, few rounds, a smoke test")
    parser.add_argument("--json", default=RESULTS, help="where the values go")
    parser.add_argument("--values", help=argparse.SUPPRESS)
    return parser


def main() -> int:
    """The one entry; with --values a child that prints what it measured."""
    options = arguments().parse_args()
    with tempfile.TemporaryDirectory(prefix="safepoint-bench-") as place:
        if options.values is None:
            return run(options, place)
        sizes, groups = json.loads(options.values)
        child = Sizes(*sizes)
        corpora = Corpora(place, child, rounds_short(child), with_peers=False)
        print(json.dumps(measure(corpora, groups)))
        return 0


if __name__ == "__main__":
    sys.exit(main())
