"""The code blocks of the documentation run as they stand, and print what they claim to print."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(name: str) -> str:
    """All Python blocks of a page, as one program."""
    return "\n".join(BLOCK.findall((ROOT / name).read_text()))


@pytest.mark.parametrize("name", ["README.md", "docs/FORMAT.md"])
def test_python_blocks_run(name: str, tmp_path: Path) -> None:
    """A reader copies the blocks in order; each of them must work, in an empty folder."""
    program = blocks(name)
    assert program
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_readme_shows_what_inspect_prints(tmp_path: Path) -> None:
    """The first thing a reader sees is the command's output on a damaged log: the real one."""
    pattern = r"^\$ safepoint inspect (\S+)\n(.*?)^```$"
    shown = re.search(pattern, README, re.MULTILINE | re.DOTALL)
    assert shown is not None
    log = tmp_path / shown[1]
    rows = [b'{"type":"user","text":"hello %d"}\n' % number for number in range(1000)]
    rows[400] = rows[400].rstrip(b"\n")  # two records on one line
    log.write_bytes(b"".join(rows) + b'{"type":"assistant","te')
    done = subprocess.run(
        [sys.executable, "-m", "safepoint", "inspect", shown[1]],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        capture_output=True,
        text=True,
    )
    assert done.stdout == shown[2]


README = (ROOT / "README.md").read_text()


def test_readme_is_short() -> None:
    """Nobody reads the second screen of a long README."""
    assert len(README.splitlines()) <= 150
