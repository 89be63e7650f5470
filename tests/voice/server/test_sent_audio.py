"""Where an answer goes on after a silence."""

import pytest

from voice.server.output import MOST_REPEATED, SentAudio

RATE = 100
"""Bytes a second, so that a sample is 20 ms."""


def spoken(*words: float, clauses: tuple[float, ...] = (0.0,), until: float) -> SentAudio:
    """An utterance sent in pieces of 100 ms whose words end, and whose clauses begin, at these seconds."""
    sent = SentAudio(bytes_per_second=RATE, ahead=0.0)
    for tenth in range(round(until * 10)):
        at = tenth / 10
        if at in clauses:
            sent.clause()
        sent.add(bytes([tenth % 256]) * 10)
        if round(at + 0.1, 1) in words:
            sent.word()
    return sent


def test_it_goes_on_where_the_clause_began_if_that_is_near() -> None:
    sent = spoken(0.5, 1.0, 1.5, 2.0, clauses=(0.0, 1.0), until=2.5)
    assert sent.border(2.2) == pytest.approx(1.0)


def test_inside_a_long_clause_it_goes_on_a_word_before() -> None:
    sent = spoken(0.5, 1.0, 1.5, 2.0, 2.5, until=3.0)
    assert sent.border(2.7) == pytest.approx(2.0)


def test_it_begins_anew_when_few_words_were_heard() -> None:
    sent = spoken(0.5, 1.0, until=1.5)
    assert sent.border(1.2) == 0.0


def test_never_more_than_three_words_come_again() -> None:
    ends = [round(0.3 * n, 1) for n in range(1, 11)]
    sent = spoken(*ends, clauses=(0.0, 0.3, 0.6, 1.5), until=3.2)
    for tenth in range(20, 32):
        heard = tenth / 10 + 0.05
        begin = sent.border(heard)
        assert sum(begin + 0.01 < end <= heard for end in ends) <= MOST_REPEATED


def test_the_audio_from_there_is_what_was_sent() -> None:
    sent = spoken(until=1.0)
    assert b"".join(sent.since(0.5)) == b"".join(bytes([n]) * 10 for n in range(5, 10))
    # Inside a piece, its rest.
    assert b"".join(sent.since(0.94)) == bytes([9]) * 6


def test_words_are_where_the_listener_heard_them() -> None:
    sent = SentAudio(bytes_per_second=RATE, ahead=0.2)
    sent.clause()
    for _ in range(5):
        sent.add(bytes(20))
        sent.word()
    # Ends at 0, 0.2, 0.4, 0.6 and 0.8 s.
    assert sent.border(0.85) == pytest.approx(0.6)
