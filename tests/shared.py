"""Damaged files and a corpus that live outside the repository, and how a report accounts for bytes.

`SAFEPOINT_SHARED` names the folder that holds them; without it their tests are skipped.
"""

from __future__ import annotations

import os
from pathlib import Path

SHARED = Path(os.environ["SAFEPOINT_SHARED"]) if "SAFEPOINT_SHARED" in os.environ else None

# Over a record that is accounted for itself.
OVERLAY = {"unterminated", "seq_gap", "seq_order", "seq_repeat"}


def unaccounted(text: bytes, findings: list, objects: list) -> list[tuple[int, int]]:
    """Bytes that belong to no record, blank run or finding, or to more than one.

    Pieces belong to the `glued` finding around them; the whitespace between the NULs of a line, and
    the newline behind them, to its NULs.
    """
    spans = {}
    for kind, offset, length, *_ in findings:
        if kind not in OVERLAY:
            spans[offset] = (kind, offset + length)
    for offset, length in objects:
        if not any(s <= offset < spans[s][1] for s in spans if spans[s][0] == "glued"):
            spans[offset] = ("object", offset + length)
    return _holes(text, spans)


def _holes(text: bytes, spans: dict[int, tuple[str, int]]) -> list[tuple[int, int]]:
    holes = []
    end, before = 0, ""
    for start, (kind, stop) in [*sorted(spans.items()), (len(text), ("end", len(text)))]:
        between = text[end:start]
        of_nuls = before == "nul" and not between.strip(b" \t\r\n") and between.count(b"\n") <= 1
        if start < end or (between and not of_nuls):
            holes.append((end, start))
        end, before = stop, kind
    return holes


def read_whole(engine, fd: int, size: int) -> tuple[list, list]:
    """The objects of a log in both directions, each in file order."""
    forward, place = engine.objects_forward(fd, 0, size, 2**31)
    assert place == size
    backward, place = engine.objects_backward(fd, 0, size, 2**31)
    assert place == 0
    return forward, backward[::-1]
