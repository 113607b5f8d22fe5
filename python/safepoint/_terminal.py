"""What the command and the demo share: exit codes, lines on stdout, progress, words for numbers."""

from __future__ import annotations

import json
import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TextIO

OK, REPAIRABLE, REFUSED, USAGE, MISSING = range(5)
INTERRUPTED = 130
"""What shells report for a command that Ctrl-C ended."""

_PROGRESS_AFTER_S = 0.5
_PROGRESS_EVERY_S = 0.1


class Output:
    """Lines on stdout. A reader that went away (`| head`) is not an error: the rest is dropped."""

    def __init__(self, stream: TextIO | None, *, as_json: bool) -> None:
        self.as_json = as_json
        self.closed = stream is None
        if stream is None:
            return
        self._stream = stream
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")

    def line(self, text: str) -> None:
        """One line; what a terminal would obey instead of show is escaped."""
        self._write(shown(text) + "\n")

    def json(self, value: Any) -> None:
        """One JSON object on one line, pure ASCII."""
        self._write(json.dumps(value, separators=(",", ":")) + "\n")

    def flush(self) -> None:
        """Hands everything to the reader."""
        self._write("")

    def _write(self, text: str) -> None:
        if self.closed:
            return
        try:
            self._stream.write(text)
            if not text:
                self._stream.flush()
        except OSError as error:
            self.closed = True
            _point_at_null(self._stream)
            if not isinstance(error, BrokenPipeError):
                raise


def _point_at_null(stream: TextIO) -> None:
    """Gives the interpreter's own last flush somewhere to go."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)


class Progress:
    """Percentages on stderr while long work runs, if stderr is a terminal; wiped at the end."""

    def __init__(self, label: str, total_bytes: int, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._on = self._stream is not None and self._stream.isatty()
        self._label = shown(label)
        self._total = total_bytes
        self._next = time.monotonic() + _PROGRESS_AFTER_S
        self._drawn = False

    def tick(self, bytes_done: int) -> None:
        """Called between chunks; redraws now and then."""
        now = time.monotonic()
        if not self._on or now < self._next:
            return
        self._next = now + _PROGRESS_EVERY_S
        self._drawn = True
        part = f"{min(bytes_done / self._total, 1):4.0%} of " if self._total else ""
        amount = size(self._total or bytes_done)
        self._stream.write(f"\r{self._label}: {part}{amount}\x1b[K")
        self._stream.flush()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *exc: object) -> None:
        if self._drawn:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


def shown(text: str) -> str:
    """`text` with every character that is not printable escaped."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)


def size(count: int) -> str:
    """Bytes for people: 512 B, 4.1 kB, 537.2 MB."""
    if count < 1000:
        return f"{count} B"
    power = min((len(str(count)) - 1) // 3, 4)
    return f"{count / 1000**power:.1f} {('kB', 'MB', 'GB', 'TB')[power - 1]}"


def compact(value: Any) -> str:
    """`value` as JSON on one line, its letters as they are."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def counted(count: int, word: str) -> str:
    """`1 record`, `2,000 records`."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def duration(seconds: float) -> str:
    """Seconds for people: 4.1 ms, 7.45 s."""
    return f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def fitted(line: str) -> str:
    """The line as it is for a pipe, cut to the width of a terminal."""
    if sys.stdout is None or not sys.stdout.isatty():
        return line
    import shutil

    columns = shutil.get_terminal_size().columns
    return line if len(line) <= columns else line[: columns - 1] + "…"


def complain(message: str) -> None:
    """One line on stderr."""
    try:
        print(f"safepoint: {shown(message)}", file=sys.stderr)
    except BrokenPipeError:
        _point_at_null(sys.stderr)
