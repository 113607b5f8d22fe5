"""`python benches/weigh.py JOB PATH`: the bytes by which one job raises the peak of its process.

The baseline is the same process with every module of the package imported.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
from contextlib import suppress

import safepoint
from safepoint._demo_measure import peak_bytes

_COMMANDS = ("cli", "demo", "testing", "__main__")


def _verify(path: str) -> None:
    seen = safepoint.verify(path, threads=2)
    assert seen.state == "clean", seen


def _plan(folder: str) -> None:
    store, session = os.path.split(folder)
    found = safepoint.open_store(store).plan(session)
    assert found.verdict == "resume" and found.checkpoint_seq is not None


def _resume(folder: str) -> None:
    store, session = os.path.split(folder)
    with safepoint.open_store(store).resume(session) as resumed:
        assert resumed.state["open"] == [1, 2, 3]


JOBS = {"verify": _verify, "verify_foreign": _verify, "plan": _plan, "resume": _resume}


def _forget_peak() -> int:
    """Brings the peak down to what is resident now, where the system can; gives the peak."""
    with suppress(OSError), open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    return peak_bytes()


def main(job: str, path: str) -> None:
    """Imports everything, does the job once, prints the growth in bytes."""
    for module in pkgutil.iter_modules(safepoint.__path__):
        if not module.name.startswith("_") and module.name not in _COMMANDS:
            importlib.import_module(f"safepoint.{module.name}")
    for name in ("json", "orjson", "threading"):
        importlib.import_module(name)
    before = _forget_peak()
    JOBS[job](path)
    print(peak_bytes() - before)


if __name__ == "__main__":
    main(*sys.argv[1:3])
