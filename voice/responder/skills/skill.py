"""A skill: templates of requests, and a function that answers a request and returns the new state."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from voice.responder.language.grammar import SlotKind, Template
from voice.responder.state import State, Timer

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Request:
    """A recognised request, with all inputs of its answer.

    Parameters:
        slots: slot name to value; a missing optional slot has no entry.
        state: the call so far.
        now: local time.
    """

    slots: Mapping[str, object]
    state: State
    now: datetime

    def get(self, name: str, kind: type[T]) -> T | None:
        """The slot's value, or None if the user left it out.

        Raises:
            TypeError: the value's type is not `kind`.
        """
        value = self.slots.get(name)
        if value is not None and not isinstance(value, kind):
            raise TypeError(f"The slot {name} holds {value!r}, not {kind.__name__}.")
        return value

    def slot(self, name: str, kind: type[T]) -> T:
        """The value of a slot that the templates always fill.

        Raises:
            TypeError: the value is missing, or its type is not `kind`.
        """
        value = self.get(name, kind)
        if value is None:
            raise TypeError(f"The slot {name} is empty.")
        return value


@dataclass(frozen=True, slots=True)
class SkillAnswer:
    """An answer: the words and the effects.

    Parameters:
        text: complete sentences.
        state: the new state, or None if it does not change.
        timer: a timer to start.
        cancelled: timers to stop.
        ends_call: the user has said goodbye.
    """

    text: str
    state: State | None = None
    timer: Timer | None = None
    cancelled: tuple[Timer, ...] = ()
    ends_call: bool = False


Answer = Callable[[Request], SkillAnswer | None]
"""Answers a request; returns None if the skill does not apply to it after all."""
A = TypeVar("A", bound=Answer)


def never(_slots: Mapping[str, object]) -> bool:
    """For skills whose requests have no open text at the end, or need more words."""
    return False


def always(_slots: Mapping[str, object]) -> bool:
    """For words that stand alone as often as they begin a request ("hello")."""
    return True


@dataclass(frozen=True, slots=True)
class Skill:
    """A family of requests with one way to answer.

    Parameters:
        intent: the name of what its requests want; several skills may share one.
        templates: what users say; see `grammar`.
        answer: answers its requests.
        kinds: the kinds of its templates' slots.
        whole: whether a match is a whole request; False if more may follow (open text, a missing part, a lead-in).
        distinct: whether a match after stray words can be trusted.
        last: whether it is tried only when no other skill and no tool has an answer, and no language model follows.
        awaited: if set, the skill matches only when the last answer asked for this.
        share: its share of the generated sentences, relative to 1 for an ordinary skill.
        fill: draws words for slots that must fit together in a generated sentence; other slots are drawn one by one.
        may_end: if it is not `whole`: whether a match with these slots may be complete.
    """

    intent: str
    templates: Sequence[str]
    answer: Answer
    kinds: Sequence[SlotKind] = ()
    whole: bool = True
    distinct: bool = True
    last: bool = False
    awaited: str | None = None
    share: float = 1.0
    fill: Callable[[random.Random], Mapping[str, str]] | None = None
    may_end: Callable[[Mapping[str, object]], bool] = never

    def compiled(self) -> list[Template]:
        """Compile its templates; takes about a millisecond each.

        Raises:
            ValueError: a template is malformed or uses a kind that is not in `kinds`.
        """
        kinds = {kind.name: kind for kind in self.kinds}
        return [Template.compile(text, kinds) for text in self.templates]


class Skills(list[Skill]):
    """The skills of one subject. If two of them match the same words, the earlier one wins."""

    def on(self, intent: str, *templates: str, **options: Any) -> Callable[[A], A]:
        """Decorate the function that answers requests of these `templates`; for `options` see `Skill`."""

        def learn(answer: A) -> A:
            self.append(Skill(intent, templates, answer, **options))
            return answer

        return learn

    def say(self, text: str, to: str, *templates: str, ends_call: bool = False, **options: Any) -> None:
        """Answer requests of these `templates` with a fixed text; `to` is their intent."""
        self.append(Skill(to, templates, lambda request: SkillAnswer(text, ends_call=ends_call), **options))
