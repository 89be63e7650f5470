"""Who speaks in a benchmark. Speakers that endpointing was fitted to are left out if there are others."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from latency.benchmark.benchmark import Callers
from voice.client.fixtures.fixture import Fixture, FixtureTurn


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
