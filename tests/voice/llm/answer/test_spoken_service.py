"""Parts of long answers through a real service over a real client: what is asked, and what becomes of the rest."""

from pipecat.frames.frames import (
    EagerEndOfTurnCancelFrame,
    Frame,
    InterruptionFrame,
    LLMContextFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMTextFrame,
    UserStartedSpeakingFrame,
    UserStoppedSpeakingFrame,
)
from pipecat.processors.aggregators.llm_context import LLMContext

from tests.voice.llm.answer import budgeted_rig as rig
from voice.language.english.phrases import ENGLISH
from voice.language.english.turns import ENGLISH as WORDS
from voice.llm.answer.spoken_service import AnswerPartFrame, PartRules, SpeechRules
from voice.llm.interruption import BROKEN_OFF

PARTS = ["We open at nine. We close at eight.", "We sell many bicycles. We mend them, too."]
ANSWER = " ".join(PARTS)
QUESTION = ENGLISH.go_on


def made(large: rig.Server) -> rig.Call:
    rules = SpeechRules(parts=PartRules(2.5, QUESTION, WORDS))
    return rig.make_call("single", large, budget=rig.PATIENT, rules=rules)


def after(heard: str, text: str, *, speculation: bool = False) -> LLMContextFrame:
    """What the caller says after what was heard of the first answer."""
    messages = [("user", "tell me"), ("assistant", heard), ("user", text)]
    frame = rig.ask(speculation=speculation)
    frame.context = LLMContext([{"role": role, "content": content} for role, content in messages])  # type: ignore[misc]
    return frame


def answers(frames: list[Frame]) -> list[str]:
    """The text of each answer."""
    found: list[str] = []
    for frame in frames:
        if isinstance(frame, LLMFullResponseStartFrame):
            found.append("")
        elif isinstance(frame, LLMTextFrame):
            found[-1] += frame.text
    return [text.strip() for text in found]


def records(frames: list[Frame]) -> list[tuple[int, bool]]:
    return [(frame.part.number, frame.part.asks) for frame in frames if isinstance(frame, AnswerPartFrame)]


async def spoken(*steps: rig.Step, asked: int) -> list[Frame]:
    """What comes of the first answer and of these steps; the model is asked so many times."""
    async with rig.serving(rig.Server(ANSWER)) as large:
        call = made(large)
        first = [UserStartedSpeakingFrame(), rig.ask(), UserStoppedSpeakingFrame(), lambda: call.records]
        down = await call.run([*first, *steps])
        assert len(large.asked) == asked
    return down


async def test_a_yes_is_answered_with_the_rest_and_no_model_is_asked() -> None:
    down = await spoken(InterruptionFrame(), after(f"{PARTS[0]} {QUESTION}", "Yes, go on."), asked=1)
    assert answers(down) == [f"{PARTS[0]} {QUESTION}", PARTS[1]]
    assert records(down) == [(1, True), (2, False)]
    assert len([frame for frame in down if isinstance(frame, LLMFullResponseEndFrame)]) == 2


async def test_a_yes_into_the_question_is_one_too() -> None:
    down = await spoken(InterruptionFrame(), after(f"{PARTS[0]} Shall I{BROKEN_OFF}", "yes"), asked=1)
    assert answers(down)[1] == PARTS[1]


async def test_anything_else_drops_the_rest() -> None:
    down = await spoken(
        after(f"{PARTS[0]} {QUESTION}", "no thanks"), after(f"{PARTS[0]} {QUESTION} No. {QUESTION}", "no"), asked=3
    )
    assert answers(down) == [f"{PARTS[0]} {QUESTION}"] * 3


async def test_a_yes_before_the_question_was_heard_goes_to_the_model() -> None:
    down = await spoken(InterruptionFrame(), after(f"We open at{BROKEN_OFF}", "yes"), asked=2)
    assert answers(down)[1] == f"{PARTS[0]} {QUESTION}"


async def test_a_speculative_rest_that_is_discarded_is_kept() -> None:
    heard = f"{PARTS[0]} {QUESTION}"
    down = await spoken(
        UserStartedSpeakingFrame(), after(heard, "yes", speculation=True), rig.SleepFrame(sleep=0.1),
        EagerEndOfTurnCancelFrame(), rig.SleepFrame(sleep=0.1), after(heard, "yes please", speculation=True),
        rig.SleepFrame(sleep=0.1), UserStoppedSpeakingFrame(), asked=1,
    )  # fmt: skip
    assert answers(down) == [heard, PARTS[1]]


async def test_an_unfinished_rest_is_left_to_the_model() -> None:
    long = f"{ANSWER} {ANSWER}"
    async with rig.serving(rig.Server(long, gap=0.04)) as large:
        call = made(large)
        begin = [UserStartedSpeakingFrame(), rig.ask(), UserStoppedSpeakingFrame()]
        asked = [lambda: call.pushed_of(AnswerPartFrame), InterruptionFrame(), lambda: call.records]
        down = await call.run([*begin, *asked, after(f"{PARTS[0]} {QUESTION}", "yes"), lambda: len(call.records) == 2])
        assert len(large.asked) == 2
    assert answers(down)[0] == f"{PARTS[0]} {QUESTION}"


async def test_without_a_limit_every_answer_is_whole() -> None:
    async with rig.serving(rig.Server(ANSWER)) as large:
        call = rig.make_call("single", large, budget=rig.PATIENT)
        down = await call.run([UserStartedSpeakingFrame(), rig.ask(), UserStoppedSpeakingFrame(), lambda: call.records])
    assert answers(down) == [ANSWER]
