"""Judges whether an answer was right and the user was understood; compares words, never sounds.

Both sides are normalised first: case is folded; number words from zero to one hundred become digits; "%" becomes
"percent"; apostrophes, and commas between digits, are dropped; decimal points are kept; all other punctuation becomes
space.
"""

import re
from collections.abc import Iterable, Sequence

from latency.record.turn import TurnRecord

NORMALISER = "without case and punctuation, number words to 100 as digits"

_UNIT = "one|two|three|four|five|six|seven|eight|nine"
_TEEN = "ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_SMALL = f"zero|{_UNIT}|{_TEEN}"
_VALUES = {word: value for value, word in enumerate(_SMALL.split("|"))} | {
    word: value for value, word in zip(range(20, 100, 10), _TENS.split("|"), strict=True)
}
_NUMBER = re.compile(rf"\b(?:((?:one|a) hundred)|({_TENS})(?:[ -]+({_UNIT}))?|({_SMALL}))\b")


def normalised(text: str) -> str:
    """The words of a text, single-spaced, in the form for comparison."""
    text = _NUMBER.sub(_as_digits, " ".join(text.casefold().replace("%", " percent ").split()))
    text = re.sub(r"['’]|(?<=\d),(?=\d{3}\b)", "", text)
    text = re.sub(r"(?!(?<=\d)\.(?=\d))[^\w\s]|_", " ", text)
    return " ".join(text.split())


def holds(said: str, wanted: str) -> bool:
    """Whether the wanted words occur in the speech, adjacent and as whole words."""
    return f" {normalised(wanted)} " in f" {normalised(said)} "


def is_right(said: str, contains: Sequence[str]) -> bool:
    """Whether an answer contains all words of a right one."""
    return all(holds(said, wanted) for wanted in contains)


def word_errors(spoken: str, heard: str) -> tuple[int, int]:
    """The number of words that the recogniser inserted, dropped or mistook, and the number of spoken words."""
    reference, hypothesis = normalised(spoken).split(), normalised(heard).split()
    row = list(range(len(hypothesis) + 1))
    for i, word in enumerate(reference, 1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(hypothesis, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (word != other))
    return row[-1], len(reference)


def word_error_rate(pairs: Iterable[tuple[str, str]]) -> float | None:
    """All errors divided by all spoken words of the turns (spoken, heard); None without a spoken word."""
    counts = [word_errors(spoken, heard) for spoken, heard in pairs]
    words = sum(count[1] for count in counts)
    return sum(count[0] for count in counts) / words if words else None


def _as_digits(match: re.Match[str]) -> str:
    hundred, *rest = match.groups()
    return "100" if hundred else str(sum(_VALUES[word] for word in rest if word))


def judge_answer(turn: TurnRecord) -> bool | None:
    """Whether an answered turn was answered right; None when no right answer, or no transcript of it, is known.

    A user who went on after a pause may have heard several answers. They are judged in order, and the first one
    decides, so a right answer after a wrong one comes too late. An answer that the user interrupted decides nothing if
    its rest would have made it right.
    """
    if not turn.contains:
        return None
    heard = [one for one in turn.server_turns if one.played]
    if not heard:
        # The server does not report the words that were played.
        return None if turn.said is None else is_right(turn.said, turn.contains)
    for one in heard:
        if is_right(one.played or "", turn.contains):
            return True
        if not (one.interrupted and is_right(one.said or "", turn.contains)):
            return False
    return None
