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
    """Whether `text`, perhaps a partial transcript, must go on before the responder can understand it.

    False for a whole request, for open text ("say hello") and for an answer to one of the responder's questions ("ten
    minutes"). All numbers count as the same; courtesies and lead-ins are ignored. Takes well below a millisecond once
    `beginnings` has run.
    """
    words = normalise(text)
    clean = (reading.text for reading in readings(words) if not reading.stray)
    if not any(_with_zeros(reading) in beginnings() for reading in clean):
        return False
    ended = (match.whole or match.skill.may_end(match.slots) for match in grammar().matches(words, None))
    return not any(ended) and not parses(text) and not answers_question(text)


@cache
def beginnings() -> frozenset[str]:
    """All proper beginnings of the generated sentences, with 0 for every number; a space follows each word."""
    whole = {_with_zeros(normalise(sentence.removesuffix(" please"))) for sentence in set(domain_sentences())}
    return frozenset(sentence[: space.start() + 1] for sentence in whole for space in re.finditer(" (?=.)", sentence))


def _with_zeros(words: str) -> str:
    return _NUMBERS.sub("0 ", words)
