import pytest

from latency.benchmark.callers import Callers
from latency.benchmark.callers_in_words import sentences


@pytest.mark.parametrize(
    ("callers", "told"),
    [
        (Callers(turns=1, speakers=("a",), fitted=()), "1 turn by 1 speaker, endpointing was fitted to none of them"),
        (
            Callers(turns=9, speakers=("sim:a",), fitted=(), synthetic=1),
            "1 speaker, all of them SYNTHESISERS",
        ),
        (Callers(turns=9, speakers=("a", "b"), fitted=("b",)), "9 turns by 2 speakers, endpointing was FITTED to 1 of"),
        (Callers(turns=9, speakers=("a", "b"), fitted=("a", "b")), "endpointing was FITTED to all of them"),
        (Callers(turns=9, speakers=(), fitted=(), unnamed=9), "Callers: 9 turns, all by speakers that are not named"),
        (Callers(turns=9, speakers=("a",), fitted=(), unnamed=2), "none of them, 2 by speakers that are not named"),
    ],
)
def test_the_first_sentence_says_whether_endpointing_was_fitted_to_them(callers: Callers, told: str) -> None:
    (line,) = sentences(callers)
    assert told in line


def test_what_is_missing_is_said() -> None:
    _, left_out, estimated, scripted = sentences(
        Callers(turns=9, speakers=("a",), fitted=(), left_out=31, estimated=2, wordless=1)
    )
    assert left_out == "Left out: 31 turns by speakers that endpointing was fitted to"
    assert estimated.startswith("ESTIMATED: the end of speech was measured in 2 turns")
    assert scripted.startswith("SCRIPTED: the words of 1 turn are unknown")
