"""Programs that tests run as processes of their own: to kill, to race, to look on from outside."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import safepoint

WAIT_S = 60
"""How long anything here may take before a test calls it hung."""


def environment() -> dict[str, str]:
    """What a child needs to import the same safepoint with the same engine, and our helpers."""
    package = str(Path(safepoint.__file__).parent.parent)
    path = os.pathsep.join((package, str(Path(__file__).parent)))
    return {**os.environ, "PYTHONPATH": path, "SAFEPOINT_ENGINE": safepoint.engine()}


def start(program: str, *args: object) -> subprocess.Popen[str]:
    """A Python that runs `program`, with text pipes to its stdin and from its stdout."""
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, args)],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@contextmanager
def running(program: str, *args: object) -> Iterator[subprocess.Popen[str]]:
    """The program, killed at the end if it still runs."""
    process = start(program, *args)
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=WAIT_S)


def output(program: str, *args: object) -> str:
    """What the program printed; it has to end well."""
    with running(program, *args) as process:
        text, _ = process.communicate(timeout=WAIT_S)
        assert process.returncode == 0
        return text
