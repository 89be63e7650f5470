"""Finds the skill a text asks for. Knows templates and readings; does not know what any skill answers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from voice.responder.language.grammar import Template
from voice.responder.language.readings import Reading, readings
from voice.responder.language.transcript import normalise
from voice.responder.skills import arithmetic, chance, clock, memory, recital, smalltalk, spelling, timers, units
from voice.responder.skills.skill import Skill

# Earlier skills win where two match the same words.
SKILLS: tuple[Skill, ...] = (
    *timers.SKILLS, *clock.SKILLS, *units.SKILLS, *arithmetic.SKILLS, *recital.SKILLS, *chance.SKILLS,
    *smalltalk.SKILLS, *spelling.SKILLS, *memory.SKILLS,
)  # fmt: skip
LAST_SKILLS: tuple[Skill, ...] = tuple(memory.UNKNOWN_SKILLS)
"""Tried only after everything else, tools included."""
FEWEST_DISTINCT_WORDS = 3
"""A request behind stray words must be at least this long: "stop" or "hello" may be part of any sentence."""


@dataclass(frozen=True, slots=True)
class Match:
    """A skill whose template fits a reading of the text.

    Parameters:
        skill: the skill.
        slots: slot name to value.
        whole: the words are a whole request, with nothing stray behind them.
    """

    skill: Skill
    slots: Mapping[str, object]
    whole: bool


class Grammar:
    """Skills with their templates, indexed by the word an utterance begins with."""

    def __init__(self, skills: Sequence[Skill]) -> None:
        self.entries = [(skill, template) for skill in skills for template in skill.compiled()]
        self._by_word: dict[str, list[tuple[int, Skill, Template]]] = {}
        for order, (skill, template) in enumerate(self.entries):
            for word in template.first_words:
                self._by_word.setdefault(word, []).append((order, skill, template))

    def matches(self, text: str, awaiting: str | None) -> Iterator[Match]:
        """The matches of normalised `text`, the best first; `awaiting` is what the last answer asked for."""
        for reading in readings(text):
            starting = self._by_word.get(reading.first_word, []) + self._by_word.get("", [])
            for _, skill, template in sorted(starting, key=lambda entry: entry[0]):
                if skill.awaited is not None and skill.awaited != awaiting or not admits(skill, reading):
                    continue
                slots = template.match(reading.text)
                if slots is not None:
                    yield Match(skill, slots, skill.whole and not reading.stray_end)


def admits(skill: Skill, reading: Reading) -> bool:
    """Whether words may have been left out around this skill's request."""
    return not reading.stray or (skill.distinct and reading.text.count(" ") >= FEWEST_DISTINCT_WORDS)


@cache
def grammar() -> Grammar:
    """All skills; compiled on the first call, which takes some tenths of a second."""
    return Grammar(SKILLS)


@cache
def last_grammar() -> Grammar:
    """The skills tried last; compiled on the first call."""
    return Grammar(LAST_SKILLS)


def parses(text: str) -> bool:
    """Whether `text`, perhaps a partial transcript, already is a whole request.

    Depends on the text alone and has no side effect; takes well below a millisecond once `grammar` is compiled.
    Requests that end in open text ("repeat after me …", "remember that …") never count: more may always follow. A
    request can still go on after it was whole ("two plus three", "times four").
    """
    words = normalise(text)
    return any(match.whole for each in (grammar(), last_grammar()) for match in each.matches(words, None))


def answers_question(text: str) -> bool:
    """Whether `text` answers something that the responder may have asked, such as how long a timer is to run."""
    words, asked = normalise(text), {skill.awaited for skill in SKILLS} - {None}
    return any(match.skill.awaited for awaited in asked for match in grammar().matches(words, awaited))
