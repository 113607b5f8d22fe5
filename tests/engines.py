"""The engines under test, and files for them to read."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

import pytest
from hypothesis import HealthCheck, settings
from safepoint import _fallback


def _native() -> ModuleType | None:
    try:
        from safepoint import _native
    except ImportError:
        return None
    return _native


NATIVE = _native()
_ABSENT = pytest.mark.skip(reason="safepoint._native is not built: only the fallback is tested")

engines = pytest.mark.parametrize(
    "engine",
    [
        pytest.param(_fallback, id="fallback"),
        pytest.param(NATIVE, id="native", marks=() if NATIVE else _ABSENT),
    ],
)

chunks = pytest.mark.parametrize("chunk_bytes", (1, 2, 3, 7, _fallback.CHUNK_BYTES))
"""Bytes of a read: each boundary that a line can have, and the default."""

often = settings(
    max_examples=80,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@contextmanager
def opened(text: bytes) -> Iterator[int]:
    """A descriptor of a file that holds `text`."""
    with tempfile.TemporaryFile() as log:
        log.write(text)
        log.flush()
        yield log.fileno()
