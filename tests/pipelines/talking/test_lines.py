"""An answer on the screen of a live call: what has been heard, what is to come, and what was never said."""

import io

import pytest
from rich.console import Console
from rich.text import Text

from pipelines.talking.lines import UNHEARD, UNSAID, AnswerLine
from pipelines.talking.transcript import Transcript
from voice.client.sound.device_line import DeviceLine


def styled(line: Text, style: str) -> list[str]:
    return [line.plain[span.start : span.end] for span in line.spans if span.style == style]


def test_words_are_dim_until_they_are_heard() -> None:
    answer = AnswerLine()
    assert not answer
    answer.spoken(1, "", "One, two.")
    answer.spoken(2, "", "Three.")
    assert answer.line().plain == "agent  One, two. Three."
    assert styled(answer.line(), UNHEARD) == ["One, two.", "Three."]
    answer.spoken(1, "One,", " two.")
    assert styled(answer.line(), UNHEARD) == ["two.", "Three."]
    assert not answer.is_heard
    answer.spoken(1, "One, two.", "")
    answer.spoken(2, "Three.", "")
    assert answer.is_heard
    assert styled(answer.line(), UNHEARD) == []


def test_words_that_will_not_be_said_are_struck_out() -> None:
    answer = AnswerLine()
    answer.spoken(1, "One,", " two.")
    assert answer.line(over=True).plain == "agent  One, two."
    assert styled(answer.line(over=True), UNSAID) == ["two."]


def transcript(*, terminal: bool) -> tuple[Transcript, io.StringIO]:
    printed = io.StringIO()
    return Transcript(Console(file=printed, width=80, force_terminal=terminal), DeviceLine(), cancels=True), printed


def test_an_answer_is_printed_once_all_of_it_has_been_heard() -> None:
    shown, printed = transcript(terminal=True)
    shown.on_said("One, two.")
    shown.on_spoken(1, "", "One, two.")
    # The model is slow, so that there is a pause between two clauses.
    shown.on_speaking("bot", False)
    assert "One" not in printed.getvalue()
    shown.on_spoken(1, "One, two.", "")
    shown.on_speaking("bot", False)
    assert printed.getvalue().count("One, two.") == 1
    shown.close()
    assert printed.getvalue().count("One, two.") == 1


@pytest.mark.parametrize("end", [lambda shown: shown.on_interruption(), lambda shown: shown.on_heard("stop")])
def test_an_interrupted_answer_is_printed_with_its_unheard_words_struck_out(end: object) -> None:
    shown, printed = transcript(terminal=True)
    shown.on_spoken(1, "One,", " two.")
    end(shown)  # type: ignore[operator]
    assert "One, \x1b[2;9mtwo.\x1b[0m" in printed.getvalue()


def test_where_nothing_may_move_each_clause_is_printed_when_it_is_known() -> None:
    shown, printed = transcript(terminal=False)
    shown.on_said("One, two.")
    shown.on_spoken(1, "One,", " two.")
    shown.on_interruption()
    assert printed.getvalue().split() == ["agent", "One,", "two."]
