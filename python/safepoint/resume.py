"""The resume policy, pure: facts in, verdict and reasons out. It reads and writes nothing."""

from __future__ import annotations

from .mend import planned_repairs
from .recovery import Facts
from .types import Reason, ResumePlan


def plan(facts: Facts) -> ResumePlan:
    """What resume would do with a session of which these facts are known. It fails closed."""
    reasons = [reason for check in _CHECKS for reason in check(facts)]
    refused = bool(reasons)
    checkpoint = facts.checkpoint
    return ResumePlan(
        "refuse" if refused else "resume",
        reasons,
        [] if facts.state == "corrupt" else planned_repairs(facts),
        checkpoint_seq=checkpoint.seq if checkpoint else None,
        upto=checkpoint.upto if checkpoint else -1,
        last_seq=facts.end.seq - 1,
        durable_seq=facts.watermark - 1,
        finding=facts.damage if facts.state == "corrupt" else None,
    )


def _check_begun(facts: Facts) -> list[Reason]:
    if facts.state != "empty":
        return []
    return [Reason("empty", "no session was begun here: create() one")]


def _check_corrupt(facts: Facts) -> list[Reason]:
    found = facts.damage
    if facts.state != "corrupt" or found is None:
        return []
    where = f"segment {found.segment}, offset {found.offset}"
    message = (
        f"{found.kind} at {where}, among records that were durable: nothing is cut unasked; "
        "restore that file from a copy"
    )
    return [Reason("corrupt", message, found.seq)]


def _check_writer(facts: Facts) -> list[Reason]:
    if facts.writer != "live":
        return []
    return [Reason("busy", "another process writes this session: close it there first")]


def _check_finished(facts: Facts) -> list[Reason]:
    if facts.state in ("empty", "corrupt") or facts.status == "active":
        return []
    message = f"the session ended as {facts.status}: create a new one, or read it with store.open()"
    return [Reason("finished", message, facts.end.seq - 1)]


_CHECKS = (_check_begun, _check_corrupt, _check_writer, _check_finished)
