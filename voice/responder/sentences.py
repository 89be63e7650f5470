"""Sentences that the responder understands, generated from its templates.

They train a recogniser's language model, and distinguish the beginning of a request from other words.
"""

import hashlib
import random
import re
from functools import cache
from pathlib import Path

from voice.language import english
from voice.language.english.number_words import CERTAIN
from voice.language.english.numbers import cardinal
from voice.language.english.transcripts import normalise
from voice.responder.language.candidates import candidates
from voice.responder.matching import compiled_skills, is_whole_request, matches, may_answer_question

SENTENCES_PER_SHARE = 50
"""Number of sentences for a skill whose share is 1."""
_SEED = 20
_IMPERATIVE = re.compile(
    r"(?:set|start|count|convert|spell|repeat|remember|cancel|give|add|multiply|calculate|say|remind|put|remove) "
)
_QUESTION = re.compile(r"(what|where|how|who|when) is ")
_COURTESIES = ("can you", "could you", "please", "can you please", "could you please")
_NUMBERS = re.compile(rf"(?<!\S)(?:(?:{'|'.join(CERTAIN)}|\d+(?:\.\d+)?) )+")


def domain_sentences() -> list[str]:
    """Several thousand sentences as a recogniser writes them: lower case, no punctuation, numbers in words.

    The list is always the same. Frequent requests occur more often, so that word counts give sensible probabilities.
    Every template and every number up to 100 occurs at least once.
    """
    return list(_sentences())


def edition() -> str:
    """A digest of the sentences' source: products of the sentences can be cached until it changes."""
    digest = hashlib.sha256()
    for folder in (Path(__file__).parent, Path(english.__file__).parent):
        for path in sorted(folder.rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def is_beginning(text: str) -> bool:
    """Whether `text`, perhaps a partial transcript, must go on before the responder can understand it.

    False for a whole request, for open text ("say hello") and for an answer to one of the responder's questions ("ten
    minutes"). All numbers count as the same; courtesies and lead-ins are ignored. Takes well below a millisecond once
    `request_beginnings` has run.
    """
    words = normalise(text)
    clean = (candidate.text for candidate in candidates(words) if not candidate.stray)
    if not any(_with_zeros(candidate) in request_beginnings() for candidate in clean):
        return False
    ended = (match.whole or match.skill.may_end(match.slots) for match in matches(words, None))
    return not any(ended) and not is_whole_request(text) and not may_answer_question(text)


@cache
def request_beginnings() -> frozenset[str]:
    """All proper beginnings of the sentences, with 0 for every number; a space follows each word."""
    whole = {_with_zeros(normalise(sentence.removesuffix(" please"))) for sentence in set(_sentences())}
    return frozenset(sentence[: space.start() + 1] for sentence in whole for space in re.finditer(" (?=.)", sentence))


def _with_zeros(words: str) -> str:
    return _NUMBERS.sub("0 ", words)


@cache
def _sentences() -> tuple[str, ...]:
    rng = random.Random(_SEED)
    sentences: list[str] = []
    for skill, templates in compiled_skills():
        if skill.awaited is not None or not skill.share:
            continue
        for index in range(max(round(SENTENCES_PER_SHARE * skill.share), len(templates))):
            # Each template once, then mostly the first ones, which are the most common phrasings.
            choice = index if index < len(templates) else int(rng.expovariate(3 / len(templates)))
            filled = skill.fill(rng) if skill.fill else {}
            sentences.append(spoken(templates[min(choice, len(templates) - 1)].sample(rng, filled), rng))
    return tuple([*sentences, *_every_number(rng)])


def spoken(sentence: str, rng: random.Random) -> str:
    """The sentence, sometimes with a contraction or courtesy, as people speak."""
    if rng.random() < 0.5:
        sentence = _QUESTION.sub(r"\1's ", sentence)
    draw = rng.random()
    if _IMPERATIVE.match(sentence):
        if draw < 0.1:
            return f"{rng.choice(_COURTESIES)} {sentence}"
        return f"{sentence} please" if draw < 0.14 else sentence
    if sentence.startswith(("what", "how", "where")) and draw < 0.05:
        return f"{rng.choice(['hey', 'okay', 'so', 'and', 'hello'])} {sentence}"
    return sentence


def _every_number(rng: random.Random) -> list[str]:
    """Each number up to 100: with another number in sums, and in conversions and timers."""
    sentences = []
    for number in range(1, 101):
        value, other = cardinal(number), cardinal(rng.randint(2, 100))
        said = rng.choice(("plus", "minus", "times", "divided by", "percent of"))
        sentences += [f"what is {value} {said} {other}", f"what is {other} {said} {value}"]
        if number > 1:
            units = rng.choice(("miles to kilometers", "pounds to kilograms", "inches to centimeters"))
            scales = rng.choice(("celsius in fahrenheit", "fahrenheit in celsius"))
            sentences.append(f"set a timer for {value} {rng.choice(('seconds', 'minutes'))}")
            sentences.append(f"convert {value} {units}")
            sentences.append(f"what is {value} degrees {scales}")
    return sentences
