from voice.asr.sphinx.messages import (
    BYTES_PER_SECOND,
    AbandonUtterance,
    Audio,
    Command,
    FinishUtterance,
    StartUtterance,
)
from voice.asr.sphinx.utterances import Utterances

CHUNK = BYTES_PER_SECOND // 50


def chunk(number: int) -> bytes:
    return bytes([number]) * CHUNK


def audio(commands: list[Command]) -> list[int]:
    return [command.pcm[0] for command in commands if isinstance(command, Audio)]


def test_silence_sends_no_commands() -> None:
    utterances = Utterances()
    assert not any(utterances.hear(chunk(0)) for _ in range(500))
    assert not utterances.is_pending


def test_an_utterance_begins_with_the_last_half_second() -> None:
    utterances = Utterances(pre_roll=0.5)
    for number in range(100):
        utterances.hear(chunk(number))
    commands = utterances.begin()
    assert commands[0] == StartUtterance(1)
    assert audio(commands) == list(range(75, 100))


def test_a_pre_roll_shorter_than_half_a_second_is_sent_whole() -> None:
    utterances = Utterances(pre_roll=0.5)
    utterances.hear(chunk(3))
    assert audio(utterances.begin()) == [3]


def test_speech_is_sent_at_once_and_finished() -> None:
    utterances = Utterances()
    utterances.begin()
    assert utterances.hear(chunk(5)) == [Audio(chunk(5))]
    assert utterances.current == 1
    assert utterances.finish() == [FinishUtterance(1)]
    assert utterances.current is None
    assert utterances.is_pending
    assert utterances.answered(1)
    assert not utterances.is_pending


def test_no_audio_is_in_two_utterances() -> None:
    utterances = Utterances(pre_roll=0.5)
    sent: list[int] = []
    for number in range(100):
        if number in (30, 55):
            sent += audio(utterances.begin())
        if number in (50, 90):
            utterances.finish()
        sent += audio(utterances.hear(chunk(number)))
    assert sent == list(range(5, 90))


def test_a_text_is_the_last_only_if_no_speech_and_no_other_text_is_to_come() -> None:
    utterances = Utterances()
    utterances.begin()
    utterances.finish()
    utterances.begin()
    assert not utterances.answered(1)
    utterances.finish()
    utterances.begin()
    utterances.finish()
    assert not utterances.answered(2)
    assert utterances.answered(3)


def test_a_repeated_decision_changes_nothing() -> None:
    utterances = Utterances()
    assert utterances.finish() == []
    utterances.begin()
    assert utterances.begin() == []
    utterances.finish()
    assert utterances.finish() == []


def test_abandoning_gives_up_the_current_utterance_and_all_texts_to_come() -> None:
    utterances = Utterances()
    utterances.begin()
    utterances.finish()
    utterances.begin()
    utterances.hear(chunk(1))
    assert utterances.abandon() == [AbandonUtterance(1), AbandonUtterance(2)]
    assert not utterances.is_pending
    assert utterances.abandon() == []


def test_endless_speech_is_split_in_two() -> None:
    utterances = Utterances(longest=1.0)
    utterances.begin()
    commands = [command for number in range(60) for command in utterances.hear(chunk(number))]
    assert audio(commands) == list(range(60))
    assert commands[50:52] == [FinishUtterance(1), StartUtterance(2)]
    assert not utterances.answered(1)
    assert utterances.finish() == [FinishUtterance(2)]
    assert utterances.answered(2)


def test_the_second_half_of_endless_speech_counts_from_zero() -> None:
    utterances = Utterances(longest=1.0)
    utterances.begin()
    commands = [command for _ in range(160) for command in utterances.hear(chunk(0))]
    assert [c.utterance for c in commands if isinstance(c, StartUtterance)] == [2, 3, 4]


def test_a_text_is_awaited_from_the_end_of_an_utterance_until_it_is_answered_or_given_up() -> None:
    utterances = Utterances()
    utterances.begin()
    assert not utterances.is_awaited(1)
    utterances.finish()
    assert utterances.is_awaited(1)
    utterances.answered(1)
    assert not utterances.is_awaited(1)
    utterances.begin()
    utterances.finish()
    utterances.abandon()
    assert not utterances.is_awaited(2)


def test_a_lost_recogniser_loses_all_utterances() -> None:
    utterances = Utterances()
    utterances.begin()
    utterances.finish()
    utterances.begin()
    utterances.lose()
    assert not utterances.is_pending
    assert utterances.finish() == []
    assert utterances.begin() == [StartUtterance(3)]


def test_an_utterance_that_begins_over_an_answer_says_so() -> None:
    utterances = Utterances()
    assert utterances.begin(over_answer=True) == [StartUtterance(1, over_answer=True)]
    utterances.finish()
    assert utterances.begin() == [StartUtterance(2, over_answer=False)]
