"""Finds the skill for a text: the one whose template fits the text, or a part that may be the request."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from voice.language.english.transcripts import normalise
from voice.responder.language.candidates import Candidate, candidates
from voice.responder.language.grammar import Template
from voice.responder.skills import SKILLS
from voice.responder.skills.skill import Skill

FEWEST_DISTINCT_WORDS = 3
"""Minimum length of a request after stray words: "stop" or "hello" may be part of any sentence."""


@dataclass(frozen=True, slots=True)
class Match:
    """A skill whose template fits the text, or a part of it.

    Parameters:
        skill: the skill.
        slots: slot name to value.
        whole: whether the words are a whole request without stray words after it.
    """

    skill: Skill
    slots: Mapping[str, object]
    whole: bool


@cache
def compiled_skills() -> tuple[tuple[Skill, list[Template]], ...]:
    """All skills with their templates; the first call compiles them, which takes a tenth of a second."""
    return tuple((skill, skill.compiled()) for skill in SKILLS)


def matches(text: str, awaiting: str | None) -> Iterator[Match]:
    """The matches of normalised `text`, best first; `awaiting` is what the last answer asked for."""
    for candidate in candidates(text):
        for skill, templates in compiled_skills():
            if skill.awaited not in (None, awaiting) or not admits(skill, candidate):
                continue
            for template in templates:
                slots = template.match(candidate.text)
                if slots is not None:
                    yield Match(skill, slots, skill.whole and not candidate.stray_end)


def admits(skill: Skill, candidate: Candidate) -> bool:
    """Whether this skill accepts a part of a text: it must be unmistakable if stray words were left out."""
    return not candidate.stray or (skill.distinct and candidate.text.count(" ") >= FEWEST_DISTINCT_WORDS)


def is_whole_request(text: str) -> bool:
    """Whether `text`, perhaps a partial transcript, is already a whole request.

    Depends on the text alone and has no side effect; takes well below a millisecond once the skills are compiled.
    Requests that end in open text ("repeat after me …", "remember that …") never count, because more words may always
    follow. A whole request can still go on ("two plus three", then "times four").
    """
    return any(match.whole for match in matches(normalise(text), None))


def may_answer_question(text: str) -> bool:
    """Whether `text` may answer one of the responder's questions, such as how long a timer should run."""
    words, asked = normalise(text), {skill.awaited for skill in SKILLS} - {None}
    return any(match.skill.awaited for awaited in asked for match in matches(words, awaited))
