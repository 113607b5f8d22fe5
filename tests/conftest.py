"""What all tests share: a store, the shared folders, the engine in the header, the skips counted.

Tests marked `once` do not depend on the engine or run both themselves; the fallback's pass leaves
them out.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest
import safepoint


def pytest_configure(config: pytest.Config) -> None:
    """Names the markers."""
    config.addinivalue_line("markers", "once: does not depend on the engine, or runs both itself")
    config.addinivalue_line("markers", "slow: takes more than some seconds")


def pytest_report_header() -> str:
    """Says which engine the whole run tests."""
    return f"safepoint engine: {safepoint.engine()}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Counts the skips by reason, so that a green run cannot hide them."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = Counter(str(report.longrepr[2]).removeprefix("Skipped: ") for report in skipped)
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"skipped {count}: {reason}")


@pytest.fixture
def store(tmp_path: Path) -> safepoint.Store:
    """An empty store; `store.path` is its folder."""
    return safepoint.open_store(tmp_path / "store")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared cases and corpora, of which the project holds no copy."""
    place = os.environ.get("SAFEPOINT_SHARED")
    if not place:
        pytest.skip("SAFEPOINT_SHARED is not set")
    return Path(place)
