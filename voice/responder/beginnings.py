"""Recognises unfinished requests: text that must go on before the responder can understand it."""

import re
from functools import cache

from voice.responder.language.numbers import CERTAIN
from voice.responder.language.readings import readings
from voice.responder.language.transcript import normalise
from voice.responder.sentences import domain_sentences
from voice.responder.understanding import answers_question, grammar, parses

_NUMBERS = re.compile(rf"(?<!\S)(?:(?:{'|'.join(CERTAIN)}|\d+(?:\.\d+)?) )+")


def is_beginning(text: str) -> bool:
    """Whether `text`, perhaps a partial transcript, must go on to become a sentence that the responder understands.

    What is a request by itself need not, nor open text ("say hello"), nor what one of the responder's questions may be
    answered with ("ten minutes"). Numbers stand for one another; courtesies and lead-ins do not count. Takes well below
    a millisecond once `beginnings` has run.
    """
    words = normalise(text)
    clean = (reading.text for reading in readings(words) if not reading.stray)
    if not any(_levelled(reading) in beginnings() for reading in clean):
        return False
    ended = (match.whole or match.skill.may_end(match.slots) for match in grammar().matches(words, None))
    return not any(ended) and not parses(text) and not answers_question(text)


@cache
def beginnings() -> frozenset[str]:
    """What stands before another word in the sentences: numbers levelled, each word followed by one space."""
    whole = {_levelled(normalise(sentence.removesuffix(" please"))) for sentence in set(domain_sentences())}
    return frozenset(sentence[: space.start() + 1] for sentence in whole for space in re.finditer(" (?=.)", sentence))


def _levelled(words: str) -> str:
    return _NUMBERS.sub("0 ", words)
