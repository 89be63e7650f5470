"""Recordings spoken into the agent's answers, to measure how fast it falls silent."""

import random
from collections.abc import Sequence
from dataclasses import replace

from voice.client.fixtures.fixture import Fixture
from voice.client.fixtures.scenario import SendAfter
from voice.errors import FixtureError

EARLIEST, LATEST = 0.6, 2.5
"""Seconds of an answer that are heard before it is interrupted; all between are equally likely."""


def interrupting(fixtures: Sequence[Fixture], *, copies: int, seed: int = 1) -> list[Fixture]:
    """Conversations in which a recording asks and then each one, in any order, interrupts the answer to the last.

    Args:
        fixtures: Recordings of speech; all else in them is left out.
        copies: How many conversations of each fixture: as often each recording interrupts.
        seed: Of the order and the instants.

    Raises:
        FixtureError: There is no speech in any of the recordings.
    """
    conversations = []
    for fixture in fixtures:
        turns = [turn for turn in fixture.turns if turn.speech]
        for copy in range(1, copies + 1 if turns else 1):
            chance = random.Random(f"{seed} {fixture.name} {copy}")
            order = chance.sample(turns, len(turns))
            waits = [SendAfter(event="bot_started_speaking", delay=chance.uniform(EARLIEST, LATEST)) for _ in order]
            barge_ins = [replace(turn, send_after=wait) for turn, wait in zip(order, waits, strict=True)]
            asks = replace(chance.choice(turns), send_after=None)
            conversations.append(replace(fixture, name=f"{fixture.name}-over-{copy}", turns=(asks, *barge_ins)))
    if not conversations:
        raise FixtureError("There is no speech in the recordings with which answers could be interrupted.")
    return conversations
