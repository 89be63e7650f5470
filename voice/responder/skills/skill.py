"""What a skill is: templates of requests, and a function from a request to an answer and the state that follows."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from voice.responder.language.grammar import Kind, Template
from voice.responder.state import State, Timer

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Request:
    """A recognised request, with all that its answer may depend on.

    Parameters:
        slots: slot name to value; a missing optional slot has no entry.
        state: the call so far.
        now: local time.
        rng: the source of chance.
    """

    slots: Mapping[str, object]
    state: State
    now: datetime
    rng: random.Random

    def get(self, name: str, kind: type[T]) -> T | None:
        """The slot's value, None if the user left it out.

        Raises:
            TypeError: the slot's value is of another type than `kind`.
        """
        value = self.slots.get(name)
        if value is not None and not isinstance(value, kind):
            raise TypeError(f"The slot {name} holds {value!r}, not {kind.__name__}.")
        return value

    def slot(self, name: str, kind: type[T]) -> T:
        """The value of a slot that the templates always fill.

        Raises:
            TypeError: it is missing or of another type than `kind`.
        """
        value = self.get(name, kind)
        if value is None:
            raise TypeError(f"The slot {name} is empty.")
        return value


@dataclass(frozen=True, slots=True)
class Answer:
    """What to say and what it changes.

    Parameters:
        text: complete sentences.
        state: the state that follows, or None for no change.
        timer: a timer to start.
        cancelled: timers to stop.
        ends_call: the user has said goodbye.
    """

    text: str
    state: State | None = None
    timer: Timer | None = None
    cancelled: tuple[Timer, ...] = ()
    ends_call: bool = False


def never(_slots: Mapping[str, object]) -> bool:
    """Where more must follow, or no text is open."""
    return False


@dataclass(frozen=True, slots=True)
class Skill:
    """A family of requests with one way to answer.

    Parameters:
        intent: its name in reports.
        templates: what users say; see `grammar`.
        answer: gives None when the request turns out to be none of its business.
        kinds: the kinds its templates' slots use.
        whole: whether a match is a whole request. False where it may be a beginning: open text, a missing part.
        distinct: whether a match behind stray words may be trusted.
        awaited: the skill listens only when the last answer asked for this.
        share: its part of the generated sentences, relative to 1 for an ordinary skill.
        fill: words for slots that must fit together in a generated sentence; the others are drawn one by one.
        may_end: of a skill whose templates end in open text, whether a match with these slots may be all of it.
    """

    intent: str
    templates: Sequence[str]
    answer: Callable[[Request], Answer | None]
    kinds: Sequence[Kind] = ()
    whole: bool = True
    distinct: bool = True
    awaited: str | None = None
    share: float = 1.0
    fill: Callable[[random.Random], Mapping[str, str]] | None = None
    may_end: Callable[[Mapping[str, object]], bool] = never

    def compiled(self) -> list[Template]:
        """Its templates, ready to match; costs about a millisecond each.

        Raises:
            ValueError: a template is not well formed or uses a kind that `kinds` lacks.
        """
        kinds = {kind.name: kind for kind in self.kinds}
        return [Template.compile(text, kinds) for text in self.templates]


def says(*texts: str, ends_call: bool = False) -> Callable[[Request], Answer]:
    """An answer function that says one of `texts`, drawn by chance."""
    return lambda request: Answer(request.rng.choice(texts), ends_call=ends_call)
