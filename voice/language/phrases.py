"""The sentences that an agent says of its own accord: each language has its own.

What a language model, the responder or a tool says is not among them. A phrase may claim nothing that is not known when
it is said; `voice.llm.answer.hold_phrases.check_phrase` holds those that are said before there is an answer to that.
"""

from collections.abc import Iterator
from dataclasses import astuple, dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrases:
    """What the agent says in one language."""

    hold: tuple[str, ...]
    """Said when the budget is spent; true while any request still runs."""
    delay: tuple[str, str]
    """Said by 2.5 s, so that the user knows that the agent is still working; the second one also much later."""
    openings: tuple[str, ...]
    """Said as the opening of an answer when the words that a tier gave for one may not be spoken."""
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
    """Said when synthesis hung, so it is prepared before the call."""
    still_there: str
    """What a caller who says nothing is asked."""
    go_on: str
    """What a caller is asked when a part of a long answer has been spoken; it must read as a question for yes or no."""
    prompt: str
    """The system prompt of language models, unless one is set; it is not spoken, but decides how they speak."""
    call_began: str
    """Ends every system prompt: when the call began. A format string of `weekday`, `day`, `month`, `year`, `time`."""
    weekdays: tuple[str, ...]
    months: tuple[str, ...]

    def spoken(self) -> Iterator[str]:
        """All of them that are said."""
        for value in astuple(self)[:-4]:
            yield from (value,) if isinstance(value, str) else value

    def prompt_at(self, prompt: str, now: datetime) -> str:
        """A system prompt that says when the call began.

        The date comes last, so that a model which keeps what it has read need not read the rest again in each call.

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
