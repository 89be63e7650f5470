"""Spells words."""

from voice.language.english.numbers import cardinal
from voice.responder.language.grammar import SlotKind
from voice.responder.skills.skill import Request, SkillAnswer, Skills

WORDS = (
    "necessary", "giraffe", "accommodate", "rhythm", "separate", "definitely", "receive", "believe", "weird",
    "beautiful", "because", "tomorrow", "restaurant", "calendar", "library", "february", "wednesday", "knowledge",
    "island", "neighbor", "science", "business", "environment", "government", "yacht", "elephant", "banana", "goodbye",
)  # fmt: skip
"""Words that people ask to spell, for generated sentences."""
SKILLS = Skills()
_MARKS = {"'": "apostrophe", "-": "hyphen", ".": "point", "_": "underscore"}


def parse_words(words: str) -> str | None:
    """Up to three words to spell, with numbers in words; None for words such as "that" or "the word"."""
    parts = [cardinal(int(part)) if part.isdigit() and len(part) < 7 else part for part in words.split()]
    text = " ".join(parts)
    return None if text in ("the", "a", "word", "the word", "it", "that", "this", "me") else text


WORD = SlotKind("word", r"(?:\S+ ){1,3}", parse_words, lambda rng: rng.choice(WORDS))


@SKILLS.to(
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
