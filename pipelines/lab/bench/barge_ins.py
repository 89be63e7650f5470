"""Speaks recordings into the agent's answers, to measure how fast it falls silent, or that it goes on."""

import random
from collections.abc import Sequence
from dataclasses import replace

from voice.client.fixtures.fixture import Fixture
from voice.client.fixtures.scenario import SendAfter
from voice.errors import FixtureError

EARLIEST, LATEST = 0.6, 2.5
"""Seconds of an answer that are heard before it is interrupted, drawn uniformly between the two."""


def interrupting(fixtures: Sequence[Fixture], *, copies: int, seed: int = 1) -> list[Fixture]:
    """Conversations that begin with a question; every recording, in random order, then interrupts the previous answer.

    Args:
        fixtures: Conversations; their recordings of backchannels, coughs and other sounds, which must not interrupt,
            are played over answers, too.
        copies: The number of conversations made from each fixture, and so how often each recording interrupts.
        seed: Seeds the order and the instants.

    Raises:
        FixtureError: None of the recordings contains speech.
    """
    conversations = []
    for fixture in fixtures:
        turns = [turn for turn in fixture.turns if turn.speech or turn.labels]
        questions = [turn for turn in turns if turn.speech]
        for copy in range(1, copies + 1 if questions else 1):
            chance = random.Random(f"{seed} {fixture.name} {copy}")
            order = chance.sample(turns, len(turns))
            waits = [SendAfter(event="bot_started_speaking", delay=chance.uniform(EARLIEST, LATEST)) for _ in order]
            barge_ins = [replace(turn, send_after=wait) for turn, wait in zip(order, waits, strict=True)]
            asks = replace(chance.choice(questions), send_after=None)
            conversations.append(replace(fixture, name=f"{fixture.name}-over-{copy}", turns=(asks, *barge_ins)))
    if not conversations:
        raise FixtureError("The recordings contain no speech to interrupt an answer with.")
    return conversations
