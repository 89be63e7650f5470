"""The default turns, used when neither recordings nor a run are named: measured once, kept beside this module.

In a checkout, `python -m tests.benchmarks.typical_turns` writes the turns of runs into the file.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from importlib import resources

from latency.record.json_form import from_json, parse
from pipelines.lab.simulator.conversation import Message
from pipelines.lab.simulator.script import ConversationScript
from pipelines.lab.whatif.caller_turns import CallerTurn
from voice.client.fixtures.fixture import Fixture

FILE = "usual_turns.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class TypicalTurns:
    """Turns that were measured."""

    source: str
    """Their source, in a clause."""
    turns: tuple[CallerTurn, ...]


def usual() -> TypicalTurns:
    """The turns in the file."""
    text = (resources.files("pipelines.lab.whatif") / FILE).read_text(encoding="utf-8")
    return from_json(TypicalTurns, parse(text))


def with_words(turns: Sequence[CallerTurn], fixtures: Sequence[Fixture], *, seed: int) -> tuple[CallerTurn, ...]:
    """Turns with the words of recordings, and the simulator's answers to them.

    The instants that are unknown without playing the recordings (the commit, the request for the answer) are drawn from
    `turns`.
    """
    chance, script, made = random.Random(f"{seed}:words"), ConversationScript(), list[CallerTurn]()
    for fixture in fixtures:
        asked: list[Message] = []
        for turn in fixture.turns:
            if not (turn.speech and turn.wants_answer):
                continue
            asked.append(Message("user", turn.text))
            answer = script.answer(asked, (), now=datetime(2026, 1, 1, 12))
            made.append(
                replace(
                    chance.choice(turns),
                    speech=turn.speech[-1][1] - turn.speech[0][0],
                    question=turn.text,
                    answer=answer.text,
                )
            )
    return tuple(made)


def drawn(turns: Sequence[CallerTurn], count: int, *, seed: int) -> list[CallerTurn]:
    """`count` of the turns, drawn with replacement; the same ones for every model and policy."""
    return random.Random(f"{seed}:turns").choices(turns, k=count)
