"""Judges the difficulty of a turn from its words alone, in well under a millisecond. Pure.

In this order: a word about health, money or law makes any turn careful; a short reply inherits the class of the agent's
question; an utterance that matches a harmless kind as a whole is easy; an order to act, several steps or numbers make
the rest careful; all others are open. Taking an easy turn for a careful one costs time, and the reverse costs
correctness, so no single word makes a turn easy. The patterns are in `checkable.toml` and `careful.toml`, English only.
"""

import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import cast

from voice.llm.routing import action_requests
from voice.llm.routing.difficulty import Assessment, Difficulty
from voice.llm.routing.plain_words import plain

LONGEST_REPLY = 6
"""The most words of a reply that merely answers the agent's question."""
LONGEST_CHECKABLE = 16
"""The most words of an easy utterance."""
_LEAD = re.compile(
    r"(?:(?:um+|uh+|er+|erm|ah|oh|well|so|and|hey|hi|hello|okay|ok|alright|right|now|just|like|please|quick one"
    r"|(?:could|can|would|will) you(?: please)?|i(?:'d| would) like you to|i want you to|do me a favou?r and) )+(?=\w)"
)
_TAIL = re.compile(
    r"(?: (?:please|thanks|thank you|will you|would you|for me|then|now|right now|um+|uh+|man|dude|buddy))+$"
)
_OPENS_QUESTION = re.compile(r"(?:what|why|how|who|where|when|which|is|are|do|does|can|could|tell|explain|but)\b")
_NUMBER = (
    r"(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|(?:twen|thir|for|fif|six|seven|"
    r"eigh|nine)ty|hundred|thousand|million|half|quarter|third|dozen)"
)
_DOMAINS: tuple[Difficulty, ...] = ("health", "money", "law")
_TASKS: tuple[Difficulty, ...] = ("steps", "numbers")
Pattern = tuple[Difficulty, re.Pattern[str]]


def assess(text: str, *, asked: str | None = None, irreversible: Iterable[str] = ()) -> Assessment:
    """The difficulty of answering `text`.

    Args:
        text: the caller's words, in any recogniser's spelling.
        asked: the agent's preceding words; None at the beginning of a call.
        irreversible: names of the tools whose effects cannot be undone.
    """
    words = plain(text)
    harmless = careful_words().harmless.sub(" ", words)
    tools = tuple(irreversible)
    if found := _of_domain(harmless):
        return found
    if tool := action_requests.named(words, tools):
        return Assessment("tool", tool)
    if asked is not None and len(words.split()) <= LONGEST_REPLY and (found := _answered(words, asked, tools)):
        return found
    return _checkable(words) or _task(harmless) or Assessment("open")


def _of_domain(words: str) -> Assessment | None:
    for difficulty, pattern in careful_words().domains:
        if found := pattern.search(words):
            return Assessment(difficulty, found.group())
    return None


def _answered(words: str, asked: str, tools: Sequence[str]) -> Assessment | None:
    """The difficulty of a short reply, which is that of the question; None if the reply itself asks something."""
    if "?" not in asked or _OPENS_QUESTION.match(words):
        return None
    question = plain(asked)
    about = _of_domain(careful_words().harmless.sub(" ", question))
    if about:
        return Assessment(about.difficulty, about.evidence, asked=True)
    verb = action_requests.named(question, tools) or action_requests.offered(asked)
    return Assessment("tool", verb, asked=True) if verb else Assessment("reply", words, asked=True)


def _checkable(words: str) -> Assessment | None:
    if not words or len(words.split()) > LONGEST_CHECKABLE:
        return None
    bare = _TAIL.sub("", words)
    # With and without the courtesies around it: "okay" is a reply, "okay, what time is it" is not.
    tried = dict.fromkeys((words, bare, _LEAD.sub("", words, count=1), _LEAD.sub("", bare, count=1)))
    for difficulty, pattern in checkable_utterances():
        if any(pattern.fullmatch(one) for one in tried):
            return Assessment(difficulty, words)
    return None


def _task(words: str) -> Assessment | None:
    (steps, of_steps), (numbers, of_numbers) = careful_words().tasks
    if found := of_steps.search(words):
        return Assessment(steps, found.group())
    if verb := action_requests.requested(words):
        return Assessment("tool", verb)
    if found := of_numbers.search(words):
        return Assessment(numbers, found.group())
    return None


@dataclass(frozen=True, slots=True)
class CarefulWords:
    """The patterns of `careful.toml`, compiled.

    Parameters:
        domains: subjects in which every word counts, those that may hurt somebody first.
        tasks: tasks in which a mistake goes unnoticed; not applied to small commands.
        harmless: harmless sayings with serious words.
    """

    domains: tuple[Pattern, ...]
    tasks: tuple[Pattern, ...]
    harmless: re.Pattern[str]


@cache
def careful_words() -> CarefulWords:
    """The patterns of careful words; read and compiled once."""
    table = _table("careful.toml")

    def compiled(name: str) -> re.Pattern[str]:
        joined = "|".join(table[name]).replace("NUMBER", _NUMBER)
        return re.compile(rf"(?<![\w'])(?:{joined})(?![\w'])")

    domains, tasks = (tuple((name, compiled(name)) for name in names) for names in (_DOMAINS, _TASKS))
    return CarefulWords(domains, tasks, compiled("harmless"))


@cache
def checkable_utterances() -> tuple[Pattern, ...]:
    """The patterns for each kind of whole utterance, in the order of trial."""
    kinds = _table("checkable.toml").items()
    return tuple((cast(Difficulty, kind), re.compile("|".join(f"(?:{one})" for one in ones))) for kind, ones in kinds)


def _table(name: str) -> dict[str, list[str]]:
    return tomllib.loads(resources.files("voice.llm.routing").joinpath(name).read_text(encoding="utf-8"))
