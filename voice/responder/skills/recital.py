"""Counts, spells, and repeats."""

import random
from fractions import Fraction

from voice.language.english.numbers import cardinal
from voice.language.english.phrasing import sentence
from voice.responder.language.grammar import SlotKind
from voice.responder.language.numbers import NUMBER
from voice.responder.skills.skill import Request, SkillAnswer, Skills, always

LONGEST_COUNT = 100
_SENTENCES = (
    "the sky is blue", "the quick brown fox jumps over the lazy dog", "she sells sea shells by the sea shore",
    "the weather is nice today", "this is a test", "hello world", "practice makes perfect", "time flies like an arrow",
)  # fmt: skip
_WORDS = (
    "necessary", "giraffe", "accommodate", "rhythm", "separate", "definitely", "receive", "believe", "weird",
    "beautiful", "because", "tomorrow", "restaurant", "calendar", "library", "february", "wednesday", "knowledge",
    "island", "neighbor", "science", "business", "environment", "government", "yacht", "elephant", "banana", "goodbye",
)  # fmt: skip
"""Words that people ask to spell, for generated sentences."""
_MARKS = {"'": "apostrophe", "-": "hyphen", ".": "point", "_": "underscore"}


def parse_words(words: str) -> str | None:
    """Up to three words to spell, with numbers in words; None for words such as "that" or "the word"."""
    parts = [cardinal(int(part)) if part.isdigit() and len(part) < 7 else part for part in words.split()]
    text = " ".join(parts)
    return None if text in ("the", "a", "word", "the word", "it", "that", "this", "me") else text


def sample_limit(rng: random.Random) -> str:
    """A number to count to."""
    return cardinal(rng.choice((3, 5, 5, 7, 8, 10, 10, 10, 12, 15, 20, 20, 25, 30, 50, 100)))


LIMIT = SlotKind("limit", NUMBER.pattern, NUMBER.parse, sample_limit)
TEXT = SlotKind("text", r"(?:\S+ ){1,40}", str, lambda rng: rng.choice(_SENTENCES))
WORD = SlotKind("word", r"(?:\S+ ){1,3}", parse_words, lambda rng: rng.choice(_WORDS))
SKILLS = Skills()


@SKILLS.on("count", "[start] (count|counting) [up] to <last:limit>", kinds=[LIMIT], share=3)
@SKILLS.on(
    "count",
    "count [down|backwards|back] from <first:limit> to <last:limit>",
    "count (down|backwards|back) from <first:limit>",
    kinds=[LIMIT],
)
def count(request: Request) -> SkillAnswer | None:
    """Counts from a number, or 1, up or down to another, or 1; None for fractions."""
    one = Fraction(1)
    first, last = request.get("first", Fraction) or one, request.get("last", Fraction) or one
    if first.denominator > 1 or last.denominator > 1:
        return None
    step = 1 if last >= first else -1
    numbers = range(int(first), int(last) + step, step)
    if len(numbers) > LONGEST_COUNT:
        return SkillAnswer(f"I count {LONGEST_COUNT} numbers at most.")
    return SkillAnswer(", ".join(map(str, numbers)) + ".")


@SKILLS.on(
    "again",
    "(say|repeat) that [again|once more]",
    "what did you [just] say",
    "repeat it",
    "say (it|this) again",
    "what was that [again]",
    "(come again|pardon|pardon me|say again|once more|one more time|repeat)",
    "i (did not|didn't|couldn't) (hear|understand|catch|get) (you|that|it)",
    share=2.5,
)
def say_again(request: Request) -> SkillAnswer:
    """Repeats the last answer."""
    return SkillAnswer(request.state.last_answer or "I have not said anything yet.")


@SKILLS.on(
    "repeat",
    "(repeat|say) after me <text>",
    "say (the words|the sentence) <text>",
    "say <text>",
    kinds=[TEXT],
    whole=False,
    may_end=always,
    distinct=False,
    share=4,
)
def repeat(request: Request) -> SkillAnswer:
    """Repeats the user's sentence."""
    return SkillAnswer(sentence(request.slot("text", str)))


@SKILLS.on(
    "spell",
    "spell [the word] <word>",
    "how do (you|i|we) spell [the word] <word>",
    "how is [the word] <word> spelled",
    kinds=[WORD],
    distinct=False,
    share=3,
)
def spell(request: Request) -> SkillAnswer:
    """Says, for example, "Giraffe is spelled G, I, R, A, F, F, E"."""
    words = request.slot("word", str)
    letters = ", ".join(_MARKS.get(char, char.upper()) for char in words if char != " ")
    return SkillAnswer(f"{words[0].upper()}{words[1:]} is spelled {letters}.")
