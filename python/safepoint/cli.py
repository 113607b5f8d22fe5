"""The command `safepoint`: a verb is one call of the library and a way to print what it returns.

Exit codes: 0 clean or empty; 1 findings that can be repaired (`plan`: resume after a repair);
2 findings that cannot, or a refusal; 3 usage; 4 missing or unreadable. Of several paths the worst
counts.
With `--json` each verb prints one JSON object a line, and nothing else on stdout.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

import safepoint

from ._terminal import (
    INTERRUPTED,
    MISSING,
    OK,
    REFUSED,
    REPAIRABLE,
    USAGE,
    Output,
    Progress,
    compact,
    complain,
    counted,
    fitted,
    size,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterable, Sequence
    from typing import Any

    from .types import Finding, Inspection, Repair

_CODES = {
    "clean": OK,
    "empty": OK,
    "repairable": REPAIRABLE,
    "corrupt": REFUSED,
    "not_jsonl": REFUSED,
    "too_new": REFUSED,
    "missing": MISSING,
    "unreadable": MISSING,
}
_FINDINGS_SHOWN = 20
"""`inspect` is a summary; `verify` and `--json` list every finding."""


def bytes_of(path: str) -> int:
    """The size of a file, or of a session's segments; 0 where it cannot be told."""
    try:
        if not os.path.isdir(path):
            return os.stat(path).st_size
        with os.scandir(path) as entries:
            return sum(e.stat().st_size for e in entries if e.name.startswith("events-"))
    except OSError:
        return 0


def place(found: Finding | Repair) -> str:
    """A finding's kind and where it is, in columns that can be copied."""
    segment = "" if found.segment is None else f"segment {found.segment:<4} "
    return f"{found.kind:<13} {segment}offset {found.offset:<13} length {found.length}"


def split_session(folder: str) -> tuple[str, str]:
    """A session folder as the store's path and the session's id."""
    return os.path.split(os.path.abspath(folder))


def _inspect(args: Namespace, out: Output) -> int:
    worst = OK
    for path in args.paths:
        with Progress(path, bytes_of(path)) as progress:
            found = safepoint.inspect_file(path, tick=progress.tick)
        worst = max(worst, _CODES[found.state])
        if out.as_json:
            out.json(found.as_dict())
        else:
            _print_inspection(out, found, path)
    return worst


def _print_inspection(out: Output, found: Inspection, path: str) -> None:
    out.line(f"{path}: {found.state}")
    if found.message:
        out.line(f"  {found.message}")
    if found.state in ("missing", "unreadable"):
        return
    for label, text in _facts(found):
        out.line(f"  {label:<9} {text}")
    for finding in found.findings[:_FINDINGS_SHOWN]:
        out.line(f"  {'note' if finding.information else 'damage':<9} {place(finding)}")
    hidden = len(found.findings[_FINDINGS_SHOWN:]) + found.findings_omitted
    if hidden:
        out.line(f"  and {counted(hidden, 'finding')} more: `safepoint verify` lists them")
    if found.state == "repairable" and found.status is not None:
        out.line(f"  next      safepoint repair {path}")


def _facts(found: Inspection) -> Iterable[tuple[str, str]]:
    """What an inspection says in numbers, as label and text."""
    if found.status is not None:
        yield "status", f"{found.status}, writer {found.writer}"
        yield "size", f"{size(found.bytes)} in {counted(found.segments, 'segment')}"
        yield "records", f"{found.records:,}, last seq {found.last_seq}{_durable(found)}"
    else:
        yield "size", size(found.bytes)
        yield "records", f"{found.records:,}"
    if found.records_behind:
        yield "behind", f"{counted(found.records_behind, 'proven record')} behind the damage"


def _durable(found: Inspection) -> str:
    known = found.durable_seq
    return "" if known is None else f", known durable through {known}"


def _verify(args: Namespace, out: Output) -> int:
    worst = OK
    for path in args.paths:
        with Progress(path, bytes_of(path)) as progress:
            found = safepoint.verify(path, threads=args.threads or None, tick=progress.tick)
        worst = max(worst, _CODES[found.state])
        if out.as_json:
            out.json(found.as_dict())
            continue
        for finding in found.findings:
            out.line(f"{path}: {place(finding)}")
        if found.findings_omitted:
            out.line(f"{path}: {counted(found.findings_omitted, 'finding')} more")
        summary = f"{counted(found.records, 'record')}, {size(found.bytes)}"
        out.line(f"{path}: {found.state}, {found.message or summary}")
    return worst


def _last(args: Namespace, out: Output) -> int:
    path = args.path
    if os.path.isdir(path):
        return _last_events(path, args.count, out)
    objects: list[tuple[int, int, Any]] = []
    for item in safepoint.read_file(path, reverse=True):
        if len(objects) == args.count:
            break
        objects.append(item)
    for offset, length, value in reversed(objects):
        if out.as_json:
            out.json({"offset": offset, "length": length, "object": value})
        else:
            out.line(fitted(f"{offset:>12}  {compact(value)}"))
    if objects or not args.count or not bytes_of(path):
        return OK
    complain(f"{path}: no complete JSON object in it; `safepoint inspect` says what it holds")
    return REFUSED


def _last_events(path: str, count: int, out: Output) -> int:
    store, session = split_session(path)
    with safepoint.open_store(store).open(session) as reader:
        for event in reader.last(count):
            if out.as_json:
                out.json(event.as_dict())
                continue
            key = "" if event.key is None else f"  key={event.key}"
            out.line(
                fitted(f"{event.seq:>8}  {event.ts}  {event.type}{key}  {compact(event.data)}")
            )
    return OK


def _plan(args: Namespace, out: Output) -> int:
    store, session = split_session(args.folder)
    plan = safepoint.open_store(store).plan(session)
    refused = plan.verdict != "resume"
    if out.as_json:
        out.json(plan.as_dict())
    else:
        verdict = f"{plan.verdict} after a repair" if plan.repairs and not refused else plan.verdict
        out.line(f"{args.folder}: {verdict}")
        start = plan.checkpoint_seq
        origin = "the start"
        if start is not None:
            origin = (
                f"checkpoint {start}, as of seq {plan.upto}; what lies before was not looked at"
            )
        out.line(f"  state     from {origin}")
        out.line(f"  last seq  {plan.last_seq}, known durable through {plan.durable_seq}")
        for repair in plan.repairs:
            out.line(f"  repair    {place(repair)}")
        for reason in plan.reasons:
            seq = "" if reason.seq is None else f" (seq {reason.seq})"
            out.line(f"  reason    {reason.code}: {reason.message}{seq}")
    if refused:
        return REFUSED
    return REPAIRABLE if plan.repairs else OK


def _repair(args: Namespace, out: Output) -> int:
    store, session = split_session(args.folder)
    repairs = safepoint.open_store(store).repair(session)
    if out.as_json:
        out.json({"session": session, "repairs": [repair.as_dict() for repair in repairs]})
        return OK
    nothing = "nothing to mend behind the newest checkpoint; safepoint verify looks at the rest"
    out.line(f"{args.folder}: {'mended' if repairs else nothing}")
    for repair in repairs:
        out.line(f"  {place(repair)}")
        if repair.quarantine:
            kept = os.path.join(args.folder, "quarantine", repair.quarantine)
            out.line(f"    cut bytes kept in {kept}")
    return OK


def _ls(args: Namespace, out: Output) -> int:
    if not os.path.isdir(args.store):
        raise NotADirectoryError(20, "no such store", args.store)
    sessions = safepoint.open_store(args.store).list()
    if out.as_json:
        for info in sessions:
            out.json(info.as_dict())
        return OK
    if not sessions:
        out.line(f"no sessions in {args.store}")
    width = max((len(info.id) for info in sessions), default=0)
    for info in sessions:
        title = info.info.get("title", "")
        row = f"{info.id:<{width}}  {info.status:<9}  {size(info.bytes):>9}"
        out.line(f"{row}  {info.updated_at or '-':<27}  {title}".rstrip())
    return OK


def _demo(args: Namespace, out: Output) -> int:
    from .demo import run

    return run(out, megabytes=args.mb, keep=args.keep)


def _count(text: str) -> int:
    count = int(text)
    if count < 0:
        raise ValueError(text)
    return count


_count.__name__ = "count"  # argparse names it in its message


def parser() -> ArgumentParser:
    """The grammar of the command line."""
    from argparse import ArgumentParser

    top = ArgumentParser(
        prog="safepoint",
        description="Keep, check and bring back the session logs of AI agents.",
        epilog="Exit codes: 0 clean, 1 can be repaired, 2 cannot or refused, 3 usage, 4 missing.",
    )
    top.add_argument("--version", action="store_true", help="print the version and the engine")
    verbs = top.add_subparsers(dest="verb", metavar="VERB")

    def verb(name: str, run: Any, help: str) -> ArgumentParser:
        added = verbs.add_parser(name, help=help, description=help)
        added.set_defaults(run=run)
        added.add_argument("--json", action="store_true", help="one JSON object a line")
        return added

    added = verb("demo", _demo, "write a session, kill its writer, bring it back, prove it whole")
    added.add_argument("--mb", type=_count, default=512, help="size of the session (512)")
    added.add_argument("--keep", metavar="DIR", help="work in DIR and leave the files there")
    added = verb("inspect", _inspect, "say what a log, segment or session holds; changes nothing")
    added.add_argument("paths", nargs="+", metavar="PATH")
    added = verb("verify", _verify, "read all of it and list every finding, one a line")
    added.add_argument("paths", nargs="+", metavar="PATH")
    added.add_argument("--threads", type=_count, help="at most so many scanning threads")
    added = verb("last", _last, "print the newest events or objects, oldest first")
    added.add_argument("path", metavar="PATH")
    added.add_argument("-n", dest="count", type=_count, default=10, help="how many (10)")
    added = verb("plan", _plan, "say what a resume would do; changes nothing")
    added.add_argument("folder", metavar="SESSION_FOLDER")
    added = verb("repair", _repair, "mend what a crash left; cut bytes are kept in quarantine/")
    added.add_argument("folder", metavar="SESSION_FOLDER")
    added = verb("ls", _ls, "list the sessions of a store")
    added.add_argument("store", metavar="STORE")
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    grammar = parser()
    try:
        args = grammar.parse_args(argv)
    except SystemExit as stop:
        return USAGE if stop.code else OK
    if args.version:
        print(f"safepoint {safepoint.__version__} ({safepoint.engine()} engine)")
        return OK
    if args.verb is None:
        grammar.print_usage(sys.stderr)
        return USAGE
    return _run(args)


def _run(args: Namespace) -> int:
    out = Output(sys.stdout, as_json=args.json)
    try:
        code = args.run(args, out)
        out.flush()
    except KeyboardInterrupt:
        complain("interrupted")
        code = INTERRUPTED
    except (safepoint.SafepointError, OSError) as error:
        code = _code_of(error)
        if out.as_json:
            out.json({"error": type(error).__name__, "message": _message(error)})
        complain(_message(error))
    with suppress(OSError):
        out.flush()
    return code


def _code_of(error: Exception) -> int:
    missing = (safepoint.SessionNotFoundError, safepoint.StorageError, OSError)
    if isinstance(error, missing):
        return MISSING
    return USAGE if isinstance(error, safepoint.InvalidIdError) else REFUSED


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{os.fsdecode(error.filename)}: {error.strerror}"
    return str(error)
