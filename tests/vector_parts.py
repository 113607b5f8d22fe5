"""Records, damage and answers, spelt out once more, away from the engines."""

from __future__ import annotations

import zlib

TS = "2026-12-01T04:48:28.123456Z"
SEED = zlib.crc32(b"9f86d081884c7d65")
STALE = zlib.crc32(b"0123456789abcdef")


def sealed(body: bytes, seed: int = SEED) -> bytes:
    """A line with its seal, spelt out once more, away from the engines."""
    return body + b',"crc":"' + f"{zlib.crc32(body + b'}', seed):08x}".encode() + b'"}\n'


def record(
    seq: int,
    data: bytes = b"{}",
    *,
    type: str = "note",
    key: bytes | None = None,
    more: int | None = None,
    d: int = 0,
    seed: int = SEED,
) -> bytes:
    parts = [f'{{"seq":{seq},"ts":"{TS}","type":"{type}"'.encode()]
    parts += [b',"key":' + key] if key is not None else []
    parts += [b',"data":' + data]
    parts += [f',"more":{more}'.encode()] if more is not None else []
    return sealed(b"".join(parts) + f',"d":{d}'.encode(), seed)


def finding(kind: str, offset: int, length: int, seq: int = -1, missing: tuple = (-1, -1)) -> list:
    return [kind, offset, length, seq, *missing]


def joined(*parts: bytes) -> tuple[bytes, list[int]]:
    """The bytes, and the offset at which each part starts (one more: the end)."""
    offsets = [0]
    for part in parts:
        offsets.append(offsets[-1] + len(part))
    return b"".join(parts), offsets


class Log:
    """Builds a segment part by part; answers are said in part numbers."""

    def __init__(self, *parts: bytes) -> None:
        self.parts = parts
        self.text, self.at = joined(*parts)

    def place(self, seq: int, part: int) -> list:
        return [seq, self.at[part], len(self.parts[part])]

    def over(self, kind: str, part: int, seq: int = -1, missing: tuple = (-1, -1), parts: int = 1):
        return finding(kind, self.at[part], self.at[part + parts] - self.at[part], seq, missing)

    def walk(
        self,
        name: str,
        run: tuple[int, int],
        findings: list,
        *,
        watermark: int = 0,
        checkpoint: list | None = None,
        behind: int = 0,
        last_part: int = -1,
        seq: int = 0,
        start_part: int = 0,
        final: bool = False,
        check_data: bool = False,
        other_seeds: tuple[int, ...] = (),
    ) -> dict:
        """`run`: (next_seq, parts in it, counted from part 0); its last record is its last part."""
        next_seq, parts = run
        last_part = parts - 1 if last_part < 0 else last_part
        last = self.place(next_seq - 1, last_part) if parts > start_part else None
        end = self.at[parts]
        result = [next_seq, end, watermark, checkpoint, last, behind, findings, 0]
        return {
            "name": name,
            "hex": self.text.hex(),
            "start": self.at[start_part],
            "seed": SEED,
            "seq": seq,
            "final": final,
            "check_data": check_data,
            "other_seeds": list(other_seeds),
            "result": result,
        }
