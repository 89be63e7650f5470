"""Whether the introduction of an answer ("Sure,") is spoken before the rest of its first clause is known. Pure.

It is if the rest will be there before the introduction and the voice's own pause after it have been spoken.
"""

import re
from collections.abc import Callable, Mapping

from voice.language import Language

INTRODUCTIONS: Mapping[Language, tuple[str, ...]] = {
    "en": (
        "Sure,", "Okay,", "Ok,", "OK,", "Yes,", "No,", "Sorry,", "I'm sorry,", "Great,", "Of course,", "Well,",
        "Certainly,", "Absolutely,", "Definitely,", "Alright,", "All right,", "Right,", "Unfortunately,", "Actually,",
        "No problem,", "No worries,", "Thank you,", "Thanks,", "You're welcome,", "Sure thing,", "Got it,", "Perfect,",
        "Awesome,", "Understood,", "Hello,", "Hi,", "For example,", "In general,", "I see,", "I apologize,",
    ),
    "de": (
        "Ja,", "Nein,", "Gerne,", "Gern,", "Klar,", "Natürlich,", "Okay,", "Gut,", "Also,", "Leider,",
        "Entschuldigung,", "Tut mir leid,", "Kein Problem,", "Selbstverständlich,", "Alles klar,", "Hallo,", "Danke,",
        "Genau,",
    ),
}  # fmt: skip
"""The beginnings of an answer that may be spoken so. None of them begins a list, a name, an address or a number."""
LONGEST_REST = 26
"""Tokens from an introduction to the end of its clause: no more are needed by 98 in 100 of 3,730 written answers that
begin so."""
STALLED = 2.0
"""A request that takes this many times longer for a token than its tier is not expected to catch up."""
_TOKEN = re.compile(r"\w{1,7}|[^\w\s]")

Introduces = Callable[[str], float | None]
"""Seconds of an introduction, by its text; None if it is none."""


def never(_text: str) -> float | None:
    """No text is an introduction."""
    return None


def token_count(text: str) -> int:
    """About as many tokens as models need for the text."""
    return len(_TOKEN.findall(text))


def time_for_rest(lasts: float, *, token: float | None, synthesis: float, own: float | None = None) -> float | None:
    """The seconds in which the rest of the clause must follow its introduction; None if it may come too late.

    Args:
        lasts: seconds of the introduction and the pause after it.
        token: seconds that the tier takes for a token, rather too long; None if that is unknown.
        synthesis: seconds from the rest of the clause to its first sample.
        own: seconds that this request has taken for a token so far; None if that is unknown.
    """
    if token is None or (own is not None and own > STALLED * token):
        return None
    within = lasts - synthesis
    return within if LONGEST_REST * token <= within else None
