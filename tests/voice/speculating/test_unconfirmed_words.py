"""Callers who pause, go on, change their words and interrupt at random: nothing unconfirmed is ever let out.

Let out means heard, shown as spoken, written into the context or given to a tool. The trials run on the real
strategy, gate, budgeted service and voice; the seed of a failing trial is in its message.
"""

import asyncio
import itertools
import random
from collections.abc import Callable

import pytest

from tests.voice.speculating import turn_rig
from voice.llm.answer import clauses
from voice.tts.piper.voice import Voice
from voice.turns import speculation

TRIALS_A_CALL = 10


@pytest.mark.parametrize("early", [None, 9.0])
@pytest.mark.parametrize("trials", [10, pytest.param(1000, marks=pytest.mark.slow)])
async def test_nothing_unconfirmed_is_let_out(
    embedded: Voice, trials: int, early: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As often as it can be, so that there is something to go wrong.
    monkeypatch.setattr(speculation, "LEAST_APART", 0.0)
    # The rig recognises what an answer answers by its first clause, which repeats all of the user's words.
    monkeypatch.setattr(clauses, "LONGEST_FIRST", 10_000)
    monkeypatch.setattr(speculation, "MOST_A_TURN", 9)
    begun = used = withdrawn = booked = begun_early = 0
    for seed in range(0, trials, TRIALS_A_CALL):
        rng = random.Random(seed)
        async with turn_rig.calling(
            embedded, seed=seed, wait=0.04, tools=True, early=early, reads=readings(seed)
        ) as call:
            call.tempo = 0.25
            turns = 0
            for trial in range(seed, seed + TRIALS_A_CALL):
                turns += await one_trial(call, rng, early=early is not None)
                where = f"trial {trial} (seed {seed})"
                assert not call.ear.breaches, where
                # A confirmed answer may sound before its question is noted in the context.
                await call.until(lambda call=call: set(call.answered) <= {*call.written, turn_rig.TOOL})
                said = set(call.written)
                # An answer to words that are only spelled differently stands.
                assert {booked.rstrip(".") for booked in call.booked} <= said, where
                messages = call.user_messages
                assert not any(b.startswith(a) for a, b in itertools.pairwise(messages)), where
                assert set(messages) <= said, where
            # The last answer must not be cut off by the end of the call.
            await call.until(lambda call=call, turns=turns: len(call.ends) >= turns)
            begun += sum(end.speculated for end in call.ends)
            begun_early += sum(end.early for end in call.ends)
            used += sum(end.confirmed for end in call.ends)
            booked += len(call.booked)
            withdrawn += call.withdrawn
    print(
        f"{trials} trials, seeds 0 to {seed}: {begun} begun ahead, {begun_early} of them early, {used} used, "
        f"{withdrawn} withdrawn, {booked} booked"
    )
    assert begun_early > trials / 10 or early is None
    assert begun > trials / 2
    assert used > trials / 10
    assert withdrawn > trials / 10
    assert booked > 0


def readings(seed: int) -> Callable[[str], float]:
    """Stands in for the model of the language: half of all texts read like an end."""
    return lambda text: random.Random(f"{seed} {text}").choice([-0.3, -2.0])


async def one_trial(call: turn_rig.Call, rng: random.Random, *, early: bool) -> int:
    """A turn in up to four stretches of speech, sometimes over an answer; returns how many turns it made at least."""
    ended = len(call.ends)
    book = f"{turn_rig.BOOK} " if rng.random() < 0.2 else ""
    for stretch in turn_rig.texts(rng, rng.randint(1, 4)):
        text, book = book + stretch, ""
        call.judge.probability, call.judge.wait = rng.choice([0.02, 0.4, 0.7, 0.99]), rng.uniform(0, 0.03)
        await call.speaks()
        await call.audio(rng.choice([0.02, 0.06]))
        lasting = True
        while early and rng.random() < 0.6:
            # The voice fades, and the recogniser says what it has heard so far.
            await call.fades(lasting=lasting)
            await call.eager(rng.choice([text, text, f"mis{text}", f"{text}."]))
            await call.audio(rng.choice([0, 0.02, 0.06, 0.2]))
            lasting = rng.random() >= 0.3
            if not lasting:
                text += f" then {rng.randrange(1000)}"
        while rng.random() < 0.4:
            # A pause that ends before the voice detector reports it.
            await call.hint()
            if rng.random() < 0.8:
                await call.audio(rng.choice([0, 0.02, 0.04]))
                await call.eager(text)
            await call.audio(rng.choice([0, 0.02, 0.06, 0.1]))
            await call.resumes()
            text += f" and {rng.randrange(1000)}"
        await call.hint()
        if rng.random() < 0.8:
            await call.eager(text if rng.random() < 0.7 else f"mis{text}")
        await call.audio(rng.choice([0, 0.04, 0.1]))
        await call.stops()
        await call.audio(rng.choice([0, 0, 0.02, 0.06]))
        await call.final(text)
        await call.audio(rng.choice([0, 0.02, 0.1, 0.3, 0.7, 1.2]))
    await call.audio(rng.choice([0, 0.7, 2.0]))
    async with asyncio.timeout(60):
        while len(call.ends) == ended:
            await call.audio(0.1)
    return 1
