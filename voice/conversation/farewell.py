"""Whether a caller says goodbye. Pure."""

import re

_WORDS = (
    r"good ?bye|bye|bye bye|see you|see you (?:later|soon|tomorrow|around)|talk to you (?:later|soon|tomorrow)|"
    r"speak to you (?:later|soon)|until next time|take care|good night|hang up|"
    r"(?:please )?(?:end|finish) (?:the|this) (?:call|conversation)|"
    r"(?:that is|that's|that will be|that'll be) (?:all|it|everything)(?: (?:for )?(?:now|today))?|"
    r"(?:have a|you have a) (?:nice|good|great|lovely) (?:day|evening|night|weekend|one)|"
    r"i (?:have to|need to|must|should|got to|gotta) go(?: now)?"
)
_AROUND = (
    r"okay|ok|alright|all right|well|so|yes|no|great|perfect|thanks|thank you|thank you very much|thank you so much|"
    r"thanks a lot|many thanks|then|now|for now|you too|and|very much|please|everybody|everyone"
)
_FAREWELL = re.compile(rf"(?:(?:{_AROUND}) )*(?:{_WORDS})(?: (?:{_WORDS}|{_AROUND}))*")
MOST_WORDS = 12
"""A longer text is no mere farewell."""


def is_farewell(text: str) -> bool:
    """Whether `text` is a farewell and nothing else: "okay, thanks, bye", but not "say goodbye to her"."""
    words = re.sub(r"[^\w\s']", " ", text.lower().replace("’", "'")).split()
    return 0 < len(words) <= MOST_WORDS and _FAREWELL.fullmatch(" ".join(words)) is not None
