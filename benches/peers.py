"""What others take for the same answers, each optional, in rounds with ours.

A peer that is not installed gives None. In-process peers are timed without their import, commands
with their start.
"""

from __future__ import annotations

import importlib
import importlib.util
import shutil
import subprocess
from collections.abc import Callable

from generate import Written
from measure import Job, interleave
from rows_scan import header_of, opened
from safepoint import scan

Found = list[tuple[str, str, float | None]]
Answer = tuple[int, int]


def validate_peers(log: Written, rounds: int) -> Found:
    """Every record of any JSONL: how many there are, and the highest seq."""
    wanted = (log.next_seq, log.next_seq - 1)
    with opened(log.path) as fd:

        def ours(threads: int) -> None:
            found = scan.inspect_jsonl(fd, log.size, threads=threads)
            assert (found[0], found[2]) == wanted

        jobs: dict[str, Job] = {"ours": lambda: ours(1), "ours, 2 threads": lambda: ours(2)}
        for name, (needed, answer) in VALIDATORS.items():
            if is_there(needed):
                jobs[name] = _asserted(answer, log.path, wanted)
        times = interleave(jobs, rounds)
    return _rows("validate any JSONL", times.ratio, jobs, VALIDATORS)


def checkpoint_peers(log: Written, rounds: int) -> Found:
    """The seq of the newest checkpoint, 1 MB before the end."""
    with opened(log.path) as fd:
        header = header_of(fd)

        def ours() -> None:
            found = scan.find_record(
                fd, header.length, log.size, header.seed, "checkpoint", log.next_seq
            )
            assert found == log.checkpoint

        jobs: dict[str, Job] = {"ours": ours}
        for name, (needed, answer) in FINDERS.items():
            if is_there(needed):
                jobs[name] = _asserted(answer, log.path, log.checkpoint[0])
        times = interleave(jobs, rounds, short=True)
    return _rows("newest checkpoint", times.ratio, jobs, FINDERS)


def is_there(needed: str) -> bool:
    """Whether a module or, after a $, a command is installed."""
    if needed.startswith("$"):
        return shutil.which(needed[1:]) is not None
    return importlib.util.find_spec(needed) is not None


def backward_lines(path: str) -> int:
    """file_read_backwards, line by line up to a checkpoint; its seq."""
    from file_read_backwards import FileReadBackwards
    from orjson import loads

    with FileReadBackwards(path, encoding="utf-8") as lines:
        for line in lines:
            if '"type":"checkpoint"' in line:
                event = loads(line)
                if event["type"] == "checkpoint":
                    return event["seq"]
    raise AssertionError("there is no checkpoint")


def _asserted(answer: Callable[[str], object], path: str, wanted: object) -> Job:
    def job() -> None:
        found = answer(path)
        assert found == wanted, (found, wanted)

    return job


def _rows(job: str, ratio: Callable[[str, str], float], jobs: dict[str, Job], known: dict) -> Found:
    found: Found = []
    for name in dict.fromkeys((*jobs, *known)):
        if name != "ours":
            found.append((job, name, ratio(name, "ours") if name in jobs else None))
    return found


def _loop(path: str, loads: Callable[[bytes], object]) -> Answer:
    count, highest = 0, -1
    with open(path, "rb") as lines:
        for line in lines:
            event = loads(line)
            count, highest = count + 1, max(highest, event["seq"])
            assert type(event["type"]) is str
    return count, highest


def _json(path: str) -> Answer:
    from json import loads

    return _loop(path, loads)


def _orjson(path: str) -> Answer:
    from orjson import loads

    return _loop(path, loads)


def _msgspec(path: str) -> Answer:
    import msgspec

    event = msgspec.defstruct("Event", [("seq", int), ("type", str), ("data", msgspec.Raw)])
    decode = msgspec.json.Decoder(event).decode
    count, highest = 0, -1
    with open(path, "rb") as lines:
        for line in lines:
            found = decode(line)
            count, highest = count + 1, max(highest, found.seq)
    return count, highest


def _simdjson(path: str) -> Answer:
    import simdjson

    parser = simdjson.Parser()
    count, highest = 0, -1
    with open(path, "rb") as lines:
        for line in lines:
            event = parser.parse(line)
            count, highest = count + 1, max(highest, event["seq"])
            assert type(event["type"]) is str
            del event
    return count, highest


def _polars(path: str) -> Answer:
    import polars

    schema = {"seq": polars.Int64, "type": polars.String}
    events = polars.scan_ndjson(path, schema=schema)
    asked = events.select(polars.len(), polars.col("seq").max(), polars.col("type").null_count())
    count, highest, nulls = asked.collect().row(0)
    assert nulls == 0
    return count, highest


def _duckdb(threads: int) -> Callable[[str], Answer]:
    def answer(path: str) -> Answer:
        import duckdb

        with duckdb.connect(config={"threads": threads}) as connection:
            query = (
                "select count(type), max(seq) from read_json(?, format='newline_delimited', "
                "columns={seq: 'BIGINT', type: 'VARCHAR'})"
            )
            count, highest = connection.execute(query, [path]).fetchall()[0]
            return count, highest

    return answer


def _jq(path: str) -> Answer:
    program = (
        'reduce inputs as $e ([0,-1]; if ($e.type|type)=="string" '
        'then [.[0]+1, ([.[1],$e.seq]|max)] else error("type") end)'
    )
    done = subprocess.run(["jq", "-nc", program, path], stdout=subprocess.PIPE, check=True)
    count, highest = importlib.import_module("json").loads(done.stdout)
    return count, highest


def _tac_grep(path: str) -> int:
    with subprocess.Popen(["tac", path], stdout=subprocess.PIPE) as tac:
        command = ["grep", "-m1", '^{"seq":[0-9]*,"ts":"[^"]*","type":"checkpoint"']
        done = subprocess.run(command, stdin=tac.stdout, stdout=subprocess.PIPE, check=True)
        tac.kill()
    return importlib.import_module("json").loads(done.stdout)["seq"]


VALIDATORS = {
    "json": ("json", _json),
    "orjson": ("orjson", _orjson),
    "msgspec, data left alone": ("msgspec", _msgspec),
    "pysimdjson": ("simdjson", _simdjson),
    "polars, all cores": ("polars", _polars),
    "duckdb, 1 thread": ("duckdb", _duckdb(1)),
    "duckdb, 2 threads": ("duckdb", _duckdb(2)),
    "jq": ("$jq", _jq),
}
FINDERS = {
    "file_read_backwards": ("file_read_backwards", backward_lines),
    "tac | grep -m1": ("$tac", _tac_grep),
}
