"""Spells words."""

import random

from voice.responder.language.grammar import SlotKind
from voice.responder.language.numbers import spell_number
from voice.responder.language.vocabulary import COMMON_WORDS
from voice.responder.skills.skill import Request, Skill, SkillAnswer

_MARKS = {"'": "apostrophe", "-": "hyphen", ".": "point", "_": "underscore"}


def parse_words(words: str) -> str | None:
    """Up to three words to spell, with numbers in words; None for words such as "that" or "the word"."""
    parts = [spell_number(int(part)) if part.isdigit() and len(part) < 7 else part for part in words.split()]
    text = " ".join(parts)
    return None if text in ("the", "a", "word", "the word", "it", "that", "this", "me") else text


def answer_spell(request: Request) -> SkillAnswer:
    """Says, for example, "Giraffe is spelled G, I, R, A, F, F, E"."""
    words = request.slot("word", str)
    letters = ", ".join(_MARKS.get(char, char.upper()) for char in words if char != " ")
    return SkillAnswer(f"{words[0].upper()}{words[1:]} is spelled {letters}.")


def sample_word(rng: random.Random) -> str:
    """A common word."""
    return rng.choice(COMMON_WORDS)


WORD = SlotKind("word", r"(?:\S+ ){1,3}", parse_words, sample_word)
SKILLS = [
    Skill(
        "spell",
        [
            "spell [the word] <word>",
            "how do (you|i|we) spell [the word] <word>",
            "how (is|to) [the word] <word> spelled",
            "how to spell <word>",
            "what is the spelling of [the word] <word>",
            "how <word> is spelled",
        ],
        answer_spell,
        [WORD],
        distinct=False,
        share=14,
    ),
]
