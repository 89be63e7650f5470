"""Counts, and repeats what was said."""

import random
from dataclasses import replace
from fractions import Fraction

from voice.responder.language.grammar import SlotKind
from voice.responder.language.numbers import SPOKEN_NUMBER, pair_of_numbers, spell_number
from voice.responder.language.phrasing import sentence
from voice.responder.skills.skill import Request, Skill, SkillAnswer, always

LONGEST_COUNT = 100


def count(first: Fraction, last: Fraction, step: Fraction = Fraction(1)) -> SkillAnswer | None:
    """Counts from one number to another, up or down; None for fractions."""
    if any(number.denominator > 1 for number in (first, last, step)) or step <= 0:
        return None
    sign = 1 if last >= first else -1
    numbers = range(int(first), int(last) + sign, sign * int(step))
    if len(numbers) > LONGEST_COUNT:
        return SkillAnswer(f"I count {LONGEST_COUNT} numbers at most.")
    return SkillAnswer(", ".join(map(str, numbers)) + ".")


def answer_count(request: Request) -> SkillAnswer | None:
    """Counts to a number, in steps if the user asks for them."""
    step = request.get("step", Fraction) or Fraction(1)
    return count(step, request.slot("end", Fraction), step)


def answer_count_range(request: Request) -> SkillAnswer | None:
    """Counts between two numbers."""
    first, last = request.slot("pair", tuple)
    return count(first, last)


def answer_count_down(request: Request) -> SkillAnswer | None:
    """Counts down to 1."""
    return count(request.slot("start", Fraction), Fraction(1))


def answer_repeat(request: Request) -> SkillAnswer:
    """Repeats the user's sentence."""
    return SkillAnswer(sentence(request.slot("text", str)))


def answer_again(request: Request) -> SkillAnswer:
    """Repeats the last answer."""
    return SkillAnswer(request.state.last_answer or "I have not said anything yet.")


def sample_limit(rng: random.Random) -> str:
    """A number to count to."""
    return spell_number(rng.choice([3, 5, 5, 7, 8, 10, 10, 10, 12, 15, 20, 20, 25, 30, 50, 100]))


def sample_text(rng: random.Random) -> str:
    """A sentence for the responder to repeat."""
    return rng.choice(SENTENCES)


SENTENCES = (
    "the sky is blue", "the quick brown fox jumps over the lazy dog", "she sells sea shells by the sea shore",
    "i am a robot", "good morning everybody", "the weather is nice today", "this is a test", "hello world",
    "all is well that ends well", "how much wood would a woodchuck chuck", "red lorry yellow lorry", "i love music",
    "the early bird catches the worm", "practice makes perfect", "time flies like an arrow",
    "we are the champions", "the train leaves at nine", "one small step for man",
    "peter piper picked a peck", "my dog likes to swim",
)  # fmt: skip
COUNT_LIMIT = SlotKind("limit", SPOKEN_NUMBER.pattern, SPOKEN_NUMBER.parse, sample_limit)
STEPS = {"ones": 1, "twos": 2, "threes": 3, "fours": 4, "fives": 5, "tens": 10, "twenties": 20}
STEP = SlotKind(
    "step",
    f"(?:{'|'.join(STEPS)}) ",
    lambda words: Fraction(STEPS[words]),
    lambda rng: rng.choice(["twos", "threes", "fives", "tens"]),
)
RECITED_TEXT = SlotKind("text", r"(?:\S+ ){1,40}", str, sample_text)
RANGE = replace(pair_of_numbers("to"), sample=lambda rng: f"{sample_limit(rng)} to {sample_limit(rng)}")
SKILLS = [
    Skill(
        "count",
        [
            "[start] count [up] to <end:limit>",
            "start counting to <end:limit>",
            "count to <end:limit> by <step>",
            "count by <step> to <end:limit>",
        ],
        answer_count,
        [COUNT_LIMIT, STEP],
        share=3,
    ),
    Skill("count", ["count [down|backwards|back] from <pair:to>"], answer_count_range, [RANGE]),
    Skill(
        "count",
        ["count (down|backwards|back) from <start:limit>", "count from <start:limit> (down|backwards)"],
        answer_count_down,
        [COUNT_LIMIT],
    ),
    Skill(
        "again",
        [
            "(say|repeat) that [again|once more]",
            "what did you [just] say",
            "repeat it",
            "say (it|this) again",
            "what was that [again]",
            "(come again|pardon|pardon me|say again|once more|one more time|repeat)",
            "i (did not|didn't|couldn't) (hear|understand|catch|get) (you|that|it)",
            "(say|repeat) (your|the) last (answer|sentence)",
        ],
        answer_again,
        share=2.5,
    ),
    Skill(
        "repeat",
        ["repeat after me <text>", "say after me <text>", "say (the words|the sentence) <text>", "say <text>"],
        answer_repeat,
        [RECITED_TEXT],
        whole=False,
        may_end=always,
        distinct=False,
        share=4,
    ),
]
