"""The callers of a benchmark: who speaks in the recordings, and recordings that interrupt the agent's answers."""

import random
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from latency.benchmark.benchmark import Callers
from voice.client.fixtures.fixture import Fixture, FixtureTurn
from voice.client.fixtures.scenario import SendAfter
from voice.errors import FixtureError

EARLIEST, LATEST = 0.6, 2.5
"""Seconds of an answer before it is interrupted, drawn uniformly between the two."""


def interrupting(fixtures: Sequence[Fixture], *, copies: int, seed: int = 1) -> list[Fixture]:
    """Conversations that begin with a question; every recording, in random order, then interrupts the previous answer.

    Args:
        fixtures: Conversations; their recordings of backchannels, coughs and other sounds, which must not interrupt,
            are also played over answers.
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


def unfitted(fixtures: Sequence[Fixture], fitted: Collection[str]) -> list[Fixture]:
    """The fixtures without the turns of fitted speakers; all of them if nobody else speaks."""
    kept = [(fixture, tuple(turn for turn in fixture.turns if turn.speaker not in fitted)) for fixture in fixtures]
    if not any(turn.speech for _, turns in kept for turn in turns):
        return list(fixtures)
    return [replace(fixture, turns=turns) for fixture, turns in kept if turns]


def callers(fixtures: Iterable[Fixture], *, fitted: Collection[str], conversations: Collection[str]) -> Callers:
    """Who speaks in these fixtures.

    Args:
        fixtures: What the callers say.
        fitted: The speakers that endpointing was fitted to.
        conversations: Names of the conversations that the turns are from. Each stands for the speaker of its turns
            where nothing says who speaks.
    """
    fixtures = list(fixtures)
    turns = spoken(fixtures)
    speakers = {turn.speaker: turn.synthetic for turn in turns if turn.speaker not in conversations}
    return Callers(
        turns=len(turns),
        speakers=tuple(sorted(speakers)),
        synthetic=sum(speakers.values()),
        fitted=tuple(sorted(speakers.keys() & set(fitted))),
        unnamed=sum(turn.speaker in conversations for turn in turns),
        estimated=sum(turn.truth == "estimated" for turn in turns),
        wordless=sum(not turn.text for turn in turns),
        fitted_turns=tuple(
            (fixture.name, number)
            for fixture in fixtures
            for number, turn in enumerate(fixture.turns)
            if turn.speech and turn.speaker in fitted
        ),
    )


def spoken(fixtures: Iterable[Fixture]) -> list[FixtureTurn]:
    """Their turns with speech."""
    return [turn for fixture in fixtures for turn in fixture.turns if turn.speech]
