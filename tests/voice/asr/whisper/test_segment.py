import numpy as np
import pytest

from voice.asr.whisper.segment import SegmentBuffer

RATE = 1000


def pcm(*values: int, each: int = 100) -> bytes:
    """`each` samples (0.1 s) of every value."""
    return np.repeat(np.array(values, np.int16), each).tobytes()


def levels(audio: bytes) -> list[int]:
    """The values of `pcm` again, one for each 0.1 s."""
    return [int(value) for value in np.frombuffer(audio, np.int16)[::100]]


@pytest.fixture
def buffer() -> SegmentBuffer:
    return SegmentBuffer(sample_rate=RATE, pre_roll=0.2, limit=0.5)


def test_an_utterance_begins_with_the_pre_roll(buffer: SegmentBuffer) -> None:
    buffer.append(pcm(1, 2, 3))
    buffer.open()
    buffer.append(pcm(4))
    segment = buffer.close()
    assert segment is not None
    assert levels(segment.pcm) == [2, 3, 4]
    assert segment.seconds == pytest.approx(0.3)


def test_no_audio_belongs_to_two_utterances(buffer: SegmentBuffer) -> None:
    buffer.open()
    buffer.append(pcm(1))
    buffer.close()
    buffer.append(pcm(2))
    buffer.open()
    segment = buffer.close()
    assert segment is not None
    assert levels(segment.pcm) == [2]


def test_an_utterance_that_goes_on_holds_both_parts_and_the_pause(buffer: SegmentBuffer) -> None:
    buffer.open()
    buffer.append(pcm(1))
    first = buffer.close()
    buffer.append(pcm(7, 8, 9))
    buffer.open(goes_on=True)
    buffer.append(pcm(2))
    second = buffer.close()
    assert first is not None
    assert second is not None
    assert levels(second.pcm) == [1, 7, 8, 9, 2]


def test_an_utterance_over_the_limit_keeps_its_newest_audio_and_reports_what_it_lost(buffer: SegmentBuffer) -> None:
    buffer.open()
    buffer.append(pcm(1, 2, 3, 4))
    first = buffer.close()
    assert first is not None
    assert first.dropped == 0
    buffer.append(pcm(5, 6))
    buffer.open(goes_on=True)
    buffer.append(pcm(7))
    second = buffer.close()
    assert second is not None
    assert levels(second.pcm) == [3, 4, 5, 6, 7]
    assert second.dropped == pytest.approx(0.2)
    buffer.open(goes_on=True)
    buffer.append(pcm(8))
    third = buffer.close()
    assert third is not None
    assert third.dropped == pytest.approx(0.3)


def test_dropped_audio_is_counted_for_each_utterance_separately(buffer: SegmentBuffer) -> None:
    buffer.open()
    buffer.append(pcm(1, 2, 3, 4, 5, 6))
    buffer.close()
    buffer.open()
    buffer.append(pcm(1))
    segment = buffer.close()
    assert segment is not None
    assert segment.dropped == 0


def test_an_end_without_a_beginning_makes_no_utterance(buffer: SegmentBuffer) -> None:
    buffer.append(pcm(1))
    assert buffer.close() is None
    buffer.open()
    buffer.clear()
    assert buffer.close() is None


def test_samples_are_float32_between_minus_one_and_one(buffer: SegmentBuffer) -> None:
    buffer.open()
    buffer.append(pcm(-32768, 16384, each=1))
    segment = buffer.close()
    assert segment is not None
    samples = segment.samples()
    assert samples.dtype == np.float32
    assert samples.tolist() == [-1.0, 0.5]


def test_a_copy_equals_the_closed_segment_and_ends_nothing(buffer: SegmentBuffer) -> None:
    buffer.open()
    buffer.append(pcm(1, 2))
    copy = buffer.copy()
    assert copy == buffer.close()
    assert copy.seconds == pytest.approx(0.2)


def test_an_utterance_that_goes_on_can_forget_earlier_ones_whose_text_is_known(buffer: SegmentBuffer) -> None:
    buffer.open()
    buffer.append(pcm(1))
    buffer.close()
    buffer.text_is_known()
    buffer.append(pcm(7))
    buffer.open(goes_on=True)
    assert buffer.has_earlier
    buffer.append(pcm(2))
    assert levels(buffer.copy().pcm) == [1, 7, 2]
    assert buffer.forget_earlier() == len(pcm(1))
    assert not buffer.has_earlier
    segment = buffer.close()
    assert segment is not None
    assert levels(segment.pcm) == [7, 2], "the pre-roll stays"
    assert segment.dropped == 0


def test_audio_whose_text_is_not_known_is_not_forgotten(buffer: SegmentBuffer) -> None:
    buffer.open()
    buffer.append(pcm(1))
    buffer.close()
    buffer.text_is_known()
    buffer.open(goes_on=True)
    buffer.append(pcm(2))
    buffer.close()
    assert buffer.forget_earlier() == len(pcm(1))
    buffer.open(goes_on=True)
    buffer.append(pcm(3))
    segment = buffer.close()
    assert segment is not None
    assert levels(segment.pcm) == [2, 3]


def test_once_all_utterances_are_forgotten_only_the_pre_roll_is_kept(buffer: SegmentBuffer) -> None:
    buffer.open()
    buffer.append(pcm(1))
    buffer.close()
    buffer.append(pcm(2, 3, 4))
    assert buffer.seconds == pytest.approx(0.4)
    buffer.text_is_known()
    buffer.forget_earlier()
    assert buffer.seconds == pytest.approx(0.2)
    buffer.append(pcm(5))
    assert buffer.seconds == pytest.approx(0.2)


def test_audio_fades_when_its_end_is_much_quieter_than_what_came_before(buffer: SegmentBuffer) -> None:
    assert not buffer.is_fading
    buffer.open()
    buffer.append(pcm(1000, 1000))
    assert not buffer.is_fading
    buffer.append(pcm(200))
    assert not buffer.is_fading
    buffer.append(pcm(50))
    assert buffer.is_fading
    buffer.append(pcm(1000))
    assert not buffer.is_fading


def test_a_pre_roll_as_long_as_an_utterance_is_refused() -> None:
    with pytest.raises(ValueError, match="pre_roll is 1.0 s and limit 1.0 s"):
        SegmentBuffer(sample_rate=RATE, pre_roll=1.0, limit=1.0)
