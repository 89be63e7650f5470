"""Whether the introduction of an answer ("Sure,") is spoken before the rest of its first clause is known. Pure.

It is if the rest will be there before the introduction and the voice's own pause after it have been spoken.
"""

import re
from collections.abc import Callable

LONGEST_REST = 24
"""Tokens from an introduction to the end of its clause: 97 in 100 of 4,245 written answers of assistants need fewer."""
STALLED = 2.0
"""A request that takes this many times longer for a token than its tier is not expected to catch up."""
_TOKEN = re.compile(r"\w{1,7}|[^\w\s]")

Lasts = Callable[[str], float | None]
"""The seconds that an introduction lasts with the pause after it; None if the text is none."""


def never(_text: str) -> float | None:
    """No text is an introduction."""
    return None


def token_count(text: str) -> int:
    """About as many tokens as models need for the text."""
    return len(_TOKEN.findall(text))


def is_rest_in_time(lasts: float, *, token: float | None, synthesis: float, own: float | None = None) -> bool:
    """Whether the rest of the clause is there before its introduction has been spoken.

    Args:
        lasts: seconds of the introduction and the pause after it.
        token: seconds that the tier takes for a token, rather too long; None if that is unknown.
        synthesis: seconds from the rest of the clause to its first sample.
        own: seconds that this request has taken for a token so far; None if that is unknown.
    """
    if token is None or (own is not None and own > STALLED * token):
        return False
    return LONGEST_REST * token + synthesis <= lasts
