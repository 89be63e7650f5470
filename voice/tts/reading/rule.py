"""One way of reading a piece of text aloud."""

import re
from collections.abc import Callable

NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
"""Digits, with thousands separated by commas or not, and decimals."""


class Rule:
    """A piece of text that is said in other words.

    Args:
        pattern: what is written, from the beginning of a word on.
        say: what is said for it.
        inside: it may also begin inside a word.
        ignore_case: letters may be capitals or not.
    """

    def __init__(
        self, pattern: str, say: Callable[["re.Match[str]"], str], *, inside: bool = False, ignore_case: bool = False
    ) -> None:
        boundary = "" if inside else r"(?<![^\W_])(?<!\d[.,])"
        self.expression = re.compile(boundary + pattern, re.IGNORECASE if ignore_case else 0)
        self.say = say
