"""Every way in which an unsynced tail can come back from a power cut, seen through the public API.

For each state: no refusal, no gap, no wrong record, nothing lost that was durable, and the next
append survives. `SAFEPOINT_CRASH_STATES` sets how many states all stories together go through.
"""

from __future__ import annotations

import os
from itertools import islice

import pytest
import safepoint
from crash_checks import (
    STORIES,
    check_crash,
    check_prefix,
    stale_sources,
    store_on,
)
from safepoint.testing import SimulatedDisk

STATES_FULL = 20_000
"""From here on every size of a tail is looked at."""
PATTERNS_MANY = 10_000
"""Only a tail of about twelve sectors has more."""
STATES = int(
    os.environ.get("SAFEPOINT_CRASH_STATES")
    or (24_000 if safepoint.engine() == "native" else 1_600)
)
STRIDE = 7919
"""A prime: taking every so-many-th of a list, round and round, spreads over all of it."""


@pytest.fixture(params=STORIES)
def story(request):
    """A session that was cut off with an unsynced tail."""
    with SimulatedDisk() as disk:
        story = STORIES[request.param](disk)
        yield story
        story.disk.release()


class Shares:
    """The states that one story goes through: its sizes, its patterns of sectors, and its seeds.

    The story with twelve sectors gets half of all, the others the rest in equal parts. In a full
    run no size is left out.
    """

    def __init__(self, story):
        self.sources = stale_sources(story.disk, story.log)
        states = list(story.disk.tail_states(story.log, stale=self.sources))
        sizes = [loss for loss in states if not next(iter(loss.files.values())).sectors]
        patterns = states[len(sizes) :]
        share = STATES // 2 if len(patterns) > PATTERNS_MANY else STATES // 2 // (len(STORIES) - 1)
        self.sizes = sizes if STATES >= STATES_FULL else spread(sizes, share // 4)
        left = max(share - len(self.sizes), 3)
        self.patterns = spread(patterns, left * 3 // 4)
        self.seeds = range(left - len(self.patterns))


def spread(items, count):
    """`count` of the items, evenly, or all of them."""
    if len(items) % STRIDE == 0:
        items = items[:-1]
    order = (items[index * STRIDE % len(items)] for index in range(len(items)))
    return list(islice(order, max(count, 1)))


def crash(story, loss=None, **options):
    """Checks one state; a failure names it."""
    with story.disk.crash(loss, **options) as after:
        try:
            check_crash(story, after)
        except BaseException as error:
            error.add_note(f"after {loss or options}")
            raise


def test_every_byte_prefix_of_the_tail_recovers(story):
    """A file may end at any byte behind its last sync."""
    for loss in Shares(story).sizes:
        crash(story, loss)


def test_every_pattern_of_lost_sectors_recovers(story):
    """Sectors reach the disk in any order: each may be zero or stale while later ones stand."""
    for loss in Shares(story).patterns:
        crash(story, loss)


def test_any_mixture_of_lost_sectors_and_names_recovers(story):
    """The enumerations use one kind of damage at a time and keep all names; a seed mixes them."""
    shares = Shares(story)
    for seed in shares.seeds:
        crash(story, seed=seed, stale=shares.sources[seed % len(shares.sources)])


def test_a_killed_process_loses_no_record_that_was_written(story):
    """The page cache outlives the process: kill -9 takes nothing that append returned."""
    with story.disk.crash() as after:
        check_prefix(store_on(after), story.written, len(story.written))
    crash(story)


def test_the_suite_goes_through_as_many_states_as_it_says():
    """An accidental sync in a story would leave no states, and the suite would pass for nothing."""
    states = 0
    for tell in STORIES.values():
        with SimulatedDisk() as disk:
            story = tell(disk)
            shares = Shares(story)
            states += len(shares.sizes) + len(shares.patterns) + len(shares.seeds)
            assert story.durable_seq + 1 < len(story.written)
            assert len(shares.sizes) > 600 or STATES < STATES_FULL
            story.disk.release()
    assert states >= STATES * 0.99
    print(f"{states} crash states of an unsynced tail")
