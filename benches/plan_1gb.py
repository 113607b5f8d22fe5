"""`plan()` of a 1 GB session with its newest checkpoint in the last MB: time, memory, both engines.

The corpus is what `safepoint demo` writes. A plan is timed in process, warm, against one read of
the last 64 KB of the log; memory is the growth of the peak over the same process right before its
first plan.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import safepoint
from safepoint._demo_measure import peak_bytes
from safepoint._demo_writer import CHECKPOINT_BYTES, SESSION, fill, log_bytes

ROUNDS = 41
TAIL_BYTES = 64 << 10
PLAN_MS_MAX = 5.0
GROWTH_MB_MAX = 16.0


def write(store_path: str, total_bytes: int) -> int:
    """Writes the session and closes it cleanly; the seq of its newest checkpoint."""
    checkpoint = -1
    with safepoint.open_store(store_path).create(SESSION, durability="process") as session:
        for _, seq, type, _ in fill(session, total_bytes):
            checkpoint = seq if type == "checkpoint" else checkpoint
    return checkpoint


def median_ms(job) -> float:
    """The median time of ROUNDS calls, in milliseconds."""
    spent = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        job()
        spent.append(time.perf_counter() - started)
    return statistics.median(spent) * 1000


def read_tail(path: str) -> bytes:
    """The read limit: open the log, read its last 64 KB, close it."""
    fd = os.open(path, os.O_RDONLY)
    try:
        return os.pread(fd, TAIL_BYTES, os.fstat(fd).st_size - TAIL_BYTES)
    finally:
        os.close(fd)


def measure(store_path: str, checkpoint: int) -> dict[str, float]:
    """One engine's row; runs in a process of its own."""
    folder = os.path.join(store_path, SESSION)
    newest = os.path.join(folder, max(n for n in os.listdir(folder) if n.startswith("events-")))
    read_tail(newest)
    safepoint.open_store(store_path)
    before = peak_bytes()
    started = time.perf_counter()
    plan = safepoint.open_store(store_path).plan(SESSION)
    first_ms = (time.perf_counter() - started) * 1000
    growth = peak_bytes() - before
    assert plan.verdict == "resume" and plan.checkpoint_seq == checkpoint, plan
    return {
        "first_ms": first_ms,
        "plan_ms": median_ms(lambda: safepoint.open_store(store_path).plan(SESSION)),
        "tail_ms": median_ms(lambda: read_tail(newest)),
        "growth_mb": growth / 1e6,
    }


def rows(store_path: str, checkpoint: int) -> dict[str, dict[str, float]]:
    """Both engines, each in a child."""
    found = {}
    for engine in ("native", "fallback"):
        command = [sys.executable, __file__, "--measure", store_path, str(checkpoint)]
        environment = {**os.environ, "SAFEPOINT_ENGINE": engine}
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
        found[engine] = json.loads(done.stdout)
    return found


def main(megabytes: int) -> int:
    """Writes, measures and prints; 1 where the native engine misses a goal."""
    with tempfile.TemporaryDirectory(prefix="safepoint-bench-") as work:
        checkpoint = write(work, max(megabytes * 1_000_000, 3 * CHECKPOINT_BYTES))
        total = log_bytes(os.path.join(work, SESSION))
        table = rows(work, checkpoint)
    print(f"plan() of a {total / 1e6:,.0f} MB session, newest checkpoint {checkpoint}")
    print(f"{'engine':<10}{'median':>10}{'first':>10}{'last 64 KB':>12}{'ratio':>8}{'memory':>10}")
    for engine, row in table.items():
        print(
            f"{engine:<10}{row['plan_ms']:>7.2f} ms{row['first_ms']:>7.2f} ms"
            f"{row['tail_ms']:>9.3f} ms{row['plan_ms'] / row['tail_ms']:>7.0f}x"
            f"{row['growth_mb']:>7.1f} MB"
        )
    native = table["native"]
    met = native["plan_ms"] < PLAN_MS_MAX and native["growth_mb"] < GROWTH_MB_MAX
    goal = f"native under {PLAN_MS_MAX:.0f} ms and {GROWTH_MB_MAX:.0f} MB"
    print(f"goal: {goal}: {'met' if met else 'MISSED'}")
    return 0 if met else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mb", type=int, default=1000)
    parser.add_argument("--measure", nargs=2, metavar=("STORE", "CHECKPOINT"))
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure[0], int(options.measure[1]))))
    else:
        sys.exit(main(options.mb))
