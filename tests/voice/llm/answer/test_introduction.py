"""An introduction is spoken alone only if the rest will be there in time, and only at the beginning of an answer."""

import random
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from pipecat.frames.frames import Frame, UserStartedSpeakingFrame, UserStoppedSpeakingFrame
from pipecat.tests.utils import SleepFrame

from tests.voice.llm.answer import budgeted_rig as rig
from voice.frames import AnswerTextFrame
from voice.llm.answer.clauses import ClauseSplitter
from voice.llm.answer.introduction import INTRODUCTIONS, LONGEST_REST, time_for_rest, token_count
from voice.llm.answer.spoken_service import SpeechRules
from voice.llm.answer.streamed_text import StreamedText
from voice.llm.policy.situation import NewRequest, RequestState
from voice.llm.policy.tier_statistics import ENOUGH_TO_FORESEE, TierStatistics

KNOWN = frozenset(INTRODUCTIONS["en"])
RESTS = (3, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 9, 10, 10, 11, 11, 12, 13, 14, 15, 16, 17, 18, 19, 21, 23, 26, 29)
"""Tokens after an introduction, as distributed in written answers of assistants."""


def pieces(*chunks: str, begun: bool = False) -> list[str]:
    splitter = ClauseSplitter(begun=begun, goes_alone=KNOWN.__contains__)
    found = [piece for chunk in chunks for piece in splitter.feed(chunk)]
    return [*found, rest] if (rest := splitter.flush()) else found


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Sure, I can help you with that.", ["Sure,", "I can help you with that."]),
        ("Of course, what time would you like?", ["Of course,", "what time would you like?"]),
        ("Well, sure, I can do that.", ["Well,", "sure, I can do that."]),
        ("Yes, the shop is open, and you can come.", ["Yes,", "the shop is open,", "and you can come."]),
        ("Smith, John is on the list.", ["Smith, John is on the list."]),
        ("“Sure, yes,” he said.", ["“Sure, yes,” he said."]),
        ("Apples, pears, and plums.", ["Apples, pears, and plums."]),
        ("1,000 people, or so.", ["1,000 people, or so."]),
        ("Sure thing.", ["Sure thing."]),
    ],
)
def test_only_a_known_introduction_at_the_beginning_is_a_piece_of_its_own(answer: str, expected: list[str]) -> None:
    assert pieces(answer) == expected
    assert pieces(*answer) == expected


def test_a_continued_answer_has_no_introduction() -> None:
    assert pieces("Sure, I can do that.", begun=True) == ["Sure, I can do that."]


@pytest.mark.parametrize("language", ["en", "de"])
def test_an_introduction_is_short_and_ends_with_its_comma(language: str) -> None:
    for text in INTRODUCTIONS[language]:  # type: ignore[index]
        assert text.endswith(",")
        assert len(text.split()) <= 3
        assert text.removesuffix(",").replace(" ", "").replace("'", "").isalpha()


@pytest.mark.parametrize(
    ("token", "lasts", "own", "in_time"),
    [
        (1 / 150, 0.45, None, True),
        (1 / 65, 0.5, None, True),
        (1 / 65, 0.4, None, False),
        (1 / 28, 0.5, None, False),
        (1 / 28, 1.2, None, True),
        (None, 1.2, None, False),
        (1 / 65, 0.5, 2.5 / 65, False),
        (1 / 65, 0.5, 1.5 / 65, True),
    ],
)
def test_the_rest_must_be_there_before_the_introduction_is_over(
    token: float | None, lasts: float, own: float | None, in_time: bool
) -> None:
    assert (time_for_rest(lasts, token=token, synthesis=0.06, own=own) is not None) is in_time


def test_the_record_says_how_long_the_introduction_lasts_and_when_the_rest_came() -> None:
    state = RequestState.of(NewRequest(tier="large"), number=0, request=10.0)
    asked: list[tuple[str, float | None]] = []

    def introduces(text: str) -> float | None:
        asked.append((text, state.token))
        return 0.5

    streamed = StreamedText(state, introduces=introduces)
    for at, text in ((10.4, "Sure"), (10.42, ","), (10.5, " I can help"), (10.55, " you. Now"), (10.6, " what?")):
        streamed.feed(text, at)
    streamed.end(10.7)
    assert asked == [("Sure,", pytest.approx(0.02))]
    assert (state.first_token, state.first_clause, state.introduction) == (10.4, 10.42, 0.5)
    assert (state.continued, state.clauses) == (10.55, 3)


def test_a_refused_introduction_waits_for_its_clause() -> None:
    state = RequestState.of(NewRequest(tier="large"), number=0, request=10.0)
    streamed = StreamedText(state)
    streamed.feed("Sure,", 10.4)
    streamed.feed(" I can help you. Now", 10.5)
    assert (state.first_clause, state.introduction, state.continued) == (10.5, None, None)


def test_a_tier_is_expected_to_write_as_slowly_as_it_sometimes_does() -> None:
    book = TierStatistics({"large": 1.0})
    for number in range(ENOUGH_TO_FORESEE - 1):
        book.observe_token("large", 0.01 + 0.001 * number)
    assert book.token("large") is None
    book.observe_token("large", 0.05)
    assert book.token("large") == 0.05


def dry(rate: float, lasts: Sequence[float], *, seed: int) -> tuple[int, int]:
    """How many introductions are spoken alone, and how many of them run dry, as the rate varies between requests."""
    rng = random.Random(seed)
    book, alone, late = TierStatistics({"large": 1.0}), 0, 0
    for _ in range(2000):
        own = rate * rng.lognormvariate(0, 0.2)
        gaps: deque[float] = deque(rng.gammavariate(4, 1 / (4 * own)) for _ in range(rng.choice(RESTS) + 3))
        spoken = rng.choice(lasts)
        if time_for_rest(spoken, token=book.token("large"), synthesis=0.06, own=gaps[0]) is not None:
            alone += 1
            late += sum(gaps) - sum(list(gaps)[-2:]) + 0.04 * rng.lognormvariate(0, 0.4) > spoken
        book.observe_token("large", sum(gaps) / len(gaps))
    return alone, late


@pytest.mark.parametrize("rate", [28, 45, 65, 100, 150])
def test_hardly_any_introduction_runs_dry_as_the_rate_varies(rate: float) -> None:
    # The introductions of en_US-joe-medium with its own pause after them.
    alone, late = dry(rate, (0.42, 0.46, 0.5, 0.55, 0.57, 0.7, 0.85), seed=rate)
    assert late <= 0.01 * alone
    assert rate < 65 or alone > 0


def test_tokens_are_counted_as_models_need_them() -> None:
    assert token_count("Sure, I can help.") == 6
    assert token_count("I can help you with that, what time would you like to come?") < LONGEST_REST


def introducing(
    *, token: float | None, synthesis: float | None = 0.1, **options: Any
) -> tuple[rig.Server, Callable[[], rig.Call]]:
    server = rig.Server("Sure, I can help you with that. Goodbye.", **options)
    rules = SpeechRules(introduction={"Sure,": 0.6}.get)

    def call() -> rig.Call:
        made = rig.make_call("single", server, budget=rig.PATIENT, rules=rules)
        made.service._synthesis_p95 = lambda: synthesis
        for _ in range(ENOUGH_TO_FORESEE):
            if token is not None:
                made.book.observe_token("large", token)
        return made

    return server, call


def clauses(frames: Sequence[Frame]) -> list[str]:
    return [clause for frame in frames if isinstance(frame, AnswerTextFrame) for clause in frame.clauses]


async def test_a_call_speaks_an_introduction_before_the_rest_of_its_clause() -> None:
    server, make = introducing(token=0.01, gap=0.05)
    async with rig.serving(server):
        call = make()
        down = await call.run([rig.ask()])
    assert clauses(down) == ["Sure,", "I can help you with that.", "Goodbye."]
    assert rig.said(down) == server.text
    (record,) = call.records[0].attempts
    assert record.introduction == pytest.approx(0.5)
    assert record.sooner is not None
    assert not record.ran_dry


@pytest.mark.parametrize(("token", "synthesis"), [(None, 0.1), (0.05, 0.1), (0.01, None), (0.01, 0.5)])
async def test_what_is_slow_or_unknown_waits_for_the_clause(token: float | None, synthesis: float | None) -> None:
    server, make = introducing(token=token, synthesis=synthesis)
    async with rig.serving(server):
        call = make()
        down = await call.run([rig.ask()])
    assert clauses(down) == ["Sure, I can help you with that.", "Goodbye."]
    assert call.records[0].attempts[0].introduction is None


async def test_an_answer_that_is_held_back_has_no_introduction() -> None:
    server, make = introducing(token=0.01)
    async with rig.serving(server):
        call = make()
        down = await call.run(
            [
                UserStartedSpeakingFrame(), rig.ask(speculation=True), lambda: server.answered,
                SleepFrame(sleep=0.6), UserStoppedSpeakingFrame(), lambda: call.records,
            ]
        )  # fmt: skip
    assert clauses(down) == ["Sure, I can help you with that.", "Goodbye."]
