"""`python -m safepoint._demo_measure JOB STORE SESSION`: one measurement a process, one JSON line.

Jobs: `resume` (plan, open, state and replay, with the engine of SAFEPOINT_ENGINE), and `json` and
`orjson`, which load the log line by line and keep every object, as agents do. The peak of memory is
what the process gained over itself with everything imported.
"""

from __future__ import annotations

import importlib.util
import json
import os
import resource
import sys
import time
from statistics import median

import safepoint

RESUMES = 5
"""Milliseconds are noisy; loading the whole log is timed once."""


def peak_bytes() -> int:
    """The most memory that this process ever had resident.

    Linux's ru_maxrss starts at the parent's when a process is spawned, so VmHWM is asked first.
    """
    try:
        with open("/proc/self/status", "rb") as status:
            for line in status:
                if line.startswith(b"VmHWM:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _resume(store_path: str, session_id: str) -> float:
    started = time.perf_counter()
    session = safepoint.open_store(store_path).resume(session_id, durability="batch")
    state, events = session.state, list(session.replay())
    spent = time.perf_counter() - started
    session.close()
    if not state or not events:
        raise SystemExit("resume brought back nothing")
    return spent


def _load(store_path: str, session_id: str, module: str) -> float:
    folder = os.path.join(store_path, session_id)
    loads = importlib.import_module(module).loads
    started = time.perf_counter()
    kept: list[object] = []
    for name in sorted(name for name in os.listdir(folder) if name.startswith("events-")):
        with open(os.path.join(folder, name), "rb") as log:
            kept.extend(loads(line) for line in log)
    return time.perf_counter() - started


def main(job: str, store_path: str, session_id: str) -> None:
    """Does the job once and prints `{"seconds", "peak_bytes"}`."""
    for module in ("json", "orjson"):
        if importlib.util.find_spec(module) is not None:
            importlib.import_module(module)
    safepoint.open_store(store_path)
    before = peak_bytes()
    if job == "resume":
        seconds = median(_resume(store_path, session_id) for _ in range(RESUMES))
    else:
        seconds = _load(store_path, session_id, job)
    print(json.dumps({"seconds": seconds, "peak_bytes": peak_bytes() - before}))


if __name__ == "__main__":
    main(*sys.argv[1:4])
