"""The fixed phrases of an agent, in each language.

They do not include words of a language model, the responder or a tool. A phrase may claim nothing that is unknown when
it is said; `voice.llm.answer.hold_phrases.check_phrase` enforces this for phrases before an answer.
"""

from collections.abc import Iterator
from dataclasses import astuple, dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrases:
    """The agent's phrases in one language."""

    hold: tuple[str, ...]
    """Said when the budget is exceeded; true while any request still runs."""
    delay: tuple[str, str]
    """Said by 2.5 s, to show that the agent is still working; the second one also much later."""
    openings: tuple[str, ...]
    """Said as the opening of an answer if a tier's own opening may not be spoken."""
    progress: tuple[str, str]
    """Said while a tool runs: at first, and again."""
    not_answering: str
    """Said instead of an answer when no tier answers."""
    broke_off: str
    """Said when an answer cannot be finished."""
    say_again: str
    """Said when the recogniser lost an utterance."""
    cannot_hear: str
    """Said from the second loss in a row."""
    unfinished: str
    """Said when a tool hung and was stopped."""
    went_wrong: str
    """Said when synthesis has hung, and so prepared before the call."""
    still_there: str
    """The question to a silent caller."""
    go_on: str
    """The question after a part of a long answer; it must be recognisable as a yes-or-no question."""
    prompt: str
    """The default system prompt of language models; not spoken, but it determines how they speak."""
    call_began: str
    """The end of every system prompt: the call's start. A format string of `weekday`, `day`, `month`, `year`,
    `time`."""
    weekdays: tuple[str, ...]
    months: tuple[str, ...]

    def spoken(self) -> Iterator[str]:
        """All spoken phrases."""
        for value in astuple(self)[:-4]:
            yield from (value,) if isinstance(value, str) else value

    def prompt_at(self, prompt: str, now: datetime) -> str:
        """A system prompt that says when the call began.

        The date comes last, so that a model that keeps its state need not process the rest again in each call.

        Args:
            prompt: the rest of it.
            now: local time.
        """
        began = self.call_began.format(
            weekday=self.weekdays[now.weekday()],
            day=now.day,
            month=self.months[now.month - 1],
            year=now.year,
            time=f"{now:%H:%M}",
        )
        return f"{prompt} {began}"
