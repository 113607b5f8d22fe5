"""Twins that are slow and plainly right: one byte at a time, no regular expression, no chunk."""

from __future__ import annotations

import json

SPACES = b" \t\n\r"
DIGITS = b"0123456789"
HEX = b"0123456789abcdefABCDEF"
DEPTH_MAX = 200
DIGITS_MAX = 4300


def lines(text: bytes, start: int, stop: int) -> list[tuple[int, int, bool]]:
    found = []
    offset = start
    for at in range(start, min(stop, len(text))):
        if text[at] == 0x0A:
            found.append((offset, at + 1 - offset, True))
            offset = at + 1
    if offset < min(stop, len(text)):
        found.append((offset, min(stop, len(text)) - offset, False))
    return found


class Grammar:
    """A pushdown automaton over the bytes of one JSON value: `feed` says whether one may follow."""

    def __init__(self) -> None:
        self.closers: list[str] = []
        self.state = "value"
        self.left = b""  # bytes of a literal, or byte ranges of a UTF-8 sequence, still to come
        self.tail: list[tuple[int, int]] = []
        self.digits = 0
        self.is_key = False
        self.done = False
        self.too_deep = False

    def feed(self, byte: int) -> bool:
        return getattr(self, "_" + self.state)(byte)

    def _go(self, state: str) -> bool:
        self.state = state
        return True

    def _close(self) -> bool:
        self.done = not self.closers
        return self._go("after")

    def _value(self, byte: int) -> bool:
        if byte in SPACES:
            return True
        char = chr(byte)
        if char in "{[":
            if len(self.closers) == DEPTH_MAX:
                self.too_deep = True
                return False
            self.closers.append("}" if char == "{" else "]")
            return self._go("first_key" if char == "{" else "first_item")
        if char == '"':
            self.is_key = False
            return self._go("string")
        if char == "-":
            return self._go("minus")
        if byte in DIGITS:
            return self._integer_begins(byte)
        for word in ("true", "false", "null", "NaN", "Infinity"):
            if char == word[0]:
                self.left = word[1:].encode()
                return self._go("word")
        return False

    def _word(self, byte: int) -> bool:
        if byte != self.left[0]:
            return False
        self.left = self.left[1:]
        return True if self.left else self._close()

    def _first_item(self, byte: int) -> bool:
        return self._pop() if byte == ord("]") else self._value(byte)

    def _first_key(self, byte: int) -> bool:
        return self._pop() if byte == ord("}") else self._key(byte)

    def _pop(self) -> bool:
        self.closers.pop()
        return self._close()

    def _key(self, byte: int) -> bool:
        if byte in SPACES:
            return True
        self.is_key = True
        return byte == ord('"') and self._go("string")

    def _colon(self, byte: int) -> bool:
        return byte in SPACES or (byte == ord(":") and self._go("value"))

    def _after(self, byte: int) -> bool:
        if byte in SPACES:
            return True
        if not self.closers:
            return False
        if byte == ord(","):
            return self._go("key" if self.closers[-1] == "}" else "value")
        return chr(byte) == self.closers[-1] and self._pop()

    def _string(self, byte: int) -> bool:
        if byte == ord('"'):
            return self._go("colon") if self.is_key else self._close()
        if byte == ord("\\"):
            return self._go("escape")
        if byte < 0x80:
            return byte >= 0x20
        if byte < 0xC2 or byte > 0xF4:
            return False
        first = {0xE0: (0xA0, 0xBF), 0xED: (0x80, 0x9F), 0xF0: (0x90, 0xBF), 0xF4: (0x80, 0x8F)}
        count = 1 if byte < 0xE0 else 2 if byte < 0xF0 else 3
        self.tail = [first.get(byte, (0x80, 0xBF))] + [(0x80, 0xBF)] * (count - 1)
        return self._go("sequence")

    def _sequence(self, byte: int) -> bool:
        low, high = self.tail.pop(0)
        if not self.tail:
            self.state = "string"
        return low <= byte <= high

    def _escape(self, byte: int) -> bool:
        if byte == ord("u"):
            self.digits = 0
            return self._go("hex")
        return byte in b'"\\/bfnrt' and self._go("string")

    def _hex(self, byte: int) -> bool:
        self.digits += 1
        if self.digits == 4:
            self.state = "string"
        return byte in HEX

    def _minus(self, byte: int) -> bool:
        if byte == ord("I"):
            self.left = b"nfinity"
            return self._go("word")
        return byte in DIGITS and self._integer_begins(byte)

    def _integer_begins(self, byte: int) -> bool:
        self.digits = 1
        return self._go("zero" if byte == ord("0") else "integer")

    def _integer(self, byte: int) -> bool:
        if byte in DIGITS:
            self.digits += 1
            return True
        return self._zero(byte)

    def _zero(self, byte: int) -> bool:
        if byte == ord("."):
            return self._go("dot")
        if byte in b"eE":
            return self._go("exponent")
        return self.digits <= DIGITS_MAX and self._behind_number(byte)

    def _dot(self, byte: int) -> bool:
        return byte in DIGITS and self._go("fraction")

    def _fraction(self, byte: int) -> bool:
        if byte in b"eE":
            return self._go("exponent")
        return byte in DIGITS or self._behind_number(byte)

    def _exponent(self, byte: int) -> bool:
        return (byte in b"+-" and self._go("signed")) or self._signed(byte)

    def _signed(self, byte: int) -> bool:
        return byte in DIGITS and self._go("power")

    def _power(self, byte: int) -> bool:
        return byte in DIGITS or self._behind_number(byte)

    def _behind_number(self, byte: int) -> bool:
        self._close()
        return self._after(byte)


def parse(text: bytes, start: int) -> tuple[str, int]:
    """("complete", end), ("stopped", e) or ("unclosed", len(text)) of the object at `start`."""
    grammar = Grammar()
    for at in range(start, len(text)):
        if not grammar.feed(text[at]):
            return "stopped", at
        if grammar.done:
            return "complete", at + 1
    return "unclosed", len(text)


def pieces(text: bytes) -> list[tuple[int, int]]:
    """The piece rule, sentence by sentence."""
    found = []
    pos = 0
    start = text.find(b"{")
    while start >= 0:
        outcome, end = parse(text, start)
        if outcome == "unclosed":
            break
        if outcome == "stopped":
            before = [at for at in range(start, end + 1) if text[at : at + 1] == b"{"]
            start = before[-1] if before[-1] > start else text.find(b"{", end + 1)
            continue
        broken = text[pos:start].strip(SPACES) != b""
        value = json.loads(text[start:end].decode())
        if not broken or isinstance(value.get("type"), str):
            found.append((start, end - start))
            pos = end
        start = text.find(b"{", end)
    return found


def objects_of_line(line: bytes) -> int:
    """How many objects a foreign line holds: the standard library asked, then the piece rule."""
    rest = line.removesuffix(b"\n").strip(b"\0")
    try:
        if isinstance(json.loads(rest.decode()), dict):
            return 1
    except (ValueError, RecursionError):
        pass
    return len(pieces(rest))
