"""Writes tests/vectors/*.json, the truth that the tests of both engines and of the core read.

Expected values are written by hand, from the format's rules: a rule, a name, the bytes, the answer.
Offsets are said in words of the builders, never computed by an engine. The reference twin is asked
for the same answers, and a difference makes this fail.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from vector_json import lines, verdicts
from vector_logs import jsonl, records
from vector_walks import walks

VECTORS = Path(__file__).parent / "vectors"
MAKERS = {
    "verdicts": verdicts,
    "lines": lines,
    "records": records,
    "jsonl": jsonl,
    "walks": walks,
}


def plain(value):
    """As JSON would give it back: tuples are lists, bytes are hex."""
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    return value.hex() if isinstance(value, bytes) else value


def answer(engine, file: str, vector: dict) -> object:
    """What an engine says to a vector, in the shape of the vector's expected value."""
    text = bytes.fromhex(vector["hex"])
    if file == "verdicts":
        return engine.check_json(text)
    if file == "lines":
        findings, objects = engine.classify_line(text, vector["last"])
        return plain([findings, objects])
    if file == "records":
        return plain(engine.parse_record(text, vector["seed"]))
    with tempfile.TemporaryFile() as log:
        log.write(text)
        log.flush()
        if file == "jsonl":
            return plain(engine.inspect_jsonl(log.fileno(), len(text)))
        asked = (vector[name] for name in ("seed", "seq", "final", "check_data"))
        seeds = tuple(vector["other_seeds"])
        return plain(engine.walk(log.fileno(), vector["start"], len(text), *asked, seeds))


def expected(file: str, vector: dict) -> object:
    if file == "lines":
        return [vector["findings"], vector["objects"]]
    return vector[{"verdicts": "verdict", "records": "record"}.get(file, "result")]


def main() -> None:
    sys.path.insert(0, str(Path(__file__).parent.parent / "python"))
    from safepoint import _fallback

    wrong = 0
    for file, make in MAKERS.items():
        vectors = make()
        for vector in vectors:
            said, meant = answer(_fallback, file, vector), plain(expected(file, vector))
            if said != meant:
                wrong += 1
                print(f"{file}: {vector['name']}\n  meant {meant}\n  said  {said}")
        rows = ",\n".join(json.dumps(vector) for vector in vectors)
        (VECTORS / f"{file}.json").write_text(f"[\n{rows}\n]\n")
        print(f"{file}: {len(vectors)} vectors")
    sys.exit(wrong)


if __name__ == "__main__":
    main()
