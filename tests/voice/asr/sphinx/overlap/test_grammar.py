from collections.abc import Iterable

import pytest

from voice.asr.sphinx.overlap.grammar import Grammar, interrupting, listening, phones_in, spoken_in_phones


def takes(grammar: Grammar, words: Iterable[str]) -> bool:
    """Whether the grammar has a path from its beginning to its end that says these words."""

    def silently(states: set[int]) -> set[int]:
        before: set[int] = set()
        while before != states:
            before = states
            states = states | {one[1] for one in grammar.transitions if len(one) == 3 and one[0] in states}
        return states

    states = silently({0})
    for word in words:
        states = silently({one[1] for one in grammar.transitions if one[0] in states and one[3:] == (word,)})
    return grammar.final in states


@pytest.mark.parametrize("said", ["yeah", "of course", "yeah right", "uh-huh", "[M-HH-M]"])
def test_a_listener_says_backchannels(said: str) -> None:
    assert takes(listening(lambda _: True), said.split())
    assert not takes(interrupting(lambda _: True), said.split())


@pytest.mark.parametrize("said", ["stop", "hold on", "hold on [P] [L] [IY] [Z]", "no [DH] [AE] [T]"])
def test_an_interruption_is_a_stop_and_anything_after_it(said: str) -> None:
    assert takes(interrupting(lambda _: True), said.split())
    assert not takes(listening(lambda _: True), said.split())


@pytest.mark.parametrize("said", ["of", "hold", "and", "", "[P]"])
def test_neither_is_half_a_phrase_nor_what_leads_on(said: str) -> None:
    assert not takes(listening(lambda _: True), said.split())
    assert not takes(interrupting(lambda _: True), said.split())


def test_phrases_without_a_pronunciation_are_left_out() -> None:
    known = {"hold", "on", "stop", "yeah"}
    for grammar in (listening(known.__contains__), interrupting(known.__contains__)):
        assert grammar.words() <= known | spoken_in_phones().keys()
    assert takes(interrupting(known.__contains__), ["hold", "on"])
    assert not takes(interrupting(known.__contains__), ["hang", "on"])


def test_phones_after_a_stop_are_counted() -> None:
    assert phones_in("hold on") == 0
    assert phones_in("<sil> hold on [P] [L]") == 2
